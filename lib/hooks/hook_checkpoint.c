/* SPDX-License-Identifier: MIT */
#include "hooks/hook_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "save/save.h"
#include "session/session.h"
#include "store/store.h"

/* --- the clock --- */

static const char too_long[] =
	"it takes longer than hookTimeout allows; run 'git checkpoint save'";

enum { DEFAULT_SECONDS = 10 }; /* until the settings are read */

/* --- the worktree --- */

static bool has_component(const char *path, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = path; (p = strstr(p, name)); p += len)
		if ((p == path || p[-1] == '/') && (!p[len] || p[len] == '/'))
			return true;
	return false;
}

/* A worktree may be in there, too: it has its own .git. */
static bool in_gitdir(const char *cwd)
{
	return path_has_dotgit(cwd) && faccessat(AT_FDCWD, ".git", F_OK, AT_SYMLINK_NOFOLLOW) < 0;
}

/*
 * git calls hooks at the top of the worktree; GIT_DIR alone then means that
 * this is it. In a bare repository, and for a push, it is the git directory.
 */
static bool find_worktree(void)
{
	const char *git_dir = env_git("GIT_DIR"), *work_tree = env_git("GIT_WORK_TREE");
	char *cwd = path_real("."), *real = git_dir && *git_dir ? path_real(git_dir) : NULL;
	bool good = cwd && !in_gitdir(cwd) && !has_component(cwd, ".git-rewrite");

	if (good && real && path_below(cwd, real))
		good = false;
	if (good && real && (!work_tree || !*work_tree))
		env_assume("GIT_WORK_TREE", ".");
	free(real);
	free(cwd);
	return good;
}

/* A value of remote.<name>.fetch. */
static int writes_branches(const char *key, const char *value, enum gitconfig_level level,
			   void *payload)
{
	const char *name = strrchr(key, '.'), *to = value ? strchr(value, ':') : NULL;

	(void)level;
	(void)payload;
	return !strcmp(name, ".fetch") && to && !strncmp(to + 1, "refs/heads/", 11);
}

/* Nothing is checked out yet, or a fetch may change what is. */
static bool moves_first(const struct repo *repo)
{
	struct repo_state state = { 0 };
	struct gitconfig *config = NULL;
	bool moves = !repo_read_state(&state, repo) && !state.head;

	repo_state_release(&state);
	if (!moves && !gitconfig_open(&config, repo))
		moves = gitconfig_each(config, "remote.", writes_branches, NULL) > 0;
	gitconfig_close(config);
	return moves;
}

/* --- the checkpoint --- */

struct chooser {
	const struct session *session;
	const struct hook_decision *decision;
	struct hook_targets targets;
	bool only_if_any; /* without them there is nothing to save */
	bool only_named;  /* there are too many: say so, and leave them out */
	struct strlist chosen;
	struct strlist left_out; /* by the user's patterns, although git is about to remove it */
};

/* For save.h: what is in git's way. */
static int choose_exposed(struct strlist *out, const struct scan *scan, void *payload)
{
	struct chooser *chooser = payload;
	const char *prefix = env_git("GIT_PREFIX");
	int err = 0;

	strlist_release(&chooser->chosen);
	strlist_release(&chooser->left_out);
	if (chooser->decision->extent == HOOK_TAKES_UNTRACKED)
		strlist_extend(&chooser->left_out, &scan->defaults_left_out);
	if (chooser->session->repo)
		err = hook_exposed_find(&chooser->chosen, scan, chooser->session->repo,
					&chooser->targets, prefix ? prefix : "");
	strlist_sort_unique(&chooser->chosen);
	if (!err && chooser->only_if_any && !chooser->chosen.nr)
		return CKPT_ENOTFOUND;
	if (!err && !chooser->only_named)
		strlist_extend(out, &chooser->chosen);
	return err;
}

static void chooser_init(struct chooser *chooser, const struct session *session,
			 const struct hook_decision *decision)
{
	memset(chooser, 0, sizeof(*chooser));
	chooser->session = session;
	chooser->decision = decision;
	hook_decision_targets(&chooser->targets, decision);
	if (gitconfig_bool(session->gitconfig, "submodule.recurse", false))
		chooser->targets.modules = true;
	if (chooser->targets.applies_patches &&
	    gitconfig_bool(session->gitconfig, "am.threeway", false))
		chooser->targets.merges_patches = true;
}

static void chooser_release(struct chooser *chooser)
{
	hook_targets_release(&chooser->targets);
	strlist_release(&chooser->chosen);
	strlist_release(&chooser->left_out);
}

/* Only those that are about to go: otherwise this would be said each time. */
static void note_secrets(struct strlist *out, const struct chooser *chooser,
			 const struct skip_list *skips)
{
	for (size_t i = 0; i < skips->nr; i++) {
		const char *name = skips->items[i].path;
		char *path;

		if (skips->items[i].why != SKIP_SENSITIVE ||
		    (chooser->decision->extent == HOOK_TAKES_SOME &&
		     !pathset_covers(&chooser->chosen, name)))
			continue;
		/* If nothing changed, they are those of the existing checkpoint. */
		path = xstrfmt("%s/%s", chooser->session->worktree, name);
		if (!faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW))
			strlist_add(out, name);
		free(path);
	}
}

/* What is usually left out may be more than allowed: then the rest is saved without it. */
static int save_what_is_allowed(struct save_result *result, struct hook_result *out,
				struct session *session, struct save_opts *opts)
{
	struct chooser *chooser = opts->choose_payload;
	int err = save_checkpoint(result, session, opts);
	char *why;

	if (err != CKPT_EREFUSED && !(err && (result->no_room || result->late)))
		return err;
	if (!opts->scan.include_ignored && !opts->scan.no_defaults && !chooser->chosen.nr)
		return err;
	why = xstrdup(result->late ? too_long : ckpt_error_last());
	out->no_ignored = opts->scan.include_ignored;
	save_result_release(result);
	opts->scan.include_ignored = opts->scan.no_defaults = false;
	chooser->only_named = true;
	err = save_checkpoint(result, session, opts);
	if (err)
		free(why);
	else
		out->lacks_why = why;
	return err;
}

static void note_lacking(struct hook_result *out, const struct chooser *chooser)
{
	if (out->no_ignored)
		return;
	strlist_extend(&out->lacking, &chooser->left_out);
	if (chooser->only_named)
		strlist_extend(&out->lacking, &chooser->chosen);
	strlist_sort_unique(&out->lacking);
}

/* As the user gave it, without options for git itself, which may be long and hold secrets. */
static char *command_line(const struct hook_decision *decision)
{
	struct strbuf line = STRBUF_INIT;
	struct strlist words = STRLIST_INIT;
	struct hook_git git;

	strbuf_addstr(&line, "git ");
	if (decision->top && hook_git_read(&git, decision->top) && *git.command) {
		strlist_add(&words, git.command);
		for (size_t i = 0; i < git.nr; i++)
			strlist_add(&words, git.args[i]);
	} else {
		strlist_add(&words, decision->command);
	}
	title_add_command(&line, words.items, words.nr);
	strlist_release(&words);
	return strbuf_detach(&line, NULL);
}

static int save_before(struct hook_result *out, const struct hook_decision *decision,
		struct session *session, struct hook_autostash *stash, bool only_if_any,
		double until)
{
	static const struct strlist everything = STRLIST_INIT;
	char *reason = xstrfmt("pre-%s", decision->command), *before = command_line(decision);
	struct chooser chooser;
	struct save_opts opts = {
		.reason = reason,
		.source = "hook",
		.before = before,
		.automatic = true,
		.step = -1,
		.scan = { .scope = &everything,
			  .include_ignored = decision->extent == HOOK_TAKES_IGNORED,
			  .include_sensitive = session->settings.hook_sensitive,
			  .no_defaults = decision->extent == HOOK_TAKES_UNTRACKED,
			  .until = until },
		.extras.no_auto = true, /* a dump may take longer than a git command may wait */
		.choose = decision->extent == HOOK_TAKES_IGNORED ? NULL : choose_exposed,
		.choose_payload = &chooser,
	};
	struct save_result result = { 0 };
	int err;

	chooser_init(&chooser, session, decision);
	chooser.only_if_any = only_if_any;
	if (stash) {
		opts.amend = hook_autostash_amend;
		opts.amend_payload = stash;
		opts.notes = hook_autostash_notes(stash);
	}
	err = save_what_is_allowed(&result, out, session, &opts);
	if (err && result.late)
		err = ckpt_error_set(err, "it takes longer than hookTimeout allows; %u%% has been read "
					  "and is kept, 'git checkpoint save' reads the rest",
				     result.percent);
	if (session->store)
		strlist_extend(&out->damage, &session->store->damage);
	if (!err && result.have_record) {
		out->outcome = result.outcome == SAVE_CREATED ? HOOK_SAVED : HOOK_HELD;
		out->id = xstrdup(result.record.id);
		out->missing = result.record.missing;
	}
	if (!err) {
		note_secrets(&out->secrets, &chooser, &result.skips);
		note_lacking(out, &chooser);
	} else if (err == CKPT_ENOTFOUND && only_if_any) {
		err = 0;
	}
	save_result_release(&result);
	chooser_release(&chooser);
	free(reason);
	free(before);
	return err;
}

/* The repository is the session's from here on. */
static int take_in_time(struct hook_result *out, const struct hook_decision *decision,
		struct deadline *watch, const struct hook_once *once, struct repo *repo)
{
	struct hook_autostash *stash = NULL;
	struct session session;
	double deadline = 0;
	int64_t limit;
	int err = session_open_repo(&session, SESSION_SAVE, repo);

	if (err)
		return err;
	limit = session.settings.hook_timeout;
	out->quiet = session.settings.hook_quiet;
	if (limit > 0) {
		deadline = once->start + (double)limit - once->spent;
		deadline_set(watch, deadline);
		/* Another process may hold the lock for long. */
		if (session.settings.lock_timeout > limit)
			session.settings.lock_timeout = limit;
	}
	if (decision->autostash)
		err = hook_autostash_open(&stash, session.repo, decision->top != NULL);
	if (!err)
		err = save_before(out, decision, &session, stash, once->state == HOOK_ONCE_OTHER,
			   deadline);
	hook_autostash_free(stash);
	session_close(&session);
	return err;
}

static void note_failure(struct hook_result *out, const struct deadline *watch)
{
	out->outcome = HOOK_FAILED;
	if (deadline_passed(watch))
		out->why = xstrdup(too_long);
	else if (cancel_signal())
		/* The user stops git; it will not change anything either. */
		out->outcome = HOOK_NOTHING;
	else
		out->why = xstrdup(ckpt_error_last());
}

/* As it can be given to `git -C` where the command was given; a submodule has a store of its own. */
static char *find_where(const struct hook_decision *decision, const char *worktree)
{
	char *link, *from, *where = NULL;
	const char *below;

	if (!decision->top)
		return NULL;
	link = xstrfmt("/proc/%ld/cwd", (long)decision->top->pid);
	from = path_real(link);
	free(link);
	if (from && !path_below(from, worktree)) {
		below = path_below(worktree, from);
		where = xstrdup(below ? below : worktree);
	}
	free(from);
	return where;
}

/* Where there is something to save. */
static void take_once(struct hook_result *out, const struct hook_decision *decision,
			struct deadline *watch, struct hook_once *once)
{
	struct repo *repo = NULL;
	int err = repo_discover(&repo);

	if (err) {
		/* Nothing to save here, unless the caller named a place. */
		if (err != CKPT_ENOTFOUND && env_git("GIT_DIR"))
			note_failure(out, watch);
		return;
	}
	if (!decision->only_unborn || moves_first(repo)) {
		hook_once_enter(once, decision, repo->worktree);
		if (once->state != HOOK_ONCE_DONE) {
			out->where = find_where(decision, repo->worktree);
			err = take_in_time(out, decision, watch, once, repo);
			repo = NULL;
			if (err)
				note_failure(out, watch);
		}
		hook_once_leave(once, decision, !err);
	}
	repo_free(repo);
}

void hook_take(struct hook_result *out, const struct hook_decision *decision,
	       deadline_give_up_fn give_up)
{
	struct deadline watch;
	struct hook_once once;

	memset(out, 0, sizeof(*out));
	hook_once_init(&once);
	if (!hook_once_settled(&once, decision) && find_worktree()) {
		deadline_start(&watch, clock_monotonic() + DEFAULT_SECONDS, give_up, too_long);
		take_once(out, decision, &watch, &once);
		deadline_end(&watch);
	}
	out->answer = once.answer;
	hook_once_release(&once);
}

void hook_result_release(struct hook_result *result)
{
	free(result->id);
	free(result->where);
	free(result->lacks_why);
	strlist_release(&result->lacking);
	free(result->why);
	strlist_release(&result->damage);
	strlist_release(&result->secrets);
	memset(result, 0, sizeof(*result));
}
