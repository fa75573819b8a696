/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_TREETEXT_H
#define CKPT_TESTS_TREETEXT_H

/*
 * Trees in memory, from a text. After unit.h.
 *
 * They are written as words: "a=1" is a file with the contents number 1, "a@2" a link to number 2,
 * "d/" a directory; ":600" after it gives permission bits, "+" says that the file has another name.
 * Directories on the way need not be named.
 */

#include "base/alloc.h"
#include "tree/wt_tree.h"

enum { WIDTH = 32 }; /* entries that a directory has room for */

static struct arena arena;

static struct wt_dir *new_dir(struct wt_dir *parent, const char *path)
{
	struct wt_dir *dir = arena_alloc(&arena, sizeof(*dir));

	memset(dir, 0, sizeof(*dir));
	dir->path = arena_memdupz(&arena, path, strlen(path));
	dir->parent = parent;
	dir->loaded = arena_alloc(&arena, WIDTH * sizeof(struct wt_entry));
	return dir;
}

static struct wt_entry *entry_in(struct wt_dir *dir, const char *name, size_t len)
{
	struct wt_entry *entry;

	for (size_t i = 0; i < dir->nr; i++)
		if (wt_entries(dir)[i].name_len == len && !memcmp(wt_entries(dir)[i].name, name, len))
			return &wt_entries(dir)[i];
	assert_true(dir->nr < WIDTH);
	entry = &wt_entries(dir)[dir->nr++];
	memset(entry, 0, sizeof(*entry));
	entry->name = arena_memdupz(&arena, name, len);
	entry->name_len = (uint32_t)len;
	return entry;
}

static struct wt_dir *dir_in(struct wt_dir *parent, const char *name, size_t len)
{
	struct wt_entry *entry = entry_in(parent, name, len);
	struct strbuf path = STRBUF_INIT;

	if (!entry->dir) {
		strbuf_addf(&path, "%s%s%s", parent->path, *parent->path ? "/" : "", entry->name);
		entry->kind = WT_DIR;
		entry->mode = 0755;
		entry->dir = new_dir(parent, path.buf);
		strbuf_release(&path);
	}
	return entry->dir;
}

static void add_word(struct wt_dir *root, char *word)
{
	char *colon = strrchr(word, ':'), *sign, *slash;
	struct wt_dir *dir = root;
	struct wt_entry *entry;

	if (colon)
		*colon = '\0';
	while ((slash = strchr(word, '/')) && slash[1]) {
		dir = dir_in(dir, word, (size_t)(slash - word));
		word = slash + 1;
	}
	if (slash) {
		(void)dir_in(dir, word, (size_t)(slash - word));
		entry = entry_in(dir, word, (size_t)(slash - word));
	} else {
		sign = strpbrk(word, "=@");
		assert_non_null(sign);
		entry = entry_in(dir, word, (size_t)(sign - word));
		entry->kind = *sign == '@' ? WT_LINK : WT_FILE;
		entry->mode = *sign == '@' ? 0 : 0644;
		memset(entry->oid.id, atoi(sign + 1), OID_SIZE);
		memset(entry->sha256, atoi(sign + 1), SHA256_SIZE);
		entry->flags = WT_KNOWN | (strchr(sign, '+') ? WT_LINKED : 0);
	}
	if (colon)
		entry->mode = (uint16_t)strtoul(colon + 1, NULL, 8);
}

static void sort_all(struct wt_dir *dir)
{
	if (dir->nr)
		qsort(wt_entries(dir), dir->nr, sizeof(struct wt_entry), wt_entry_compare);
	for (size_t i = 0; i < dir->nr; i++)
		if (wt_entries(dir)[i].kind == WT_DIR)
			sort_all(wt_entries(dir)[i].dir);
}

static struct wt_dir *tree(const char *text)
{
	struct wt_dir *root = new_dir(NULL, "");
	char *copy = xstrdup(text), *rest = copy, *word;

	while ((word = strsep(&rest, " ")))
		if (*word)
			add_word(root, word);
	free(copy);
	sort_all(root);
	return root;
}

#endif
