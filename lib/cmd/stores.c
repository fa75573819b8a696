/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "base/base.h"
#include "cmd/report.h"
#include "git/git.h"
#include "session/session.h"
#include "store/store.h"
#include "ui/ui.h"

#include <stdlib.h>

const struct opt_spec cmd_stores_spec = {
	.command = "stores",
	.summary = "list all stores with their worktree and size",
};

static int print_json(const struct inventory_list *list)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->nr; i++) {
		const struct inventory_item *item = &list->items[i];
		json_t *object = json_object();

		json_object_set_new(object, "key", json_text(item->key));
		json_object_set_new(object, "path",
				    item->path ? json_path(item->path) : json_null());
		json_object_set_new(object, "exists", json_boolean(item->exists));
		json_object_set_new(object, "bytes", json_integer((json_int_t)item->bytes));
		json_object_set_new(object, "checkpoints",
				    json_integer((json_int_t)item->checkpoints));
		json_object_set_new(object, "state",
				    json_string(inventory_state_name(item->state)));
		json_object_set_new(object, "last_used", json_time(item->last_used));
		json_object_set_new(object, "moved_to",
				    item->moved_to ? json_path(item->moved_to) : json_null());
		json_object_set_new(object, "problem", json_text(item->problem));
		json_array_append_new(array, object);
	}
	return report_json(json_pack("{s:o}", "stores", array), EXIT_DONE);
}

static void print_table(const struct inventory_list *list)
{
	static const struct table_column columns[] = {
		{ "Key", TABLE_LEFT, 0, TERM_YELLOW, TABLE_KEEP },
		{ "Checkpoints", TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP },
		{ "Size", TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP },
		{ "Last use", TABLE_LEFT, 0, TERM_RESET, TABLE_SPARE },
		{ "State", TABLE_LEFT, 0, TERM_RESET, TABLE_KEEP },
		{ "Worktree", TABLE_LEFT, 60, TERM_RESET, TABLE_KEEP },
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int64_t now = clock_now();

	for (size_t i = 0; i < list->nr; i++) {
		const struct inventory_item *item = &list->items[i];
		char size[UNITS_SIZE], age[CLOCK_ISO_SIZE];
		struct strbuf path = STRBUF_INIT;

		if (item->path)
			quote_path(&path, item->path);
		table_add(table, item->key);
		table_addf(table, "%zu", item->checkpoints);
		table_add(table, units_format_size(size, item->bytes));
		table_add(table, item->last_used ? clock_format_age(age, item->last_used, now) :
						   "never");
		table_add(table, inventory_state_name(item->state));
		table_add(table, item->path ? path.buf : "?");
		strbuf_release(&path);
	}
	table_print(table);
	table_free(table);
}

static void print_move(const struct inventory_item *item)
{
	struct strbuf from = STRBUF_INIT, to = STRBUF_INIT, command = STRBUF_INIT;

	quote_path(&from, item->path);
	quote_path(&to, item->moved_to);
	inventory_relink_command(&command, item->key, item->path, false);
	report_text("'%s' moved to '%s'; to adopt it: %s\n", from.buf, to.buf, command.buf);
	strbuf_release(&from);
	strbuf_release(&to);
	strbuf_release(&command);
}

static int print_text(const struct inventory_list *list, const char *home)
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
		return report_done(EXIT_DONE);
	}
	if (!opt_common.quiet)
		print_table(list);
	for (size_t i = 0; i < list->nr; i++)
		if (list->items[i].moved_to)
			print_move(&list->items[i]);
	report_text("%zu %s, %s\n", list->nr, list->nr == 1 ? "store" : "stores",
		    units_format_size(size, bytes));
	return report_done(EXIT_DONE);
}

/* No session: this must work anywhere, whatever is wrong with the store of this directory. */
int cmd_stores(int argc, char **argv)
{
	int err = opt_parse(&cmd_stores_spec, argc, argv, NULL, NULL), status;
	struct inventory_list list = { 0 };
	struct repo *repo = NULL;
	char *home = NULL, *cwd;

	if (err > 0)
		return EXIT_DONE;
	if (!err)
		err = store_home(&home);
	if (err)
		return report_failure(err);
	cwd = path_real(".");
	if (repo_discover(&repo))
		repo = NULL;
	err = inventory_read(&list, home, cwd ? cwd : "/", repo);
	if (err)
		status = report_failure(err);
	else
		status = opt_common.json ? print_json(&list) : print_text(&list, home);
	inventory_release(&list);
	repo_free(repo);
	free(cwd);
	free(home);
	return status;
}
