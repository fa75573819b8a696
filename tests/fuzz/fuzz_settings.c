/* SPDX-License-Identifier: MIT */
/* The settings of a store, captures too: every value can be said again. */
#include "fuzz.h"

#include "base/env.h"
#include "captures/captures.h"
#include "settings/ini.h"
#include "settings/settings.h"

static int look(const char *section, const char *key, const char *value, unsigned line, void *payload)
{
	(void)payload;
	(void)strlen(section);
	(void)strlen(key);
	(void)strlen(value);
	FUZZ_CHECK(line > 0, "no line");
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ckpt_settings settings;
	struct capture_defs defs = { 0 };
	const char *file;

	if (!*fuzz_dir) {
		fuzz_scratch();
		env_scrub();
	}
	fuzz_put("config", data, size);
	file = fuzz_path("config");
	(void)ini_read(file, look, NULL);
	if (!settings_load(&settings, NULL, file, NULL)) {
		for (unsigned i = 0; i < setting_count; i++) {
			free(setting_value(&settings, i));
			(void)strlen(settings_origin(&settings, i));
		}
		settings_release(&settings);
	}
	if (!capture_defs_load(&defs, file, NULL)) {
		for (size_t i = 0; i < defs.nr; i++) {
			FUZZ_CHECK(record_capture_name_valid(defs.items[i].name), "a bad name");
			FUZZ_CHECK(defs.items[i].timeout >= 0, "a bad timeout");
		}
		capture_defs_release(&defs);
	}
	return 0;
}
