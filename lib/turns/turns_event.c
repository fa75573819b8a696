/* SPDX-License-Identifier: MIT */
#include "turns/turns_internal.h"

#include "git/git.h"

/* Lines are appended as events arrive; the file is written as a whole only if it has to be. */

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

/* The turn with that id, or if the agent tells none, the current one. */
static const struct turn *find_turn(const struct turn_session *session, const char *id)
{
	if (!id)
		return turns_current(session);
	for (size_t i = session ? session->nr : 0; i--;)
		if (!strcmp(session->items[i].id, id))
			return &session->items[i];
	return NULL;
}

bool turns_has_session(struct store *store, const char *agent, const char *session)
{
	struct turns turns;
	bool has = !turns_read(&turns, store) && turns_find_session(&turns, agent, session);

	turns_release(&turns);
	return has;
}

/* Number and prompt of the turn of an event as the store of another worktree has them. */
static bool find_origin(struct turn_event *event, const char *worktree, bool prompts)
{
	const struct ckpt_agent *agent = event->agent;
	const struct turn *turn = NULL;
	struct store *store = NULL;
	struct turns turns = { 0 };

	if (!store_open(&store, worktree) && !turns_read(&turns, store))
		turn = find_turn(turns_find_session(&turns, agent->name, agent->session), agent->turn_id);
	if (turn && turn->number > agent->turn)
		event->agent->turn = turn->number;
	else if (turn)
		event->agent->turn++;
	if (turn && prompts && *turn->prompt && !agent->prompt)
		event->agent->prompt = xstrdup(turn->prompt);
	turns_release(&turns);
	store_close(store);
	return turn;
}

/* An agent that goes into another worktree is still busy with what it was asked for. */
static bool is_from_elsewhere(struct turn_event *event, const struct turn_session *session, bool prompts)
{
	const struct ckpt_agent *agent = event->agent;
	struct strlist others = STRLIST_INIT;
	char *kept = ckpt_error_keep();
	bool found = false;

	if (event->repo && agent->session && event->moment != TURN_PROMPT && !agent->sub_agent &&
	    !find_turn(session, agent->turn_id))
		repo_other_worktrees(&others, event->repo);
	for (size_t i = 0; i < others.nr && !found; i++)
		found = find_origin(event, others.items[i], prompts);
	strlist_release(&others);
	ckpt_error_put_back(0, kept);
	return found;
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
	err = turns_append(store, &line);
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
	session = turns_find_session(&turns, agent->name, agent->session ? agent->session : "");
	turn = turns_current(session);
	agent->turn = turn ? turn->number : 0;
	if (begins_turn(session, event)) {
		agent->turn++;
		event->fresh = !begin_turn(event, store, prompts);
	} else if (is_from_elsewhere(event, session, prompts)) {
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
	if (!turns_append(store, &line) && event->fresh && taken)
		sync_file(store);
	strbuf_release(&line);
}
