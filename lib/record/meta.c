/* SPDX-License-Identifier: MIT */
#include "record/checkpoint.h"

void meta_init(struct ckpt_meta *meta)
{
	memset(meta, 0, sizeof(*meta));
	strbuf_init(&meta->modes);
	rules_texts_init(&meta->rules);
}

void meta_release(struct ckpt_meta *meta)
{
	strbuf_release(&meta->modes);
	skip_list_release(&meta->skips);
	nested_release(&meta->nested);
	for (size_t i = 0; i < meta->states_nr; i++) {
		free(meta->states[i].key);
		free(meta->states[i].value);
	}
	free(meta->states);
	record_captures_release(&meta->captures);
	rules_texts_release(&meta->rules);
	meta_init(meta);
}

bool meta_state_key_valid(const char *key)
{
	size_t len = strlen(key);

	if (!len || len > CKPT_STATE_KEY_MAX || !utf8_valid(key, len))
		return false;
	for (const char *p = key; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return false;
	return true;
}

void meta_add_state(struct ckpt_meta *meta, const char *key, const char *value, size_t len)
{
	*ALLOC_NEXT(meta->states, meta->states_nr, meta->states_alloc) = (struct ckpt_state){
		.key = xstrdup(key), .value = xmemdupz(value, len), .len = len
	};
}

void meta_add_stored_state(struct ckpt_meta *meta, const char *key, const struct oid *oid,
			   uint64_t size)
{
	*ALLOC_NEXT(meta->states, meta->states_nr, meta->states_alloc) =
		(struct ckpt_state){ .key = xstrdup(key), .oid = *oid, .size = size };
}

const struct ckpt_state *meta_find_state(const struct ckpt_meta *meta, const char *key)
{
	for (size_t i = 0; i < meta->states_nr; i++)
		if (!strcmp(meta->states[i].key, key))
			return &meta->states[i];
	return NULL;
}

/* --- names in a tree: no "/", no ".git", nothing odd --- */

static void encode_name(struct strbuf *out, const char *key)
{
	for (const char *p = key; *p; p++) {
		if (isalnum((unsigned char)*p) || *p == '_' || *p == '-' || (*p == '.' && p != key))
			strbuf_addch(out, *p);
		else
			strbuf_addf(out, "%%%02x", (unsigned char)*p);
	}
}

static void decode_name(struct strbuf *out, const char *name)
{
	for (; *name; name++) {
		unsigned char byte;

		if (*name == '%' && oid_hex_decode(&byte, name + 1, 1)) {
			strbuf_addch(out, byte);
			name += 2;
		} else {
			strbuf_addch(out, *name);
		}
	}
}

/* --- writing --- */

void meta_add_entry(struct strbuf *tree, const char *mode, const char *name,
		      const struct oid *oid)
{
	strbuf_addf(tree, "%s %s", mode, name);
	strbuf_addch(tree, '\0');
	strbuf_add(tree, oid->id, OID_SIZE);
}

int meta_add_blob(struct strbuf *tree, struct pack *pack, const char *name, const void *data,
		    size_t len)
{
	struct oid oid;
	int err = pack_add_new(pack, &oid, OBJECT_BLOB, data, len);

	meta_add_entry(tree, "100644", name, &oid);
	return err;
}

static int add_skips(struct strbuf *tree, struct pack *pack, const char *name,
		     const struct skip_list *skips, bool incomplete)
{
	struct strbuf text = STRBUF_INIT;
	int err = 0;

	for (size_t i = 0; i < skips->nr; i++) {
		if (skip_why_incomplete(skips->items[i].why) != incomplete)
			continue;
		strbuf_addf(&text, "%s %s", skip_why_name(skips->items[i].why),
			    skips->items[i].path);
		strbuf_addch(&text, '\0');
	}
	if (text.len)
		err = meta_add_blob(tree, pack, name, text.buf, text.len);
	strbuf_release(&text);
	return err;
}

static int add_nested(struct strbuf *tree, struct pack *pack, const struct nested_list *nested)
{
	struct strbuf text = STRBUF_INIT;
	int err = 0;

	nested_print(&text, nested);
	if (text.len)
		err = meta_add_blob(tree, pack, "nested", text.buf, text.len);
	strbuf_release(&text);
	return err;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_states(struct strbuf *tree, struct pack *pack, const struct ckpt_meta *meta)
{
	struct strbuf sub = STRBUF_INIT;
	char **names = xcalloc(meta->states_nr ? meta->states_nr : 1, 2 * sizeof(*names));
	struct oid oid;
	int err = 0;

	/* Pairs of encoded name and state, in the order of the names. */
	for (size_t i = 0; i < meta->states_nr; i++) {
		struct strbuf name = STRBUF_INIT;

		encode_name(&name, meta->states[i].key);
		names[2 * i] = strbuf_detach(&name, NULL);
		names[2 * i + 1] = (char *)&meta->states[i];
	}
	if (meta->states_nr)
		qsort(names, meta->states_nr, 2 * sizeof(*names), by_key);
	for (size_t i = 0; i < meta->states_nr && !err; i++) {
		const struct ckpt_state *state = (const struct ckpt_state *)names[2 * i + 1];

		if (state->value)
			err = meta_add_blob(&sub, pack, names[2 * i], state->value, state->len);
		else
			meta_add_entry(&sub, "100644", names[2 * i], &state->oid);
	}
	if (!err && meta->states_nr) {
		err = pack_add_new(pack, &oid, OBJECT_TREE, sub.buf, sub.len);
		meta_add_entry(tree, "40000", "state", &oid);
	}
	for (size_t i = 0; i < meta->states_nr; i++)
		free(names[2 * i]);
	free(names);
	strbuf_release(&sub);
	return err;
}

static int captures_by_name(const void *a, const void *b)
{
	return strcmp((*(const struct ckpt_capture *const *)a)->name,
		      (*(const struct ckpt_capture *const *)b)->name);
}

static int add_captures(struct strbuf *tree, struct pack *pack,
			const struct ckpt_captures *captures)
{
	const struct ckpt_capture **order;
	struct strbuf sub = STRBUF_INIT;
	struct oid oid;
	int err;

	if (!captures->nr)
		return 0;
	order = xcalloc(captures->nr, sizeof(*order));
	for (size_t i = 0; i < captures->nr; i++)
		order[i] = &captures->items[i];
	qsort(order, captures->nr, sizeof(*order), captures_by_name);
	for (size_t i = 0; i < captures->nr; i++)
		meta_add_entry(&sub, "100644", order[i]->name, &order[i]->oid);
	err = pack_add_new(pack, &oid, OBJECT_TREE, sub.buf, sub.len);
	meta_add_entry(tree, "40000", "captures", &oid);
	strbuf_release(&sub);
	free(order);
	return err;
}

/* In the order of the sources. */
static const char *const source_names[RULES_SOURCES] = { "default", "exclude", "project", "user" };

struct rules_name {
	char *encoded;
	const struct rules_nested *nested;
};

static int rules_by_name(const void *a, const void *b)
{
	return strcmp(((const struct rules_name *)a)->encoded, ((const struct rules_name *)b)->encoded);
}

static int add_subtree(struct strbuf *tree, struct pack *pack, const char *name,
		    const struct strbuf *sub)
{
	struct oid oid;
	int err = pack_add_new(pack, &oid, OBJECT_TREE, sub->buf, sub->len);

	if (!err)
		meta_add_entry(tree, "40000", name, &oid);
	return err;
}

static int add_nested_rules(struct strbuf *tree, struct pack *pack, const struct rules_texts *texts)
{
	struct rules_name *names = xcalloc(texts->nested_nr ? texts->nested_nr : 1, sizeof(*names));
	struct strbuf sub = STRBUF_INIT;
	int err = 0;

	for (size_t i = 0; i < texts->nested_nr; i++) {
		struct strbuf encoded = STRBUF_INIT;

		encode_name(&encoded, texts->nested[i].path);
		names[i] = (struct rules_name){ strbuf_detach(&encoded, NULL), &texts->nested[i] };
	}
	if (texts->nested_nr)
		qsort(names, texts->nested_nr, sizeof(*names), rules_by_name);
	for (size_t i = 0; i < texts->nested_nr && !err; i++)
		err = meta_add_blob(&sub, pack, names[i].encoded, names[i].nested->text.buf,
				    names[i].nested->text.len);
	if (!err && texts->nested_nr)
		err = add_subtree(tree, pack, "nested", &sub);
	for (size_t i = 0; i < texts->nested_nr; i++)
		free(names[i].encoded);
	free(names);
	strbuf_release(&sub);
	return err;
}

static int add_source(struct strbuf *tree, struct pack *pack, const struct rules_texts *texts,
		      enum rules_source source)
{
	return meta_add_blob(tree, pack, source_names[source], texts->of[source].buf,
			     texts->of[source].len);
}

static int add_rules(struct strbuf *tree, struct pack *pack, const struct ckpt_meta *meta)
{
	const struct rules_texts *texts = &meta->rules;
	struct strbuf sub = STRBUF_INIT;
	int err;

	if (!meta->have_rules)
		return 0;
	/* In the order of their names. */
	err = add_source(&sub, pack, texts, RULES_FROM_DEFAULTS);
	if (!err)
		err = add_source(&sub, pack, texts, RULES_FROM_SETTINGS);
	if (!err)
		err = add_nested_rules(&sub, pack, texts);
	if (!err)
		err = add_source(&sub, pack, texts, RULES_FROM_PROJECT);
	if (!err)
		err = add_source(&sub, pack, texts, RULES_FROM_USER);
	if (!err)
		err = add_subtree(tree, pack, "rules", &sub);
	strbuf_release(&sub);
	return err;
}

int meta_write(struct oid *commit_out, const struct ckpt_meta *meta, struct pack *pack)
{
	struct strbuf tree = STRBUF_INIT, commit = STRBUF_INIT;
	char hex[OID_HEX + 1];
	struct oid oid;
	int err;

	/* In the order of their names. */
	err = add_captures(&tree, pack, &meta->captures);
	if (!err && !oid_is_zero(&meta->git))
		meta_add_entry(&tree, "40000", "git", &meta->git);
	if (!err)
		err = add_skips(&tree, pack, "left-out", &meta->skips, false);
	if (!err)
		err = add_skips(&tree, pack, "missing", &meta->skips, true);
	if (!err)
		err = meta_add_blob(&tree, pack, "modes", meta->modes.buf, meta->modes.len);
	if (!err)
		err = add_nested(&tree, pack, &meta->nested);
	if (!err)
		err = add_rules(&tree, pack, meta);
	if (!err)
		err = add_states(&tree, pack, meta);
	if (!err)
		err = pack_add_new(pack, &oid, OBJECT_TREE, tree.buf, tree.len);
	if (!err) {
		/* No time: equal contents, equal commit. */
		strbuf_addf(&commit,
			    "tree %s\nauthor git-checkpoint <git-checkpoint@localhost> 0 +0000\n"
			    "committer git-checkpoint <git-checkpoint@localhost> 0 +0000\n\n"
			    "checkpoint metadata\n",
			    oid_hex(hex, &oid));
		err = pack_add_new(pack, commit_out, OBJECT_COMMIT, commit.buf, commit.len);
	}
	strbuf_release(&tree);
	strbuf_release(&commit);
	return err;
}

/* --- reading --- */

static int parse_skips(struct skip_list *out, const struct strbuf *text)
{
	for (const char *p = text->buf, *end = p + text->len; p < end; p += strlen(p) + 1) {
		const char *space = strchr(p, ' ');
		char *name = space ? xmemdupz(p, (size_t)(space - p)) : NULL;
		enum skip_why why;
		bool ok = name && skip_why_parse(&why, name);

		free(name);
		if (!ok)
			return ckpt_error_set(CKPT_ECORRUPT, "the list of skipped paths is malformed");
		skip_list_add(out, space + 1, why);
	}
	return 0;
}

static int read_state(struct ckpt_meta *meta, struct store *store, const char *key,
		      const struct oid *oid)
{
	struct strbuf value = STRBUF_INIT;
	struct ckpt_state *state;
	uint64_t size;
	int err = objects_size(&size, store, oid);

	if (err)
		return err;
	meta_add_stored_state(meta, key, oid, size);
	if (size > CKPT_STATE_HELD)
		return 0;
	err = objects_read(&value, store, oid, OBJECT_BLOB);
	state = &meta->states[meta->states_nr - 1];
	state->len = value.len;
	state->value = xmemdupz(value.buf, value.len);
	strbuf_release(&value);
	return err;
}

static int read_states(struct ckpt_meta *meta, struct store *store, const struct oid *oid)
{
	struct strbuf tree = STRBUF_INIT, key = STRBUF_INIT;
	struct tree_entry entry;
	size_t at = 0;
	int err = objects_read(&tree, store, oid, OBJECT_TREE), rc = 1;

	while (!err && (rc = objects_tree_next(&entry, &tree, &at)) > 0) {
		strbuf_reset(&key);
		decode_name(&key, entry.name);
		err = read_state(meta, store, key.buf, &entry.oid);
	}
	if (!err && rc < 0)
		err = rc;
	strbuf_release(&tree);
	strbuf_release(&key);
	return err;
}

/* The record has their order, types and sizes; here are their blobs. */
static int read_captures(struct ckpt_meta *meta, struct store *store, const struct oid *oid)
{
	struct strbuf tree = STRBUF_INIT;
	struct tree_entry entry;
	size_t at = 0;
	int err = objects_read(&tree, store, oid, OBJECT_TREE), rc = 1;

	while (!err && (rc = objects_tree_next(&entry, &tree, &at)) > 0)
		for (size_t i = 0; i < meta->captures.nr; i++)
			if (!strcmp(meta->captures.items[i].name, entry.name))
				meta->captures.items[i].oid = entry.oid;
	if (!err && rc < 0)
		err = rc;
	strbuf_release(&tree);
	return err;
}

/* A capture that the record names but that does not exist must not be ignored. */
static int check_captures(const struct ckpt_meta *meta)
{
	for (size_t i = 0; i < meta->captures.nr; i++)
		if (oid_is_zero(&meta->captures.items[i].oid))
			return ckpt_error_set(CKPT_ECORRUPT, "the capture '%s' is missing",
					      meta->captures.items[i].name);
	return 0;
}

static int read_nested_rules(struct rules_texts *texts, struct store *store, const struct oid *oid)
{
	struct strbuf tree = STRBUF_INIT, path = STRBUF_INIT, text = STRBUF_INIT;
	struct tree_entry entry;
	size_t at = 0;
	int err = objects_read(&tree, store, oid, OBJECT_TREE), rc = 1;

	while (!err && (rc = objects_tree_next(&entry, &tree, &at)) > 0) {
		strbuf_reset(&path);
		strbuf_reset(&text);
		decode_name(&path, entry.name);
		err = objects_read(&text, store, &entry.oid, OBJECT_BLOB);
		if (!err)
			rules_texts_add_nested(texts, path.buf, text.buf, text.len);
	}
	strbuf_release(&tree);
	strbuf_release(&path);
	strbuf_release(&text);
	return !err && rc < 0 ? rc : err;
}

static int read_source(struct rules_texts *texts, struct store *store,
		       const struct tree_entry *entry)
{
	if (!strcmp(entry->name, "nested"))
		return read_nested_rules(texts, store, &entry->oid);
	for (size_t i = 0; i < RULES_SOURCES; i++)
		if (!strcmp(source_names[i], entry->name))
			return objects_read(&texts->of[i], store, &entry->oid, OBJECT_BLOB);
	return 0;
}

static int read_rules(struct ckpt_meta *meta, struct store *store, const struct oid *oid)
{
	struct strbuf tree = STRBUF_INIT;
	struct tree_entry entry;
	size_t at = 0;
	int err = objects_read(&tree, store, oid, OBJECT_TREE), rc = 1;

	while (!err && (rc = objects_tree_next(&entry, &tree, &at)) > 0)
		err = read_source(&meta->rules, store, &entry);
	meta->have_rules = true;
	strbuf_release(&tree);
	return !err && rc < 0 ? rc : err;
}

static int read_part(struct ckpt_meta *meta, struct store *store, const struct tree_entry *entry,
		     bool modes_only)
{
	struct strbuf text = STRBUF_INIT;
	int err = 0;

	if (!strcmp(entry->name, "modes")) {
		err = objects_read(&meta->modes, store, &entry->oid, OBJECT_BLOB);
	} else if (modes_only) {
		/* not asked for */
	} else if (!strcmp(entry->name, "missing") || !strcmp(entry->name, "left-out")) {
		err = objects_read(&text, store, &entry->oid, OBJECT_BLOB);
		if (!err)
			err = parse_skips(&meta->skips, &text);
	} else if (!strcmp(entry->name, "nested")) {
		err = objects_read(&text, store, &entry->oid, OBJECT_BLOB);
		if (!err)
			err = nested_parse(&meta->nested, text.buf, text.len);
	} else if (!strcmp(entry->name, "state")) {
		err = read_states(meta, store, &entry->oid);
	} else if (!strcmp(entry->name, "captures")) {
		err = read_captures(meta, store, &entry->oid);
	} else if (!strcmp(entry->name, "git")) {
		meta->git = entry->oid;
	} else if (!strcmp(entry->name, "rules")) {
		err = read_rules(meta, store, &entry->oid);
	}
	strbuf_release(&text);
	return err;
}

int meta_find_tree(struct oid *out, struct store *store, const struct ckpt_record *record)
{
	struct strbuf commit = STRBUF_INIT;
	int err = objects_read(&commit, store, &record->meta, OBJECT_COMMIT);

	if (!err && (strncmp(commit.buf, "tree ", 5) || !oid_parse(out, commit.buf + 5)))
		err = ckpt_error_set(CKPT_ECORRUPT, "the metadata is malformed");
	strbuf_release(&commit);
	return err;
}

static int read_tree(struct strbuf *tree, struct store *store, const struct ckpt_record *record)
{
	struct oid oid;
	int err = meta_find_tree(&oid, store, record);

	return err ? err : objects_read(tree, store, &oid, OBJECT_TREE);
}

int meta_find_git(struct oid *out, struct store *store, const struct ckpt_record *record)
{
	struct strbuf tree = STRBUF_INIT;
	struct tree_entry entry;
	size_t at = 0;
	int err = read_tree(&tree, store, record), rc = 1;

	memset(out, 0, sizeof(*out));
	while (!err && (rc = objects_tree_next(&entry, &tree, &at)) > 0)
		if (!strcmp(entry.name, "git"))
			*out = entry.oid;
	if (!err && rc < 0)
		err = rc;
	strbuf_release(&tree);
	return err ? record_damaged(err, store, record->id) : 0;
}

int meta_read(struct ckpt_meta *out, struct store *store, const struct ckpt_record *record,
	      bool modes_only)
{
	struct strbuf tree = STRBUF_INIT;
	struct tree_entry entry;
	size_t at = 0;
	int err, rc = 1;

	meta_init(out);
	for (size_t i = 0; i < record->captures.nr && !modes_only; i++)
		record_captures_add(&out->captures, record->captures.items[i].name,
				    record->captures.items[i].type, record->captures.items[i].size,
				    NULL);
	err = read_tree(&tree, store, record);
	while (!err && (rc = objects_tree_next(&entry, &tree, &at)) > 0)
		err = read_part(out, store, &entry, modes_only);
	if (!err && rc < 0)
		err = rc;
	if (!err)
		err = check_captures(out);
	if (!err)
		skip_list_sort(&out->skips);
	if (err) {
		meta_release(out);
		err = record_damaged(err, store, record->id);
	}
	strbuf_release(&tree);
	return err;
}
