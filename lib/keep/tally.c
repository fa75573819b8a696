/* SPDX-License-Identifier: MIT */
#include "keep/tally_internal.h"

#include "base/base.h"
#include "store/store.h"

#define TALLY_FILE "checkpoint/reclaim"

/* Seconds after which a save looks in any case: the settings, or the clock, may have changed. */
enum { LOOK_AGAIN = 7200 };

void tally_read(struct tally *out, struct store *store)
{
	struct strbuf text = STRBUF_INIT;

	memset(out, 0, sizeof(*out));
	if (!fs_read_file(&text, store->dirfd, TALLY_FILE))
		(void)sscanf(text.buf,
			     "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNd64,
			     &out->evicted, &out->packs, &out->log, &out->asked, &out->automatic,
			     &out->thin_at);
	strbuf_release(&text);
}

void tally_write(struct store *store, const struct tally *tally)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text,
		    "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 "\n",
		    tally->evicted, tally->packs, tally->log, tally->asked, tally->automatic,
		    tally->thin_at);
	(void)fs_write_file(store->dirfd, TALLY_FILE, text.buf, text.len, 0600, FS_FAST);
	strbuf_release(&text);
}

void tally_count(struct tally *out, const struct stock *stock)
{
	int64_t latest = stock->now + LOOK_AGAIN,
		next = evict_next_thinning(stock->items, stock->nr, &stock->rules, stock->now);

	out->asked = out->automatic = 0;
	for (size_t i = 0; i < stock->nr; i++)
		*(stock->items[i].automatic ? &out->automatic : &out->asked) += 1;
	/* What is saved later is thinned out no earlier than keep_all from now. */
	if (next > stock->now && next - stock->now > stock->rules.keep_all)
		next = stock->now + stock->rules.keep_all + 1;
	out->thin_at = next < latest ? next : latest;
	/* Nothing is due until it is believed. */
	if (stock->doubts_clock)
		out->thin_at = clock_now() + LOOK_AGAIN;
}

static void set_counts(struct tally *out, const struct tally *counts)
{
	out->asked = counts ? counts->asked : 0;
	out->automatic = counts ? counts->automatic : 0;
	out->thin_at = counts ? counts->thin_at : 0;
}

void tally_note(struct store *store, const struct tally *counts, size_t evicted)
{
	struct tally tally;

	tally_read(&tally, store);
	set_counts(&tally, counts);
	tally.evicted += evicted;
	tally_write(store, &tally);
}

void tally_forget_counts(struct store *store)
{
	struct tally tally;

	tally_read(&tally, store);
	if (!tally.asked && !tally.automatic && !tally.thin_at)
		return;
	set_counts(&tally, NULL);
	tally_write(store, &tally);
}

bool tally_may_be_due(const struct tally *tally, const struct evict_rules *rules, size_t nr)
{
	uint64_t known = tally->asked + tally->automatic, fresh = nr > known ? nr - known : 0;
	int64_t now = clock_now();

	return rules->max_age || (rules->max_count && tally->asked + fresh > rules->max_count) ||
	       (rules->max_automatic && tally->automatic + fresh > rules->max_automatic) ||
	       (rules->thin.nr && (now >= tally->thin_at || tally->thin_at - now > LOOK_AGAIN));
}
