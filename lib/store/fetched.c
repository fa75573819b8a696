/* SPDX-License-Identifier: MIT */
#include "store/fetched.h"

#include "base/base.h"
#include "settings/settings.h"
#include "store/packed_refs_internal.h"
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
	struct fetched_item *item;

	ALLOC_GROW(list->items, list->nr + 1, list->alloc);
	item = &list->items[list->nr++];
	*item = (struct fetched_item){ .machine = xstrdup(machine) };
	snprintf(item->ref.id, sizeof(item->ref.id), "%s", id);
	item->ref.commit = *commit;
}

static int compare(const void *a, const void *b)
{
	const struct fetched_item *x = a, *y = b;
	int order = strcmp(x->machine, y->machine);

	return order ? order : strcmp(x->ref.id, y->ref.id);
}

void fetched_sort(struct fetched_list *list)
{
	if (list->nr)
		qsort(list->items, list->nr, sizeof(*list->items), compare);
}

const struct fetched_item *fetched_find(const struct fetched_list *list, const char *machine,
					const char *id)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->items[i].machine, machine) && !strcmp(list->items[i].ref.id, id))
			return &list->items[i];
	return NULL;
}

/* `bad`: names of those that cannot be read; may be NULL, like `out`. */
static void add_machine(struct fetched_list *out, struct strlist *bad, struct store *store,
			const char *machine)
{
	char *dir = xstrfmt(DIR "/%s", machine);
	struct strlist ids = STRLIST_INIT;
	struct oid commit;

	(void)fs_names(&ids, store->dirfd, dir, O_NOFOLLOW, refs_valid_id);
	for (size_t i = 0; i < ids.nr; i++) {
		char *name = xstrfmt("%s/%s", dir, ids.items[i]);

		/* What cannot be read is fetched again. */
		if (!refs_read_loose(&commit, store, name)) {
			if (bad)
				strlist_add(bad, name);
		} else if (out) {
			fetched_add(out, machine, ids.items[i], &commit);
		}
		free(name);
	}
	strlist_release(&ids);
	free(dir);
}

/* Stock git may have packed them. */
static void add_packed(struct fetched_list *out, struct store *store)
{
	size_t nr;
	const struct packed_ref *packed = packed_refs_below(store, DIR "/", &nr);

	for (size_t i = 0; i < nr; i++) {
		const char *name = packed[i].name + strlen(DIR "/"), *slash = strchr(name, '/');
		char *machine = slash ? xmemdupz(name, (size_t)(slash - name)) : NULL;
		struct oid commit;

		if (machine && setting_name_valid(machine) && refs_valid_id(slash + 1) &&
		    packed[i].hex_len >= OID_HEX && oid_parse(&commit, packed[i].hex) &&
		    !fetched_find(out, machine, slash + 1))
			fetched_add(out, machine, slash + 1, &commit);
		free(machine);
	}
}

static int add_loose(struct fetched_list *out, struct strlist *bad, struct store *store)
{
	struct strlist machines = STRLIST_INIT;
	int err = 0;

	if (fs_names(&machines, store->dirfd, DIR, O_NOFOLLOW, setting_name_valid) < 0 &&
	    errno != ENOENT)
		err = ckpt_error_errno("unable to read '" DIR "' of '%s'", store->path);
	for (size_t i = 0; i < machines.nr && !err; i++)
		add_machine(out, bad, store, machines.items[i]);
	strlist_release(&machines);
	return err;
}

int fetched_damaged(struct strlist *out, struct store *store)
{
	return add_loose(NULL, out, store);
}

int fetched_list(struct fetched_list *out, struct store *store)
{
	int err;

	memset(out, 0, sizeof(*out));
	err = add_loose(out, NULL, store);
	if (!err)
		err = packed_refs_check(store);
	if (!err)
		add_packed(out, store);
	fetched_sort(out);
	return err;
}

bool fetched_exists(struct store *store, const char *id)
{
	struct fetched_list list;
	bool found = false;

	if (fetched_list(&list, store))
		return true; /* not known: then it was not dropped, either */
	for (size_t i = 0; i < list.nr && !found; i++)
		found = !strcmp(list.items[i].ref.id, id);
	fetched_release(&list);
	return found;
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
