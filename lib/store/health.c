/* SPDX-License-Identifier: MIT */
#include "store/health.h"

#include "store/layout.h"
#include "store/shadow.h"
#include "tree/tree.h"

struct patient {
	struct store *store;
	struct strlist *wrong; /* a sentence about each thing */
	bool repair, make;     /* make: it is new, so everything is missing */
};

enum presence { MISSING, FOUND, ODD /* neither file nor directory, or the wrong one */ };

static int look_at(enum presence *out, const struct store *store, const char *name, mode_t kind)
{
	struct stat st;

	if (fstatat(store->dirfd, name, &st, kind == S_IFDIR ? 0 : AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			return ckpt_error_errno("unable to look at '%s' in the store '%s'", name,
						store->path);
		*out = MISSING;
	} else {
		*out = (st.st_mode & S_IFMT) == kind ? FOUND : ODD;
	}
	return 0;
}

/* A small file; the text is empty if it does not exist or is not a file. */
static int read_small(struct strbuf *out, enum presence *is, const struct store *store,
		      const char *name)
{
	int err = look_at(is, store, name, S_IFREG);

	strbuf_reset(out);
	if (!err && *is == FOUND)
		err = fs_read_file(out, store->dirfd, name);
	if (err != CKPT_ENOTFOUND)
		return err;
	*is = MISSING;
	return 0;
}

static bool has_nul(const struct strbuf *text)
{
	return strlen(text->buf) != text->len;
}

/* --- is it of this format, and of this worktree? --- */

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

/* What another version wrote cannot be judged. Before the first release the file had a number only. */
int health_check_version(const struct store *store)
{
	static const char head[] = "git-checkpoint ";
	struct strbuf text = STRBUF_INIT;
	enum presence is;
	int err = read_small(&text, &is, store, LAYOUT_VERSION_FILE);
	bool sound = !err && !has_nul(&text), headed;

	strbuf_trim(&text);
	headed = !strncmp(text.buf, head, strlen(head)) && is_number(text.buf + strlen(head));
	if (sound && headed && strcmp(text.buf, LAYOUT_VERSION) != 0)
		err = ckpt_error_set(CKPT_ERROR,
				     "the store '%s' has format '%s', this program knows "
				     "format " LAYOUT_NUMBER "; use a newer git-checkpoint",
				     store->path, text.buf + strlen(head));
	else if (sound && is_number(text.buf))
		err = ckpt_error_set(CKPT_ERROR,
				     "the store '%s' was made by a build older than the first release; "
				     "let that build write what you need with 'git checkpoint export "
				     "--bundle', move the store away, and 'git checkpoint import' the bundle",
				     store->path);
	strbuf_release(&text);
	return err;
}

/* Torn, the path looks like that of a parent directory; the configuration is a second witness. */
static int is_torn(bool *out, const struct store *store, const struct strbuf *path)
{
	struct strbuf config = STRBUF_INIT, line = STRBUF_INIT;
	enum presence is;
	int err = 0;

	*out = false;
	if (!strncmp(path->buf, store->worktree, path->len)) {
		err = read_small(&config, &is, store, "config");
		strbuf_addstr(&line, "\tworktree = ");
		quote_config(&line, store->worktree);
		*out = strstr(config.buf, line.buf) != NULL;
	}
	strbuf_release(&config);
	strbuf_release(&line);
	return err;
}

static int check_worktree(const struct store *store)
{
	struct strbuf path = STRBUF_INIT;
	enum presence is;
	bool torn = true;
	int err = read_small(&path, &is, store, LAYOUT_WORKTREE);

	if (!err && path.buf[0] == '/' && !has_nul(&path) && strcmp(path.buf, store->worktree) != 0)
		err = is_torn(&torn, store, &path);
	if (!err && !torn)
		err = ckpt_error_set(
			CKPT_ERROR,
			"the store '%s' belongs to '%s', not to '%s'; if that was moved "
			"here, 'git checkpoint relink %s' adopts it",
			store->path, path.buf, store->worktree, strrchr(store->path, '/') + 1);
	strbuf_release(&path);
	return err;
}

/* --- what differs from the layout --- */

struct own_file {
	const char *name, *text;
	bool (*is_sound)(const struct strbuf *is, const char *text);
	bool optional;
};

/* Each line that we wrote; others may have been added. */
static bool has_lines(const struct strbuf *is, const char *text)
{
	bool all = !has_nul(is);

	for (const char *line = text; *line && all;) {
		const char *end = strchrnul(line, '\n');
		char *copy = xmemdupz(line, (size_t)(end - line) + (*end != '\0'));

		all = strstr(is->buf, copy) != NULL;
		free(copy);
		line = end + (*end != '\0');
	}
	return all;
}

/*
 * The user may add to it and change values; but each key that we wrote exists, and the worktree is
 * this one.
 */
static bool is_config(const struct strbuf *is, const char *text)
{
	bool all = !has_nul(is) && is->len && is->buf[is->len - 1] == '\n';

	for (const char *line = text; *line && all;) {
		const char *end = strchrnul(line, '\n');
		size_t len = (size_t)(end - line);
		char *copy;

		line += *line == '\t';
		len = strncmp(line, "worktree = ", 11) ? strcspn(line, " \n") : (size_t)(end - line);
		copy = xmemdupz(line, len);
		all = strcasestr(is->buf, copy) != NULL;
		free(copy);
		line = end + (*end != '\0');
	}
	return all;
}

static bool is_same(const struct strbuf *is, const char *text)
{
	return is->len == strlen(text) && !memcmp(is->buf, text, is->len);
}

/* "ref: refs/..." or the name of a commit: somebody may have checked out something else. */
static bool is_head(const struct strbuf *is, const char *text UNUSED)
{
	struct oid oid;

	if (strcspn(is->buf, "\n\r\t\177") + 1 != is->len)
		return false;
	return !strncmp(is->buf, "ref: refs/", 10) ? is->len > 11 :
						     is->len == OID_HEX + 1 && oid_parse(&oid, is->buf);
}

/*
 * If the user deleted or edited it, that is intended; if it is torn, its last line is not a
 * pattern.
 */
static bool is_exclude(const struct strbuf *is, const char *text)
{
	return !has_nul(is) && (!is->len || is->buf[is->len - 1] == '\n' ||
				is->len >= strlen(text) || memcmp(is->buf, text, is->len) != 0);
}

static void add_note(const struct patient *p, const char *name, const char *what)
{
	strlist_addf(p->wrong, "'%s' of the store %s", name, what);
}

/* Whatever it is, it is kept. */
static void move_away(const struct patient *p, const char *name)
{
	char *aside = xstrfmt("%s.damaged", name);
	int rc = p->repair ? renameat(p->store->dirfd, name, p->store->dirfd, aside) : 0;

	/* What is there may be a directory that is not empty, or not one. */
	for (int i = 2; rc < 0 && errno != ENOENT && i < 100; i++) {
		free(aside);
		aside = xstrfmt("%s.damaged-%d", name, i);
		rc = renameat(p->store->dirfd, name, p->store->dirfd, aside);
	}
	if (p->repair && !rc)
		(void)fs_sync_holder(p->store->dirfd, name);
	free(aside);
}

/* What is missing with the directory that it was in needs no words of its own. */
static bool is_implied(const struct store *store, const char *name)
{
	const char *slash = strchr(name, '/');
	char *parent = slash ? xmemdupz(name, (size_t)(slash - name)) : NULL;
	bool implied = parent && faccessat(store->dirfd, parent, F_OK, 0) < 0 && errno == ENOENT;

	free(parent);
	return implied;
}

static int mend_dir(const struct patient *p, const char *name)
{
	enum presence is;
	int err = look_at(&is, p->store, name, S_IFDIR);

	if (err || is == FOUND)
		return err;
	if (!is_implied(p->store, name))
		add_note(p, name, is == ODD ? "is not a directory" : "is missing");
	if (is == ODD)
		move_away(p, name);
	if (p->repair && fs_mkdir(p->store->dirfd, name, 0700) < 0)
		return ckpt_error_errno("unable to create '%s' in the store '%s'", name,
					p->store->path);
	return 0;
}

static int mend_dirs(const struct patient *p)
{
	/* Into the last one of a new store files are written. */
	static const char *const holders[] = { "objects", "refs", "." };
	int err = 0, failed;

	for (const char *const *dir = layout_dirs; *dir; dir++) {
		failed = mend_dir(p, *dir);
		err = err ? err : failed;
	}
	for (size_t i = 0; p->repair && p->wrong->nr && i < ARRAY_SIZE(holders) - p->make && !err;
	     i++)
		err = fs_sync_dir(p->store->dirfd, holders[i]);
	return err;
}

static int mend_file(const struct patient *p, const struct own_file *file)
{
	struct strbuf text = STRBUF_INIT;
	enum presence is;
	int err = read_small(&text, &is, p->store, file->name);
	bool sound = is == MISSING ? file->optional && !p->make
				   : is == FOUND && file->is_sound(&text, file->text);

	strbuf_release(&text);
	if (err || sound)
		return err;
	add_note(p, file->name,
		 is == ODD ? "is not a file" : is == MISSING ? "is missing" : "is damaged");
	if (is == ODD)
		move_away(p, file->name);
	return p->repair ? fs_write_file(p->store->dirfd, file->name, file->text,
					 strlen(file->text), 0600, FS_DURABLE)
			 : 0;
}

static int mend_files(const struct patient *p)
{
	struct strbuf config = STRBUF_INIT;
	int err = 0, failed;

	layout_config(&config, p->store->worktree);
	{
		const struct own_file files[] = {
			{ "HEAD", layout_head, is_head, false },
			{ "config", config.buf, is_config, false },
			{ "info/attributes", layout_attributes, has_lines, false },
			{ "info/exclude", rules_default_patterns, is_exclude, true },
			{ LAYOUT_VERSION_FILE, LAYOUT_VERSION "\n", is_same, false },
			{ LAYOUT_WORKTREE, p->store->worktree, is_same, false },
		};

		for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
			failed = mend_file(p, &files[i]);
			err = err ? err : failed;
		}
	}
	strbuf_release(&config);
	return err;
}

/* A directory, or a link that leads nowhere: neither reading nor writing would ever get past it. */
static bool is_blocked(const struct store *store, const char *name)
{
	struct stat st;

	return !fstatat(store->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) &&
	       (S_ISDIR(st.st_mode) ||
		(S_ISLNK(st.st_mode) && fstatat(store->dirfd, name, &st, 0) < 0));
}

/* The files of other modules. */
static void move_blocked(const struct patient *p)
{
	static const char *const files[] = {
		LAYOUT_STATE, LAYOUT_JOURNAL, LAYOUT_GC_LOCK, LAYOUT_LOG,    LAYOUT_UNDO,
		LAYOUT_CACHE, "packed-refs",  LAYOUT_TURNS,   LAYOUT_LOCK,   "checkpoint-manifest.md",
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (is_blocked(p->store, files[i])) {
			add_note(p, files[i], "is not a file");
			move_away(p, files[i]);
		}
}

/*
 * Lost settings cannot be recovered, but must not stop all commands from working. Until there are
 * settings again, those that were set aside count as lost.
 */
static int mend_settings(const struct patient *p)
{
	char *path = xstrfmt("%s/" LAYOUT_SETTINGS, p->store->path);
	struct strbuf text = STRBUF_INIT;
	struct stat st;
	/* It may be a link, to a file that several stores have. */
	bool there = !stat(path, &st), odd = there && !S_ISREG(st.st_mode);
	int err = there && !odd ? fs_read_linked(&text, path) : 0;

	p->store->no_settings = !err && (odd || has_nul(&text));
	if (p->store->no_settings) {
		add_note(p, LAYOUT_SETTINGS, "is damaged, so its settings do not count, and nothing is "
					     "evicted; set them again");
		move_away(p, LAYOUT_SETTINGS);
	}
	p->store->no_settings |= !there && !faccessat(p->store->dirfd, LAYOUT_SETTINGS ".damaged", F_OK,
						      AT_SYMLINK_NOFOLLOW);
	strbuf_release(&text);
	free(path);
	return err;
}

static int mend_mode(const struct patient *p)
{
	struct stat st;

	if (fstat(p->store->dirfd, &st) < 0)
		return ckpt_error_errno("unable to look at '%s'", p->store->path);
	if (!(st.st_mode & 077))
		return 0;
	strlist_add(p->wrong, "the store is open to other users");
	if (p->repair)
		(void)fchmod(p->store->dirfd, 0700);
	return 0;
}

/* As much as possible; the first failure. */
static int mend_all(const struct patient *p)
{
	int mode = mend_mode(p), dirs = mend_dirs(p), files, settings;

	move_blocked(p);
	files = mend_files(p);
	settings = mend_settings(p);
	return mode ? mode : dirs ? dirs : files ? files : settings;
}

int health_check(struct strlist *out, struct store *store)
{
	const struct patient p = { .store = store, .wrong = out };
	int err = health_check_version(store);

	if (!err)
		err = check_worktree(store);
	return err ? err : mend_all(&p);
}

void health_repair(struct store *store)
{
	struct strlist wrong = STRLIST_INIT;
	const struct patient p = { store, &wrong, true, false };

	(void)mend_all(&p);
	strlist_release(&wrong);
}

int health_make(struct store *store)
{
	struct strlist wrong = STRLIST_INIT;
	const struct patient p = { store, &wrong, true, true };
	int err = mend_all(&p);

	strlist_release(&wrong);
	return err;
}

void health_repair_lock(struct store *store)
{
	struct strlist wrong = STRLIST_INIT;
	const struct patient p = { store, &wrong, true, false };
	char *home = xmemdupz(store->path, (size_t)(strrchr(store->path, '/') - store->path));
	int fd = layout_lock_home(home, true);

	if (fd >= 0) {
		(void)mend_dir(&p, "checkpoint");
		move_blocked(&p);
	}
	fs_close(fd);
	free(home);
	strlist_release(&wrong);
}
