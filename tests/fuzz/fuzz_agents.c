/* SPDX-License-Identifier: MIT */
/*
 * Settings of coding agents, JSON and TOML: an install that is followed by an
 * uninstall leaves every byte as it was, and one that is refused touches nothing.
 */
#include "fuzz.h"

#include "agents/agent_entry_internal.h"
#include "agents/agents.h"
#include "base/error.h"
#include "base/fs.h"

static void expect(const char *file, const uint8_t *data, size_t size, const char *agent,
		   const char *when)
{
	struct strbuf now = STRBUF_INIT;

	FUZZ_CHECK(!fs_read_file(&now, AT_FDCWD, file), "%s: the file is gone %s", agent, when);
	FUZZ_CHECK(now.len == size && (!size || !memcmp(now.buf, data, size)),
		   "%s: other bytes %s:\n%s", agent, when, now.buf);
	strbuf_release(&now);
}

static void round_trip(const struct agent *agent, const char *name, const uint8_t *data, size_t size)
{
	struct agents_opts opts = { .agent = agent->name, .root = fuzz_scratch() };
	struct agents_result result = AGENTS_RESULT_INIT;
	char file[PATH_MAX];
	bool installed = false;

	snprintf(file, sizeof(file), "%s/%s", agent->dir, name);
	for (char *slash = strchr(file, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		fuzz_mkdir(file);
		*slash = '/';
	}
	fuzz_put(file, data, size);
	if (agents_install(&result, &opts) || result.change == AGENTS_UNCHANGED)
		expect(fuzz_path(file), data, size, agent->name, "after an install that did nothing");
	else
		installed = true;
	agents_result_release(&result);
	if (installed) {
		result = (struct agents_result)AGENTS_RESULT_INIT;
		FUZZ_CHECK(!agents_uninstall(&result, &opts), "%s: %s", agent->name,
			   ckpt_error_last());
		agents_result_release(&result);
		expect(fuzz_path(file), data, size, agent->name, "after install and uninstall");
	}
	/* And what is there without us: it may be refused, it must not crash. */
	result = (struct agents_result)AGENTS_RESULT_INIT;
	(void)agents_uninstall(&result, &opts);
	agents_result_release(&result);
	unlink(fuzz_path(file));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_scratch();
	for (const struct agent *agent = agent_table; agent->name; agent++) {
		if (!agent->dir)
			continue;
		round_trip(agent, agent->file, data, size);
		if (agent->toml)
			round_trip(agent, agent->toml, data, size);
	}
	return 0;
}
