/* SPDX-License-Identifier: MIT */
/* A configuration of git, as that of the user's: found keys can be read, whatever they hold. */
#include "fuzz.h"

#include "base/env.h"
#include "git/gitconfig.h"

static int look(const char *key, const char *value, enum gitconfig_level level, void *payload)
{
	bool yes;

	(void)payload;
	(void)strlen(key);
	if (value)
		(void)gitconfig_parse_bool(&yes, value);
	(void)gitconfig_level_name(level);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf path = STRBUF_INIT;
	struct gitconfig *config = NULL;
	static bool begun;

	if (!begun) {
		setenv("GIT_CONFIG_GLOBAL", fuzz_path("gitconfig"), 1);
		setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
		env_scrub();
		begun = true;
	}
	/* What is included from elsewhere is not the input's to choose. */
	if (size && memmem(data, size, "/dev", 4))
		return 0;
	fuzz_put("gitconfig", data, size);
	if (gitconfig_open(&config, NULL))
		return 0;
	(void)gitconfig_each(config, "", look, NULL);
	(void)gitconfig_each(config, "checkpoint.", look, NULL);
	(void)gitconfig_bool(config, "core.ignorecase", false);
	(void)gitconfig_path(&path, config, "core.excludesfile");
	gitconfig_close(config);
	strbuf_release(&path);
	return 0;
}
