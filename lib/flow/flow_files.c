/* SPDX-License-Identifier: MIT */
#include "flow/flow_files_internal.h"

#include "base/base.h"
#include "flow/flow_decide.h"
#include "store/store.h"

#define LIVE LAYOUT_FLOW
#define NEXT LAYOUT_FLOW "-next"
#define ARCHIVE LAYOUT_FLOW "-archive"
#define STATE "phase.json"
#define PLAN "workflow.json"

void flow_release(struct flow *flow)
{
	flow_state_release(&flow->state);
	flow_plan_release(&flow->plan);
	strbuf_release(&flow->text);
}

/* --- reading --- */

static int read_plan(struct flow *out, int dirfd)
{
	struct strbuf text = STRBUF_INIT;
	int err = fs_read_file(&text, dirfd, PLAN);

	if (err == CKPT_ENOTFOUND)
		err = ckpt_error_set(CKPT_ECORRUPT, "it is missing");
	else if (!err)
		err = flow_plan_parse(&out->plan, text.buf, text.len);
	if (!err && (strcmp(out->plan.workflow_id, out->state.workflow_id) ||
		     out->plan.started_at != out->state.started_at))
		err = ckpt_error_set(CKPT_ECORRUPT, "it is of another workflow");
	if (err)
		err = ckpt_error_prefix(err, "its plan, " PLAN ", cannot be used");
	strbuf_release(&text);
	return err;
}

/* `out` must be released in any case: the state may be sound where the plan is not. */
static int read_dir(struct flow *out, int dirfd)
{
	int err;

	*out = (struct flow)FLOW_INIT;
	err = fs_read_file(&out->text, dirfd, STATE);
	if (!err)
		err = flow_state_parse(&out->state, out->text.buf, out->text.len);
	if (!err)
		err = read_plan(out, dirfd);
	return err ? err : flow_check_order(&out->state, &out->plan);
}

static int open_dir(struct store *store, const char *path)
{
	return openat(store->dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool has_state(int dirfd)
{
	return dirfd >= 0 && !faccessat(dirfd, STATE, F_OK, AT_SYMLINK_NOFOLLOW);
}

static bool is_workflow(struct store *store, const char *path)
{
	int fd = open_dir(store, path);
	bool is = has_state(fd);

	fs_close(fd);
	return is;
}

/* Without the lock: a new one may come while this looks, so the first place is tried again. */
static int open_live(struct store *store)
{
	static const char *const places[] = { LIVE, NEXT, LIVE };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		int fd = open_dir(store, places[i]);

		if (has_state(fd))
			return fd;
		fs_close(fd);
	}
	return -1;
}

int flow_read(struct flow *out, struct store *store)
{
	int fd = store ? open_live(store) : -1, err;

	*out = (struct flow)FLOW_INIT;
	if (fd < 0)
		return ckpt_error_set(CKPT_ENOTFOUND, "no workflow is in progress; 'git checkpoint "
						      "flow start' starts one");
	err = read_dir(out, fd);
	close(fd);
	if (err)
		flow_release(out);
	return err;
}

/* --- writing --- */

static int write_text(struct store *store, const char *path, const struct strbuf *text)
{
	return fs_write_file(store->dirfd, path, text->buf, text->len, 0600, FS_DURABLE);
}

int flow_files_write_text(struct store *store, const struct strbuf *text)
{
	return write_text(store, LIVE "/" STATE, text);
}

/* With `alone`, nothing else is needed any more. */
static int keep_phases(struct store *store, const struct flow_state *state, bool alone)
{
	struct strlist ids = STRLIST_INIT;
	int err;

	for (size_t i = 0; i < state->done.nr; i++)
		strlist_add(&ids, state->done.items[i].checkpoint);
	err = keepers_set(store, KEEPER_FLOW, &ids, alone);
	strlist_release(&ids);
	return err;
}

int flow_files_write(struct flow *flow, struct store *store)
{
	int err = keep_phases(store, &flow->state, false);

	strbuf_reset(&flow->text);
	flow_state_print(&flow->text, &flow->state);
	if (!err)
		err = flow_files_write_text(store, &flow->text);
	return err ? err : keep_phases(store, &flow->state, true);
}

int flow_files_prepare(struct flow *flow, struct store *store)
{
	struct strbuf plan = STRBUF_INIT;
	int err = fs_ensure_dir(store->dirfd, NEXT, 0700);

	flow_plan_print(&plan, &flow->plan);
	strbuf_reset(&flow->text);
	flow_state_print(&flow->text, &flow->state);
	if (!err)
		err = write_text(store, NEXT "/" PLAN, &plan);
	if (!err)
		err = write_text(store, NEXT "/" STATE, &flow->text);
	strbuf_release(&plan);
	return err;
}

/* A directory without its state is none; it may be in the way. */
static int make_live(struct store *store, const char *from)
{
	int err = fs_remove_tree(store->dirfd, LIVE);

	return err ? err : fs_rename(store->dirfd, from, LIVE, "checkpoint", FS_DURABLE);
}

int flow_files_settle(struct store *store)
{
	if (is_workflow(store, NEXT) && !is_workflow(store, LIVE))
		return make_live(store, NEXT);
	return fs_remove_tree(store->dirfd, NEXT);
}

/* --- the archive --- */

enum {
	NUMBER = 6,		  /* digits */
	TIME = 15,		  /* "20260930_123456" */
	HEAD = NUMBER + 1 + TIME, /* then "_<workflow>" or ".corrupt" */
};

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

int flow_files_archive(char **path_out, struct store *store, const struct flow *flow)
{
	static const struct strlist none;
	struct strlist names = STRLIST_INIT;
	char when[CLOCK_ISO_SIZE], *path;
	int err = list_names(&names, store);
	unsigned long last = names.nr ? strtoul(names.items[names.nr - 1], NULL, 10) : 0;

	path = xstrfmt(ARCHIVE "/%0*lu_%s%s%s", NUMBER, last + 1,
		       clock_format_id(when, clock_now()), flow ? "_" : ".corrupt",
		       flow ? flow->state.workflow_id : "");
	if (!err)
		err = fs_ensure_dir(store->dirfd, ARCHIVE, 0700);
	if (!err)
		err = fs_rename(store->dirfd, LIVE, path, ARCHIVE, FS_DURABLE);
	if (!err)
		err = fs_sync_dir(store->dirfd, "checkpoint");
	if (!err)
		err = keepers_set(store, KEEPER_FLOW, &none, true);
	if (!err)
		*path_out = xstrfmt("%s/%s", store->path, path);
	strlist_release(&names);
	free(path);
	return err;
}

void flow_archives_release(struct flow_archives *archives)
{
	for (size_t i = 0; i < archives->nr; i++) {
		free(archives->items[i].path);
		flow_state_release(&archives->items[i].state);
	}
	free(archives->items);
	memset(archives, 0, sizeof(*archives));
}

/* Even if the plan cannot be used, the state tells which one it was. */
static void read_archive(struct flow_archive *out, struct store *store, const char *name)
{
	char *path = xstrfmt(ARCHIVE "/%s/" STATE, name);
	struct strbuf text = STRBUF_INIT;

	memset(out, 0, sizeof(*out));
	(void)parse_name(&out->archived_at, &out->corrupt, name);
	out->path = xstrfmt("%s/" ARCHIVE "/%s", store->path, name);
	out->readable = !fs_read_file(&text, store->dirfd, path) &&
			!flow_state_parse(&out->state, text.buf, text.len);
	strbuf_release(&text);
	free(path);
}

int flow_archives_read(struct flow_archives *out, struct store *store)
{
	struct strlist names = STRLIST_INIT;
	int err = list_names(&names, store);

	memset(out, 0, sizeof(*out));
	out->items = xcalloc(names.nr + 1, sizeof(*out->items));
	for (; !err && out->nr < names.nr; out->nr++)
		read_archive(&out->items[out->nr], store, names.items[out->nr]);
	strlist_release(&names);
	return err;
}

int flow_files_take_back(struct flow *out, struct store *store, const struct flow_archive *archive)
{
	const char *place = archive->path + strlen(store->path) + 1;
	int fd = open_dir(store, place);
	int err = fd < 0 ? ckpt_error_errno("unable to open '%s'", archive->path) :
			   read_dir(out, fd);

	fs_close(fd);
	if (err == CKPT_ECORRUPT)
		err = ckpt_error_prefix(err, "the state in '%s' cannot be read", archive->path);
	if (!err)
		err = keep_phases(store, &out->state, true);
	if (!err)
		err = make_live(store, place);
	return err ? err : fs_sync_dir(store->dirfd, ARCHIVE);
}

void flow_files_trim(struct store *store)
{
	struct strlist names = STRLIST_INIT;
	size_t kept = 0;

	(void)list_names(&names, store);
	for (size_t i = names.nr; i--;) {
		char *path = xstrfmt(ARCHIVE "/%s", names.items[i]);
		int64_t when;
		bool corrupt = false;

		(void)parse_name(&when, &corrupt, names.items[i]);
		if (!corrupt && ++kept > FLOW_ARCHIVES_MAX)
			(void)fs_remove_tree(store->dirfd, path);
		free(path);
	}
	strlist_release(&names);
}
