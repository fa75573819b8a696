/* SPDX-License-Identifier: MIT */
#include "show/show.h"

#include "base/base.h"
#include "store/store.h"

static const struct {
	const char *name; /* in the file */
	const char *text;
} hints[] = {
	[HINT_SAVED] = { "saved", "'git checkpoint status' shows what changed since then,\n"
				  "'git checkpoint restore @' brings this state back" },
	[HINT_HOOKS] = { "hooks", "'git checkpoint hooks install' makes git take a checkpoint\n"
				  "before each rebase and merge" },
	[HINT_LISTED] = { "listed", "'git checkpoint show --stat <id>' shows what changed in a checkpoint,\n"
				    "'git checkpoint restore' lets you choose one to go back to" },
	[HINT_PIN] = { "pin", "from now on the oldest checkpoints are removed;\n"
			      "'git checkpoint pin <id>' keeps one for good" },
};

#define EVICTED "checkpoint/evicted" /* in the store, once it was said */

static const char off[] = "(shown once; 'git config --global checkpoint.advice false' turns off all "
			  "hints)";

static bool was_said(const char *path, const char *name)
{
	struct strbuf said = STRBUF_INIT;
	bool found = false;
	char *rest = NULL;

	/* If it cannot be read, hints would be shown again and again. */
	if (fs_read_file(&said, AT_FDCWD, path) && access(path, F_OK) == 0)
		found = true;
	for (char *line = strtok_r(said.buf, "\n", &rest); line && !found;
	     line = strtok_r(NULL, "\n", &rest))
		found = !strcmp(line, name);
	strbuf_release(&said);
	return found;
}

static void print(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		fprintf(stderr, "%shint: %.*s%s\n", term_color(TERM_YELLOW), (int)len, text,
			term_color(TERM_RESET));
		text += len + (text[len] == '\n');
	}
}

bool hint_first(const struct session *session, const char *what)
{
	char *path = xstrfmt("%s/hints", session->home);
	char *name = xstrfmt("%s: %s", session->worktree, what), *line = NULL;
	bool first;

	/* It is one line of the file. */
	for (char *at = name; (at = strchr(at, '\n'));)
		*at = ' ';
	first = !was_said(path, name);
	if (first) {
		line = xstrfmt("%s\n", name);
		(void)fs_append_line(AT_FDCWD, path, line, strlen(line), 0600);
	}
	free(line);
	free(name);
	free(path);
	return first;
}

bool hint_due(const struct session *session, enum hint hint)
{
	char *path;
	bool due;

	if (!session->settings.advice || opt_common.quiet || opt_common.json || !isatty(STDERR_FILENO))
		return false;
	path = xstrfmt("%s/hints", session->home);
	due = !was_said(path, hints[hint].name);
	free(path);
	return due;
}

void hint_say(const struct session *session, enum hint hint)
{
	char *path, *line;

	if (!hint_due(session, hint))
		return;
	path = xstrfmt("%s/hints", session->home);
	line = xstrfmt("%s\n", hints[hint].name);
	/* Recorded first: what cannot be recorded would be shown each time. */
	if (!fs_append_line(AT_FDCWD, path, line, strlen(line), 0600)) {
		print(hints[hint].text);
		print(off);
	}
	free(line);
	free(path);
}

void hint_evicted(const struct session *session, const char *evicted)
{
	int dirfd = session->store ? session->store->dirfd : -1;

	if (!evicted || (opt_common.quiet && report_speaks()) || dirfd < 0 || !faccessat(dirfd, EVICTED, F_OK, 0) ||
	    fs_write_file(dirfd, EVICTED, "", 0, 0600, FS_FAST))
		return;
	report_messagef("warning",
			"%s was removed, and from now on the oldest go; 'git checkpoint pin' keeps "
			"one for good, a higher maxCount keeps more",
			evicted);
}
