/* SPDX-License-Identifier: MIT */
/* What agents did: what can be understood of it is written and understood the same, within bounds. */
#include "fuzz.h"

#include "turns/turns.h"

static void same_turn(const struct turn *a, const struct turn *b)
{
	FUZZ_CHECK(a->number == b->number && a->began == b->began && a->last == b->last &&
			   a->before == b->before && a->after == b->after,
		   "another turn");
	FUZZ_CHECK(!strcmp(a->entry, b->entry) && !strcmp(a->id, b->id) &&
			   !strcmp(a->prompt, b->prompt),
		   "other words");
	FUZZ_CHECK(!strcmp(a->begin, b->begin) && !strcmp(a->end, b->end), "another checkpoint");
}

static void check(const struct turns *turns)
{
	for (size_t i = 0; i < turns->nr; i++) {
		const struct turn_session *session = &turns->items[i];

		FUZZ_CHECK(*session->agent, "nobody");
		for (size_t k = 0; k < session->nr; k++) {
			const struct turn *turn = &session->items[k];

			FUZZ_CHECK(turn->number > (k ? turn[-1].number : 0), "numbers that fall");
			FUZZ_CHECK(!*turn->begin || refs_valid_id(turn->begin), "no id");
			FUZZ_CHECK(!*turn->end || refs_valid_id(turn->end), "no id");
		}
	}
}

static void same(const struct turns *a, const struct turns *b)
{
	FUZZ_CHECK(a->troubles_nr == b->troubles_nr, "other troubles");
	FUZZ_CHECK(a->nr == b->nr, "%zu sessions, then %zu", a->nr, b->nr);
	for (size_t i = 0; i < a->nr; i++) {
		FUZZ_CHECK(!strcmp(a->items[i].agent, b->items[i].agent) &&
				   !strcmp(a->items[i].id, b->items[i].id) &&
				   a->items[i].fired == b->items[i].fired,
			   "another session");
		FUZZ_CHECK(a->items[i].nr == b->items[i].nr, "other turns");
		for (size_t k = 0; k < a->items[i].nr; k++)
			same_turn(&a->items[i].items[k], &b->items[i].items[k]);
	}
}

static void try_names(struct store *store, const uint8_t *data, size_t size)
{
	struct turn_range range;
	struct ckpt_record record;
	char *name = malloc(size + 16);

	if (!name)
		abort();
	for (int i = 0; i < 2; i++) {
		int at = sprintf(name, "%s", i ? "turn:" : "session:");

		memcpy(name + at, data, size);
		name[at + (int)size] = '\0';
		FUZZ_CHECK(turns_is_name(name), "not a name");
		FUZZ_CHECK(turns_lookup(&record, store, name), "found among none");
		FUZZ_CHECK(turns_range(&range, store, name), "found among none");
	}
	free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct store *store = fuzz_store();
	struct strbuf text = STRBUF_INIT;
	struct turns turns, again;

	turns_parse(&turns, (const char *)data, size);
	check(&turns);
	turns_print(&text, &turns, SIZE_MAX);
	turns_parse(&again, text.buf, text.len);
	FUZZ_CHECK(again.sound && !again.foreign && !again.skipped, "what was written is not understood");
	same(&turns, &again);
	turns_release(&again);
	strbuf_reset(&text);
	turns_print(&text, &turns, 200);
	FUZZ_CHECK(text.len <= 200, "%zu bytes instead of 200", text.len);
	turns_release(&turns);
	fuzz_put("store/checkpoint/turns", data, size);
	FUZZ_CHECK(!turns_read(&turns, store), "cannot be read");
	turns_release(&turns);
	try_names(store, data, size < 200 ? size : 200);
	strbuf_release(&text);
	return 0;
}
