/* SPDX-License-Identifier: MIT */
#include "hooks/hook_rules.h"

bool hook_among(const char *word, const char *const list[])
{
	for (size_t i = 0; list[i]; i++)
		if (!strcmp(word, list[i]))
			return true;
	return false;
}

/* --- command lines --- */

/* One of git's own, in the shell that runs it: what it calls belongs to git. */
static bool is_script(const struct proc *proc)
{
	static const char *const shells[] = { "sh", "bash", "dash", NULL };
	char *const *words = proc->argv.items;

	return proc->argv.nr > 1 && hook_among(path_base(words[0]), shells) &&
	       strstr(words[1], "/git-core/git-") && !strncmp(path_base(words[1]), "git-", 4);
}

bool hook_git_read(struct hook_git *out, const struct proc *proc)
{
	static const char *const with_value[] = { "-C", "-c", "--git-dir", "--work-tree",
						  "--namespace", "--super-prefix",
						  "--config-env", "--attr-source", NULL };
	const struct strlist *argv = &proc->argv;
	const char *name = argv->nr ? path_base(argv->items[0]) : "";
	size_t i = 1;

	if (is_script(proc)) {
		*out = (struct hook_git){ path_base(argv->items[1]) + 4, argv->items + 2, argv->nr - 2 };
		return true;
	}
	if (!strncmp(name, "git-", 4) && name[4]) {
		*out = (struct hook_git){ name + 4, argv->items + 1, argv->nr - 1 };
		return true;
	}
	/* A wrapper may call it by another name. */
	if (strcmp(name, "git") && !(proc->name && !strcmp(proc->name, "git") && argv->nr))
		return false;
	while (i < argv->nr && argv->items[i][0] == '-')
		i += hook_among(argv->items[i], with_value) ? 2 : 1;
	*out = (struct hook_git){ "", NULL, 0 };
	if (i < argv->nr)
		*out = (struct hook_git){ argv->items[i], argv->items + i + 1, argv->nr - i - 1 };
	return true;
}

const char *hook_first_word(const struct hook_git *git)
{
	for (size_t i = 0; i < git->nr; i++)
		if (git->args[i][0] != '-')
			return git->args[i];
	return "";
}

/* The options of a command that have a value, which may be the next word. */
struct valued {
	const char *letters;
	const char *name; /* may be abbreviated as git allows */
	size_t shortest;
};

static const struct valued no_values = { "", "", 1 };
static const struct valued clean_values = { "e", "--exclude", sizeof("--e") - 1 };
static const struct valued stash_values = { "m", "--message", sizeof("--m") - 1 };

static bool is_option(const char *arg, size_t len, const char *name, size_t shortest)
{
	return len >= shortest && len <= strlen(name) && !strncmp(arg, name, len);
}

/* The position of the next argument that is not a value. */
static size_t next_arg(const struct hook_git *git, size_t i, const struct valued *valued)
{
	const char *arg = git->args[i];
	bool eats;

	if (arg[0] == '-' && arg[1] && arg[1] != '-') {
		arg += 1 + strcspn(arg + 1, valued->letters);
		eats = *arg && !arg[1];
	} else {
		eats = is_option(arg, strlen(arg), valued->name, valued->shortest);
	}
	return i + 1 + eats;
}

/* True if an option is given; `name` may be abbreviated as git allows. */
static bool has_option(const struct hook_git *git, const char *name, size_t shortest,
		       const struct valued *valued)
{
	for (size_t i = 0; i < git->nr && strcmp(git->args[i], "--"); i = next_arg(git, i, valued))
		if (is_option(git->args[i], strcspn(git->args[i], "="), name, shortest))
			return true;
	return false;
}

/* True if a bundle of one-letter options has one of `letters`; a value takes the rest. */
static bool has_letter(const struct hook_git *git, const char *letters, const struct valued *valued)
{
	for (size_t i = 0; i < git->nr && strcmp(git->args[i], "--"); i = next_arg(git, i, valued)) {
		const char *p = git->args[i];

		if (p[0] == '-' && p[1] != '-' &&
		    strcspn(p + 1, letters) < strcspn(p + 1, valued->letters))
			return true;
	}
	return false;
}

bool hook_git_quiet(const struct hook_git *git)
{
	/* Of all commands that know it: a line too many is better than one too few. */
	static const struct valued values = { "bBcCemsxX", "--message", sizeof("--m") - 1 };

	return has_letter(git, "q", &values) ||
	       has_option(git, "--quiet", strlen("--q"), &values);
}

/* True if all options are among those that leave the files alone. */
static bool only_options(const struct hook_git *git, const char *const list[])
{
	for (size_t i = 0; i < git->nr && strcmp(git->args[i], "--"); i++)
		if (git->args[i][0] == '-' && !hook_among(git->args[i], list))
			return false;
	return true;
}

/* --- which commands change files --- */

/* `git stash` alone, or with options, is a push. */
static const char *stash_verb(const struct hook_git *git)
{
	return git->nr && git->args[0][0] != '-' ? git->args[0] : "push";
}

bool hook_stash_pushes(const struct hook_git *git)
{
	return !strcmp(stash_verb(git), "push") || !strcmp(stash_verb(git), "save");
}

static bool stash_harmless(const struct hook_git *git)
{
	static const char *const verbs[] = { "list", "show", "drop", "clear", "create",
					     "store", "export", "import", NULL };

	return hook_among(stash_verb(git), verbs);
}

bool hook_stash_takes_ignored(const struct hook_git *git)
{
	return hook_stash_pushes(git) &&
	       (has_letter(git, "a", &stash_values) ||
		has_option(git, "--all", strlen("--a"), &stash_values));
}

bool hook_stash_takes_untracked(const struct hook_git *git)
{
	return hook_stash_pushes(git) &&
	       (has_letter(git, "u", &stash_values) ||
		has_option(git, "--include-untracked", strlen("--inc"), &stash_values));
}

/* For `clean`, `rm` and `mv`. What would be removed is often listed first. */
static bool is_dry_run(const struct hook_git *git)
{
	return (has_letter(git, "n", &clean_values) ||
		has_option(git, "--dry-run", strlen("--d"), &clean_values)) &&
	       !has_option(git, "--no-dry-run", strlen("--no-d"), &clean_values);
}

static bool clean_takes_ignored(const struct hook_git *git)
{
	size_t forced = 0;

	/* Forced twice, it removes repositories with everything in them. */
	for (size_t i = 0; i < git->nr && strcmp(git->args[i], "--");
	     i = next_arg(git, i, &clean_values)) {
		const char *p = git->args[i];

		if (!strcmp(p, "--force"))
			forced++;
		else if (p[0] == '-' && p[1] != '-')
			for (p++; *p && *p != 'e'; p++)
				forced += *p == 'f';
	}
	return forced > 1 || has_letter(git, "xX", &clean_values);
}

static bool clean_takes_untracked(const struct hook_git *git)
{
	return !has_letter(git, "X", &clean_values);
}

/* What only changes the index is too common to take a checkpoint each time. */
static bool reset_harmless(const struct hook_git *git)
{
	static const char *const options[] = { "-q", "--quiet", "--soft", "--mixed", "-N",
					       "--intent-to-add", "-p", "--patch", "--refresh",
					       "--no-refresh", NULL };

	return only_options(git, options);
}

/* Without -u only the index is written: that is what tools with their own tree do. */
static bool read_tree_harmless(const struct hook_git *git)
{
	return !has_letter(git, "u", &no_values);
}

static bool restore_harmless(const struct hook_git *git)
{
	static const char *const options[] = { "-q", "--quiet", "-S", "--staged", "-p", "--patch",
					       NULL };

	return only_options(git, options) &&
	       (has_option(git, "-S", 2, &no_values) ||
		has_option(git, "--staged", strlen("--staged"), &no_values));
}

static bool rm_harmless(const struct hook_git *git)
{
	return is_dry_run(git) || has_option(git, "--cached", strlen("--cached"), &no_values);
}

static bool bisect_harmless(const struct hook_git *git)
{
	static const char *const verbs[] = { "log", "view", "visualize", "terms", "help", NULL };

	return hook_among(hook_first_word(git), verbs);
}

static bool sparse_harmless(const struct hook_git *git)
{
	static const char *const verbs[] = { "list", "check-rules", NULL };

	return hook_among(hook_first_word(git), verbs);
}

static bool rerere_harmless(const struct hook_git *git)
{
	return *hook_first_word(git) != '\0';
}

/* What is edited in its two directories is copied back. */
static bool difftool_harmless(const struct hook_git *git)
{
	return !has_letter(git, "d", &no_values) &&
	       !has_option(git, "--dir-diff", strlen("--d"), &no_values);
}

/* With a cone, directories outside it that have only ignored files are removed. */
static bool sparse_takes_ignored(const struct hook_git *git)
{
	return strcmp(hook_first_word(git), "disable") &&
	       !has_option(git, "--no-cone", strlen("--no-c"), &no_values);
}

static bool is_known(const char *command);

/* Git's own, which no alias can replace. */
static bool is_known_harmless(const char *command)
{
	static const char *const commands[] = {
		"add", "blame", "branch", "cat-file", "commit", "config", "describe", "diff",
		"diff-files", "diff-index", "diff-tree", "fetch", "for-each-ref", "fsck", "gc",
		"grep", "log", "ls-files", "ls-remote", "ls-tree", "merge-base", "name-rev",
		"push", "reflog", "remote", "rev-list", "rev-parse", "shortlog", "show",
		"show-ref", "status", "symbolic-ref", "tag", "version", NULL,
	};

	return hook_among(command, commands);
}

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p += len)
		if ((p == text || !isalnum((unsigned char)p[-1])) &&
		    !isalnum((unsigned char)p[len]))
			return true;
	return false;
}

/*
 * The words of a command as git would run it: the first may be a line for the
 * shell, and the rest follows it. False if only a shell could tell.
 */
static bool split_command(struct strlist *out, char *const *args, size_t nr)
{
	const char *p = args[0];

	if (strpbrk(p, "|&;<>()$`\\\"'*?[]{}#\n"))
		return false;
	while (*(p += strspn(p, " \t"))) {
		size_t len = strcspn(p, " \t");

		strlist_take(out, xmemdupz(p, len));
		p += len;
	}
	for (size_t i = 1; i < nr; i++)
		strlist_add(out, args[i]);
	return true;
}

/* What `submodule foreach` runs; anything not known to be harmless may change files. */
static void foreach_effect(struct hook_effect *out, const struct hook_git *git)
{
	struct proc proc = { .argv = STRLIST_INIT };
	struct hook_git each;
	size_t i = 0;

	while (i < git->nr && strcmp(git->args[i], "foreach"))
		i++;
	do
		i++;
	while (i < git->nr && git->args[i][0] == '-');
	*out = (struct hook_effect){ .kind = HOOK_CHANGES };
	if (i >= git->nr)
		return;
	if (!split_command(&proc.argv, git->args + i, git->nr - i) ||
	    !hook_git_read(&each, &proc)) {
		for (; i < git->nr; i++)
			out->takes_ignored |= has_word(git->args[i], "clean");
	} else if (is_known(each.command)) {
		hook_effect_of(out, &each);
	} else if (is_known_harmless(each.command)) {
		out->kind = HOOK_PASSES;
	}
	strlist_release(&proc.argv);
}

static bool submodule_harmless(const struct hook_git *git)
{
	/* `set-url` and `set-branch` have already written .gitmodules when they first ask. */
	static const char *const verbs[] = { "add", "clone", "deinit", "run-update-procedure",
					     "update", NULL };
	struct hook_effect each;

	if (strcmp(hook_first_word(git), "foreach"))
		return !hook_among(hook_first_word(git), verbs);
	foreach_effect(&each, git);
	return each.kind != HOOK_CHANGES;
}

static bool submodule_takes_ignored(const struct hook_git *git)
{
	struct hook_effect each;

	if (strcmp(hook_first_word(git), "foreach"))
		return !strcmp(hook_first_word(git), "deinit");
	foreach_effect(&each, git);
	return each.takes_ignored;
}

static bool submodule_takes_untracked(const struct hook_git *git)
{
	struct hook_effect each = { .takes_untracked = false };

	if (!strcmp(hook_first_word(git), "foreach"))
		foreach_effect(&each, git);
	return each.takes_untracked;
}

static bool worktree_removes(const struct hook_git *git)
{
	return !strcmp(hook_first_word(git), "remove");
}

static bool worktree_harmless(const struct hook_git *git)
{
	return !worktree_removes(git) && strcmp(hook_first_word(git), "move");
}

struct known_command {
	const char *command;
	const char *called;                            /* for the reason; NULL: the same */
	bool (*harmless)(const struct hook_git *git);  /* forms that change nothing; NULL: none */
	bool (*takes_ignored)(const struct hook_git *git);
	bool (*takes_untracked)(const struct hook_git *git);
	bool through;             /* acts by the commands that it calls */
	enum hook_kind otherwise; /* what the harmless forms are */
};

static const struct known_command known_commands[] = {
	{ .command = "am" },
	{ .command = "apply" },
	{ .command = "bisect", .harmless = bisect_harmless },
	{ .command = "bisect--helper", .called = "bisect" },
	{ .command = "checkout" },
	{ .command = "checkout-index" },
	{ .command = "cherry-pick" },
	{ .command = "clean", .harmless = is_dry_run, .takes_ignored = clean_takes_ignored,
	  .takes_untracked = clean_takes_untracked },
	{ .command = "difftool", .harmless = difftool_harmless },
	{ .command = "filter-branch" },
	{ .command = "history" },
	{ .command = "merge" },
	{ .command = "merge-index", .called = "merge" },
	{ .command = "merge-octopus", .called = "merge" },
	{ .command = "merge-one-file", .called = "merge" },
	{ .command = "merge-ort", .called = "merge" },
	{ .command = "merge-recursive", .called = "merge" },
	{ .command = "merge-recursive-ours", .called = "merge" },
	{ .command = "merge-recursive-theirs", .called = "merge" },
	{ .command = "merge-resolve", .called = "merge" },
	{ .command = "merge-subtree", .called = "merge" },
	{ .command = "mergetool" },
	{ .command = "mv", .harmless = is_dry_run },
	{ .command = "pull", .called = "merge" },
	{ .command = "read-tree", .harmless = read_tree_harmless },
	{ .command = "rebase" },
	{ .command = "receive-pack", .through = true },
	{ .command = "rerere", .harmless = rerere_harmless },
	{ .command = "reset", .harmless = reset_harmless },
	{ .command = "restore", .harmless = restore_harmless },
	{ .command = "revert" },
	{ .command = "rm", .harmless = rm_harmless },
	{ .command = "sparse-checkout", .harmless = sparse_harmless,
	  .takes_ignored = sparse_takes_ignored },
	{ .command = "stash", .harmless = stash_harmless,
	  .takes_ignored = hook_stash_takes_ignored,
	  .takes_untracked = hook_stash_takes_untracked },
	{ .command = "submodule", .harmless = submodule_harmless,
	  .takes_ignored = submodule_takes_ignored,
	  .takes_untracked = submodule_takes_untracked },
	{ .command = "submodule--helper", .called = "submodule", .harmless = submodule_harmless,
	  .takes_ignored = submodule_takes_ignored,
	  .takes_untracked = submodule_takes_untracked },
	{ .command = "switch" },
	{ .command = "worktree", .harmless = worktree_harmless, .takes_ignored = worktree_removes,
	  .otherwise = HOOK_OWNS },
};

static const struct known_command *find_command(const char *command)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_commands); i++)
		if (!strcmp(known_commands[i].command, command))
			return &known_commands[i];
	return NULL;
}

static bool is_known(const char *command)
{
	return find_command(command) != NULL;
}

void hook_effect_of(struct hook_effect *out, const struct hook_git *git)
{
	const struct known_command *known = find_command(git->command);

	*out = (struct hook_effect){ .kind = HOOK_CHANGES };
	if (!strcmp(git->command, "clone"))
		out->kind = HOOK_OWNS;
	else if (!known)
		out->kind = HOOK_PASSES;
	else if (known->harmless && known->harmless(git))
		out->kind = known->otherwise;
	if (out->kind != HOOK_CHANGES)
		return;
	out->called = known->called ? known->called : known->command;
	out->takes_ignored = known->takes_ignored && known->takes_ignored(git);
	out->takes_untracked = known->takes_untracked && known->takes_untracked(git);
	out->through = known->through;
	out->elsewhere = !strcmp(git->command, "worktree") && worktree_removes(git);
}
