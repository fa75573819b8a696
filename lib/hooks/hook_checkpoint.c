/* SPDX-License-Identifier: MIT */
#include "hooks/hook_internal.h"

#include "git/git.h"
#include "save/save.h"
#include "session/session.h"
#include "store/store.h"

#include <sys/file.h>

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
static int writes_branches(const char *key, const char *value, enum gitconfig_level level UNUSED,
			   void *payload UNUSED)
{
	const char *name = strrchr(key, '.'), *to = value ? strchr(value, ':') : NULL;

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

/* --- once for each command --- */

/*
 * One checkpoint for each git command, however many hooks it calls.
 *
 * What the hooks of one command have done is in a small file named after its topmost process, its
 * mark. It is locked while a hook runs; a hook that finds it locked waits, and a hook that finds it
 * done, given up, or left by a killed hook does nothing. The marks are in a private directory in
 * $XDG_RUNTIME_DIR or $TMPDIR; those of dead processes are removed when a new one is made. Where
 * there can be none, a command may take more checkpoints than one.
 *
 * "<what> <extent> <milliseconds> <process>": for which of the commands that change files it was.
 * One that only says "begun" was left by a killed hook.
 *
 * For most of these calls the program is not even started: it leaves an answer (see
 * hook_answer_write()) that the shims understand.
 */
enum {
	MARK_BEGUN = 'b',
	MARK_TAKEN = 't',
	MARK_FAILED = 'f',
};

enum command_state {
	COMMAND_NONE,  /* a checkpoint must be taken, or one with more in it */
	COMMAND_OTHER, /* there is one, for another of the commands that belong together */
	COMMAND_DONE,
};

struct once {
	enum command_state state;
	double spent; /* seconds, by earlier hooks */
	double start;
	int fd;			   /* of the mark; -1: there is none */
	struct hook_answer answer; /* what is settled now */
};

static void describe_actor(char *out, size_t size, const struct hook_decision *decision)
{
	const struct proc *actor = decision->actor;

	snprintf(out, size, "%ld-%llu", actor ? (long)actor->pid : 0,
		 actor ? (unsigned long long)actor->start : 0);
}

static void write_mark(const struct once *once, char what,
		       const struct hook_decision *decision)
{
	double spent = once->spent + clock_monotonic() - once->start;
	char text[128], actor[64];
	int len;

	describe_actor(actor, sizeof(actor), decision);
	len = snprintf(text, sizeof(text), "%c %d %010ld %-41s\n", what, (int)decision->extent,
		       (long)(spent * 1000), actor);
	/* Losing it costs at most an extra checkpoint. */
	if (once->fd >= 0)
		(void)fs_pwrite_all(once->fd, text, (size_t)len, 0);
}

/* The extents that are not everything. */
static enum hook_reach reach_of(int extent)
{
	return extent == HOOK_TAKES_SOME ? HOOK_REACHES_SOME : HOOK_REACHES_UNTRACKED;
}

static void read_mark(struct once *once, const struct hook_decision *decision)
{
	char text[128] = "", before[64], actor[64], what;
	long spent = 0;
	int extent = 0;

	if (fs_pread_full(once->fd, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%c %d %ld %63s", &what, &extent, &spent, before) != 4)
		return;
	once->spent = (double)spent / 1000;
	if (what != MARK_TAKEN || extent >= HOOK_TAKES_IGNORED) {
		once->state = COMMAND_DONE;
		once->answer = (struct hook_answer){ decision->top, HOOK_REACHES_ALL };
		return;
	}
	describe_actor(actor, sizeof(actor), decision);
	if (extent >= (int)decision->extent)
		once->state = strcmp(actor, before) ? COMMAND_OTHER : COMMAND_DONE;
	if (once->state == COMMAND_DONE)
		once->answer = (struct hook_answer){ decision->actor, reach_of(extent) };
}

/* Those of processes that are gone. */
static void remove_stale(int dirfd)
{
	struct strlist names = STRLIST_INIT;

	(void)fs_names(&names, dirfd, ".", 0, NULL);
	for (size_t i = 0; i < names.nr; i++) {
		unsigned long long start;
		long pid;

		if (sscanf(names.items[i], "%ld-%llu", &pid, &start) == 2 &&
		    !proc_alive("/proc", (pid_t)pid, start))
			unlinkat(dirfd, names.items[i], 0);
	}
	strlist_release(&names);
}

/* Not where the stores are: that disk may be full. -1 if there is no directory of the user alone. */
static int open_marks(bool create)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR"), *tmp = getenv("TMPDIR");
	char *path = runtime && *runtime == '/'
			     ? xstrfmt("%s/git-checkpoint-hooks", runtime)
			     : xstrfmt("%s/git-checkpoint-hooks-%ld", tmp && *tmp == '/' ? tmp : "/tmp",
				       (long)geteuid());
	struct stat st;
	int fd = -1;

	if (!create || !mkdir(path, 0700) || errno == EEXIST)
		fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) < 0 || st.st_uid != geteuid() || st.st_mode & 077)) {
		close(fd);
		fd = -1;
	}
	free(path);
	return fd;
}

static void open_mark(struct once *once, const struct proc *top, const char *worktree, int flags)
{
	int dirfd = open_marks(flags & O_CREAT);
	char key[STORE_KEY_SIZE], *name;

	store_key(key, worktree);
	name = xstrfmt("%ld-%llu-%s", (long)top->pid, (unsigned long long)top->start, key);
	if (dirfd >= 0)
		once->fd = openat(dirfd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
	if (once->fd >= 0 && flags & O_CREAT)
		remove_stale(dirfd);
	fs_close(dirfd);
	free(name);
}

static void close_mark(struct once *once)
{
	fs_close(once->fd);
	once->fd = -1;
}

/* Find or create the mark and lock it, until it is closed. */
static void enter_once(struct once *once, const struct hook_decision *decision,
		     const char *worktree)
{
	struct timespec pause = { .tv_nsec = 5000000 };

	once->state = COMMAND_NONE;
	once->spent = 0;
	once->start = clock_monotonic();
	if (!decision->top)
		return;
	open_mark(once, decision->top, worktree, O_CREAT);
	if (once->fd < 0)
		return;
	while (flock(once->fd, LOCK_EX | LOCK_NB) < 0) {
		if ((errno != EWOULDBLOCK && errno != EINTR) || cancel_check()) {
			/*
			 * Another hook of the same command is working on it, and reports the
			 * result.
			 */
			once->state = COMMAND_DONE;
			return;
		}
		nanosleep(&pause, NULL);
	}
	read_mark(once, decision);
	if (once->state != COMMAND_DONE)
		write_mark(once, MARK_BEGUN, decision);
}

/* Note the result, unless that was done before. */
static void leave_once(struct once *once, const struct hook_decision *decision, bool taken)
{
	bool all = !taken || decision->extent >= HOOK_TAKES_IGNORED;

	if (once->state == COMMAND_DONE)
		return;
	write_mark(once, taken ? MARK_TAKEN : MARK_FAILED, decision);
	once->answer = all ? (struct hook_answer){ decision->top, HOOK_REACHES_ALL } :
			     (struct hook_answer){ decision->actor, reach_of((int)decision->extent) };
}

/* True in the usual case, a hundred times in a long rebase: everything was done. Opens nothing else. */
static bool is_settled(struct once *once, const struct hook_decision *decision)
{
	char *cwd = decision->top ? path_real(".") : NULL;

	if (cwd)
		open_mark(once, decision->top, cwd, 0);
	if (once->fd >= 0 && !flock(once->fd, LOCK_EX | LOCK_NB))
		read_mark(once, decision);
	close_mark(once);
	free(cwd);
	return once->state == COMMAND_DONE;
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
	char *reason = xstrfmt("pre-%s", decision->command), *before = command_line(decision);
	struct chooser chooser;
	struct save_opts opts = {
		.reason = reason,
		.source = "hook",
		.before = before,
		.automatic = true,
		.step = -1,
		.scan = { .scope = &strlist_empty,
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
		struct deadline *watch, const struct once *once, struct repo *repo)
{
	struct hook_autostash *stash = NULL;
	struct session session;
	double deadline = 0;
	int64_t limit;
	int err = session_open_repo(&session, SESSION_SAVE, repo);

	if (err)
		return err;
	limit = session.settings.hook_timeout;
	out->quiet = session.settings.hook_quiet || hook_decision_quiet(decision);
	if (session.settings.advice)
		out->home = xstrdup(session.home);
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
		err = save_before(out, decision, &session, stash, once->state == COMMAND_OTHER,
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
			struct deadline *watch, struct once *once)
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
		enter_once(once, decision, repo->worktree);
		if (once->state != COMMAND_DONE) {
			out->where = find_where(decision, repo->worktree);
			err = take_in_time(out, decision, watch, once, repo);
			repo = NULL;
			if (err)
				note_failure(out, watch);
		}
		leave_once(once, decision, !err);
	}
	repo_free(repo);
}

void hook_take(struct hook_result *out, const struct hook_decision *decision,
	       deadline_give_up_fn give_up)
{
	struct deadline watch;
	struct once once = { .fd = -1 };

	memset(out, 0, sizeof(*out));
	if (!is_settled(&once, decision) && find_worktree()) {
		deadline_start(&watch, clock_monotonic() + DEFAULT_SECONDS, give_up, too_long);
		take_once(out, decision, &watch, &once);
		deadline_end(&watch);
	}
	out->answer = once.answer;
	close_mark(&once);
}

void hook_result_release(struct hook_result *result)
{
	free(result->id);
	free(result->where);
	free(result->home);
	free(result->lacks_why);
	strlist_release(&result->lacking);
	free(result->why);
	strlist_release(&result->damage);
	strlist_release(&result->secrets);
	memset(result, 0, sizeof(*result));
}

void hook_answer_write(const char *file, const struct hook_answer *answer)
{
	static const char *const reaches[] = { "self", "some", "untracked", "all" };
	char *cwd = answer->who ? path_real(".") : NULL, *line;

	if (!cwd)
		return;
	line = xstrfmt("%ld %llu %s %s\n", (long)answer->who->pid,
		       (unsigned long long)answer->who->start, reaches[answer->reach], cwd);
	/* Losing it costs a start. It must be readable later, whatever the umask is. */
	(void)fs_write_file(AT_FDCWD, file, line, strlen(line), 0644, FS_FAST);
	free(line);
	free(cwd);
}
