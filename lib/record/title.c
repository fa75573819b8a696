/* SPDX-License-Identifier: MIT */
#include "record/title.h"

#include "record/checkpoint.h"

#define ELLIPSIS "\xe2\x80\xa6"
#define MASK "***"
#define NO_MESSAGE "(no message)"

enum {
	SHORT_COMMIT = 7,
	BRANCH_MAX = 60, /* bytes */
};

/* Cut to `max` bytes, the ellipsis included, between two characters. */
static void cut_text(struct strbuf *text, size_t start, size_t max)
{
	size_t end = start + max - strlen(ELLIPSIS);

	if (text->len - start <= max)
		return;
	while (end > start && ((unsigned char)text->buf[end] & 0xc0) == 0x80)
		end--;
	strbuf_setlen(text, end);
	strbuf_addstr(text, ELLIPSIS);
}

/* --- secrets --- */

static bool is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("-_.", text[i]))
			return false;
	return len > 0;
}

/* Whether something with this name is usually kept secret. */
static bool names_secret(const char *text, size_t len)
{
	static const char *const words[] = { "password",   "passwd",	   "passphrase", "secret",
					     "token",	   "api-key",	   "api_key",	 "apikey",
					     "credential", "authorization" };

	if (!is_name(text, len))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		for (size_t at = 0; at + strlen(words[i]) <= len; at++)
			if (!strncasecmp(text + at, words[i], strlen(words[i])))
				return true;
	return false;
}

/* "https://me:secret@host/path" as git shows it: without what is before the "@". */
static void add_address(struct strbuf *out, const char *text, size_t len)
{
	const char *scheme = memmem(text, len, "://", 3), *host, *at;

	if (scheme) {
		host = scheme + 3;
		at = memrchr(host, '@',
			     strcspn(host, "/ ") < (size_t)(text + len - host)
				     ? strcspn(host, "/ ")
				     : (size_t)(text + len - host));
		if (at) {
			strbuf_add(out, text, (size_t)(host - text));
			len -= (size_t)(at + 1 - text);
			text = at + 1;
		}
	}
	strbuf_add(out, text, len);
}

static bool is_scheme(const char *text, size_t len)
{
	return (len == strlen("Bearer") && !strncasecmp(text, "Bearer", len)) ||
	       (len == strlen("Basic") && !strncasecmp(text, "Basic", len));
}

/* Where the value of something secret begins in a piece: after "token=", "\"token\":"; 0: nowhere. */
static size_t secret_value(const char *text, size_t len)
{
	bool address = memmem(text, len, "://", 3);

	for (size_t i = 0; i < len; i++) {
		size_t end = i, start;

		if (text[i] != '=' && (text[i] != ':' || address))
			continue;
		while (end && strchr("\"'\\", text[end - 1]))
			end--;
		for (start = end; start && is_name(&text[start - 1], 1);)
			start--;
		if (names_secret(&text[start], end - start))
			return i + 1;
	}
	return 0;
}

/* In a line for a shell a value goes on to the quote that closes it. */
static size_t value_length(const char *text)
{
	size_t quote = strspn(text, "\\");
	const char *end;

	if (text[quote] != '"' && text[quote] != '\'')
		return strcspn(text, " ");
	end = strchr(&text[quote + 1], text[quote]);
	return end ? (size_t)(end - text) + strcspn(end, " ") : strlen(text);
}

struct masking {
	bool next; /* the next piece is a secret, because of this one */
	bool done; /* a secret was left out */
};

/* One piece without blanks, or with those of a secret. Returns the length of what it stands for. */
static size_t add_piece(struct strbuf *out, const char *text, struct masking *masking)
{
	size_t len = strcspn(text, " "), value = 0;

	if (!masking->next || text[0] == '-') {
		value = secret_value(text, len);
		add_address(out, text, value ? value : len);
		masking->next = value ? value == len && text[len - 1] == ':'
				      : text[0] == '-' && names_secret(text, len);
		if (!value || value == len)
			return len;
	}
	strbuf_addstr(out, MASK);
	masking->done = true;
	/* "Authorization: Bearer abc" */
	masking->next = is_scheme(text + value, len - value);
	return value + value_length(text + value);
}

/*
 * If a text is a line for a shell, what follows a secret is shown; of any other word the rest may
 * belong to it.
 */
static void add_masked(struct strbuf *shown, const char *text, bool line, struct masking *masking)
{
	struct strbuf clean = STRBUF_INIT;
	/* More than this would be cut off anyway. */
	size_t len = strnlen(text, (size_t)4 * TITLE_BEFORE_MAX);
	const char *p;

	utf8_printable(&clean, text, len, "", ' ');
	masking->done = false;
	for (p = clean.buf; *p && (line || !masking->done);) {
		size_t blank = strspn(p, " ");

		strbuf_add(shown, p, blank);
		p += blank;
		if (*p)
			p += add_piece(shown, p, masking);
	}
	if (*p)
		masking->next = false;
	strbuf_release(&clean);
}

static void add_word(struct strbuf *out, const char *word, bool line, struct masking *masking)
{
	struct strbuf shown = STRBUF_INIT;

	add_masked(&shown, word, line, masking);
	quote_shell(out, shown.buf);
	strbuf_release(&shown);
}

/* "-c", "-lc": what follows is a line for a shell. */
static bool asks_for_line(const char *word)
{
	size_t len = strlen(word);

	return len > 1 && word[0] == '-' && word[1] != '-' && word[len - 1] == 'c';
}

void title_add_command(struct strbuf *out, char *const *words, size_t nr)
{
	struct masking masking = { 0 };

	for (size_t i = 0; i < nr && out->len <= TITLE_BEFORE_MAX; i++) {
		if (i)
			strbuf_addch(out, ' ');
		add_word(out, words[i], i && asks_for_line(words[i - 1]), &masking);
	}
	cut_text(out, 0, TITLE_BEFORE_MAX);
}

void title_add_text(struct strbuf *out, const char *text)
{
	struct masking masking = { 0 };

	strbuf_addch(out, '"');
	add_masked(out, text, true, &masking);
	cut_text(out, 0, TITLE_BEFORE_MAX - 1);
	strbuf_addch(out, '"');
}

void title_add_path(struct strbuf *out, const char *path)
{
	quote_path(out, path);
	cut_text(out, 0, TITLE_BEFORE_MAX);
}

/* --- titles --- */

/* " (feature at 47120d2)" */
static void add_place(struct strbuf *out, const struct ckpt_record *record)
{
	size_t start;

	if (!record->branch && !record->head)
		return;
	strbuf_addstr(out, " (");
	start = out->len;
	strbuf_addstr(out, record->branch ? record->branch : "detached");
	cut_text(out, start, BRANCH_MAX);
	if (record->head)
		strbuf_addf(out, " at %.*s", SHORT_COMMIT, record->head);
	else
		strbuf_addstr(out, ", no commit yet");
	strbuf_addch(out, ')');
}

static void compose_title(struct strbuf *out, const struct ckpt_record *record)
{
	const char *reason = record->reason + strspn(record->reason, "\n");

	if (record->before) {
		strbuf_addf(out, "before: %s", record->before);
		if (!strcmp(record->source, "hook"))
			add_place(out, record);
	} else if (record->done) {
		strbuf_addf(out, "after: %s", record->done);
	} else if (record->safety) {
		strbuf_addf(out, "before restoring %s",
			    *record->safety_for ? record->safety_for : "a checkpoint");
	} else if (record->automatic && !strcmp(reason, "pre-tool")) {
		strbuf_addf(out, "before: a tool of %s", record->source);
	} else if (*reason && strcmp(reason, "manual") != 0) {
		strbuf_add(out, reason, strcspn(reason, "\n"));
	} else {
		strbuf_addstr(out, NO_MESSAGE);
	}
}

char *title_of(const struct ckpt_record *record)
{
	struct strbuf text = STRBUF_INIT, line = STRBUF_INIT;

	compose_title(&text, record);
	utf8_printable(&line, text.buf, text.len, "", ' ');
	strbuf_release(&text);
	return strbuf_detach(&line, NULL);
}

char *title_name(const struct ckpt_record *record)
{
	char *title = title_of(record);
	bool none = !strcmp(title, NO_MESSAGE);
	struct strbuf name = STRBUF_INIT;

	if (record->step >= 0)
		strbuf_addf(&name, "step %lld%s%s%s", (long long)record->step, none ? "" : " (",
			    none ? "" : title, none ? "" : ")");
	else
		strbuf_addstr(&name, none ? record->id : title);
	cut_text(&name, 0, TITLE_NAME_MAX);
	free(title);
	return strbuf_detach(&name, NULL);
}
