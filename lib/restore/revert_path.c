/* SPDX-License-Identifier: MIT */
#include "restore/revert_internal.h"

#include "restore/restore.h"
#include "session/session.h"

enum {
	BINARY_LOOK = 8000,   /* as git looks */
	TEXT_MAX = 512 << 20, /* as git's core.bigFileThreshold */
};

/* --- the decision --- */

/* The same kind, contents and permission bits; or both NULL. */
static bool is_same(const struct wt_entry *a, const struct wt_entry *b)
{
	return !a || !b ? a == b
			: a->kind == b->kind && oid_equal(&a->oid, &b->oid) &&
				  (a->kind == WT_LINK || a->mode == b->mode);
}

bool revert_merge_mode(unsigned *out, unsigned base, unsigned now, unsigned then)
{
	*out = now == base ? then : now;
	return now == base || then == base || now == then;
}

static enum revert_do note_conflict(const char **why_out, const char *why)
{
	*why_out = why;
	return REVERT_CONFLICT;
}

enum revert_do revert_decide(const char **why_out, const struct revert_sides *sides)
{
	const struct wt_entry *base = sides->base, *now = sides->now, *then = sides->then;

	if (is_same(now, then))
		return REVERT_NOTHING;
	if (!now)
		return base ? note_conflict(why_out, "modify/delete: deleted since") : REVERT_TAKE;
	if (!base)
		return note_conflict(why_out, !then	    ? "kind: something else since"
					      : sides->pick ? "add/add: created here, too, and not the same"
							    : "add/add: created again since, and not the same");
	if (!then)
		return is_same(now, base)
			       ? REVERT_REMOVE
			       : note_conflict(why_out, sides->pick
								? "modify/delete: deleted by it, changed here"
								: "modify/delete: created by it, changed since");
	if (is_same(now, base))
		return REVERT_TAKE;
	if (is_same(then, base))
		return REVERT_NOTHING;
	if (base->kind != now->kind || base->kind != then->kind)
		return note_conflict(why_out, "kind: a file, a link or a directory since");
	if (base->kind == WT_LINK)
		return note_conflict(why_out, "symlink: leads elsewhere since");
	return REVERT_MERGE;
}

/* --- one path --- */

/* What a path shall be, if nothing contradicts. */
struct outcome {
	enum { FROM_NOW, FROM_THEN, FROM_TEXT } from;
	const struct wt_entry *entry; /* of the contents; the text is merged */
	struct strbuf text;
	unsigned mode;
	bool marked; /* in conflict, but the text says so itself */
};

/* --- room --- */

/* The names on disk are those of the scan. */
static bool is_whole(const struct revert_job *job, const struct wt_dir *dir)
{
	const struct worktree_state *state = compose_state(job->compose);
	struct strlist names = STRLIST_INIT;
	int fd = beneath_open(state->scan->rootfd, dir->path, O_RDONLY | O_DIRECTORY);
	bool whole = fd >= 0 && fs_names(&names, fd, ".", 0, NULL) >= 0 && names.nr == dir->nr;

	strlist_release(&names);
	fs_close(fd);
	return whole;
}

/* Everything in it goes. */
static bool is_emptied(const struct revert_job *job, const struct wt_dir *dir)
{
	bool emptied = is_whole(job, dir);

	for (size_t i = 0; i < dir->nr && emptied; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];
		char *path = xstrfmt("%s/%s", dir->path, entry->name);

		emptied = entry->kind == WT_DIR && entry->dir->nr
				  ? is_emptied(job, entry->dir)
				  : strlist_has(&job->removed, path);
		free(path);
	}
	return emptied;
}

/* A file or a link that stays where a directory is needed. */
static char *blocked_by(const struct revert_job *job, const char *path)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		char *dir = xmemdupz(path, (size_t)(slash - path));
		const struct wt_entry *entry = compose_now(job->compose, dir);

		if (entry && entry->kind != WT_DIR && !strlist_has(&job->removed, dir))
			return dir;
		free(dir);
	}
	return NULL;
}

/* What is in the way of something new at `path`, or NULL; the caller frees it. */
static char *find_obstacle(const struct revert_job *job, const char *path)
{
	const struct wt_entry *now = compose_now(job->compose, path);
	char *blocked = blocked_by(job, path), *why = NULL;
	const char *what;

	if (blocked)
		why = xstrfmt("in the way: '%s' is not a directory", blocked);
	else if (now && now->kind == WT_DIR && !is_emptied(job, now->dir))
		why = xstrdup("in the way: a directory that is not empty");
	else if (now && now->kind != WT_DIR && !strlist_has(&job->removed, path))
		why = xstrdup("in the way: something that was created since");
	else if (!now && compose_is_hidden(&what, job->compose, path))
		why = xstrfmt("in the way: a %s that checkpoints leave out", what);
	free(blocked);
	return why;
}

bool revert_has_room(struct revert_job *job, const char *path)
{
	const struct wt_entry *now = compose_now(job->compose, path);
	char *why = find_obstacle(job, path);
	bool room = !why;

	if (why)
		revert_keep(job, path, why);
	/* If it cannot become a file, what is in it stays, too. */
	if (why && now && now->kind == WT_DIR)
		compose_forget(job->compose, path, true);
	free(why);
	return room;
}

bool revert_is_tangled(struct revert_job *job, const char *path, const char *dest)
{
	const struct wt_entry *there = compose_now(job->compose, dest);
	char *why;

	if (there && there->kind != WT_DIR)
		return false;
	strlist_add(&job->removed, path);
	why = find_obstacle(job, dest);
	free(job->removed.items[--job->removed.nr]);
	free(why);
	return why != NULL;
}

/* --- directories --- */

int revert_make_parents(struct revert_job *job, const char *path)
{
	int err = 0;

	for (const char *slash = strchr(path, '/'); slash && !err; slash = strchr(slash + 1, '/')) {
		char *dir = xmemdupz(path, (size_t)(slash - path));
		const struct wt_entry *now = compose_now(job->compose, dir);
		struct wt_entry *then = NULL;

		err = snapshot_find(&then, job->from, dir);
		if (!err && then && then->kind == WT_DIR && (!now || now->kind != WT_DIR))
			compose_put_dir(job->compose, dir, then->mode);
		free(dir);
	}
	return err;
}

int revert_remove(struct revert_job *job, const char *path)
{
	char *dir = xstrdup(path), *slash;
	struct wt_entry *then = NULL;
	int err = 0;

	compose_remove(job->compose, path);
	strlist_add(&job->removed, path);
	while (!err && (slash = strrchr(dir, '/'))) {
		*slash = '\0';
		err = snapshot_find(&then, job->from, dir);
		if (err || (then && then->kind == WT_DIR))
			break;
		/* A file was there then: it takes the place of the directory, if that is empty. */
		if (!then)
			compose_remove(job->compose, dir);
	}
	free(dir);
	return err;
}

/* --- three sides --- */

static int find_file(const struct wt_entry **out, struct snapshot *snapshot, const char *path)
{
	struct wt_entry *entry = NULL;
	int err = snapshot_find(&entry, snapshot, path);

	*out = entry && entry->kind != WT_DIR ? entry : NULL;
	return err;
}

/* Whether one of the three is so large that it must not even be read into memory. */
static int check_sizes(bool *large_out, const struct revert_job *job,
		       const struct revert_sides *sides)
{
	struct store *store = job->revert->session->store;
	uint64_t base = 0, then = 0;
	int err = objects_size(&base, store, &sides->base->oid);

	if (!err)
		err = objects_size(&then, store, &sides->then->oid);
	*large_out = base > TEXT_MAX || then > TEXT_MAX || sides->now->st.size > TEXT_MAX;
	return err;
}

static int read_three(struct strbuf three[3], struct revert_job *job,
		      const struct revert_sides *sides, const char *now_path)
{
	struct store *store = job->revert->session->store;
	int err = objects_read(&three[0], store, &sides->base->oid, OBJECT_BLOB);

	if (!err)
		err = compose_read(&three[1], job->compose, now_path);
	return err ? err : objects_read(&three[2], store, &sides->then->oid, OBJECT_BLOB);
}

static bool is_binary(const struct strbuf *text)
{
	size_t look = text->len < BINARY_LOOK ? text->len : BINARY_LOOK;

	return text->len > TEXT_MAX || (look && memchr(text->buf, 0, look));
}

static git_merge_file_input merge_input(const struct strbuf *text)
{
	git_merge_file_input in = GIT_MERGE_FILE_INPUT_INIT;

	in.ptr = text->len ? text->buf : "";
	in.size = text->len;
	in.path = "file"; /* named by labels */
	in.mode = 0100644;
	return in;
}

int revert_merge_text(struct revert_text *out, const struct strbuf three[3], const char *label)
{
	git_merge_file_options opts = GIT_MERGE_FILE_OPTIONS_INIT;
	git_merge_file_input base = merge_input(&three[0]), now = merge_input(&three[1]),
			     then = merge_input(&three[2]);
	git_merge_file_result result = { 0 };
	int err, rc;

	out->binary = is_binary(&three[0]) || is_binary(&three[1]) || is_binary(&three[2]);
	if (out->binary)
		return 0;
	err = libgit2_begin();
	if (err)
		return err;
	opts.ancestor_label = "base";
	opts.our_label = "now";
	opts.their_label = label;
	opts.flags = GIT_MERGE_FILE_STYLE_MERGE;
	rc = libgit2.merge_file(&result, &base, &now, &then, &opts);
	if (rc < 0)
		return libgit2_error(rc, "unable to merge");
	out->clean = result.automergeable;
	strbuf_add(&out->text, result.len ? result.ptr : "", result.len);
	libgit2.merge_file_result_free(&result);
	return 0;
}

static int merge_text(struct outcome *out, const char **why, struct revert_job *job,
		      const struct revert_sides *sides, const char *now_path)
{
	struct strbuf three[3] = { STRBUF_INIT, STRBUF_INIT, STRBUF_INIT };
	struct revert_text merged = { .text = STRBUF_INIT };
	int err = check_sizes(&merged.binary, job, sides);

	if (!err && !merged.binary)
		err = read_three(three, job, sides, now_path);
	if (!err && !merged.binary)
		err = revert_merge_text(&merged, three, job->revert->from->id);
	if (!err && !merged.clean)
		*why = merged.binary ? "binary: changed since"
				     : "content: the same lines changed since";
	out->from = FROM_TEXT;
	out->text = merged.text;
	out->marked = !err && !merged.binary && !merged.clean && job->revert->markers;
	for (size_t i = 0; i < ARRAY_SIZE(three); i++)
		strbuf_release(&three[i]);
	return err;
}

static int merge_sides(struct outcome *out, const char **why, struct revert_job *job,
		 const struct revert_sides *sides, const char *now_path)
{
	const struct wt_entry *base = sides->base, *now = sides->now, *then = sides->then;
	bool modes = revert_merge_mode(&out->mode, base->mode, now->mode, then->mode);
	int err = 0;

	if (oid_equal(&now->oid, &base->oid)) {
		out->from = FROM_THEN;
		out->entry = then;
	} else if (!oid_equal(&then->oid, &base->oid) && !oid_equal(&then->oid, &now->oid)) {
		err = merge_text(out, why, job, sides, now_path);
	}
	/* Never half of it. */
	if (!modes) {
		*why = *why ? *why : "mode: changed since";
		out->marked = false;
	}
	return err;
}

/* `why` is set: it is a conflict. */
static int resolve_path(struct outcome *out, const char **why, struct revert_job *job,
		   const struct revert_sides *sides, const char *now_path)
{
	*out = (struct outcome){ .from = FROM_NOW, .entry = sides->now, .text = STRBUF_INIT };
	if (sides->now)
		out->mode = sides->now->mode;
	switch (revert_decide(why, sides)) {
	case REVERT_TAKE:
		out->from = FROM_THEN;
		out->entry = sides->then;
		out->mode = sides->then->mode;
		break;
	case REVERT_MERGE:
		return merge_sides(out, why, job, sides, now_path);
	default:
		break;
	}
	return 0;
}

/* --- what is written --- */

static int put_outcome(struct revert_job *job, const struct outcome *outcome, const char *now_path,
	       const char *dest)
{
	struct compose *compose = job->compose;
	const struct wt_entry *entry = outcome->entry;
	struct strbuf text = STRBUF_INIT;
	int err = 0;

	if (outcome->from == FROM_TEXT) {
		compose_put(compose, dest, WT_FILE, outcome->mode, outcome->text.buf,
			    outcome->text.len);
	} else if (outcome->from == FROM_NOW && !strcmp(now_path, dest)) {
		if (entry->kind == WT_FILE && entry->mode != outcome->mode)
			compose_set_mode(compose, dest, outcome->mode);
	} else if (outcome->from == FROM_NOW && entry->st.size <= CHOOSE_READ_MAX) {
		/* It may be in no checkpoint yet. */
		err = compose_read(&text, compose, now_path);
		if (!err)
			compose_put(compose, dest, entry->kind, outcome->mode, text.buf, text.len);
	} else {
		compose_put_entry(compose, dest, entry, outcome->mode);
	}
	strbuf_release(&text);
	return err;
}

/* To another name; the old one goes. */
static int move_file(struct revert_job *job, const struct outcome *outcome, const char *now_path,
		const char *dest)
{
	const struct wt_entry *there = compose_now(job->compose, dest);
	int err;

	if (there && there->kind == outcome->entry->kind && outcome->from != FROM_TEXT &&
	    oid_equal(&there->oid, &outcome->entry->oid) && there->mode == outcome->mode)
		return revert_remove(job, now_path);
	if (there && there->kind != WT_DIR && !strlist_has(&job->removed, dest)) {
		revert_keep(job, dest, job->revert->pick ? "rename/add: its new name is taken here"
						  : "rename/add: its old name is taken since");
		revert_keep(job, now_path, job->revert->pick ? "rename/add: it keeps its old name"
							     : "rename/add: it keeps its new name");
		return 0;
	}
	/* The old name may be what is in the way of the new one. */
	strlist_add(&job->removed, now_path);
	if (!revert_has_room(job, dest)) {
		free(job->removed.items[--job->removed.nr]);
		return 0;
	}
	err = revert_remove(job, now_path);
	if (!err)
		err = revert_make_parents(job, dest);
	return err ? err : put_outcome(job, outcome, now_path, dest);
}

static int create_file(struct revert_job *job, const struct outcome *outcome, const char *path)
{
	int err;

	if (!revert_has_room(job, path))
		return 0;
	err = revert_make_parents(job, path);
	return err ? err : put_outcome(job, outcome, path, path);
}

static int finish_path(struct revert_job *job, const struct revert_sides *sides, const char *now_path,
		  const char *dest)
{
	struct outcome outcome;
	const char *why = NULL;
	int err = resolve_path(&outcome, &why, job, sides, now_path);

	if (err)
		;
	else if (why && !outcome.marked)
		revert_keep(job, now_path, why);
	else if (!sides->then && sides->now)
		err = revert_remove(job, now_path);
	else if (!sides->then)
		; /* it is gone already */
	else if (!sides->now)
		err = create_file(job, &outcome, dest);
	else if (strcmp(now_path, dest))
		err = move_file(job, &outcome, now_path, dest);
	else
		err = put_outcome(job, &outcome, now_path, dest);
	if (!err && why && outcome.marked && !strlist_has(&job->conflict, dest))
		compose_conflict(job->compose, dest,
				 "content: the same lines changed since; marked in the file");
	strbuf_release(&outcome.text);
	return err ? ckpt_error_prefix(err, "'%s'", now_path) : 0;
}

/* It is not where it was; perhaps somewhere else. */
static int follow_path(struct revert_job *job, struct revert_sides *sides, const char *path,
		  const char *then_path)
{
	bool moved = strcmp(path, then_path) != 0;
	const char *renamed = NULL;
	int err;

	if (compose_is_hidden(NULL, job->compose, path)) {
		revert_keep(job, path, "in the way: checkpoints leave out what is there now");
		return 0;
	}
	err = revert_renamed(&renamed, job, path);
	if (err)
		return err;
	if (!renamed && moved) {
		revert_keep(job, path, "rename/delete: renamed by it, deleted since");
	} else if (!renamed) {
		return finish_path(job, sides, path, path);
	} else if (!sides->then) {
		revert_keep(job, renamed, job->revert->pick ? "rename/delete: deleted by it, renamed here"
							    : "rename/delete: created by it, renamed since");
	} else if (moved && strcmp(renamed, then_path)) {
		revert_keep(job, renamed, "rename/rename: renamed by it, and again since");
	} else {
		sides->now = compose_now(job->compose, renamed);
		return finish_path(job, sides, renamed, renamed);
	}
	return 0;
}

int revert_path(struct revert_job *job, const char *path, const char *then_path)
{
	const struct wt_entry *now = compose_now(job->compose, path);
	bool is_dir = now && now->kind == WT_DIR;
	struct revert_sides sides = { .now = is_dir ? NULL : now, .pick = job->revert->pick };
	int err = find_file(&sides.base, job->to, path);

	if (!err)
		err = find_file(&sides.then, job->from, then_path);
	if (err)
		return err;
	if (is_dir && sides.base) {
		revert_keep(job, path, "kind: a file, a link or a directory since");
		return 0;
	}
	return sides.now || !sides.base ? finish_path(job, &sides, path, then_path)
					: follow_path(job, &sides, path, then_path);
}
