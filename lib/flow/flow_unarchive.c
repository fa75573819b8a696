/* SPDX-License-Identifier: MIT */
#include "flow/flow.h"

#include "base/base.h"
#include "flow/flow_internal.h"
#include "record/record.h"
#include "session/session.h"

static const struct flow_archive *find_archived(const struct flow_archives *archives,
						const char *id)
{
	for (size_t i = archives->nr; i--;) {
		const struct flow_archive *item = &archives->items[i];

		if (!id || !strcmp(strrchr(item->path, '/') + 1, id) ||
		    (item->readable && !strcmp(item->state.workflow_id, id)))
			return item;
	}
	return NULL;
}

/* There is no live one, so an error leaves none. */
static int take_back(struct flow_result *out, struct session *session,
		     const struct flow_archive *item)
{
	int err = flow_archive_put_back(session->store, item);

	if (!err)
		err = flow_read(&out->flow, session->store);
	if (err) {
		char *kept = ckpt_error_keep();

		(void)flow_remove(session->store);
		return ckpt_error_put_back(err, kept);
	}
	out->changed = true;
	/* If it stays, it counts as a copy of the live one. */
	(void)flow_archive_remove(session->store, item);
	return 0;
}

static int unarchive_locked(struct flow_result *out, struct session *session, const char *id)
{
	struct flow_archives archives = { 0 };
	const struct flow_archive *item;
	struct flow live = FLOW_INIT;
	int read = flow_read(&live, session->store), err = read;

	if (err != CKPT_ENOTFOUND) {
		if (!err)
			err = ckpt_error_set(CKPT_EREFUSED,
					     "there is a workflow, '%s'; 'git checkpoint flow "
					     "archive' archives it first",
					     live.state.workflow_id);
		if (!read || read == CKPT_ECORRUPT)
			flow_release(&live);
		return err;
	}
	err = flow_archives_read(&archives, session->store);
	item = err ? NULL : find_archived(&archives, id);
	if (item)
		err = take_back(out, session, item);
	else if (!err)
		err = id ? ckpt_error_set(CKPT_ENOTFOUND,
					  "no workflow '%s' is archived; see 'git "
					  "checkpoint flow list'",
					  id)
			 : ckpt_error_set(CKPT_ENOTFOUND, "no workflow is archived");
	flow_archives_release(&archives);
	return err;
}

int flow_unarchive(struct flow_result *out, struct session *session, const char *id)
{
	int err;

	flow_result_init(out);
	err = flow_lock(session);
	return err ? err : flow_close(out, session, unarchive_locked(out, session, id));
}
