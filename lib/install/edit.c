/* SPDX-License-Identifier: MIT */
#include "install/install_internal.h"

bool install_is_alike(const struct install_change *change, const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(change->alike) && change->alike[i]; i++) {
		size_t len = strlen(change->alike[i]);

		/* As a whole word: names may begin with one another. */
		for (const char *at = text; (at = strstr(at, change->alike[i])); at++)
			if (!isalnum((unsigned char)at[len]) && at[len] != '-')
				return true;
	}
	return false;
}

/* ---- JSON ---- */

struct entry {
	struct edit_json_slot slot;
	const json_t *value; /* borrowed */
	enum edit_json_found found;
	bool alike;
};

/* The file, and what of a new one is in it. */
struct entries {
	struct edit_json doc;
	json_t *whole; /* a new file */
	struct entry *items;
	size_t nr, alloc;
};

static void add_entry(struct entries *entries, const char *outer, const char *inner, bool element,
		      const json_t *value)
{
	*ALLOC_NEXT(entries->items, entries->nr, entries->alloc) =
		(struct entry){ .slot = { outer, inner, element }, .value = value };
}

/* All values in the second level of what a new file would be. */
static void collect_entries(struct entries *out, const struct install_change *change)
{
	const char *outer, *inner;
	json_t *object, *value;

	out->whole = json_loads(change->text, 0, NULL);
	json_object_foreach(out->whole, outer, object) {
		json_object_foreach(object, inner, value) {
			if (!json_is_array(value))
				add_entry(out, outer, inner, false, value);
			for (size_t i = 0; i < json_array_size(value); i++)
				add_entry(out, outer, inner, true, json_array_get(value, i));
		}
	}
}

static void release_entries(struct entries *entries)
{
	edit_json_release(&entries->doc);
	json_decref(entries->whole);
	free(entries->items);
}

static int find_entries(struct entries *entries, const struct install_change *change)
{
	int err = 0;

	for (size_t i = 0; i < entries->nr && !err; i++) {
		struct entry *entry = &entries->items[i];
		struct strbuf raw = STRBUF_INIT;

		err = edit_json_find(&entry->found, &raw, &entries->doc, &entry->slot,
				     entry->value);
		/* A member has its name for itself. */
		entry->alike = entry->found == EDIT_JSON_OTHER &&
			       (!entry->slot.element || install_is_alike(change, raw.buf));
		strbuf_release(&raw);
	}
	return err;
}

/* To be released in any case. */
static int open_entries(struct entries *out, const struct strbuf *text,
			const struct install_change *change)
{
	int err;

	memset(out, 0, sizeof(*out));
	err = edit_json_open(&out->doc, text, change->comments);
	collect_entries(out, change);
	return err ? err : find_entries(out, change);
}

/* The first entry is the one that matters: the user may want it alone. */
static enum install_state sum_up(const struct entries *entries)
{
	size_t same = 0, alike = 0;

	for (size_t i = 0; i < entries->nr; i++) {
		same += entries->items[i].found == EDIT_JSON_SAME;
		alike += entries->items[i].alike;
	}
	if (same == entries->nr)
		return INSTALL_THERE;
	if (same)
		return same + alike == entries->nr ? INSTALL_ALIKE : INSTALL_PARTLY;
	return entries->nr && entries->items[0].alike ? INSTALL_ALIKE : INSTALL_ABSENT;
}

static int look_at_json(enum install_state *out, const struct install_change *change,
			const struct strbuf *text)
{
	struct entries entries;
	int err = open_entries(&entries, text, change);

	if (!err)
		*out = sum_up(&entries);
	release_entries(&entries);
	return err;
}

static int put_json(struct strbuf *text, const struct install_change *change)
{
	struct entries entries;
	int err = open_entries(&entries, text, change);

	for (size_t i = 0; i < entries.nr && !err; i++)
		if (entries.items[i].found != EDIT_JSON_SAME && !entries.items[i].alike)
			edit_json_add(&entries.doc, &entries.items[i].slot, entries.items[i].value);
	if (!err)
		strbuf_splice(text, 0, text->len, entries.doc.text.buf, entries.doc.text.len);
	release_entries(&entries);
	return err;
}

/* All that is left is in a new file, too. */
static bool is_bare_json(const struct entries *entries)
{
	json_t *left = json_loadb(entries->doc.plain.buf, entries->doc.plain.len, 0, NULL), *value;
	bool bare = left != NULL;
	const char *name;

	json_object_foreach(left, name, value)
		bare = bare && json_equal(value, json_object_get(entries->whole, name));
	json_decref(left);
	return bare;
}

static int remove_json(struct strbuf *text, const struct install_change *change, bool *bare)
{
	struct entries entries;
	int err = open_entries(&entries, text, change);

	for (size_t i = 0; i < entries.nr && !err; i++)
		while (edit_json_remove(&entries.doc, &entries.items[i].slot,
					entries.items[i].value))
			;
	if (!err) {
		strbuf_splice(text, 0, text->len, entries.doc.text.buf, entries.doc.text.len);
		*bare = is_bare_json(&entries);
	}
	release_entries(&entries);
	return err;
}

/* ---- a table at the end of a TOML file ---- */

/* Where our lines are, byte by byte; NULL if they are nowhere. */
static const char *find_block(const struct strbuf *text, const char *block)
{
	const char *at = text->buf;

	while ((at = strstr(at, block)) && at > text->buf && at[-1] != '\n')
		at++;
	return at;
}

/* "mcp_servers = {...}" on one line makes a table "[mcp_servers.x]" an error. */
static int check_inline(const struct install_change *change, const struct strbuf *text)
{
	size_t len = strcspn(change->text + 1, ".]");

	for (const char *line = text->buf; *line;
	     line += strcspn(line, "\n"), line += *line == '\n') {
		const char *name = line + strspn(line, " \t");

		if (!strncmp(name, change->text + 1, len) &&
		    name[len + strspn(name + len, " \t")] == '=')
			return ckpt_error_set(CKPT_ERROR,
					      "'%.*s' is written on one line, which cannot be added "
					      "to; add the entry that --print shows by hand",
					      (int)len, name);
	}
	return 0;
}

static int look_at_toml(enum install_state *out, const struct install_change *change,
			const struct strbuf *text)
{
	if (strlen(text->buf) != text->len)
		return ckpt_error_set(CKPT_ERROR, "it contains a NUL");
	*out = find_block(text, change->text) ? INSTALL_THERE
	       : install_is_alike(change, text->buf)  ? INSTALL_ALIKE
					      : INSTALL_ABSENT;
	return *out == INSTALL_ABSENT ? check_inline(change, text) : 0;
}

static void put_toml(struct strbuf *text, const struct install_change *change)
{
	if (text->len && text->buf[text->len - 1] != '\n')
		strbuf_addch(text, '\n');
	strbuf_addf(text, "%s%s", text->len ? "\n" : "", change->text);
}

/* With the empty line before it. */
static bool remove_toml(struct strbuf *text, const struct install_change *change)
{
	const char *at = find_block(text, change->text);
	size_t start = at ? (size_t)(at - text->buf) : 0, end = start + strlen(change->text);

	if (at && start > 1 && text->buf[start - 1] == '\n' && text->buf[start - 2] == '\n')
		start--;
	if (at)
		strbuf_splice(text, start, end, NULL, 0);
	return !text->len;
}

/* ---- a file of ours ---- */

static enum install_state look_at_file(const struct install_change *change,
				       const struct strbuf *text)
{
	size_t len = change->len ? change->len : strlen(change->text);

	if (text->len == len && !memcmp(text->buf, change->text, len))
		return INSTALL_THERE;
	return change->alike[0] && !install_is_alike(change, text->buf) ? INSTALL_ABSENT : INSTALL_ALIKE;
}

/* ---- all kinds ---- */

int edit_look(enum install_state *out, const struct install_change *change,
	      const struct strbuf *text)
{
	switch (change->kind) {
	case INSTALL_JSON:
		return look_at_json(out, change, text);
	case INSTALL_TOML:
		return look_at_toml(out, change, text);
	case INSTALL_FILE:
	case INSTALL_LINK:
		*out = look_at_file(change, text);
		break;
	case INSTALL_CONFIG:
		return edit_config_look(out, change, text);
	case INSTALL_HOOK:
		*out = install_hook_has_lines(change, text) ? INSTALL_THERE : INSTALL_ABSENT;
		break;
	}
	return 0;
}

int edit_put(struct strbuf *text, const struct install_change *change)
{
	switch (change->kind) {
	case INSTALL_JSON:
		return put_json(text, change);
	case INSTALL_TOML:
		put_toml(text, change);
		break;
	case INSTALL_FILE:
	case INSTALL_LINK:
		strbuf_reset(text);
		strbuf_add(text, change->text, change->len ? change->len : strlen(change->text));
		break;
	case INSTALL_CONFIG:
		return edit_config_put(text, change);
	case INSTALL_HOOK:
		install_insert(text, change->text);
		break;
	}
	return 0;
}

int edit_remove(struct strbuf *text, const struct install_change *change, bool *bare)
{
	int err = 0;

	switch (change->kind) {
	case INSTALL_JSON:
		return remove_json(text, change, bare);
	case INSTALL_TOML:
		*bare = remove_toml(text, change);
		break;
	case INSTALL_FILE:
	case INSTALL_LINK:
		*bare = look_at_file(change, text) == INSTALL_THERE ||
			(change->ours && strstr(text->buf, change->ours));
		break;
	case INSTALL_CONFIG:
		err = edit_config_remove(text, change);
		*bare = !text->len;
		break;
	case INSTALL_HOOK:
		*bare = install_hook_remove(text, change);
		break;
	}
	return err;
}
