/* SPDX-License-Identifier: MIT */
#include "hooks/hook_rules.h"

#include "hooks/hook_internal.h"

static bool is(const char *a, const char *b)
{
	return !strcmp(a, b);
}

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

const char *const hook_names[] = {
	[HOOK_PRE_REBASE] = "pre-rebase",
	[HOOK_REFERENCE_TRANSACTION] = "reference-transaction",
	[HOOK_FSMONITOR] = "fsmonitor",
	[HOOK_UNKNOWN] = NULL,
};

enum hook_name hook_name_of(const char *text)
{
	enum hook_name name = HOOK_PRE_REBASE;

	while (name != HOOK_UNKNOWN && !is(text, hook_names[name]))
		name++;
	return name;
}

const char *const hook_event_names[] = { "rebase", "merge", "am", "stash", "bisect", NULL };

const char *hook_events_parse(unsigned *out, const char *list)
{
	const char *unknown = NULL;

	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ","), i = 0;

		while (hook_event_names[i] &&
		       (strlen(hook_event_names[i]) != len || memcmp(hook_event_names[i], p, len)))
			i++;
		if (hook_event_names[i])
			*out |= 1u << i;
		else if (!unknown)
			unknown = p;
		p += len;
		if (!*p)
			return unknown;
	}
}

/* --- the processes --- */

/* Programs that stay open while people work: what is called from there is a command in itself. */
static bool is_session(const struct hook_git *git)
{
	static const char *const commands[] = { "gui", "citool", "cola", "dag", "daemon",
						"instaweb", "checkpoint", NULL };

	return hook_among(git->command, commands);
}

/* One of our hooks started this git; we know what it does. */
static bool is_our_hook(const struct hook_git *git)
{
	return is(git->command, "checkpoint") && is(hook_first_word(git), "hook");
}

/*
 * The processes that belong to one command of the user: `*nr_out` of them, up
 * to the topmost git. False if one of them is one of our hooks.
 */
static bool find_family(size_t *nr_out, const struct proc_list *ancestors)
{
	struct hook_git git;

	*nr_out = 0;
	for (size_t i = 0; i < ancestors->nr; i++) {
		/* Another terminal, for example in an editor that git opened. */
		if (ancestors->items[i].session != ancestors->items[0].session)
			break;
		if (!hook_git_read(&git, &ancestors->items[i]))
			continue;
		if (is_our_hook(&git))
			return false;
		if (is_session(&git))
			break;
		*nr_out = i + 1;
	}
	return true;
}

/* The nearest git process: the one that calls the hook. */
static const struct proc *find_caller(struct hook_git *out, const struct proc_list *ancestors,
				      size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (hook_git_read(out, &ancestors->items[i]))
			return &ancestors->items[i];
	return NULL;
}

static void act_before(struct hook_decision *out, const char *command)
{
	out->act = true;
	out->command = command;
}

/* --- fsmonitor --- */

static void extend_extent(struct hook_decision *out, enum hook_extent extent)
{
	if (out->extent < extent)
		out->extent = extent;
}

/* Whether the fetch may write to a branch: "main:main". It may be the checked-out one. */
static bool pull_writes_branches(const struct hook_git *git)
{
	for (size_t i = 0; i < git->nr; i++) {
		const char *arg = git->args[i], *colon = strchr(arg, ':');

		/* An address would match too, but only once per command. */
		if (arg[0] != '-' && colon && colon[1] && colon[1] != '/' && arg != hook_first_word(git))
			return true;
	}
	return false;
}

/*
 * What a pull does shows in what it calls; it acts itself only if there is
 * nothing yet, or if the branch moves before anything is called.
 */
static void decide_pull(struct hook_decision *out, const struct hook_git *pull,
			const struct proc_list *ancestors, size_t below)
{
	static const char *const rebases[] = { "-r", "--rebase", "--rebase=true",
					       "--rebase=merges", "--rebase=interactive", NULL };
	struct hook_git git;
	bool rebase = false;

	while (below--) {
		if (!hook_git_read(&git, &ancestors->items[below]))
			continue;
		if (is(git.command, "merge"))
			act_before(out, "merge");
		else if (is(git.command, "rebase"))
			act_before(out, "rebase");
		if (out->act)
			return;
	}
	for (size_t i = 0; i < pull->nr; i++)
		rebase |= hook_among(pull->args[i], rebases);
	out->only_unborn = !pull_writes_branches(pull);
	act_before(out, rebase && !out->only_unborn ? "rebase" : "merge");
}

/* True if one of the `nr` nearest changes files. */
static bool changes_below(const struct proc_list *ancestors, size_t nr)
{
	while (nr--) {
		struct hook_effect effect;
		struct hook_git git;

		if (!hook_git_read(&git, &ancestors->items[nr]))
			continue;
		hook_effect_of(&effect, &git);
		if (effect.kind == HOOK_CHANGES)
			return true;
	}
	return false;
}

static enum hook_extent extent_of(const struct hook_effect *effect)
{
	return effect->takes_ignored   ? HOOK_TAKES_IGNORED :
	       effect->takes_untracked ? HOOK_TAKES_UNTRACKED :
					 HOOK_TAKES_SOME;
}

static void decide_fsmonitor(struct hook_decision *out, const struct proc_list *ancestors,
			     size_t nr)
{
	struct hook_git git, called;

	for (size_t i = nr; i--;) {
		struct hook_effect effect;

		if (!hook_git_read(&git, &ancestors->items[i]))
			continue;
		hook_effect_of(&effect, &git);
		if (effect.kind == HOOK_OWNS)
			return;
		if (effect.kind == HOOK_PASSES)
			continue;
		/* `worktree remove` looks at that one first. */
		if (effect.elsewhere && !find_caller(&called, ancestors, i))
			continue;
		if (effect.through && !changes_below(ancestors, i))
			continue;
		if (is(git.command, "pull")) {
			decide_pull(out, &git, ancestors, i);
			return;
		}
		if (!out->act)
			act_before(out, effect.called);
		/* The topmost gives the name; what any of them destroys has to be saved. */
		extend_extent(out, extent_of(&effect));
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
	return call->name == HOOK_REFERENCE_TRANSACTION && is_prepared(call);
}

struct ref_line {
	const char *name;
	size_t name_len;
	bool removes; /* the new value is empty */
};

/* Read the next line at `*at`. */
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

static bool is_named(const struct ref_line *ref, const char *name)
{
	return ref->name_len == strlen(name) && !memcmp(ref->name, name, ref->name_len);
}

/* Only `merge` and a fresh `am` write ORIG_HEAD before they do anything else. */
static void decide_orig_head(struct hook_decision *out, const struct hook_call *call,
			     const struct hook_git *git)
{
	static const char *const later[] = { "--abort", "--continue", "--skip", "--quit",
					     "--resolved", "-r", "--rebasing", NULL };
	const char *action = call->reflog_action ? call->reflog_action : "";
	bool merging = begins(action, "merge") || begins(action, "pull");

	for (size_t i = 0; git && i < git->nr; i++)
		if (hook_among(git->args[i], later))
			return;
	/* Under `pull --rebase` the rebase has the same action, and is late. */
	if (call->events & HOOK_EVENT_MERGE && merging && (!git || is(git->command, "merge")))
		act_before(out, "merge");
	else if (call->events & HOOK_EVENT_AM && git && is(git->command, "am"))
		act_before(out, "am");
}

static void decide_refs(struct hook_decision *out, const struct hook_call *call,
			const struct hook_git *git)
{
	const char *at = call->refs ? call->refs : "";
	struct ref_line ref;

	while (!out->act && next_ref(&ref, &at)) {
		if (ref.removes)
			continue;
		if (is_named(&ref, "ORIG_HEAD")) {
			decide_orig_head(out, call, git);
		} else if (is_named(&ref, "refs/stash")) {
			/* `stash store` of an autostash that does not apply comes late. */
			if (call->events & HOOK_EVENT_STASH && git && is(git->command, "stash") &&
			    hook_stash_pushes(git)) {
				act_before(out, "stash");
				if (hook_stash_takes_untracked(git))
					extend_extent(out, HOOK_TAKES_UNTRACKED);
				if (hook_stash_takes_ignored(git))
					extend_extent(out, HOOK_TAKES_IGNORED);
			}
		} else if (is_named(&ref, "BISECT_EXPECTED_REV") ||
			   (ref.name_len > 12 && begins(ref.name, "refs/bisect/"))) {
			if (call->events & HOOK_EVENT_BISECT)
				act_before(out, "bisect");
		}
	}
}

static bool changes_files(const struct proc *proc)
{
	struct hook_effect effect;
	struct hook_git git;

	if (!hook_git_read(&git, proc) || is(git.command, "pull"))
		return false;
	hook_effect_of(&effect, &git);
	return effect.kind == HOOK_CHANGES;
}

/*
 * The topmost that changes files among those that called each other with
 * nothing else in between: what a shell runs, in an alias or for a rebase, is
 * a separate command. A pull leaves the work to others.
 */
static const struct proc *find_actor(const struct proc_list *ancestors, size_t nr)
{
	const struct proc *found = NULL;
	struct hook_git git;
	size_t i = 0;

	while (i < nr && !hook_git_read(&git, &ancestors->items[i]))
		i++;
	for (; i < nr && (!found || hook_git_read(&git, &ancestors->items[i])); i++)
		if (changes_files(&ancestors->items[i]))
			found = &ancestors->items[i];
	return found;
}

void hook_decide(struct hook_decision *out, const struct hook_call *call)
{
	struct hook_git git;
	size_t nr;

	memset(out, 0, sizeof(*out));
	if (!find_family(&nr, call->ancestors))
		return;
	out->ancestors = call->ancestors;
	out->family = nr;
	if (nr)
		out->top = &call->ancestors->items[nr - 1];
	out->caller = find_caller(&git, call->ancestors, nr);
	switch (call->name) {
	case HOOK_PRE_REBASE:
		if (call->events & HOOK_EVENT_REBASE)
			act_before(out, "rebase");
		out->autostash = out->act;
		break;
	case HOOK_REFERENCE_TRANSACTION:
		if (is_prepared(call))
			decide_refs(out, call, out->caller ? &git : NULL);
		break;
	case HOOK_FSMONITOR:
		decide_fsmonitor(out, call->ancestors, nr);
		break;
	case HOOK_UNKNOWN:
		break;
	}
	if (out->act)
		out->actor = find_actor(call->ancestors, nr);
}

/* Which git changes files; else what the user typed. */
static bool read_actor(struct hook_git *out, const struct hook_decision *decision)
{
	const struct proc *proc = decision->actor ? decision->actor : decision->top;

	return proc && hook_git_read(out, proc);
}

bool hook_decision_quiet(const struct hook_decision *decision)
{
	struct hook_git git;

	return read_actor(&git, decision) && hook_git_quiet(&git);
}

void hook_decision_describe(struct strbuf *out, const struct hook_decision *decision)
{
	static const char *const said[] = { "--abort", "--continue", "--skip", "--quit", NULL };
	struct hook_git git;

	strbuf_addstr(out, decision->command);
	if (!read_actor(&git, decision))
		return;
	for (size_t i = 0; i < git.nr; i++)
		if (hook_among(git.args[i], said)) {
			strbuf_addf(out, " %s", git.args[i]);
			return;
		}
}

void hook_decision_targets(struct hook_targets *out, const struct hook_decision *decision)
{
	size_t nr = decision->actor ? (size_t)(decision->actor - decision->ancestors->items) + 1 :
				      decision->family;
	struct hook_git git;

	memset(out, 0, sizeof(*out));
	while (nr--)
		if (changes_files(&decision->ancestors->items[nr]) &&
		    hook_git_read(&git, &decision->ancestors->items[nr]))
			hook_targets_add(out, &git);
}
