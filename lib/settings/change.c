/* SPDX-License-Identifier: MIT */
#include "settings/settings.h"

#include "base/base.h"
#include "settings/edit_internal.h"
#include "settings/ini.h"
#include "settings/setting_internal.h"

#include <sys/file.h>

int settings_check(unsigned index, const char *value)
{
	struct ckpt_settings scratch = { 0 };
	struct strbuf shown = STRBUF_INIT;
	bool valid = setting_parse(&scratch, index, value);
	int err = 0;

	settings_release(&scratch);
	if (!valid) {
		quote_path(&shown, value);
		err = ckpt_error_set(CKPT_EUSAGE, "bad value '%s' for '%s': expected %s", shown.buf,
				     setting_table[index].key, setting_expected(index));
	}
	strbuf_release(&shown);
	return err;
}

/* ---- whether the new text says what it should ---- */

struct reading {
	const char *key, *value;
	bool found;
};

static int compare(const char *section, const char *key, const char *value, unsigned line,
		   void *payload)
{
	struct reading *reading = payload;

	(void)line;
	if (!*section && !strcasecmp(key, reading->key))
		reading->found = reading->found || !strcmp(value, reading->value);
	return 0;
}

/* There is no quoting in these files. */
static int check_reading(const struct strbuf *text, const char *path, unsigned index,
			 const char *value)
{
	struct reading reading = { setting_table[index].key, value, false };
	int err = ini_parse_text(text->buf, text->len, path, compare, &reading);

	if (!err && !reading.found)
		err = ckpt_error_set(
			CKPT_EUSAGE,
			"the value of '%s' cannot be written to a file: it must be one "
			"line, without white space around it or before a '#' or ';'",
			reading.key);
	return err;
}

/* ---- the file ---- */

/* Held until the descriptor is closed, so that two changes at once do not lose one. */
static int lock_directory(int *fd_out, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = xmemdupz(path, (size_t)(slash - path));
	int err = fs_is_dir(dir) ? 0 : fs_mkdir_p(dir, 0700);

	if (!err) {
		*fd_out = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (*fd_out < 0 || flock(*fd_out, LOCK_EX) < 0)
			err = ckpt_error_errno("unable to lock '%s'", dir);
	}
	free(dir);
	return err;
}

static int edit(struct strbuf *text, size_t *removed_out, const char *path, unsigned index,
		const struct settings_change *change)
{
	const char *key = setting_table[index].key;

	*removed_out = 0;
	if (!change->value) {
		*removed_out = edit_unset(text, key);
		return 0;
	}
	if (!change->add && edit_count(text, key) > 1 && setting_adds_up(index))
		return ckpt_error_set(CKPT_EREFUSED,
				      "'%s' has several values in '%s'; use '--add' to add one, or "
				      "'--unset' to remove them all",
				      key, path);
	edit_set(text, key, change->value, change->add);
	return check_reading(text, path, index, change->value);
}

int settings_change(const char *path, unsigned index, const struct settings_change *change)
{
	struct strbuf text = STRBUF_INIT;
	char *real = path_resolve(path);
	size_t removed = 0;
	struct stat st;
	int fd = -1, err = 0;

	if (change->value)
		err = settings_check(index, change->value);
	if (!err && change->add && !setting_adds_up(index))
		err = ckpt_error_set(CKPT_EUSAGE, "'%s' has one value; set it without '--add'",
				     setting_table[index].key);
	if (!err)
		err = lock_directory(&fd, real);
	if (!err) {
		err = fs_read_text(&text, AT_FDCWD, real);
		if (err == CKPT_ENOTFOUND)
			err = 0;
	}
	if (!err)
		err = edit(&text, &removed, path, index, change);
	if (!err && !change->value && !removed)
		err = ckpt_error_set(CKPT_ENOTFOUND, "'%s' is not set in '%s'",
				     setting_table[index].key, path);
	if (!err)
		err = fs_write_file(AT_FDCWD, real, text.buf, text.len,
				    stat(real, &st) ? fs_usual_mode(0666) : st.st_mode & 07777,
				    FS_DURABLE);
	fs_close(fd);
	free(real);
	strbuf_release(&text);
	return err;
}
