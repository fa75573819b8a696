/* SPDX-License-Identifier: MIT */
/*
 * What the index has that the tree of HEAD has not, and the other way round.
 * git could compare the two, but it builds the trees of a sparse index; listing a tree does
 * not, and where the index knows that it equals the tree, nothing is asked.
 */
#include "gitstate/gitstate_internal.h"

/* A position in the list of `git ls-tree -r -z`. */
struct listed {
	char *line, *end;
	char *path; /* NULL: at its end */
	unsigned mode;
	const char *oid;
	size_t hex_len;
};

/* As git has them in an index, which knows only some of those that old trees may have. */
static unsigned plain_mode(unsigned mode)
{
	if ((mode & 0170000) == 0100000)
		return mode & 0100 ? 0100755 : 0100644;
	return mode & 0170000;
}

/* "<mode> <type> <id>\t<path>" */
static int next_listed(struct listed *at)
{
	char *tab;

	at->path = NULL;
	if (at->line >= at->end)
		return 0;
	tab = strchr(at->line, '\t');
	if (!tab || (size_t)(tab - at->line) < at->hex_len + 8)
		return ckpt_error_set(CKPT_ERROR, "'git ls-tree' said '%s'", at->line);
	at->path = tab + 1;
	at->mode = plain_mode((unsigned)strtoul(at->line, NULL, 8));
	*tab = '\0';
	at->oid = tab - at->hex_len;
	at->line = at->path + strlen(at->path) + 1;
	return 0;
}

static void set_head(struct gitstate_entry *entry, unsigned mode, const char *oid)
{
	entry->head_mode = mode;
	snprintf(entry->head_oid, sizeof(entry->head_oid), "%s", oid);
}

/* `head` is what HEAD has there, NULL: the same. */
static void take_entry(struct gitstate *state, const struct gitindex *index, size_t i,
		       const struct listed *head)
{
	const struct gitindex_entry *entry = &index->entries[i];
	char hex[GITSTATE_OID];
	bool as_head;

	oid_hex_encode(hex, entry->oid, index->hash_len);
	as_head = !entry->stage && (!head || (head->mode == entry->mode && !strcmp(head->oid, hex)));
	if (!as_head || entry->flags)
		set_head(gitstate_add_entry(state, entry->path, entry->mode, hex, entry->stage,
					    entry->flags | (as_head ? GITSTATE_AS_HEAD : 0u)),
			 head ? head->mode : entry->mode, head ? head->oid : hex);
}

/* Both lists are in the order of the whole paths. */
static int compare_with_head(struct gitstate *state, const struct gitindex *index, struct strbuf *list)
{
	static const struct listed nothing = { .oid = "" };
	struct listed head = { .line = list->buf,
			       .end = list->buf + list->len,
			       .hex_len = 2 * index->hash_len };
	int err = next_listed(&head);
	size_t i = 0;

	while (!err && (i < index->nr || head.path)) {
		int order = i == index->nr ? 1
			    : !head.path   ? -1
					   : strcmp(index->entries[i].path, head.path);

		if (order > 0) {
			set_head(gitstate_add_entry(state, head.path, 0, "", 0, 0), head.mode,
				 head.oid);
			err = next_listed(&head);
			continue;
		}
		do
			take_entry(state, index, i, order ? &nothing : &head);
		while (++i < index->nr && !order && !strcmp(index->entries[i].path, head.path));
		if (!order)
			err = next_listed(&head);
	}
	return err;
}

/* A commit never gets another tree, and a restore reads the state several times. */
static _Thread_local char known_head[GITSTATE_OID], known_tree[GITSTATE_OID];

static int read_head_tree(struct gitstate *state, const struct repo *repo)
{
	char *name = xstrfmt("%s^{tree}", state->head);
	const char *const args[] = { "rev-parse", "--verify", "--quiet", name, NULL };
	struct strbuf out = STRBUF_INIT;
	int err = 0;

	if (!strcmp(known_head, state->head))
		strbuf_addstr(&out, known_tree);
	else
		err = gitstate_ask(&out, repo, args);
	strbuf_trim(&out);
	if (!err && out.len != (repo->sha256 ? SHA256_HEX : OID_HEX))
		err = ckpt_error_set(CKPT_ERROR, "'git rev-parse' said '%s'", out.buf);
	if (!err) {
		state->head_tree = strbuf_detach(&out, NULL);
		snprintf(known_head, sizeof(known_head), "%s", state->head);
		snprintf(known_tree, sizeof(known_tree), "%s", state->head_tree);
	}
	strbuf_release(&out);
	free(name);
	return err;
}

int gitstate_take_index(struct gitstate *state, const struct gitindex *index, struct strbuf *list)
{
	for (size_t i = 0; !list && i < index->nr; i++)
		take_entry(state, index, i, NULL);
	return list ? compare_with_head(state, index, list) : 0;
}

/* Nor does a tree get other files. */
static _Thread_local char listed_tree[GITSTATE_OID];
static _Thread_local struct strbuf known_list = STRBUF_INIT;

static void format_list(struct strbuf *out, const struct gitindex *index)
{
	char hex[GITSTATE_OID];

	for (size_t i = 0; i < index->nr; i++) {
		const struct gitindex_entry *entry = &index->entries[i];

		strbuf_addf(out, "%06o %s %s\t%s", entry->mode,
			    entry->mode == 0160000 ? "commit" : "blob",
			    oid_hex_encode(hex, entry->oid, index->hash_len), entry->path);
		strbuf_addch(out, '\0');
	}
}

int gitstate_list_tree(struct strbuf *out, const struct repo *repo, const char *tree)
{
	const char *const args[] = { "ls-tree", "-r", "-z", "--full-tree", tree, NULL };
	struct gitindex *index = NULL;
	int err = 0;

	if (strcmp(listed_tree, tree) != 0) {
		*listed_tree = '\0';
		strbuf_reset(&known_list);
		if (!gitindex_open(&index, repo->worktree, repo->gitdir, repo->sha256) &&
		    gitindex_is_tree(index, tree))
			format_list(&known_list, index);
		else
			err = gitstate_ask(&known_list, repo, args);
		gitindex_close(index);
		if (!err)
			snprintf(listed_tree, sizeof(listed_tree), "%s", tree);
	}
	if (!err)
		strbuf_add(out, known_list.buf, known_list.len);
	return err;
}

int gitstate_read_index(struct gitstate *state, const struct repo *repo)
{
	struct gitindex *index;
	struct strbuf list = STRBUF_INIT;
	int err = gitindex_open(&index, repo->worktree, repo->gitdir, repo->sha256);

	if (err)
		return err;
	if (state->head)
		err = read_head_tree(state, repo);
	if (!err && state->head_tree && gitindex_is_tree(index, state->head_tree)) {
		err = gitstate_take_index(state, index, NULL);
	} else if (!err) {
		if (state->head_tree)
			err = gitstate_list_tree(&list, repo, state->head_tree);
		if (!err)
			err = gitstate_take_index(state, index, &list);
	}
	strbuf_release(&list);
	gitindex_close(index);
	return err;
}

bool gitstate_same_entries(const struct gitstate *a, const struct gitstate *b)
{
	if (a->entries_nr != b->entries_nr)
		return false;
	for (size_t i = 0; i < a->entries_nr; i++) {
		const struct gitstate_entry *x = &a->entries[i], *y = &b->entries[i];

		if (strcmp(x->path, y->path) || x->mode != y->mode || strcmp(x->oid, y->oid) ||
		    x->stage != y->stage || x->flags != y->flags)
			return false;
	}
	return true;
}
