/* SPDX-License-Identifier: MIT */
#include "restore/restore_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "restore/restore_head_internal.h"
#include "session/session.h"

static const char git_[] = "git ";

/* Say where: "git reset" becomes "git -C lib reset". */
static void name_place(struct restore_head *head, const struct session *session, const char *path)
{
	struct strbuf here = STRBUF_INIT, quoted = STRBUF_INIT;

	quote_path(&quoted, path);
	for (size_t i = 0; i < head->says.nr; i++) {
		char *say = xstrfmt("in '%s': %s", quoted.buf, head->says.items[i]);

		free(head->says.items[i]);
		head->says.items[i] = say;
	}
	session_from_here(&here, session, path);
	strbuf_reset(&quoted);
	quote_shell(&quoted, here.buf);
	for (size_t i = 0; i < head->commands.nr; i++) {
		const char *rest = head->commands.items[i] + strlen(git_);
		char *command = xstrfmt("%s-C %s %s", git_, quoted.buf, rest);

		free(head->commands.items[i]);
		head->commands.items[i] = command;
	}
	strbuf_release(&here);
	strbuf_release(&quoted);
}

static void look(struct restore_head *out, const struct restore *r, const struct nested *then)
{
	char *dir = xstrfmt("%s/%s", r->session->worktree, then->path);
	struct repo *repo = NULL;

	if (!repo_open_at(&repo, dir))
		restore_head_look(out, repo, &then->state, false);
	else if (then->state.head || then->state.branch)
		strlist_addf(&out->says,
			     "the repository is gone, only its files come back; HEAD was %s",
			     then->state.head ? then->state.head : then->state.branch);
	/* Only a part of it was asked for. */
	if (r->opts->paths->nr && !pathset_covers(r->opts->paths, then->path))
		restore_head_cut(out);
	name_place(out, r->session, then->path);
	repo_free(repo);
	free(dir);
}

void restore_warn_nested(struct restore_result *out, const struct restore *r)
{
	const struct nested_list *list = &r->target.meta.nested;

	for (size_t i = 0; i < list->nr; i++) {
		struct restore_head head = { STRLIST_INIT, STRLIST_INIT };

		if (!plan_concerns(r->opts->paths, list->items[i].path))
			continue;
		look(&head, r, &list->items[i]);
		if (!head.says.nr) {
			restore_head_release(&head);
			continue;
		}
		ALLOC_GROW(out->nested, out->nested_nr + 1, out->nested_alloc);
		out->nested[out->nested_nr++] = head;
	}
}
