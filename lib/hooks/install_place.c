/* SPDX-License-Identifier: MIT */
#include "hooks/install_place_internal.h"

#include "base/base.h"
#include "hooks/hook_file_internal.h"
#include "hooks/install_internal.h"

/* What is at a path. */
struct found {
	bool exists, regular, link;
	mode_t mode;
	struct strbuf text; /* of a regular file; the target of a link */
};

static int look(struct found *out, const char *path)
{
	struct stat st;
	char target[PATH_MAX];
	ssize_t len;

	memset(out, 0, sizeof(*out));
	strbuf_init(&out->text);
	if (lstat(path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR ?
			       0 : ckpt_error_errno("unable to look at '%s'", path);
	out->exists = true;
	out->mode = st.st_mode & 07777;
	out->regular = S_ISREG(st.st_mode);
	out->link = S_ISLNK(st.st_mode);
	if (out->regular)
		return fs_read_file(&out->text, AT_FDCWD, path);
	if (!out->link)
		return ckpt_error_set(CKPT_ERROR, "'%s' is neither a file nor a link; move it away", path);
	len = readlink(path, target, sizeof(target));
	if (len < 0)
		return ckpt_error_errno("unable to read the link '%s'", path);
	strbuf_add(&out->text, target, (size_t)len);
	return 0;
}

static bool is_ours(const struct found *found)
{
	return found->regular && hook_file_is_ours(found->text.buf, found->text.len);
}

static bool is_frame(const struct strbuf *text)
{
	return !strcmp(text->buf, HOOK_FILE_FRAME) && text->len == strlen(HOOK_FILE_FRAME);
}

char *install_sha256(const struct strbuf *text)
{
	unsigned char hash[SHA256_SIZE];
	char *out = xmalloc(2 * SHA256_SIZE + 1);

	hash_buffer(HASH_SHA256, hash, text->buf, text->len);
	return oid_hex_encode(out, hash, SHA256_SIZE);
}

/* ---- install ---- */

/* Our lines are there, but not recorded: judge by what else is in the file. */
static void plan_ours(struct install_entry *entry, const struct found *found)
{
	struct strbuf bare = STRBUF_INIT;

	hook_file_remove(&bare, found->text.buf, found->text.len);
	entry->how = hook_file_is_dispatcher(found->text.buf, found->text.len) ? INSTALL_ASIDE
		     : is_frame(&bare)					       ? INSTALL_CREATED
									       : INSTALL_LINES;
	if (entry->how == INSTALL_LINES)
		entry->sha256 = install_sha256(&bare);
	strbuf_release(&bare);
}

bool install_same_file(const char *a, const char *b)
{
	struct stat one, two;

	return !lstat(a, &one) && !lstat(b, &two) && one.st_dev == two.st_dev &&
	       one.st_ino == two.st_ino;
}

/* The renamed hook needs its name: an existing file of somebody else is not touched. */
static int check_aside(const char *path)
{
	char *aside = xstrfmt("%s" HOOK_FILE_ASIDE, path);
	struct stat st;
	int err = 0;

	if (!lstat(aside, &st) && !install_same_file(path, aside))
		err = ckpt_error_set(CKPT_ERROR, "'%s' exists, but a hook has to be renamed to it; move "
						 "it away", aside);
	free(aside);
	return err;
}

/* Our lines cannot be inserted into it. A hook that is switched off by its mode also stays off. */
static bool goes_aside(const struct found *found, const char *path)
{
	return found->link ||
	       (found->regular && !is_ours(found) &&
		(!hook_file_is_shell(found->text.buf, found->text.len) || access(path, X_OK) < 0));
}

/* A dispatcher that somebody renamed, which takes back what it replaced. */
static bool is_parked(const char *path, const char *suffix)
{
	char *parked = xstrfmt("%s%s", path, suffix);
	struct found found;
	bool is = !look(&found, parked) && is_ours(&found) &&
		  hook_file_is_dispatcher(found.text.buf, found.text.len);

	strbuf_release(&found.text);
	free(parked);
	return is;
}

/* What install_place_remove() does with a renamed hook frees its name. */
static bool makes_room(const char *path)
{
	char *old = xstrfmt("%s.old", path);
	struct stat st;
	bool room = lstat(old, &st) < 0 || is_parked(path, ".old") || is_parked(path, ".legacy");

	free(old);
	return room;
}

int install_place_check(const struct install_entry *entry, const char *path)
{
	struct found found;
	int err = look(&found, path);

	if (!err && goes_aside(&found, path) && !(entry && makes_room(path)))
		err = check_aside(path);
	strbuf_release(&found.text);
	return err;
}

int install_place_plan(struct install_record *record, const char *path, const char *name)
{
	struct install_entry *entry;
	struct found found;
	int err = look(&found, path);

	if (err || (is_ours(&found) && install_record_find(record, path)))
		goto out;
	entry = install_record_entry(record, path, name);
	entry->mode = found.mode;
	if (!found.exists) {
		entry->how = INSTALL_CREATED;
	} else if (is_ours(&found)) {
		plan_ours(entry, &found);
	} else {
		entry->how = goes_aside(&found, path) ? INSTALL_ASIDE : INSTALL_LINES;
		if (found.link)
			entry->target = xstrdup(found.text.buf);
		else
			entry->sha256 = install_sha256(&found.text);
	}
	if (entry->how == INSTALL_ASIDE && !is_ours(&found))
		err = check_aside(path);
out:
	strbuf_release(&found.text);
	return err;
}

static char *dir_of(const char *path)
{
	return xmemdupz(path, (size_t)(strrchr(path, '/') - path));
}

/* A link with the hook's name that leads to the renamed hook. */
static int make_link(const struct install_entry *entry)
{
	char *dir = dir_of(entry->path);
	char *links = xstrfmt("%s/" HOOK_FILE_LINKS, dir);
	char *link = xstrfmt("%s/%s", links, entry->name);
	char *target = xstrfmt("../%s" HOOK_FILE_ASIDE, entry->name);
	int err = fs_mkdir_p(links, 0755);

	if (!err && symlink(target, link) < 0 && errno != EEXIST)
		err = ckpt_error_errno("unable to create the link '%s'", link);
	free(target);
	free(link);
	free(links);
	free(dir);
	return err;
}

/* A second name first, so that there is a hook at every moment. */
static int put_aside(const struct install_entry *entry)
{
	char *aside = xstrfmt("%s" HOOK_FILE_ASIDE, entry->path);
	int err = make_link(entry);

	if (!err && linkat(AT_FDCWD, entry->path, AT_FDCWD, aside, 0) < 0) {
		if (errno == EEXIST)
			err = check_aside(entry->path);
		/* A full disk has no space for its replacement either. */
		else if (errno == ENOSPC || errno == EDQUOT || rename(entry->path, aside) < 0)
			err = ckpt_error_errno("unable to rename '%s'", entry->path);
	}
	free(aside);
	return err;
}

/* The new text of a file that already has our lines, and its mode. */
static mode_t refresh(struct strbuf *out, const struct install_entry *entry,
		      const struct found *found, const char *lines)
{
	struct strbuf bare = STRBUF_INIT;
	bool all_ours;

	hook_file_remove(&bare, found->text.buf, found->text.len);
	all_ours = is_frame(&bare) && entry->how != INSTALL_LINES;
	if (all_ours)
		hook_file_shim(out, lines, entry->name, entry->how == INSTALL_ASIDE);
	else
		hook_file_insert(out, found->text.buf, found->text.len, lines);
	strbuf_release(&bare);
	return all_ours ? found->mode | 0555 : found->mode;
}

int install_place_put(const struct install_entry *entry, const char *lines)
{
	struct strbuf text = STRBUF_INIT;
	struct found found;
	mode_t mode = 0755;
	int err = look(&found, entry->path);

	if (err)
		goto out;
	if (is_ours(&found)) {
		mode = refresh(&text, entry, &found, lines);
	} else if (entry->how == INSTALL_LINES) {
		hook_file_insert(&text, found.text.buf, found.text.len, lines);
		mode = found.mode;
	} else {
		hook_file_shim(&text, lines, entry->name, entry->how == INSTALL_ASIDE);
		if (entry->how == INSTALL_ASIDE)
			err = put_aside(entry);
	}
	if (!err && (!found.regular || mode != found.mode || !strbuf_equal(&text, &found.text)))
		err = fs_write_file(AT_FDCWD, entry->path, text.buf, text.len, mode, FS_DURABLE);
out:
	strbuf_release(&text);
	strbuf_release(&found.text);
	return err;
}

/* ---- uninstall ---- */

static int remove_file(const char *path)
{
	return unlink(path) < 0 && errno != ENOENT ?
		       ckpt_error_errno("unable to remove '%s'", path) : 0;
}

/* A dispatcher to which somebody added lines: these must not be lost with it. */
static int keep_edits(const struct strbuf *bare, const char *path, mode_t mode,
		      struct strlist *notes)
{
	char *kept = xstrfmt("%s.edited", path);
	int err = fs_write_file(AT_FDCWD, kept, bare->buf, bare->len, mode, FS_DURABLE);

	if (!err)
		strlist_addf(notes, "later changes to '%s' are now in '%s'", path, kept);
	free(kept);
	return err;
}

/* Remove our lines from one file, if it exists. */
static int clean(const struct install_entry *entry, const char *path, struct strlist *notes)
{
	char *aside = xstrfmt("%s" HOOK_FILE_ASIDE, entry->path);
	struct strbuf bare = STRBUF_INIT;
	struct found found;
	bool dispatcher;
	struct stat st;
	int err = look(&found, path);

	if (err || !is_ours(&found))
		goto out;
	hook_file_remove(&bare, found.text.buf, found.text.len);
	dispatcher = hook_file_is_dispatcher(found.text.buf, found.text.len);
	if (dispatcher && !is_frame(&bare))
		err = keep_edits(&bare, path, found.mode, notes);
	if (err)
		goto out;
	if (dispatcher && !lstat(aside, &st))
		err = rename(aside, path) < 0 ?
			      ckpt_error_errno("unable to put '%s' back", path) :
			      fs_sync_holder(AT_FDCWD, path);
	else if (dispatcher || (is_frame(&bare) && entry->how == INSTALL_CREATED))
		err = remove_file(path);
	else
		err = fs_write_file(AT_FDCWD, path, bare.buf, bare.len, found.mode, FS_DURABLE);
out:
	strbuf_release(&bare);
	strbuf_release(&found.text);
	free(aside);
	return err;
}

/*
 * The dispatcher is gone, or was never there, but the hook it replaced is
 * still renamed: it gets its name back or, if there is another hook by now, is
 * put beside that.
 */
static int settle_aside(const struct install_entry *entry, struct strlist *notes)
{
	char *aside = xstrfmt("%s" HOOK_FILE_ASIDE, entry->path);
	char *old = xstrfmt("%s.old", entry->path);
	struct stat st;
	int err = 0;

	if (lstat(aside, &st) < 0)
		goto out;
	if (install_same_file(aside, entry->path)) {
		err = remove_file(aside);
	} else if (lstat(entry->path, &st) < 0) {
		if (rename(aside, entry->path) < 0)
			err = ckpt_error_errno("unable to put '%s' back", entry->path);
		else
			err = fs_sync_holder(AT_FDCWD, entry->path);
	} else if (lstat(old, &st) < 0 && !rename(aside, old)) {
		strlist_addf(notes, "'%s' was replaced by another hook; the original is in '%s'",
			     entry->path, old);
	} else {
		strlist_addf(notes, "'%s' was replaced by another hook; the original is in '%s'",
			     entry->path, aside);
	}
out:
	free(old);
	free(aside);
	return err;
}

static void remove_link(const struct install_entry *entry)
{
	char *dir = dir_of(entry->path);
	char *links = xstrfmt("%s/" HOOK_FILE_LINKS, dir);
	char *link = xstrfmt("%s/%s", links, entry->name);

	unlink(link);
	rmdir(links);
	fs_sweep_temps(AT_FDCWD, dir);
	free(link);
	free(links);
	free(dir);
}

int install_place_remove(const struct install_entry *entry, struct strlist *notes)
{
	static const char *const suffixes[] = { "", ".old", ".legacy" };
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(suffixes) && !err; i++) {
		char *path = xstrfmt("%s%s", entry->path, suffixes[i]);

		err = clean(entry, path, notes);
		free(path);
	}
	if (!err)
		err = settle_aside(entry, notes);
	if (!err)
		remove_link(entry);
	/* Before the record goes: a hook that a power cut brings back would belong to no record. */
	if (!err)
		(void)fs_sync_holder(AT_FDCWD, entry->path);
	return err;
}

/* ---- status ---- */

/* pre-commit first runs the hook that it found there; our lines are reached through it. */
static bool runs_legacy(const char *path, const struct found *found)
{
	char *legacy = xstrfmt("%s.legacy", path);
	struct found parked;
	bool ours;

	ours = !look(&parked, legacy) && is_ours(&parked) && !access(legacy, X_OK) &&
	       found->regular && strstr(found->text.buf, "pre-commit") && !access(path, X_OK);
	strbuf_release(&parked.text);
	free(legacy);
	return ours;
}

enum hooks_state install_place_state(const char *path, const char **why_out)
{
	enum hooks_state state = HOOKS_RUNS;
	struct found found;

	*why_out = "";
	if (look(&found, path) || (!is_ours(&found) && found.exists)) {
		state = runs_legacy(path, &found) ? HOOKS_RUNS : HOOKS_DISPLACED;
		*why_out = state == HOOKS_RUNS ? "pre-commit runs it" :
						 "another hook took its place";
	} else if (!found.exists) {
		state = HOOKS_MISSING;
		*why_out = "it was removed";
	} else if (access(path, X_OK) < 0) {
		state = HOOKS_NOT_RUN;
		*why_out = "it is not executable";
	}
	strbuf_release(&found.text);
	return state;
}
