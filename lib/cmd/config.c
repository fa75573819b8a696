/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "ops/session.h"
#include "ui/options.h"
#include "ui/report.h"

#include <stdlib.h>
#include <string.h>

static bool origin;

static const struct opt options[] = {
	{ OPT_FLAG, 0, "origin", &origin, NULL, "where each value comes from", false },
	{ OPT_END, 0, NULL, NULL, NULL, NULL, false },
};

const struct opt_spec cmd_config_spec = {
	.command = "config",
	.usage = "[--origin]",
	.summary = "the settings in force",
	.options = options,
};

static int print_json(const struct ckpt_settings *settings)
{
	json_t *object = json_object();

	for (unsigned i = 0; i < ckpt_setting_count; i++) {
		char *value = ckpt_setting_value(settings, i);
		json_t *entry = json_object();

		json_object_set_new(entry, "value", json_text(value));
		json_object_set_new(entry, "origin", json_text(ckpt_setting_origin(settings, i)));
		json_object_set_new(object, ckpt_setting_table[i].key, entry);
		free(value);
	}
	return report_json(json_pack("{s:o}", "settings", object), EXIT_DONE);
}

static int print_text(const struct ckpt_settings *settings)
{
	for (unsigned i = 0; i < ckpt_setting_count; i++) {
		char *value = ckpt_setting_value(settings, i), *rest = NULL;
		char *line = strtok_r(value, "\n", &rest);

		/* A list: one line a value, as `git config --list` does it. */
		do {
			if (origin)
				report_text("%s\t", ckpt_setting_origin(settings, i));
			report_text("%s=%s\n", ckpt_setting_table[i].key, line ? line : "");
			line = strtok_r(NULL, "\n", &rest);
		} while (line);
		free(value);
	}
	return report_done(EXIT_DONE);
}

int cmd_config(int argc, char **argv)
{
	struct session session;
	int err = cmd_parse_options(&cmd_config_spec, argc, argv), status;

	if (err > 0)
		return EXIT_DONE;
	if (!err)
		err = cmd_session_open(&session, 0);
	if (err)
		return report_failure(err);
	status = opt_common.json ? print_json(&session.settings) : print_text(&session.settings);
	session_close(&session);
	return status;
}
