/* SPDX-License-Identifier: MIT */
#include "store/state.h"

#include "store/layout.h"
#include "store/shadow.h"

struct state {
	json_t *members; /* an object; NULL: the file is damaged */
	bool exists;
	struct stat st;
};

void state_release(struct store *store)
{
	if (!store->state)
		return;
	json_decref(store->state->members);
	free(store->state);
	store->state = NULL;
}

static bool is_current(const struct store *store)
{
	struct stat st;
	bool exists = !fstatat(store->dirfd, LAYOUT_STATE, &st, AT_SYMLINK_NOFOLLOW);

	if (!store->state || exists != store->state->exists)
		return false;
	return !exists || fs_same_file(&st, &store->state->st);
}

static bool is_ours(const json_t *members)
{
	return json_is_object(members) &&
	       json_integer_value(json_object_get(members, "version")) == STATE_VERSION;
}

/* The times are taken first: a file that is replaced meanwhile is read again next time. */
static int read_state(struct store *store)
{
	struct state *state;
	struct stat st = { 0 };
	bool exists = !fstatat(store->dirfd, LAYOUT_STATE, &st, AT_SYMLINK_NOFOLLOW);
	json_t *members;
	int err = json_read_file(&members, store->dirfd, LAYOUT_STATE);

	if (err && err != CKPT_ENOTFOUND)
		return err;
	if (err)
		members = json_pack("{s:i}", "version", STATE_VERSION);
	if (!is_ours(members)) {
		json_decref(members);
		members = NULL;
	}
	state_release(store);
	state = store->state = xcalloc(1, sizeof(*state));
	*state = (struct state){ members, exists, st };
	return 0;
}

static int refresh_state(struct store *store)
{
	return is_current(store) ? 0 : read_state(store);
}

int state_get(json_t **out, struct store *store, const char *name)
{
	int err = refresh_state(store);

	if (err)
		return err;
	if (!store->state->members)
		return ckpt_error_set(CKPT_ECORRUPT, "'%s/%s' is damaged", store->path, LAYOUT_STATE);
	*out = json_incref(json_object_get(store->state->members, name));
	return 0;
}

json_t *state_peek(int dirfd, const char *name)
{
	json_t *members, *member = NULL;

	if (!json_read_file(&members, dirfd, LAYOUT_STATE) && is_ours(members))
		member = json_incref(json_object_get(members, name));
	json_decref(members);
	return member;
}

/* Nobody else writes it meanwhile: the store is locked. */
static int set_aside_damaged(struct store *store)
{
	int err = fs_rename(store->dirfd, LAYOUT_STATE, LAYOUT_STATE ".damaged", "checkpoint", FS_FAST);

	return err ? err : read_state(store);
}

int state_set(struct store *store, const char *name, json_t *value)
{
	json_t *members, *present;
	int err = refresh_state(store);

	if (!err && !store->state->members)
		err = set_aside_damaged(store);
	if (err) {
		json_decref(value);
		return err;
	}
	members = store->state->members;
	present = json_object_get(members, name);
	if (value ? json_equal(present, value) : !present) {
		json_decref(value);
		return 0;
	}
	if (value)
		json_object_set_new(members, name, value);
	else
		json_object_del(members, name);
	err = json_write_file(store->dirfd, LAYOUT_STATE, json_incref(members), 0600, FS_DURABLE);
	/* Whether it was written or not, the file tells. */
	state_release(store);
	return err;
}
