/* SPDX-License-Identifier: MIT */
#include "look/diff.h"

#include "session/session.h"

/* A larger patch is of no use. */
#define CONTENT_MAX (64ULL << 20)

struct compare_side diff_side(struct snapshot *snapshot)
{
	static const struct modes usual = { .file = 0644, .exec = 0755, .dir = 0755 };

	if (!snapshot)
		return (struct compare_side){ .modes = &usual };
	return (struct compare_side){ .root = snapshot->root,
				      .snapshot = snapshot,
				      .modes = &snapshot->modes };
}

static bool is_meant(const char *path, bool is_dir, void *payload)
{
	return pathspec_matches(payload, path, is_dir);
}

static bool is_entered(const char *dir, void *payload)
{
	return pathspec_enters(payload, dir);
}

int diff_compare(struct compare_list *out, const struct compare_side *before,
		 const struct compare_side *after, const struct pathspec *only)
{
	const struct compare_limit limit = { is_meant, is_entered, (void *)only };

	return compare_run_within(out, before, after,
				  only && !pathspec_is_empty(only) ? &limit : NULL);
}

int diff_checkpoints(struct diff *out, struct session *session, const struct ckpt_record *old,
		     const struct ckpt_record *new, const struct pathspec *only)
{
	struct compare_side before, after;
	int err = 0;

	memset(out, 0, sizeof(*out));
	out->session = session;
	if (old)
		err = snapshot_open(&out->old, session->store, old);
	if (!err)
		err = snapshot_open(&out->new, session->store, new);
	if (!err) {
		before = diff_side(out->old);
		after = diff_side(out->new);
		err = diff_compare(&out->changes, &before, &after, only);
	}
	if (err)
		diff_release(out);
	return err;
}

/* --- files that the checkpoint has and the rules now leave out --- */

/*
 * A file that is listed as deleted but exists: it was captured, and is now
 * ignored or looks like a secret. Correct the change. False: unchanged.
 */
static bool settle_present(struct change *change, int rootfd)
{
	struct strbuf content = STRBUF_INIT;
	struct stat st;
	bool differs = true;

	if (!beneath_read(&content, &st, rootfd, change->path, CONTENT_MAX)) {
		struct digest *sha1 = hash_new(HASH_SHA1);
		bool link = S_ISLNK(st.st_mode);

		change->new_mode = link ? 0120000 : 0100000u | (st.st_mode & 07777);
		hash_object(sha1, &change->new_oid, "blob", content.buf, content.len);
		hash_free(sha1);
		change->kind = (change->old_mode ^ change->new_mode) & 0170000 ? CHANGE_TYPE :
										 CHANGE_MODIFIED;
		differs = change->old_mode != change->new_mode ||
			  !oid_equal(&change->old_oid, &change->new_oid);
	}
	strbuf_release(&content);
	return differs;
}

/* The same for a directory that is empty in the checkpoint: its current contents are left out. */
static bool settle_dir(struct change *change, int rootfd)
{
	const char *name;
	int dirfd = beneath_open_parent(rootfd, change->path, &name);
	struct stat st;
	bool differs = true;

	if (dirfd < 0)
		return true;
	if (!fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode)) {
		change->new_mode = 0040000u | (st.st_mode & 07777);
		change->kind = CHANGE_MODIFIED;
		differs = change->old_mode != change->new_mode;
	}
	close(dirfd);
	return differs;
}

static bool settle_deleted(struct change *change, void *payload)
{
	int rootfd = *(int *)payload;

	return change->kind != CHANGE_DELETED ||
	       (change->is_dir ? settle_dir : settle_present)(change, rootfd);
}

/* Scan with the rules of `old`. */
static int scan_worktree(struct diff *out, const struct ckpt_record *old, progress_fn progress)
{
	struct worktree_state_opts opts = {
		.scope = &old->scope,
		.include_ignored = old->include_ignored,
		.include_sensitive = old->include_sensitive,
		.held = out->old,
		.no_limit = true,
		.progress = progress,
	};
	struct ref_list refs = { 0 };
	int err = refs_list(&refs, out->session->store);

	if (!err)
		err = worktree_state_scan(&out->current, out->session, &refs, &opts);
	if (!err)
		err = worktree_state_read(&out->current, NULL);
	if (!err)
		err = modes_of_tree(&out->modes, out->current.scan->root);
	out->include_ignored = old->include_ignored;
	out->include_sensitive = old->include_sensitive;
	refs_release(&refs);
	return err;
}

static int compare_worktree(struct diff *out, const struct pathspec *only)
{
	struct compare_side before = diff_side(out->old);
	struct compare_side after = { .root = out->current.scan->root, .modes = &out->modes };
	int err = diff_compare(&out->changes, &before, &after, only);

	if (!err)
		compare_list_filter(&out->changes, settle_deleted, &out->current.scan->rootfd);
	return err;
}

int diff_worktree(struct diff *out, struct session *session, const struct ckpt_record *old,
		  const struct pathspec *only, progress_fn progress)
{
	int err;

	memset(out, 0, sizeof(*out));
	out->session = session;
	err = snapshot_open(&out->old, session->store, old);
	if (!err)
		err = scan_worktree(out, old, progress);
	if (!err)
		err = compare_worktree(out, only);
	if (err)
		diff_release(out);
	return err;
}

int diff_worktree_again(struct diff *diff, const struct ckpt_record *old, progress_fn progress)
{
	bool same = !diff->current.scoped && !old->scope.nr &&
		    diff->include_ignored == old->include_ignored &&
		    diff->include_sensitive == old->include_sensitive;
	struct session *session = diff->session;
	int err;

	if (!same) {
		diff_release(diff);
		return diff_worktree(diff, session, old, NULL, progress);
	}
	compare_list_release(&diff->changes);
	snapshot_free(diff->old);
	diff->old = NULL;
	err = snapshot_open(&diff->old, session->store, old);
	return err ? err : compare_worktree(diff, NULL);
}

/* The newest checkpoint before `record` that has the same scope; CKPT_ENOTFOUND if there is none. */
static int find_previous(struct ckpt_record *out, struct session *session, const struct ckpt_record *record)
{
	struct ref_list refs;
	size_t nr = 0;
	int err = refs_list(&refs, session->store);

	if (err)
		return err;
	while (nr < refs.nr && strcmp(refs.items[nr].id, record->id))
		nr++;
	refs.nr = nr;
	err = record->state_only ? lookup_newest_state(out, session->store, &refs)
				 : lookup_newest_meant(out, session->store, &refs,
						       &record->scope);
	refs_release(&refs);
	return err;
}

/* It is of the same machine, and there it has an id that one of this store may have, too. */
static char *name_base(const struct ckpt_record *record)
{
	return record->machine ? xstrfmt("%s/%s", record->machine, record->base)
			       : xstrdup(record->base);
}

int diff_base(struct ckpt_record *out, struct session *session, const struct ckpt_record *record)
{
	char *name;
	int err;

	if (!record->base)
		return ckpt_error_set(CKPT_ENOTFOUND, "there is no checkpoint before '%s'",
				      record->id);
	name = name_base(record);
	if (!record->machine && !refs_exist(session->store, record->base))
		err = CKPT_ENOTFOUND;
	else
		err = lookup_name(out, session->store, name);
	free(name);
	if (err == CKPT_ENOTFOUND)
		err = ckpt_error_set(err, "the checkpoint before '%s' is gone", record->id);
	/* Damage stays confined to the checkpoint that it hit. */
	if (err == CKPT_ECORRUPT)
		err = ckpt_error_set(CKPT_ENOTFOUND, "the checkpoint before '%s' is damaged",
				     record->id);
	return err;
}

char *diff_no_base(struct session *session, const struct ckpt_record *record, const char *command)
{
	struct ckpt_record older = CKPT_RECORD_INIT;
	bool range = !strcmp(command, "revert");
	const char *dots = range ? ".." : " ";
	const char *name = record->machine || find_previous(&older, session, record) ? "<older>"
										     : older.id;
	char *text, *base = record->base ? name_base(record) : NULL;

	if (base && record->machine)
		text = xstrfmt("the checkpoint before '%s', '%s', is not here; 'git checkpoint fetch "
			       "%s' brings it",
			       record->id, base, base);
	else if (base)
		text = xstrfmt("the checkpoint before '%s', '%s', is %s; 'git checkpoint %s "
			       "%s%s%s' %s what changed since an older one",
			       record->id, base,
			       refs_exist(session->store, base) ? "damaged" : "gone", command,
			       name, dots, record->id, range ? "takes back" : "shows");
	else
		text = xstrfmt("'%s' is the first of its kind: it is not known what it changed; "
			       "'git checkpoint %s %s%s%s' %s what changed since an older one",
			       record->id, command, name, dots, record->id,
			       range ? "takes back" : "shows");
	record_release(&older);
	free(base);
	return text;
}

/* Removed, or replaced by something else. */
static bool is_gone(int rootfd, const char *path)
{
	const char *name;
	int dirfd = beneath_open_parent(rootfd, path, &name);
	struct stat st;
	bool gone = dirfd < 0 ? errno == ENOENT || errno == ENOTDIR || errno == ELOOP :
				fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ?
				errno == ENOENT :
				!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode);

	fs_close(dirfd);
	return gone;
}

void diff_turn(struct diff *diff)
{
	for (size_t i = 0; i < diff->changes.nr; i++) {
		struct change *change = &diff->changes.items[i];
		struct change was = *change;

		change->kind = was.kind == CHANGE_ADDED	    ? CHANGE_DELETED
			       : was.kind == CHANGE_DELETED ? CHANGE_ADDED
							    : was.kind;
		change->old_mode = was.new_mode;
		change->new_mode = was.old_mode;
		change->old_oid = was.new_oid;
		change->new_oid = was.old_oid;
	}
	diff->turned = !diff->turned;
}

int diff_content(struct strbuf *out, uint64_t *too_large_out, struct diff *diff,
		 const struct change *change, enum diff_side side)
{
	const struct oid *oid = side == DIFF_OLD ? &change->old_oid : &change->new_oid;
	struct store *store = diff->session->store;
	uint64_t size = 0;
	struct stat st;
	int err;

	*too_large_out = 0;
	if (diff->staged)
		return staged_content(out, diff, change, side);
	if (side == (diff->turned ? DIFF_OLD : DIFF_NEW) && !diff->new && !diff->stored) {
		err = beneath_read(out, &st, diff->current.scan->rootfd, change->path,
				   CONTENT_MAX);
		/* It existed and may be removed at any time: then it has no contents now. */
		if (err && is_gone(diff->current.scan->rootfd, change->path)) {
			strbuf_reset(out);
			return 0;
		}
		if (!err && S_ISREG(st.st_mode) && (uint64_t)st.st_size > CONTENT_MAX)
			*too_large_out = (uint64_t)st.st_size;
		return err;
	}
	err = objects_size(&size, store, oid);
	if (!err && size > CONTENT_MAX)
		*too_large_out = size;
	else if (!err)
		err = objects_read(out, store, oid, OBJECT_BLOB);
	return err;
}

void diff_release(struct diff *diff)
{
	compare_list_release(&diff->changes);
	staged_free(diff->staged);
	modes_release(&diff->modes);
	worktree_state_release(&diff->current);
	snapshot_free(diff->old);
	snapshot_free(diff->new);
	memset(diff, 0, sizeof(*diff));
}
