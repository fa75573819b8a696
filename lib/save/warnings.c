/* SPDX-License-Identifier: MIT */
#include "save/warnings_internal.h"

#include "base/base.h"
#include "save/worktree_state.h"

/* Of one kind; a thousand would hide the others. */
enum { SHOWN = 20 };

static void add(struct strlist *out, size_t *count, const char *path, const char *what)
{
	struct strbuf quoted = STRBUF_INIT;

	if ((*count)++ < SHOWN) {
		quote_path(&quoted, path);
		strlist_addf(out, "'%s' %s", quoted.buf, what);
	}
	strbuf_release(&quoted);
}

static void add_more(struct strlist *out, size_t count, const char *what)
{
	if (count > SHOWN)
		strlist_addf(out, "%zu more %s", count - SHOWN, what);
}

static void add_skips(struct strlist *out, const struct scan *scan, enum skip_why why,
		      const char *what)
{
	size_t count = 0;

	for (size_t i = 0; i < scan->skips.nr; i++)
		if (scan->skips.items[i].why == why)
			add(out, &count, scan->skips.items[i].path, what);
	add_more(out, count, what);
}

static void add_paths(struct strlist *out, const struct strlist *paths, const char *what)
{
	size_t count = 0;

	for (size_t i = 0; i < paths->nr; i++)
		add(out, &count, paths->items[i], what);
	add_more(out, count, what);
}

/* Each with the line that would include it. */
static void add_defaults(struct strlist *out, const struct strlist *paths)
{
	for (size_t i = 0; i < paths->nr && i < SHOWN; i++) {
		struct strbuf quoted = STRBUF_INIT;

		quote_path(&quoted, paths->items[i]);
		strlist_addf(out, "'%s' was left out by a default pattern; '!%s' in .gitignore includes "
				  "it",
			     quoted.buf, quoted.buf);
		strbuf_release(&quoted);
	}
	add_more(out, paths->nr, "were left out by a default pattern");
}

void save_warn_apart(struct strlist *out, const struct worktree_state *state)
{
	add_paths(out, &state->apart,
		  "is another worktree of this repository and was left out; --include-worktrees "
		  "saves it");
}

void save_warnings(struct strlist *out, const struct worktree_state *state)
{
	const struct scan *scan = state->scan;

	add_skips(out, scan, SKIP_UNREADABLE, "could not be read and is not in the checkpoint; make it readable, or exclude it");
	add_skips(out, scan, SKIP_CHANGING, "kept changing while it was read and is not in the checkpoint; save again later");
	add_skips(out, scan, SKIP_OVERSIZE, "is larger than maxFileSize and is not in the checkpoint; "
					    "raise the limit, or exclude the file");
	add_skips(out, scan, SKIP_SENSITIVE, "looks like a secret and was left out; --include-sensitive "
					     "saves it");
	add_skips(out, scan, SKIP_VANISHED, "vanished while the checkpoint was taken");
	add_skips(out, scan, SKIP_MOUNT, "is an empty mount and was left out");
	add_paths(out, &scan->mounts, "is another file system: it is saved, but a restore cannot change "
				      "it; restore --force restores the rest");
	add_paths(out, &scan->sensitive_tracked, "looks like a secret and is in the checkpoint, as it is tracked");
	add_defaults(out, &scan->defaults_left_out);
	save_warn_apart(out, state);
	strlist_extend(out, &state->notes);
	strlist_extend(out, rules_warnings(state->rules));
}

static bool is_secret(const struct skip_list *skips, const char *path)
{
	for (size_t i = 0; i < skips->nr; i++)
		if (skips->items[i].why == SKIP_SENSITIVE && !strcmp(skips->items[i].path, path))
			return true;
	return false;
}

int save_refuse_secrets(const struct worktree_state *state, const struct strlist *scope)
{
	struct strbuf names = STRBUF_INIT;
	int err = 0;

	for (size_t i = 0; scope && i < scope->nr; i++) {
		if (!is_secret(&state->scan->skips, scope->items[i]))
			goto out;
		strbuf_addstr(&names, i ? ", '" : "'");
		quote_path(&names, scope->items[i]);
		strbuf_addstr(&names, "'");
	}
	if (names.len)
		err = ckpt_error_set(CKPT_EREFUSED,
				     "%s %s; nothing was saved; use --include-sensitive to save %s",
				     names.buf,
				     scope->nr == 1 ? "looks like a secret" : "look like secrets",
				     scope->nr == 1 ? "it" : "them");
out:
	strbuf_release(&names);
	return err;
}
