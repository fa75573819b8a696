/* SPDX-License-Identifier: MIT */
#include "base/base.h"
#include "ui/patch.h"

enum {
	ABBREV = 7,
	BINARY_LOOK = 8000, /* git looks for a NUL in this many bytes */
};
#define BINARY_SIZE (512ul << 20) /* git's core.bigFileThreshold */

/* One side of a change. */
struct side {
	bool present;
	const char *prefix;
	const char *path;
	unsigned mode;
	const struct oid *oid;
	const char *data;
	size_t len;
};

struct colors {
	const char *meta, *frag, *removed, *added, *reset;
};

static const struct colors plain = { "", "", "", "", "" };
static const struct colors colored = { "\x1b[1m", "\x1b[36m", "\x1b[31m", "\x1b[32m", "\x1b[m" };

static void sides_of(struct side *old_side, struct side *new_side, const struct patch_input *in,
		     bool reverse)
{
	static const char nothing[] = "";

	*old_side = (struct side){ in->old_path != NULL, reverse ? "b/" : "a/", in->old_path,
				   in->old_mode,	 &in->old_oid,		in->old_data,
				   in->old_len };
	*new_side = (struct side){ in->new_path != NULL, reverse ? "a/" : "b/", in->new_path,
				   in->new_mode,	 &in->new_oid,		in->new_data,
				   in->new_len };
	for (int i = 0; i < 2; i++) {
		struct side *side = i ? new_side : old_side;

		if (!side->present || S_ISDIR(side->mode))
			side->len = 0;
		if (!side->len)
			side->data = nothing;
	}
}

static bool is_binary(const struct side *side)
{
	size_t look = side->len < BINARY_LOOK ? side->len : BINARY_LOOK;

	return !side->data || side->len > BINARY_SIZE || memchr(side->data, 0, look);
}

static bool same_content(const struct side *a, const struct side *b)
{
	if (a->len != b->len)
		return false;
	if (!a->data || !b->data)
		return oid_equal(a->oid, b->oid);
	return !memcmp(a->data, b->data, a->len);
}

/* The mode that a git tree can hold. */
static unsigned git_mode(unsigned mode)
{
	if (S_ISREG(mode))
		return mode & S_IXUSR ? 0100755 : 0100644;
	return mode & S_IFMT;
}

/* ---- headers ---- */

/*
 * git's own quoting with core.quotePath=false, which leaves all bytes above
 * ASCII alone; quote_path() is stricter, for people and JSON.
 */
static void add_name(struct strbuf *out, const char *prefix, const char *path)
{
	static const char escapes[] = "\aa\bb\tt\nn\vv\ff\rr\"\"\\\\";
	bool quoted = false;

	for (const char *p = path; *p && !quoted; p++)
		quoted = (unsigned char)*p < 0x20 || *p == 0x7f || *p == '"' || *p == '\\';
	strbuf_addf(out, "%s%s", quoted ? "\"" : "", prefix);
	for (; *path; path++) {
		const char *esc = escapes;

		while (quoted && *esc && *esc != *path)
			esc += 2;
		if (!quoted)
			strbuf_addch(out, *path);
		else if (*esc)
			strbuf_addf(out, "\\%c", esc[1]);
		else if ((unsigned char)*path < 0x20 || *path == 0x7f)
			strbuf_addf(out, "\\%03o", (unsigned)*path);
		else
			strbuf_addch(out, *path);
	}
	if (quoted)
		strbuf_addch(out, '"');
}

static void add_side_name(struct strbuf *out, const struct side *side)
{
	if (side->present)
		add_name(out, side->prefix, side->path);
	else
		strbuf_addstr(out, "/dev/null");
}

static void add_meta(struct strbuf *out, const struct colors *colors, const struct strbuf *line)
{
	strbuf_addstr(out, colors->meta);
	strbuf_add(out, line->buf, line->len);
	strbuf_addstr(out, colors->reset);
	strbuf_addch(out, '\n');
}

static void meta_mode(struct strbuf *out, const struct colors *colors, const char *what,
		      unsigned mode)
{
	strbuf_addf(out, "%s%s mode %06o%s\n", colors->meta, what, mode, colors->reset);
}

static void meta_index(struct strbuf *out, const struct colors *colors, const struct side *a,
		       const struct side *b)
{
	static const struct oid zero;
	char old_hex[OID_HEX + 1], new_hex[OID_HEX + 1];

	oid_hex(old_hex, a->present ? a->oid : &zero);
	oid_hex(new_hex, b->present ? b->oid : &zero);
	strbuf_addf(out, "%sindex %.*s..%.*s", colors->meta, ABBREV, old_hex, ABBREV, new_hex);
	if (a->present && b->present && a->mode == b->mode)
		strbuf_addf(out, " %06o", git_mode(a->mode));
	strbuf_addf(out, "%s\n", colors->reset);
}

static void meta_rename(struct strbuf *out, const struct colors *colors, const struct side *a,
			const struct side *b, unsigned similarity)
{
	struct strbuf line = STRBUF_INIT;

	strbuf_addf(&line, "similarity index %u%%", similarity);
	add_meta(out, colors, &line);
	for (int i = 0; i < 2; i++) {
		strbuf_reset(&line);
		strbuf_addf(&line, "rename %s ", i ? "to" : "from");
		add_name(&line, "", i ? b->path : a->path);
		add_meta(out, colors, &line);
	}
	strbuf_release(&line);
}

static bool is_rename(const struct side *a, const struct side *b)
{
	return a->present && b->present && strcmp(a->path, b->path) != 0;
}

static void add_headers(struct strbuf *out, const struct colors *colors, const struct side *a,
			const struct side *b, bool same, unsigned similarity)
{
	struct strbuf line = STRBUF_INIT;

	strbuf_addstr(&line, "diff --git ");
	add_name(&line, a->prefix, a->present ? a->path : b->path);
	strbuf_addch(&line, ' ');
	add_name(&line, b->prefix, b->present ? b->path : a->path);
	add_meta(out, colors, &line);
	if (!a->present) {
		meta_mode(out, colors, "new file", git_mode(b->mode));
	} else if (!b->present) {
		meta_mode(out, colors, "deleted file", git_mode(a->mode));
	} else if (a->mode != b->mode) {
		meta_mode(out, colors, "old", a->mode);
		meta_mode(out, colors, "new", b->mode);
	}
	if (is_rename(a, b))
		meta_rename(out, colors, a, b, similarity);
	/* A file that is added or deleted differs even if it is empty. */
	if (!same || !a->present || !b->present)
		meta_index(out, colors, a, b);
	strbuf_release(&line);
}

/* "--- a/x" and "+++ b/x"; a tab ends a name with spaces, for other patch programs. */
static void add_labels(struct strbuf *out, const struct colors *colors, const struct side *a,
		       const struct side *b)
{
	for (int i = 0; i < 2; i++) {
		const struct side *side = i ? b : a;
		struct strbuf line = STRBUF_INIT;

		strbuf_addstr(&line, i ? "+++ " : "--- ");
		add_side_name(&line, side);
		if (side->present && strchr(side->path, ' '))
			strbuf_addch(&line, '\t');
		add_meta(out, colors, &line);
		strbuf_release(&line);
	}
}

/* ---- hunks ---- */

static uint32_t ignore_flags(unsigned ignore)
{
	return (ignore & PATCH_ALL_SPACE ? GIT_DIFF_IGNORE_WHITESPACE : 0) |
	       (ignore & PATCH_SPACE_CHANGE ? GIT_DIFF_IGNORE_WHITESPACE_CHANGE : 0) |
	       (ignore & PATCH_SPACE_AT_EOL ? GIT_DIFF_IGNORE_WHITESPACE_EOL : 0) |
	       (ignore & PATCH_BLANK_LINES ? GIT_DIFF_IGNORE_BLANK_LINES : 0);
}

static int make_patch(git_patch **out, const struct side *a, const struct side *b,
		      const struct patch_opts *how)
{
	git_diff_options opts;
	int rc = libgit2_begin();

	if (rc)
		return rc;
	libgit2.diff_options_init(&opts, GIT_DIFF_OPTIONS_VERSION);
	opts.flags = GIT_DIFF_FORCE_TEXT | GIT_DIFF_INDENT_HEURISTIC | ignore_flags(how->ignore);
	opts.context_lines = how->context;
	rc = libgit2.patch_from_buffers(out, a->data, a->len, NULL, b->data, b->len, NULL, &opts);
	if (rc)
		return libgit2_error(rc, "unable to compare '%s'",
				     b->present	  ? b->path
				     : a->present ? a->path
						  : "");
	return 0;
}

struct printer {
	struct strbuf *out;
	const struct colors *colors;
};

/* The end of a line is not coloured. */
static void add_line(struct strbuf *out, const char *color, const char *reset, char sign,
		     const char *text, size_t len)
{
	size_t end = len;

	if (end && text[end - 1] == '\n')
		end--;
	if (*color && end && text[end - 1] == '\r')
		end--;
	strbuf_addstr(out, color);
	if (sign)
		strbuf_addch(out, sign);
	strbuf_add(out, text, end);
	if (*color)
		strbuf_addstr(out, reset);
	strbuf_add(out, text + end, len - end);
	if (!len || text[len - 1] != '\n')
		strbuf_addch(out, '\n');
}

static void add_hunk_header(struct strbuf *out, const struct colors *colors, const char *text,
			    size_t len)
{
	const char *end = len > 3 ? memmem(text + 3, len - 3, " @@", 3) : NULL;
	size_t range = end ? (size_t)(end + 3 - text) : len;

	strbuf_addstr(out, colors->frag);
	strbuf_add(out, text, range);
	strbuf_addstr(out, colors->reset);
	strbuf_add(out, text + range, len - range);
}

static int print_line(const git_diff_delta *delta, const git_diff_hunk *hunk,
		      const git_diff_line *line, void *payload)
{
	const struct printer *printer = payload;
	const struct colors *colors = printer->colors;
	struct strbuf *out = printer->out;

	(void)delta;
	(void)hunk;
	switch (line->origin) {
	case GIT_DIFF_LINE_HUNK_HDR:
		add_hunk_header(out, colors, line->content, line->content_len);
		break;
	case GIT_DIFF_LINE_CONTEXT:
		add_line(out, "", "", ' ', line->content, line->content_len);
		break;
	case GIT_DIFF_LINE_ADDITION:
		add_line(out, colors->added, colors->reset, '+', line->content, line->content_len);
		break;
	case GIT_DIFF_LINE_DELETION:
		add_line(out, colors->removed, colors->reset, '-', line->content,
			 line->content_len);
		break;
	case GIT_DIFF_LINE_CONTEXT_EOFNL:
	case GIT_DIFF_LINE_ADD_EOFNL:
	case GIT_DIFF_LINE_DEL_EOFNL:
		strbuf_addstr(out, "\\ No newline at end of file\n");
		break;
	default: /* libgit2's headers: they know neither our modes nor our ids */
		break;
	}
	return 0;
}

/* The labels and lines; `out` is left alone if only what is ignored differs. */
static int print_lines(struct strbuf *out, const struct colors *colors, const struct side *a,
		       const struct side *b, const struct patch_opts *opts)
{
	struct strbuf lines = STRBUF_INIT;
	struct printer printer = { &lines, colors };
	git_patch *patch = NULL;
	int rc = make_patch(&patch, a, b, opts);

	if (rc)
		return rc;
	rc = libgit2.patch_print(patch, print_line, &printer);
	libgit2.patch_free(patch);
	if (!rc && lines.len) {
		add_labels(out, colors, a, b);
		strbuf_add(out, lines.buf, lines.len);
	}
	strbuf_release(&lines);
	return rc ? libgit2_error(rc, "unable to print a patch") : 0;
}

static int print_pair(struct strbuf *out, const struct patch_input *in, const struct side *a,
		      const struct side *b, const struct patch_opts *opts)
{
	const struct colors *colors = opts->color ? &colored : &plain;
	bool same = same_content(a, b);
	size_t start = out->len, headers;
	int rc;

	if (!a->present && !b->present)
		return 0;
	if (a->present && b->present && same && a->mode == b->mode && !is_rename(a, b))
		return 0;
	add_headers(out, colors, a, b, same, in->similarity);
	if (same)
		return 0;
	if (is_binary(a) || is_binary(b)) {
		strbuf_addstr(out, "Binary files ");
		add_side_name(out, a);
		strbuf_addstr(out, " and ");
		add_side_name(out, b);
		strbuf_addstr(out, " differ\n");
		return 0;
	}
	headers = out->len;
	rc = print_lines(out, colors, a, b, opts);
	/* Nothing is left to be told. */
	if (!rc && out->len == headers && a->present && b->present && a->mode == b->mode &&
	    !is_rename(a, b))
		strbuf_setlen(out, start);
	return rc;
}

int patch_print(struct strbuf *out, const struct patch_input *in, const struct patch_opts *opts)
{
	struct side a, b, none = { .present = false, .data = "" };
	int rc;

	sides_of(&a, &b, in, opts->reverse);
	if (a.present && b.present && S_ISDIR(a.mode) && S_ISDIR(b.mode))
		return print_pair(out, in, &a, &b, opts);
	a.present = a.present && !S_ISDIR(a.mode);
	b.present = b.present && !S_ISDIR(b.mode);
	if (!a.present || !b.present || (a.mode & S_IFMT) == (b.mode & S_IFMT))
		return print_pair(out, in, &a, &b, opts);
	/* A change of kind: one is deleted, the other added. */
	none.prefix = b.prefix;
	rc = print_pair(out, in, &a, &none, opts);
	none.prefix = a.prefix;
	return rc ? rc : print_pair(out, in, &none, &b, opts);
}

int patch_count(size_t *added_out, size_t *removed_out, bool *binary_out,
		const struct patch_input *in, const struct patch_opts *opts)
{
	size_t added = 0, removed = 0;
	git_patch *patch = NULL;
	struct side a, b;
	bool binary;
	int rc;

	sides_of(&a, &b, in, false);
	binary = is_binary(&a) || is_binary(&b);
	if (!binary && !same_content(&a, &b)) {
		rc = make_patch(&patch, &a, &b, opts);
		if (!rc) {
			rc = libgit2.patch_line_stats(NULL, &added, &removed, patch);
			libgit2.patch_free(patch);
			if (rc)
				rc = libgit2_error(rc, "unable to count lines");
		}
		if (rc)
			return rc;
	}
	*added_out = added;
	*removed_out = removed;
	*binary_out = binary;
	return 0;
}
