/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

static int64_t count = -1;

static const struct opt options[] = {
	{ OPT_NUMBER, 'n', "max-count", &count, "<n>", "only the newest <n>" },
	{ OPT_END },
};

static const char *text(const json_t *entry, const char *key)
{
	const char *value = json_string_value(json_object_get(entry, key));

	return value ? value : "";
}

static void print(json_t *entries)
{
	static const struct table_column columns[] = {
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 0, TERM_CYAN, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 0, TERM_YELLOW, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_SPARE },
		{ NULL, TABLE_LEFT, 40, TERM_RESET, TABLE_KEEP },
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	json_t *entry;
	size_t i;

	json_array_foreach(entries, i, entry) {
		const char *hash = text(entry, "hash"), *title = text(entry, "title");
		const char *why = *title ? title : text(entry, "reason");
		char local[CLOCK_ISO_SIZE];
		int64_t at;

		table_add(table, clock_parse_iso(&at, text(entry, "at"))
					 ? clock_format_local(local, at)
					 : text(entry, "at"));
		table_addf(table, "%s%s%s", text(entry, "action"), *text(entry, "git") ? " --" : "",
			   text(entry, "git"));
		table_add(table, text(entry, "id"));
		table_addf(table, "%.19s", hash);
		table_addf(table, "%.*s", (int)strcspn(why, "\n"), why);
	}
	table_print(table);
	table_free(table);
}

static int show_log(struct session *session, const struct strlist *args UNUSED)
{
	json_t *entries = NULL;
	int err = 0;

	if (!session->store || !count)
		entries = json_array();
	else
		err = audit_read(&entries, session->store, count < 0 ? 0 : (size_t)count);
	if (err)
		return err;
	if (opt_common.json)
		return report_json(json_pack("{s:o}", "entries", entries), EXIT_DONE);
	if (!opt_common.quiet) {
		if (!session->store)
			term_say(stderr,
				 "nothing was logged for '%s' yet; 'git checkpoint save' takes a "
				 "checkpoint\n",
				 session->worktree);
		pager_start(session->gitconfig);
		print(entries);
	}
	json_decref(entries);
	return EXIT_DONE;
}

const struct opt_spec cmd_log_spec = {
	.command = "log",
	.summary = "show what was done, newest first",
	.options = options,
	.run = show_log,
};
