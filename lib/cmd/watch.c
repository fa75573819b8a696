/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "watch/watch.h"

enum { PATIENCE = 10000 /* milliseconds */, SECONDS = 20 };

/* --- start, run, stop --- */

/* What concerns the process, and no directory. */
static int with_home(int (*fn)(const char *home))
{
	char *home = NULL;
	int err = store_home(&home);

	if (!err)
		err = fn(home);
	free(home);
	return err;
}

static int tell_state(const char *home, bool running, const char *text)
{
	pid_t pid = 0;

	if (running)
		(void)watch_is_running(&pid, home);
	if (opt_common.json)
		return report_json(json_pack("{s:b,s:o}", "running", running, "pid",
					     running ? json_integer(pid) : json_null()),
				   EXIT_DONE);
	report_text("%s\n", text);
	return EXIT_DONE;
}

static int run_at(const char *home)
{
	struct strlist registered = STRLIST_INIT;
	int err = watch_registry_read(&registered, home);
	bool any = registered.nr || watch_is_running(NULL, home);

	strlist_release(&registered);
	if (err)
		return err;
	if (!any)
		return tell_state(home, false, "No directory is registered; 'git checkpoint watch add "
					       "<dir>' adds one");
	/* It must not keep a directory busy that has nothing to do with it. */
	return chdir("/") < 0 ? ckpt_error_errno("unable to change to '/'") : watch_run(home);
}

static int do_run(struct session *session UNUSED, const struct strlist *args UNUSED)
{
	return with_home(run_at);
}

/* By its name, if it is still there: in a list of processes "exe" would tell nothing. */
static bool start_process(void)
{
	char *self = path_real("/proc/self/exe");
	const char *const argv[] = { self && !access(self, X_OK) ? self : "/proc/self/exe", "watch",
				     "run", NULL };
	bool ok = spawn_detached(argv);

	free(self);
	return ok;
}

static int start_at(const char *home)
{
	struct strlist registered = STRLIST_INIT;
	int err = watch_registry_read(&registered, home);
	size_t nr = registered.nr;

	strlist_release(&registered);
	if (err)
		return err;
	if (watch_is_running(NULL, home))
		return tell_state(home, true, "Already watching");
	if (!nr)
		return ckpt_error_set(CKPT_EREFUSED, "no directory is registered; 'git checkpoint watch "
						     "add <dir>' adds one");
	if (!start_process())
		return ckpt_error_errno("unable to start 'git checkpoint watch run'");
	if (!watch_await(home, true, SECONDS))
		return ckpt_error_set(CKPT_ERROR, "unable to watch; 'git checkpoint watch run' says why");
	return tell_state(home, true, "Watching");
}

static int do_start(struct session *session UNUSED, const struct strlist *args UNUSED)
{
	return with_home(start_at);
}

static int stop_at(const char *home)
{
	json_t *answer = NULL;
	int err;

	if (!watch_is_running(NULL, home))
		return tell_state(home, false, "Nothing was being watched");
	err = watch_tell(&answer, home, "stop", PATIENCE);
	json_decref(answer);
	if (err && err != CKPT_ENOTFOUND)
		return err;
	if (!watch_await(home, false, SECONDS))
		return ckpt_error_set(CKPT_ELOCKED, "the watching process was told to stop, but still runs");
	return tell_state(home, false, "Stopped; the directories stay registered");
}

static int do_stop(struct session *session UNUSED, const struct strlist *args UNUSED)
{
	return with_home(stop_at);
}

/* --- add and remove --- */

/* Tell the process, if it runs, that the registry changed. */
static bool reload_registry(const char *home)
{
	json_t *answer = NULL;
	int err = watch_tell(&answer, home, "reload", PATIENCE);

	json_decref(answer);
	if (err && err != CKPT_ENOTFOUND)
		report_message("warning", ckpt_error_last());
	return !err;
}

static int tell_change(const char *path, bool changed, bool added, bool running)
{
	int status = EXIT_DONE;

	if (opt_common.json)
		status = report_json(json_pack("{s:o,s:b,s:b,s:b}", "path", json_path(path),
					       "registered", added, "changed", changed, "running",
					       running),
				     EXIT_DONE);
	else if (!added)
		report_text("'%s' is no longer watched; its checkpoints stay\n", report_path(path));
	else
		report_text("'%s' is %s%s\n", report_path(path),
			    changed ? "registered" : "already registered",
			    running ? " and watched" : "; 'git checkpoint watch start' watches it");
	return status;
}

/* The watcher watches the directories of this checkpoint. */
static int save_first(struct session *session)
{
	const struct save_opts opts = { .reason = "watching begins",
					.source = "watch",
					.step = -1,
					.automatic = true,
					.scan = { .scope = &strlist_empty,
						  .progress = progress_show } };
	struct save_result result = { 0 };
	int err = 0;

	if (save_check_place(session))
		err = ckpt_error_set(CKPT_EREFUSED,
				     "'%s' is too much to watch; add the projects in it instead",
				     session->worktree);
	if (!err)
		err = save_checkpoint(&result, session, &opts);
	progress_clear();
	if (!err)
		report_warnings(&result.record.warnings);
	save_result_release(&result);
	return err;
}

static int do_add(struct session *session, const struct strlist *args)
{
	const char *dir = args->nr ? args->items[0] : ".";
	bool changed = false;
	int err = 0;

	if (chdir(dir) < 0)
		err = ckpt_error_errno("unable to change to '%s'", dir);
	if (!err)
		err = cmd_session_open(session, SESSION_SAVE);
	if (!err)
		err = save_first(session);
	if (!err)
		err = watch_registry_change(&changed, session->home, session->worktree, true);
	if (err)
		return err;
	return tell_change(session->worktree, changed, true, reload_registry(session->home));
}

/* What `add` would register for a directory that is there: the worktree, or a parent. */
static char *find_around(const struct strlist *registered, const struct repo *repo, const char *path)
{
	char *found = NULL;

	for (size_t i = 0; i < registered->nr; i++) {
		const char *root = registered->items[i];

		if (repo ? !strcmp(root, repo->worktree) : path_below(path, root) != NULL) {
			free(found);
			found = xstrdup(root);
		}
	}
	return found;
}

static int not_registered(const struct strlist *registered, const struct repo *repo,
			  const char *path)
{
	struct strlist others = STRLIST_INIT;
	const char *with = NULL;

	if (repo)
		repo_other_worktrees(&others, repo);
	for (size_t i = 0; i < registered->nr && !with; i++)
		if (strlist_has(&others, registered->items[i]))
			with = registered->items[i];
	if (with)
		ckpt_error_set(CKPT_ENOTFOUND,
			       "'%s' is not registered itself, but is watched with '%s'; 'git checkpoint "
			       "watch remove' there ends that",
			       repo->worktree, with);
	else
		ckpt_error_set(CKPT_ENOTFOUND,
			       "'%s' is not registered; 'git checkpoint watch status' lists what is",
			       path);
	strlist_release(&others);
	return CKPT_ENOTFOUND;
}

/* The one that is registered and is `dir`, which need not be there any more, or contains it. */
static int find_registered(char **out, const char *home, const char *dir)
{
	struct strlist list = STRLIST_INIT;
	int err = watch_registry_read(&list, home);
	char *path = path_resolve(dir), *cwd = path_real(".");
	struct strbuf full = STRBUF_INIT;
	struct repo *repo = NULL;

	/* If it is gone, only its name is known. */
	if (cwd && (!path || *path != '/')) {
		path_absolute(&full, cwd, dir);
		free(path);
		path = strbuf_detach(&full, NULL);
	}
	free(cwd);
	*out = NULL;
	if (!err && path && strlist_has(&list, path)) {
		*out = xstrdup(path);
	} else if (!err) {
		if (path && !chdir(path)) {
			if (repo_discover(&repo))
				repo = NULL;
			*out = find_around(&list, repo, path);
		}
		if (!*out)
			err = not_registered(&list, repo, path ? path : dir);
	}
	repo_free(repo);
	free(path);
	strlist_release(&list);
	return err;
}

static int do_remove(struct session *session UNUSED, const struct strlist *args)
{
	char *home = NULL, *root = NULL;
	int err = store_home(&home), status = EXIT_DONE;
	bool changed = false;

	if (!err)
		err = find_registered(&root, home, args->nr ? args->items[0] : ".");
	if (!err)
		err = watch_registry_change(&changed, home, root, false);
	if (!err)
		status = tell_change(root, changed, false, reload_registry(home));
	free(root);
	free(home);
	return err ? err : status;
}

/* --- status --- */

static void print_tree(const json_t *tree, bool running)
{
	const char *problem = json_string_value(json_object_get(tree, "problem"));
	char *path = json_path_value(json_object_get(tree, "path"));
	struct strbuf text = STRBUF_INIT;

	if (running)
		show_watcher_sum_up(&text, tree);
	else
		strbuf_addstr(&text, "off");
	report_text("%s%s: %s\n", report_path(path ? path : "?"),
		    json_is_true(json_object_get(tree, "linked")) ? " (linked)" : "", text.buf);
	if (problem)
		term_say(stdout, "    %s\n", problem);
	strbuf_release(&text);
	free(path);
}

/* What is registered: without the process nothing more is known. */
static int look_without(json_t **out, const char *home)
{
	struct strlist list = STRLIST_INIT;
	int err = watch_registry_read(&list, home);
	json_t *trees = json_array();

	for (size_t i = 0; i < list.nr; i++)
		json_array_append_new(trees, json_pack("{s:o,s:s}", "path", json_path(list.items[i]),
						       "state", "off"));
	strlist_release(&list);
	*out = json_pack("{s:n,s:n,s:n,s:o}", "pid", "since", "problem", "worktrees", trees);
	return err;
}

static void print_status(const json_t *answer, bool running)
{
	json_t *trees = json_object_get(answer, "worktrees");
	const char *problem = json_string_value(json_object_get(answer, "problem"));

	if (problem)
		report_message("warning", problem);
	if (running)
		report_text("Watching, process %lld\n",
			    (long long)json_integer_value(json_object_get(answer, "pid")));
	else if (json_array_size(trees))
		report_text("Not watching; 'git checkpoint watch start' starts it\n");
	else
		report_text("No directory is registered; 'git checkpoint watch add <dir>' adds one\n");
	for (size_t i = 0; i < json_array_size(trees); i++)
		print_tree(json_array_get(trees, i), running);
}

static int show_at(const char *home)
{
	json_t *answer = NULL;
	int err = watch_tell(&answer, home, "status", PATIENCE), status = EXIT_DONE;
	bool running = !err;

	if (err == CKPT_ENOTFOUND)
		err = look_without(&answer, home);
	if (!err && opt_common.json) {
		json_object_set_new(answer, "running", json_boolean(running));
		status = report_json(json_incref(answer), EXIT_DONE);
	} else if (!err) {
		print_status(answer, running);
	}
	json_decref(answer);
	return err ? err : status;
}

static int do_status(struct session *session UNUSED, const struct strlist *args UNUSED)
{
	return with_home(show_at);
}

#define DIRECTORY OPT_ARGS({ { "<dir>" }, 0, 1 })

static const struct opt_spec subs[] = {
	{ .command = "watch start",
	  .summary = "start watching in the background",
	  .alone = true,
	  .run = do_start },
	{ .command = "watch stop", .summary = "stop watching", .alone = true, .run = do_stop },
	{ .command = "watch status",
	  .summary = "show what is watched, and when it was saved",
	  .alone = true,
	  .run = do_status },
	{ .command = "watch add",
	  .summary = "register a directory, and save it",
	  .args = DIRECTORY,
	  .alone = true,
	  .run = do_add },
	{ .command = "watch remove",
	  .summary = "take a directory off the list; its checkpoints stay",
	  .args = DIRECTORY,
	  .alone = true,
	  .run = do_remove },
	{ .command = "watch run",
	  .summary = "watch in the foreground",
	  .alone = true,
	  .run = do_run },
	{ NULL },
};

const struct opt_spec cmd_watch_spec = {
	.command = "watch",
	.summary = "save changes by itself, and make other saves fast",
	.subs = subs,
};
