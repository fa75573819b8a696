/* SPDX-License-Identifier: MIT */
#include "remote/remote_check.h"

#include "base/base.h"
#include "look/look.h"
#include "record/record.h"
#include "remote/pushed_internal.h"
#include "remote/remotes.h"
#include "session/session.h"
#include "store/store.h"

struct checking {
	struct session *session;
	struct store *store;
	struct problems *out;
	bool fix;
	progress_fn progress;
};

/* --- files --- */

/* Keep what can be read; what cannot stays beside it, since nobody else has it. */
static int replace(struct checking *checking, const char *name, const struct strbuf *old,
		   const struct strbuf *sound, size_t bad, const char *what)
{
	char *aside = xstrfmt("%s.damaged", name);
	int dirfd = checking->store->dirfd, err = 0;

	if (checking->fix)
		err = fs_write_file(dirfd, aside, old->buf, old->len, 0600, FS_DURABLE);
	if (checking->fix && !err)
		err = fs_write_file(dirfd, name, sound->buf, sound->len, 0600, FS_DURABLE);
	if (!err)
		problems_addf(checking->out, checking->fix, "%zu %s of the list of %s cannot be read%s",
			      bad, bad == 1 ? "line" : "lines", what,
			      checking->fix ? "; the others were kept" : "");
	free(aside);
	return err;
}

static int check_remotes(struct checking *checking)
{
	struct strbuf text = STRBUF_INIT, sound = STRBUF_INIT;
	struct remotes remotes = { 0 };
	size_t bad;
	int err = fs_read_file(&text, checking->store->dirfd, LAYOUT_REMOTES);

	if (!err && remotes_parse(&remotes, text.buf, text.len) == CKPT_ECORRUPT) {
		bad = remotes_salvage(&remotes, text.buf, text.len);
		remotes_format(&sound, &remotes);
		err = replace(checking, LAYOUT_REMOTES, &text, &sound, bad, "remotes");
	}
	remotes_release(&remotes);
	strbuf_release(&text);
	strbuf_release(&sound);
	return err == CKPT_ENOTFOUND ? 0 : err;
}

static int check_pushed(struct checking *checking)
{
	struct strbuf text = STRBUF_INIT, sound = STRBUF_INIT;
	size_t bad = 0;
	int err = fs_read_file(&text, checking->store->dirfd, LAYOUT_PUSHED);

	if (!err)
		bad = pushed_salvage(&sound, text.buf, text.len);
	if (bad)
		err = replace(checking, LAYOUT_PUSHED, &text, &sound, bad, "what was pushed");
	strbuf_release(&text);
	strbuf_release(&sound);
	return err == CKPT_ENOTFOUND ? 0 : err;
}

/* --- what was fetched --- */

static int check_refs(struct checking *checking)
{
	struct strlist bad = STRLIST_INIT;
	int err = fetched_damaged(&bad, checking->store);

	for (size_t i = 0; i < bad.nr && !err; i++) {
		if (checking->fix && unlinkat(checking->store->dirfd, bad.items[i], 0) < 0)
			err = ckpt_error_errno("unable to remove '%s'", bad.items[i]);
		if (!err)
			problems_addf(checking->out, checking->fix, "'%s' leads to no checkpoint%s",
				      bad.items[i], checking->fix ? "; removed" : "");
	}
	strlist_release(&bad);
	return err;
}

static int check_item(struct checking *checking, struct verify *verify,
		      const struct fetched_item *item)
{
	struct verify_result result = { 0 };
	char *name = xstrfmt("%s/%s", item->machine, item->ref.id);
	int err = verify_checkpoint(&result, verify, &item->ref);

	if (!err && result.problems.nr) {
		if (checking->fix)
			err = fetched_remove(checking->store, item);
		if (!err)
			problems_addf(checking->out, checking->fix,
				      "'%s' of another machine is damaged: %s%s; 'git checkpoint fetch "
				      "%s' brings it again",
				      name, result.problems.items[0],
				      checking->fix ? "; removed" : "", name);
	}
	strlist_release(&result.problems);
	free(name);
	return err;
}

static int check_fetched(struct checking *checking)
{
	struct fetched_list list = { 0 };
	struct verify verify;
	int err = fetched_list(&list, checking->store);

	if (!err && list.nr)
		err = objects_reopen(checking->store);
	verify_begin(&verify, checking->session, checking->progress);
	for (size_t i = 0; i < list.nr && !err; i++)
		err = check_item(checking, &verify, &list.items[i]);
	verify_end(&verify);
	fetched_release(&list);
	return err;
}

static void check_scratch(struct checking *checking)
{
	size_t nr = scratch_count(checking->store);

	if (nr && checking->fix)
		scratch_sweep(checking->store);
	if (nr)
		problems_addf(checking->out, checking->fix,
			      "%zu unfinished %s left by a process that was killed%s", nr,
			      nr == 1 ? "transfer was" : "transfers were",
			      checking->fix ? "; removed" : "");
}

static int check_all(struct checking *checking)
{
	int err = check_remotes(checking);

	if (!err)
		err = check_pushed(checking);
	if (!err)
		err = check_refs(checking);
	if (!err)
		err = check_fetched(checking);
	if (!err)
		check_scratch(checking);
	return err;
}

int remote_check(struct problems *out, struct session *session, bool fix, progress_fn progress)
{
	struct checking checking = { session, session->store, out, fix, progress };
	size_t before = out->nr;
	int err = 0;

	if (!session->store)
		return 0;
	if (!fix)
		err = check_all(&checking);
	if (err || (!fix && out->nr == before))
		return err;
	/* Others may have removed meanwhile what seems to be damaged. */
	err = store_lock(session->store, session->settings.lock_timeout);
	if (!err) {
		problems_truncate(out, before);
		err = check_all(&checking);
		store_unlock(session->store);
	}
	/* Without the lock, what was found is all that can be said. */
	return fix || err == CKPT_ECANCELLED ? err : 0;
}
