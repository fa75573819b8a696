/* SPDX-License-Identifier: MIT */
#include "record/lookup_machine_internal.h"

#include "base/base.h"
#include "store/store.h"

enum { ID_DIGITS = 6 };

static bool is_of(const struct fetched_item *item, const char *machine, size_t len)
{
	return strlen(item->machine) == len && !strncmp(item->machine, machine, len);
}

/* What matches more exactly wins. */
static bool matches(const char *id, const char *name, int way)
{
	if (!way)
		return !strcmp(id, name);
	if (way == 1)
		return strlen(name) == ID_DIGITS && !strcasecmp(id + strlen(id) - ID_DIGITS, name);
	return !strncmp(id, name, strlen(name));
}

/* How many match; `at` is the last of them. Those of a machine are in the order of their ids. */
static size_t find(size_t *at, const struct fetched_list *all, const char *name)
{
	const char *slash = strchr(name, '/'), *rest = slash + 1;
	size_t len = (size_t)(slash - name), found = 0;

	for (int way = 0; way < 3 && !found && *rest; way++)
		for (size_t i = 0; i < all->nr; i++)
			if (is_of(&all->items[i], name, len) &&
			    matches(all->items[i].ref.id, rest, way)) {
				found++;
				*at = i;
			}
	return found;
}

/* "<machine>/@": the last of those that can be read. */
static int find_newest(struct ckpt_record *out, struct store *store, const struct fetched_list *all,
		       const char *name)
{
	size_t len = strcspn(name, "/");

	for (size_t i = all->nr; i--;)
		if (is_of(&all->items[i], name, len) &&
		    !record_read_fetched(out, store, &all->items[i]))
			return 0;
	return CKPT_ENOTFOUND;
}

static int unknown(const char *name)
{
	return ckpt_error_set(CKPT_ENOTFOUND,
			      "no checkpoint named '%s'; see 'git checkpoint list', and 'git checkpoint "
			      "list --remote' for those of other machines",
			      name);
}

int lookup_machine(struct ckpt_record *out, struct store *store, const char *name)
{
	struct fetched_list all;
	size_t at = 0, found;
	int err = fetched_list(&all, store);

	if (err)
		return err;
	found = find(&at, &all, name);
	if (!strcmp(strchr(name, '/'), "/@"))
		err = find_newest(out, store, &all, name);
	else if (found == 1)
		err = record_read_fetched(out, store, &all.items[at]);
	else if (found)
		err = ckpt_error_set(CKPT_ERROR,
				     "'%s' is ambiguous; see 'git checkpoint list --remote'", name);
	else
		err = CKPT_ENOTFOUND;
	fetched_release(&all);
	return err == CKPT_ENOTFOUND ? unknown(name) : err;
}

/* Any machine can use the id of another one: then it says nothing. */
static int read_only_one(struct ckpt_record *out, struct store *store,
			 const struct fetched_list *all, const char *id)
{
	const struct fetched_item *found = NULL;

	for (size_t i = 0; i < all->nr; i++) {
		const struct fetched_item *item = &all->items[i];

		if (strcmp(item->ref.id, id) != 0)
			continue;
		if (found && !oid_equal(&found->ref.commit, &item->ref.commit))
			return ckpt_error_set(CKPT_ERROR,
					      "'%s' is ambiguous, it could be '%s/%s' or '%s/%s'", id,
					      found->machine, id, item->machine, id);
		if (!found)
			found = item;
	}
	return found ? record_read_fetched(out, store, found) : CKPT_ENOTFOUND;
}

int lookup_fetched_id(struct ckpt_record *out, struct store *store, const char *id)
{
	char *kept = ckpt_error_keep();
	struct fetched_list all;
	int err = fetched_list(&all, store);

	if (!err) {
		err = read_only_one(out, store, &all, id);
		fetched_release(&all);
	}
	if (err == CKPT_ENOTFOUND)
		return ckpt_error_put_back(err, kept);
	free(kept);
	return err;
}
