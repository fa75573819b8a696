/* SPDX-License-Identifier: MIT */
#include "flow/flow_archive.h"

#include "base/base.h"
#include "store/store.h"

#define ARCHIVE LAYOUT_FLOW "/archive"
#define TEMP ARCHIVE "/" FS_TEMP_PREFIX "flow"

enum {
	NUMBER = 6,		  /* digits */
	TIME = 15,		  /* "20260930_123456" */
	HEAD = NUMBER + 1 + TIME, /* then "_<workflow>" or ".corrupt" */
};

void flow_archives_release(struct flow_archives *archives)
{
	for (size_t i = 0; i < archives->nr; i++) {
		free(archives->items[i].path);
		flow_state_release(&archives->items[i].state);
	}
	free(archives->items);
	memset(archives, 0, sizeof(*archives));
}

/* --- names --- */

/* "000012_20260930_123456_name" */
static bool parse_name(int64_t *when_out, bool *corrupt_out, const char *name)
{
	static const char pattern[HEAD + 1] = "dddddd_dddddddd_dddddd";
	char iso[CLOCK_ISO_SIZE];
	const char *t = name + NUMBER + 1;

	for (size_t i = 0; i < HEAD; i++)
		if (pattern[i] == 'd' ? name[i] < '0' || name[i] > '9' : name[i] != pattern[i])
			return false;
	if (name[HEAD] != '_' && strcmp(name + HEAD, ".corrupt"))
		return false;
	*corrupt_out = name[HEAD] == '.';
	snprintf(iso, sizeof(iso), "%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", t, t + 4, t + 6, t + 9, t + 11,
		 t + 13);
	return clock_parse_iso(when_out, iso);
}

static bool is_archived(const char *name)
{
	int64_t when;
	bool corrupt;

	return parse_name(&when, &corrupt, name);
}

/* Names of archived workflows, oldest first. */
static int list_names(struct strlist *out, struct store *store)
{
	if (fs_names(out, store->dirfd, ARCHIVE, O_NOFOLLOW, is_archived) < 0 && errno != ENOENT)
		return ckpt_error_errno("unable to read '%s/%s'", store->path, ARCHIVE);
	strlist_sort_unique(out);
	return 0;
}

static bool same_flow(const struct flow_state *a, const struct flow_state *b)
{
	return a->started_at == b->started_at && !strcmp(a->workflow_id, b->workflow_id);
}

/* --- reading --- */

static void read_one(struct flow_archive *out, struct store *store, const char *name)
{
	char *file = xstrfmt(ARCHIVE "/%s/phase.json", name);
	struct strbuf text = STRBUF_INIT;

	memset(out, 0, sizeof(*out));
	(void)parse_name(&out->archived_at, &out->corrupt, name);
	out->path = xstrfmt("%s/" ARCHIVE "/%s", store->path, name);
	out->readable = !fs_read_file(&text, store->dirfd, file) &&
			!flow_state_parse(&out->state, text.buf, text.len);
	strbuf_release(&text);
	free(file);
}

/* If a copy is of a workflow that is still live, its archiving was killed. */
static int read_all(struct flow_archives *out, struct strlist *names, struct store *store)
{
	struct flow live;
	int read, err;

	memset(out, 0, sizeof(*out));
	err = list_names(names, store);
	if (err)
		return err;
	read = flow_read(&live, store);
	for (size_t i = 0; i < names->nr; i++) {
		struct flow_archive *item;

		ALLOC_GROW(out->items, out->nr + 1, out->alloc);
		item = &out->items[out->nr++];
		read_one(item, store, names->items[i]);
		if (!read && !item->corrupt && item->readable &&
		    same_flow(&item->state, &live.state)) {
			free(item->path);
			flow_state_release(&item->state);
			out->nr--;
		}
	}
	if (!read || read == CKPT_ECORRUPT)
		flow_release(&live);
	return 0;
}

int flow_archives_read(struct flow_archives *out, struct store *store)
{
	struct strlist names = STRLIST_INIT;
	int err = read_all(out, &names, store);

	strlist_release(&names);
	return err;
}

/* --- archiving --- */

static int copy_file(struct store *store, const char *from_dir, const char *to_dir,
		     const char *name)
{
	char *from = xstrfmt("%s/%s", from_dir, name), *to = xstrfmt("%s/%s", to_dir, name);
	struct strbuf text = STRBUF_INIT;
	int err = fs_read_file(&text, store->dirfd, from);

	if (!err)
		err = fs_write_file(store->dirfd, to, text.buf, text.len, 0600, FS_DURABLE);
	else if (err == CKPT_ENOTFOUND)
		err = 0;
	strbuf_release(&text);
	free(from);
	free(to);
	return err;
}

static int make_copy(struct store *store)
{
	int err;

	err = fs_ensure_dir(store->dirfd, ARCHIVE, 0700);
	if (!err)
		err = fs_remove_tree(store->dirfd, TEMP);
	if (err)
		return err;
	if (fs_mkdir(store->dirfd, TEMP, 0700) < 0)
		return ckpt_error_errno("unable to create '%s/%s'", store->path, TEMP);
	err = copy_file(store, LAYOUT_FLOW, TEMP, "phase.json");
	return err ? err : copy_file(store, LAYOUT_FLOW, TEMP, "workflow.json");
}

/* Below the store; the caller frees it. */
static char *place_of(const struct flow_archive *archive)
{
	return xstrfmt(ARCHIVE "/%s", strrchr(archive->path, '/') + 1);
}

int flow_archive_put_back(struct store *store, const struct flow_archive *archive)
{
	char *place = place_of(archive);
	int err = 0;

	if (!archive->readable)
		err = ckpt_error_set(CKPT_ECORRUPT, "the state in '%s' cannot be read",
				     archive->path);
	/* The state last: it makes the workflow exist. */
	if (!err)
		err = copy_file(store, place, LAYOUT_FLOW, "workflow.json");
	if (!err)
		err = copy_file(store, place, LAYOUT_FLOW, "phase.json");
	free(place);
	return err;
}

int flow_archive_remove(struct store *store, const struct flow_archive *archive)
{
	char *place = place_of(archive);
	int err = fs_remove_tree(store->dirfd, TEMP);

	/* Killed while removing it, a part of it must not look like a workflow. */
	if (!err)
		err = fs_rename(store->dirfd, place, TEMP, ARCHIVE, FS_DURABLE);
	if (!err)
		err = fs_remove_tree(store->dirfd, TEMP);
	free(place);
	return err;
}

/* Earlier copies of the same one, from a process that was killed before archiving it. */
static void remove_copies(struct store *store, const struct strlist *names,
			  const struct flow_state *state)
{
	for (size_t i = 0; i < names->nr; i++) {
		struct flow_archive item;

		read_one(&item, store, names->items[i]);
		if (!item.corrupt && item.readable && same_flow(&item.state, state)) {
			char *path = xstrfmt(ARCHIVE "/%s", names->items[i]);

			(void)fs_remove_tree(store->dirfd, path);
			free(path);
		}
		free(item.path);
		flow_state_release(&item.state);
	}
}

int flow_archive_copy(char **path_out, struct store *store, const struct flow *flow, bool corrupt)
{
	struct strlist names = STRLIST_INIT;
	char when[CLOCK_ISO_SIZE], *path;
	unsigned long number = 0;
	int err = list_names(&names, store);

	if (!err && names.nr)
		number = strtoul(names.items[names.nr - 1], NULL, 10);
	path = xstrfmt(ARCHIVE "/%0*lu_%s%s%s", NUMBER, number + 1,
		       clock_format_id(when, clock_now()), corrupt ? ".corrupt" : "_",
		       corrupt ? "" : flow->state.workflow_id);
	if (!err)
		err = make_copy(store);
	if (!err)
		err = fs_rename(store->dirfd, TEMP, path, ARCHIVE, FS_DURABLE);
	if (!err && !corrupt)
		remove_copies(store, &names, &flow->state);
	if (!err)
		*path_out = xstrfmt("%s/%s", store->path, path);
	strlist_release(&names);
	free(path);
	return err;
}

void flow_archive_trim(struct store *store)
{
	struct strlist names = STRLIST_INIT;
	size_t kept = 0;

	if (!list_names(&names, store)) {
		for (size_t i = names.nr; i--;) {
			char *path = xstrfmt(ARCHIVE "/%s", names.items[i]);
			int64_t when;
			bool corrupt = false;

			(void)parse_name(&when, &corrupt, names.items[i]);
			if (!corrupt && ++kept > FLOW_ARCHIVES_MAX)
				(void)fs_remove_tree(store->dirfd, path);
			free(path);
		}
	}
	/* Left by a process that was killed while making it. */
	(void)fs_remove_tree(store->dirfd, TEMP);
	strlist_release(&names);
}
