/* SPDX-License-Identifier: MIT */
#include "record/modes.h"

#include "tree/tree.h"

enum class { CLASS_FILE, CLASS_EXEC, CLASS_DIR, CLASSES };
enum { MODES = 010000 };

#define HEAD "file %o exec %o dir %o\n"

static const uint16_t usual[CLASSES] = { 0644, 0755, 0755 };

struct encoder {
	uint32_t counts[WT_MODES];
	uint16_t common[CLASSES];
	struct mode_item *items;
	size_t nr, alloc;
};

static enum class class_of(unsigned mode)
{
	return mode & WT_MODE_DIR ? CLASS_DIR : mode & 0100 ? CLASS_EXEC : CLASS_FILE;
}

static void choose_common(struct encoder *enc)
{
	uint32_t best[CLASSES] = { 0 };

	memcpy(enc->common, usual, sizeof(usual));
	for (unsigned mode = 0; mode < WT_MODES; mode++) {
		enum class class = class_of(mode);

		if (enc->counts[mode] > best[class]) {
			best[class] = enc->counts[mode];
			enc->common[class] = mode & (MODES - 1);
		}
	}
}

/* Whether a mode has to be recorded. */
static bool is_odd(unsigned mode, void *payload)
{
	const struct encoder *enc = payload;

	return (mode & (MODES - 1)) != enc->common[class_of(mode)];
}

static bool entry_is_odd(const struct wt_entry *entry, struct encoder *enc)
{
	if (entry->kind == WT_LINK || (entry->kind == WT_DIR && entry->dir->outside))
		return false;
	return is_odd(entry->mode | (entry->kind == WT_DIR ? WT_MODE_DIR : 0), enc);
}

static void gather_odd(struct encoder *enc, const struct wt_dir *dir)
{
	if (!wt_has_mode(dir, is_odd, enc))
		return;
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];

		if (entry_is_odd(entry, enc))
			*ALLOC_NEXT(enc->items, enc->nr, enc->alloc) = (struct mode_item){
				.path = xstrfmt("%s%s%s", dir->path, *dir->path ? "/" : "",
						entry->name),
				.mode = entry->mode,
			};
		if (entry->kind == WT_DIR)
			gather_odd(enc, entry->dir);
	}
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct mode_item *)a)->path, ((const struct mode_item *)b)->path);
}

void modes_encode(struct strbuf *out, const struct wt_dir *root)
{
	struct encoder *enc = xcalloc(1, sizeof(*enc));

	wt_count_modes(enc->counts, root);
	choose_common(enc);
	gather_odd(enc, root);
	if (enc->nr)
		qsort(enc->items, enc->nr, sizeof(*enc->items), by_path);
	strbuf_addf(out, HEAD, enc->common[CLASS_FILE],
		    enc->common[CLASS_EXEC], enc->common[CLASS_DIR]);
	for (size_t i = 0; i < enc->nr; i++) {
		strbuf_addf(out, "%o %s", enc->items[i].mode, enc->items[i].path);
		strbuf_addch(out, '\0');
		free((char *)enc->items[i].path);
	}
	free(enc->items);
	free(enc);
}

static int set_malformed(struct modes *modes)
{
	modes_release(modes);
	return ckpt_error_set(CKPT_ECORRUPT, "the recorded modes are malformed");
}

int modes_parse(struct modes *out, const char *data, size_t len)
{
	unsigned file, exec, dir;
	size_t alloc = 0;
	char head[64], *p, *end;
	int head_len;

	memset(out, 0, sizeof(*out));
	out->text = xmemdupz(data, len);
	end = out->text + len;
	if (sscanf(out->text, HEAD, &file, &exec, &dir) != 3 ||
	    file >= MODES || exec >= MODES || dir >= MODES)
		return set_malformed(out);
	/* sscanf() is generous; the form is not. */
	head_len = snprintf(head, sizeof(head), HEAD, file, exec, dir);
	if (len < (size_t)head_len || memcmp(out->text, head, (size_t)head_len))
		return set_malformed(out);
	out->file = (uint16_t)file;
	out->exec = (uint16_t)exec;
	out->dir = (uint16_t)dir;
	for (p = out->text + head_len; p < end;) {
		char *nul = memchr(p, '\0', (size_t)(end - p)), *path;
		unsigned long mode = strtoul(p, &path, 8);

		if (!nul || *p < '0' || *p > '7' || *path != ' ' || mode >= MODES || path + 1 == nul)
			return set_malformed(out);
		/* They are searched by bisection. */
		if (out->nr && strcmp(out->items[out->nr - 1].path, path + 1) >= 0)
			return set_malformed(out);
		*ALLOC_NEXT(out->items, out->nr, alloc) =
			(struct mode_item){ .path = path + 1, .mode = (uint16_t)mode };
		p = nul + 1;
	}
	return 0;
}

int modes_of_tree(struct modes *out, const struct wt_dir *root)
{
	struct strbuf text = STRBUF_INIT;
	int err;

	modes_encode(&text, root);
	err = modes_parse(out, text.buf, text.len);
	strbuf_release(&text);
	return err;
}

void modes_release(struct modes *modes)
{
	free(modes->items);
	free(modes->text);
	memset(modes, 0, sizeof(*modes));
}

uint16_t modes_lookup(const struct modes *modes, const char *path, unsigned git_mode)
{
	struct mode_item key = { .path = path }, *found = NULL;

	if (git_mode == 0120000)
		return 0;
	if (modes->nr)
		found = bsearch(&key, modes->items, modes->nr, sizeof(key), by_path);
	if (found)
		return found->mode;
	return git_mode == 0040000 ? modes->dir : git_mode == 0100755 ? modes->exec : modes->file;
}

static bool is_below(const char *path, const char *dir, size_t len)
{
	return !len || (!strncmp(path, dir, len) && path[len] == '/');
}

/* Whether a path comes before everything below a directory. */
static bool is_before(const char *path, const char *dir, size_t len)
{
	int cmp = strncmp(path, dir, len);

	return cmp ? cmp < 0 : len && (unsigned char)path[len] < '/';
}

const struct mode_item *modes_below(const struct modes *modes, const char *dir, size_t *nr_out)
{
	size_t len = strlen(dir), from, to;

	LOWER_BOUND(from, modes->nr, is_before(modes->items[from].path, dir, len));
	for (to = from; to < modes->nr && is_below(modes->items[to].path, dir, len); to++)
		;
	*nr_out = to - from;
	return modes->nr ? modes->items + from : NULL;
}

bool modes_differing(struct strlist *out, const struct modes *a, const struct modes *b)
{
	size_t i = 0, j = 0;

	if (a->file != b->file || a->exec != b->exec || a->dir != b->dir)
		return false;
	while (i < a->nr || j < b->nr) {
		int cmp = i == a->nr ? 1 : j == b->nr ? -1 : by_path(&a->items[i], &b->items[j]);

		if (cmp < 0) {
			strlist_add(out, a->items[i++].path);
		} else if (cmp > 0) {
			strlist_add(out, b->items[j++].path);
		} else {
			if (a->items[i].mode != b->items[j].mode)
				strlist_add(out, a->items[i].path);
			i++;
			j++;
		}
	}
	return true;
}
