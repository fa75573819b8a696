/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

static bool origin, global, get, add, unset;

static const struct opt options[] = {
	{ OPT_FLAG, 0, "origin", &origin, NULL, "show where each value comes from", OPT_ALSO },
	{ OPT_FLAG, 0, "global", &global, NULL,
	  "change the user's settings, not those of this folder", OPT_ALSO },
	{ OPT_FLAG, 0, "get", &get, NULL, "show these settings", OPT_FORM,
	  OPT_ARGS({ { "<key>" }, 1, OPT_MANY }) },
	{ OPT_FLAG, 0, "add", &add, NULL, "add a pattern to those that are set", OPT_FORM,
	  OPT_ARGS({ { "<key>" }, 1, 1 }, { { "<value>" }, 1, 1 }) },
	{ OPT_FLAG, 0, "unset", &unset, NULL, "remove a setting from the file", OPT_FORM,
	  OPT_ARGS({ { "<key>" }, 1, 1 }) },
	{ OPT_END },
};

static void offer_values(struct complete *complete, const char *key)
{
	static const char *const words[][4] = { { "bool", "true", "false" },
						{ "when", "auto", "always", "never" } };
	int row = setting_find(key);
	bool known = false;

	for (size_t i = 0; row >= 0 && i < ARRAY_SIZE(words); i++)
		for (size_t k = 1; k < 4 && words[i][k]; k++)
			if (!strcmp(setting_table[row].type, words[i][0])) {
				known = true;
				complete_add(complete, words[i][k],
					     strcmp(words[i][k], setting_table[row].fallback)
						     ? NULL
						     : "default");
			}
	if (row >= 0 && !known && *setting_table[row].fallback)
		complete_add(complete, setting_table[row].fallback, "default");
}

static bool offer(struct complete *complete, const char *what)
{
	const struct strlist *args = &complete->look->args;

	if (!strcmp(what, "<value>")) {
		if (args->nr == 1)
			offer_values(complete, args->items[0]);
		return true;
	}
	if (strcmp(what, "<key>") != 0)
		return false;
	for (unsigned i = 0; i < setting_count; i++)
		if (!strlist_has(&complete->look->args, setting_table[i].key))
			complete_add(complete, setting_table[i].key, setting_table[i].help);
	return true;
}

/* Rows of the table. */
struct rows {
	unsigned *items;
	size_t nr;
};

static int error_unknown(const char *key)
{
	const char **known = xcalloc(setting_count, sizeof(*known)), *nearest;
	/* In git's configuration it has a section. */
	bool section = !strncasecmp(key, "checkpoint.", 11);
	int err;

	for (unsigned i = 0; i < setting_count; i++)
		known[i] = setting_table[i].key;
	nearest = nearest_word(key + (section ? 11 : 0), known, setting_count);
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
			return error_unknown(keys->items[i]);
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

		json_object_set_new(object, setting_table[row].key,
				    json_pack("{s:o,s:o}", "value", json_text(value), "origin",
					      json_text(settings_origin(settings, row))));
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
	return EXIT_DONE;
}

static int show_settings(struct session *session, const struct rows *rows)
{
	return opt_common.json ? print_json(&session->settings, rows)
			       : print_text(&session->settings, rows);
}

/* ---- changing ---- */

int cmd_config_file(struct strbuf *out, bool users)
{
	struct session session;
	int err;

	if (users)
		return settings_user_file(out)
			       ? 0
			       : ckpt_error_set(CKPT_ERROR,
						"unable to find the user's settings; set HOME to "
						"an absolute path");
	/* The settings are not read: a bad value can be corrected. */
	err = session_open(&session, SESSION_LOOK);
	if (err)
		return err;
	if (!session.store) {
		err = save_check_place(&session);
		if (!err)
			err = store_open_or_create(&session.store, session.worktree);
	}
	if (!err)
		strbuf_addf(out, "%s/" LAYOUT_SETTINGS, session.store->path);
	session_close(&session);
	return err;
}

/* Whether another source has the last word now. */
static void look_again(struct strlist *warnings, unsigned row, const char *file, const char *value)
{
	struct session session;
	const char *from;
	char *now;

	if (session_open(&session, SESSION_ANY)) {
		strlist_add(warnings, ckpt_error_last());
		return;
	}
	from = settings_origin(&session.settings, row);
	now = setting_value(&session.settings, row);
	if (value && !strstr(from, file))
		strlist_addf(warnings, "'%s' is '%s' here, which comes from %s",
			     setting_table[row].key, now, from);
	free(now);
	session_close(&session);
}

static int change_setting(unsigned row, const char *value)
{
	struct settings_change how = { .value = unset ? NULL : value, .add = add };
	struct strlist warnings = STRLIST_INIT;
	struct strbuf file = STRBUF_INIT;
	struct row answer = ROW_INIT;
	int err = cmd_config_file(&file, global), status = EXIT_DONE;

	if (!err)
		err = settings_change(file.buf, row, &how);
	if (err == CKPT_ENOTFOUND && unset) {
		status = report_no(ckpt_error_last());
	} else if (err) {
		status = err;
	} else {
		look_again(&warnings, row, file.buf, how.value);
		report_warnings(&warnings);
		row_text(&answer, "key", setting_table[row].key);
		row_text(&answer, "value", how.value);
		row_text(&answer, "file", file.buf);
		row_texts(&answer, "warnings", &warnings);
		if (opt_common.json)
			status = report_json(row_object(&answer), EXIT_DONE);
		row_release(&answer);
	}
	strlist_release(&warnings);
	strbuf_release(&file);
	return status;
}

/* ---- the command ---- */

static struct rows rows;
static const char *new_value;

/* A user who wants to read two keys, and not to set one to the name of the other. */
static int check_value(unsigned row, const char *value)
{
	if (setting_find(value) >= 0)
		return ckpt_error_set(CKPT_EUSAGE,
				      "'%s' is a setting, too; use '--get' to show several", value);
	return settings_check(row, value);
}

static int check(const struct strlist *args)
{
	struct strlist keys = { .items = args->items, .nr = args->nr };
	int err;

	if (!get && args->nr == 2) {
		new_value = args->items[1];
		keys.nr = 1;
	}
	err = find_rows(&rows, &keys);
	if (!err && new_value)
		err = check_value(rows.items[0], new_value);
	if (!err && global && !new_value && !unset)
		err = ckpt_error_set(CKPT_EUSAGE,
				     "option '--global' needs a key and a value, or '--unset'");
	if (!err && origin && (new_value || unset))
		err = ckpt_error_set(CKPT_EUSAGE, "option '--origin' only shows settings");
	return err;
}

static int config(struct session *session, const struct strlist *args UNUSED)
{
	int status;

	if (new_value || unset) {
		status = change_setting(rows.items[0], new_value);
	} else {
		status = cmd_session_open(session, 0);
		status = status ? status : show_settings(session, &rows);
	}
	free(rows.items);
	return status;
}

static const struct opt_instead instead[] = {
	{ "-l", "'git checkpoint config' lists all settings" },
	{ "--list", "'git checkpoint config' lists all settings" },
	{ "-e", "'git checkpoint config <key> <value>' sets one" },
	{ "--edit", "'git checkpoint config <key> <value>' sets one" },
	{ "--set", "'git checkpoint config <key> <value>' sets one" },
	{ "--show-origin", "--origin shows where each value comes from" },
	{ NULL },
};

const struct opt_spec cmd_config_spec = {
	.command = "config",
	.summary = "show or change settings",
	.args = OPT_ARGS({ { "<key>" }, 0, 1 }, { { "<value>" }, 0, 1 }),
	.options = options,
	.instead = instead,
	.offer = offer,
	.check = check,
	.alone = true,
	.run = config,
};
