/* SPDX-License-Identifier: MIT */
#include "hooks/hook_internal.h"

void hook_targets_release(struct hook_targets *targets)
{
	strlist_release(&targets->trees);
	free(targets->guess);
	strlist_release(&targets->walk);
	strlist_release(&targets->paths);
	strlist_release(&targets->patches);
	memset(targets, 0, sizeof(*targets));
}

/* --- words --- */

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/*
 * Whether the value of an option is the next word, and not a name: if unknown, it counts as a name.
 */
static bool eats_next(const char *command, const char *arg)
{
	static const struct {
		const char *command;
		const char *options[8];
	} rows[] = {
		{ "cherry-pick", { "-m", "--mainline", "--strategy", "-X", "--strategy-option",
				   "--cleanup" } },
		{ "merge", { "-m", "-F", "--file", "-s", "--strategy", "-X", "--strategy-option" } },
		{ "rebase", { "-s", "--strategy", "-X", "--strategy-option", "-x", "--exec",
			      "--whitespace" } },
		{ "revert", { "-m", "--mainline", "--strategy", "-X", "--strategy-option",
			      "--cleanup" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].command, command))
			return hook_among(arg, rows[i].options);
	return false;
}

/* The arguments before "--" that are not options, and the values of options given with "=". */
static void list_words(struct strlist *out, struct strlist *values, const struct hook_git *git)
{
	/* "merge-recursive <base> -- <ours> <theirs>": what follows are names, too. */
	bool through = begins(git->command, "merge-");

	for (size_t i = 0; i < git->nr && (through || strcmp(git->args[i], "--")); i++) {
		const char *arg = git->args[i], *value = strchr(arg, '=');
		bool source = !strcmp(arg, "--onto") || !strcmp(arg, "--source") ||
			      (!strcmp(arg, "-s") && !strcmp(git->command, "restore"));

		if (arg[0] != '-' || !arg[1])
			strlist_add(out, !strcmp(arg, "-") ? "@{-1}" : arg);
		else if (!strncmp(arg, "--", 2) && value)
			strlist_add(values, value + 1);
		else if (!strncmp(arg, "-s", 2) && arg[2])
			strlist_add(values, arg + 2);
		else if (source && i + 1 < git->nr)
			strlist_add(values, git->args[++i]);
		else if (eats_next(git->command, arg))
			i++;
	}
}

static bool has_any(const struct hook_git *git, const char *const options[])
{
	for (size_t i = 0; i < git->nr && strcmp(git->args[i], "--"); i++)
		if (hook_among(git->args[i], options))
			return true;
	return false;
}

static bool has_prefix(const struct hook_git *git, const char *prefix)
{
	for (size_t i = 0; i < git->nr && strcmp(git->args[i], "--"); i++)
		if (begins(git->args[i], prefix))
			return true;
	return false;
}

/* "a..b" and "a...b" are two names. */
static void add_tree(struct hook_targets *out, const char *word)
{
	const char *dots = strstr(word, "..");
	char *first;

	if (!dots || dots == word || strchr(word, '/') == dots + 2) {
		strlist_add(&out->trees, word);
		return;
	}
	first = xmemdupz(word, (size_t)(dots - word));
	strlist_add(&out->trees, first);
	free(first);
	dots += strspn(dots, ".");
	strlist_add(&out->trees, *dots ? dots : "HEAD");
}

static void add_trees(struct hook_targets *out, const struct strlist *words)
{
	for (size_t i = 0; i < words->nr; i++)
		add_tree(out, words->items[i]);
}

/* --- commands --- */

/* A name that is not a branch yet may become one, from a remote branch. */
static void of_checkout(struct hook_targets *out, const struct hook_git *git,
			const struct strlist *words)
{
	static const char *const given[] = { "-b", "-B", "-c", "-C", "--create", "--force-create",
					     "--orphan", "--detach", "-d", "--no-guess", NULL };

	if (words->nr && !has_any(git, given) && !out->guess)
		out->guess = xstrdup(words->items[0]);
}

static void of_merge(struct hook_targets *out, const struct hook_git *git UNUSED,
		     const struct strlist *words)
{
	if (!words->nr)
		strlist_add(&out->trees, "@{upstream}");
}

/* Everything on one side only: where it starts is on one, what it applies on the other. */
static void of_rebase(struct hook_targets *out, const struct hook_git *git,
		      const struct strlist *words)
{
	static const char *const root[] = { "--root", NULL };
	bool whole = has_any(git, root);
	const char *upstream = words->nr && !whole ? words->items[0] : "@{upstream}";
	const char *branch = words->nr > !whole ? words->items[!whole] : "HEAD";

	strlist_add(&out->trees, upstream);
	if (!out->walk.nr && whole)
		strlist_add(&out->walk, branch);
	else if (!out->walk.nr)
		strlist_addf(&out->walk, "%s...%s", upstream, branch);
}

static void of_pick(struct hook_targets *out, const struct hook_git *git UNUSED,
		    const struct strlist *words)
{
	if (!words->nr || out->walk.nr)
		return;
	/* Only single commits; with a range git ignores this. */
	strlist_add(&out->walk, "--no-walk");
	strlist_extend(&out->walk, words);
}

static void of_bisect(struct hook_targets *out, const struct hook_git *git UNUSED,
		      const struct strlist *words)
{
	const char *verb = words->nr ? words->items[0] : "";

	out->ongoing = true;
	if (!strcmp(verb, "replay"))
		out->unknown = true;
	if (out->walk.nr || !strcmp(verb, "reset") || !strcmp(verb, "replay"))
		return;
	if (!strcmp(verb, "start")) {
		/* With only one of them it starts later. */
		if (words->nr < 3)
			return;
		strlist_add(&out->walk, words->items[1]);
		strlist_add(&out->walk, "--not");
		for (size_t i = 2; i < words->nr; i++)
			strlist_add(&out->walk, words->items[i]);
		return;
	}
	/* Between known bad and good commits; what is given now only narrows it. */
	strlist_add(&out->walk, "--bisect");
	strlist_add(&out->walk, "HEAD");
	for (size_t i = 1; i < words->nr && strcmp(verb, "run"); i++)
		strlist_add(&out->walk, words->items[i]);
}

/* A patch that does not apply is merged with -3, which may also be configured. */
static void of_am(struct hook_targets *out, const struct hook_git *git, const struct strlist *words)
{
	static const char *const three[] = { "-3", "--3way", NULL };

	out->merges_patches |= has_any(git, three);
	out->applies_patches |= !has_prefix(git, "--rebasing");
	strlist_extend(&out->patches, words);
}

/* `pop [<stash>]`, `branch <name> [<stash>]`: it is merged, or checked out. */
static void of_stash(struct hook_targets *out, const struct hook_git *git,
		     const struct strlist *words)
{
	size_t at = words->nr && !strcmp(words->items[0], "branch") ? 2 : 1;
	const char *which = words->nr > at ? words->items[at] : "0";
	bool number = !which[strspn(which, "0123456789")];

	if (hook_stash_pushes(git))
		return;
	strlist_addf(&out->trees, number ? "stash@{%s}" : "%s", which);
	strlist_addf(&out->trees, number ? "stash@{%s}^1" : "%s^1", which);
}

/* With -f, what is at the new name is overwritten; a directory there receives them. */
static void of_mv(struct hook_targets *out, const struct hook_git *git UNUSED,
		  const struct strlist *words)
{
	const char *to = words->nr > 1 ? words->items[words->nr - 1] : "";

	if (!*to)
		return;
	strlist_add(&out->paths, to);
	for (size_t i = 0; i + 1 < words->nr; i++) {
		char *from = xstrdup(words->items[i]);
		size_t len = strlen(from);

		while (len > 1 && from[len - 1] == '/')
			from[--len] = '\0';
		strlist_addf(&out->paths, "%s/%s", to, path_base(from));
		free(from);
	}
}

/* `--prefix=dir/`: files are written there. */
static void of_prefix(struct hook_targets *out, const struct hook_git *git,
		      const struct strlist *words UNUSED)
{
	static const char option[] = "--prefix=";

	for (size_t i = 0; i < git->nr; i++)
		if (begins(git->args[i], option))
			strlist_add(&out->paths, git->args[i] + strlen(option));
}

enum {
	NO_WORDS = 1, /* its words are not names of trees */
	NONE = 2,     /* it writes no tree that the index does not have */
	MODULES = 4,
	ANYTHING = 8,
};

static const struct row {
	const char *command;
	unsigned flags;
	void (*targets)(struct hook_targets *out, const struct hook_git *git,
			const struct strlist *words);
} rows[] = {
	{ "am", NO_WORDS, of_am },
	{ "apply", NONE },
	{ "bisect", 0, of_bisect },
	{ "bisect--helper", 0, of_bisect },
	{ "checkout", 0, of_checkout },
	{ "checkout-index", NO_WORDS, of_prefix },
	{ "cherry-pick", NO_WORDS, of_pick },
	{ "clean", NONE },
	{ "difftool", NONE },
	{ "filter-branch", NO_WORDS | ANYTHING },
	{ "history", NO_WORDS | ANYTHING },
	{ "merge", 0, of_merge },
	{ "mergetool", NONE },
	{ "mv", NO_WORDS, of_mv },
	{ "rebase", 0, of_rebase },
	{ "rerere", NONE },
	{ "revert", NO_WORDS, of_pick },
	{ "rm", NO_WORDS | MODULES },
	{ "sparse-checkout", NONE },
	{ "stash", NO_WORDS, of_stash },
	{ "submodule", NO_WORDS | MODULES },
	{ "submodule--helper", NO_WORDS | MODULES },
	{ "switch", 0, of_checkout },
	{ "worktree", NONE },
};

/*
 * Files staged for deletion are in HEAD, but not in the index. What these
 * commands name is all that they write, unless they are forced; others may go
 * back to HEAD first, for example for an autostash.
 */
static bool may_reset(const struct hook_git *git, const struct strlist *words,
		      const struct strlist *values)
{
	static const char *const elsewhere[] = { "checkout", "cherry-pick", "revert", "switch",
						 NULL };
	static const char *const forced[] = { "-f", "--force", "--discard-changes", NULL };

	if (!strcmp(git->command, "restore"))
		return !values->nr;
	return !hook_among(git->command, elsewhere) || !words->nr || has_any(git, forced);
}

static const struct row *find_row(const char *command)
{
	static const struct row any = { .command = NULL };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].command, command))
			return &rows[i];
	return &any;
}

void hook_targets_add(struct hook_targets *out, const struct hook_git *git)
{
	static const char *const going_on[] = { "--abort", "--skip", "--continue", "--quit",
						"--resolved", "-r", NULL };
	struct strlist words = STRLIST_INIT, values = STRLIST_INIT;
	const struct row *row = find_row(git->command);
	bool later = has_any(git, going_on);

	if (row->flags & NONE)
		return;
	list_words(&words, &values, git);
	if (may_reset(git, &words, &values))
		strlist_add(&out->trees, "HEAD");
	add_trees(out, &values);
	out->ongoing |= later;
	/* A command that continues an operation names nothing. */
	out->unknown |= !later && row->flags & ANYTHING;
	out->modules |= (!later && row->flags & MODULES) || has_prefix(git, "--recurse-sub");
	if (row->targets && !later)
		row->targets(out, git, &words);
	if (!(row->flags & NO_WORDS))
		add_trees(out, &words);
	strlist_release(&words);
	strlist_release(&values);
}
