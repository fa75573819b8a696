/* SPDX-License-Identifier: MIT */
#include "ops/hookrules.h"

#include "base/alloc.h"
#include "base/procs.h"

#include <string.h>

static bool is(const char *a, const char *b)
{
	return !strcmp(a, b);
}

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static bool among(const char *word, const char *const list[])
{
	for (size_t i = 0; list[i]; i++)
		if (is(word, list[i]))
			return true;
	return false;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void hook_events_parse(unsigned *out, const char *list)
{
	static const struct {
		const char *name;
		enum hook_event event;
	} names[] = {
		{ "rebase", HOOK_EVENT_REBASE }, { "merge", HOOK_EVENT_MERGE },
		{ "am", HOOK_EVENT_AM },	 { "stash", HOOK_EVENT_STASH },
		{ "bisect", HOOK_EVENT_BISECT },
	};

	while (*list) {
		size_t len = strcspn(list, ",");

		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (strlen(names[i].name) == len && !strncmp(names[i].name, list, len))
				*out |= names[i].event;
		list += len;
		list += strspn(list, ",");
	}
}

/* --- command lines --- */

bool hook_git_call(struct git_call *out, const struct proc *proc)
{
	static const char *const with_value[] = { "-C", "-c", "--git-dir", "--work-tree",
						  "--namespace", "--super-prefix",
						  "--config-env", "--attr-source", NULL };
	const struct strlist *argv = &proc->argv;
	const char *name = argv->nr ? base_name(argv->items[0]) : "";
	size_t i = 1;

	if (begins(name, "git-") && name[4]) {
		*out = (struct git_call){ name + 4, argv->items + 1, argv->nr - 1 };
		return true;
	}
	/* A wrapper may call it by another name. */
	if (!is(name, "git") && !(proc->name && is(proc->name, "git") && argv->nr))
		return false;
	while (i < argv->nr && argv->items[i][0] == '-')
		i += among(argv->items[i], with_value) ? 2 : 1;
	*out = (struct git_call){ "", NULL, 0 };
	if (i < argv->nr)
		*out = (struct git_call){ argv->items[i], argv->items + i + 1, argv->nr - i - 1 };
	return true;
}

/* The first argument that is no option. */
static const char *first_word(const struct git_call *git)
{
	for (size_t i = 0; i < git->nr; i++)
		if (git->args[i][0] != '-')
			return git->args[i];
	return "";
}

/* True if an option is given; `name` may be cut short as git allows it. */
static bool has_option(const struct git_call *git, const char *name, size_t shortest)
{
	for (size_t i = 0; i < git->nr && !is(git->args[i], "--"); i++) {
		size_t len = strcspn(git->args[i], "=");

		if (len >= shortest && len <= strlen(name) && !strncmp(git->args[i], name, len))
			return true;
	}
	return false;
}

/* True if a bundle of one-letter options has one of `letters`; those in `valued` eat the rest. */
static bool has_letter(const struct git_call *git, const char *letters, const char *valued)
{
	for (size_t i = 0; i < git->nr && !is(git->args[i], "--"); i++) {
		const char *p = git->args[i];

		if (p[0] != '-' || p[1] == '-')
			continue;
		while (*++p) {
			if (strchr(letters, *p))
				return true;
			if (!strchr(valued, *p))
				continue;
			if (!p[1])
				i++;
			break;
		}
	}
	return false;
}

/* True if all options are among those that leave the files alone. */
static bool only_options(const struct git_call *git, const char *const list[])
{
	for (size_t i = 0; i < git->nr && !is(git->args[i], "--"); i++)
		if (git->args[i][0] == '-' && !among(git->args[i], list))
			return false;
	return true;
}

/* --- which commands change files --- */

/* `git stash` alone, or with options, is a push. */
static const char *stash_verb(const struct git_call *git)
{
	return git->nr && git->args[0][0] != '-' ? git->args[0] : "push";
}

static bool stash_pushes(const struct git_call *git)
{
	return is(stash_verb(git), "push") || is(stash_verb(git), "save");
}

static bool stash_harmless(const struct git_call *git)
{
	static const char *const verbs[] = { "list", "show", "drop", "clear", "create",
					     "store", "export", "import", NULL };

	return among(stash_verb(git), verbs);
}

static bool stash_takes_ignored(const struct git_call *git)
{
	return stash_pushes(git) &&
	       (has_letter(git, "a", "m") || has_option(git, "--all", strlen("--a")));
}

static bool clean_takes_ignored(const struct git_call *git)
{
	return has_letter(git, "xX", "e");
}

/* What only changes the index is too common to take a checkpoint each time. */
static bool reset_harmless(const struct git_call *git)
{
	static const char *const options[] = { "-q", "--quiet", "--soft", "--mixed", "-N",
					       "--intent-to-add", "-p", "--patch", "--refresh",
					       "--no-refresh", NULL };

	return only_options(git, options);
}

/* Without -u only the index is read into: what tools do that keep a tree of their own. */
static bool read_tree_harmless(const struct git_call *git)
{
	return !has_letter(git, "u", "");
}

static bool restore_harmless(const struct git_call *git)
{
	static const char *const options[] = { "-q", "--quiet", "-S", "--staged", "-p", "--patch",
					       NULL };

	return only_options(git, options) &&
	       (has_option(git, "-S", 2) || has_option(git, "--staged", strlen("--staged")));
}

static bool rm_harmless(const struct git_call *git)
{
	return has_option(git, "--cached", strlen("--cached"));
}

static bool bisect_harmless(const struct git_call *git)
{
	static const char *const verbs[] = { "log", "view", "visualize", "terms", "help", NULL };

	return among(first_word(git), verbs);
}

static bool sparse_harmless(const struct git_call *git)
{
	static const char *const verbs[] = { "list", "check-rules", NULL };

	return among(first_word(git), verbs);
}

static bool submodule_harmless(const struct git_call *git)
{
	static const char *const verbs[] = { "update", "deinit", "run-update-procedure", NULL };

	return !among(first_word(git), verbs);
}

static bool worktree_harmless(const struct git_call *git)
{
	static const char *const verbs[] = { "move", "remove", NULL };

	return !among(first_word(git), verbs);
}

enum kind {
	PASSES = 0, /* of no interest itself, but what it calls may be */
	CHANGES,    /* files of this worktree */
	OWNS,       /* changes only files that it made, whatever it calls */
};

struct rule {
	const char *command;
	const char *called;                            /* in the reason; NULL: the same */
	bool (*harmless)(const struct git_call *git);  /* forms that change nothing; NULL: none */
	bool (*takes_ignored)(const struct git_call *git);
	enum kind otherwise; /* what the harmless forms are */
};

static const struct rule rules[] = {
	{ "am", NULL, NULL, NULL, PASSES },
	{ "apply", NULL, NULL, NULL, PASSES },
	{ "bisect", NULL, bisect_harmless, NULL, PASSES },
	{ "bisect--helper", "bisect", NULL, NULL, PASSES },
	{ "checkout", NULL, NULL, NULL, PASSES },
	{ "checkout-index", NULL, NULL, NULL, PASSES },
	{ "cherry-pick", NULL, NULL, NULL, PASSES },
	{ "clean", NULL, NULL, clean_takes_ignored, PASSES },
	{ "filter-branch", NULL, NULL, NULL, PASSES },
	{ "merge", NULL, NULL, NULL, PASSES },
	{ "mergetool", NULL, NULL, NULL, PASSES },
	{ "mv", NULL, NULL, NULL, PASSES },
	{ "pull", "merge", NULL, NULL, PASSES },
	{ "read-tree", NULL, read_tree_harmless, NULL, PASSES },
	{ "rebase", NULL, NULL, NULL, PASSES },
	{ "receive-pack", NULL, NULL, NULL, PASSES },
	{ "reset", NULL, reset_harmless, NULL, PASSES },
	{ "restore", NULL, restore_harmless, NULL, PASSES },
	{ "revert", NULL, NULL, NULL, PASSES },
	{ "rm", NULL, rm_harmless, NULL, PASSES },
	{ "sparse-checkout", NULL, sparse_harmless, NULL, PASSES },
	{ "stash", NULL, stash_harmless, stash_takes_ignored, PASSES },
	{ "submodule", NULL, submodule_harmless, NULL, PASSES },
	{ "submodule--helper", "submodule", submodule_harmless, NULL, PASSES },
	{ "switch", NULL, NULL, NULL, PASSES },
	{ "worktree", NULL, worktree_harmless, NULL, OWNS },
};

static const struct rule *find_rule(const char *command)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (is(rules[i].command, command))
			return &rules[i];
	return NULL;
}

static enum kind kind_of(const struct git_call *git, const struct rule *rule)
{
	if (is(git->command, "clone"))
		return OWNS;
	if (!rule)
		return PASSES;
	return rule->harmless && rule->harmless(git) ? rule->otherwise : CHANGES;
}

/* --- the processes --- */

/* Those that live on while people work: what is called from there stands for itself. */
static bool is_session(const struct git_call *git)
{
	static const char *const commands[] = { "gui", "citool", "daemon", "instaweb",
						"checkpoint", NULL };

	return among(git->command, commands);
}

/* A hook of ours started this git; what it does is our own business. */
static bool is_our_hook(const struct git_call *git)
{
	return is(git->command, "checkpoint") && is(first_word(git), "hook");
}

/*
 * The processes that belong to one command of the user: `*nr_out` of them, up
 * to the topmost git. False if one of them is a hook of ours.
 */
static bool find_family(size_t *nr_out, const struct proc_list *ancestors)
{
	struct git_call git;

	*nr_out = 0;
	for (size_t i = 0; i < ancestors->nr; i++) {
		/* A terminal of its own, in an editor that git opened, say. */
		if (ancestors->items[i].session != ancestors->items[0].session)
			break;
		if (!hook_git_call(&git, &ancestors->items[i]))
			continue;
		if (is_our_hook(&git))
			return false;
		if (is_session(&git))
			break;
		*nr_out = i + 1;
	}
	return true;
}

/* The nearest process that is a git: the one that calls the hook. */
static bool caller(struct git_call *out, const struct proc_list *ancestors, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (hook_git_call(out, &ancestors->items[i]))
			return true;
	return false;
}

static void decide(struct hook_decision *out, const char *command)
{
	out->act = true;
	out->command = command;
}

/* --- fsmonitor --- */

/* What a pull does shows in what it calls; itself it acts only where there is nothing yet. */
static void decide_pull(struct hook_decision *out, const struct proc_list *ancestors,
			size_t below)
{
	struct git_call git;

	while (below--) {
		if (!hook_git_call(&git, &ancestors->items[below]))
			continue;
		if (is(git.command, "merge"))
			decide(out, "merge");
		else if (is(git.command, "rebase"))
			decide(out, "rebase");
		if (out->act)
			return;
	}
	decide(out, "merge");
	out->only_unborn = true;
}

static void decide_fsmonitor(struct hook_decision *out, const struct proc_list *ancestors,
			     size_t nr)
{
	struct git_call git;

	for (size_t i = nr; i--;) {
		const struct rule *rule;
		enum kind kind;

		if (!hook_git_call(&git, &ancestors->items[i]))
			continue;
		rule = find_rule(git.command);
		kind = kind_of(&git, rule);
		if (kind == OWNS)
			return;
		if (kind == PASSES)
			continue;
		if (is(git.command, "pull")) {
			decide_pull(out, ancestors, i);
			return;
		}
		if (!out->act)
			decide(out, rule->called ? rule->called : rule->command);
		/* The topmost gives the name; what any of them destroys has to be saved. */
		if (rule->takes_ignored && rule->takes_ignored(&git))
			out->include_ignored = true;
	}
}

/* --- reference-transaction --- */

static bool is_prepared(const struct hook_call *call)
{
	return call->args_nr &&
	       (is(call->args[0], "prepared") || is(call->args[0], "preparing"));
}

bool hook_wants_refs(const struct hook_call *call)
{
	return is(call->name, "reference-transaction") && is_prepared(call);
}

struct ref_line {
	const char *name;
	size_t name_len;
	bool removes; /* the new value is none */
};

/* Take the next line at `*at`. */
static bool next_ref(struct ref_line *out, const char **at)
{
	while (**at) {
		size_t len = strcspn(*at, "\n");
		const char *line = *at, *end = line + len, *fresh, *name;

		*at = end + (*end == '\n');
		fresh = memchr(line, ' ', len);
		name = fresh ? memchr(fresh + 1, ' ', (size_t)(end - fresh - 1)) : NULL;
		if (!name)
			continue;
		fresh++;
		out->removes = fresh + strspn(fresh, "0") == name;
		out->name = name + 1;
		out->name_len = (size_t)(end - out->name);
		return true;
	}
	return false;
}

static bool named(const struct ref_line *ref, const char *name)
{
	return ref->name_len == strlen(name) && !memcmp(ref->name, name, ref->name_len);
}

/* Only `merge` and a fresh `am` write ORIG_HEAD before they do anything else. */
static void decide_orig_head(struct hook_decision *out, const struct hook_call *call,
			     const struct git_call *git)
{
	static const char *const later[] = { "--abort", "--continue", "--skip", "--quit",
					     "--resolved", "-r", "--rebasing", NULL };
	const char *action = call->reflog_action ? call->reflog_action : "";
	bool merging = begins(action, "merge") || begins(action, "pull");

	for (size_t i = 0; git && i < git->nr; i++)
		if (among(git->args[i], later))
			return;
	/* Under `pull --rebase` the rebase has the same action, and is late. */
	if (call->events & HOOK_EVENT_MERGE && merging && (!git || is(git->command, "merge")))
		decide(out, "merge");
	else if (call->events & HOOK_EVENT_AM && git && is(git->command, "am"))
		decide(out, "am");
}

static void decide_refs(struct hook_decision *out, const struct hook_call *call,
			const struct git_call *git)
{
	const char *at = call->refs ? call->refs : "";
	struct ref_line ref;

	while (!out->act && next_ref(&ref, &at)) {
		if (ref.removes)
			continue;
		if (named(&ref, "ORIG_HEAD")) {
			decide_orig_head(out, call, git);
		} else if (named(&ref, "refs/stash")) {
			/* `stash store` of an autostash that does not apply comes late. */
			if (call->events & HOOK_EVENT_STASH && git && is(git->command, "stash") &&
			    stash_pushes(git)) {
				decide(out, "stash");
				out->include_ignored = stash_takes_ignored(git);
			}
		} else if (named(&ref, "BISECT_EXPECTED_REV") ||
			   (ref.name_len > 12 && begins(ref.name, "refs/bisect/"))) {
			if (call->events & HOOK_EVENT_BISECT)
				decide(out, "bisect");
		}
	}
}

void hook_decide(struct hook_decision *out, const struct hook_call *call)
{
	struct git_call git;
	size_t nr;
	bool known;

	memset(out, 0, sizeof(*out));
	if (!find_family(&nr, call->ancestors))
		return;
	if (nr)
		out->top = &call->ancestors->items[nr - 1];
	known = caller(&git, call->ancestors, nr);
	if (is(call->name, "pre-rebase")) {
		if (call->events & HOOK_EVENT_REBASE)
			decide(out, "rebase");
		out->autostash = out->act;
	} else if (is(call->name, "reference-transaction")) {
		if (is_prepared(call))
			decide_refs(out, call, known ? &git : NULL);
	} else if (is(call->name, "fsmonitor")) {
		decide_fsmonitor(out, call->ancestors, nr);
	}
}
