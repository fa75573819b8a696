/* SPDX-License-Identifier: MIT */
#include "store/keepers.h"

#include "store/fetched.h"
#include "store/layout.h"
#include "store/refs_internal.h"
#include "store/shadow.h"

#include <sys/file.h>
#include <sys/random.h>

#define DIR "refs/keep"

enum { NAME_LEN_MAX = 100 };
#define NAME_LEN_TEXT "100"

static const char *const dirs[] = {
	[KEEPER_PIN] = DIR "/pin",	   [KEEPER_NAME] = DIR "/name",
	[KEEPER_IMPORT] = DIR "/import",   [KEEPER_UNDO] = DIR "/undo",
	[KEEPER_FLOW] = DIR "/flow",	   [KEEPER_JOURNAL] = DIR "/journal",
	[KEEPER_PROCESS] = DIR "/process", [KEEPER_OTHER] = DIR,
};

/* --- what is a name --- */

static bool is_word(const char *name)
{
	static const char *const taken[] = { "step", "turn", "session" };
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		found = found || !strcmp(name, taken[i]);
	return found;
}

/* What git does not take for the last part of a ref. */
static bool is_bad_ref(const char *name, size_t len)
{
	return strstr(name, "..") || name[len - 1] == '.' ||
	       (len > 5 && !strcmp(name + len - 5, ".lock"));
}

const char *keepers_name_flaw(const char *name)
{
	static const char letters[] = "0123456789abcdefABCDEFghijklmnopqrstuvwxyz"
				      "GHIJKLMNOPQRSTUVWXYZ._-";
	size_t len = strlen(name);

	if (!len)
		return "it is empty";
	if (len > NAME_LEN_MAX)
		return "it has more than " NAME_LEN_TEXT " characters";
	if (name[strspn(name, letters)])
		return "use only letters, digits, '.', '_' and '-'";
	if (strchr("._-", name[0]))
		return "it has to begin with a letter or a digit";
	if (!name[strspn(name, "0123456789abcdefABCDEF")])
		return "only hexadecimal digits could be those of an id";
	if (!strncmp(name, "chk_", 4))
		return "it begins as ids do";
	if (is_word(name))
		return "it is a word that names checkpoints in another way";
	return is_bad_ref(name, len) ? "git takes no '..' in a name, and neither '.' nor '.lock' at its end"
				     : NULL;
}

/* --- reading --- */

/* What changes if a keeper comes or goes. */
struct keepers_seen {
	struct stat dirs[ARRAY_SIZE(dirs)], packed;
	bool settled;
};

void keepers_free(struct keepers *keepers)
{
	for (size_t i = 0; keepers && i < keepers->nr; i++)
		free(keepers->items[i].ref);
	if (keepers) {
		free(keepers->items);
		free(keepers->seen);
	}
	free(keepers);
}

static void stat_or_zero(struct stat *out, const struct store *store, const char *path)
{
	if (fstatat(store->dirfd, path, out, AT_SYMLINK_NOFOLLOW) < 0)
		memset(out, 0, sizeof(*out));
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return !a->st_ino ? !b->st_ino : fs_same_file(a, b);
}

/* Most stores have few keepers, many none: then this is one system call. */
static void look_at_dirs(struct keepers_seen *out, const struct store *store)
{
	int64_t now = clock_file_ns();

	memset(out, 0, sizeof(*out));
	out->settled = true;
	stat_or_zero(&out->packed, store, "packed-refs");
	for (size_t i = ARRAY_SIZE(dirs); i--;) {
		stat_or_zero(&out->dirs[i], store, dirs[i]);
		out->settled = out->settled &&
			       (!out->dirs[i].st_ino || fs_is_settled(&out->dirs[i], now));
		if (i == KEEPER_OTHER && !out->dirs[i].st_ino)
			break;
	}
}

static bool is_current(const struct keepers_seen *seen, const struct keepers_seen *now)
{
	bool same = seen->settled && is_same(&seen->packed, &now->packed);

	for (size_t i = 0; i < ARRAY_SIZE(dirs) && same; i++)
		same = is_same(&seen->dirs[i], &now->dirs[i]);
	return same;
}

/* Of a process the id ends at the dot. */
static void set_id(struct kept *kept)
{
	size_t len = strlen(kept->name);
	const char *dot = kept->who == KEEPER_PROCESS ? strchr(kept->name, '.') : NULL;

	if (dot)
		len = (size_t)(dot - kept->name);
	if (kept->who != KEEPER_NAME && len < sizeof(kept->id))
		memcpy(kept->id, kept->name, len);
}

static enum keeper who_is(const char *ref)
{
	size_t who = 0;

	while (who < KEEPER_OTHER && (strncmp(ref, dirs[who], strlen(dirs[who])) != 0 ||
				      ref[strlen(dirs[who])] != '/'))
		who++;
	return (enum keeper)who;
}

static int add_kept(struct keepers *out, struct store *store, const char *ref)
{
	struct kept kept = { .who = who_is(ref) };
	const char *name = ref + strlen(dirs[kept.who]) + 1;
	int err = 0;

	if (kept.who == KEEPER_NAME) {
		if (keepers_name_flaw(name))
			return 0;
		err = refs_read(&kept.commit, store, ref);
		/* Taken away just now; any other failure would leave its checkpoint unprotected. */
		if (err == CKPT_ENOTFOUND)
			return 0;
		if (err == CKPT_ECORRUPT)
			err = 0;
	} else if (kept.who == KEEPER_OTHER && strchr(name, '/')) {
		name = strrchr(name, '/') + 1;
	}
	if (err)
		return err;
	kept.ref = xstrdup(ref);
	kept.name = kept.ref + (name - ref);
	set_id(&kept);
	*ALLOC_NEXT(out->items, out->nr, out->alloc) = kept;
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;
	int order = strcmp(x->id, y->id);

	return order ? order : strcmp(x->ref, y->ref);
}

int keepers_read(const struct keepers **out, struct store *store)
{
	struct strlist all = STRLIST_INIT;
	struct keepers_seen now;
	struct keepers *keepers;
	int err;

	look_at_dirs(&now, store);
	*out = store->keepers;
	if (store->keepers && is_current(store->keepers->seen, &now))
		return 0;
	keepers_free(store->keepers);
	keepers = store->keepers = xcalloc(1, sizeof(*keepers));
	keepers->seen = xcalloc(1, sizeof(now));
	err = refs_below(&all, store, DIR);
	for (size_t i = 0; i < all.nr && !err; i++)
		err = add_kept(keepers, store, all.items[i]);
	if (keepers->nr)
		qsort(keepers->items, keepers->nr, sizeof(*keepers->items), by_id);
	/* Otherwise it is read again next time. */
	if (!err)
		*keepers->seen = now;
	*out = keepers;
	strlist_release(&all);
	return err ? ckpt_error_prefix(err, "unable to tell what is needed of '%s'", store->path) : 0;
}

static size_t first_of(const struct keepers *keepers, const char *id)
{
	size_t at;

	LOWER_BOUND(at, keepers->nr, strcmp(keepers->items[at].id, id) < 0);
	return at;
}

bool keepers_has(const struct keepers *keepers, enum keeper who, const char *id)
{
	for (size_t i = first_of(keepers, id);
	     i < keepers->nr && !strcmp(keepers->items[i].id, id); i++)
		if (keepers->items[i].who == who)
			return true;
	return false;
}

bool keepers_names_of(struct strlist *out, const struct keepers *keepers, const struct oid *commit)
{
	bool found = false;

	/* Those without an id come first. */
	for (size_t i = 0; i < keepers->nr && !*keepers->items[i].id; i++)
		if (keepers->items[i].who == KEEPER_NAME && !oid_is_zero(commit) &&
		    oid_equal(&keepers->items[i].commit, commit)) {
			found = true;
			if (out)
				strlist_add(out, keepers->items[i].name);
		}
	return found;
}

bool keepers_need(const struct keepers *keepers, const struct ref_item *ref)
{
	size_t at = first_of(keepers, ref->id);

	return (at < keepers->nr && !strcmp(keepers->items[at].id, ref->id)) ||
	       keepers_names_of(NULL, keepers, &ref->commit);
}

void keepers_names(struct strlist *out, struct store *store)
{
	const struct keepers *keepers;

	if (keepers_read(&keepers, store))
		return;
	for (size_t i = 0; i < keepers->nr; i++)
		if (keepers->items[i].who == KEEPER_NAME)
			strlist_add(out, keepers->items[i].name);
	strlist_sort_unique(out);
}

bool keepers_find(struct oid *out, struct store *store, enum keeper who, const char *name)
{
	char *ref = xstrfmt("%s/%s", dirs[who], name);
	bool found = (who != KEEPER_NAME || !keepers_name_flaw(name)) && !refs_read(out, store, ref);

	free(ref);
	return found;
}

/* --- changing --- */

static int ensure_dirs(struct store *store, enum keeper who)
{
	int err = fs_ensure_dir(store->dirfd, DIR, 0700);

	return err ? err : fs_ensure_dir(store->dirfd, dirs[who], 0700);
}

int keepers_add(struct store *store, enum keeper who, const char *name, const struct oid *commit)
{
	int err = ensure_dirs(store, who);

	return err ? err : refs_write(store, dirs[who], name, commit, FS_DURABLE);
}

int keepers_remove(struct store *store, enum keeper who, const char *name)
{
	return refs_remove(store, dirs[who], name);
}

int keepers_unname(struct store *store, const struct oid *commit)
{
	struct strlist all = STRLIST_INIT;
	struct oid oid;
	int err = 0;

	keepers_names(&all, store);
	for (size_t i = 0; i < all.nr && !err; i++)
		if (keepers_find(&oid, store, KEEPER_NAME, all.items[i]) && oid_equal(&oid, commit))
			err = keepers_remove(store, KEEPER_NAME, all.items[i]);
	strlist_release(&all);
	return err;
}

int keepers_forget(struct store *store, const struct ref_item *ref)
{
	struct strlist refs = STRLIST_INIT;
	const struct keepers *keepers;
	int err = keepers_read(&keepers, store);

	for (size_t i = 0; i < keepers->nr && !err; i++) {
		const struct kept *kept = &keepers->items[i];

		if (kept->who == KEEPER_NAME ? oid_equal(&kept->commit, &ref->commit) &&
						       !oid_is_zero(&ref->commit) :
		    kept->who != KEEPER_PROCESS && !strcmp(kept->id, ref->id))
			strlist_add(&refs, kept->ref);
	}
	for (size_t i = 0; i < refs.nr && !err; i++)
		err = refs_remove_named(store, refs.items[i], FS_DURABLE);
	strlist_release(&refs);
	return err;
}

/* A second name of a file is there whole or not at all; the caller makes it durable. */
static bool link_ref(struct store *store, enum keeper who, const char *id)
{
	static const char *const from[] = { "refs/checkpoints", DIR "/journal", DIR "/undo" };
	char *ref = xstrfmt("%s/%s", dirs[who], id);
	bool linked = false;

	for (size_t i = 0; i < ARRAY_SIZE(from) && !linked; i++) {
		char *there = xstrfmt("%s/%s", from[i], id);

		linked = !linkat(store->dirfd, there, store->dirfd, ref, 0) || errno == EEXIST;
		free(there);
	}
	free(ref);
	return linked;
}

/* It may be packed, or belong to another machine. */
static bool find_commit(struct oid *out, struct store *store, const char *id)
{
	static const char *const from[] = { "refs/checkpoints", DIR "/journal", DIR "/undo" };
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(from) && !found; i++) {
		char *ref = xstrfmt("%s/%s", from[i], id);

		found = !refs_read(out, store, ref);
		free(ref);
	}
	return found || fetched_any(out, store, id);
}

static int set_one(struct store *store, enum keeper who, const char *id)
{
	struct oid commit;

	if (link_ref(store, who, id) || !find_commit(&commit, store, id))
		return 0;
	return keepers_add(store, who, id, &commit);
}

/* All of them wait for the disk once. */
static int set_all(struct store *store, enum keeper who, const struct strlist *ids)
{
	bool there = !faccessat(store->dirfd, dirs[who], F_OK, AT_SYMLINK_NOFOLLOW);
	int err = there || !ids->nr ? 0 : ensure_dirs(store, who);

	for (size_t i = 0; i < ids->nr && !err; i++)
		err = set_one(store, who, ids->items[i]);
	return err || !ids->nr ? err : fs_sync_dir(store->dirfd, dirs[who]);
}

int keepers_set(struct store *store, enum keeper who, const struct strlist *ids, bool alone)
{
	struct strlist surplus = STRLIST_INIT, missing = STRLIST_INIT;
	const struct keepers *keepers;
	int err = keepers_read(&keepers, store);

	for (size_t i = 0; i < ids->nr && !err; i++)
		if (*ids->items[i] && !keepers_has(keepers, who, ids->items[i]))
			strlist_add(&missing, ids->items[i]);
	for (size_t i = 0; i < keepers->nr && alone; i++)
		if (keepers->items[i].who == who && !strlist_has(ids, keepers->items[i].id))
			strlist_add(&surplus, keepers->items[i].ref);
	if (!err)
		err = set_all(store, who, &missing);
	for (size_t i = 0; i < surplus.nr && !err; i++)
		err = refs_remove_named(store, surplus.items[i], FS_FAST);
	strlist_release(&missing);
	strlist_release(&surplus);
	return err;
}

/* --- a process that runs --- */

/* Locked, and not removed by another process that saw it before that. */
static bool lock_file(int fd)
{
	struct stat st;

	return !flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &st) && st.st_nlink;
}

/* In place, and locked, before it leads anywhere: it counts by its name. */
static int make_file(struct keepers_hold *hold, const char *id)
{
	for (int i = 0; i < 100; i++) {
		uint32_t random = 0;

		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			break;
		free(hold->ref);
		hold->ref = xstrfmt("%s/%s.%08x", dirs[KEEPER_PROCESS], id, random);
		hold->fd = openat(hold->dirfd, hold->ref, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (hold->fd < 0 && errno != EEXIST)
			break;
		if (hold->fd >= 0 && lock_file(hold->fd))
			return 0;
		fs_close(hold->fd);
		hold->fd = -1;
	}
	return ckpt_error_errno("unable to hold checkpoint '%s'", id);
}

int keepers_hold(struct keepers_hold *out, struct store *store, const char *id)
{
	char text[OID_HEX + 2];
	struct oid commit;
	int err;

	*out = (struct keepers_hold)KEEPERS_HOLD_INIT;
	if ((fs_mkdir(store->dirfd, DIR, 0700) < 0 && errno != EEXIST) ||
	    (fs_mkdir(store->dirfd, dirs[KEEPER_PROCESS], 0700) < 0 && errno != EEXIST))
		return ckpt_error_errno("unable to hold checkpoint '%s'", id);
	out->dirfd = fcntl(store->dirfd, F_DUPFD_CLOEXEC, 0);
	if (out->dirfd < 0)
		return ckpt_error_errno("unable to hold checkpoint '%s'", id);
	err = make_file(out, id);
	if (!err && !find_commit(&commit, store, id))
		return ckpt_error_set(CKPT_ENOTFOUND, "checkpoint '%s' was removed by another process", id);
	if (err)
		return err;
	oid_hex(text, &commit);
	text[OID_HEX] = '\n';
	/* It need not be durable: after a power cut, the process does not run any more. */
	return fs_write_all(out->fd, text, OID_HEX + 1) < 0 ?
		       ckpt_error_errno("unable to hold checkpoint '%s'", id) :
		       0;
}

void keepers_let_go(struct keepers_hold *hold)
{
	if (hold->fd >= 0) {
		unlinkat(hold->dirfd, hold->ref, 0);
		close(hold->fd);
	}
	fs_close(hold->dirfd);
	free(hold->ref);
	*hold = (struct keepers_hold)KEEPERS_HOLD_INIT;
}

/* --- sweeping --- */

/* If that cannot be told, it runs. */
static bool is_dead(const struct store *store, const char *ref)
{
	int fd = openat(store->dirfd, ref, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool dead = fd < 0 ? errno == ENOENT : !flock(fd, LOCK_EX | LOCK_NB);

	fs_close(fd);
	return dead;
}

static bool leads_to(const struct ref_list *refs, const struct oid *commit)
{
	bool found = false;

	/* A ref that cannot be read may be the one that is meant. */
	for (size_t i = 0; i < refs->nr && !found; i++)
		found = oid_is_zero(&refs->items[i].commit) ||
			oid_equal(&refs->items[i].commit, commit);
	return found;
}

/* The undo stack says itself which composed states it needs. */
static bool is_stale(const struct kept *kept, struct store *store, const struct ref_list *refs,
		     const struct ref_list *lost)
{
	struct oid commit;

	switch (kept->who) {
	case KEEPER_PROCESS:
		return is_dead(store, kept->ref);
	case KEEPER_NAME:
		return !oid_is_zero(&kept->commit) && !leads_to(refs, &kept->commit) &&
		       !leads_to(lost, &kept->commit);
	case KEEPER_JOURNAL:
		return faccessat(store->dirfd, LAYOUT_JOURNAL, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
		       errno == ENOENT;
	case KEEPER_OTHER:
		return false;
	default:
		return refs_valid_id(kept->id) && !refs_has(refs, kept->id) &&
		       !refs_has(lost, kept->id) && !fetched_any(&commit, store, kept->id);
	}
}

int keepers_sweep(struct store *store, const struct ref_list *lost)
{
	struct strlist stale = STRLIST_INIT;
	const struct keepers *keepers;
	struct ref_list refs = { 0 };
	int err = keepers_read(&keepers, store);

	if (!err && keepers->nr)
		err = refs_list(&refs, store);
	for (size_t i = 0; i < keepers->nr && !err; i++)
		if (is_stale(&keepers->items[i], store, &refs, lost))
			strlist_add(&stale, keepers->items[i].ref);
	for (size_t i = 0; i < stale.nr && !err; i++)
		err = refs_remove_named(store, stale.items[i], FS_FAST);
	strlist_release(&stale);
	refs_release(&refs);
	return err;
}
