/* SPDX-License-Identifier: MIT */
#include "record/identity.h"

#include <sys/sysmacros.h>

#define MEMBER "identity"
#define ROOT_NONE "none"
#define ROOT_UNKNOWN "unknown"

#define NS_PER_S 1000000000LL

static bool is_commit(const char *root)
{
	size_t len = strlen(root);

	return (len == OID_HEX || len == SHA256_HEX) && strspn(root, "0123456789abcdef") == len;
}

int identity_of(struct identity *out, const char *dir)
{
	struct statx st;

	memset(out, 0, sizeof(*out));
	strcpy(out->root, ROOT_UNKNOWN);
	if (statx(AT_FDCWD, dir, 0, STATX_BASIC_STATS | STATX_BTIME, &st) < 0)
		return ckpt_error_errno("unable to look at '%s'", dir);
	if (!S_ISDIR(st.stx_mode))
		return ckpt_error_set(CKPT_ENOTFOUND, "'%s' is not a directory", dir);
	out->device = makedev(st.stx_dev_major, st.stx_dev_minor);
	out->inode = st.stx_ino;
	if (st.stx_mask & STATX_BTIME)
		out->born = st.stx_btime.tv_sec * NS_PER_S + st.stx_btime.tv_nsec;
	return 0;
}

/* --- the root commit --- */

static bool is_shallow(const struct repo *repo)
{
	char *file = xstrfmt("%s/shallow", repo->commondir);
	bool shallow = !access(file, F_OK);

	free(file);
	return shallow;
}

/* The last commit of a shallow clone does not count as root: its parent is named but missing. */
static int ask_root(char out[IDENTITY_ROOT_SIZE], const struct repo *repo)
{
	static const char *const args[] = { "rev-list", "--first-parent", "--max-parents=0", "HEAD",
					    NULL };
	const struct gitrun how = { .gitdir = repo->gitdir };
	struct strbuf answer = STRBUF_INIT;
	int err = is_shallow(repo) ? CKPT_ERROR : askgit(&answer, &how, args);

	strbuf_trim(&answer);
	if (!err && !is_commit(answer.buf))
		err = CKPT_ERROR;
	if (!err)
		strcpy(out, answer.buf);
	strbuf_release(&answer);
	return err;
}

void identity_find_root(struct identity *identity, const struct repo *repo)
{
	struct repo_state state = { 0 };

	strcpy(identity->root, ROOT_NONE);
	if (repo && !repo_read_state(&state, repo) && state.head && ask_root(identity->root, repo))
		strcpy(identity->root, ROOT_UNKNOWN);
	repo_state_release(&state);
}

/* --- what is recorded --- */

static bool valid_root(const char *root)
{
	return root && (!strcmp(root, ROOT_NONE) || !strcmp(root, ROOT_UNKNOWN) || is_commit(root));
}

int identity_read(struct identity *out, int store_dirfd)
{
	json_t *object = state_peek(store_dirfd, MEMBER),
	       *device = json_object_get(object, "device"),
	       *inode = json_object_get(object, "inode"), *born = json_object_get(object, "born");
	const char *root = json_string_value(json_object_get(object, "root"));
	bool sound = json_is_integer(device) && json_is_integer(inode) && json_is_integer(born) &&
		     valid_root(root);

	memset(out, 0, sizeof(*out));
	if (sound) {
		out->device = (uint64_t)json_integer_value(device);
		out->inode = (uint64_t)json_integer_value(inode);
		out->born = json_integer_value(born);
		snprintf(out->root, sizeof(out->root), "%s", root);
	}
	json_decref(object);
	return sound ? 0 : ckpt_error_set(CKPT_ENOTFOUND, "no identity is recorded");
}

int identity_write(const struct identity *identity, struct store *store)
{
	return state_set(store, MEMBER,
			 json_pack("{s:I, s:I, s:I, s:s}", "device", (json_int_t)identity->device,
				   "inode", (json_int_t)identity->inode, "born",
				   (json_int_t)identity->born, "root", identity->root));
}

/* --- how they relate --- */

static bool same_inode(const struct identity *a, const struct identity *b)
{
	return a->inode == b->inode && (a->born == b->born || !a->born || !b->born);
}

bool identity_is(const struct identity *recorded, const struct identity *now)
{
	/* An inode number of another device says nothing; the same time of birth says much. */
	return same_inode(recorded, now) &&
	       (recorded->device == now->device || (recorded->born && recorded->born == now->born));
}

bool identity_is_at(const struct identity *recorded, const char *path)
{
	struct identity now;

	return !identity_of(&now, path) && identity_is(recorded, &now);
}

bool identity_same_project(const struct identity *a, const struct identity *b)
{
	return is_commit(a->root) && !strcmp(a->root, b->root);
}

enum identity_relation identity_compare(const struct identity *recorded,
					const struct identity *now)
{
	if (identity_is(recorded, now))
		return IDENTITY_SAME;
	if (is_commit(recorded->root) && is_commit(now->root) && strcmp(recorded->root, now->root))
		return IDENTITY_OTHER;
	/* The same disk, plugged in again, on a file system without times of birth. */
	if (same_inode(recorded, now) && !strcmp(recorded->root, now->root))
		return IDENTITY_SAME;
	return IDENTITY_ANEW;
}

/* The newest checkpoint from before the directory was created, or else the newest of all. */
static const char *last_before(const struct ref_list *refs, const struct identity *now)
{
	enum { TIME_AT = 4 }; /* after "chk_" */
	char born[CLOCK_ISO_SIZE];

	clock_format_id(born, now->born / NS_PER_S);
	for (size_t i = refs->nr; now->born && i--;)
		if (strncmp(refs->items[i].id + TIME_AT, born, strlen(born)) <= 0)
			return refs->items[i].id;
	return refs->items[refs->nr - 1].id;
}

static void add_warning(struct strlist *warnings, enum identity_relation relation,
			struct store *store, const struct ref_list *refs,
			const struct identity *now)
{
	struct ref_list own = { 0 };

	if (relation == IDENTITY_SAME)
		return;
	if (!refs && refs_list(&own, store))
		return;
	if (!refs)
		refs = &own;
	if (refs->nr)
		strlist_addf(warnings,
			     "this directory is not the one from which the checkpoints were taken: it was "
			     "created after '%s'%s; they are kept",
			     last_before(refs, now),
			     relation == IDENTITY_OTHER ? " and holds another project" : "");
	refs_release(&own);
}

void identity_check(struct strlist *warnings, struct store *store, const struct repo *repo,
		    const struct ref_list *refs, bool record)
{
	struct identity recorded, now;
	bool known = !identity_read(&recorded, store->dirfd), same;

	if (identity_of(&now, store->worktree) || (!known && !record))
		return;
	same = known && identity_is(&recorded, &now);
	/* A directory keeps its root, once it has one: looking for it takes time. */
	if (same && strcmp(recorded.root, ROOT_NONE))
		strcpy(now.root, recorded.root);
	else
		identity_find_root(&now, repo);
	if (same && recorded.device == now.device && !strcmp(recorded.root, now.root))
		return;
	if (known)
		add_warning(warnings, identity_compare(&recorded, &now), store, refs, &now);
	/* Not written: it is said once more. */
	if (record)
		(void)identity_write(&now, store);
}
