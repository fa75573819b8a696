/* SPDX-License-Identifier: MIT */
/*
 * The file that marks an unfinished copy: some lines for people, then what the
 * copy is of. Two calls make the same copy if that part is the same; paths in it
 * are quoted, so that a line is a line.
 */
#include "restore/into_internal.h"

#include "base/base.h"

#define FORMAT "git-checkpoint-into 1\n"

enum { MARKER_MAX = 16 << 20 };

static void add_command(struct strbuf *out, const struct into *into)
{
	const struct into_opts *opts = into->opts;

	strbuf_addstr(out, "    git -C ");
	quote_shell(out, into->session->worktree);
	strbuf_addstr(out, " checkpoint restore --into ");
	quote_shell(out, into->out->path);
	if (opts->worktree)
		strbuf_addstr(out, " --worktree");
	if (opts->branch) {
		strbuf_addstr(out, " -b ");
		quote_shell(out, opts->branch);
	}
	strbuf_addf(out, " %s", opts->target->id);
	if (opts->paths->nr)
		strbuf_addstr(out, " --");
	for (size_t i = 0; i < opts->paths->nr; i++) {
		strbuf_addch(out, ' ');
		quote_shell(out, *opts->paths->items[i] ? opts->paths->items[i] : ".");
	}
	strbuf_addch(out, '\n');
}

static void add_quoted(struct strbuf *out, const char *key, const char *value)
{
	strbuf_addf(out, "%s ", key);
	quote_c(out, value, strlen(value));
	strbuf_addch(out, '\n');
}

/* What decides which copy it is. */
static void add_identity(struct strbuf *out, const struct into *into)
{
	const struct into_opts *opts = into->opts;
	char hex[OID_HEX + 1];

	strbuf_addstr(out, FORMAT);
	strbuf_addf(out, "checkpoint %s\n", opts->target->id);
	strbuf_addf(out, "commit %s\n", oid_hex(hex, &opts->target->commit));
	if (opts->worktree)
		add_quoted(out, "worktree", opts->branch ? opts->branch : "");
	for (size_t i = 0; i < opts->paths->nr; i++)
		add_quoted(out, "path", opts->paths->items[i]);
	strbuf_addstr(out, "end\n");
}

void into_marker_text(struct strbuf *out, const struct into *into)
{
	strbuf_addf(out,
		    "This directory is an unfinished copy of the checkpoint %s.\n"
		    "This command continues it:\n\n",
		    into->opts->target->id);
	add_command(out, into);
	strbuf_addstr(out, "\nIf it is not needed, the directory can be removed.\n\n");
	add_identity(out, into);
}

/* The last part of the text, or NULL. */
static const char *find_identity(const char *text)
{
	const char *found = strstr(text, "\n" FORMAT);

	return found ? found + 1 : NULL;
}

/* Who made the file may be somebody else: only what looks like an id is shown. */
static int refuse_other(const struct into *into, const char *identity)
{
	const char *line = identity ? strstr(identity, "\ncheckpoint ") : NULL;
	char *id = line ? xmemdupz(line + 12, strcspn(line + 12, "\n")) : NULL;
	int err = ckpt_error_set(CKPT_EREFUSED,
				 "'%s' has an unfinished copy of %s%s; its file '%s' tells which command "
				 "continues it",
				 into->out->path,
				 id && refs_valid_id(id) ? id : "something else",
				 id && !strcmp(id, into->opts->target->id) ? " that was asked for in another way"
									   : "",
				 into->marker);

	free(id);
	return err;
}

int into_marker_check(const struct into *into, int fd, bool alone)
{
	struct strbuf text = STRBUF_INIT, whole = STRBUF_INIT, identity = STRBUF_INIT;
	const char *found;
	struct stat st;
	ssize_t got = -1;
	int err = 0;

	if (!fstat(fd, &st) && st.st_size <= MARKER_MAX) {
		strbuf_grow(&text, (size_t)st.st_size);
		got = fs_pread_full(fd, text.buf, (size_t)st.st_size, 0);
		strbuf_setlen(&text, got < 0 ? 0 : (size_t)got);
	}
	into_marker_text(&whole, into);
	add_identity(&identity, into);
	found = find_identity(text.buf);
	if (got < 0)
		err = ckpt_error_set(CKPT_EREFUSED, "unable to read '%s/%s'", into->out->path,
				     into->marker);
	/* A process may have been killed while it wrote it; then there is nothing else yet. */
	else if (!(alone && text.len < whole.len && !memcmp(text.buf, whole.buf, text.len)) &&
		 (!found || strcmp(found, identity.buf) != 0))
		err = refuse_other(into, found);
	strbuf_release(&text);
	strbuf_release(&whole);
	strbuf_release(&identity);
	return err;
}

char *into_aside_name(const struct into *into)
{
	return xstrfmt("%s.git", into->marker);
}
