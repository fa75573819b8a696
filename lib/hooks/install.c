/* SPDX-License-Identifier: MIT */
#include "hooks/install.h"

#include "base/base.h"
#include "git/git.h"
#include "hooks/hook_file_internal.h"
#include "hooks/hook_rules.h"
#include "hooks/install_config_internal.h"
#include "hooks/install_global_internal.h"
#include "hooks/install_internal.h"
#include "hooks/install_place_internal.h"
#include "hooks/install_record_internal.h"
#include "hooks/install_template_internal.h"
#include "hooks/install_where_internal.h"
#include "hooks/shim_internal.h"
#include "session/session.h"

/* What an install works on. */
struct install {
	const struct session *session;
	const struct repo *repo; /* NULL: for all repositories */
	struct install_where where;
	struct install_record record;
	struct hooks_report *report;
	const char *names[INSTALL_NAMES]; /* of the hooks wanted */
	struct strbuf dir;              /* of hook files */
	bool files;                     /* hooks are put there */
};

/* ---- choices ---- */

static int choose_events(struct strlist *events, const char *list)
{
	unsigned chosen = 0;
	const char *unknown = hook_events_parse(&chosen, list);

	if (unknown)
		return ckpt_error_set(CKPT_EUSAGE,
				      "unknown event '%.*s'; use rebase, merge, am, stash or bisect",
				      (int)strcspn(unknown, ","), unknown);
	strlist_release(events);
	for (size_t i = 0; hook_event_names[i]; i++)
		if (chosen & 1u << i)
			strlist_add(events, hook_event_names[i]);
	return 0;
}

/* The guard sees everything that the hook does, and costs less. */
static void choose_ref_transaction(struct install *install, const struct hooks_opts *opts)
{
	struct install_record *record = &install->record;

	if (opts->ref_transaction >= 0)
		record->ref_transaction = opts->ref_transaction;
	else if (opts->guard)
		record->ref_transaction = !install_config_has_room(record, &install->where,
								   install->session->gitconfig);
	else if (!record->exists)
		record->ref_transaction = true;
}

static int choose(struct install *install, const struct hooks_opts *opts)
{
	struct install_record *record = &install->record;
	const char *list = opts->events;
	int err = 0;

	if (!list && !record->exists)
		list = "rebase,merge";
	if (list)
		err = choose_events(&record->events, list);
	choose_ref_transaction(install, opts);
	record->guard |= opts->guard;
	record->config_hooks = install_config_supported();
	return err;
}

/* ---- planning ---- */

static bool is_wanted(const struct install *install, const char *name)
{
	for (size_t i = 0; install->names[i]; i++)
		if (!strcmp(install->names[i], name))
			return true;
	return false;
}

/* Files that are no longer wanted. The record on disk still has them. */
static int remove_unwanted(struct install *install)
{
	struct install_record *record = &install->record;
	int err = 0;

	for (size_t i = record->nr; i-- && !err;) {
		if (is_wanted(install, record->entries[i].name) && !record->config_hooks)
			continue;
		err = install_place_remove(&record->entries[i], &install->report->notes);
		if (!err)
			install_record_forget(record, &record->entries[i]);
	}
	return err;
}

static int plan_file(struct install *install, const char *name)
{
	char *path = xstrfmt("%s/%s", install->dir.buf, name);
	struct install_entry *entry = install_record_find(&install->record, path);
	const char *why;
	enum hooks_state state = install_place_state(path, &why);
	int err = 0;

	/* Ours may be beside the hook that replaced it. */
	if (entry && (state == HOOKS_DISPLACED || state == HOOKS_MISSING))
		err = install_place_remove(entry, &install->report->notes);
	if (!err && !(state == HOOKS_RUNS && entry))
		err = install_place_plan(&install->record, path, name);
	free(path);
	return err;
}

/* Where hook files go, if any do. */
static void find_directory(struct install *install)
{
	const char *barred;

	install->files =
		!install->record.config_hooks && !install->where.global && install->names[0];
	if (install->files && !install_directory(&install->dir, &barred, install->repo,
						 install->session->gitconfig)) {
		strlist_addf(&install->report->notes,
			     "hooks are not installed: git takes them from '%s', %s; use '--guard', which "
			     "needs no hooks, or set core.hooksPath in this repository",
			     install->dir.buf, barred);
		install->report->partial = true;
		install->files = false;
	}
}

/* Before anything is changed: an obstacle for one hook must not cost another. */
static int check_files(const struct install *install)
{
	int err = 0;

	for (size_t i = 0; install->files && install->names[i] && !err; i++) {
		char *path = xstrfmt("%s/%s", install->dir.buf, install->names[i]);
		const struct install_entry *entry = install_record_find(&install->record, path);
		const char *why;

		/* As in plan_file(). */
		if (!entry || install_place_state(path, &why) != HOOKS_RUNS)
			err = install_place_check(entry, path);
		free(path);
	}
	return err;
}

static int plan_files(struct install *install)
{
	int err = 0;

	if (install->files)
		install_missing_dirs(&install->record.dirs, install->dir.buf);
	for (size_t i = 0; install->files && install->names[i] && !err; i++)
		err = plan_file(install, install->names[i]);
	return err;
}

/* ---- doing ---- */

static void fill_values(struct shim_values *out, struct strbuf *events, const char *answer,
			const struct install *install)
{
	for (size_t i = 0; i < install->record.events.nr; i++) {
		const char *event = install->record.events.items[i];

		/* A rebase has its own hook. */
		if (strcmp(event, "rebase"))
			strbuf_addf(events, "%s%s", events->len ? "," : "", event);
	}
	out->events = events->buf;
	out->chain = install->record.chain;
	out->answer = answer;
	/* The program gives up in time; this is for one that cannot. */
	out->seconds = install->session->settings.hook_timeout + 2;
}

static int write_copy(const struct install *install, const char *name, const struct strbuf *text)
{
	char *path = install_record_path(&install->where, name);
	int err = fs_write_file(AT_FDCWD, path, text->buf, text->len, 0755, FS_DURABLE);

	free(path);
	return err;
}

static int put_hook(struct install *install, const char *name, const struct shim_values *values)
{
	struct strbuf lines = STRBUF_INIT, text = STRBUF_INIT;
	char *path = xstrfmt("%s/%s", install->dir.buf, name);
	const struct install_entry *entry;
	const char *why;
	int err = shim_lines(&lines, name, values);

	if (!err && (install->record.config_hooks || install->where.global)) {
		hook_file_shim(&text, lines.buf, name, false);
		err = write_copy(install, name, &text);
	} else if (!err && install->files) {
		entry = install_record_find(&install->record, path);
		/* If it runs from where pre-commit renamed it, it is left alone there. */
		if (entry && (install_place_state(path, &why) != HOOKS_RUNS || !*why))
			err = install_place_put(entry, lines.buf);
	}
	strbuf_release(&text);
	strbuf_release(&lines);
	free(path);
	return err;
}

static int put_hooks(struct install *install)
{
	struct strbuf events = STRBUF_INIT, text = STRBUF_INIT;
	char *answer = install_record_path(&install->where, INSTALL_ANSWER);
	struct shim_values values;
	int err = 0;

	fill_values(&values, &events, answer, install);
	if (install->files)
		err = fs_mkdir_p(install->dir.buf, 0755);
	for (size_t i = 0; install->names[i] && !err; i++)
		err = put_hook(install, install->names[i], &values);
	if (!err && install->record.guard) {
		err = shim_file(&text, "fsmonitor", &values);
		if (!err)
			err = write_copy(install, "fsmonitor", &text);
	}
	strbuf_release(&text);
	strbuf_release(&events);
	free(answer);
	return err;
}

/* Before anything is changed: an incomplete installation of this program has no shims. */
static int check_shims(const struct install *install)
{
	const struct shim_values values = { .answer = "" };
	struct strbuf text = STRBUF_INIT;
	int err = 0;

	for (size_t i = 0; install->names[i] && !err; i++)
		err = shim_lines(&text, install->names[i], &values);
	if (!err && install->record.guard)
		err = shim_file(&text, "fsmonitor", &values);
	strbuf_release(&text);
	return err;
}

/* What a killed install left where this one writes; the lock proves that it is dead. */
static void sweep(const struct install *install)
{
	fs_sweep_temps(AT_FDCWD, install->where.dir);
	if (install->files)
		fs_sweep_temps(AT_FDCWD, install->dir.buf);
}

/* The hook files, or the template that brings them to new repositories. */
static int plan_places(struct install *install)
{
	int err = 0;

	if (install->where.global)
		return install_global_plan(&install->record, &install->where, install->names,
					   install->session->gitconfig, install->report);
	err = check_files(install);
	if (!err)
		err = remove_unwanted(install);
	if (!err)
		err = plan_files(install);
	return err;
}

/* What should be, and whether that is possible. Only what is no longer wanted is changed. */
static int plan(struct install *install, struct install_config *config)
{
	bool guard = install->record.guard;
	int err = check_shims(install);

	find_directory(install);
	sweep(install);
	if (!err)
		err = plan_places(install);
	if (!err)
		err = install_config_plan(config, &install->record, &install->where,
					  install->session->gitconfig, install->names,
					  &install->report->notes);
	install->report->partial |= guard && !install->record.guard;
	return err;
}

/* First plan everything, then record it, then do it. */
static int run(struct install *install)
{
	struct install_record *record = &install->record;
	struct install_config config = INSTALL_CONFIG_INIT;
	size_t old_edits = record->edits_nr;
	int err = plan(install, &config);

	if (!err)
		err = install_record_write(record, &install->where);
	if (!err)
		err = put_hooks(install);
	if (!err && record->template)
		err = install_template_place(record, &install->where);
	if (!err && record->template)
		err = install_record_write(record, &install->where);
	if (!err)
		err = install_config_write(&config, &install->where);
	if (!err && install->where.global)
		err = install_global_tidy(record, &install->where, install->names,
					  &install->report->notes);
	if (!err && old_edits) {
		install_record_drop_edits(record, old_edits);
		err = install_record_write(record, &install->where);
	}
	install_config_release(&config);
	return err;
}

static int find_where(struct install *install, const struct hooks_opts *opts)
{
	if (opts->global)
		return install_where_global(&install->where);
	if (!install->repo)
		return ckpt_error_set(CKPT_ERROR,
				      "'%s' is not in a git worktree, so it has no hooks; "
				      "'--global' is for all repositories",
				      install->session->cwd);
	install_where_repo(&install->where, install->repo);
	return 0;
}

/* Under the lock. */
static int install_locked(struct install *install, const struct hooks_opts *opts)
{
	struct strlist made = STRLIST_INIT;
	int fd = -1, err = 0;

	if (opts->global) {
		install_missing_dirs(&made, install->where.dir);
		err = fs_mkdir_p(install->where.dir, 0755);
	}
	if (!err)
		err = install_where_lock(&fd, &install->where);
	if (!err)
		err = install_record_read(&install->record, &install->where);
	if (!err && !install->record.exists)
		strlist_extend(&install->record.dirs, &made);
	if (!err)
		err = choose(install, opts);
	if (!err && opts->global)
		install_global_choose(&install->record, &install->where,
				      install->session->gitconfig);
	if (!err) {
		if (opts->global)
			install_global_wanted(install->names, &install->record);
		else
			install_wanted(install->names, &install->record);
		err = run(install);
	}
	if (err)
		install_global_forget(&install->where, &made);
	strlist_release(&made);
	fs_close(fd);
	return err;
}

int hooks_install(struct hooks_report *report, const struct session *session,
		  const struct hooks_opts *opts)
{
	struct install install = { .session = session,
				   .report = report,
				   .dir = STRBUF_INIT,
				   .repo = opts->global ? NULL : session->repo };
	int err = find_where(&install, opts);

	if (!err)
		err = install_locked(&install, opts);
	if (!err)
		err = opts->global ? hooks_global_status(report)
				   : hooks_status(report, session->repo);
	install_record_release(&install.record);
	install_where_release(&install.where);
	strbuf_release(&install.dir);
	return err;
}
