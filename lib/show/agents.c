/* SPDX-License-Identifier: MIT */
#include "show/show.h"

static const char *const changes[] = {
	[AGENTS_UNCHANGED] = "unchanged", [AGENTS_EDITED] = "edited",
	[AGENTS_CREATED] = "created",	  [AGENTS_REMOVED] = "removed",
	[AGENTS_NO_FILE] = "no file",
};

/* What was done, and after it what is still needed. */
static void print_agent(const struct agents_result *result, const char *name)
{
	if (result->text.len)
		fwrite(result->text.buf, 1, result->text.len, stdout);
	else if (result->change == AGENTS_NO_FILE)
		report_text("%s: has no settings file\n", name);
	else
		report_text("%s: %s %s\n", name, changes[result->change],
			    report_path(result->path.buf));
	fflush(stdout);
	for (size_t i = 0; i < result->notes.nr; i++)
		report_message("hint", result->notes.items[i]);
}

static json_t *agent_object(const struct agents_result *result, const char *name)
{
	struct row object = ROW_INIT;

	row_text(&object, "agent", name);
	row_text(&object, "change", changes[result->change]);
	row_json(&object, "path", result->path.len ? json_path(result->path.buf) : json_null());
	row_json(&object, "text", result->text.len ? json_text(result->text.buf) : json_null());
	row_texts(&object, "warnings", &result->notes);
	return row_object(&object);
}

void show_agents_tell(json_t *array, const struct agents_result *result, const char *name)
{
	if (opt_common.json)
		json_array_append_new(array, agent_object(result, name));
	else
		print_agent(result, name);
}

/*
 * The first checkpoint may take longer than an agent waits for a tool: take it now. Whether that
 * works does not change what was installed. Returns the id, or NULL.
 */
static char *take_first(struct session *session, struct strlist *warnings)
{
	const struct save_opts opts = {
		.reason = "agent installed",
		.source = "cli",
		.automatic = true,
		.step = -1,
		.scan = { .scope = &strlist_empty, .progress = progress_show },
	};
	struct save_result result = { 0 };
	char *id = NULL;
	int err = save_checkpoint(&result, session, &opts);

	progress_clear();
	if (err)
		strlist_addf(warnings, "no checkpoint was taken: %s", ckpt_error_last());
	else if (result.have_record)
		id = xstrdup(result.record.id);
	if (!opt_common.json && !err && result.outcome == SAVE_CREATED)
		report_text("Saved %s\n", id);
	save_result_release(&result);
	return id;
}

/* Only where the entry works. */
static bool wants_first(const struct session *session, const struct show_agents *how)
{
	return how->install && !how->print && (!how->user || session->repo || session->store);
}

/* Of a linked worktree; NULL for any other. The caller frees it. */
static char *primary_root(const struct session *session)
{
	const char *common = session->repo ? session->repo->commondir : NULL;
	size_t len = common ? strlen(common) : 0;

	if (!common || !strcmp(common, session->repo->gitdir) || len < 6 ||
	    strcmp(common + len - 5, "/.git") != 0)
		return NULL;
	return xmemdupz(common, len - 5);
}

int show_agents_edit(struct session *session, const struct show_agents *how)
{
	json_t *array = json_array();
	struct strlist warnings = STRLIST_INIT;
	bool placed = false;
	char *first, *primary = primary_root(session);
	int err = 0;

	/* An unknown one stops everything, before anything is edited. */
	for (size_t i = 0; i < how->names->nr && !err; i++)
		err = agents_check(how->names->items[i]);
	for (size_t i = 0; i < how->names->nr && !err; i++) {
		const struct agents_opts opts = { .agent = how->names->items[i],
						  .root = session->worktree,
						  .primary = primary,
						  .user = how->user };
		struct agents_result result = AGENTS_RESULT_INIT;

		err = !how->install ? agents_uninstall(&result, &opts)
		      : how->print  ? agents_print(&result, &opts)
				    : agents_install(&result, &opts);
		if (!err)
			show_agents_tell(array, &result, opts.agent);
		placed = placed || result.change != AGENTS_NO_FILE;
		agents_result_release(&result);
	}
	free(primary);
	first = !err && placed && wants_first(session, how) ? take_first(session, &warnings) : NULL;
	if (!err && opt_common.json) {
		struct row answer = ROW_INIT;

		row_json(&answer, "agents", array);
		if (how->install) {
			row_text(&answer, "checkpoint", first);
			row_texts(&answer, "warnings", &warnings);
		}
		strlist_release(&warnings);
		free(first);
		return report_json(row_object(&answer), EXIT_DONE);
	}
	report_warnings(&warnings);
	strlist_release(&warnings);
	json_decref(array);
	free(first);
	return err;
}

/* ---- what there is ---- */

/* Of those that are absent only JSON tells; to find none takes reading every record. */
static bool is_told(const struct agents_status *status)
{
	return opt_common.json || status->state != AGENTS_ABSENT;
}

/* For look_list(): the newest of each agent. Several settings of one have the same. */
static bool note_newest(const struct ckpt_record *record, void *payload)
{
	struct show_agents_view *view = payload;
	bool first = false;

	for (size_t i = 0; i < view->found.nr; i++) {
		if (view->last[i] || !is_told(&view->found.items[i]) ||
		    strcmp(view->found.items[i].agent, record->source))
			continue;
		view->last[i] = xstrdup(record->id);
		view->taken[i] = record->created_at;
		first = true;
	}
	return first;
}

static size_t count_agents(const struct agents_statuses *found)
{
	const char *last = "";
	size_t nr = 0;

	for (size_t i = 0; i < found->nr; i++) {
		if (!is_told(&found->items[i]) || !strcmp(found->items[i].agent, last))
			continue;
		last = found->items[i].agent;
		nr++;
	}
	return nr;
}

void show_agents_look(struct show_agents_view *out, struct session *session)
{
	struct ckpt_records records = { 0 };
	struct ckpt_enough enough = { .counts = note_newest, .payload = out };

	char *primary = primary_root(session);

	agents_look(&out->found, session->worktree, primary);
	free(primary);
	out->last = xcalloc(out->found.nr + 1, sizeof(*out->last));
	out->taken = xcalloc(out->found.nr + 1, sizeof(*out->taken));
	memset(&out->turns, 0, sizeof(out->turns));
	if (session->store)
		(void)turns_read(&out->turns, session->store);
	enough.max = count_agents(&out->found);
	if (session->store && enough.max && !look_list(&records, session, &enough))
		lookup_records_release(&records);
}

void show_agents_release(struct show_agents_view *view)
{
	for (size_t i = 0; i < view->found.nr; i++)
		free(view->last[i]);
	free(view->last);
	free(view->taken);
	turns_release(&view->turns);
	agents_statuses_release(&view->found);
}

bool show_agents_any(const struct show_agents_view *view)
{
	for (size_t i = 0; i < view->found.nr; i++)
		if (view->found.items[i].state != AGENTS_ABSENT)
			return true;
	return false;
}

static void print_status(const struct show_agents_view *view, size_t i)
{
	const struct agents_status *status = &view->found.items[i];
	const struct turn_trouble *trouble = turns_trouble(&view->turns, status->agent);
	const char *last = view->last[i];
	struct strbuf line = STRBUF_INIT;
	char age[CLOCK_ISO_SIZE];

	strbuf_addf(&line, "agent %s: %s: ", status->agent, agents_state_name(status->state));
	quote_path(&line, status->path);
	if (status->why) {
		strbuf_addstr(&line, status->state == AGENTS_UNREADABLE ? ": " : "; does not work here: ");
		strbuf_addstr(&line, status->why);
	}
	if (status->state == AGENTS_OUTDATED)
		strbuf_addf(&line, "; 'git checkpoint hooks install --agent %s' renews it",
			    status->agent);
	if (last)
		strbuf_addf(&line, "; last checkpoint %s, %s", last,
			    clock_format_age(age, view->taken[i], clock_now()));
	else if (status->state == AGENTS_INSTALLED)
		strbuf_addstr(&line, "; no checkpoint yet");
	if (status->untracked)
		strbuf_addstr(&line, "\n  git does not track it, so a worktree that an agent makes lacks it");
	if (trouble) {
		strbuf_addf(&line, "\n  went wrong %s: ",
			    clock_format_age(age, trouble->at, clock_now()));
		strbuf_addstr(&line, trouble->why);
	}
	report_text("%s\n", line.buf);
	strbuf_release(&line);
}

void show_agents_print(const struct show_agents_view *view)
{
	for (size_t i = 0; i < view->found.nr; i++)
		if (view->found.items[i].state != AGENTS_ABSENT)
			print_status(view, i);
}

void show_agents_sum_up(const struct show_agents_view *view)
{
	const char *separator = "Agents:      ";
	char age[CLOCK_ISO_SIZE];

	for (size_t i = 0; i < view->found.nr; i++) {
		const struct agents_status *status = &view->found.items[i];

		if (status->state == AGENTS_ABSENT)
			continue;
		report_text("%s%s ", separator, status->agent);
		separator = ", ";
		if (!status->works)
			report_text("(does not work here)");
		else if (view->last[i])
			report_text("(%s)", clock_format_age(age, view->taken[i], clock_now()));
		else
			report_text("(no checkpoint yet)");
	}
	if (*separator == ',')
		report_text("; 'git checkpoint hooks status' tells more\n");
}

/* {"at","message"}, or null. */
static json_t *trouble_object(const struct turn_trouble *trouble)
{
	struct row row = ROW_INIT;

	if (!trouble)
		return json_null();
	row_time(&row, "at", trouble->at);
	row_text(&row, "message", trouble->why);
	return row_object(&row);
}

json_t *show_agents_json(const struct show_agents_view *view)
{
	json_t *array = json_array();

	for (size_t i = 0; i < view->found.nr; i++) {
		const struct agents_status *status = &view->found.items[i];
		struct row row = ROW_INIT;

		row_text(&row, "agent", status->agent);
		row_json(&row, "path", json_path(status->path));
		row_text(&row, "state", agents_state_name(status->state));
		row_text(&row, "last", view->last[i]);
		row_json(&row, "last_at",
			 view->last[i] ? json_time(view->taken[i]) : json_null());
		row_bool(&row, "works", status->works);
		row_text(&row, "why_not", status->why);
		row_bool(&row, "untracked", status->untracked);
		row_json(&row, "trouble", trouble_object(turns_trouble(&view->turns, status->agent)));
		json_array_append_new(array, row_object(&row));
	}
	return array;
}
