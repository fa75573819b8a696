/* SPDX-License-Identifier: MIT */
#include "cmd/restored_internal.h"

#include "base/base.h"
#include "cmd/changes_internal.h"
#include "cmd/report.h"
#include "look/look.h"
#include "restore/restore.h"
#include "session/session.h"
#include "ui/ui.h"

/* A row stands for everything below it, too, where a directory replaced a file or was replaced. */
static void limit_to_plan(struct compare_list *changes, const struct plan *plan)
{
	struct strlist paths = STRLIST_INIT;
	size_t kept = 0;

	for (size_t i = 0; i < plan->rows_nr; i++)
		strlist_add(&paths, plan->rows[i].path);
	strlist_sort_unique(&paths);
	for (size_t i = 0; i < changes->nr; i++) {
		if (pathset_covers(&paths, changes->items[i].path))
			changes->items[kept++] = changes->items[i];
		else
			free(changes->items[i].path);
	}
	changes->nr = kept;
	strlist_release(&paths);
}

static int print(void *payload)
{
	int err = changes_prepare(payload);

	return err ? err : changes_print(payload);
}

static int print_text(void *payload)
{
	const struct strbuf *text = payload;

	fwrite(text->buf, 1, text->len, stdout);
	return 0;
}

void restored_show_diff(void *payload)
{
	const struct restored_view *view = payload;
	const struct restored_words *words = restored_words();
	struct diff diff;
	int err;

	if (words) {
		(void)pager_show(view->session->gitconfig, print_text, (void *)words->patch);
		return;
	}
	err = diff_worktree(&diff, view->session, view->target, NULL, progress_show);

	progress_clear();
	if (!err) {
		limit_to_plan(&diff.changes, view->plan);
		if (diff.changes.nr)
			err = pager_show(view->session->gitconfig, print, &diff);
		else
			fputs("Nothing differs any more.\n", stderr);
		diff_release(&diff);
	}
	if (err && !cancel_signal())
		report_message("error", ckpt_error_last());
}
