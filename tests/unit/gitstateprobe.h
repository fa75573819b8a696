/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_GITSTATEPROBE_H
#define CKPT_TESTS_GITSTATEPROBE_H

/*
 * A state of a repository as text, in the words of stock git: so that what we
 * read can be compared with what git says.
 */

#include "gitstate/gitstate.h"
#include "git/repo.h"

#include "base/error.h"

#include "unit.h"

static struct repo *probe_repo(void)
{
	struct repo *repo = NULL;
	char *cwd = getcwd(NULL, 0);

	if (repo_open_at(&repo, cwd))
		fail_msg("no repository in %s: %s", cwd, ckpt_error_last());
	free(cwd);
	return repo;
}

/* As `git ls-files -v` marks them. */
static char tag_of(const struct gitstate_entry *entry)
{
	char tag = entry->flags & GITINDEX_SKIP_WORKTREE ? 'S' : entry->stage ? 'M' : 'H';

	return entry->flags & GITINDEX_ASSUME_UNCHANGED ? (char)(tag + 32) : tag;
}

static void show_entry(struct strbuf *out, const struct gitstate_entry *entry)
{
	if (entry->mode)
		strbuf_addf(out, "%c %06o %s %u\t%s%s\n", tag_of(entry), entry->mode, entry->oid,
			    entry->stage, entry->path,
			    entry->flags & GITINDEX_INTENT_TO_ADD ? " (to be added)" : "");
}

/* The whole index: the tree of HEAD, and what differs. */
UNUSED static void show_index(struct strbuf *out, const struct gitstate *state)
{
	struct strbuf head = STRBUF_INIT;
	size_t i = 0, hex_len = state->head_tree ? strlen(state->head_tree) : 0;

	if (state->head_tree)
		ask(&head, "git ls-tree -r -z --full-tree %s", state->head_tree);
	for (char *line = head.buf; line < head.buf + head.len; line += strlen(line) + 1) {
		char *path = strchr(line, '\t') + 1;
		bool replaced = false;

		while (i < state->entries_nr && strcmp(state->entries[i].path, path) <= 0) {
			replaced |= !strcmp(state->entries[i].path, path);
			show_entry(out, &state->entries[i++]);
		}
		if (!replaced)
			strbuf_addf(out, "H %.6s %.*s 0\t%s\n", line, (int)hex_len,
				    path - 1 - hex_len, path);
		line = path;
	}
	while (i < state->entries_nr)
		show_entry(out, &state->entries[i++]);
	strbuf_release(&head);
}

/* What git says of it. Names must be without tabs and newlines. */
UNUSED static void show_index_of_git(struct strbuf *out)
{
	ask(out, "git -c core.quotePath=false ls-files -s -v --debug | awk '"
		 "/^[A-Za-z] [0-7]+ [0-9a-f]+ [0-3]\t/ { line = $0; next }"
		 "/flags:/ { sub(/.*flags: /, \"\"); "
		 "print line (substr(\"0000000\" $0, length($0), 1) ~ /[2367abef]/ ? \" (to be added)\" : \"\") }'");
}

UNUSED static void show_refs(struct strbuf *out, const struct gitstate *state)
{
	strbuf_addf(out, "HEAD %s %s\n", state->head ? state->head : "-", state->ref ? state->ref : "-");
	for (size_t i = 0; i < state->branches_nr; i++)
		strbuf_addf(out, "%s %s\n", state->branches[i].oid, state->branches[i].name);
	for (size_t i = 0; i < state->stashes_nr; i++)
		strbuf_addf(out, "%s %s %s\n", state->stashes[i].oid, state->stashes[i].name,
			    state->stashes[i].note);
	for (size_t i = 0; i < state->private_refs_nr; i++)
		strbuf_addf(out, "%s %s\n", state->private_refs[i].oid, state->private_refs[i].name);
}

UNUSED static void show_refs_of_git(struct strbuf *out)
{
	ask(out, "echo HEAD $(git rev-parse -q --verify HEAD || echo -) $(git symbolic-ref -q HEAD || echo -);"
		 "git for-each-ref --format='%%(objectname) %%(refname)' refs/heads;"
		 "if git rev-parse -q --verify refs/stash >/dev/null; then git log -g --format='%%H %%gd %%gs' refs/stash --; fi |"
		 "sed 's/ refs\\/stash@/ stash@/';"
		 "for r in AUTO_MERGE BISECT_EXPECTED_REV BISECT_HEAD CHERRY_PICK_HEAD MERGE_AUTOSTASH ORIG_HEAD "
		 "REBASE_HEAD REVERT_HEAD; do git rev-parse -q --verify $r >/dev/null || continue; "
		 "echo $(git rev-parse $r) $r; done;"
		 "git for-each-ref --format='%%(objectname) %%(refname)' refs/bisect refs/rewritten refs/worktree");
}

/* Everything about a git directory that a write would change. */
UNUSED static void show_gitdir(struct strbuf *out)
{
	ask(out, "d=$(git rev-parse --git-common-dir); find $d -printf '%%p %%i %%s %%m %%T@ %%C@\\n' | sort;"
		 "find $d -type f -exec cksum {} + | sort");
}

#endif
