/* SPDX-License-Identifier: MIT */
/* Sessions and turns of agents: what is read back is what happened, however it is written. */
#include "turns/turns.h"

#include "base/fs.h"
#include "record/lookup.h"
#include "unit.h"

#include "recordgen.h"

#define FILE_NAME "checkpoint/turns"

enum { AGENTS = 2, SESSIONS = 3, EVENTS = 400, MODEL_TURNS = EVENTS };

/* What should be remembered, counted in the simplest way. */
struct expected {
	size_t turns;
	unsigned ids[MODEL_TURNS];
	unsigned tools[MODEL_TURNS], done[MODEL_TURNS];
	char begin[MODEL_TURNS][CKPT_ID_SIZE], end[MODEL_TURNS][CKPT_ID_SIZE];
};

static struct expected model[AGENTS][SESSIONS];
static const char *const agents[AGENTS] = { "codex", "claude-code" };
static unsigned last_agent, last_session;

static void id_of(char out[CKPT_ID_SIZE], unsigned n)
{
	snprintf(out, CKPT_ID_SIZE, "chk_20260930_123456_%06x", n & 0xffffff);
}

static bool is_new(const struct expected *session, unsigned id)
{
	for (size_t i = 0; i < session->turns && id; i++)
		if (session->ids[i] == id)
			return false;
	return true;
}

/* The event, and what it means. */
static void happen(struct store *store, unsigned n)
{
	unsigned a = rnd(AGENTS), s = rnd(SESSIONS), id = rnd(8), saved = rnd(10);
	struct expected *session = &model[a][s];
	char session_id[8], turn_id[8], checkpoint[CKPT_ID_SIZE];
	struct ckpt_agent agent = { .name = (char *)agents[a],
				    .session = s ? session_id : NULL,
				    .turn_id = id ? turn_id : NULL };
	struct turn_event event = { .moment = (enum turn_moment)rnd(TURN_STOP + 1),
				    .entry = agents[a],
				    .asked = rnd(4) != 0,
				    .agent = &agent };
	size_t at;

	snprintf(session_id, sizeof(session_id), "s%u", s);
	snprintf(turn_id, sizeof(turn_id), "t%u", id);
	id_of(checkpoint, n);
	turns_enter(&event, store, false);
	assert_true(event.known);
	if (event.moment == TURN_PROMPT && event.asked && is_new(session, id)) {
		session->ids[session->turns] = id;
		session->turns++;
	}
	assert_int_equal(agent.turn, session->turns);
	last_agent = a;
	last_session = s;
	/* One in ten cannot be saved. */
	turns_note(&event, store, saved ? checkpoint : "", rnd(2));
	if (!session->turns)
		return;
	at = session->turns - 1;
	session->tools[at] += event.moment == TURN_BEFORE;
	session->done[at] += event.moment == TURN_AFTER;
	if (saved && event.moment <= TURN_BEFORE && !*session->begin[at])
		memcpy(session->begin[at], checkpoint, sizeof(checkpoint));
	if (saved)
		memcpy(session->end[at], checkpoint, sizeof(checkpoint));
}

static void expect_model(const struct turns *turns)
{
	assert_string_equal(turns->items[turns->nr - 1].agent, agents[last_agent]);
	for (unsigned a = 0; a < AGENTS; a++)
		for (unsigned s = 0; s < SESSIONS; s++) {
			const struct expected *wanted = &model[a][s];
			const struct turn_session *found = NULL;
			char id[8] = "";

			if (s)
				snprintf(id, sizeof(id), "s%u", s);
			for (size_t i = 0; i < turns->nr; i++)
				if (!strcmp(turns->items[i].id, id) &&
				    !strcmp(turns->items[i].agent, agents[a]))
					found = &turns->items[i];
			assert_int_equal(found ? found->nr : 0, wanted->turns);
			for (size_t i = 0; i < wanted->turns; i++) {
				const struct turn *turn = &found->items[i];

				assert_int_equal(turn->number, i + 1);
				assert_int_equal(turn->before, wanted->tools[i]);
				assert_int_equal(turn->after, wanted->done[i]);
				assert_string_equal(turn->begin, wanted->begin[i]);
				assert_string_equal(turn->end, wanted->end[i]);
			}
		}
}

static void test_what_happened_is_remembered(void **state)
{
	struct store *store = recordgen_store("events");
	struct turns turns;

	(void)state;
	for (unsigned n = 1; n <= EVENTS; n++) {
		happen(store, n);
		/* Now and then it is summed up, which changes nothing. */
		if (rnd(20) == 0) {
			assert_int_equal(turns_read(&turns, store), 0);
			assert_int_equal(turns_write(&turns, store), 0);
			turns_release(&turns);
		}
		if (rnd(10) && n < EVENTS)
			continue;
		assert_int_equal(turns_read(&turns, store), 0);
		assert_int_equal(turns.skipped, 0);
		expect_model(&turns);
		turns_release(&turns);
	}
	store_close(store);
}

static void test_the_newest_stay_where_there_is_little_room(void **state)
{
	struct strbuf text = STRBUF_INIT, less = STRBUF_INIT;
	struct turns turns, again;

	(void)state;
	strbuf_addstr(&text, "git-checkpoint turns 1\n");
	for (unsigned i = 1; i <= 1200; i++)
		strbuf_addf(&text, "turn\t%u\tcodex\ts\tcodex\t%u\t\tprompt %u\n", i, i, i);
	turns_parse(&turns, text.buf, text.len);
	assert_int_equal(turns.items[0].nr, 1000);
	assert_int_equal(turns.items[0].items[0].number, 201);
	turns_print(&less, &turns, 2000);
	assert_true(less.len <= 2000 && less.len > 1800);
	turns_parse(&again, less.buf, less.len);
	assert_int_equal(again.skipped, 0);
	assert_int_equal(again.items[0].items[again.items[0].nr - 1].number, 1200);
	assert_string_equal(again.items[0].items[again.items[0].nr - 1].prompt, "prompt 1200");
	turns_release(&turns);
	turns_release(&again);
	strbuf_release(&text);
	strbuf_release(&less);
}

/* Without a file, in one that is damaged, and after it was summed up. */
static void test_what_went_wrong_is_told_once(void **state)
{
	struct store *store = recordgen_store("trouble");
	struct turns turns;

	(void)state;
	for (int round = 0; round < 2; round++) {
		assert_true(turns_note_trouble(store, "codex", "s", "locked by 17"));
		assert_false(turns_note_trouble(store, "codex", "s", "locked by 4711"));
		assert_true(turns_note_trouble(store, "codex", "s", "another reason"));
		assert_true(turns_note_trouble(store, "codex", "t", "locked by 17"));
		assert_true(turns_note_trouble(store, "codex", NULL, "locked by 17"));
		assert_true(turns_note_trouble(store, "codex", NULL, "locked by 17"));
		assert_true(turns_note_trouble(store, "cline", "s", "locked by 17"));
		assert_int_equal(turns_read(&turns, store), 0);
		assert_int_equal(turns.skipped, round);
		assert_int_equal(turns.troubles_nr, 7);
		assert_int_equal(turns_write(&turns, store), 0);
		turns_release(&turns);
		assert_false(turns_note_trouble(store, "codex", "s", "another reason"));
		assert_int_equal(turns_read(&turns, store), 0);
		assert_int_equal(turns.skipped, 0);
		assert_string_equal(turns_trouble(&turns, "codex")->why, "another reason");
		assert_string_equal(turns_trouble(&turns, "cline")->why, "locked by 17");
		assert_null(turns_trouble(&turns, "cursor"));
		turns_release(&turns);
		assert_int_equal(fs_write_file(store->dirfd, FILE_NAME, "garbage\n", 8, 0600, FS_FAST), 0);
	}
	store_close(store);
}

/* The names, and the two ends of a turn. */
static void test_ranges(void **state)
{
	struct store *store = recordgen_store("ranges");
	struct ckpt_record records[4];
	struct strbuf text = STRBUF_INIT;
	struct turn_range range;
	char id[CKPT_ID_SIZE];

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		id_of(id, i);
		recordgen_plain(&records[i], id);
		recordgen_save(store, &records[i]);
	}
	store = recordgen_reopen(store);
	strbuf_addf(&text,
		    "git-checkpoint turns 1\nturn\t1\tcodex\ts\tcodex\t1\t\tp\nprompt\t1\tcodex\ts\tcodex\t%s\n"
		    "before\t1\tcodex\ts\tcodex\t%s\nafter\t1\tcodex\ts\tcodex\t%s\n",
		    records[0].id, records[0].id, records[1].id);
	/* killed in the middle of a tool: what the next prompt found is the end */
	strbuf_addf(&text,
		    "turn\t2\tcodex\ts\tcodex\t2\t\tp\nprompt\t2\tcodex\ts\tcodex\t%s\n"
		    "before\t2\tcodex\ts\tcodex\t%s\n",
		    records[1].id, records[1].id);
	strbuf_addf(&text,
		    "turn\t3\tcodex\ts\tcodex\t3\t\tp\nprompt\t3\tcodex\ts\tcodex\t%s\n"
		    "before\t3\tcodex\ts\tcodex\t%s\n",
		    records[2].id, records[3].id);
	assert_int_equal(fs_write_file(store->dirfd, FILE_NAME, text.buf, text.len, 0600, FS_FAST), 0);
	for (size_t i = 0; i < 3; i++) {
		char name[32];

		snprintf(name, sizeof(name), i % 2 ? "session:s/turn:%zu" : "turn:%zu", i + 1);
		assert_true(turns_is_turn(name));
		assert_int_equal(turns_range(&range, store, name), 0);
		assert_string_equal(range.begin.id, records[i].id);
		assert_string_equal(range.end.id, records[i + 1].id);
		assert_int_equal(range.open, i == 2);
		turns_range_release(&range);
	}
	assert_int_equal(turns_range(&range, store, "turn:4"), CKPT_ENOTFOUND);
	assert_int_equal(turns_range(&range, store, "session:s"), CKPT_ENOTFOUND);
	assert_int_equal(refs_delete(store, records[1].id), 0);
	assert_int_equal(turns_range(&range, store, "turn:1"), CKPT_ENOTFOUND);
	assert_non_null(strstr(ckpt_error_last(), "at the end of 'turn:1' is no longer kept"));
	for (size_t i = 0; i < 4; i++)
		record_release(&records[i]);
	strbuf_release(&text);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_happened_is_remembered),
		cmocka_unit_test(test_the_newest_stay_where_there_is_little_room),
		cmocka_unit_test(test_what_went_wrong_is_told_once),
		cmocka_unit_test(test_ranges),
	};

	return cmocka_run_group_tests_name("turns", tests, unit_setup, unit_teardown);
}
