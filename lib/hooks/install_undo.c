/* SPDX-License-Identifier: MIT */
#include "hooks/install.h"

#include "base/base.h"
#include "hooks/install_config_internal.h"
#include "hooks/install_global_internal.h"
#include "hooks/install_internal.h"
#include "hooks/install_place_internal.h"
#include "hooks/install_record_internal.h"
#include "hooks/install_template_internal.h"
#include "hooks/install_where_internal.h"
#include "session/session.h"

void install_missing_dirs(struct strlist *dirs, const char *path)
{
	char *dir = xstrdup(path), *slash = strrchr(dir, '/');
	struct stat st;

	if (lstat(dir, &st) < 0 && errno == ENOENT && slash && slash != dir) {
		*slash = '\0';
		install_missing_dirs(dirs, dir);
		*slash = '/';
		if (!strlist_has(dirs, dir))
			strlist_add(dirs, dir);
	}
	free(dir);
}

void install_remove_dirs(const struct strlist *dirs)
{
	for (size_t i = dirs->nr; i--;)
		if (!rmdir(dirs->items[i]))
			(void)fs_sync_holder(AT_FDCWD, dirs->items[i]);
}

/* The record last: until then everything can be repeated. */
static int remove_dir(const struct install_where *where)
{
	static const char *const names[] = {
		"fsmonitor",  "pre-rebase",  "reference-transaction", "config.new",
		INSTALL_ANSWER, INSTALL_RECORD_FILE
	};
	int err = 0;

	fs_sweep_temps(AT_FDCWD, where->dir);
	for (size_t i = 0; i < ARRAY_SIZE(names) && !err; i++) {
		char *path = install_record_path(where, names[i]);

		if (!strcmp(names[i], INSTALL_RECORD_FILE))
			(void)fs_sync_dir(AT_FDCWD, where->dir);
		if (unlink(path) < 0 && errno != ENOENT && errno != ENOTDIR)
			err = ckpt_error_errno("unable to remove '%s'", path);
		free(path);
	}
	/* It stays if somebody else has a file in it. */
	(void)fs_sync_dir(AT_FDCWD, where->dir);
	if (!rmdir(where->dir))
		(void)fs_sync_holder(AT_FDCWD, where->dir);
	return err;
}

static int undo(struct hooks_report *report, const struct install_record *record,
		const struct install_where *where)
{
	struct install_config config = INSTALL_CONFIG_INIT;
	int err = install_config_undone(&config, record, where);

	/* Nothing may ask for a file that is gone: the configuration comes first. */
	if (!err)
		err = install_config_write(&config, where);
	for (size_t i = 0; i < record->nr && !err; i++)
		err = install_place_remove(&record->entries[i], &report->notes);
	if (!err && where->global)
		err = install_global_undo(record, where, &report->notes);
	/* While the record knows them; those around the record itself go after it. */
	if (!err)
		install_remove_dirs(&record->dirs);
	install_config_release(&config);
	return err;
}

static int uninstall_locked(struct hooks_report *report, const struct install_where *where)
{
	struct install_record record = { 0 };
	int fd = -1, err = install_where_lock(&fd, where);

	if (!err)
		err = install_record_read(&record, where);
	if (!err && record.exists)
		err = undo(report, &record, where);
	report->installed = record.exists;
	report->was_template = record.template;
	if (!err)
		err = remove_dir(where);
	if (!err)
		install_remove_dirs(&record.dirs);
	install_record_release(&record);
	fs_close(fd);
	return err;
}

int hooks_uninstall(struct hooks_report *report, const struct session *session, bool global)
{
	struct install_where where;
	int err;

	if (global) {
		err = install_where_global(&where);
	} else if (!session->repo) {
		err = ckpt_error_set(CKPT_ERROR,
				     "'%s' is not in a git worktree, so it has no hooks",
				     session->cwd);
	} else {
		install_where_repo(&where, session->repo);
		err = 0;
	}
	if (err)
		return err;
	/* The user's directory exists only while there is an installation. */
	if (!global || fs_is_dir(where.dir))
		err = uninstall_locked(report, &where);
	if (!err && global)
		install_global_forget_dirs(&where);
	if (!err && session->repo)
		err = install_global_unhook(report, session);
	install_where_release(&where);
	return err;
}
