/* SPDX-License-Identifier: MIT */
#include "hooks/install_global_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "hooks/hook_file_internal.h"
#include "hooks/hook_rules.h"
#include "hooks/install_config_internal.h"
#include "hooks/install_internal.h"
#include "hooks/install_record_internal.h"
#include "hooks/install_template_internal.h"
#include "hooks/install_where_internal.h"
#include "session/session.h"

/* ---- planning ---- */

void install_global_choose(struct install_record *record, const struct install_where *where,
			   const struct gitconfig *config)
{
	/* The guard sees all that a hook does, in every repository. */
	record->template = !record->config_hooks &&
			   !(record->guard && install_config_has_room(record, where, config));
	if (!record->exists)
		record->config_created = access(where->config, F_OK) < 0;
}

void install_global_wanted(const char *names[], const struct install_record *record)
{
	install_wanted(names, record);
	if (!record->config_hooks && !record->template)
		names[0] = NULL;
}

/* The template that new repositories get without us: NULL is git's own, "" none. */
static int find_template(char **out, const struct install_record *record,
			 const struct install_where *where, const struct gitconfig *config)
{
	struct install_config undone = INSTALL_CONFIG_INIT;
	struct strbuf value = STRBUF_INIT;
	int err = install_config_undone(&undone, record, where);

	*out = NULL;
	if (!err && install_config_before(&value, &undone.text, config, "init", "templatedir"))
		*out = install_expand_home(value.buf);
	if (*out && **out && (**out != '/' || !fs_is_dir(*out))) {
		err = ckpt_error_set(CKPT_ERROR,
				     "init.templateDir names '%s', which is not the absolute path "
				     "of a directory; create it, or run 'git config --global "
				     "--unset init.templateDir'",
				     *out);
		free(*out);
		*out = NULL;
	}
	strbuf_release(&value);
	install_config_release(&undone);
	return err;
}

/* Whether the hooks of that directory have our lines already. */
static bool has_lines(const char *dir, const struct install_where *where, const char *const names[])
{
	bool all = true;

	for (size_t i = 0; names[i]; i++) {
		struct strbuf line = STRBUF_INIT, text = STRBUF_INIT;
		char *path = xstrfmt("%s/%s", dir, names[i]);

		install_template_line(&line, where, names[i]);
		all = all && !fs_read_linked(&text, path) && strstr(text.buf, line.buf) &&
		      !access(path, X_OK);
		free(path);
		strbuf_release(&text);
		strbuf_release(&line);
	}
	return all;
}

static void note_hooks_path(struct hooks_report *report, const struct install_where *where,
			    const char *const names[], const struct gitconfig *config)
{
	const char *value = gitconfig_get(config, "core.hookspath", GITCONFIG_GLOBAL);
	struct strbuf line = STRBUF_INIT;
	char *dir = value && *value ? install_expand_home(value) : NULL;

	if (!dir || has_lines(dir, where, names)) {
		free(dir);
		return;
	}
	strlist_addf(&report->notes,
		     "core.hooksPath is '%s' for all repositories: git runs the hooks in that "
		     "directory, and none that a new repository gets; use '--guard', or let "
		     "these hooks begin with these lines:",
		     dir);
	for (size_t i = 0; names[i]; i++) {
		strbuf_reset(&line);
		install_template_line(&line, where, names[i]);
		strbuf_setlen(&line, line.len - 1);
		strlist_addf(&report->notes, "%s/%s: %s", dir, names[i], line.buf);
	}
	report->partial = true;
	strbuf_release(&line);
	free(dir);
}

int install_global_plan(struct install_record *record, const struct install_where *where,
			const char *const names[], const struct gitconfig *config,
			struct hooks_report *report)
{
	const char *variable = env_git("GIT_TEMPLATE_DIR");
	char *from;
	int err;

	if (!record->template)
		return 0;
	err = find_template(&from, record, where, config);
	if (err)
		return err;
	free(record->template_from);
	record->template_from = from;
	err = install_template_prepare(record, where, names);
	/* Between now and the end of the install, whatever is there is ours. */
	free(record->template_made);
	record->template_made = NULL;
	if (variable)
		strlist_addf(&report->notes,
			     "GIT_TEMPLATE_DIR is set: while it is, new repositories get their "
			     "hooks from '%s', not from init.templateDir",
			     variable);
	note_hooks_path(report, where, names, config);
	return err;
}

/* ---- removing ---- */

int install_global_tidy(struct install_record *record, const struct install_where *where,
			const char *const names[], struct strlist *notes)
{
	int err = 0;

	/* A hook that new repositories got goes on to run its script. */
	for (enum hook_name i = 0; i < HOOK_FSMONITOR && !err; i++) {
		char *path = install_record_path(where, hook_names[i]);
		size_t j = 0;

		while (names[j] && strcmp(names[j], hook_names[i]))
			j++;
		if (!names[j] && unlink(path) < 0 && errno != ENOENT)
			err = ckpt_error_errno("unable to remove '%s'", path);
		free(path);
	}
	if (err || record->template)
		return err;
	err = install_template_remove(record, where, notes);
	free(record->template_made);
	record->template_made = NULL;
	return err;
}

int install_global_undo(const struct install_record *record, const struct install_where *where,
			struct strlist *notes)
{
	struct stat st;

	if (record->config_created && !stat(where->config, &st) && !st.st_size &&
	    !unlink(where->config))
		(void)fs_sync_holder(AT_FDCWD, where->config);
	return install_template_remove(record, where, notes);
}

void install_global_forget(const struct install_where *where, const struct strlist *made)
{
	char *record = install_record_path(where, INSTALL_RECORD_FILE);
	char *why = ckpt_error_keep();

	if (where->global) {
		(void)install_template_clean(where);
		if (access(record, F_OK) < 0)
			install_remove_dirs(made);
	}
	(void)ckpt_error_put_back(0, why);
	free(record);
}

void install_global_forget_dirs(const struct install_where *where)
{
	char *holder = xmemdupz(where->dir, (size_t)(strrchr(where->dir, '/') - where->dir));

	(void)install_template_clean(where);
	rmdir(where->dir);
	rmdir(holder);
	free(holder);
}

/*
 * Our line in one hook; a file with nothing else goes. If the repository has its own hooks, they
 * have to leave the file first as they found it.
 */
static int unhook(const char *path, const struct install_where *where, const char *name)
{
	struct strbuf text = STRBUF_INIT, line = STRBUF_INIT;
	const char *at = NULL;
	struct stat st;
	int err = 0;

	install_template_line(&line, where, name);
	if (!lstat(path, &st) && S_ISREG(st.st_mode) && !fs_read_file(&text, AT_FDCWD, path) &&
	    !hook_file_is_ours(text.buf, text.len))
		at = strstr(text.buf, line.buf);
	if (at) {
		size_t start = (size_t)(at - text.buf);

		strbuf_splice(&text, start, start + line.len, NULL, 0);
		if (strcmp(text.buf, HOOK_FILE_FRAME))
			err = fs_write_file(AT_FDCWD, path, text.buf, text.len, st.st_mode & 07777,
					    FS_DURABLE);
		else if (unlink(path) < 0)
			err = ckpt_error_errno("unable to remove '%s'", path);
	}
	strbuf_release(&line);
	strbuf_release(&text);
	return err;
}

int install_global_unhook(struct hooks_report *report, const struct session *session)
{
	struct install_where where;
	char *record;
	bool in_use;
	int err = 0;

	if (install_where_global(&where))
		return 0;
	record = install_record_path(&where, INSTALL_RECORD_FILE);
	in_use = !access(record, F_OK);
	for (enum hook_name i = 0; i < HOOK_FSMONITOR && !err && !in_use; i++) {
		char *path = xstrfmt("%s/hooks/%s", session->repo->commondir, hook_names[i]);

		err = unhook(path, &where, hook_names[i]);
		free(path);
	}
	report->still_global = in_use;
	free(record);
	install_where_release(&where);
	return err;
}
