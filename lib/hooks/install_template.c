/* SPDX-License-Identifier: MIT */
#include "hooks/install_template_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "hooks/hook_file_internal.h"
#include "hooks/install_internal.h"
#include "hooks/install_record_internal.h"
#include "hooks/install_where_internal.h"

/* ---- walking ---- */

/* A file, link or directory; `text` is the contents, or where the link leads. */
typedef int (*visit_fn)(const char *below, const struct stat *st, const struct strbuf *text,
			void *payload);

enum { DEPTH_MAX = 50 };

static int read_one(struct strbuf *text, const char *path, const struct stat *st)
{
	char target[PATH_MAX];
	ssize_t len;

	if (S_ISREG(st->st_mode))
		return fs_read_text(text, AT_FDCWD, path);
	if (!S_ISLNK(st->st_mode))
		return 0;
	len = readlink(path, target, sizeof(target));
	if (len < 0)
		return ckpt_error_errno("unable to read the link '%s'", path);
	strbuf_add(text, target, (size_t)len);
	return 0;
}

static int walk_below(struct strbuf *path, size_t root, int depth, visit_fn visit, void *payload);

static int walk_one(struct strbuf *path, size_t root, int depth, visit_fn visit, void *payload)
{
	struct strbuf text = STRBUF_INIT;
	struct stat st;
	int err;

	if (lstat(path->buf, &st) < 0)
		err = ckpt_error_errno("unable to look at '%s'", path->buf);
	else if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode) && !S_ISDIR(st.st_mode))
		err = 0; /* git ignores it, too */
	else
		err = read_one(&text, path->buf, &st);
	if (!err)
		err = visit(path->buf + root + 1, &st, &text, payload);
	if (!err && S_ISDIR(st.st_mode))
		err = walk_below(path, root, depth + 1, visit, payload);
	strbuf_release(&text);
	return err;
}

/* Everything that git would copy, in a fixed order. */
static int walk_below(struct strbuf *path, size_t root, int depth, visit_fn visit, void *payload)
{
	struct strlist names = STRLIST_INIT;
	size_t len = path->len;
	int err = 0;

	if (depth > DEPTH_MAX)
		return ckpt_error_set(CKPT_ERROR, "'%s' is too deep for a template", path->buf);
	if (fs_names(&names, AT_FDCWD, path->buf, 0, NULL) < 0)
		err = ckpt_error_errno("unable to list '%s'", path->buf);
	strlist_sort_unique(&names);
	for (size_t i = 0; i < names.nr && !err; i++) {
		if (names.items[i][0] == '.')
			continue;
		path_append(path, names.items[i]);
		err = walk_one(path, root, depth, visit, payload);
		strbuf_setlen(path, len);
	}
	strlist_release(&names);
	return err;
}

static int walk(const char *dir, visit_fn visit, void *payload)
{
	struct strbuf path = STRBUF_INIT;
	int err;

	strbuf_addstr(&path, dir);
	err = walk_below(&path, path.len, 0, visit, payload);
	strbuf_release(&path);
	return err;
}

/* ---- digests ---- */

static int add_to_digest(const char *below, const struct stat *st, const struct strbuf *text,
			 void *payload)
{
	struct strbuf *all = payload;

	strbuf_addf(all, "%o %zu %s%c", (unsigned)st->st_mode & (S_IFMT | 0111), text->len, below,
		    0);
	strbuf_add(all, text->buf, text->len);
	return 0;
}

/* NULL if it cannot be read. */
static char *digest(const char *dir)
{
	struct strbuf all = STRBUF_INIT;
	char *hex = walk(dir, add_to_digest, &all) ? NULL : install_sha256(&all);

	strbuf_release(&all);
	return hex;
}

static bool differs(const char *dir, const char *before)
{
	char *now = digest(dir);
	bool is = !now || strcmp(now, before);

	free(now);
	return is;
}

bool install_template_outdated(const struct install_record *record)
{
	return record->template_seen && differs(record->template_from, record->template_seen);
}

static bool was_changed(const struct install_record *record, const char *dir)
{
	return record->template_made && fs_is_dir(dir) && differs(dir, record->template_made);
}

/* ---- making it ---- */

static int copy(const char *below, const struct stat *st, const struct strbuf *text, void *payload)
{
	const char *to = payload;
	char *path = xstrfmt("%s/%s", to, below);
	mode_t mode = st->st_mode & 0777;
	int err = 0;

	if (S_ISREG(st->st_mode))
		err = fs_write_file(AT_FDCWD, path, text->buf, text->len, mode | 0600, FS_DURABLE);
	else if (S_ISLNK(st->st_mode)	? symlink(text->buf, path) < 0
		 : S_ISDIR(st->st_mode) ? fs_mkdir(AT_FDCWD, path, mode | 0700) < 0
					: false)
		err = ckpt_error_errno("unable to create '%s'", path);
	free(path);
	return err;
}

void install_template_line(struct strbuf *out, const struct install_where *where, const char *name)
{
	struct strbuf quoted = STRBUF_INIT;
	char *path = install_record_path(where, name);

	quote_shell(&quoted, path);
	strbuf_addf(out, "[ ! -r %s ] || . %s # git-checkpoint\n", quoted.buf, quoted.buf);
	strbuf_release(&quoted);
	free(path);
}

static int put_line(const char *dir, const struct install_record *record,
		    const struct install_where *where, const char *name)
{
	char *path = xstrfmt("%s/hooks/%s", dir, name);
	struct strbuf line = STRBUF_INIT, old = STRBUF_INIT, text = STRBUF_INIT;
	struct stat st;
	int err = 0;

	install_template_line(&line, where, name);
	if (lstat(path, &st) < 0) {
		strbuf_addf(&text, HOOK_FILE_FRAME "%s", line.buf);
		st.st_mode = 0755;
	} else if (S_ISREG(st.st_mode) && st.st_mode & 0100 &&
		   !fs_read_file(&old, AT_FDCWD, path) && hook_file_is_shell(old.buf, old.len)) {
		hook_file_insert(&text, old.buf, old.len, line.buf);
	} else {
		err = ckpt_error_set(CKPT_ERROR,
				     "'%s/hooks/%s' is not an executable shell script, so it "
				     "cannot take our line; make it a script that runs "
				     "what it is now, and try again",
				     record->template_from, name);
	}
	if (!err)
		err = fs_write_file(AT_FDCWD, path, text.buf, text.len, st.st_mode & 0777,
				    FS_DURABLE);
	strbuf_release(&text);
	strbuf_release(&old);
	strbuf_release(&line);
	free(path);
	return err;
}

/* Where git keeps its own, beside its programs; NULL if it is not there. */
static char *gits_own(void)
{
	static const char *const args[] = { "--exec-path", NULL };
	const struct gitrun how = { .profile = GITRUN_LOOK };
	struct strbuf out = STRBUF_INIT;
	char *path = NULL;

	if (!gitrun(&out, &how, args)) {
		strbuf_setlen(&out, strcspn(out.buf, "\n"));
		path = xstrfmt("%s/../../share/git-core/templates", out.buf);
	}
	strbuf_release(&out);
	if (path && fs_is_dir(path))
		return path;
	free(path);
	return NULL;
}

static int fill(const char *dir, const struct install_record *record,
		const struct install_where *where, const char *const names[])
{
	char *from =
		record->template_from ? xstrdup(record->template_from) : gits_own(); /* "": none */
	char *hooks = xstrfmt("%s/hooks", dir);
	int err = fs_mkdir_p(dir, 0755);

	if (!err && from && *from)
		err = walk(from, copy, (void *)dir);
	if (!err && names[0])
		err = fs_mkdir_p(hooks, 0755);
	for (size_t i = 0; names[i] && !err; i++)
		err = put_line(dir, record, where, names[i]);
	free(hooks);
	free(from);
	return err;
}

/* There is a whole one at every moment, where the file system can do that. */
static int swap(const char *new, const char *dir)
{
	char *old = xstrfmt("%s.old", dir);
	int err = 0;

	if (renameat2(AT_FDCWD, new, AT_FDCWD, dir, RENAME_EXCHANGE) < 0 &&
	    ((rename(dir, old) < 0 && errno != ENOENT) || rename(new, dir) < 0))
		err = ckpt_error_errno("unable to put '%s' in place", dir);
	free(old);
	return err ? err : fs_sync_holder(AT_FDCWD, dir);
}

int install_template_clean(const struct install_where *where)
{
	static const char *const names[] = { INSTALL_TEMPLATE ".new", INSTALL_TEMPLATE ".old" };
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names) && !err; i++) {
		char *path = install_record_path(where, names[i]);

		err = fs_remove_tree(AT_FDCWD, path);
		free(path);
	}
	return err;
}

int install_template_prepare(const struct install_record *record, const struct install_where *where,
			     const char *const names[])
{
	char *dir = install_record_path(where, INSTALL_TEMPLATE);
	char *new = install_record_path(where, INSTALL_TEMPLATE ".new");
	int err = install_template_clean(where);

	if (!err && was_changed(record, dir))
		err = ckpt_error_set(CKPT_ERROR,
				     "somebody changed '%s', which would be replaced; move it "
				     "to a place of your own, and set init.templateDir to "
				     "that",
				     dir);
	if (!err)
		err = fill(new, record, where, names);
	free(new);
	free(dir);
	return err;
}

int install_template_place(struct install_record *record, const struct install_where *where)
{
	char *dir = install_record_path(where, INSTALL_TEMPLATE);
	char *new = install_record_path(where, INSTALL_TEMPLATE ".new");
	int err = swap(new, dir);

	if (!err) {
		free(record->template_seen);
		record->template_seen = record->template_from && *record->template_from
						? digest(record->template_from)
						: NULL;
		record->template_made = digest(dir);
		err = install_template_clean(where);
	}
	free(new);
	free(dir);
	return err;
}

int install_template_remove(const struct install_record *record, const struct install_where *where,
			    struct strlist *notes)
{
	char *dir = install_record_path(where, INSTALL_TEMPLATE);
	char *old = install_record_path(where, INSTALL_TEMPLATE ".old");
	int err = install_template_clean(where);

	if (!err && was_changed(record, dir))
		strlist_addf(notes, "'%s' has later changes, so it stays; nothing uses it any more",
			     dir);
	/* What is removed in part would look changed. */
	else if (!err && rename(dir, old) < 0 && errno != ENOENT)
		err = ckpt_error_errno("unable to remove '%s'", dir);
	else if (!err)
		err = install_template_clean(where);
	free(old);
	free(dir);
	return err;
}

/* ---- status ---- */

enum hooks_state install_template_state(const char *path, const struct install_where *where,
					const char *name, const char **why_out)
{
	struct strbuf text = STRBUF_INIT, line = STRBUF_INIT;
	enum hooks_state state = HOOKS_RUNS;
	char *script = install_record_path(where, name);
	int err = fs_read_linked(&text, path);

	install_template_line(&line, where, name);
	*why_out = "";
	if (err == CKPT_ENOTFOUND) {
		state = HOOKS_MISSING;
		*why_out = "the repository is older than 'hooks install --global'";
	} else if (err || !strstr(text.buf, line.buf)) {
		state = HOOKS_DISPLACED;
		*why_out = "another hook is in its place";
	} else if (access(path, X_OK) < 0) {
		state = HOOKS_NOT_RUN;
		*why_out = "it is not executable";
	} else if (access(script, R_OK) < 0) {
		state = HOOKS_NOT_RUN;
		*why_out = "the script that it runs is gone";
	}
	free(script);
	strbuf_release(&line);
	strbuf_release(&text);
	return state;
}
