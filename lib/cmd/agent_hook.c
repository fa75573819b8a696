/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include <signal.h>

/*
 * Called by the entries in the settings of agents, which wait for it before each tool. Whatever
 * happens, the exit status is 0, and what is printed neither allows a tool nor forbids it.
 */

const struct opt_spec cmd_agent_hook_spec = {
	.command = "agent-hook",
	.summary = "called by coding agents",
	.args = OPT_ARGS({ { "<agent>" }, 1, 1 }, { { "<event>" }, 0, 1 }),
};

static struct agent_hook hook = { .input = STDIN_FILENO };

static void say(const char *answer, const char *why)
{
	struct strbuf line = STRBUF_INIT;

	/* Where the agent has no channel of its own for it. */
	if (why && !*answer) {
		term_clean(&line, why);
		strbuf_addch(&line, '\n');
		(void)fs_write_all(STDERR_FILENO, line.buf, line.len);
	}
	(void)fs_write_all(STDOUT_FILENO, answer, strlen(answer));
	strbuf_release(&line);
}

static void give_up(const char *why)
{
	char *text = agent_hook_give_up(why);

	say(agent_hook_answer(hook.entry, text), text);
	_exit(EXIT_DONE);
}

int cmd_agent_hook(int argc, char **argv)
{
	struct agent_hook_result result;

	if (argc < 2)
		return report_failure(
			ckpt_error_set(CKPT_EUSAGE, "agent-hook takes the name of an agent"));
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) {
		opt_usage(&cmd_agent_hook_spec, STDOUT_FILENO);
		return report_done(EXIT_DONE);
	}
	hook.entry = argv[1];
	hook.event = argv[2];
	/* An agent that does not wait for the answer must not end us. */
	signal(SIGPIPE, SIG_IGN);
	agent_hook_run(&result, &hook, give_up);
	say(result.answer, result.again ? NULL : result.why);
	agent_hook_result_release(&result);
	return EXIT_DONE;
}
