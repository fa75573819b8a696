/* SPDX-License-Identifier: MIT */
#include "show/show.h"

enum { PROMPT_MIN = 8 };

#define MINUS "\xe2\x88\x92"

/* A turn, and what it did as far as that is still known. */
struct shown_turn {
	const struct turn *turn;
	bool counted;
	struct show_diff_sum sum;
};

/* All that is shown of a session. */
struct shown {
	struct session *session;
	const struct turns *turns;
	const struct turn_session *of;
	struct shown_turn *items; /* as of->items */
	struct list list;	  /* its checkpoints */
};

/* --- what is shown --- */

static bool is_of_session(const struct ckpt_record *record, void *payload)
{
	const struct turn_session *of = payload;
	const struct ckpt_agent *agent = &record->agent;

	return agent->name && !strcmp(agent->name, of->agent) &&
	       !strcmp(agent->session ? agent->session : "", of->id);
}

static const struct ckpt_record *with_id(const struct ckpt_records *records, const char *id)
{
	for (size_t i = records->nr; i-- && *id;)
		if (!strcmp(records->items[i].id, id))
			return &records->items[i];
	return NULL;
}

/* Nothing is counted if either of the two is no longer kept. */
static int count_files(struct shown_turn *out, struct session *session, const struct ckpt_records *records)
{
	const struct ckpt_record *begin = with_id(records, out->turn->begin),
				 *end = with_id(records, out->turn->end);
	struct diff diff;
	int err;

	if (!begin || !end)
		return 0;
	out->counted = true;
	if (begin == end)
		return 0;
	err = diff_checkpoints(&diff, session, begin, end, NULL);
	if (!err) {
		err = show_diff_sum(&out->sum, &diff);
		diff_release(&diff);
	}
	out->counted = !err;
	/* One that is damaged does not hide the others. */
	return err == CKPT_ECORRUPT || err == CKPT_ENOTFOUND ? 0 : err;
}

static int count_all(struct shown *shown)
{
	int err = 0;

	shown->items = xcalloc(shown->of->nr + 1, sizeof(*shown->items));
	for (size_t i = 0; i < shown->of->nr && !err; i++) {
		shown->items[i].turn = &shown->of->items[i];
		err = count_files(&shown->items[i], shown->session, &shown->list.records);
	}
	return err;
}

/* --- for programs --- */

static json_t *id_or_null(const char *id)
{
	return json_text(*id ? id : NULL);
}

static json_t *turn_object(const struct shown *shown, const struct shown_turn *item)
{
	const struct turn *turn = item->turn;
	json_t *ids = json_array();
	struct row row = ROW_INIT;

	for (size_t i = 0; i < shown->list.nr; i++)
		if (shown->list.rows[i].record->agent.turn == turn->number)
			json_array_append_new(ids, json_text(shown->list.rows[i].record->id));
	row_number(&row, "turn", turn->number);
	row_json(&row, "turn_id", id_or_null(turn->id));
	row_json(&row, "prompt", id_or_null(turn->prompt));
	row_time(&row, "began_at", turn->began);
	row_json(&row, "begin", id_or_null(turn->begin));
	row_json(&row, "end", id_or_null(turn->end));
	row_bool(&row, "open", turn->last == TURN_BEFORE);
	row_number(&row, "tools", turns_tools(turn));
	row_json(&row, "files",
		 item->counted ? json_integer((json_int_t)item->sum.files) : json_null());
	row_json(&row, "added",
		 item->counted ? json_integer((json_int_t)item->sum.added) : json_null());
	row_json(&row, "deleted",
		 item->counted ? json_integer((json_int_t)item->sum.deleted) : json_null());
	row_json(&row, "checkpoints", ids);
	return row_object(&row);
}

static json_t *sessions_array(const struct turns *turns)
{
	json_t *array = json_array();

	for (size_t i = turns->nr; i--;) {
		const struct turn_session *item = &turns->items[i];
		struct row row = ROW_INIT;

		row_json(&row, "session", id_or_null(item->id));
		row_text(&row, "agent", item->agent);
		row_time(&row, "last_at", item->fired);
		row_number(&row, "turns", item->nr ? item->items[item->nr - 1].number : 0);
		json_array_append_new(array, row_object(&row));
	}
	return array;
}

static int print_json(const struct shown *shown)
{
	json_t *turns = json_array(), *checkpoints = json_array();
	struct row row = ROW_INIT;

	for (size_t i = shown->of->nr; i--;)
		json_array_append_new(turns, turn_object(shown, &shown->items[i]));
	for (size_t i = 0; i < shown->list.nr; i++)
		json_array_append_new(checkpoints, report_listed(shown->list.rows[i].record));
	row_json(&row, "session", id_or_null(shown->of->id));
	row_text(&row, "agent", shown->of->agent);
	row_time(&row, "last_at", shown->of->fired);
	row_json(&row, "turns", turns);
	row_json(&row, "checkpoints", checkpoints);
	row_json(&row, "sessions", sessions_array(shown->turns));
	return report_json(row_object(&row), EXIT_DONE);
}

/* --- for people --- */

static void add_number(struct strbuf *out, uint64_t number, const char *what)
{
	strbuf_addf(out, "%" PRIu64 " %s%s", number, what, number == 1 ? "" : "s");
}

/* 4 tools, 7 files, +120 -31 */
static void add_counts(struct strbuf *out, const struct shown_turn *item)
{
	add_number(out, turns_tools(item->turn), "tool");
	if (!item->counted)
		return;
	strbuf_addstr(out, ", ");
	add_number(out, item->sum.files, "file");
	strbuf_addf(out, ", +%zu " MINUS "%zu", item->sum.added, item->sum.deleted);
}

/* turn 3  "rename the parser"  4 tools, 7 files, +120 -31: what was asked is cut to fit. */
static void print_heading(const struct shown_turn *item)
{
	struct strbuf text = STRBUF_INIT, counts = STRBUF_INIT;
	size_t width = term_is_terminal() ? term_width() : SIZE_MAX, taken;

	add_counts(&counts, item);
	strbuf_addf(&text, "turn %" PRIu64 "  ", item->turn->number);
	taken = text.len + term_text_width(counts.buf) + strlen("\"\"  ");
	if (*item->turn->prompt) {
		strbuf_addch(&text, '"');
		term_add_cut(&text, item->turn->prompt, width < taken + PROMPT_MIN ? PROMPT_MIN : width - taken);
		strbuf_addstr(&text, "\"  ");
	}
	strbuf_add(&text, counts.buf, counts.len);
	term_say(stdout, "%s%s%s\n", term_color(TERM_BOLD), text.buf, term_color(TERM_RESET));
	strbuf_release(&counts);
	strbuf_release(&text);
}

/* A row keeps its width whatever turn it is in. */
static void print_rows(const struct shown *shown, struct table *table, uint64_t turn)
{
	for (size_t i = 0; i < shown->list.nr; i++)
		if (shown->list.rows[i].record->agent.turn == turn)
			table_print_row(table, i);
}

static bool has_turn(const struct shown *shown, uint64_t number)
{
	for (size_t i = 0; i < shown->of->nr; i++)
		if (shown->of->items[i].number == number)
			return true;
	return false;
}

static void print_text(const struct shown *shown)
{
	struct table *table = list_table(shown->list.rows, shown->list.nr, clock_now());
	char age[CLOCK_ISO_SIZE];
	bool rest = false;

	term_say(stdout, "session %s of %s, %s\n", *shown->of->id ? shown->of->id : "without an id",
		 shown->of->agent, clock_format_age(age, shown->of->fired, clock_now()));
	for (size_t i = shown->of->nr; i--;) {
		print_heading(&shown->items[i]);
		print_rows(shown, table, shown->items[i].turn->number);
	}
	/* Before the first prompt, or of turns that were forgotten. */
	for (size_t i = 0; i < shown->list.nr; i++) {
		if (has_turn(shown, shown->list.rows[i].record->agent.turn))
			continue;
		if (!rest)
			report_text("outside of these turns\n");
		rest = true;
		table_print_row(table, i);
	}
	table_free(table);
}

/* --- both --- */

int show_turns(struct session *session, const char *id)
{
	struct turns turns = { 0 };
	struct shown shown = { .session = session, .turns = &turns };
	struct ckpt_enough own = { .max = SIZE_MAX, .counts = is_of_session };
	int err = session->store ? turns_read(&turns, session->store) : 0;

	if (!err)
		err = turns_session(&shown.of, &turns, id);
	if (!err)
		err = look_list(&shown.list.records, session, NULL);
	if (!err)
		err = count_all(&shown);
	if (!err) {
		own.payload = (void *)shown.of;
		list_choose(&shown.list, &own, false);
		report_warnings(&shown.list.records.damaged);
		if (opt_common.json) {
			err = print_json(&shown);
		} else if (!opt_common.quiet) {
			pager_start(session->gitconfig);
			print_text(&shown);
			pager_end();
		}
	}
	free(shown.items);
	list_release(&shown.list);
	turns_release(&turns);
	return err;
}

void show_turns_offer(struct complete *complete)
{
	const struct session *session = complete_session(complete);
	struct turns turns;

	if (!session || !session->store || turns_read(&turns, session->store))
		return;
	complete_add(complete, "last", "the one that was active last");
	for (size_t i = turns.nr; i--;) {
		const struct turn_session *item = &turns.items[i];
		const char *prompt = item->nr ? item->items[item->nr - 1].prompt : "";
		char *text = xstrfmt("%s%s%s", item->agent, *prompt ? ": " : "", prompt);

		if (*item->id)
			complete_add(complete, item->id, text);
		free(text);
	}
	turns_release(&turns);
}
