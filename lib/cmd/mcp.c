/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "base/base.h"
#include "cmd/report.h"
#include "mcp/mcp.h"
#include "ui/ui.h"

static struct strlist roots;

static const struct opt options[] = {
	{ OPT_LIST, 0, "root", &roots, "<dir>", "projects in here may be named, too" },
	{ OPT_END },
};

static int mcp(struct session *session, const struct strlist *args)
{
	const struct mcp_opts opts = { &roots, cmd_version, STDIN_FILENO, STDOUT_FILENO };

	(void)session;
	(void)args;
	return mcp_serve(&opts);
}

const struct opt_spec cmd_mcp_spec = {
	.command = "mcp",
	.summary = "serve checkpoints to coding agents as tools",
	.options = options,
	.alone = true,
	.run = mcp,
};
