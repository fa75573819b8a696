/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "mcp/mcp.h"

static struct strlist roots;
static bool install, uninstall, print, user;

#define AGENTS OPT_ARGS({ { "<agent>" }, 1, OPT_MANY })

static const struct opt options[] = {
	{ OPT_LIST, 0, "root", &roots, "<dir>", "projects in this directory may be named" },
	{ OPT_FLAG, 0, "install", &install, NULL, "add the server to the settings of agents",
	  OPT_FORM | OPT_ALSO, AGENTS },
	{ OPT_FLAG, 0, "uninstall", &uninstall, NULL, "remove it from there", OPT_FORM, AGENTS },
	{ OPT_FLAG, 0, "print", &print, NULL, "only show what --install adds", OPT_FORM | OPT_ALSO,
	  AGENTS },
	{ OPT_FLAG, 0, "user", &user, NULL, "use the settings in the home directory",
	  OPT_ALSO | OPT_FORMS },
	{ OPT_END },
};

static bool offer(struct complete *complete, const char *what)
{
	const char *const *names = agents_mcp_names();
	bool ours = !strcmp(what, "<agent>");

	for (; ours && *names; names++)
		complete_add(complete, *names, NULL);
	return ours;
}

static bool edits(void)
{
	return install || uninstall || print;
}

static int check(const struct strlist *args)
{
	int err = 0;

	if (user && !edits())
		return ckpt_error_set(CKPT_EUSAGE, "option '--user' needs '--install'");
	/* An unknown one stops everything, before anything is edited. */
	for (size_t i = 0; i < args->nr && edits() && !err; i++)
		err = agents_mcp_check(args->items[i], user);
	return err;
}

static int edit(struct session *session, const struct strlist *args)
{
	json_t *array = json_array();
	int err = user ? 0 : cmd_session_open(session, SESSION_ANY);

	for (size_t i = 0; i < args->nr && !err; i++) {
		const struct agents_opts opts = { .agent = args->items[i],
						  .root = session->worktree,
						  .user = user,
						  .mcp = true };
		struct agents_result result = AGENTS_RESULT_INIT;

		err = print	  ? agents_print(&result, &opts)
		      : uninstall ? agents_uninstall(&result, &opts)
				  : agents_install(&result, &opts);
		if (!err)
			show_agents_tell(array, &result, opts.agent);
		agents_result_release(&result);
	}
	if (!err && opt_common.json)
		return report_json(json_pack("{s:o}", "agents", array), EXIT_DONE);
	json_decref(array);
	return err;
}

static int mcp(struct session *session, const struct strlist *args)
{
	const struct mcp_opts opts = { &roots, cmd_version, STDIN_FILENO, STDOUT_FILENO };

	if (edits())
		return edit(session, args);
	if (isatty(STDIN_FILENO))
		term_say(stderr, "serving on stdin, for an agent to start; Ctrl-D ends it, "
				 "'git checkpoint mcp --install <agent>' sets it up\n");
	return mcp_serve(&opts);
}

const struct opt_spec cmd_mcp_spec = {
	.command = "mcp",
	.summary = "serve checkpoints to coding agents as tools",
	.options = options,
	.offer = offer,
	.check = check,
	.alone = true,
	.run = mcp,
};

