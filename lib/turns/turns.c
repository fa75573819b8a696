/* SPDX-License-Identifier: MIT */
#include "turns/turns_internal.h"

#define HEADER "git-checkpoint turns "
#define VERSION "1"

enum {
	READ_MAX = 8 << 20,   /* nobody who follows the rules writes more */
	TROUBLED_MAX = 2 * TURNS_FILE_MAX, /* trouble is noted without the lock, so nothing is summed up */
	SESSIONS_MAX = 64,
	TURNS_MAX = 1000, /* of a session */
	TROUBLES_MAX = 40,
	FIELDS_MAX = 9,
};

/* Each line begins with what it is, the time, the agent, the session and the entry; then come */
enum {
	TURN_FIELDS = 8,  /* number, id, prompt */
	EVENT_FIELDS = 6, /* checkpoint; or why there is none */
	SUM_FIELDS = 9,	  /* checkpoints at the beginning and at the end, tools before and after */
};

static const char *const moments[] = {
	[TURN_PROMPT] = "prompt",
	[TURN_BEFORE] = "before",
	[TURN_AFTER] = "after",
	[TURN_STOP] = "stop",
};

static const char *const reasons[] = {
	[TURN_PROMPT] = "prompt",
	[TURN_BEFORE] = "pre-tool",
	[TURN_AFTER] = "post-tool",
	[TURN_STOP] = "stop",
};

/* Of a turn whose lines were summed up, by its last event. */
static const char *const sums[] = {
	[TURN_PROMPT] = "sum",
	[TURN_BEFORE] = "sum-before",
	[TURN_AFTER] = "sum-after",
	[TURN_STOP] = "sum-stop",
};

/* --- what is remembered --- */

static void free_turn(struct turn *turn)
{
	free(turn->entry);
	free(turn->id);
	free(turn->prompt);
}

static void free_session(struct turn_session *session)
{
	for (size_t i = 0; i < session->nr; i++)
		free_turn(&session->items[i]);
	free(session->items);
	free(session->agent);
	free(session->id);
}

static void free_trouble(struct turn_trouble *trouble)
{
	free(trouble->agent);
	free(trouble->session);
	free(trouble->why);
}

void turns_release(struct turns *turns)
{
	for (size_t i = 0; i < turns->nr; i++)
		free_session(&turns->items[i]);
	free(turns->items);
	for (size_t i = 0; i < turns->troubles_nr; i++)
		free_trouble(&turns->troubles[i]);
	free(turns->troubles);
	memset(turns, 0, sizeof(*turns));
}

struct turn_session *turns_find_session(struct turns *turns, const char *agent, const char *id)
{
	for (size_t i = turns->nr; i--;)
		if (!strcmp(turns->items[i].id, id) && !strcmp(turns->items[i].agent, agent))
			return &turns->items[i];
	return NULL;
}

/* The session of an event, which is now the last that fired. */
static struct turn_session *fire_session(struct turns *turns, const char *agent, const char *id,
				 int64_t when)
{
	struct turn_session *found = turns_find_session(turns, agent, id), session = { 0 };
	size_t at = found ? (size_t)(found - turns->items) : turns->nr;

	if (found) {
		session = *found;
		memmove(found, found + 1, (--turns->nr - at) * sizeof(*found));
	} else {
		session.agent = xstrdup(agent);
		session.id = xstrdup(id);
		if (turns->nr == SESSIONS_MAX) {
			free_session(&turns->items[0]);
			memmove(turns->items, turns->items + 1, --turns->nr * sizeof(session));
		}
	}
	ALLOC_GROW(turns->items, turns->nr + 1, turns->alloc);
	session.fired = when;
	turns->items[turns->nr] = session;
	return &turns->items[turns->nr++];
}

struct turn *turns_current(const struct turn_session *session)
{
	return session && session->nr ? &session->items[session->nr - 1] : NULL;
}

static void add_turn(struct turn_session *session, const struct turn *turn)
{
	if (session->nr == TURNS_MAX) {
		free_turn(&session->items[0]);
		memmove(session->items, session->items + 1, --session->nr * sizeof(*turn));
	}
	*ALLOC_NEXT(session->items, session->nr, session->alloc) = *turn;
}

static void set_id(char out[CKPT_ID_SIZE], const char *id)
{
	snprintf(out, CKPT_ID_SIZE, "%s", id);
}

static void note_event(struct turn *turn, enum turn_moment moment, const char *entry,
		   const char *checkpoint)
{
	/* An agent that reads the settings of another tells everything twice. */
	bool counts = !strcmp(entry, turn->entry);

	if (*checkpoint && !*turn->begin && (moment == TURN_PROMPT || moment == TURN_BEFORE))
		set_id(turn->begin, checkpoint);
	if (*checkpoint)
		set_id(turn->end, checkpoint);
	if (moment == TURN_PROMPT)
		return;
	turn->before += counts && moment == TURN_BEFORE;
	turn->after += counts && moment == TURN_AFTER;
	turn->last = moment;
}

uint64_t turns_tools(const struct turn *turn)
{
	return turn->before > turn->after ? turn->before : turn->after;
}

/* --- reading --- */

/* Cuts the line up; the number of fields, or 0 if there are too many. */
static size_t split_line(char *fields[FIELDS_MAX], char *line)
{
	size_t nr = 0;
	char *tab;

	for (char *at = line;; at = tab + 1) {
		if (nr == FIELDS_MAX)
			return 0;
		fields[nr++] = at;
		tab = strchr(at, '\t');
		if (!tab)
			return nr;
		*tab = '\0';
	}
}

static bool parse_time(int64_t *out, const char *text)
{
	uint64_t when;

	if (!units_parse_number(&when, text) || when > INT64_MAX)
		return false;
	*out = (int64_t)when;
	return true;
}

static bool parse_turn(struct turns *out, char *fields[FIELDS_MAX])
{
	struct turn_session *session;
	struct turn turn = { 0 }, *last;

	if (!parse_time(&turn.began, fields[1]) || !*fields[2] ||
	    !units_parse_number(&turn.number, fields[5]) || !turn.number ||
	    turn.number >= INT64_MAX)
		return false;
	session = fire_session(out, fields[2], fields[3], turn.began);
	last = turns_current(session);
	if (last && last->number >= turn.number)
		return false;
	turn.entry = xstrdup(fields[4]);
	turn.id = xstrdup(fields[6]);
	turn.prompt = xstrdup(fields[7]);
	add_turn(session, &turn);
	return true;
}

/* The moment that a line is about, as one of four names; false: none of them. */
static bool parse_moment(enum turn_moment *out, const char *name, const char *const *names)
{
	for (*out = TURN_PROMPT; *out <= TURN_STOP; ++*out)
		if (!strcmp(name, names[*out]))
			return true;
	return false;
}

bool turns_moment(enum turn_moment *out, const char *name)
{
	return parse_moment(out, name, moments);
}

const char *turns_reason(enum turn_moment moment)
{
	return reasons[moment];
}

static bool is_id_or_empty(const char *text)
{
	return !*text || refs_valid_id(text);
}

static bool parse_event(struct turns *out, char *fields[FIELDS_MAX])
{
	enum turn_moment moment;
	struct turn *turn;
	int64_t when;

	if (!parse_moment(&moment, fields[0], moments) || !parse_time(&when, fields[1]) ||
	    !*fields[2] || !is_id_or_empty(fields[5]))
		return false;
	turn = turns_current(fire_session(out, fields[2], fields[3], when));
	if (turn)
		note_event(turn, moment, fields[4], fields[5]);
	return true;
}

static bool parse_sum(struct turns *out, char *fields[FIELDS_MAX])
{
	enum turn_moment last;
	uint64_t before, after;
	struct turn *turn;
	int64_t when;

	if (!parse_moment(&last, fields[0], sums) || !parse_time(&when, fields[1]) || !*fields[2] ||
	    !is_id_or_empty(fields[5]) || !is_id_or_empty(fields[6]) ||
	    !units_parse_number(&before, fields[7]) || !units_parse_number(&after, fields[8]) ||
	    before > UINT32_MAX || after > UINT32_MAX)
		return false;
	turn = turns_current(fire_session(out, fields[2], fields[3], when));
	if (!turn)
		return false;
	set_id(turn->begin, fields[5]);
	set_id(turn->end, fields[6]);
	turn->before = before;
	turn->after = after;
	turn->last = last;
	return true;
}

static bool parse_trouble(struct turns *out, char *fields[FIELDS_MAX])
{
	int64_t when;

	if (!parse_time(&when, fields[1]) || !*fields[2] || !*fields[5])
		return false;
	if (out->troubles_nr == TROUBLES_MAX) {
		free_trouble(&out->troubles[0]);
		memmove(out->troubles, out->troubles + 1, --out->troubles_nr * sizeof(*out->troubles));
	}
	*ALLOC_NEXT(out->troubles, out->troubles_nr, out->troubles_alloc) = (struct turn_trouble){
		.agent = xstrdup(fields[2]),
		.session = xstrdup(fields[3]),
		.why = xstrdup(fields[5]),
		.at = when,
	};
	return true;
}

/* Nothing that we would write in another way. */
static bool is_printable(const char *line, size_t len)
{
	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_sequence(line + i, len - i);
		if (!n || (line[i] != '\t' && utf8_control(line + i, n)))
			return false;
	}
	return true;
}

static bool parse_line(struct turns *out, char *line, size_t len)
{
	char *fields[FIELDS_MAX];
	size_t nr = is_printable(line, len) ? split_line(fields, line) : 0;

	if (nr == TURN_FIELDS && !strcmp(fields[0], "turn"))
		return parse_turn(out, fields);
	if (nr == SUM_FIELDS)
		return parse_sum(out, fields);
	if (nr == EVENT_FIELDS && !strcmp(fields[0], "trouble"))
		return parse_trouble(out, fields);
	return nr == EVENT_FIELDS && parse_event(out, fields);
}

/* Where the first line is, as a rule at the beginning. */
static const char *find_header(const char *text, size_t len)
{
	const char *at = text;

	while ((at = memmem(at, len - (size_t)(at - text), HEADER, strlen(HEADER))) && at > text &&
	       at[-1] != '\n')
		at++;
	return at;
}

void turns_parse(struct turns *out, const char *text, size_t len)
{
	const char *begin = find_header(text, len), *limit = text + len;
	const char *end = begin ? memchr(begin, '\n', (size_t)(limit - begin)) : NULL;

	memset(out, 0, sizeof(*out));
	out->size = len;
	if (!end)
		return;
	out->sound = true;
	out->skipped = begin > text;
	out->foreign = strncmp(begin, HEADER VERSION "\n", strlen(HEADER VERSION "\n")) != 0;
	/* What does not end in a newline was torn. */
	while (!out->foreign && ++end < limit) {
		const char *line = end;
		char *copy;

		end = memchr(line, '\n', (size_t)(limit - line));
		out->skipped += !end;
		if (!end)
			break;
		copy = xmemdupz(line, (size_t)(end - line));
		if (!parse_line(out, copy, (size_t)(end - line)))
			out->skipped += end > line;
		free(copy);
	}
}

int turns_read(struct turns *out, struct store *store)
{
	struct strbuf text = STRBUF_INIT;
	struct stat st;
	int err = 0;

	memset(out, 0, sizeof(*out));
	if (fstatat(store->dirfd, LAYOUT_TURNS, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : ckpt_error_errno("unable to read '" LAYOUT_TURNS "'");
	/* Something else where the file should be is damage. */
	if (S_ISREG(st.st_mode) && st.st_size <= READ_MAX) {
		err = fs_read_file(&text, store->dirfd, LAYOUT_TURNS);
		if (!err)
			turns_parse(out, text.buf, text.len);
		else if (err == CKPT_ENOTFOUND)
			err = 0;
	}
	out->lost = !out->sound;
	strbuf_release(&text);
	return err ? CKPT_ERROR : 0;
}

/* --- writing --- */

/* One field: nothing in it that separates fields or lines. */
static void add_field(struct strbuf *out, const char *text)
{
	strbuf_addch(out, '\t');
	if (text)
		utf8_printable(out, text, strlen(text), "", ' ');
}

static void begin_line(struct strbuf *out, const char *what, int64_t when, const char *agent,
		       const char *session, const char *entry)
{
	strbuf_addf(out, "%s\t%" PRId64, what, when);
	add_field(out, agent);
	add_field(out, session);
	add_field(out, entry);
}

void turns_print_turn(struct strbuf *out, const struct turn_session *session,
		       const struct turn *turn)
{
	begin_line(out, "turn", turn->began, session->agent, session->id, turn->entry);
	strbuf_addf(out, "\t%" PRIu64, turn->number);
	add_field(out, turn->id);
	add_field(out, turn->prompt);
	strbuf_addch(out, '\n');
}

void turns_print_event(struct strbuf *out, enum turn_moment moment, int64_t when,
			const struct turn_session *session, const char *entry,
			const char *checkpoint)
{
	begin_line(out, moments[moment], when, session->agent, session->id, entry);
	add_field(out, checkpoint);
	strbuf_addch(out, '\n');
}

static void print_trouble(struct strbuf *out, const struct turn_trouble *trouble)
{
	begin_line(out, "trouble", trouble->at, trouble->agent, trouble->session, "");
	add_field(out, trouble->why);
	strbuf_addch(out, '\n');
}

static void print_sum(struct strbuf *out, const struct turn_session *session,
		      const struct turn *turn)
{
	turns_print_turn(out, session, turn);
	begin_line(out, sums[turn->last], session->fired, session->agent, session->id, turn->entry);
	add_field(out, turn->begin);
	add_field(out, turn->end);
	strbuf_addf(out, "\t%" PRIu64 "\t%" PRIu64 "\n", turn->before, turn->after);
}

/* The pieces of the text, from the one to keep longest on, which comes last in the file. */
static void list_pieces(struct strlist *out, const struct turns *turns)
{
	struct strbuf piece = STRBUF_INIT;

	for (size_t i = turns->nr; i--;) {
		const struct turn_session *session = &turns->items[i];

		for (size_t k = session->nr; k--;) {
			print_sum(&piece, session, &session->items[k]);
			strlist_take(out, strbuf_detach(&piece, NULL));
		}
		if (session->nr)
			continue;
		turns_print_event(&piece, TURN_STOP, session->fired, session, "", "");
		strlist_take(out, strbuf_detach(&piece, NULL));
	}
	for (size_t i = turns->troubles_nr; i--;) {
		print_trouble(&piece, &turns->troubles[i]);
		strlist_take(out, strbuf_detach(&piece, NULL));
	}
}

void turns_print(struct strbuf *out, const struct turns *turns, size_t max)
{
	struct strlist pieces = STRLIST_INIT;
	size_t size = strlen(HEADER VERSION "\n"), nr = 0;

	list_pieces(&pieces, turns);
	while (nr < pieces.nr && size + strlen(pieces.items[nr]) <= max)
		size += strlen(pieces.items[nr++]);
	strbuf_addstr(out, HEADER VERSION "\n");
	while (nr--)
		strbuf_addstr(out, pieces.items[nr]);
	strlist_release(&pieces);
}

int turns_write(const struct turns *turns, struct store *store)
{
	struct strbuf text = STRBUF_INIT;
	int err;

	turns_print(&text, turns, TURNS_FILE_MAX / 2);
	err = fs_write_file(store->dirfd, LAYOUT_TURNS, text.buf, text.len, 0600, FS_DURABLE);
	strbuf_release(&text);
	return err;
}

int turns_append(struct store *store, const struct strbuf *line)
{
	return fs_append_line(store->dirfd, LAYOUT_TURNS, line->buf, line->len, 0600);
}


/* --- what went wrong --- */

/* Numbers do not make a difference: how much of it has been read, which process has the lock. */
static bool is_same_reason(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (isdigit((unsigned char)*a))
			a++;
		while (isdigit((unsigned char)*b))
			b++;
		if (*a != *b || !*a)
			return *a == *b;
	}
}

const struct turn_trouble *turns_trouble(const struct turns *turns, const char *agent)
{
	for (size_t i = turns->troubles_nr; i--;)
		if (!strcmp(turns->troubles[i].agent, agent))
			return &turns->troubles[i];
	return NULL;
}

static bool was_told(const struct turns *turns, const char *agent, const char *session,
		     const char *why)
{
	for (size_t i = 0; i < turns->troubles_nr && session; i++)
		if (!strcmp(turns->troubles[i].agent, agent) &&
		    !strcmp(turns->troubles[i].session, session) &&
		    is_same_reason(turns->troubles[i].why, why))
			return true;
	return false;
}

bool turns_note_trouble(struct store *store, const char *agent, const char *session, const char *why)
{
	const struct turn_trouble trouble = { (char *)agent, (char *)session, (char *)why,
					      clock_now() };
	char *kept = ckpt_error_keep();
	struct strbuf line = STRBUF_INIT;
	struct turns turns;
	bool told = false;

	if (!turns_read(&turns, store) && !turns.foreign && turns.size <= TROUBLED_MAX) {
		if (!turns.sound)
			strbuf_addstr(&line, HEADER VERSION "\n");
		print_trouble(&line, &trouble);
		told = !turns_append(store, &line) && was_told(&turns, agent, session, why);
	}
	turns_release(&turns);
	strbuf_release(&line);
	ckpt_error_put_back(CKPT_ERROR, kept);
	return !told;
}

/* --- from labels --- */

static enum turn_moment find_moment(const struct ckpt_record *record)
{
	enum turn_moment moment;

	return parse_moment(&moment, record->reason, reasons) ? moment : TURN_STOP;
}

static struct turn *find_numbered(const struct turn_session *session, uint64_t number)
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
	session = turns_find_session(turns, agent->name, agent->session ? agent->session : "");
	if (!session || session->fired <= record->created_at)
		session = fire_session(turns, agent->name, agent->session ? agent->session : "",
				     record->created_at);
	last = turns_current(session);
	turn = find_numbered(session, agent->turn);
	if (!turn && (!last || last->number < agent->turn)) {
		const struct turn new = {
			.number = agent->turn,
			.began = record->created_at,
			.entry = xstrdup(agent->name),
			.id = xstrdup(agent->turn_id && !agent->sub_agent ? agent->turn_id : ""),
			.prompt = xstrdup(agent->prompt ? agent->prompt : ""),
			.learned = true,
		};

		add_turn(session, &new);
		turn = turns_current(session);
		/* Nothing had changed before the tool that this one was taken after. */
		if (find_moment(record) > TURN_BEFORE && record->base && refs_valid_id(record->base))
			note_event(turn, TURN_PROMPT, turn->entry, record->base);
	}
	if (turn && turn->learned)
		note_event(turn, find_moment(record), turn->entry, record->id);
}
