/* SPDX-License-Identifier: MIT */
#include "keep/retain_internal.h"

#include "base/base.h"
#include "keep/reclaim.h"
#include "keep/stock_internal.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"

int retain_fetched_let_go(struct store *store, const char *action, const struct fetched_item *item)
{
	char *what = xstrfmt("%s/%s", item->machine, item->ref.id);

	/* No id, as when they were fetched: the trail is about those of this store. */
	(void)audit_add(store, action, NULL, &item->ref.commit, what, NULL);
	free(what);
	return fetched_remove(store, item);
}

bool retain_drop_fetched(struct session *session)
{
	const struct keepers *keepers;
	struct reclaim_result result;
	struct fetched_list list = { 0 };
	bool dropped = false;

	/* An interrupted restore may lead to one, and another process may be copying one. */
	if (!reclaim_sweep_keepers(session) && !keepers_read(&keepers, session->store))
		(void)fetched_list(&list, session->store);
	for (size_t i = 0; i < list.nr; i++)
		if (!keepers_need(keepers, &list.items[i].ref))
			dropped |= !retain_fetched_let_go(session->store, "evict", &list.items[i]);
	fetched_release(&list);
	if (dropped)
		(void)reclaim_run(&result, session, RECLAIM_THOROUGH);
	return dropped;
}
