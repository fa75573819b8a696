/* SPDX-License-Identifier: MIT */
#include "show/show.h"

static const struct {
	const char *name; /* in the file */
	const char *text;
} texts[] = {
	[ADVICE_SAVED] = { "saved", "'git checkpoint status' shows what changed since then,\n"
				  "'git checkpoint restore @' brings this state back" },
	[ADVICE_HOOKS] = { "hooks", "'git checkpoint hooks install' makes git take a checkpoint\n"
				  "before each rebase and merge" },
	[ADVICE_LISTED] = { "listed", "'git checkpoint show --stat <id>' shows what changed in a checkpoint,\n"
				    "'git checkpoint restore' lets you choose one to go back to" },
	[ADVICE_PIN] = { "pin", "from now on the oldest checkpoints are removed;\n"
			      "'git checkpoint pin <id>' keeps one for good" },
};

static const char off[] = "(shown once; 'git config --global checkpoint.advice false' turns off all "
			  "hints)";

/* The line is in the file; with `add`, it is from now on. */
static bool was_said(const char *home, const char *name, bool add)
{
	char *path = xstrfmt("%s/hints", home), *line = xstrfmt("%s\n", name), *rest = NULL;
	struct strbuf said = STRBUF_INIT;
	bool found = false;

	/* If it cannot be read, hints would be shown again and again. */
	if (fs_read_file(&said, AT_FDCWD, path) && access(path, F_OK) == 0)
		found = true;
	for (char *one = strtok_r(said.buf, "\n", &rest); one && !found;
	     one = strtok_r(NULL, "\n", &rest))
		found = !strcmp(one, name);
	/* What cannot be recorded would be shown each time. */
	if (!found && add)
		found = fs_append_line(AT_FDCWD, path, line, strlen(line), 0600) != 0;
	strbuf_release(&said);
	free(line);
	free(path);
	return found;
}

static void print_hint(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		term_say(stderr, "%shint: %.*s%s\n", term_color(TERM_YELLOW), (int)len, text,
			 term_color(TERM_RESET));
		text += len + (text[len] == '\n');
	}
}

bool advice_first(const char *home, const char *worktree, const char *what)
{
	char *name = xstrfmt("%s: %s", worktree, what);
	bool first;

	/* It is one line of the file. */
	for (char *at = name; (at = strchr(at, '\n'));)
		*at = ' ';
	first = !was_said(home, name, false);
	if (first)
		(void)was_said(home, name, true);
	free(name);
	return first;
}

bool advice_due(const struct session *session, enum advice which)
{
	return session->settings.advice && !opt_common.quiet && !opt_common.json &&
	       isatty(STDERR_FILENO) && !was_said(session->home, texts[which].name, false);
}

void advice_say(const struct session *session, enum advice which)
{
	if (!advice_due(session, which) || was_said(session->home, texts[which].name, true))
		return;
	print_hint(texts[which].text);
	print_hint(off);
}

void advice_evicted(const struct session *session, const char *evicted)
{
	if (!evicted || (opt_common.quiet && report_speaks()) || 
	    !advice_first(session->home, session->worktree, "evicted"))
		return;
	report_messagef("warning",
			"%s was removed, and the oldest will be from now on; 'git checkpoint pin' "
			"keeps one for good, a higher maxCount keeps more",
			evicted);
}
