/* SPDX-License-Identifier: MIT */
#include "ui/term.h"

#include <sys/ioctl.h>

enum { DEFAULT_WIDTH = 80, MOST_WIDTH = 10000 };

static enum { COLOR_UNDECIDED, COLOR_OFF, COLOR_ON } color_state;
static unsigned held_width; /* 0: not held */

bool term_is_terminal(void)
{
	const char *paged = env_git("GIT_PAGER_IN_USE");

	/* "git --paginate" has put its own pager on our stdout, and says so. */
	return held_width || isatty(STDOUT_FILENO) ||
	       (paged && (!strcmp(paged, "true") || !strcmp(paged, "1")));
}

static bool color_auto(void)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return term_is_terminal() && !(no_color && *no_color) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

void term_set_color(const char *when)
{
	bool on;

	if (when && !strcmp(when, "always"))
		on = true;
	else if (when && !strcmp(when, "never"))
		on = false;
	else
		on = color_auto();
	color_state = on ? COLOR_ON : COLOR_OFF;
}

static const char *const escapes[] = {
	[TERM_RESET] = "\x1b[m",  [TERM_BOLD] = "\x1b[1m",   [TERM_DIM] = "\x1b[2m",
	[TERM_RED] = "\x1b[31m",  [TERM_GREEN] = "\x1b[32m", [TERM_YELLOW] = "\x1b[33m",
	[TERM_BLUE] = "\x1b[34m", [TERM_CYAN] = "\x1b[36m",
};

const char *term_color(enum term_color color)
{
	if (color_state == COLOR_UNDECIDED)
		term_set_color("auto");
	return color_state == COLOR_ON ? escapes[color] : "";
}

/* ---- text ---- */

/* The length of the colour that the text begins with, 0: it is none that we would print. */
static size_t color_length(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(escapes) && color_state == COLOR_ON; i++)
		if (!strncmp(text, escapes[i], strlen(escapes[i])))
			return strlen(escapes[i]);
	return 0;
}

void term_clean(struct strbuf *out, const char *text)
{
	while (*text) {
		size_t color = color_length(text), len = 1 + strcspn(text + 1, "\x1b");

		if (color)
			strbuf_add(out, text, color);
		else
			utf8_printable(out, text, len, "\n\t", '?');
		text += color ? color : len;
	}
}

void term_vsay(FILE *to, const char *fmt, va_list ap)
{
	struct strbuf text = STRBUF_INIT, clean = STRBUF_INIT;

	strbuf_vaddf(&text, fmt, ap);
	term_clean(&clean, text.buf);
	fwrite(clean.buf, 1, clean.len, to);
	strbuf_release(&text);
	strbuf_release(&clean);
}

void term_say(FILE *to, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	term_vsay(to, fmt, ap);
	va_end(ap);
}

unsigned term_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t n;

	if (held_width)
		return held_width;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	if (columns && units_parse_number(&n, columns) && n && n <= MOST_WIDTH)
		return (unsigned)n;
	return DEFAULT_WIDTH;
}

void term_hold(void)
{
	if (color_state == COLOR_UNDECIDED)
		term_set_color("auto");
	held_width = term_width();
}

void term_unhold(void)
{
	held_width = 0;
}

/* ---- width of text ---- */

struct range {
	uint32_t from, to;
};

static bool in_ranges(uint32_t c, const struct range *ranges, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (c >= ranges[i].from && c <= ranges[i].to)
			return true;
	return false;
}

/* Not all of Unicode, but what occurs in names and reasons. */
static size_t char_width(uint32_t c)
{
	static const struct range none[] = {
		{ 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd },   { 0x064b, 0x065f },
		{ 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x200b, 0x200f },   { 0x202a, 0x202e },
		{ 0x2060, 0x2064 }, { 0x20d0, 0x20ff }, { 0x3099, 0x309a },   { 0xfe00, 0xfe0f },
		{ 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff }, { 0xe0100, 0xe01ef },
	};
	static const struct range wide[] = {
		{ 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x23e9, 0x23ec },
		{ 0x2614, 0x2615 },   { 0x26a1, 0x26a1 },   { 0x2705, 0x2705 },
		{ 0x2728, 0x2728 },   { 0x274c, 0x274c },   { 0x2753, 0x2757 },
		{ 0x2795, 0x2797 },   { 0x2b50, 0x2b50 },   { 0x2e80, 0x303e },
		{ 0x3041, 0x33ff },   { 0x3400, 0x4dbf },   { 0x4e00, 0x9fff },
		{ 0xa000, 0xa4cf },   { 0xa960, 0xa97f },   { 0xac00, 0xd7a3 },
		{ 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },
		{ 0xffe0, 0xffe6 },   { 0x16fe0, 0x18aff }, { 0x1b000, 0x1b2ff },
		{ 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff },
		{ 0x1fa70, 0x1faff }, { 0x20000, 0x3fffd },
	};

	if (c < 0x300)
		return 1;
	if (in_ranges(c, none, ARRAY_SIZE(none)))
		return 0;
	return in_ranges(c, wide, ARRAY_SIZE(wide)) ? 2 : 1;
}

size_t term_text_width(const char *text)
{
	size_t left = strlen(text), width = 0;

	while (left) {
		size_t len = utf8_sequence(text, left);

		/* A byte that is not UTF-8 is shown as one replacement character. */
		width += len ? char_width(utf8_decode(text, len)) : 1;
		len = len ? len : 1;
		text += len;
		left -= len;
	}
	return width;
}

size_t term_add_cut(struct strbuf *out, const char *text, size_t width)
{
	size_t used = term_text_width(text), end = 0;

	if (used <= width) {
		strbuf_addstr(out, text);
		return used;
	}
	used = 1; /* of the ellipsis */
	while (text[end]) {
		size_t len = utf8_sequence(text + end, strlen(text + end));
		char one[5] = "";
		size_t more;

		len = len ? len : 1;
		memcpy(one, text + end, len);
		more = term_text_width(one);
		if (used + more > width)
			break;
		used += more;
		end += len;
	}
	strbuf_add(out, text, end);
	strbuf_addstr(out, "\xe2\x80\xa6");
	return used;
}
