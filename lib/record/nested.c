/* SPDX-License-Identifier: MIT */
#include "record/nested.h"

static struct nested *add(struct nested_list *list, const char *path)
{
	struct nested *item = ALLOC_NEXT(list->items, list->nr, list->alloc);

	*item = (struct nested){ .path = xstrdup(path) };
	return item;
}

static void look_closer(struct nested_list *out, const char *root, const char *path, bool ask)
{
	char *dir = xstrfmt("%s/%s", root, path);
	struct nested *item;
	struct repo *repo;

	if (!repo_open_at(&repo, dir)) {
		item = add(out, path);
		item->unknown = !ask && repo_has_reftable(repo);
		if (!item->unknown && repo_read_state(&item->state, repo))
			repo_state_release(&item->state);
		repo_free(repo);
	}
	free(dir);
}

void nested_look(struct nested_list *out, const char *root, int rootfd, const struct strlist *paths,
		 bool ask)
{
	struct repo_state state;

	for (size_t i = 0; i < paths->nr; i++)
		if (repo_peek(&state, rootfd, paths->items[i]))
			add(out, paths->items[i])->state = state;
		else
			look_closer(out, root, paths->items[i], ask);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool nested_same(const struct nested_list *then, const struct nested_list *now)
{
	bool same = then->nr == now->nr;

	for (size_t i = 0; i < now->nr && same; i++) {
		const struct nested *a = &then->items[i], *b = &now->items[i];

		same = !strcmp(a->path, b->path) &&
		       (b->unknown || (same_text(a->state.head, b->state.head) &&
				       same_text(a->state.branch, b->state.branch) &&
				       same_text(a->state.operation, b->state.operation)));
	}
	return same;
}

bool nested_unknown(const struct nested_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->items[i].unknown)
			return true;
	return false;
}

static void print_field(struct strbuf *out, const char *text)
{
	if (text)
		strbuf_addstr(out, text);
	strbuf_addch(out, '\0');
}

void nested_print(struct strbuf *out, const struct nested_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		print_field(out, list->items[i].state.head);
		print_field(out, list->items[i].state.branch);
		print_field(out, list->items[i].state.operation);
		print_field(out, list->items[i].path);
	}
}

/* The next field, NULL if it is not ended. */
static const char *next_field(const char **at, const char *end)
{
	const char *field = *at, *nul = memchr(field, '\0', (size_t)(end - field));

	*at = nul ? nul + 1 : end;
	return nul ? field : NULL;
}

int nested_parse(struct nested_list *out, const char *text, size_t len)
{
	const char *end = text + len;

	for (const char *at = text; at < end;) {
		const char *head = next_field(&at, end), *branch = next_field(&at, end);
		const char *operation = next_field(&at, end), *path = next_field(&at, end);
		struct nested *item;

		if (!path || !*path)
			return ckpt_error_set(CKPT_ECORRUPT,
					      "the list of nested repositories is malformed");
		item = add(out, path);
		item->state.head = *head ? xstrdup(head) : NULL;
		item->state.branch = *branch ? xstrdup(branch) : NULL;
		item->state.operation = *operation ? xstrdup(operation) : NULL;
	}
	return 0;
}

void nested_release(struct nested_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		free(list->items[i].path);
		repo_state_release(&list->items[i].state);
	}
	free(list->items);
	memset(list, 0, sizeof(*list));
}
