/* SPDX-License-Identifier: MIT */
#include "record/meta_parts_internal.h"

#include "base/base.h"
#include "record/checkpoint.h"
#include "store/store.h"

/* In the order of the sources. */
static const char *const source_names[RULES_SOURCES] = { "default", "exclude", "project", "user" };

/* --- writing --- */

struct name {
	char *encoded;
	const struct rules_nested *nested;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->encoded, ((const struct name *)b)->encoded);
}

static int add_tree(struct strbuf *tree, struct pack *pack, const char *name,
		    const struct strbuf *sub)
{
	struct oid oid;
	int err = pack_add_new(pack, &oid, OBJECT_TREE, sub->buf, sub->len);

	if (!err)
		meta_add_entry(tree, "40000", name, &oid);
	return err;
}

static int add_nested(struct strbuf *tree, struct pack *pack, const struct rules_texts *texts)
{
	struct name *names = xcalloc(texts->nested_nr ? texts->nested_nr : 1, sizeof(*names));
	struct strbuf sub = STRBUF_INIT;
	int err = 0;

	for (size_t i = 0; i < texts->nested_nr; i++) {
		struct strbuf encoded = STRBUF_INIT;

		meta_encode(&encoded, texts->nested[i].path);
		names[i] = (struct name){ strbuf_detach(&encoded, NULL), &texts->nested[i] };
	}
	if (texts->nested_nr)
		qsort(names, texts->nested_nr, sizeof(*names), by_name);
	for (size_t i = 0; i < texts->nested_nr && !err; i++)
		err = meta_add_blob(&sub, pack, names[i].encoded, names[i].nested->text.buf,
				    names[i].nested->text.len);
	if (!err && texts->nested_nr)
		err = add_tree(tree, pack, "nested", &sub);
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

int meta_add_rules(struct strbuf *tree, struct pack *pack, const struct ckpt_meta *meta)
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
		err = add_nested(&sub, pack, texts);
	if (!err)
		err = add_source(&sub, pack, texts, RULES_FROM_PROJECT);
	if (!err)
		err = add_source(&sub, pack, texts, RULES_FROM_USER);
	if (!err)
		err = add_tree(tree, pack, "rules", &sub);
	strbuf_release(&sub);
	return err;
}

/* --- reading --- */

static int read_nested(struct rules_texts *texts, struct store *store, const struct oid *oid)
{
	struct strbuf tree = STRBUF_INIT, path = STRBUF_INIT, text = STRBUF_INIT;
	struct tree_entry entry;
	size_t at = 0;
	int err = objects_read(&tree, store, oid, OBJECT_TREE), rc = 1;

	while (!err && (rc = objects_tree_next(&entry, &tree, &at)) > 0) {
		strbuf_reset(&path);
		strbuf_reset(&text);
		meta_decode(&path, entry.name);
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
		return read_nested(texts, store, &entry->oid);
	for (size_t i = 0; i < RULES_SOURCES; i++)
		if (!strcmp(source_names[i], entry->name))
			return objects_read(&texts->of[i], store, &entry->oid, OBJECT_BLOB);
	return 0;
}

int meta_read_rules(struct ckpt_meta *meta, struct store *store, const struct oid *oid)
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
