/* SPDX-License-Identifier: MIT */
#include "store/fetched.h"

#include "settings/settings.h"
#include "store/refs_internal.h"
#include "store/shadow.h"

#define DIR "refs/fetched"

void fetched_release(struct fetched_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i].machine);
	free(list->items);
	memset(list, 0, sizeof(*list));
}

void fetched_add(struct fetched_list *list, const char *machine, const char *id,
		 const struct oid *commit)
{
	struct fetched_item *item = ALLOC_NEXT(list->items, list->nr, list->alloc);

	*item = (struct fetched_item){ .machine = xstrdup(machine) };
	snprintf(item->ref.id, sizeof(item->ref.id), "%s", id);
	item->ref.commit = *commit;
}

static int compare_items(const void *a, const void *b)
{
	const struct fetched_item *x = a, *y = b;
	int order = strcmp(x->machine, y->machine);

	return order ? order : strcmp(x->ref.id, y->ref.id);
}

void fetched_sort(struct fetched_list *list)
{
	if (list->nr)
		qsort(list->items, list->nr, sizeof(*list->items), compare_items);
}

const struct fetched_item *fetched_find(const struct fetched_list *list, const char *machine,
					const char *id)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->items[i].machine, machine) && !strcmp(list->items[i].ref.id, id))
			return &list->items[i];
	return NULL;
}

/* "refs/fetched/<machine>/<id>" */
static bool parse_ref(char **machine_out, const char **id_out, const char *ref)
{
	const char *name = ref + strlen(DIR "/"), *slash = strchr(name, '/');
	char *machine = slash ? xmemdupz(name, (size_t)(slash - name)) : NULL;

	if (!machine || !setting_name_valid(machine) || !refs_valid_id(slash + 1)) {
		free(machine);
		return false;
	}
	*machine_out = machine;
	*id_out = slash + 1;
	return true;
}

/* `bad`: names of those that cannot be read, which are fetched again; may be NULL, like `out`. */
static int read_all(struct fetched_list *out, struct strlist *bad, struct store *store)
{
	struct strlist refs = STRLIST_INIT;
	int err = refs_below(&refs, store, DIR);

	for (size_t i = 0; i < refs.nr && !err; i++) {
		char *machine = NULL;
		struct oid commit;
		const char *id;

		if (!parse_ref(&machine, &id, refs.items[i]))
			continue;
		if (!refs_read(&commit, store, refs.items[i])) {
			if (out)
				fetched_add(out, machine, id, &commit);
		} else if (bad) {
			strlist_add(bad, refs.items[i]);
		}
		free(machine);
	}
	strlist_release(&refs);
	return err;
}

int fetched_damaged(struct strlist *out, struct store *store)
{
	return read_all(NULL, out, store);
}

int fetched_list(struct fetched_list *out, struct store *store)
{
	int err;

	memset(out, 0, sizeof(*out));
	err = read_all(out, NULL, store);
	fetched_sort(out);
	return err;
}

static int find_any(bool *found, struct oid *out, struct store *store, const char *id)
{
	struct fetched_list list;
	int err = fetched_list(&list, store);

	*found = false;
	for (size_t i = 0; i < list.nr && !*found; i++) {
		*found = !strcmp(list.items[i].ref.id, id);
		*out = list.items[i].ref.commit;
	}
	fetched_release(&list);
	return err;
}

bool fetched_any(struct oid *out, struct store *store, const char *id)
{
	bool found;

	(void)find_any(&found, out, store, id);
	return found;
}

bool fetched_exists(struct store *store, const char *id)
{
	struct oid commit;
	bool found;

	/* Not known: then it was not dropped, either. */
	return find_any(&found, &commit, store, id) || found;
}

int fetched_create(struct store *store, const struct fetched_item *item)
{
	char *dir = xstrfmt(DIR "/%s", item->machine);
	int err = fs_ensure_dir(store->dirfd, DIR, 0700);

	if (!err)
		err = fs_ensure_dir(store->dirfd, dir, 0700);
	if (!err)
		err = refs_write(store, dir, item->ref.id, &item->ref.commit, FS_DURABLE);
	free(dir);
	return err;
}

int fetched_remove(struct store *store, const struct fetched_item *item)
{
	char *dir = xstrfmt(DIR "/%s", item->machine);
	int err = refs_remove(store, dir, item->ref.id);

	free(dir);
	return err;
}
