/* SPDX-License-Identifier: MIT */
#include "settings/settings.h"

#include "settings/setting_internal.h"

#include <sys/file.h>

int settings_check(unsigned index, const char *value)
{
	struct ckpt_settings scratch = { 0 };
	struct strbuf shown = STRBUF_INIT;
	bool valid = setting_parse(&scratch, index, value);
	int err = 0;

	settings_release(&scratch);
	if (!valid) {
		quote_path(&shown, value);
		err = ckpt_error_set(CKPT_EUSAGE, "bad value '%s' for '%s': expected %s", shown.buf,
				     setting_table[index].key, setting_expected(index));
	}
	strbuf_release(&shown);
	return err;
}

/*
 * ---- the text ----
 *
 * Comments, other keys, indentation and line endings stay as they are.
 */

/* One line of the text, in offsets. */
struct line {
	size_t start;	/* of its first byte that is not white space */
	size_t end;	/* of its contents, without line ending */
	size_t next;	/* of the next line */
	size_t key_end; /* without white space; `start` if it has no key */
};

static bool next_line(struct line *out, const struct strbuf *text, size_t at)
{
	const char *newline;

	if (at >= text->len)
		return false;
	newline = memchr(text->buf + at, '\n', text->len - at);
	out->end = newline ? (size_t)(newline - text->buf) : text->len;
	out->next = out->end + (newline != NULL);
	if (out->end > at && text->buf[out->end - 1] == '\r')
		out->end--;
	out->start = at;
	if (!at && text->len >= 3 && !memcmp(text->buf, "\xef\xbb\xbf", 3))
		out->start = 3;
	while (out->start < out->end && isspace((unsigned char)text->buf[out->start]))
		out->start++;
	out->key_end = out->start;
	if (out->start < out->end && !strchr("#;[", text->buf[out->start])) {
		while (out->key_end < out->end && !strchr("=:", text->buf[out->key_end]))
			out->key_end++;
		while (out->key_end > out->start &&
		       isspace((unsigned char)text->buf[out->key_end - 1]))
			out->key_end--;
	}
	return true;
}

static bool sets_key(const struct line *line, const struct strbuf *text, const char *key)
{
	size_t len = line->key_end - line->start;

	return len == strlen(key) && !strncasecmp(text->buf + line->start, key, len);
}

static bool is_section(const struct line *line, const struct strbuf *text)
{
	return line->start < line->end && text->buf[line->start] == '[';
}

/* Where a comment after a value begins, with the white space before it, or the end of the line. */
static size_t comment_of(const struct line *line, const struct strbuf *text)
{
	size_t at = line->key_end;

	while (at < line->end && !strchr("=:", text->buf[at]))
		at++;
	for (at++; at < line->end; at++)
		if (strchr("#;", text->buf[at]) && isspace((unsigned char)text->buf[at - 1]))
			break;
	if (at >= line->end)
		return line->end;
	while (at > line->key_end + 1 && isspace((unsigned char)text->buf[at - 1]))
		at--;
	return at;
}

/* A new line: after the last key, or before the first section and the comment that is right above. */
static void insert_key(struct strbuf *text, const char *key, const char *value)
{
	size_t after_key = 0, block = 0, at;
	const char *ending = memmem(text->buf, text->len, "\r\n", 2) ? "\r\n" : "\n";
	struct line line = { 0 };
	bool section = false, comments = false;
	char *added;

	for (at = 0; !section && next_line(&line, text, at); at = line.next) {
		section = is_section(&line, text);
		if (line.key_end > line.start)
			after_key = line.next;
		if (!section && line.start < line.end && line.key_end == line.start) {
			block = comments ? block : at;
			comments = true;
		} else if (!section) {
			comments = false;
		} else {
			block = comments ? block : at;
		}
	}
	at = after_key ? after_key : section ? block : text->len;
	/* The last line may lack its end. */
	added = xstrfmt("%s%s = %s%s", at && text->buf[at - 1] != '\n' ? ending : "", key, value,
			ending);
	strbuf_splice(text, at, at, added, strlen(added));
	free(added);
}

/* How many lines set the plain key. */
static size_t count_key(const struct strbuf *text, const char *key)
{
	struct line line = { 0 };
	size_t nr = 0;

	for (size_t at = 0; next_line(&line, text, at) && !is_section(&line, text); at = line.next)
		nr += sets_key(&line, text, key);
	return nr;
}

/*
 * In place of its last value, or, if it has none or with `add`, after the last key before the first
 * section. A comment after the old value stays.
 */
static void set_key(struct strbuf *text, const char *key, const char *value, bool add)
{
	struct line line = { 0 }, found = { 0 };
	char *with;

	for (size_t at = 0; next_line(&line, text, at) && !is_section(&line, text); at = line.next)
		if (sets_key(&line, text, key))
			found = line;
	if (add || !found.next) {
		insert_key(text, key, value);
		return;
	}
	with = xstrfmt(" = %s", value);
	strbuf_splice(text, found.key_end, comment_of(&found, text), with, strlen(with));
	free(with);
}

/* Remove all its lines; returns how many there were. */
static size_t unset_key(struct strbuf *text, const char *key)
{
	struct line line = { 0 };
	size_t nr = 0, at = 0;

	while (next_line(&line, text, at) && !is_section(&line, text)) {
		if (sets_key(&line, text, key)) {
			strbuf_splice(text, at, line.next, NULL, 0);
			nr++;
		} else {
			at = line.next;
		}
	}
	return nr;
}

/* ---- whether the new text says what it should ---- */

struct reading {
	const char *key, *value;
	bool found;
};

static int compare_value(const char *section, const char *key, const char *value,
			 unsigned line UNUSED, void *payload)
{
	struct reading *reading = payload;

	if (!*section && !strcasecmp(key, reading->key))
		reading->found = reading->found || !strcmp(value, reading->value);
	return 0;
}

/* There is no quoting in these files. */
static int check_reading(const struct strbuf *text, const char *path, unsigned index,
			 const char *value)
{
	struct reading reading = { setting_table[index].key, value, false };
	int err = ini_parse_text(text->buf, text->len, path, compare_value, &reading);

	if (!err && !reading.found)
		err = ckpt_error_set(
			CKPT_EUSAGE,
			"the value of '%s' cannot be written to a file: it must be one "
			"line, without white space around it or before a '#' or ';'",
			reading.key);
	return err;
}

/* ---- the file ---- */

/* Held until the descriptor is closed, so that two changes at once do not lose one. */
static int lock_directory(int *fd_out, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = xmemdupz(path, (size_t)(slash - path));
	int err = fs_is_dir(dir) ? 0 : fs_mkdir_p(dir, 0700);

	if (!err) {
		*fd_out = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (*fd_out < 0 || flock(*fd_out, LOCK_EX) < 0)
			err = ckpt_error_errno("unable to lock '%s'", dir);
	}
	free(dir);
	return err;
}

static int edit_text(struct strbuf *text, size_t *removed_out, const char *path, unsigned index,
		const struct settings_change *change)
{
	const char *key = setting_table[index].key;

	*removed_out = 0;
	if (!change->value) {
		*removed_out = unset_key(text, key);
		return 0;
	}
	if (!change->add && count_key(text, key) > 1 && setting_adds_up(index))
		return ckpt_error_set(CKPT_EREFUSED,
				      "'%s' has several values in '%s'; use '--add' to add one, or "
				      "'--unset' to remove them all",
				      key, path);
	set_key(text, key, change->value, change->add);
	return check_reading(text, path, index, change->value);
}

int settings_change(const char *path, unsigned index, const struct settings_change *change)
{
	struct strbuf text = STRBUF_INIT;
	char *real = path_resolve(path);
	size_t removed = 0;
	struct stat st;
	int fd = -1, err = 0;

	if (change->value)
		err = settings_check(index, change->value);
	if (!err && change->add && !setting_adds_up(index))
		err = ckpt_error_set(CKPT_EUSAGE, "'%s' has one value; set it without '--add'",
				     setting_table[index].key);
	if (!err)
		err = lock_directory(&fd, real);
	if (!err) {
		err = fs_read_text(&text, AT_FDCWD, real);
		if (err == CKPT_ENOTFOUND)
			err = 0;
	}
	if (!err)
		err = edit_text(&text, &removed, path, index, change);
	if (!err && !change->value && !removed)
		err = ckpt_error_set(CKPT_ENOTFOUND, "'%s' is not set in '%s'",
				     setting_table[index].key, path);
	if (!err)
		err = fs_write_file(AT_FDCWD, real, text.buf, text.len,
				    stat(real, &st) ? fs_usual_mode(0666) : st.st_mode & 07777,
				    FS_DURABLE);
	fs_close(fd);
	free(real);
	strbuf_release(&text);
	return err;
}
