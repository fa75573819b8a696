/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "hooks/hooks.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

/*
 * Called by the hooks, at times for every ref of a fetch: nothing is opened
 * before it is certain that there is something to do. Whatever happens, the
 * exit status is 0 and nothing is printed to stdout, where git may be waiting
 * for the answer of the shim that calls us.
 */

enum { SHOWN = 5 };

const struct opt_spec cmd_hook_spec = {
	.command = "hook",
	.summary = "called by hooks",
	.args = OPT_ARGS({ { "<name>" }, 1, 1 }, { { "<arg>" }, 0, OPT_MANY }),
};

static struct hook_call call;
static struct hook_decision decision;
static struct strbuf command = STRBUF_INIT; /* as it is called in what is said */
static const char *answer_file; /* where the shim finds it; NULL: nobody asks */

/* In one write, so that it is not interleaved with other output. */
__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...)
{
	struct strbuf text = STRBUF_INIT, line = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	strbuf_addstr(&line, "checkpoint: ");
	term_clean(&line, text.buf);
	strbuf_addch(&line, '\n');
	(void)fs_write_all(STDERR_FILENO, line.buf, line.len);
	strbuf_release(&text);
	strbuf_release(&line);
}

static void leave_answer(const struct hook_answer *answer)
{
	if (answer_file)
		hook_answer_write(answer_file, answer);
}

static void give_up(const char *why)
{
	leave_answer(&(struct hook_answer){ decision.top, HOOK_REACHES_ALL });
	say("not saved before %s: %s", command.buf, why);
	_exit(EXIT_DONE);
}

static void add_paths(struct strbuf *out, const struct strlist *paths)
{
	for (size_t i = 0; i < paths->nr && i < SHOWN; i++) {
		strbuf_addstr(out, i ? ", '" : "'");
		quote_path(out, paths->items[i]);
		strbuf_addch(out, '\'');
	}
	if (paths->nr > SHOWN)
		strbuf_addf(out, " and %zu more", paths->nr - SHOWN);
}

/* What the checkpoint does not have, and git is about to remove. */
static void say_secrets(const struct hook_result *result)
{
	struct strbuf list = STRBUF_INIT;

	add_paths(&list, &result->secrets);
	if (list.len)
		say("warning: not saved, as they look like secrets: %s", list.buf);
	strbuf_release(&list);
}

/* With the command that goes back, as it is typed where this one was typed. */
static void say_complete(const struct hook_result *result)
{
	const char *id = report_short_id(result->id);
	struct strbuf there = STRBUF_INIT, in = STRBUF_INIT;

	if (result->where) {
		strbuf_addstr(&in, " in '");
		quote_path(&in, result->where);
		strbuf_addch(&in, '\'');
		strbuf_addstr(&there, "-C ");
		quote_shell(&there, result->where);
		strbuf_addch(&there, ' ');
	}
	/* By its digits: "@" may be another one soon, if a watcher takes it. */
	if (result->outcome == HOOK_SAVED)
		say("saved %s before %s%s; 'git %scheckpoint restore --git %s' goes back", result->id,
		    command.buf, in.buf, there.buf, id);
	else
		say("state before %s%s is in %s; 'git %scheckpoint restore --git %s' goes back",
		    command.buf, in.buf, result->id, there.buf, id);
	/* The shims stand between us and a terminal: told once wherever it leads. */
	if (result->home && advice_first(result->home, "", "hookQuiet"))
		say("'git config checkpoint.hookQuiet true' turns such lines off (shown once)");
	strbuf_release(&there);
	strbuf_release(&in);
}

static void say_saved(const struct hook_result *result)
{
	uint64_t nr = result->missing + result->lacking.nr + 2 * result->no_ignored;
	const char *why = result->lacks_why ? result->lacks_why : "", *colon = *why ? ": " : "";
	const char *are = nr == 1 ? "is" : "are";
	bool saved = result->outcome == HOOK_SAVED, held = result->outcome == HOOK_HELD;
	struct strbuf lacks = STRBUF_INIT;

	if (result->missing)
		strbuf_addf(&lacks, "%" PRIu64 " path%s%s", result->missing,
			    result->missing == 1 ? "" : "s", nr > result->missing ? " and " : "");
	if (result->no_ignored)
		strbuf_addstr(&lacks, "ignored files");
	else
		add_paths(&lacks, &result->lacking);
	if (lacks.len && saved)
		say("saved %s before %s, but %s %s not in it%s%s", result->id, command.buf, lacks.buf,
		    are, colon, why);
	else if (lacks.len && held)
		say("state before %s is in %s, but %s %s not saved%s%s", command.buf, result->id,
		    lacks.buf, are, colon, why);
	else if (lacks.len)
		say("%s %s not saved before %s%s%s", lacks.buf, are, command.buf, colon, why);
	else if ((saved || held) && !result->quiet)
		say_complete(result);
	strbuf_release(&lacks);
}

/* --- the end of git --- */

/*
 * Whoever waits for us was stopped: there is nothing to save before it, and
 * readers of git's output must not wait for us.
 */
static void *stop_with_git(void *payload)
{
	struct pollfd poll_fd = { .fd = (int)(intptr_t)payload, .events = POLLIN };

	while (poll(&poll_fd, 1, -1) < 0 && errno == EINTR)
		;
	if (poll_fd.revents & POLLIN) {
		kill(getpid(), SIGTERM);
		sleep(DEADLINE_GRACE_SECONDS);
		_exit(EXIT_DONE);
	}
	return NULL;
}

/* Where the system cannot tell, only the timeout ends us. */
static void watch_git(const struct proc_list *ancestors)
{
	pthread_t thread;
	struct hook_git git;
	size_t i = 0;
	int fd;

	while (i < ancestors->nr && !hook_git_read(&git, &ancestors->items[i]))
		i++;
	if (i == ancestors->nr)
		return;
	fd = (int)syscall(SYS_pidfd_open, ancestors->items[i].pid, 0);
	if (fd < 0)
		return;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (!proc_alive("/proc", ancestors->items[i].pid, ancestors->items[i].start))
		_exit(EXIT_DONE);
	if (!pthread_create(&thread, NULL, stop_with_git, (void *)(intptr_t)fd))
		pthread_detach(thread);
	else
		close(fd);
}

static void take_checkpoint(void)
{
	struct hook_result result;

	hook_take(&result, &decision, give_up);
	for (size_t i = 0; i < result.damage.nr; i++)
		say("%s; it is repaired now", result.damage.items[i]);
	if (result.outcome == HOOK_FAILED)
		say("not saved before %s: %s", command.buf, result.why);
	else
		say_saved(&result);
	say_secrets(&result);
	if (!result.answer.who)
		result.answer.who = decision.caller;
	leave_answer(&result.answer);
	hook_result_release(&result);
}

static void read_refs(struct strbuf *out)
{
	ssize_t n;

	do {
		strbuf_grow(out, 65536);
		n = read(STDIN_FILENO, out->buf + out->len, 65536);
		if (n > 0)
			strbuf_setlen(out, out->len + (size_t)n);
	} while (n > 0);
}

/* The hook's name, what the shim says, the arguments from git. */
static void parse_call(int argc, char **argv)
{
	static const char events[] = "--events=", answer[] = "--answer=";
	int i = 2;

	call.name = hook_name_of(argv[1]);
	call.events = HOOK_EVENT_ALL;
	for (; i < argc; i++) {
		if (!strncmp(argv[i], answer, strlen(answer))) {
			answer_file = argv[i] + strlen(answer);
		} else if (!strncmp(argv[i], events, strlen(events))) {
			call.events = 0;
			hook_events_parse(&call.events, argv[i] + strlen(events));
		} else {
			break;
		}
	}
	call.args = (const char *const *)argv + i;
	call.args_nr = (size_t)(argc - i);
}

int cmd_hook(int argc, char **argv)
{
	struct proc_list ancestors = { 0 };
	struct strbuf refs = STRBUF_INIT;

	if (argc < 2)
		return report_failure(ckpt_error_set(CKPT_EUSAGE, "hook takes the name of a hook"));
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) {
		opt_usage(&cmd_hook_spec, STDOUT_FILENO);
		return report_done(EXIT_DONE);
	}
	/* Do not hold open what git's caller may be waiting for. */
	(void)close_range(STDERR_FILENO + 1, UINT_MAX, 0);
	parse_call(argc, argv);
	call.reflog_action = env_git("GIT_REFLOG_ACTION");
	call.ancestors = &ancestors;
	if (call.name != HOOK_REFERENCE_TRANSACTION || hook_wants_refs(&call)) {
		proc_ancestors(&ancestors, "/proc", getpid());
		if (hook_wants_refs(&call))
			read_refs(&refs);
		call.refs = refs.buf;
		hook_decide(&decision, &call);
		if (decision.act) {
			hook_decision_describe(&command, &decision);
			watch_git(&ancestors);
			take_checkpoint();
		} else if (call.name == HOOK_FSMONITOR) {
			/* It changes nothing, however often it asks. */
			leave_answer(&(struct hook_answer){ decision.caller, HOOK_REACHES_SELF });
		}
	}
	proc_list_release(&ancestors);
	strbuf_release(&command);
	strbuf_release(&refs);
	return EXIT_DONE;
}
