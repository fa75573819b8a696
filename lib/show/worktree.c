/* SPDX-License-Identifier: MIT */
#include "show/show.h"

#include "watch/watch.h"

enum { PATIENCE = 500 /* milliseconds */ };

static const char *text_of(const json_t *tree, const char *key)
{
	const char *text = json_string_value(json_object_get(tree, key));

	return text ? text : "";
}

static json_t *find(const json_t *answer, const char *worktree)
{
	json_t *trees = json_object_get(answer, "worktrees"), *tree, *found = NULL;
	size_t i;

	json_array_foreach(trees, i, tree) {
		char *path = json_path_value(json_object_get(tree, "path"));

		if (path && !strcmp(path, worktree))
			found = tree;
		free(path);
	}
	return json_incref(found);
}

json_t *show_watcher_json(const char *home, const char *worktree)
{
	struct strlist registered = STRLIST_INIT;
	json_t *answer = NULL, *tree = NULL;
	int err = watch_tell(&answer, home, "status", PATIENCE);

	if (!err) {
		tree = find(answer, worktree);
	} else if (!watch_registry_read(&registered, home) && strlist_has(&registered, worktree)) {
		tree = json_object();
		json_object_set_new(tree, "path", json_path(worktree));
		json_object_set_new(tree, "state", json_string("off"));
		if (err != CKPT_ENOTFOUND)
			json_object_set_new(tree, "problem", json_text(ckpt_error_last()));
	}
	strlist_release(&registered);
	json_decref(answer);
	return tree;
}

static void add_last_save(struct strbuf *out, const json_t *tree)
{
	char age[CLOCK_ISO_SIZE];
	int64_t when;

	if (json_is_true(json_object_get(tree, "saving")))
		strbuf_addstr(out, ", saving now");
	else if (clock_parse_iso(&when, text_of(tree, "last_save")))
		strbuf_addf(out, ", last save %s", clock_format_age(age, when, clock_now()));
	else if (strcmp(text_of(tree, "state"), "starting") != 0)
		strbuf_addstr(out, ", no save since it started");
}

void show_watcher_sum_up(struct strbuf *out, const json_t *tree)
{
	const char *state = text_of(tree, "state");
	char count[UNITS_SIZE];
	json_int_t dirs = json_integer_value(json_object_get(tree, "directories"));

	if (!strcmp(state, "off")) {
		strbuf_addstr(out, *text_of(tree, "problem")
					   ? "not answering"
					   : "off; 'git checkpoint watch start' starts it");
		return;
	}
	if (!strcmp(state, "missing")) {
		strbuf_addstr(out, "missing");
		return;
	}
	if (!strcmp(state, "watched")) {
		strbuf_addf(out, "on, %s %s", units_format_count(count, (uint64_t)dirs),
			    dirs == 1 ? "directory" : "directories");
	} else {
		strbuf_addstr(out, !strcmp(state, "polled") ? "on, but without watches" : "starting");
	}
	add_last_save(out, tree);
}

bool show_gone_print(const struct inventory_item *item)
{
	struct strbuf command = STRBUF_INIT;
	bool gone = inventory_way_back(&command, item);

	if (gone)
		report_text("'%s' is gone; to bring it back: %s\n", report_path(item->path),
			    command.buf);
	strbuf_release(&command);
	return gone;
}

json_t *show_gone_json(const struct inventory_list *list)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->nr; i++) {
		const struct inventory_item *item = &list->items[i];
		struct strbuf command = STRBUF_INIT;

		if (inventory_way_back(&command, item))
			json_array_append_new(array,
					      json_pack("{s:o,s:o,s:o}", "key",
							json_text(item->key), "path",
							json_path(item->path), "restore_command",
							json_text(command.buf)));
		strbuf_release(&command);
	}
	return array;
}
