/* SPDX-License-Identifier: MIT */
#include "agents/agents_internal.h"

#include <poll.h>

enum {
	LABEL_MAX = 128,  /* bytes of an id or a name */
	PROMPT_MAX = 200, /* bytes of the first line */
	CHUNK = 65536,
};

#define ELLIPSIS "\xe2\x80\xa6"
#define MEMBERS "members" /* what agents call what they tell, in members.json */

/* --- texts --- */

/* Whether an escape is one half of a pair: the high one has one of 89ab as its second digit. */
static bool is_half(const char *escape, const char *digits)
{
	return escape[0] == '\\' && escape[1] == 'u' && (escape[2] == 'd' || escape[2] == 'D') &&
	       strspn(escape + 2, "0123456789abcdefABCDEF") >= 4 && strchr(digits, escape[3]);
}

/* What is cut in the middle of a character has half of it, and jansson takes only whole ones. */
static void replace_halves(char *string)
{
	for (char *p = string; *p; p++) {
		if (*p != '\\')
			continue;
		if (is_half(p, "89abAB") && is_half(p + 6, "cdefCDEF"))
			p += 11;
		else if (is_half(p, "89abcdefABCDEF"))
			p = (char *)memcpy(p + 2, "fffd", 4) + 3;
		else if (p[1])
			p++;
	}
}

/*
 * A value at the beginning of the text; NULL if it is not JSON, or nested or exact beyond what
 * anybody needs.
 */
static json_t *load_text(const char *text, size_t len)
{
	struct strbuf clean = STRBUF_INIT;
	size_t skip = len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
	json_t *value;

	utf8_sanitize(&clean, text + skip, len - skip);
	replace_halves(clean.buf);
	value = json_loadb(clean.buf, clean.len, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL | JSON_DISABLE_EOF_CHECK, NULL);
	strbuf_release(&clean);
	return value;
}

/* --- the stream --- */

/* False at the end of the time. */
static bool wait_for(int fd, double until)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	for (;;) {
		double left = until - clock_monotonic();
		int rc = left > 0 && !cancel_signal() ? poll(&poll_fd, 1, (int)(left * 1000) + 1)
						      : 0;

		if (rc >= 0)
			return rc > 0;
		if (errno != EINTR)
			return false;
	}
}

static bool is_object(const struct strbuf *text)
{
	json_t *value = load_text(text->buf, text->len);
	bool is = json_is_object(value);

	json_decref(value);
	return is;
}

/* Who has no more to say for now may have said all, and keep the stream open. */
bool agent_input_read(struct strbuf *out, int fd, double seconds, size_t max)
{
	struct pollfd more = { .fd = fd, .events = POLLIN };
	double until = clock_monotonic() + seconds;
	ssize_t n = 1;

	while (n && out->len < max && wait_for(fd, until)) {
		strbuf_grow(out, CHUNK);
		n = read(fd, out->buf + out->len, CHUNK);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return false;
		if (n > 0)
			strbuf_setlen(out, out->len + (size_t)n);
		if ((!n || !poll(&more, 1, 0)) && is_object(out))
			return true;
	}
	return false;
}

/* --- strings --- */

/* NULL if it is anything but a string, or empty. The caller frees it. */
static char *copy_string(const json_t *value)
{
	size_t len = json_string_length(value);
	char *out = len ? xmemdupz(json_string_value(value), len) : NULL;

	/* A directory that is cut short at a NUL is a different one. */
	for (size_t i = 0; i < len; i++)
		if (!out[i])
			out[i] = ' ';
	return out;
}

/* Make it one line of at most `max` bytes, fit to be shown; NULL if nothing is left. */
static void shorten_label(char **text, size_t max)
{
	struct strbuf line = STRBUF_INIT;
	const char *begin = *text ? *text + strspn(*text, " \t\r\n") : "";
	size_t end;

	utf8_printable(&line, begin, strcspn(begin, "\r\n"), "", ' ');
	if (line.len > max) {
		end = max - strlen(ELLIPSIS);
		while (end && ((unsigned char)line.buf[end] & 0xc0) == 0x80)
			end--;
		strbuf_setlen(&line, end);
		strbuf_addstr(&line, ELLIPSIS);
	}
	free(*text);
	*text = line.len ? xstrdup(line.buf) : NULL;
	strbuf_release(&line);
}

/* --- members --- */

enum slot {
	CWD,
	SESSION,
	TURN,
	EVENT,
	TOOL,
	CALL,
	SUB,
	PARENT,
	PROMPT,
	TRANSCRIPT,
	TIME,
	INPUT,
	RESULT,
	REASON,
	ROOTS,
	NESTED, /* an object with name, id and input of a tool */
	SLOTS
};

/* Their names in members.json. */
static const char *const slots[SLOTS] = {
	[CWD] = "cwd",		[SESSION] = "session", [TURN] = "turn",
	[EVENT] = "event",	[TOOL] = "tool",       [CALL] = "call",
	[SUB] = "sub_agent",	[PARENT] = "parent",   [PROMPT] = "prompt",
	[TRANSCRIPT] = "transcript", [TIME] = "time",  [INPUT] = "input",
	[RESULT] = "result",	[REASON] = "reason",   [ROOTS] = "roots",
	[NESTED] = "nested",
};

struct found {
	const json_t *at[SLOTS]; /* NULL: not there; null is as good as none */
};

/* The first of these that is there. */
static const json_t *find_member(const json_t *object, const json_t *names)
{
	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));
		const json_t *value = json_object_get(object, name);

		if (value && !json_is_null(value))
			return value;
	}
	return NULL;
}

static void find_members(struct found *found, const json_t *object, const json_t *names)
{
	for (int slot = 0; slot < SLOTS; slot++)
		found->at[slot] = find_member(object, json_object_get(names, slots[slot]));
}

/* The tool's own, but for the directory: it is where the agent is that counts. */
static void find_nested(struct found *found, const json_t *names)
{
	struct found inner;

	find_members(&inner, found->at[NESTED], names);
	for (int slot = 0; slot < SLOTS; slot++)
		if (inner.at[slot] && (slot != CWD || !found->at[CWD]))
			found->at[slot] = inner.at[slot];
}

static char *copy_slot(const struct found *found, enum slot slot)
{
	return copy_string(found->at[slot]);
}

/* --- what the tool works on --- */

/* The first that is a string. */
static char *copy_member(const json_t *object, const json_t *names)
{
	char *value = NULL;

	for (size_t i = 0; i < json_array_size(names) && !value; i++)
		value = copy_string(
			json_object_get(object, json_string_value(json_array_get(names, i))));
	return value;
}

/* The strings of an array, as a line. */
static char *join_strings(const json_t *array)
{
	struct strbuf line = STRBUF_INIT;

	for (size_t i = 0; i < json_array_size(array) && line.len < PROMPT_MAX; i++) {
		char *word = copy_string(json_array_get(array, i));

		if (word)
			strbuf_addf(&line, "%s%s", line.len ? " " : "", word);
		free(word);
	}
	return strbuf_detach(&line, NULL);
}

/* A patch in the form of Codex names its files. */
static char *path_of_patch(const char *patch)
{
	static const char *const heads[] = { "*** Update File: ", "*** Add File: ",
					     "*** Delete File: " };
	const char *first = NULL;
	size_t skip = 0;

	if (strncmp(patch + strspn(patch, " \r\n"), "*** Begin Patch", 15) != 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		const char *at = strstr(patch, heads[i]);

		if (at && (!first || at < first)) {
			first = at;
			skip = strlen(heads[i]);
		}
	}
	return first ? xmemdupz(first + skip, strcspn(first + skip, "\r\n")) : NULL;
}

static void read_input(struct agent_event *out, const json_t *input, const json_t *members)
{
	const json_t *lists = json_object_get(members, "lists");

	out->path = copy_member(input, json_object_get(members, "paths"));
	out->command = copy_member(input, json_object_get(members, "commands"));
	for (size_t i = 0; i < json_array_size(lists) && !out->command; i++) {
		const char *name = json_string_value(json_array_get(lists, i));

		if (json_is_array(json_object_get(input, name)))
			out->command = join_strings(json_object_get(input, name));
	}
	if (!out->path && out->command)
		out->path = path_of_patch(out->command);
}

/* An object, or the text of one in a string. */
static void read_inputs(struct agent_event *out, const struct found *found, const json_t *members)
{
	char *string = copy_slot(found, INPUT);
	json_t *inner = string ? load_text(string, strlen(string)) : NULL;

	if (json_is_object(inner))
		read_input(out, inner, members);
	else if (string)
		out->path = path_of_patch(string);
	else if (json_is_object(found->at[INPUT]))
		read_input(out, found->at[INPUT], members);
	json_decref(inner);
	free(string);
}

/* --- what is known of the agents --- */

/* Agents write the name of our server before that of a tool. */
static bool is_our_tool(const char *tool)
{
	json_t *members = agents_load(MEMBERS), *server;
	bool is = false;
	size_t i;

	json_array_foreach(json_object_get(members, "our_tools"), i, server) {
		size_t len = json_string_length(server);

		is = is || (!strncmp(tool, json_string_value(server), len) &&
			    !strncmp(tool + len, "checkpoint_", 11));
	}
	json_decref(members);
	return is;
}

bool agent_tool_reads(const char *agent, const char *tool)
{
	bool reads = is_our_tool(tool);
	json_t *data = reads ? NULL : agents_load(agent), *name;
	size_t i;

	json_array_foreach(json_object_get(data, "reading_tools"), i, name)
		reads = reads || !strcmp(json_string_value(name), tool);
	json_decref(data);
	return reads;
}

/* Without what separates words, in lower case: "PreToolUse", "preToolUse", "pre_tool_use". */
static void simplify_name(char *out, size_t size, const char *event)
{
	size_t len = 0;

	for (; *event && len < size - 1; event++)
		if (isalnum((unsigned char)*event))
			out[len++] = (char)tolower((unsigned char)*event);
	out[len] = '\0';
}

static bool find_moment(enum turn_moment *out, json_t *events, const char *plain)
{
	const char *event;
	json_t *moment;
	char known[40];

	json_object_foreach(events, event, moment) {
		simplify_name(known, sizeof(known), event);
		if (!strcmp(known, plain) && turns_moment(out, json_string_value(moment)))
			return true;
	}
	return false;
}

static bool find_event(enum turn_moment *out, const char *agent, const char *plain)
{
	json_t *data = agents_load(agent);
	const json_t *hooks = agents_part(data, false);
	bool found = find_moment(out, json_object_get(hooks, "events"), plain) ||
		     find_moment(out, json_object_get(hooks, "more_events"), plain);

	json_decref(data);
	return found;
}

/* Agents read the settings of one another, so the names of all count. */
enum turn_moment agent_moment_of(const char *agent, const char *event, bool has_tool)
{
	enum turn_moment moment;
	char plain[40];

	simplify_name(plain, sizeof(plain), event);
	if (find_event(&moment, agent, plain))
		return moment;
	for (const char *const *name = agents_names(); *name; name++)
		if (find_event(&moment, *name, plain))
			return moment;
	if (has_tool && (!strncmp(plain, "pre", 3) || !strncmp(plain, "before", 6)))
		return TURN_BEFORE;
	if (has_tool && (!strncmp(plain, "post", 4) || !strncmp(plain, "after", 5)))
		return TURN_AFTER;
	return TURN_OTHER;
}

bool agent_event_saves(const struct agent_event *event)
{
	switch (event->moment) {
	case TURN_BEFORE:
	case TURN_AFTER:
		return !event->labels.tool ||
		       !agent_tool_reads(event->labels.name, event->labels.tool);
	case TURN_PROMPT:
	case TURN_STOP:
		return true;
	case TURN_OTHER:
		break;
	}
	return false;
}
/* --- who and when --- */

/*
 * Others read the settings of Claude Code and run what they find there. Where the transcript is
 * tells them apart, and that one of them does not say it as a rule.
 */
static char *find_who(const char *entry, const struct found *found)
{
	json_t *own = agents_load(entry);
	const char *dir = agents_text(own, "shared_by_transcripts");
	char *transcript = dir ? copy_slot(found, TRANSCRIPT) : NULL, *agent = NULL;
	bool elsewhere = transcript && !strstr(transcript, dir);
	bool silent = dir && !transcript && found->at[SESSION] && found->at[TIME];

	for (const char *const *name = agents_names(); *name && !agent && (elsewhere || silent); name++) {
		json_t *other = agents_load(*name);
		const char *theirs = agents_text(other, "transcripts");

		if (silent ? json_is_true(json_object_get(other, "silent_transcripts"))
			   : theirs && strstr(transcript, theirs))
			agent = xstrdup(*name);
		json_decref(other);
	}
	json_decref(own);
	free(transcript);
	return agent ? agent : xstrdup(entry);
}

/* Those of some agents have no name: what they bring tells. */
static enum turn_moment moment_without_name(const struct found *found)
{
	if (found->at[TOOL])
		return found->at[RESULT] ? TURN_AFTER : TURN_BEFORE;
	return found->at[PROMPT] ? TURN_PROMPT : found->at[REASON] ? TURN_STOP : TURN_OTHER;
}

static void set_moment(struct agent_event *out, const struct found *found, const char *given)
{
	char *told = copy_slot(found, EVENT);
	const char *event = told ? told : given;

	out->moment = event ? agent_moment_of(out->entry, event, out->labels.tool != NULL)
			    : moment_without_name(found);
	/* Qwen repeats the event after each tool, without a text: nobody asked for anything. */
	if (out->moment == TURN_PROMPT && found->at[PROMPT] && !out->labels.prompt)
		out->moment = TURN_OTHER;
	free(told);
}

static void set_roots(struct agent_event *out, const struct found *found)
{
	for (size_t i = 0; i < json_array_size(found->at[ROOTS]); i++) {
		char *root = copy_string(json_array_get(found->at[ROOTS], i));

		if (root)
			strlist_take(&out->roots, root);
	}
}

static void set_labels(struct ckpt_agent *out, const struct found *found)
{
	out->session = copy_slot(found, SESSION);
	out->turn_id = copy_slot(found, TURN);
	out->tool = copy_slot(found, TOOL);
	out->tool_call = copy_slot(found, CALL);
	/* Cline's main agent has an id as well, and says that it has no parent. */
	if (!found->at[ROOTS] || found->at[PARENT])
		out->sub_agent = copy_slot(found, SUB);
	out->prompt = copy_slot(found, PROMPT);
	shorten_label(&out->session, LABEL_MAX);
	shorten_label(&out->turn_id, LABEL_MAX);
	shorten_label(&out->tool, LABEL_MAX);
	shorten_label(&out->tool_call, LABEL_MAX);
	shorten_label(&out->sub_agent, LABEL_MAX);
	shorten_label(&out->prompt, PROMPT_MAX);
}

void agent_event_read(struct agent_event *out, const struct strbuf *text, const char *entry,
		      const char *event)
{
	json_t *root = load_text(text->buf, text->len), *members;
	struct found found;

	memset(out, 0, sizeof(*out));
	out->entry = xstrdup(entry);
	shorten_label(&out->entry, LABEL_MAX);
	if (!out->entry)
		out->entry = xstrdup("agent");
	out->readable = json_is_object(root);
	/* Who cannot be understood may be about to change something. */
	if (!out->readable) {
		json_decref(root);
		out->labels.name = xstrdup(out->entry);
		out->moment = event ? agent_moment_of(out->entry, event, true) : TURN_BEFORE;
		return;
	}
	members = agents_load(MEMBERS);
	find_members(&found, root, json_object_get(members, "event"));
	if (!found.at[TOOL])
		find_nested(&found, json_object_get(members, "nested"));
	out->labels.name = find_who(out->entry, &found);
	out->cwd = copy_slot(&found, CWD);
	set_labels(&out->labels, &found);
	set_roots(out, &found);
	set_moment(out, &found, event);
	if (out->moment == TURN_BEFORE || out->moment == TURN_AFTER)
		read_inputs(out, &found, members);
	json_decref(members);
	json_decref(root);
}

void agent_event_release(struct agent_event *event)
{
	record_agent_release(&event->labels);
	free(event->entry);
	free(event->cwd);
	free(event->path);
	free(event->command);
	strlist_release(&event->roots);
	memset(event, 0, sizeof(*event));
}
