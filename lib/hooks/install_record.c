/* SPDX-License-Identifier: MIT */
#include "hooks/install_record_internal.h"

#include "base/base.h"
#include "hooks/install_internal.h"
#include "hooks/install_where_internal.h"

static const char *const how_names[] = { "created", "lines", "aside" };

char *install_record_path(const struct install_where *where, const char *name)
{
	return xstrfmt("%s/%s", where->dir, name);
}

/* ---- in memory ---- */

static void entry_clear(struct install_entry *entry)
{
	free(entry->path);
	free(entry->name);
	free(entry->sha256);
	free(entry->target);
	memset(entry, 0, sizeof(*entry));
}

void install_record_drop_edits(struct install_record *record, size_t count)
{
	for (size_t i = 0; i < count; i++)
		config_edit_release(&record->edits[i]);
	record->edits_nr -= count;
	if (count)
		memmove(record->edits, record->edits + count,
			record->edits_nr * sizeof(record->edits[0]));
}

void install_record_release(struct install_record *record)
{
	for (size_t i = 0; i < record->nr; i++)
		entry_clear(&record->entries[i]);
	install_record_drop_edits(record, record->edits_nr);
	free(record->entries);
	free(record->edits);
	free(record->chain);
	free(record->template_from);
	free(record->template_seen);
	free(record->template_made);
	strlist_release(&record->events);
	strlist_release(&record->dirs);
	memset(record, 0, sizeof(*record));
}

struct install_entry *install_record_find(const struct install_record *record, const char *path)
{
	for (size_t i = 0; i < record->nr; i++)
		if (!strcmp(record->entries[i].path, path))
			return &record->entries[i];
	return NULL;
}

struct install_entry *install_record_entry(struct install_record *record, const char *path,
					   const char *name)
{
	struct install_entry *entry = install_record_find(record, path);

	if (!entry) {
		ALLOC_GROW(record->entries, record->nr + 1, record->alloc);
		entry = &record->entries[record->nr++];
		memset(entry, 0, sizeof(*entry));
	}
	entry_clear(entry);
	entry->path = xstrdup(path);
	entry->name = xstrdup(name);
	return entry;
}

void install_record_forget(struct install_record *record, struct install_entry *entry)
{
	size_t at = (size_t)(entry - record->entries);

	entry_clear(entry);
	memmove(entry, entry + 1, (record->nr - at - 1) * sizeof(*entry));
	record->nr--;
}

struct config_edit *install_record_edit(struct install_record *record)
{
	ALLOC_GROW(record->edits, record->edits_nr + 1, record->edits_alloc);
	memset(&record->edits[record->edits_nr], 0, sizeof(record->edits[0]));
	return &record->edits[record->edits_nr++];
}

/* ---- paths and texts ---- */

char *install_main_worktree(const char *commondir)
{
	const char *slash = strrchr(commondir, '/');

	return slash && !strcmp(slash, "/.git") ? xmemdupz(commondir, (size_t)(slash - commondir))
						: NULL;
}

static json_t *kept_path(const char *path, const struct install_where *where)
{
	char *root = install_main_worktree(where->root); /* it moves along */
	const char *below = path_below(path, where->root);
	struct strbuf out = STRBUF_INIT;
	json_t *value;

	if (below && *below) {
		strbuf_addstr(&out, below);
	} else if (root && (below = path_below(path, root)) && *below) {
		strbuf_addf(&out, "../%s", below);
	} else {
		strbuf_addstr(&out, path);
	}
	value = json_path(out.buf);
	strbuf_release(&out);
	free(root);
	return value;
}

static char *path_of(const json_t *value, const struct install_where *where)
{
	struct strbuf out = STRBUF_INIT;
	char *text = json_path_value(value);

	if (!text)
		return NULL;
	path_absolute(&out, where->root, text);
	free(text);
	return strbuf_detach(&out, NULL);
}

static json_t *text_or_null(const char *text)
{
	return text ? json_path(text) : json_null();
}

/* ---- writing ---- */

static json_t *entries_json(const struct install_record *record, const struct install_where *where)
{
	json_t *array = json_array();

	for (size_t i = 0; i < record->nr; i++) {
		const struct install_entry *entry = &record->entries[i];

		json_array_append_new(array, json_pack("{s:o, s:o, s:s, s:o, s:o, s:i}", "name",
						       json_text(entry->name), "path",
						       kept_path(entry->path, where), "how",
						       how_names[entry->how], "sha256",
						       text_or_null(entry->sha256), "target",
						       text_or_null(entry->target), "mode",
						       (int)entry->mode));
	}
	return array;
}

static json_t *edits_json(const struct install_record *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < record->edits_nr; i++) {
		const struct config_edit *edit = &record->edits[i];

		json_array_append_new(array,
				      json_pack("{s:o, s:o, s:o, s:o, s:b}", "section",
						json_path(edit->section), "key",
						json_path(edit->key), "value",
						json_path(edit->value), "old",
						text_or_null(edit->old), "header", edit->header));
	}
	return array;
}

static json_t *to_json(const struct install_record *record, const struct install_where *where)
{
	json_t *dirs = json_array(), *object;

	for (size_t i = 0; i < record->dirs.nr; i++)
		json_array_append_new(dirs, kept_path(record->dirs.items[i], where));
	object = json_pack("{s:i, s:o, s:b, s:b, s:b, s:o, s:o, s:o, s:o}", "version", 1, "events",
			   json_texts(&record->events), "ref_transaction", record->ref_transaction,
			   "config_hooks", record->config_hooks, "guard", record->guard, "chain",
			   text_or_null(record->chain), "hooks", entries_json(record, where),
			   "dirs", dirs, "config", edits_json(record));
	if (where->global)
		json_object_update_new(
			object, json_pack("{s:b, s:o, s:o, s:o, s:b}", "template", record->template,
					  "template_from", text_or_null(record->template_from),
					  "template_seen", text_or_null(record->template_seen),
					  "template_made", text_or_null(record->template_made),
					  "config_created", record->config_created));
	return object;
}

int install_record_write(const struct install_record *record, const struct install_where *where)
{
	char *path = install_record_path(where, INSTALL_RECORD_FILE);
	int err = fs_mkdir_p(where->dir, 0755);

	if (!err)
		err = json_write_file(AT_FDCWD, path, to_json(record, where), 0644, FS_DURABLE);
	free(path);
	return err;
}

/* ---- reading ---- */

static bool read_entry(struct install_record *record, const json_t *object,
		       const struct install_where *where)
{
	char *path = path_of(json_object_get(object, "path"), where);
	const char *name = json_string_value(json_object_get(object, "name"));
	const char *how = json_string_value(json_object_get(object, "how"));
	struct install_entry *entry;
	bool known = false;

	if (path && name && how && !strchr(name, '/')) {
		entry = install_record_entry(record, path, name);
		for (size_t i = 0; i < ARRAY_SIZE(how_names); i++) {
			if (strcmp(how, how_names[i]))
				continue;
			entry->how = (enum install_how)i;
			known = true;
		}
		entry->sha256 = json_path_value(json_object_get(object, "sha256"));
		entry->target = json_path_value(json_object_get(object, "target"));
		entry->mode = (unsigned)json_integer_value(json_object_get(object, "mode"));
	}
	free(path);
	return known;
}

static bool read_edit(struct install_record *record, const json_t *object)
{
	struct config_edit *edit = install_record_edit(record);

	edit->section = json_path_value(json_object_get(object, "section"));
	edit->key = json_path_value(json_object_get(object, "key"));
	edit->value = json_path_value(json_object_get(object, "value"));
	edit->old = json_path_value(json_object_get(object, "old"));
	edit->header = json_is_true(json_object_get(object, "header"));
	return edit->section && edit->key && edit->value;
}

static bool from_json(struct install_record *out, const json_t *object,
		      const struct install_where *where)
{
	const json_t *events = json_object_get(object, "events");
	const json_t *hooks = json_object_get(object, "hooks");
	const json_t *edits = json_object_get(object, "config");
	const json_t *dirs = json_object_get(object, "dirs");
	bool ok = json_integer_value(json_object_get(object, "version")) == 1;

	out->ref_transaction = json_is_true(json_object_get(object, "ref_transaction"));
	out->config_hooks = json_is_true(json_object_get(object, "config_hooks"));
	out->guard = json_is_true(json_object_get(object, "guard"));
	out->chain = json_path_value(json_object_get(object, "chain"));
	out->template = json_is_true(json_object_get(object, "template"));
	out->template_from = json_path_value(json_object_get(object, "template_from"));
	out->template_seen = json_path_value(json_object_get(object, "template_seen"));
	out->template_made = json_path_value(json_object_get(object, "template_made"));
	out->config_created = json_is_true(json_object_get(object, "config_created"));
	for (size_t i = 0; i < json_array_size(events); i++) {
		const char *event = json_string_value(json_array_get(events, i));

		if (event)
			strlist_add(&out->events, event);
	}
	for (size_t i = 0; i < json_array_size(hooks); i++)
		ok = ok && read_entry(out, json_array_get(hooks, i), where);
	for (size_t i = 0; i < json_array_size(edits); i++)
		ok = ok && read_edit(out, json_array_get(edits, i));
	for (size_t i = 0; i < json_array_size(dirs); i++) {
		char *dir = path_of(json_array_get(dirs, i), where);

		if (dir)
			strlist_take(&out->dirs, dir);
	}
	return ok;
}

int install_record_read(struct install_record *out, const struct install_where *where)
{
	char *path = install_record_path(where, INSTALL_RECORD_FILE);
	json_t *object;
	int err = json_read_file(&object, AT_FDCWD, path);

	memset(out, 0, sizeof(*out));
	if (!err) {
		out->exists = object && from_json(out, object, where);
		if (!out->exists)
			err = ckpt_error_set(CKPT_ECORRUPT,
					     "the record of installed hooks, '%s', is "
					     "damaged; move it away and fix the hooks by "
					     "hand",
					     path);
	}
	json_decref(object);
	free(path);
	if (err)
		install_record_release(out);
	return err == CKPT_ENOTFOUND ? 0 : err;
}
