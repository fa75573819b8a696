/* SPDX-License-Identifier: MIT */
#include "record/order.h"

#include "base/base.h"
#include "record/brief.h"
#include "record/checkpoint.h"
#include "store/store.h"

#include <sys/random.h>

enum {
	DIGITS_AT = sizeof("chk_YYYYMMDD_HHMMSS_") - 1,
	/* In a new second the digits leave room for those that follow in the same one. */
	FRESH_MAX = 0x3fffff,
	PLAIN_MAX = 0x7fffff,
	STEP_MAX = 0xff,
};

bool order_is_odd(const char *id)
{
	return id[DIGITS_AT] >= '8';
}

bool order_has_odd(const struct ref_list *refs)
{
	for (size_t i = 0; i < refs->nr; i++)
		if (order_is_odd(refs->items[i].id))
			return true;
	return false;
}

static bool is_after(const char *id, const struct ckpt_place *place)
{
	return order_is_odd(id) && *place->after;
}

static const char *place_id(const char *id, const struct ckpt_place *place)
{
	return is_after(id, place) ? place->after : id;
}

int order_compare(const char *id, const struct ckpt_place *place, const char *other_id,
		  const struct ckpt_place *other)
{
	int cmp = strcmp(place_id(id, place), place_id(other_id, other));
	/* The one that has its place by that id is the first there. */
	uint64_t number = is_after(id, place) ? place->number : 0,
		 other_number = is_after(other_id, other) ? other->number : 0;

	if (cmp)
		return cmp;
	if (number != other_number)
		return number < other_number ? -1 : 1;
	return strcmp(id, other_id);
}

/* --- all of them --- */

struct placed {
	struct ref_item ref;
	struct ckpt_place place;
};

static int compare_placed(const void *a, const void *b)
{
	const struct placed *one = a, *other = b;

	return order_compare(one->ref.id, &one->place, other->ref.id, &other->place);
}

void order_sort(struct ref_list *refs, const struct ckpt_place *places)
{
	struct placed *all = xcalloc(refs->nr + 1, sizeof(*all));

	for (size_t i = 0; i < refs->nr; i++)
		all[i] = (struct placed){ refs->items[i], places[i] };
	qsort(all, refs->nr, sizeof(*all), compare_placed);
	for (size_t i = 0; i < refs->nr; i++)
		refs->items[i] = all[i].ref;
	free(all);
}

int order_list(struct ref_list *out, struct store *store)
{
	struct ckpt_place *places;
	int err = refs_list(out, store);

	if (err || !order_has_odd(out))
		return err;
	places = xcalloc(out->nr, sizeof(*places));
	err = brief_places(places, store, out);
	if (err)
		refs_release(out);
	else
		order_sort(out, places);
	free(places);
	return err;
}

/* --- a new one --- */

int order_make_id(char out[CKPT_ID_SIZE], const char *last, const struct ref_list *refs,
		  int64_t now)
{
	char stamp[CLOCK_ISO_SIZE];
	unsigned long digits;
	uint32_t random;

	clock_format_id(stamp, now);
	do {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return ckpt_error_errno("unable to get random bytes");
		digits = random & FRESH_MAX;
		/* Several in one second: this one after the last, as long as there is room. */
		if (*last && !strncmp(last + strlen("chk_"), stamp, DIGITS_AT - strlen("chk__")))
			digits = strtoul(last + DIGITS_AT, NULL, 16) + 1 + (random & STEP_MAX);
		snprintf(out, CKPT_ID_SIZE, "chk_%.15s_%06lx", stamp, digits & PLAIN_MAX);
		if (digits > PLAIN_MAX || strcmp(out, last) <= 0)
			snprintf(out, CKPT_ID_SIZE, "chk_%.15s_%06lx", stamp,
				 (random & PLAIN_MAX) | (PLAIN_MAX + 1UL));
	} while (order_is_odd(out) && refs_find(refs, out));
	return 0;
}

/* The number of the newest that can be read, and of those after it, which had the next ones. */
static int last_number(uint64_t *out, struct store *store, const struct ref_list *refs)
{
	struct ckpt_record record;

	for (size_t i = refs->nr; i--;) {
		int err = record_read_saved(&record, store, &refs->items[i]);

		if (!err) {
			*out = record.place.number + (refs->nr - 1 - i);
			record_release(&record);
			return 0;
		}
		if (err != CKPT_ECORRUPT && err != CKPT_ENOTFOUND)
			return err;
	}
	*out = refs->nr;
	return 0;
}

/* Damaged ones are not where they belong; if they are repaired, they shall come before this one. */
static uint64_t count_unknown(const struct ref_list *refs, const struct ckpt_place *places)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < refs->nr; i++)
		nr += order_is_odd(refs->items[i].id) && !places[i].number;
	return nr;
}

int order_next(struct ckpt_record *out, struct store *store, const struct ref_list *refs,
	       int64_t now)
{
	struct ckpt_place *places = xcalloc(refs->nr + 1, sizeof(*places));
	const char *after = "";
	uint64_t number;
	int err = brief_places(places, store, refs);

	if (!err)
		err = last_number(&number, store, refs);
	if (refs->nr)
		after = place_id(refs->items[refs->nr - 1].id, &places[refs->nr - 1]);
	if (!err)
		err = order_make_id(out->id, after, refs, now);
	if (!err) {
		out->place =
			(struct ckpt_place){ .number = number + 1 + count_unknown(refs, places) };
		if (order_is_odd(out->id))
			snprintf(out->place.after, sizeof(out->place.after), "%s", after);
	}
	free(places);
	return err;
}
