/* SPDX-License-Identifier: MIT */
#include "keep/retain.h"

#include "base/base.h"
#include "keep/retain_internal.h"
#include "keep/stock_internal.h"
#include "keep/tally_internal.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"

bool retain_lacks_room(struct session *session, uint64_t need)
{
	return retain_bytes_over(session, session->settings.max_size, need) > 0;
}

int retain_too_large(struct session *session, bool damaged)
{
	char budget[UNITS_SIZE];

	if (damaged)
		return ckpt_error_set(CKPT_ERROR,
				      "the store is full (maxSize %s), and nothing can be freed while "
				      "something in it is damaged; see 'git checkpoint doctor'",
				      units_format_size(budget, session->settings.max_size));
	return ckpt_error_set(CKPT_ERROR,
			      "the checkpoint does not fit into maxSize (%s), whatever is evicted; raise "
			      "maxSize, exclude large files, or unpin or drop checkpoints ('drop --force' takes "
			      "those that undo leads to)",
			      units_format_size(budget, session->settings.max_size));
}

int retain_make_room(struct retain_room *out, struct session *session, const struct strlist *keep,
		     uint64_t need)
{
	struct retain_job job = { .action = "evict",
				  .rules = { .max_size = session->settings.max_size },
				  .keep = keep,
				  .need = need,
				  .all_or_none = true };
	uint64_t max_size = job.rules.max_size, stays, in_use, spare;
	struct retain_result result = { 0 };
	struct stock stock = { 0 };
	bool dropped = retain_lacks_room(session, need) && retain_drop_fetched(session);
	int err = retain_apply(&result, session, &job);

	memset(out, 0, sizeof(*out));
	out->evicted = dropped || result.nr > 0 || result.freed > 0;
	if (err || !result.excess)
		goto out;
	err = stock_open(&stock, session, &job.rules, keep, NULL);
	if (!err)
		err = stock_weigh(&stock);
	if (err)
		goto out;
	in_use = retain_usage(session);
	out->damaged = !stock.known;
	spare = stock.known ? stock_spare(&stock) + stock.newest : 0;
	stays = in_use > spare ? in_use - spare : 0;
	if (stays >= max_size)
		err = retain_too_large(session, !stock.known);
	else
		out->limit = max_size - stays;
out:
	stock_release(&stock);
	retain_result_release(&result);
	return err;
}

int retain_check_fits(struct session *session, const struct strlist *keep,
		      const struct ckpt_record *fresh, uint64_t need)
{
	struct evict_rules rules = { .max_size = session->settings.max_size };
	uint64_t over = retain_bytes_over(session, rules.max_size, need);
	struct stock stock;
	int err;

	if (!over)
		return 0;
	err = objects_reopen(session->store);
	if (err)
		return err;
	/* Where it will point in a moment; otherwise it would keep the old one alive. */
	refs_set_latest(session->store, &fresh->commit);
	err = stock_open(&stock, session, &rules, keep, fresh);
	if (!err)
		err = stock_weigh(&stock);
	if (!err && (!stock.known || stock_spare(&stock) < over))
		err = retain_too_large(session, !stock.known);
	if (err) {
		char *kept = ckpt_error_keep();

		retain_set_latest(session->store);
		ckpt_error_put_back(err, kept);
	}
	stock_release(&stock);
	return err;
}

static char *first_asked_for(const struct retain_result *gone)
{
	for (size_t i = 0; i < gone->nr; i++)
		if (!gone->items[i].record.automatic)
			return xstrfmt("%s (%s)", gone->items[i].record.id, gone->items[i].why);
	return NULL;
}

void retain_after_save(char **evicted, struct session *session, const struct ref_list *before,
		       const struct strlist *keep)
{
	struct tally tally, counts = { 0 };
	struct retain_job job = {
		.action = "evict", .counts = &counts, .keep = keep, .all_or_none = true
	};
	struct retain_result result = { 0 };
	size_t nr = before->nr + 1;

	retain_rules(&job.rules, &session->settings);
	job.rules.after_save = true;
	retain_trim_log(session);
	refs_pack(session->store, before->loose + 1);
	if (retain_lacks_room(session, 0))
		(void)retain_drop_fetched(session);
	tally_read(&tally, session->store);
	/* Most saves end here, having read no checkpoint. */
	if (tally_may_be_due(&tally, &job.rules, nr) || retain_lacks_room(session, 0)) {
		int err = retain_apply(&result, session, &job);

		for (size_t i = 0; i < result.nr; i++)
			*(result.items[i].record.automatic ? &counts.automatic : &counts.asked) -=
				1;
		tally_note(session->store, err ? NULL : &counts, result.nr);
	}
	retain_reclaim_sometimes(session, nr);
	*evicted = first_asked_for(&result);
	retain_result_release(&result);
}

void retain_hold_budget(struct session *session, const struct strlist *keep)
{
	struct retain_job job = { .action = "evict",
				  .rules = { .max_size = session->settings.max_size },
				  .keep = keep,
				  .all_or_none = true };
	struct retain_result result = { 0 };

	if (retain_lacks_room(session, 0))
		(void)retain_apply(&result, session, &job);
	retain_result_release(&result);
}
