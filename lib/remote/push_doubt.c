/* SPDX-License-Identifier: MIT */
#include "remote/push.h"

#include "base/base.h"
#include "git/git.h"
#include "record/record.h"
#include "remote/flat_internal.h"
#include "session/session.h"
#include "store/store.h"

/* Whether one of the project's remotes has that file, as far as is known here: with these bytes. */
static int is_published(bool *out, struct flat *flat, const struct strlist *tips, const char *path)
{
	const struct wt_entry *entry = wt_find(flat->snapshot->root, path);
	const struct gitrun how = { .gitdir = flat->session->repo->gitdir };
	struct strbuf answer = STRBUF_INIT;
	char hex[OID_HEX + 1];
	int err = 0;

	*out = false;
	oid_hex(hex, &entry->oid);
	for (size_t i = 0; i < tips->nr && !*out && !err; i++) {
		const char *const args[] = { "ls-tree", "-z", "--full-tree", tips->items[i], "--",
					     path, NULL };

		strbuf_reset(&answer);
		err = askgit(&answer, &how, args);
		*out = !err && strstr(answer.buf, hex);
	}
	strbuf_release(&answer);
	return err;
}

static int list_tips(struct strlist *out, const struct session *session)
{
	const char *const args[] = { "for-each-ref", "--format=%(objectname)", "refs/remotes", NULL };
	const struct gitrun how = { .gitdir = session->repo->gitdir };
	struct strbuf answer = STRBUF_INIT;
	char *line, *rest = NULL;
	int err = askgit(&answer, &how, args);

	for (line = err ? NULL : strtok_r(answer.buf, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		strlist_add(out, line);
	strlist_sort_unique(out);
	strbuf_release(&answer);
	return err;
}

/* Tracked files that look like secrets are captured: are they public already? */
static int find_secret(char **out, struct session *session, const struct ckpt_record *record)
{
	static const struct strlist none = STRLIST_INIT;
	struct flat flat = { .session = session };
	struct strlist ignored = STRLIST_INIT, secret = STRLIST_INIT, tips = STRLIST_INIT;
	struct ckpt_record all = *record;
	int err = objects_open(session->store);

	if (!err)
		err = snapshot_open(&flat.snapshot, session->store, record);
	if (!err)
		err = snapshot_expand_all(flat.snapshot, flat.snapshot->root);
	all.include_sensitive = true; /* look, whatever was asked for */
	if (!err)
		err = flat_find_ignored(&ignored, &secret, &flat, &all, &none);
	if (!err && secret.nr && session->repo)
		err = list_tips(&tips, session);
	for (size_t i = 0; i < secret.nr && !err && !*out; i++) {
		bool published = false;

		if (session->repo)
			err = is_published(&published, &flat, &tips, secret.items[i]);
		if (!err && !published)
			*out = xstrfmt("'%s' in it looks like a secret, and no remote of the "
				       "project has it",
				       secret.items[i]);
	}
	snapshot_free(flat.snapshot);
	strlist_release(&ignored);
	strlist_release(&secret);
	strlist_release(&tips);
	return err;
}

int push_doubt(char **out, struct session *session, const struct ckpt_record *record)
{
	*out = NULL;
	if (record->include_sensitive)
		*out = xstrdup("it was taken with --include-sensitive");
	else if (record->include_ignored)
		*out = xstrdup("it was taken with --include-ignored");
	else if (record->captures.nr)
		*out = xstrfmt("it has the capture '%s'", record->captures.items[0].name);
	if (*out || record->state_only)
		return 0;
	return find_secret(out, session, record);
}
