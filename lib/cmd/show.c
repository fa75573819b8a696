/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "base/base.h"
#include "cmd/changes_internal.h"
#include "cmd/inside_internal.h"
#include "cmd/report.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"
#include "ui/ui.h"

static bool stat_, patch, files, hashes, nul, state;

static const struct opt options[] = {
	{ OPT_FLAG, 0, "stat", &stat_, NULL, "also show how much changed, file by file" },
	{ OPT_FLAG, 'p', "patch", &patch, NULL, "also show what changed, as a patch", OPT_OR },
	{ OPT_FLAG, 0, "files", &files, NULL, "list its paths", OPT_OR },
	{ OPT_FLAG, 'z', NULL, &nul, NULL, "with --files: end paths with NUL, do not quote",
	  OPT_WITH },
	{ OPT_FLAG, 0, "hashes", &hashes, NULL, "print the bytes that the state hash covers",
	  OPT_OR },
	{ OPT_FLAG, 0, "state", &state, NULL, "print state values; of one key, its exact bytes",
	  OPT_FORM, OPT_ARGS({ { "<key>" }, 0, 1 }, CMD_CHECKPOINTS(1, 1)) },
	{ OPT_END },
};

const struct opt_spec cmd_show_spec = {
	.command = "show",
	.summary = "show one checkpoint",
	.args = OPT_ARGS(CMD_CHECKPOINTS(1, 1)),
	.options = options,
};

/* --- as text --- */

/* What others stored must not control the terminal. */
static void add_clean(struct strbuf *out, const char *text, size_t len)
{
	utf8_printable(out, text, len, "\n\t", '?');
}

/* Where the project was. */
static void show_project(struct row *row, const struct ckpt_record *record)
{
	if (!record->head && !record->branch && !record->operation)
		return;
	row_show(row, "project", "%s%s at %.12s%s%s%s", record->branch ? "on " : "detached",
		 record->branch ? record->branch : "", record->head ? record->head : "no commit",
		 record->operation ? ", " : "", record->operation ? record->operation : "",
		 record->operation ? " in progress" : "");
}

static void print_reason(const struct ckpt_record *record)
{
	struct strbuf text = STRBUF_INIT;

	add_clean(&text, record->reason, strlen(record->reason));
	putchar('\n');
	for (char *line = text.buf, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		printf("    %.*s\n", (int)(end - line), line);
		end += *end == '\n';
	}
	strbuf_release(&text);
}

static void print_head(const struct ckpt_record *record)
{
	static const struct row_line lines[] = {
		{ "Name:", "name" },	   { "Commit:", "commit" },  { "Date:", "created_at" },
		{ "Source:", "source" },   { "Files:", "files" },    { "Scope:", "scope" },
		{ "Step:", "step" },	   { "Expires:", "expiry" }, { "State:", "hash" },
		{ "Project:", "project" },
	};
	char iso[CLOCK_ISO_SIZE], age[CLOCK_ISO_SIZE], size[UNITS_SIZE];
	struct row row = ROW_INIT;
	int64_t now = clock_now();

	printf("%scheckpoint %s%s", term_color(TERM_YELLOW), record->id, term_color(TERM_RESET));
	printf("%s%s\n", record->pinned ? " [pinned]" : "",
	       record_expired(record, now) ? " [expired]" : "");
	report_row(&row, record);
	row_show(&row, "created_at", "%s (%s)", clock_format_iso(iso, record->created_at),
		 clock_format_age(age, record->created_at, now));
	row_show(&row, "files", "%llu, %s, %llu changed%s%s", (unsigned long long)record->files,
		 units_format_size(size, record->bytes), (unsigned long long)record->changed,
		 record->base ? " since " : "", record->base ? record->base : "");
	if (record->state_only)
		row_show(&row, "files", "none, only state");
	row_show_paths(&row, "scope", &record->scope);
	show_project(&row, record);
	row_print(&row, lines, ARRAY_SIZE(lines));
	row_release(&row);
}

static void print_states(const struct ckpt_meta *meta)
{
	struct strbuf text = STRBUF_INIT;
	char size[UNITS_SIZE];

	for (size_t i = 0; i < meta->states_nr; i++) {
		const struct ckpt_state *one = &meta->states[i];

		strbuf_reset(&text);
		add_clean(&text, one->key, strlen(one->key));
		strbuf_addstr(&text, " = ");
		if (one->value)
			add_clean(&text, one->value, one->len);
		else
			strbuf_addf(&text, "(%s)", units_format_size(size, one->size));
		printf("%s\n", text.buf);
	}
	strbuf_release(&text);
}

static void print_rest(const struct ckpt_record *record, const struct ckpt_meta *meta)
{
	struct strbuf text = STRBUF_INIT;

	char size[UNITS_SIZE];

	print_reason(record);
	for (size_t i = 0; i < meta->captures.nr; i++)
		printf("%scapture %s: %s, %s\n", i ? "" : "\n", meta->captures.items[i].name,
		       meta->captures.items[i].type,
		       units_format_size(size, meta->captures.items[i].size));
	if (meta->states_nr)
		putchar('\n');
	print_states(meta);
	for (size_t i = 0; i < meta->skips.nr; i++) {
		strbuf_reset(&text);
		quote_path(&text, meta->skips.items[i].path);
		printf("%sleft out: %s (%s)\n", i ? "" : "\n", text.buf,
		       skip_why_name(meta->skips.items[i].why));
	}
	strbuf_release(&text);
}

/* --- what it holds --- */

static int print_file(const char *path, size_t len, const struct wt_entry *entry, void *payload)
{
	const char *slash = entry->kind == WT_DIR ? "/" : "";
	json_t *array = payload;
	char *name;

	(void)len;
	name = xstrfmt("%s%s", path, slash);
	if (array) {
		json_t *object = json_object();

		json_object_set_new(object, "file", json_path(name));
		json_object_set_new(object, "mode", json_sprintf("%06o", wt_entry_mode(entry)));
		json_array_append_new(array, object);
	} else if (nul) {
		fwrite(name, 1, strlen(name) + 1, stdout);
	} else {
		struct strbuf quoted = STRBUF_INIT;

		quote_path(&quoted, name);
		printf("%s\n", quoted.buf);
		strbuf_release(&quoted);
	}
	free(name);
	return 0;
}

/* `array` NULL: to stdout. */
static int list_files(json_t *array, struct session *session, const struct ckpt_record *record)
{
	struct snapshot *snapshot = NULL;
	int err = snapshot_open(&snapshot, session->store, record);

	if (!err)
		err = snapshot_expand_all(snapshot, snapshot->root);
	if (!err)
		err = wt_visit(snapshot->root, print_file, array);
	snapshot_free(snapshot);
	return err;
}

static int write_piece(const char *data, size_t len, void *payload)
{
	(void)payload;
	fwrite(data, 1, len, stdout);
	return 0;
}

static int print_hashes(struct session *session, const struct ckpt_record *record)
{
	struct contents_opts opts = { .threads = session->threads, .progress = progress_show };
	struct snapshot *snapshot = NULL;
	int err = snapshot_open(&snapshot, session->store, record);

	if (!err)
		err = contents_hash(snapshot, &opts);
	progress_clear();
	if (!err)
		err = statehash_lines(snapshot->root, write_piece, NULL);
	snapshot_free(snapshot);
	return err;
}

/* --- the command --- */

/* `only` NULL: all keys. */
static json_t *json_states(const struct ckpt_meta *meta, const char *only)
{
	json_t *object = json_object();

	for (size_t i = 0; i < meta->states_nr; i++) {
		json_t *key = json_text(meta->states[i].key);

		if (!only || !strcmp(only, meta->states[i].key))
			json_object_set_new(object, json_string_value(key),
					    report_state(&meta->states[i]));
		json_decref(key);
	}
	return object;
}

static int write_bytes(const void *data, size_t len, void *payload)
{
	(void)payload;
	return fwrite(data, 1, len, stdout) == len ? 0 : CKPT_ERROR;
}

/* `key` NULL: all of them. */
static int show_state(struct session *session, const struct ckpt_record *record,
		      const struct ckpt_meta *meta, const char *key)
{
	const struct ckpt_state *one = key ? meta_find_state(meta, key) : NULL;
	int err;

	if (key && !one)
		return report_failure(ckpt_error_set(CKPT_ENOTFOUND,
						     "checkpoint '%s' has no state key '%s'", record->id,
						     key));
	if (opt_common.json) {
		json_t *answer = json_object();

		json_object_set_new(answer, "id", json_text(record->id));
		json_object_set_new(answer, "state", json_states(meta, key));
		return report_json(answer, EXIT_DONE);
	}
	if (!one) {
		print_states(meta);
		return report_done(EXIT_DONE);
	}
	err = objects_stream(session->store, &one->oid, write_bytes, NULL);
	/* A write that failed is reported with the others. */
	return err && !ferror(stdout) ? report_failure(err) : report_done(EXIT_DONE);
}

static int print_json(struct session *session, const struct ckpt_record *record,
		      const struct ckpt_meta *meta)
{
	json_t *answer = report_listed(record), *changed = NULL;
	int err = changes_json_of(&changed, session, record);

	if (err) {
		json_decref(answer);
		return report_failure(err);
	}
	json_object_set_new(answer, "changed_files", changed);
	json_object_set_new(answer, "skipped", report_skips(&meta->skips));
	json_object_set_new(answer, "confidence", json_real(record_confidence(record)));
	json_object_set_new(answer, "state", json_states(meta, NULL));
	if (meta->captures.nr)
		json_object_set_new(answer, "captures", report_captures(&meta->captures));
	json_object_set_new(answer, "project",
			    json_pack("{s:o,s:o,s:o}", "head", json_text(record->head), "branch",
				      json_text(record->branch), "operation",
				      json_text(record->operation)));
	json_object_set_new(answer, "warnings", json_texts(&record->warnings));
	if (files) {
		json_t *array = json_array();

		err = list_files(array, session, record);
		json_object_set_new(answer, "files", array);
	}
	if (err) {
		json_decref(answer);
		return report_failure(err);
	}
	return report_json(answer, EXIT_DONE);
}

static int print_text(struct session *session, const struct ckpt_record *record,
		      const struct ckpt_meta *meta)
{
	int err = 0;

	if (files)
		err = list_files(NULL, session, record);
	else if (hashes)
		err = print_hashes(session, record);
	else {
		print_head(record);
		print_rest(record, meta);
		if (stat_ || patch)
			putchar('\n');
		if (stat_)
			err = changes_print_stat_of(session, record);
		else if (patch)
			err = changes_print_patch_of(session, record);
	}
	return err ? report_failure(err) : report_done(EXIT_DONE);
}

/* "<checkpoint>:<path>" */
static int show_inside(struct session *session, const char *typed)
{
	struct ckpt_record record = CKPT_RECORD_INIT;
	struct strbuf path = STRBUF_INIT;
	int err = 0;

	if (stat_ || patch || files || hashes || state || opt_common.json)
		err = ckpt_error_set(CKPT_EUSAGE,
				     "'%s' prints what is at that path: no option of show "
				     "applies",
				     typed);
	if (!err)
		err = inside_find(&record, &path, session, typed);
	if (!err && !opt_common.quiet)
		err = inside_print(session, &record, path.buf);
	strbuf_release(&path);
	record_release(&record);
	return err ? report_failure(err) : report_done(EXIT_DONE);
}

static int show(struct session *session, const char *name, const char *key)
{
	struct ckpt_record record = CKPT_RECORD_INIT;
	struct ckpt_meta meta;
	int err = lookup_name(&record, session->store, name), status;

	if (err)
		return report_failure(err);
	err = meta_read(&meta, session->store, &record, false);
	if (err) {
		record_release(&record);
		return report_failure(err);
	}
	if (state) {
		status = show_state(session, &record, &meta, key);
	} else if (opt_common.json) {
		status = print_json(session, &record, &meta);
	} else if (opt_common.quiet) {
		status = EXIT_DONE;
	} else {
		if (!hashes && !nul)
			pager_start(session->gitconfig);
		status = print_text(session, &record, &meta);
		pager_end();
	}
	meta_release(&meta);
	record_release(&record);
	return status;
}

int cmd_show(int argc, char **argv)
{
	struct strlist args = STRLIST_INIT;
	struct session session;
	int err = opt_parse(&cmd_show_spec, argc, argv, &args, NULL), status;

	if (err > 0)
		return EXIT_DONE;
	if (!err && hashes && opt_common.json)
		err = ckpt_error_set(CKPT_EUSAGE, "option '--hashes' prints bytes, not JSON");
	if (!err)
		err = cmd_session_open(&session, SESSION_STORE);
	if (err) {
		strlist_release(&args);
		return report_failure(err);
	}
	if (inside_is(args.items[args.nr - 1]))
		status = show_inside(&session, args.items[args.nr - 1]);
	else
		status =
			show(&session, args.items[args.nr - 1], args.nr > 1 ? args.items[0] : NULL);
	strlist_release(&args);
	session_close(&session);
	return status;
}
