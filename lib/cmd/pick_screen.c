/* SPDX-License-Identifier: MIT */
#include "cmd/pick_internal.h"

#include "base/base.h"
#include "cmd/listed_internal.h"
#include "cmd/report.h"
#include "record/record.h"
#include "ui/ui.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

#define ENTER_SCREEN "\x1b[?1049h\x1b[?25l"
#define LEAVE_SCREEN "\x1b[?25h\x1b[?1049l"
#define CHOSEN "\x1b[7m"

enum {
	ROUND_MS = 250, /* how often the size of the terminal is looked at */
	ESCAPE_MS = 50, /* what follows an escape sooner than this belongs to it */
	AROUND = 2,	/* lines around the list: the title, and one between it and the preview */
};

struct screen {
	int fd;
	struct termios before;
	struct session *session;
	const struct listed *rows;
	const struct pathspec *only;
	struct pick_preview *previews; /* one for each row, made when first seen */
	struct picklist list;
	size_t scrolled; /* lines of the preview that are above what is shown */
	size_t lines, columns;
	char keys[64]; /* typed, but not processed yet */
	size_t keys_nr;
};

/* --- drawing --- */

static void measure(struct screen *screen)
{
	struct winsize size;
	size_t room;

	if (ioctl(screen->fd, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col) {
		size.ws_row = 24;
		size.ws_col = 80;
	}
	screen->lines = size.ws_row;
	screen->columns = size.ws_col > 2 ? size.ws_col : 2;
	/* At most half of the screen: the rest is for the preview. */
	room = screen->lines / 2 > AROUND ? screen->lines / 2 - AROUND : 1;
	picklist_resize(&screen->list, room < screen->list.nr ? room : screen->list.nr);
}

/* Of everything, or of the paths that were asked for. */
static void add_change(struct table *table, const struct listed *row)
{
	if (!row->change)
		table_addf(table, "%" PRIu64 " changed", row->record->changed);
	else if (row->added < 0)
		table_add(table, row->change);
	else
		table_addf(table, "%s +%" PRId64 " -%" PRId64, row->change, row->added,
			   row->deleted);
}

/* The rows of the list, aligned, as lines of `width` columns. */
static void format_rows(struct strbuf *out, const struct screen *screen, unsigned width)
{
	static const struct table_column columns[] = {
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_KEEP },
		{ NULL, TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP },
		{ NULL, TABLE_RIGHT, 30, TERM_RESET, TABLE_SPARE },
		{ NULL, TABLE_LEFT, 10, TERM_RESET, TABLE_SPARE },
		{ NULL, TABLE_LEFT, 40, TERM_RESET, TABLE_KEEP },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	int64_t now = clock_now();

	for (size_t i = 0; i < screen->list.nr; i++) {
		const struct ckpt_record *record = screen->rows[i].record;
		char age[CLOCK_ISO_SIZE], *line = report_marked_title(record, now);

		table_add(table, record->id);
		table_add(table, screen->rows[i].position);
		table_add(table, clock_format_age_short(age, record->created_at, now));
		add_change(table, &screen->rows[i]);
		table_add(table, record->source);
		table_add(table, line);
		free(line);
	}
	table_format(out, table, width);
	table_free(table);
}

/* `escape` "": as usual. */
static void draw_line(struct strbuf *out, const struct screen *screen, const char *text,
		      const char *escape)
{
	size_t used;

	strbuf_addstr(out, escape);
	used = term_add_cut(out, text, screen->columns - 1);
	if (!strcmp(escape, CHOSEN))
		strbuf_addf(out, "%*s", (int)(screen->columns - 1 - used), "");
	strbuf_addf(out, "%s\x1b[K\r\n", *escape ? "\x1b[m" : "");
}

static void draw_list(struct strbuf *out, const struct screen *screen)
{
	struct strbuf rows = STRBUF_INIT;
	char *rest = NULL, *row;
	size_t i = 0;

	format_rows(&rows, screen, (unsigned)screen->columns - 1);
	for (row = strtok_r(rows.buf, "\n", &rest); row; row = strtok_r(NULL, "\n", &rest), i++)
		if (i >= screen->list.top && i < screen->list.top + screen->list.rows)
			draw_line(out, screen, row,
				  i == screen->list.at		   ? CHOSEN
				  : screen->rows[i].record->safety ? term_color(TERM_DIM)
								   : "");
	strbuf_release(&rows);
}

/* `room` lines, and how many there are below them. */
static void draw_preview(struct strbuf *out, struct screen *screen, size_t room)
{
	const struct pick_preview *preview = &screen->previews[screen->list.at];
	size_t nr = preview->lines.nr, most = nr > room ? nr - room + 1 : 0;

	if (screen->scrolled > most)
		screen->scrolled = most;
	for (size_t i = screen->scrolled; i < nr && room; i++, room--) {
		struct strbuf more = STRBUF_INIT;

		if (room == 1 && nr > i + 1) {
			strbuf_addf(&more, "  and %zu more", nr - i);
			draw_line(out, screen, more.buf, "");
		} else {
			draw_line(out, screen, preview->lines.items[i],
				  pick_preview_color(preview, i));
		}
		strbuf_release(&more);
	}
}

/* False if it could not be drawn. */
static bool draw(struct screen *screen)
{
	size_t above = screen->list.rows + AROUND;
	size_t left = screen->lines > above ? screen->lines - above : 0;
	struct strbuf out = STRBUF_INIT;
	bool drawn;

	strbuf_addstr(&out, "\x1b[H");
	draw_line(&out, screen,
		  "Which checkpoint to restore?  up/down  J/K: scroll  Enter: choose  q: quit", "");
	draw_list(&out, screen);
	draw_line(&out, screen, "", "");
	/* The last line of the screen has no newline after it, or everything would scroll up. */
	draw_preview(&out, screen, left ? left - 1 : 0);
	strbuf_addstr(&out, "\x1b[J");
	drawn = !fs_write_all(screen->fd, out.buf, out.len);
	strbuf_release(&out);
	return drawn;
}

/* --- keys --- */

/* Wait for bytes; false if no more will come. */
static bool read_keys(struct screen *screen, int timeout_ms)
{
	struct pollfd pollfd = { .fd = screen->fd, .events = POLLIN };
	int ready = poll(&pollfd, 1, timeout_ms);
	ssize_t n;

	if (ready <= 0)
		return ready == 0 || errno == EINTR;
	n = read(screen->fd, screen->keys + screen->keys_nr, sizeof(screen->keys) - screen->keys_nr);
	if (n > 0)
		screen->keys_nr += (size_t)n;
	return n > 0 || (n < 0 && errno == EINTR);
}

static bool key_waits(const struct screen *screen)
{
	struct pollfd pollfd = { .fd = screen->fd, .events = POLLIN };

	return poll(&pollfd, 1, 0) > 0;
}

static enum pick_key next_key(struct screen *screen)
{
	size_t used = 0, before = screen->keys_nr;
	enum pick_key key;

	if (!screen->keys_nr)
		return PICK_NOTHING;
	key = picklist_decode(&used, screen->keys, screen->keys_nr);
	if (key == PICK_MORE && (!read_keys(screen, ESCAPE_MS) || screen->keys_nr == before))
		return PICK_LEAVE;
	memmove(screen->keys, screen->keys + used, screen->keys_nr - used);
	screen->keys_nr -= used;
	return key;
}

/* --- everything --- */

static int open_screen(struct screen *screen)
{
	struct termios raw;

	screen->fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (screen->fd < 0 || tcgetattr(screen->fd, &screen->before) < 0) {
		fs_close(screen->fd);
		return ckpt_error_errno("unable to use the terminal");
	}
	raw = screen->before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	raw.c_iflag &= ~(tcflag_t)(IXON | ICRNL);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	(void)tcsetattr(screen->fd, TCSADRAIN, &raw);
	(void)fs_write_all(screen->fd, ENTER_SCREEN, strlen(ENTER_SCREEN));
	return 0;
}

static void close_screen(struct screen *screen)
{
	(void)fs_write_all(screen->fd, LEAVE_SCREEN, strlen(LEAVE_SCREEN));
	(void)tcsetattr(screen->fd, TCSADRAIN, &screen->before);
	close(screen->fd);
}

static void move(struct screen *screen, enum pick_key key)
{
	enum { SCROLL = 4 };
	size_t before = screen->list.at;

	picklist_move(&screen->list, key);
	if (screen->list.at != before)
		screen->scrolled = 0;
	if (key == PICK_PREVIEW_DOWN)
		screen->scrolled += SCROLL;
	if (key == PICK_PREVIEW_UP)
		screen->scrolled -= screen->scrolled < SCROLL ? screen->scrolled : SCROLL;
}

static enum pick_key choose(struct screen *screen)
{
	for (;;) {
		enum pick_key key = next_key(screen);

		if (key == PICK_TAKE || key == PICK_LEAVE)
			return key;
		move(screen, key);
		if (screen->keys_nr)
			continue;
		measure(screen);
		/* Draw the position at once; what needs a scan comes later, if no key does. */
		if (!draw(screen))
			return PICK_LEAVE;
		if (!screen->previews[screen->list.at].lines.nr && !key_waits(screen))
			pick_preview_make(&screen->previews[screen->list.at], screen->session,
					  screen->rows[screen->list.at].record, screen->only);
		else if (!read_keys(screen, ROUND_MS) || cancel_signal())
			return PICK_LEAVE;
	}
}

int pick_on_screen(size_t *at_out, struct session *session, const struct listed *rows, size_t nr,
		   const struct pathspec *only)
{
	struct screen screen = {
		.session = session, .rows = rows, .only = only, .list = { .nr = nr, .rows = 1 }
	};
	int err = open_screen(&screen);

	if (err)
		return err;
	screen.previews = xcalloc(nr, sizeof(*screen.previews));
	if (choose(&screen) == PICK_TAKE)
		*at_out = screen.list.at;
	else
		err = CKPT_EREFUSED;
	close_screen(&screen);
	for (size_t i = 0; i < nr; i++)
		strlist_release(&screen.previews[i].lines);
	free(screen.previews);
	if (cancel_signal())
		return ckpt_error_set(CKPT_ECANCELLED, "interrupted, nothing was touched");
	return err;
}
