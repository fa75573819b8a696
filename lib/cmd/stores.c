/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

static void make_row(struct row *row, const struct inventory_item *item)
{
	struct strbuf command = STRBUF_INIT;
	char age[CLOCK_ISO_SIZE];

	row_text(row, "key", item->key);
	row_path(row, "path", item->path);
	row_bool(row, "exists", item->exists);
	row_size(row, "bytes", item->bytes);
	row_number(row, "checkpoints", item->checkpoints);
	row_text(row, "state", inventory_state_name(item->state));
	row_time(row, "last_used", item->last_used);
	row_path(row, "moved_to", item->moved_to);
	row_text(row, "restore_command", inventory_way_back(&command, item) ? command.buf : NULL);
	row_text(row, "problem", item->problem);
	row_show(row, "last_used", "%s",
		 item->last_used ? clock_format_age(age, item->last_used, clock_now()) : "never");
	if (!item->path)
		row_show(row, "path", "?");
	strbuf_release(&command);
}

static int print_json(const struct inventory_list *list)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->nr; i++) {
		struct row row = ROW_INIT;

		make_row(&row, &list->items[i]);
		json_array_append_new(array, row_object(&row));
	}
	return report_json(json_pack("{s:o}", "stores", array), EXIT_DONE);
}

static void print_table(const struct inventory_list *list)
{
	static const struct table_column columns[] = {
		{ "Key", TABLE_LEFT, 0, TERM_YELLOW, TABLE_KEEP, "key" },
		{ "Checkpoints", TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP, "checkpoints" },
		{ "Size", TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP, "bytes" },
		{ "Last use", TABLE_LEFT, 0, TERM_RESET, TABLE_SPARE, "last_used" },
		{ "State", TABLE_LEFT, 0, TERM_RESET, TABLE_KEEP, "state" },
		{ "Worktree", TABLE_LEFT, 60, TERM_RESET, TABLE_KEEP, "path", true },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < list->nr; i++) {
		struct row row = ROW_INIT;

		make_row(&row, &list->items[i]);
		table_add_row(table, &row);
		row_release(&row);
	}
	table_print(table);
	table_free(table);
}

static void print_move(const struct inventory_item *item)
{
	struct strbuf command = STRBUF_INIT;

	inventory_relink_command(&command, item->key, item->path, false);
	report_text("'%s' moved to '%s'; to adopt it: %s\n", report_path(item->path),
		    report_path(item->moved_to), command.buf);
	strbuf_release(&command);
}

static void print_text(const struct inventory_list *list, const char *home)
{
	struct strlist problems = STRLIST_INIT;
	char size[UNITS_SIZE];
	uint64_t bytes = 0;

	for (size_t i = 0; i < list->nr; i++) {
		const struct inventory_item *item = &list->items[i];

		if (item->problem)
			strlist_addf(&problems, "%s: %s", item->key, item->problem);
		bytes += item->bytes;
	}
	report_warnings(&problems);
	strlist_release(&problems);
	if (!list->nr) {
		report_text("No stores in '%s'\n", home);
		return;
	}
	if (!opt_common.quiet)
		print_table(list);
	for (size_t i = 0; i < list->nr; i++)
		if (list->items[i].moved_to)
			print_move(&list->items[i]);
		else
			(void)show_gone_print(&list->items[i]);
	report_text("%zu %s, %s\n", list->nr, list->nr == 1 ? "store" : "stores",
		    units_format_size(size, bytes));
}

static int list_stores(struct session *session UNUSED, const struct strlist *args UNUSED)
{
	struct inventory_list list = { 0 };
	struct repo *repo = NULL;
	char *home = NULL, *cwd;
	int err = store_home(&home), status = EXIT_DONE;

	if (err)
		return err;
	cwd = path_real(".");
	if (repo_discover(&repo))
		repo = NULL;
	err = inventory_read(&list, home, cwd ? cwd : "/", repo);
	if (!err && opt_common.json)
		status = print_json(&list);
	else if (!err)
		print_text(&list, home);
	inventory_release(&list);
	repo_free(repo);
	free(cwd);
	free(home);
	return err ? err : status;
}

const struct opt_spec cmd_stores_spec = {
	.command = "stores",
	.summary = "list all stores with their worktree and size",
	/* It must work anywhere, whatever is wrong with the store of this directory. */
	.alone = true,
	.run = list_stores,
};
