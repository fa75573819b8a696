/* SPDX-License-Identifier: MIT */
#include "agents/agents_internal.h"
#include "git/git.h"
#include "save/save.h"
#include "session/session.h"

enum { DEFAULT_SECONDS = 10 }; /* until the settings are read */

static const char too_long[] = "it takes longer than hookTimeout allows";

/* --- the answer --- */

/* Those that show the user what is in "systemMessage"; some want an object in any case. */
char *agent_hook_answer(const char *entry, const char *why)
{
	json_t *agent = agents_load(entry), *answer = NULL;
	const char *nothing = agents_text(agent, "answer");
	struct strbuf text = STRBUF_INIT;

	if (nothing && why) {
		answer = json_object();
		json_object_set_new(answer, "systemMessage", json_text(why));
		json_write(&text, answer);
		strbuf_addch(&text, '\n');
	} else if (nothing) {
		strbuf_addstr(&text, nothing);
	}
	json_decref(answer);
	json_decref(agent);
	return strbuf_detach(&text, NULL);
}

/* --- the directory --- */

/*
 * Only the event knows where the agent is: it may have gone into another worktree, which neither
 * our own directory nor a variable tells.
 */
static void enter_directory(const struct agent_event *event)
{
	if (event->cwd && !chdir(event->cwd))
		return;
	for (size_t i = 0; i < event->roots.nr; i++)
		if (!chdir(event->roots.items[i]))
			return;
}

/* The session around the directory that a worktree is in; it is gone to, and `inner` is closed. */
static int look_around(struct session *inner)
{
	const char *slash = strrchr(inner->worktree, '/');
	char *above = xmemdupz(inner->worktree, (size_t)(slash - inner->worktree) + 1);
	struct session outer;
	int err = !slash[1] || chdir(above) < 0 ? CKPT_ENOTFOUND : session_open(&outer, SESSION_LOOK);

	free(above);
	if (err)
		return err;
	/* Another worktree of the same repository is none of its files, whichever is in which. */
	if (inner->repo && outer.repo && outer.store &&
	    !strcmp(inner->repo->commondir, outer.repo->commondir)) {
		store_close(outer.store);
		outer.store = NULL;
	}
	session_close(inner);
	*inner = outer;
	return 0;
}

/*
 * A "cd" into a repository that is part of the project's files does not take the session there:
 * the agent still edits the files around it. The tree in which the session is at home, or NULL.
 */
static char *find_around(const struct agent_event *event)
{
	const struct ckpt_agent *agent = &event->labels;
	char *found = NULL;
	struct session at;

	if (!agent->session || session_open(&at, SESSION_LOOK))
		return NULL;
	while (!found && !look_around(&at) && (at.repo || at.store))
		if (at.store && turns_has_session(at.store, agent->name, agent->session))
			found = xstrdup(at.worktree);
	session_close(&at);
	return found;
}

/* --- the checkpoint --- */

/* "Edit src/parser.c", "Bash "make test"", "prompt "rename the parser"" */
static char *describe_event(const struct agent_event *event, const char *worktree, bool prompts)
{
	struct strbuf text = STRBUF_INIT;
	size_t len = strlen(worktree);

	if (event->moment == TURN_PROMPT) {
		strbuf_addstr(&text, event->labels.prompt && prompts ? TITLE_PROMPT : TITLE_A_PROMPT);
		if (event->labels.prompt && prompts)
			title_add_text(&text, event->labels.prompt);
	} else if (event->moment == TURN_STOP) {
		strbuf_addstr(&text, event->labels.sub_agent ? "a sub-agent of " : "a turn of ");
		strbuf_addstr(&text, event->labels.name);
	} else if (event->labels.tool) {
		strbuf_addstr(&text, event->labels.tool);
		if (event->path || event->command)
			strbuf_addch(&text, ' ');
		if (event->path)
			title_add_path(&text, !strncmp(event->path, worktree, len) &&
							      event->path[len] == '/'
						      ? event->path + len + 1
						      : event->path);
		else if (event->command)
			title_add_text(&text, event->command);
	} else {
		strbuf_addf(&text, "a tool of %s", event->labels.name);
	}
	return strbuf_detach(&text, NULL);
}

static int save_event(struct agent_hook_result *out, const struct agent_event *event,
		struct session *session, double until)
{
	bool prompts = session->settings.agent_prompts;
	bool done = event->moment == TURN_AFTER || event->moment == TURN_STOP;
	struct ckpt_agent labels = { 0 };
	struct turn_event turn = { .moment = event->moment,
				   .entry = event->entry,
				   .asked = event->labels.prompt != NULL,
				   .agent = &labels,
				   .repo = session->repo };
	char *what = describe_event(event, session->worktree, prompts);
	struct save_opts opts = {
		.reason = turns_reason(event->moment),
		.source = event->labels.name,
		.before = done ? NULL : what,
		.done = done ? what : NULL,
		.agent = &labels,
		.turn = &turn,
		.automatic = true,
		.step = -1,
		.scan = { .scope = &strlist_empty, .until = until },
	};
	struct save_result result = { 0 };
	int err;

	record_agent_copy(&labels, &event->labels);
	if (!prompts) {
		free(labels.prompt);
		labels.prompt = NULL;
	}
	err = save_checkpoint(&result, session, &opts);
	out->late = err && result.late;
	if (out->late)
		err = ckpt_error_set(err, "%s (%u%% has been read, and is kept)", too_long,
				     result.percent);
	if (!err)
		out->outcome =
			result.outcome == SAVE_CREATED ? AGENT_HOOK_SAVED : AGENT_HOOK_UNCHANGED;
	save_result_release(&result);
	record_agent_release(&labels);
	free(what);
	return err;
}

/* --- giving up --- */

/* For agent_hook_give_up(), which another thread calls. */
static struct {
	const struct session *open; /* NULL: not yet */
	const char *agent, *session;
} current;

/*
 * Somebody waits for us, but nobody has to wait for the rest: what changed meanwhile is in it, too,
 * so it is not called the state before the tool. The next hook finds it, or waits for it.
 */
static bool go_on_in_background(const char *agent)
{
	const char *const argv[] = { "/proc/self/exe", "save", "--automatic", "-q",
				     "--source",       agent,  "-m",	      "in the background",
				     NULL };

	return spawn_detached(argv);
}

static char *make_sentence(const char *why, bool goes_on)
{
	return xstrfmt("git-checkpoint: not saved%s: %s%s", goes_on ? " yet" : "", why,
		       goes_on ? "; it goes on in the background"
			       : "");
}

char *agent_hook_give_up(const char *why)
{
	char *text = make_sentence(why, go_on_in_background(current.agent));
	struct store *store = current.open ? current.open->store : NULL;

	if (store && !turns_note_trouble(store, current.agent, current.session, text)) {
		free(text);
		return NULL;
	}
	return text;
}

/* Who stops the agent stops the tool as well: that is not a failure. */
static void note_failure(struct agent_hook_result *out, const struct agent_event *event, struct store *store,
		 const struct deadline *clock, int err)
{
	/* If another process is at work there, one more would only wait for it. */
	bool late = out->late || (deadline_passed(clock) && err != CKPT_ELOCKED);

	if (cancel_signal() && !deadline_passed(clock))
		return;
	out->outcome = AGENT_HOOK_FAILED;
	out->why = make_sentence(deadline_passed(clock) ? too_long : ckpt_error_last(),
			    late && go_on_in_background(event->labels.name));
	out->again = store && !turns_note_trouble(store, event->labels.name, event->labels.session,
						  out->why);
}

static int take_checkpoint(struct agent_hook_result *out, const struct agent_event *event,
		struct deadline *clock, double start)
{
	struct session session;
	double until = 0;
	int64_t limit;
	int err = session_open(&session, SESSION_SAVE);

	if (err) {
		note_failure(out, event, NULL, clock, err);
		return err;
	}
	current.open = &session;
	limit = session.settings.hook_timeout;
	if (limit > 0) {
		until = start + (double)limit;
		/* A little later, so that what gives up by itself can say why. */
		deadline_set(clock, until + 0.5);
		/* Another process may hold the lock for long. */
		if (session.settings.lock_timeout > limit)
			session.settings.lock_timeout = limit;
	}
	err = save_event(out, event, &session, until);
	if (err)
		note_failure(out, event, session.store, clock, err);
	current.open = NULL;
	session_close(&session);
	return err;
}

static void take_in_time(struct agent_hook_result *out, const struct agent_event *event,
			 deadline_give_up_fn give_up)
{
	double start = clock_monotonic();
	struct deadline clock;
	char *around = NULL;
	int here, err = 0;

	current.agent = event->labels.name;
	current.session = event->labels.session;
	deadline_start(&clock, start + DEFAULT_SECONDS, give_up, too_long);
	enter_directory(event);
	here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (here >= 0)
		around = find_around(event);
	if (around && !chdir(around))
		err = take_checkpoint(out, event, &clock, start);
	if (!err && here >= 0 && fchdir(here) < 0)
		note_failure(out, event, NULL, &clock, err = ckpt_error_errno("unable to go back"));
	if (!err)
		(void)take_checkpoint(out, event, &clock, start);
	deadline_end(&clock);
	fs_close(here);
	free(around);
}

void agent_hook_run(struct agent_hook_result *out, const struct agent_hook *hook,
		    deadline_give_up_fn give_up)
{
	struct strbuf text = STRBUF_INIT;
	struct agent_event event;

	memset(out, 0, sizeof(*out));
	if (!agent_input_read(&text, hook->input, AGENT_INPUT_SECONDS, AGENT_INPUT_MAX))
		strbuf_reset(&text);
	agent_event_read(&event, &text, hook->entry, hook->event);
	strbuf_release(&text);
	if (agent_event_saves(&event))
		take_in_time(out, &event, give_up);
	agent_event_release(&event);
	out->answer = agent_hook_answer(hook->entry, out->again ? NULL : out->why);
}

void agent_hook_result_release(struct agent_hook_result *result)
{
	free(result->why);
	free(result->answer);
	memset(result, 0, sizeof(*result));
}
