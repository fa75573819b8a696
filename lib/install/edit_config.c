/* SPDX-License-Identifier: MIT */
#include "install/install_internal.h"

#include "git/git.h"

/* What is in a text of one value of ours, and of everything else. */
struct reading {
	const struct install_value *values, *value; /* the second may be NULL */
	size_t count;
	bool is_last; /* of that key */
	struct strbuf others;
};

static bool is_value(const struct install_value *ours, const char *key, const char *value)
{
	return !strcasecmp(ours->key, key) && value && !strcmp(ours->value, value);
}

static int note_value(const char *key, const char *value, void *payload)
{
	struct reading *reading = payload;
	bool ours = false;

	if (reading->value && !strcasecmp(reading->value->key, key)) {
		reading->is_last = is_value(reading->value, key, value);
		reading->count += reading->is_last;
	}
	for (const struct install_value *each = reading->values; each->key && !ours; each++)
		ours = is_value(each, key, value);
	if (!ours)
		strbuf_addf(&reading->others, "%s=%s%c", key, value ? value : "", value ? '\1' : '\2');
	return 0;
}

static int read_value(struct reading *out, const struct strbuf *text,
		      const struct install_value *values, const struct install_value *value)
{
	*out = (struct reading){ .values = values, .value = value, .others = STRBUF_INIT };
	return configtext_parse(text->buf, text->len, note_value, out);
}

int edit_config_look(enum install_state *out, const struct install_change *change,
		     const struct strbuf *text)
{
	bool all = true, any = false;
	int err = 0;

	if (strlen(text->buf) != text->len)
		return ckpt_error_set(CKPT_ERROR, "it contains a NUL");
	for (const struct install_value *value = change->values; value->key && !err; value++) {
		struct reading reading;

		err = read_value(&reading, text, change->values, value);
		all = all && (value->gone ? !reading.count : reading.count == 1 && reading.is_last);
		any = any || reading.count;
		strbuf_release(&reading.others);
	}
	*out = all ? INSTALL_THERE : any ? INSTALL_PARTLY : INSTALL_ABSENT;
	return err;
}

/* ---- editing ---- */

/* As a regular expression: --fixed-value does not work beside a key without a value. */
static void quote_regex(struct strbuf *out, const char *value)
{
	strbuf_addch(out, '^');
	for (; *value; value++) {
		if (strchr("\\.[]*^$+?(){}|", *value))
			strbuf_addch(out, '\\');
		strbuf_addch(out, *value);
	}
	strbuf_addch(out, '$');
}

static int run_git(const char *file, const struct install_value *value, bool add)
{
	struct strbuf out = STRBUF_INIT, regex = STRBUF_INIT;
	const char *const add_args[] = { "config",   "--file",	   file, "--add",
					 value->key, value->value, NULL };
	const char *remove_args[] = { "config",	  "--file", file, "--unset-all",
				      value->key, NULL,	    NULL };
	const struct gitrun how = { .profile = GITRUN_LOOK };
	int err;

	quote_regex(&regex, value->value);
	remove_args[5] = regex.buf;
	err = gitrun(&out, &how, add ? add_args : remove_args);
	strbuf_release(&regex);
	strbuf_release(&out);
	return err;
}

static int edit_file(const char *file, const struct install_value *values,
		     const struct strbuf *text, bool add)
{
	int err = 0;

	for (const struct install_value *value = values; value->key && !err; value++) {
		struct reading reading;

		err = read_value(&reading, text, values, value);
		if (!err && (add ? !value->gone : reading.count > 0))
			err = run_git(file, value, add);
		strbuf_release(&reading.others);
	}
	return err;
}

/* On a copy. */
static int edit_copy(struct strbuf *out, const struct strbuf *text,
		     const struct install_value *values, bool add)
{
	struct strbuf path = STRBUF_INIT;
	char *dir = install_record_dir();
	int fd = -1, err = fs_temp_open(&fd, &path, AT_FDCWD, dir, 0600);

	if (!err && fs_write_all(fd, text->buf, text->len) < 0)
		err = ckpt_error_errno("unable to write '%s'", path.buf);
	fs_close(fd);
	if (!err)
		err = edit_file(path.buf, values, text, add);
	if (!err)
		err = fs_read_text(out, AT_FDCWD, path.buf);
	if (fd >= 0)
		unlink(path.buf);
	strbuf_release(&path);
	free(dir);
	return err;
}

/* git reads everything else as before. A file may end in the middle of a value, for example. */
static int check_others(const struct strbuf *before, const struct strbuf *after,
			const struct install_value *values)
{
	struct reading was, is;
	int err = read_value(&was, before, values, NULL);

	if (!err)
		err = read_value(&is, after, values, NULL);
	else
		strbuf_init(&is.others);
	if (!err && !strbuf_equal(&was.others, &is.others))
		err = ckpt_error_set(CKPT_ERROR, "it has a format in which a change could not be "
						 "reverted without a trace; tidy it up");
	strbuf_release(&is.others);
	strbuf_release(&was.others);
	return err;
}

static int edit_text(struct strbuf *text, const struct install_value *values, bool add)
{
	struct strbuf after = STRBUF_INIT;
	int err = edit_copy(&after, text, values, add);

	if (!err)
		err = check_others(text, &after, values);
	if (!err) {
		strbuf_reset(text);
		strbuf_add(text, after.buf, after.len);
	}
	strbuf_release(&after);
	return err;
}

int edit_config_put(struct strbuf *text, const struct install_change *change)
{
	return edit_text(text, change->values, true);
}

int edit_config_remove(struct strbuf *text, const struct install_change *change)
{
	enum install_state state;
	int err = edit_config_look(&state, change, text);

	return err || state == INSTALL_ABSENT ? err : edit_text(text, change->values, false);
}

/* ---- writing ---- */

/* git's own lock is a file that becomes the new one; it is told from git's by a second name. */
struct names {
	char *lock, *new;
};

static void make_names(struct names *out, const char *name)
{
	out->lock = xstrfmt("%s.lock", name);
	out->new = xstrfmt("%s.checkpoint", name);
}

static void release_names(struct names *names)
{
	free(names->lock);
	free(names->new);
}

/* What a killed process of ours left. */
static void remove_lock(int dirfd, const struct names *names)
{
	struct stat one, two;

	if (!fstatat(dirfd, names->new, &one, AT_SYMLINK_NOFOLLOW) &&
	    !fstatat(dirfd, names->lock, &two, AT_SYMLINK_NOFOLLOW) && fs_same_file(&one, &two))
		(void)unlinkat(dirfd, names->lock, 0);
	(void)unlinkat(dirfd, names->new, 0);
}

void edit_config_tidy(int dirfd, const char *name)
{
	struct names names;

	make_names(&names, name);
	remove_lock(dirfd, &names);
	release_names(&names);
}

static int swap_locked(int dirfd, const char *name, const struct names *names,
		       const struct strbuf *before)
{
	struct strbuf now = STRBUF_INIT;
	int err = before ? fs_read_text(&now, dirfd, name) : 0;

	if (!err && before && !strbuf_equal(&now, before))
		err = ckpt_error_set(CKPT_ERROR, "'%s' was changed by another process; try again",
				     name);
	if (!err)
		err = fs_rename(dirfd, names->lock, name, ".", FS_DURABLE);
	if (err)
		(void)unlinkat(dirfd, names->lock, 0);
	strbuf_release(&now);
	return err;
}

int edit_config_write(int dirfd, const char *name, const struct strbuf *before,
		      const struct strbuf *text, mode_t mode)
{
	struct names names;
	int err;

	make_names(&names, name);
	remove_lock(dirfd, &names);
	err = fs_write_file(dirfd, names.new, text->buf, text->len, mode, FS_DURABLE);
	if (!err && linkat(dirfd, names.new, dirfd, names.lock, 0) < 0)
		err = errno == EEXIST
			      ? ckpt_error_set(CKPT_ERROR,
					       "'%s' exists: another git process is changing the "
					       "configuration; if none is, remove that file",
					       names.lock)
			      : ckpt_error_errno("unable to create '%s'", names.lock);
	else if (!err)
		err = swap_locked(dirfd, name, &names, before);
	if (!unlinkat(dirfd, names.new, 0))
		(void)fs_sync_dir(dirfd, ".");
	release_names(&names);
	return err;
}
