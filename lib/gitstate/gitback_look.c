/* SPDX-License-Identifier: MIT */
#include "gitstate/gitback_internal.h"

static int ask_git(struct strbuf *out, const struct repo *repo, const char *const args[])
{
	const struct gitrun how = { .gitdir = repo->gitdir, .worktree = repo->worktree };

	return askgit(out, &how, args);
}

/* --- objects --- */

/* Without these an operation goes on as well. */
static bool is_dispensable(const char *ref)
{
	return !strcmp(ref, "AUTO_MERGE") || !strcmp(ref, "ORIG_HEAD") ||
	       !strcmp(ref, "REBASE_HEAD");
}

static void drop_ref(struct gitplan *plan, size_t i)
{
	struct gitwrite_ref *ref = &plan->refs.items[i];

	free(ref->name);
	free(ref->old);
	free(ref->new);
	memmove(ref, ref + 1, (--plan->refs.nr - i) * sizeof(*ref));
}

/* Ids in the files of an operation that it cannot go on without, one a line. */
static void add_needed(struct strlist *out, const struct gitstate *goal)
{
	static const char *const files[] = {
		"MERGE_HEAD",	     "rebase-merge/onto",      "rebase-merge/orig-head",
		"rebase-apply/onto", "rebase-apply/orig-head", "sequencer/head"
	};

	for (size_t i = 0; i < goal->files_nr; i++)
		for (size_t j = 0; j < ARRAY_SIZE(files); j++) {
			const char *line = goal->files[i].data;

			if (strcmp(goal->files[i].path, files[j]))
				continue;
			for (; gitfile_is_id(line);
			     line += strcspn(line, "\n"), line += *line == '\n')
				strlist_take(out, xmemdupz(line, strspn(line, "0123456789abcdef")));
		}
}

int gitback_check_history(struct strlist *gone, const struct repo *repo, const char *head)
{
	const char *args[] = { "rev-list", "--quiet", "--objects", "--missing=allow-promisor",
			       head,	   "--not",   "--all",	   NULL };
	struct strbuf answer = STRBUF_INIT;
	int err = ask_git(&answer, repo, args);

	/* It may be some other ref that is broken. */
	if (err == CKPT_ERROR) {
		args[5] = NULL;
		err = ask_git(&answer, repo, args);
	}

	strbuf_release(&answer);
	if (err == CKPT_ERROR) {
		strlist_add(gone, head);
		err = 0;
	}
	return err;
}

static void list_wanted(struct strlist *out, const struct gitplan *plan,
			const struct gitstate *goal)
{
	if (goal->head)
		strlist_add(out, goal->head);
	for (size_t i = 0; i < plan->refs.nr; i++)
		if (plan->refs.items[i].new)
			strlist_add(out, plan->refs.items[i].new);
	add_needed(out, goal);
}

static int look_at_commits(struct gitplan_facts *out, struct gitplan *plan, const struct repo *repo,
			   const struct gitstate *goal)
{
	struct strlist wanted = STRLIST_INIT, lost = STRLIST_INIT;
	int err;

	/* What is not moved is not looked for. */
	if (!plan->refs.nr && !plan->head && !plan->operation)
		return 0;
	list_wanted(&wanted, plan, goal);
	err = gitwrite_missing(&lost, repo, &wanted);
	for (size_t i = plan->refs.nr; i-- > plan->branches_nr && !err;) {
		const struct gitwrite_ref *ref = &plan->refs.items[i];

		if (ref->new &&is_dispensable(ref->name) && strlist_has(&lost, ref->new))
			drop_ref(plan, i);
	}
	strlist_release(&wanted);
	list_wanted(&wanted, plan, goal);
	for (size_t i = 0; i < wanted.nr && !err; i++)
		if (strlist_has(&lost, wanted.items[i]))
			strlist_add(&out->gone, wanted.items[i]);
	if (!err && goal->head && !out->gone.nr)
		err = gitback_check_history(&out->gone, repo, goal->head);
	strlist_release(&wanted);
	strlist_release(&lost);
	return err;
}

int gitback_compare_index(bool *tree_gone_out, struct gitplan *plan, const struct repo *repo,
			  const struct gitstate *goal)
{
	bool same = false;
	int err = plan->index ? gitwrite_index_is(&same, repo, goal) : 0;

	plan->index = plan->index && !same;
	*tree_gone_out = err == CKPT_ENOTFOUND;
	/* What is not there, or damaged, is another one. */
	return err == CKPT_ENOTFOUND || err == CKPT_ECORRUPT ? 0 : err;
}

/* What a path has that is only intended to be added: everybody knows its contents. */
static bool is_empty_blob(const char *oid)
{
	return !strcmp(oid, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391") ||
	       !strcmp(oid, "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813");
}

/* As git stores what was staged a while ago, too. */
static bool is_loose(const struct repo *repo, const char *oid)
{
	char *path = xstrfmt("%s/objects/%.2s/%s", repo->commondir, oid, oid + 2);
	struct stat st;
	bool loose = !lstat(path, &st) && S_ISREG(st.st_mode) && st.st_size;

	free(path);
	return loose;
}

/* A submodule's commit is in its own repository; what a partial clone lacks, it can fetch. */
int gitback_find_objects(struct strlist *blobs, struct strlist *missing, struct store *store,
			 const struct repo *repo, const struct gitrecord *goal)
{
	struct strlist others = STRLIST_INIT;
	int err = 0;

	for (size_t i = 0; i < goal->state.entries_nr && !err; i++) {
		const struct gitstate_entry *entry = &goal->state.entries[i];
		const struct oid *stored = gitrecord_find(goal, entry->oid);

		if (!entry->mode || entry->mode == 0160000 || entry->flags & GITSTATE_AS_HEAD ||
		    is_loose(repo, entry->oid))
			continue;
		strlist_add(stored || is_empty_blob(entry->oid) ? blobs : &others, entry->oid);
		err = stored ? objects_check(store, stored) : 0;
	}
	strlist_sort_unique(blobs);
	if (!err)
		err = gitwrite_missing(missing, repo, &others);
	strlist_release(&others);
	return err;
}

/* --- other worktrees --- */

/* A rebase or a bisection there holds its branch as well. */
static bool holds_branch(const char *gitdir, const char *ref)
{
	static const char *const files[] = { "rebase-merge/head-name", "rebase-apply/head-name",
					     "BISECT_START" };
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(files) && !found; i++) {
		char *text = gitfile_read(gitdir, files[i]);

		found = text &&
			(!strcmp(text, ref) ||
			 (i == 2 && !strncmp(ref, "refs/heads/", 11) && !strcmp(text, ref + 11)));
		free(text);
	}
	return found;
}

/* The directories of all other worktrees of the repository, then what git calls them. */
static void find_holder(struct gitplan_facts *out, const struct repo *repo, const char *ref)
{
	struct strlist others = STRLIST_INIT;

	repo_other_worktrees(&others, repo);
	for (size_t i = 0; i < others.nr && !out->elsewhere; i++) {
		struct repo *other = NULL;

		if (repo_open_at(&other, others.items[i]))
			continue;
		if (holds_branch(other->gitdir, ref)) {
			out->elsewhere = xstrdup(others.items[i]);
			out->elsewhere_ref = xstrdup(ref);
		}
		repo_free(other);
	}
	strlist_release(&others);
}

/*
 * "worktree <path>", some lines, "branch <ref>" if there is one, and a blank line. The first is the
 * main one, whose path may not be that of its files: for a submodule it is the git directory.
 */
static void find_checkout(struct gitplan_facts *out, const struct repo *repo, const char *listing,
			  const char *ref)
{
	bool is_main = !strcmp(repo->gitdir, repo->commondir);
	const char *path = NULL, *first = NULL;

	for (const char *line = listing; *line && !out->elsewhere;) {
		size_t len = strcspn(line, "\n");

		if (!strncmp(line, "worktree ", 9))
			path = line + 9;
		first = first ? first : path;
		if (path && (path != first || !is_main) && len == strlen(ref) + 7 &&
		    !strncmp(line, "branch ", 7) && !strncmp(line + 7, ref, len - 7)) {
			char *where = xmemdupz(path, strcspn(path, "\n")), *real = path_real(where);

			if (strcmp(real ? real : where, repo->worktree) != 0) {
				out->elsewhere = xstrdup(where);
				out->elsewhere_ref = xstrdup(ref);
			}
			free(where);
			free(real);
		}
		line += len + (line[len] == '\n');
	}
}

static int look_elsewhere(struct gitplan_facts *out, const struct gitplan *plan,
			  const struct repo *repo, const struct gitstate *goal)
{
	const char *const args[] = { "worktree", "list", "--porcelain", NULL };
	struct strlist refs = STRLIST_INIT;
	struct strbuf listing = STRBUF_INIT;
	int err = 0;

	if (plan->head && goal->ref)
		strlist_add(&refs, goal->ref);
	for (size_t i = 0; i < plan->branches_nr; i++)
		strlist_add(&refs, plan->refs.items[i].name);
	if (refs.nr)
		err = ask_git(&listing, repo, args);
	for (size_t i = 0; i < refs.nr && !err; i++) {
		find_checkout(out, repo, listing.buf, refs.items[i]);
		if (!out->elsewhere)
			find_holder(out, repo, refs.items[i]);
	}
	strlist_release(&refs);
	strbuf_release(&listing);
	return err;
}

/* --- names of names --- */

/* Moving it would make a branch of its own of it, and undo could not tell what it was. */
static void find_alias(struct gitplan_facts *out, const struct gitplan *plan,
		       const struct repo *repo)
{
	for (size_t i = 0; i < plan->branches_nr && !out->alias; i++) {
		const char *name = plan->refs.items[i].name;
		const char *const args[] = { "symbolic-ref", "-q", name, NULL };
		struct strbuf answer = STRBUF_INIT;

		if (plan->refs.items[i].old && !ask_git(&answer, repo, args)) {
			strbuf_trim(&answer);
			out->alias = xstrdup(name);
			out->alias_of = strbuf_detach(&answer, NULL);
		}
		strbuf_release(&answer);
	}
}

/* --- what happens to commits --- */

/* What a move does: on each side of it there may be commits that the other has not. */
static void count_commits(unsigned *coming, unsigned *leaving, const struct repo *repo,
			  const struct gitwrite_ref *ref)
{
	char *range = ref->new && ref->old ? xstrfmt("%s...%s", ref->new, ref->old)
					   : xstrdup(ref->old ? ref->old : ref->new);
	const char *const args[] = { "rev-list", "--count", "--left-right", range, NULL };
	struct strbuf answer = STRBUF_INIT;
	unsigned left = 0, right = 0;

	if (!ask_git(&answer, repo, args) && sscanf(answer.buf, "%u %u", &left, &right) == 2) {
		*coming = ref->old ? left : 0;
		*leaving = right;
	}
	/* Without two sides all are on the right. */
	if (!ref->new)
		*leaving = left + right;
	if (!ref->new || !ref->old)
		*coming = 0;
	strbuf_release(&answer);
	free(range);
}

/* Whether the old commit will be in a reflog that outlives the move. */
static bool is_logged(const struct repo *repo, const struct gitwrite_ref *ref,
		      const struct gitstate *now)
{
	/* The log of a branch goes with it, but HEAD's stays. */
	bool on_it = now->ref && !strcmp(now->ref, ref->name);
	const char *log = ref->new ? ref->name : "HEAD";
	const char *const exists[] = { "reflog", "exists", log, NULL };
	const char *const setting[] = { "config", "--type=bool-or-str", "core.logAllRefUpdates",
					NULL };
	const struct gitrun how = { .profile = GITRUN_WRITE,
				    .gitdir = repo->gitdir,
				    .worktree = repo->worktree };
	struct strbuf answer = STRBUF_INIT;
	bool logged = ref->new || on_it;

	if (logged && ask_git(&answer, repo, exists)) {
		/* It will be made, unless the user does not want any. */
		strbuf_reset(&answer);
		logged = gitrun(&answer, &how, setting) || strncmp(answer.buf, "false", 5) != 0;
	}
	strbuf_release(&answer);
	return logged;
}

/* Commits that were made without a branch, and that HEAD leaves now. */
static void look_at_lone(struct gitplan_facts *out, const struct repo *repo,
			 const struct gitstate *now, const struct gitstate *goal)
{
	const struct gitwrite_ref head = { .name = "HEAD", .new = now->head };
	const char *const args[] = { "rev-list",  "--count", now->head,	 "--not", "--branches",
				     "--remotes", "--tags",  goal->head, NULL };
	struct strbuf answer = STRBUF_INIT;

	if (ask_git(&answer, repo, args) || sscanf(answer.buf, "%u", &out->lone) != 1)
		out->lone = 0;
	if (out->lone)
		out->lone_logged = is_logged(repo, &head, now);
	strbuf_release(&answer);
}

static void look_at_moves(struct gitplan_facts *out, const struct gitplan *plan,
			  const struct repo *repo, const struct gitstate *now)
{
	size_t nr = plan->branches_nr ? plan->branches_nr : 1;

	out->leaving = xcalloc(nr, sizeof(*out->leaving));
	out->coming = xcalloc(nr, sizeof(*out->coming));
	out->logged = xcalloc(nr, sizeof(*out->logged));
	for (size_t i = 0; i < plan->branches_nr; i++) {
		const struct gitwrite_ref *ref = &plan->refs.items[i];

		if (!ref->old)
			continue;
		count_commits(&out->coming[i], &out->leaving[i], repo, ref);
		out->logged[i] = is_logged(repo, ref, now);
	}
}

int gitback_look(struct gitplan_facts *out, struct gitplan *plan, const struct repo *repo,
		 const struct gitstate *now, const struct gitstate *goal, bool whole)
{
	int err = whole ? look_at_commits(out, plan, repo, goal) : 0;

	if (!err)
		err = gitback_compare_index(&out->tree_gone, plan, repo, goal);
	if (!err && whole)
		err = look_elsewhere(out, plan, repo, goal);
	if (!err && whole)
		find_alias(out, plan, repo);
	if (!err && !gitplan_is_empty(plan))
		out->lock =
			gitwrite_find_lock(repo, whole ? &plan->refs : NULL, plan->config.nr > 0);
	if (!err && (plan->refs.nr || plan->head || plan->config.nr))
		out->link = gitwrite_find_link(repo, &plan->refs, plan->config.nr > 0);
	if (!err)
		look_at_moves(out, plan, repo, now);
	if (!err && plan->head && !now->ref && now->head)
		look_at_lone(out, repo, now, goal);
	gitstate_count(&out->now, now);
	gitstate_count(&out->goal, goal);
	return err;
}
