/* SPDX-License-Identifier: MIT */
#include "retention/retain.h"

#include "base/base.h"
#include "record/record.h"
#include "retention/reclaim.h"
#include "session/session.h"
#include "store/store.h"

bool retain_drop_fetched(struct session *session)
{
	struct reclaim_result result;
	struct fetched_list list;
	bool dropped = false;

	if (fetched_list(&list, session->store))
		return false;
	for (size_t i = 0; i < list.nr; i++) {
		char *what = xstrfmt("%s/%s", list.items[i].machine, list.items[i].ref.id);

		/* No id, as when they were fetched: the trail is about those of this store. */
		(void)audit_add(session->store, "evict", NULL, &list.items[i].ref.commit, what, NULL);
		dropped |= !fetched_remove(session->store, &list.items[i]);
		free(what);
	}
	fetched_release(&list);
	if (dropped)
		(void)reclaim_run(&result, session, RECLAIM_THOROUGH);
	return dropped;
}
