/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "base/base.h"
#include "cmd/complete.h"
#include "cmd/report.h"
#include "session/session.h"
#include "ui/ui.h"

static bool origin;

static const struct opt options[] = {
	{ OPT_FLAG, 0, "origin", &origin, NULL, "show where each value comes from" },
	{ OPT_END },
};

static bool offer(struct complete *complete, const char *what)
{
	if (strcmp(what, "<key>") != 0)
		return false;
	for (unsigned i = 0; i < setting_count; i++)
		if (!strlist_has(&complete->look->args, setting_table[i].key))
			complete_add(complete, setting_table[i].key, setting_table[i].help);
	return true;
}

const struct opt_spec cmd_config_spec = {
	.command = "config",
	.summary = "show the settings in force",
	.args = OPT_ARGS({ { "<key>" }, 0, OPT_MANY }),
	.options = options,
	.offer = offer,
};

/* Rows of the table. */
struct rows {
	unsigned *items;
	size_t nr;
};

static int unknown(const char *key)
{
	const char **known = xcalloc(setting_count, sizeof(*known)), *nearest;
	int err;

	for (unsigned i = 0; i < setting_count; i++)
		known[i] = setting_table[i].key;
	nearest = nearest_word(key, known, setting_count);
	if (nearest)
		err = ckpt_error_set(CKPT_EUSAGE, "unknown setting '%s'; did you mean '%s'?",
				     key, nearest);
	else
		err = ckpt_error_set(CKPT_EUSAGE,
				     "unknown setting '%s'; 'git checkpoint config' lists all", key);
	free(known);
	return err;
}

/* The requested rows, in that order; all if none was named. */
static int find_rows(struct rows *out, const struct strlist *keys)
{
	out->nr = keys->nr ? keys->nr : setting_count;
	out->items = xcalloc(out->nr, sizeof(*out->items));
	for (size_t i = 0; i < out->nr; i++) {
		int row = keys->nr ? setting_find(keys->items[i]) : (int)i;

		if (row < 0)
			return unknown(keys->items[i]);
		out->items[i] = (unsigned)row;
	}
	return 0;
}

static int print_json(const struct ckpt_settings *settings, const struct rows *rows)
{
	json_t *object = json_object();

	for (size_t i = 0; i < rows->nr; i++) {
		unsigned row = rows->items[i];
		char *value = setting_value(settings, row);
		json_t *entry = json_object();

		json_object_set_new(entry, "value", json_text(value));
		json_object_set_new(entry, "origin", json_text(settings_origin(settings, row)));
		json_object_set_new(object, setting_table[row].key, entry);
		free(value);
	}
	return report_json(json_pack("{s:o}", "settings", object), EXIT_DONE);
}

static void print_row(const struct ckpt_settings *settings, unsigned row, bool alone)
{
	char *value = setting_value(settings, row), *rest = NULL;
	char *line = strtok_r(value, "\n", &rest);

	/* A list: one line a value, as `git config --list` does it. */
	do {
		if (origin)
			report_text("%s\t", settings_origin(settings, row));
		if (!alone)
			report_text("%s=", setting_table[row].key);
		report_text("%s\n", line ? line : "");
		line = strtok_r(NULL, "\n", &rest);
	} while (line);
	free(value);
}

static int print_text(const struct ckpt_settings *settings, const struct rows *rows)
{
	/* As `git config <key>` does it, for scripts. */
	bool alone = rows->nr == 1 && !origin;

	for (size_t i = 0; i < rows->nr; i++)
		print_row(settings, rows->items[i], alone);
	return report_done(EXIT_DONE);
}

int cmd_config(int argc, char **argv)
{
	struct strlist keys = STRLIST_INIT;
	struct rows rows = { 0 };
	struct session session;
	int err = opt_parse(&cmd_config_spec, argc, argv, &keys, NULL), status = EXIT_DONE;

	if (!err)
		err = find_rows(&rows, &keys);
	if (!err)
		err = cmd_session_open(&session, 0);
	if (err < 0) {
		status = report_failure(err);
	} else if (!err) {
		status = opt_common.json ? print_json(&session.settings, &rows) :
					   print_text(&session.settings, &rows);
		session_close(&session);
	}
	free(rows.items);
	strlist_release(&keys);
	return status;
}
