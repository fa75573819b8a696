/* SPDX-License-Identifier: MIT */
#include "show/show.h"

static int status_of(int err)
{
	switch (err) {
	case CKPT_EUSAGE:
		return EXIT_USAGE;
	case CKPT_EREFUSED:
	case CKPT_EDECLINED:
		return EXIT_REFUSED;
	case CKPT_ELOCKED:
		return EXIT_LOCKED;
	case CKPT_ECANCELLED:
		return 128 + cancel_signal();
	default:
		return EXIT_FATAL;
	}
}

static struct strbuf *next_shown(void)
{
	static struct strbuf shown[16];
	static size_t next;
	struct strbuf *out = &shown[next++ % ARRAY_SIZE(shown)];

	strbuf_release(out);
	return out;
}

const char *report_path(const char *path)
{
	struct strbuf *out = next_shown();

	quote_path(out, path);
	return out->buf;
}

const char *report_shell(const char *text)
{
	struct strbuf *out = next_shown();

	quote_shell(out, text);
	return out->buf;
}

const char *report_id(const char *id)
{
	struct strbuf *out = next_shown();

	strbuf_addf(out, "%s%s%s", term_color(TERM_YELLOW), id, term_color(TERM_RESET));
	return out->buf;
}

/* What a JSON answer has to say besides, instead of stderr. */
static struct strlist noted;
static bool hushed;

void report_hush(void)
{
	hushed = true;
}

bool report_speaks(void)
{
	return !opt_common.json && !hushed;
}

static bool has_text(const json_t *array, const char *text)
{
	json_t *item;
	size_t i;

	json_array_foreach(array, i, item)
		if (json_is_string(item) && !strcmp(json_string_value(item), text))
			return true;
	return false;
}

void report_add_noted(json_t *answer)
{
	json_t *warnings = json_object_get(answer, "warnings");

	if (!noted.nr)
		return;
	if (!json_is_array(warnings)) {
		warnings = json_array();
		json_object_set_new(answer, "warnings", warnings);
	}
	for (size_t i = 0; i < noted.nr; i++) {
		json_t *text = json_text(noted.items[i]);

		if (has_text(warnings, json_string_value(text)))
			json_decref(text);
		else
			json_array_append_new(warnings, text);
	}
	strlist_release(&noted);
}

void report_message(const char *kind, const char *text)
{
	if (report_speaks())
		term_say(stderr, "%s: %s\n", kind, text);
	else
		strlist_add(&noted, text);
}

void report_messagef(const char *kind, const char *fmt, ...)
{
	struct strbuf text = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	report_message(kind, text.buf);
	strbuf_release(&text);
}

json_t *report_error_object(int status, const char *message)
{
	return json_pack("{s:i,s:o}", "code", status, "message", json_text(message));
}

static int report_error(int status, const char *why)
{
	char *message = xstrdup(why);

	progress_clear();
	if (report_speaks())
		report_message(status == EXIT_FATAL ? "fatal" : "error", message);
	if (opt_common.json)
		report_json(json_pack("{s:o}", "error", report_error_object(status, message)),
			    status);
	free(message);
	return status;
}

int report_failure(int err)
{
	/* A no is an answer, not a failure. */
	if (err == CKPT_EDECLINED)
		return status_of(err);
	return report_error(status_of(err), ckpt_error_last());
}

int report_no(const char *why)
{
	return report_error(EXIT_NO, why);
}

void report_warnings(const struct strlist *warnings)
{
	if (opt_common.quiet && report_speaks())
		return;
	for (size_t i = 0; i < warnings->nr; i++)
		report_message("warning", warnings->items[i]);
}

int report_done(int status)
{
	if (fflush(stdout) != 0 || ferror(stdout)) {
		/* A reader that has gone away is not our failure. */
		if (errno != EPIPE)
			term_say(stderr, "fatal: unable to write the answer: %s\n",
				 strerror(errno));
		return EXIT_FATAL;
	}
	return status;
}

static bool answered; /* in JSON */

bool report_no_memory(void)
{
	static const char text[] = "{\"error\":{\"code\":128,\"message\":\"out of memory\"}}\n";

	return opt_common.json && !answered && write(STDOUT_FILENO, text, strlen(text)) > 0;
}

int report_json(json_t *answer, int status)
{
	struct strbuf text = STRBUF_INIT;

	report_add_noted(answer);
	json_write(&text, answer);
	json_decref(answer);
	strbuf_addch(&text, '\n');
	answered = true;
	fwrite(text.buf, 1, text.len, stdout);
	strbuf_release(&text);
	return report_done(status);
}

static int write_bytes(const void *data, size_t len, void *payload UNUSED)
{
	return fwrite(data, 1, len, stdout) == len ? 0 : CKPT_ERROR;
}

int report_stream(struct store *store, const struct oid *oid)
{
	int err = objects_stream(store, oid, write_bytes, NULL);

	return ferror(stdout) ? 0 : err;
}

void report_text(const char *fmt, ...)
{
	va_list ap;

	if (opt_common.quiet)
		return;
	va_start(ap, fmt);
	term_vsay(stdout, fmt, ap);
	va_end(ap);
}

static json_t *agent_labels(const struct ckpt_agent *agent)
{
	struct row row = ROW_INIT;

	if (!agent->name)
		return json_null();
	row_text(&row, "name", agent->name);
	row_text(&row, "session", agent->session);
	row_json(&row, "turn", agent->turn ? json_integer((json_int_t)agent->turn) : json_null());
	row_text(&row, "turn_id", agent->turn_id);
	row_text(&row, "tool", agent->tool);
	row_text(&row, "tool_call", agent->tool_call);
	row_text(&row, "sub_agent", agent->sub_agent);
	row_text(&row, "prompt", agent->prompt);
	return row_object(&row);
}

static void checkpoint_row(struct row *row, const struct ckpt_record *record)
{
	json_t *files = record->state_only ? json_array()
			: record->scope.nr ? json_paths(&record->scope)
					   : json_pack("[s]", ".");
	char commit[OID_HEX + 1], *title = title_of(record);

	row_text(row, "id", record->id);
	row_text(row, "commit", oid_hex(commit, &record->commit));
	row_text(row, "type", record->type);
	row_time(row, "created_at", record->created_at);
	row_text(row, "reason", record->reason);
	row_text(row, "title", title);
	row_text(row, "source", record->source);
	if (record->step >= 0)
		row_number(row, "step", (uint64_t)record->step);
	else
		row_json(row, "step", json_null());
	row_bool(row, "pinned", record->pinned);
	row_bool(row, "imported", record->imported);
	row_text(row, "name", record->names.nr ? record->names.items[0] : NULL);
	row_json(row, "names", json_texts(&record->names));
	row_bool(row, "automatic", record->automatic);
	row_text(row, "safety_for", *record->safety_for ? record->safety_for : NULL);
	row_text(row, "session", record->agent.session);
	row_json(row, "agent", agent_labels(&record->agent));
	row_text(row, "branch", record->branch);
	row_text(row, "head", record->head);
	row_json(row, "scope",
		 json_pack("{s:o,s:o}", "files", files, "state_keys",
			   json_texts(&record->state_keys)));
	row_json(row, "restore_command", json_sprintf("git checkpoint restore %s", record->id));
	row_time(row, "expiry", record->expiry);
	free(title);
}

void report_row(struct row *row, const struct ckpt_record *record)
{
	checkpoint_row(row, record);
	row_text(row, "hash", record->state_hash);
	row_number(row, "hash_version", STATEHASH_VERSION);
	row_number(row, "files_changed", record->changed);
	row_json(row, "added", record->added < 0 ? json_null() : json_integer(record->added));
	row_json(row, "deleted", record->deleted < 0 ? json_null() : json_integer(record->deleted));
}

json_t *report_checkpoint(const struct ckpt_record *record)
{
	struct row row = ROW_INIT;

	checkpoint_row(&row, record);
	return row_object(&row);
}

json_t *report_listed(const struct ckpt_record *record)
{
	struct row row = ROW_INIT;

	report_row(&row, record);
	return row_object(&row);
}

json_t *report_captures(const struct ckpt_captures *captures)
{
	json_t *array = json_array();

	for (size_t i = 0; i < captures->nr; i++) {
		const struct ckpt_capture *capture = &captures->items[i];

		json_array_append_new(array, json_pack("{s:o,s:o,s:I}", "name",
						       json_text(capture->name), "type",
						       json_text(capture->type), "bytes",
						       (json_int_t)capture->size));
	}
	return array;
}

json_t *report_state(const struct ckpt_state *state)
{
	struct strbuf quoted = STRBUF_INIT;
	json_t *value;

	if (!state->value)
		return json_null();
	if (*state->value != '"' && !memchr(state->value, '\0', state->len) &&
	    utf8_valid(state->value, state->len))
		return json_stringn(state->value, state->len);
	quote_c(&quoted, state->value, state->len);
	value = json_string(quoted.buf);
	strbuf_release(&quoted);
	return value;
}

json_t *report_skips(const struct skip_list *skips)
{
	json_t *array = json_array();

	for (size_t i = 0; i < skips->nr; i++)
		json_array_append_new(array, json_pack("{s:o,s:s}", "file",
						       json_path(skips->items[i].path), "why",
						       skip_why_name(skips->items[i].why)));
	return array;
}

json_t *report_index(const struct gitindex_counts *index)
{
	return json_pack("{s:I,s:I,s:I}", "staged", (json_int_t)index->staged, "unmerged",
			 (json_int_t)index->unmerged, "intent_to_add",
			 (json_int_t)index->intent_to_add);
}

char *report_position(size_t *back, const struct ckpt_record *record)
{
	if (!record_is_meant(record))
		return xstrdup("");
	++*back;
	return *back > 1 ? xstrfmt("@~%zu", *back - 1) : xstrdup("@");
}

const char *report_short_id(const char *id)
{
	enum { DIGITS = 6 };
	size_t len = strlen(id);

	return id + (len > DIGITS ? len - DIGITS : 0);
}

/* The six digits stand last, where a row is cut, and tell more than the rest of the id. */
static char *row_title(const struct ckpt_record *record)
{
	char *title = title_of(record), *brief;
	char *id = *record->safety_for && term_is_terminal() ? strstr(title, record->safety_for)
							     : NULL;

	if (!id)
		return title;
	brief = xstrfmt("%.*schk_\xe2\x80\xa6%s", (int)(id - title), title, report_short_id(id));
	free(title);
	return brief;
}

char *report_marked_title(const struct ckpt_record *record, int64_t now)
{
	struct strbuf text = STRBUF_INIT, line = STRBUF_INIT;
	char *title = row_title(record);

	for (size_t i = 0; i < record->names.nr; i++)
		strbuf_addf(&text, "[name %s] ", record->names.items[i]);
	if (record->pinned && !record->names.nr)
		strbuf_addstr(&text, "[pinned] ");
	if (record->imported)
		strbuf_addstr(&text, "[imported] ");
	if (record_expired(record, now))
		strbuf_addstr(&text, "[expired] ");
	if (record->missing)
		strbuf_addstr(&text, "[incomplete] ");
	if (record->step >= 0)
		strbuf_addf(&text, "[step %lld] ", (long long)record->step);
	if (record->scope.nr)
		strbuf_addf(&text, "[%s%s] ", record->scope.items[0],
			    record->scope.nr > 1 ? ", ..." : "");
	strbuf_addstr(&text, title);
	free(title);
	utf8_printable(&line, text.buf, text.len, "", ' ');
	strbuf_release(&text);
	return strbuf_detach(&line, NULL);
}

/* --- where the project was --- */

static void add_count(struct strbuf *out, size_t nr, const char *what)
{
	if (nr)
		strbuf_addf(out, "%s%zu %s", out->len ? ", " : "", nr, what);
}

void show_git_row(struct row *row, const struct ckpt_record *record)
{
	struct strbuf index = STRBUF_INIT;

	if (record->head || record->branch)
		row_show(row, "project", "%s%s at %.12s", record->branch ? "on " : "detached",
			 record->branch ? record->branch : "",
			 record->head ? record->head : "no commit");
	add_count(&index, record->index.staged, "staged");
	add_count(&index, record->index.unmerged, "unmerged");
	add_count(&index, record->index.intent_to_add, "to be added");
	if (index.len)
		row_show(row, "index", "%s", index.buf);
	if (record->progress_total)
		row_show(row, "operation", "%s %u/%u", record->operation, record->progress,
			 record->progress_total);
	else if (record->operation)
		row_show(row, "operation", "%s", record->operation);
	strbuf_release(&index);
}

static json_t *refs_json(const struct gitstate *state)
{
	json_t *branches = json_array(), *stashes = json_array();

	for (size_t i = 0; i < state->branches_nr; i++)
		json_array_append_new(branches, json_pack("{s:o,s:s}", "name",
							  json_text(repo_short_branch(
								  state->branches[i].name)),
							  "commit", state->branches[i].oid));
	for (size_t i = 0; i < state->stashes_nr; i++)
		json_array_append_new(stashes,
				      json_pack("{s:s,s:s,s:o}", "name", state->stashes[i].name,
						"commit", state->stashes[i].oid, "message",
						json_text(state->stashes[i].note)));
	return json_pack("{s:o,s:o}", "branches", branches, "stashes", stashes);
}

/* null: it is not known, or damaged. */
static json_t *load_refs(struct session *session, const struct ckpt_record *record)
{
	struct gitrecord git;
	json_t *refs;

	if (!*record->git_hash || gitrecord_load(&git, session->store, record))
		return json_null();
	refs = refs_json(&git.state);
	gitrecord_release(&git);
	return refs;
}

json_t *show_git_json(struct session *session, const struct ckpt_record *record)
{
	const bool known = *record->git_hash;
	json_t *index = json_null(), *progress = json_null();

	if (known)
		index = report_index(&record->index);
	if (record->progress_total)
		progress = json_sprintf("%u/%u", record->progress, record->progress_total);
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "head", json_text(record->head), "branch",
			 json_text(record->branch), "operation", json_text(record->operation),
			 "progress", progress, "index", index, "refs", load_refs(session, record),
			 "hash", json_text(known ? record->git_hash : NULL));
}
