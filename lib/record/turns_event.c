/* SPDX-License-Identifier: MIT */
#include "record/turns.h"

#include "base/base.h"
#include "record/lookup.h"
#include "record/turns_internal.h"

/* An agent that reads the settings of another sends each prompt twice. */
static bool is_echo(const struct turn *turn, const struct turn_event *event)
{
	return !*turn->id && !event->agent->turn_id && turn->last == TURN_PROMPT &&
	       strcmp(turn->entry, event->entry) != 0;
}

static bool begins_turn(const struct turn_session *session, const struct turn_event *event)
{
	const char *id = event->agent->turn_id;

	if (event->moment != TURN_PROMPT || !event->asked || event->agent->sub_agent)
		return false;
	for (size_t i = 0; session && id && i < session->nr; i++)
		if (!strcmp(session->items[i].id, id))
			return false;
	return !turns_current(session) || !is_echo(turns_current(session), event);
}

static int append(struct store *store, const struct strbuf *line)
{
	return fs_append_line(store->dirfd, LAYOUT_TURNS, line->buf, line->len, 0600);
}

static int begin_turn(struct turn_event *event, struct store *store, bool prompts)
{
	const struct ckpt_agent *agent = event->agent;
	const struct turn_session session = { .agent = agent->name,
					      .id = agent->session ? agent->session : "" };
	const struct turn turn = { .number = agent->turn,
				   .began = clock_now(),
				   .entry = (char *)event->entry,
				   .id = agent->turn_id,
				   .prompt = prompts ? agent->prompt : NULL };
	struct strbuf line = STRBUF_INIT;
	int err;

	turns_print_turn(&line, &session, &turn);
	err = append(store, &line);
	strbuf_release(&line);
	return err;
}

/* Numbers must not be given twice: checkpoints tell what the file has lost. */
static void learn_all(struct turns *turns, struct store *store)
{
	struct ckpt_records records = { 0 };
	char *kept = ckpt_error_keep();

	if (!lookup_records(&records, store))
		for (size_t i = 0; i < records.nr; i++)
			turns_learn(turns, &records.items[i]);
	lookup_records_release(&records);
	ckpt_error_put_back(0, kept);
}

void turns_enter(struct turn_event *event, struct store *store, bool prompts)
{
	struct ckpt_agent *agent = event->agent;
	const struct turn_session *session;
	const struct turn *turn;
	struct turns turns;

	event->fresh = event->known = false;
	if (turns_read(&turns, store) || turns.foreign)
		goto out;
	if (!turns.sound || turns.skipped)
		learn_all(&turns, store);
	if ((!turns.sound || turns.skipped || turns.size > TURNS_FILE_MAX) &&
	    turns_write(&turns, store))
		goto out;
	event->known = true;
	session = turns_find(&turns, agent->name, agent->session ? agent->session : "");
	turn = turns_current(session);
	agent->turn = turn ? turn->number : 0;
	if (begins_turn(session, event)) {
		agent->turn++;
		event->fresh = !begin_turn(event, store, prompts);
	} else if (turn && *turn->prompt && prompts && !agent->prompt) {
		agent->prompt = xstrdup(turn->prompt);
	}
	if (turn && !event->fresh)
		event->fresh = !strcmp(turn->begin, turn->end);
out:
	turns_release(&turns);
}

/* What was saved in a turn must not lose its beginning. */
static void sync_file(struct store *store)
{
	int fd = fs_open_regular(NULL, store->dirfd, LAYOUT_TURNS, O_NOFOLLOW);

	if (fd >= 0)
		(void)fdatasync(fd);
	fs_close(fd);
}

void turns_note(const struct turn_event *event, struct store *store, const char *id, bool taken)
{
	const struct ckpt_agent *agent = event->agent;
	const struct turn_session session = { .agent = agent->name,
					      .id = agent->session ? agent->session : "" };
	struct strbuf line = STRBUF_INIT;

	/* What cannot be told apart from noise is not the session that last fired. */
	if (!event->known || (!agent->session && !agent->turn))
		return;
	turns_print_event(&line, event->moment, clock_now(), &session, event->entry, id);
	if (!append(store, &line) && event->fresh && taken)
		sync_file(store);
	strbuf_release(&line);
}

/* --- from labels --- */

static enum turn_moment moment_of(const struct ckpt_record *record)
{
	static const struct {
		const char *reason;
		enum turn_moment moment;
	} reasons[] = { { "prompt", TURN_PROMPT },
			{ "pre-tool", TURN_BEFORE },
			{ "post-tool", TURN_AFTER } };

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (!strcmp(record->reason, reasons[i].reason))
			return reasons[i].moment;
	return TURN_STOP;
}

static struct turn *numbered(const struct turn_session *session, uint64_t number)
{
	for (size_t i = session->nr; i--;)
		if (session->items[i].number == number)
			return &session->items[i];
	return NULL;
}

void turns_learn(struct turns *turns, const struct ckpt_record *record)
{
	const struct ckpt_agent *agent = &record->agent;
	struct turn_session *session;
	struct turn *turn, *last;

	if (!agent->name || !agent->turn || agent->turn >= INT64_MAX)
		return;
	session = turns_find(turns, agent->name, agent->session ? agent->session : "");
	if (!session || session->fired <= record->created_at)
		session = turns_fire(turns, agent->name, agent->session ? agent->session : "",
				     record->created_at);
	last = turns_current(session);
	turn = numbered(session, agent->turn);
	if (!turn && (!last || last->number < agent->turn)) {
		const struct turn new = {
			.number = agent->turn,
			.began = record->created_at,
			.entry = xstrdup(agent->name),
			.id = xstrdup(agent->turn_id && !agent->sub_agent ? agent->turn_id : ""),
			.prompt = xstrdup(agent->prompt ? agent->prompt : ""),
			.learned = true,
		};

		turns_add(session, &new);
		turn = turns_current(session);
		/* Nothing had changed before the tool that this one was taken after. */
		if (moment_of(record) > TURN_BEFORE && record->base && refs_valid_id(record->base))
			turns_happen(turn, TURN_PROMPT, turn->entry, record->base);
	}
	if (turn && turn->learned)
		turns_happen(turn, moment_of(record), turn->entry, record->id);
}
