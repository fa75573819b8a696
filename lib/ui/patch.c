/* SPDX-License-Identifier: MIT */
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

static void add_name(struct strbuf *out, const char *prefix, const char *path)
{
	char *name = xstrfmt("%s%s", prefix, path);

	quote_path(out, name);
	free(name);
}

static void add_side_name(struct strbuf *out, const struct side *side)
{
	if (side->present)
		add_name(out, side->prefix, side->path);
	else
		strbuf_addstr(out, "/dev/null");
}

static void add_index(struct strbuf *out, const struct side *a, const struct side *b)
{
	static const struct oid zero;
	char old_hex[OID_HEX + 1], new_hex[OID_HEX + 1];

	oid_hex(old_hex, a->present ? a->oid : &zero);
	oid_hex(new_hex, b->present ? b->oid : &zero);
	strbuf_addf(out, "index %.*s..%.*s", ABBREV, old_hex, ABBREV, new_hex);
	if (a->present && b->present && a->mode == b->mode)
		strbuf_addf(out, " %06o", git_mode(a->mode));
	strbuf_addch(out, '\n');
}

static bool is_rename(const struct side *a, const struct side *b)
{
	return a->present && b->present && strcmp(a->path, b->path) != 0;
}

static void add_headers(struct strbuf *out, const struct side *a, const struct side *b, bool same,
			unsigned similarity)
{
	strbuf_addstr(out, "diff --git ");
	add_name(out, a->prefix, a->present ? a->path : b->path);
	strbuf_addch(out, ' ');
	add_name(out, b->prefix, b->present ? b->path : a->path);
	strbuf_addch(out, '\n');
	if (!a->present)
		strbuf_addf(out, "new file mode %06o\n", git_mode(b->mode));
	else if (!b->present)
		strbuf_addf(out, "deleted file mode %06o\n", git_mode(a->mode));
	else if (a->mode != b->mode)
		strbuf_addf(out, "old mode %06o\nnew mode %06o\n", a->mode, b->mode);
	if (is_rename(a, b)) {
		strbuf_addf(out, "similarity index %u%%\nrename from ", similarity);
		add_name(out, "", a->path);
		strbuf_addstr(out, "\nrename to ");
		add_name(out, "", b->path);
		strbuf_addch(out, '\n');
	}
	/* A file that is added or deleted differs even if it is empty. */
	if (!same || !a->present || !b->present)
		add_index(out, a, b);
}

/* "--- a/x" and "+++ b/x"; a tab ends a name with spaces, for other patch programs. */
static void add_labels(struct strbuf *out, const struct side *a, const struct side *b)
{
	for (int i = 0; i < 2; i++) {
		const struct side *side = i ? b : a;

		strbuf_addstr(out, i ? "+++ " : "--- ");
		add_side_name(out, side);
		strbuf_addstr(out, side->present && strchr(side->path, ' ') ? "\t\n" : "\n");
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

static int add_line(const git_diff_delta *delta UNUSED, const git_diff_hunk *hunk UNUSED,
		    const git_diff_line *line, void *payload)
{
	struct strbuf *out = payload;

	switch (line->origin) {
	case GIT_DIFF_LINE_CONTEXT:
	case GIT_DIFF_LINE_ADDITION:
	case GIT_DIFF_LINE_DELETION:
		strbuf_addch(out, line->origin);
		strbuf_add(out, line->content, line->content_len);
		if (out->buf[out->len - 1] != '\n')
			strbuf_addch(out, '\n');
		break;
	case GIT_DIFF_LINE_HUNK_HDR:
		strbuf_add(out, line->content, line->content_len);
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
static int print_lines(struct strbuf *out, const struct side *a, const struct side *b,
		       const struct patch_opts *opts)
{
	struct strbuf lines = STRBUF_INIT;
	git_patch *patch = NULL;
	int rc = make_patch(&patch, a, b, opts);

	if (rc)
		return rc;
	rc = libgit2.patch_print(patch, add_line, &lines);
	libgit2.patch_free(patch);
	if (!rc && lines.len) {
		add_labels(out, a, b);
		strbuf_add(out, lines.buf, lines.len);
	}
	strbuf_release(&lines);
	return rc ? libgit2_error(rc, "unable to print a patch") : 0;
}

static int print_pair(struct strbuf *out, const struct patch_input *in, const struct side *a,
		      const struct side *b, const struct patch_opts *opts)
{
	bool same = same_content(a, b);
	size_t start = out->len, headers;
	int rc;

	if (!a->present && !b->present)
		return 0;
	if (a->present && b->present && same && a->mode == b->mode && !is_rename(a, b))
		return 0;
	add_headers(out, a, b, same, in->similarity);
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
	rc = print_lines(out, a, b, opts);
	/* Nothing is left to be told. */
	if (!rc && out->len == headers && a->present && b->present && a->mode == b->mode &&
	    !is_rename(a, b))
		strbuf_setlen(out, start);
	return rc;
}

static int print_plain(struct strbuf *out, const struct patch_input *in,
		       const struct patch_opts *opts)
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

/* ---- colours ---- */

static const char bold[] = "\x1b[1m", cyan[] = "\x1b[36m", red[] = "\x1b[31m", green[] = "\x1b[32m",
		  reset[] = "\x1b[m";

static const char *color_of(const char *line, bool in_lines)
{
	if (!in_lines)
		return strncmp(line, "Binary files ", 13) ? bold : "";
	return *line == '@' ? cyan : *line == '-' ? red : *line == '+' ? green : "";
}

/* How much of a line is coloured: not its end, and of the header of a hunk only the numbers. */
static size_t colored_len(const char *line, size_t len, bool in_lines)
{
	const char *end = in_lines && *line == '@' ? memmem(line + 2, len - 2, " @@", 3) : NULL;

	if (end)
		return (size_t)(end + 3 - line);
	len -= line[len - 1] == '\n';
	return len - (in_lines && len && line[len - 1] == '\r');
}

void patch_color(struct strbuf *out, const char *text, size_t len)
{
	bool in_lines = false;

	while (len) {
		const char *newline = memchr(text, '\n', len), *color;
		size_t line = newline ? (size_t)(newline + 1 - text) : len, part;

		in_lines = !strncmp(text, "@@ ", 3) || (in_lines && *text != 'd');
		color = color_of(text, in_lines);
		part = *color ? colored_len(text, line, in_lines) : 0;
		strbuf_addstr(out, color);
		strbuf_add(out, text, part);
		strbuf_addstr(out, *color ? reset : "");
		strbuf_add(out, text + part, line - part);
		text += line;
		len -= line;
	}
}

int patch_print(struct strbuf *out, const struct patch_input *in, const struct patch_opts *opts)
{
	struct strbuf plain = STRBUF_INIT;
	int rc = print_plain(opts->color ? &plain : out, in, opts);

	patch_color(out, plain.buf, plain.len);
	strbuf_release(&plain);
	return rc;
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
