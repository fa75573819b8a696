/* SPDX-License-Identifier: MIT */
/*
 * Settings of coding agents, JSON and TOML: an install that is followed by an
 * uninstall leaves every byte as it was, and one that is refused touches nothing.
 */
#include "fuzz.h"

#include "agents/agents_internal.h"
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

static void round_trip(const struct agents_opts *opts, const char *file, const uint8_t *data, size_t size)
{
	struct agents_result result = AGENTS_RESULT_INIT;
	char path[PATH_MAX];
	bool installed = false;

	snprintf(path, sizeof(path), "%s", file);
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		fuzz_mkdir(path);
		*slash = '/';
	}
	fuzz_put(file, data, size);
	if (agents_install(&result, opts) || result.change == AGENTS_UNCHANGED)
		expect(fuzz_path(file), data, size, opts->agent, "after an install that did nothing");
	else
		installed = true;
	agents_result_release(&result);
	if (installed) {
		result = (struct agents_result)AGENTS_RESULT_INIT;
		FUZZ_CHECK(!agents_uninstall(&result, opts), "%s: %s", opts->agent,
			   ckpt_error_last());
		agents_result_release(&result);
		expect(fuzz_path(file), data, size, opts->agent, "after install and uninstall");
	}
	/* And what is there without us: it may be refused, it must not crash. */
	result = (struct agents_result)AGENTS_RESULT_INIT;
	(void)agents_uninstall(&result, opts);
	agents_result_release(&result);
	unlink(fuzz_path(file));
}

static void try_all(const char *name, bool mcp, const uint8_t *data, size_t size)
{
	const struct agents_opts opts = { .agent = name, .root = fuzz_scratch(), .mcp = mcp };
	json_t *agent = agents_load(name);
	struct agents_changes changes;
	struct install_change beside;

	if (agents_part(agent, mcp) && (!mcp || agents_text(agents_part(agent, mcp), "file"))) {
		agents_changes(&changes, name, agent, "/", "/", false, mcp);
		round_trip(&opts, changes.items[changes.main].path, data, size);
		if (!mcp && agents_beside(&beside, &changes, agent))
			round_trip(&opts, beside.path, data, size);
		agents_changes_release(&changes);
	}
	json_decref(agent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	setenv("XDG_DATA_HOME", fuzz_scratch(), 1);
	for (const char *const *name = agents_names(); *name; name++) {
		try_all(*name, false, data, size);
		try_all(*name, true, data, size);
	}
	return 0;
}
