/* SPDX-License-Identifier: MIT */
#include "turns/turns.h"

#define TURN "turn:"
#define SESSION "session:"
#define LAST "last"

/* --- names --- */

struct name {
	char *session; /* NULL: the one that fired last */
	bool turn;
	bool back; /* counted from the newest, which is 1 */
	uint64_t number;
};

/* "3", "-1" */
static bool parse_number(struct name *out, const char *text)
{
	out->turn = true;
	out->back = *text == '-';
	return units_parse_number(&out->number, text + out->back) && out->number;
}

/* The last one: an id may have any characters. */
static const char *turn_of_session(const char *name)
{
	const char *found = NULL;

	for (const char *at = name; (at = strstr(at, "/" TURN)); at++)
		found = at;
	return found;
}

static bool parse_name(struct name *out, const char *name)
{
	const char *turn;

	memset(out, 0, sizeof(*out));
	if (!strncmp(name, TURN, strlen(TURN)))
		return parse_number(out, name + strlen(TURN));
	if (strncmp(name, SESSION, strlen(SESSION)) != 0)
		return false;
	name += strlen(SESSION);
	turn = turn_of_session(name);
	if (turn && !parse_number(out, turn + 1 + strlen(TURN)))
		return false;
	out->session = turn ? xmemdupz(name, (size_t)(turn - name)) : xstrdup(name);
	return *out->session;
}

static void release_name(struct name *name)
{
	free(name->session);
}

bool turns_is_name(const char *name)
{
	return !strncmp(name, TURN, strlen(TURN)) || !strncmp(name, SESSION, strlen(SESSION));
}

bool turns_is_turn(const char *name)
{
	return !strncmp(name, TURN, strlen(TURN)) ||
	       (!strncmp(name, SESSION, strlen(SESSION)) && turn_of_session(name));
}

/* --- sessions --- */

static int none_fired(const struct turns *turns)
{
	if (turns->foreign)
		return ckpt_error_set(CKPT_ERROR, "what coding agents did here was written by "
						  "another version of git-checkpoint");
	if (turns->lost)
		return ckpt_error_set(CKPT_ERROR,
				      "the list of what coding agents did cannot be read; 'git "
				      "checkpoint doctor --fix' rebuilds it from the checkpoints");
	return ckpt_error_set(CKPT_ENOTFOUND,
			      "no coding agent has taken a checkpoint here yet; 'git checkpoint "
			      "hooks install --agent <name>' makes it do so");
}

static int fail_ambiguous(const struct turns *turns, const char *id)
{
	struct strbuf list = STRBUF_INIT;

	for (size_t i = turns->nr; i--;)
		if (!strncmp(turns->items[i].id, id, strlen(id)))
			strbuf_addf(&list, "\n  %s", turns->items[i].id);
	ckpt_error_set(CKPT_ERROR, "the session '%s' is ambiguous, it could be:%s", id, list.buf);
	strbuf_release(&list);
	return CKPT_ERROR;
}

int turns_session(const struct turn_session **out, const struct turns *turns, const char *id)
{
	size_t found = 0;

	*out = NULL;
	if (!turns->nr)
		return none_fired(turns);
	/* Of two agents that count alike, the one that fired last. */
	for (size_t i = turns->nr; i-- && !*out;)
		if (!strcmp(turns->items[i].id, id))
			*out = &turns->items[i];
	if (!*out && !strcmp(id, LAST))
		*out = &turns->items[turns->nr - 1];
	for (size_t i = turns->nr; i-- && !*out && *id;)
		found += !strncmp(turns->items[i].id, id, strlen(id));
	if (found > 1)
		return fail_ambiguous(turns, id);
	for (size_t i = turns->nr; i-- && !*out && found;)
		if (!strncmp(turns->items[i].id, id, strlen(id)))
			*out = &turns->items[i];
	if (*out)
		return 0;
	return ckpt_error_set(CKPT_ENOTFOUND,
			      "no session '%s'; 'git checkpoint list --session' shows the last",
			      id);
}

/* --- turns --- */

static int no_turn(const struct turn_session *session, const char *name)
{
	if (!session->nr)
		return ckpt_error_set(CKPT_ENOTFOUND,
				      "no turn '%s': no prompt of the session is known",
				      name);
	return ckpt_error_set(CKPT_ENOTFOUND, "no turn '%s'; the session has turns %" PRIu64
					      " to %" PRIu64,
			      name, session->items[0].number,
			      session->items[session->nr - 1].number);
}

/* Its index among those of the session. */
static int find_turn(size_t *out, const struct turn_session *session, const struct name *name,
		     const char *typed)
{
	for (size_t i = 0; i < session->nr; i++)
		if (name->back ? session->nr - i == name->number
			       : session->items[i].number == name->number) {
			*out = i;
			return 0;
		}
	return no_turn(session, typed);
}

/* A checkpoint that a turn has noted. */
static int read_noted(struct ckpt_record *out, struct store *store, const struct ref_list *refs,
		      const char *id, const char *what, const char *name)
{
	const struct ref_item *ref = *id ? refs_find(refs, id) : NULL;

	if (ref)
		return record_read(out, store, ref);
	return ckpt_error_set(CKPT_ENOTFOUND, *id ? "the state %s '%s' is no longer kept"
						  : "the state %s '%s' was not saved",
			      what, name);
}

static bool has_session(const struct ckpt_record *record, void *payload)
{
	const struct turn_session *session = payload;

	return record->agent.name && record->agent.session &&
	       !strcmp(record->agent.session, session->id) &&
	       !strcmp(record->agent.name, session->agent);
}

/* The newest that it took; where it never had to, the one that holds the state it last saw. */
static int newest_of(struct ckpt_record *out, struct store *store, const struct ref_list *refs,
		     const struct turn_session *session, const char *typed)
{
	int err = lookup_newest_such(out, store, refs, has_session, (void *)session);

	if (err != CKPT_ENOTFOUND)
		return err;
	return read_noted(out, store, refs,
			  session->nr ? session->items[session->nr - 1].end : "", "of", typed);
}

static int fail_malformed(const char *name)
{
	return ckpt_error_set(CKPT_ENOTFOUND,
			      "no checkpoint named '%s'; a turn is 'turn:3', 'turn:-1' for the "
			      "last, or 'session:<id>/turn:3'",
			      name);
}

static int find_session(const struct turn_session **out, const struct turns *turns,
			const struct name *name)
{
	return turns_session(out, turns, name->session ? name->session : LAST);
}

int turns_lookup(struct ckpt_record *out, struct store *store, const char *typed)
{
	const struct turn_session *session;
	struct ref_list refs = { 0 };
	struct turns turns = { 0 };
	struct name name;
	size_t at;
	int err = parse_name(&name, typed) ? turns_read(&turns, store) : fail_malformed(typed);

	if (!err)
		err = refs_list(&refs, store);
	if (!err)
		err = find_session(&session, &turns, &name);
	if (!err && !name.turn)
		err = newest_of(out, store, &refs, session, typed);
	else if (!err)
		err = find_turn(&at, session, &name, typed);
	if (!err && name.turn)
		err = read_noted(out, store, &refs, session->items[at].begin,
				 "at the beginning of", typed);
	refs_release(&refs);
	turns_release(&turns);
	release_name(&name);
	return err;
}

/* --- what a turn did --- */

void turns_range_release(struct turn_range *range)
{
	record_release(&range->begin);
	record_release(&range->end);
}

static int read_range(struct turn_range *out, struct store *store, const struct turn_session *session,
		      size_t at, const char *typed)
{
	const struct turn *turn = &session->items[at];
	const struct turn *next = at + 1 < session->nr ? &session->items[at + 1] : NULL;
	const char *end = turn->end;
	struct ref_list refs;
	int err = refs_list(&refs, store);

	if (err)
		return err;
	/* It was not told when the last tool had ended: by the next prompt it had. */
	if (turn->last == TURN_BEFORE && next && *next->begin)
		end = next->begin;
	out->open = turn->last == TURN_BEFORE && !next;
	err = read_noted(&out->begin, store, &refs, turn->begin, "at the beginning of", typed);
	if (!err)
		err = read_noted(&out->end, store, &refs, end, "at the end of", typed);
	refs_release(&refs);
	return err;
}

int turns_range(struct turn_range *out, struct store *store, const char *typed)
{
	const struct turn_session *session;
	struct turns turns = { 0 };
	struct name name;
	size_t at;
	int err = parse_name(&name, typed) && name.turn ? turns_read(&turns, store)
							: fail_malformed(typed);

	*out = (struct turn_range)TURN_RANGE_INIT;
	if (!err)
		err = find_session(&session, &turns, &name);
	if (!err)
		err = find_turn(&at, session, &name, typed);
	if (!err)
		err = read_range(out, store, session, at, typed);
	if (err)
		turns_range_release(out);
	turns_release(&turns);
	release_name(&name);
	return err;
}

/* --- what must stay --- */

int turns_spared(struct strlist *out, struct store *store)
{
	struct turns turns;
	int err = turns_read(&turns, store);

	for (size_t i = turns.nr, last = 0; i-- && last < TURNS_SPARED_SESSIONS; last++)
		for (size_t k = 0; k < turns.items[i].nr; k++)
			if (*turns.items[i].items[k].begin)
				strlist_add(out, turns.items[i].items[k].begin);
	turns_release(&turns);
	return err;
}
