/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

static bool files, hashes, state, staged;
static struct pathspec within = PATHSPEC_INIT;

static const struct opt options[] = {
	SHOW_DIFF_FORMS("also "),
	{ OPT_FLAG, 0, "files", &files, NULL, "list its paths", OPT_OR },
	{ OPT_FLAG, 0, "hashes", &hashes, NULL, "print the bytes that the state hash covers",
	  OPT_OR },
	{ OPT_FLAG, 'z', NULL, &show_diff_opts.nul, NULL,
	  "with --files, names or --numstat: end paths with NUL, do not quote" },
	SHOW_DIFF_HOW,
	{ OPT_FLAG, 0, "staged", &staged, NULL, "show what was staged, against the recorded HEAD" },
	{ OPT_FLAG, 0, "state", &state, NULL, "print state values; of one key, its exact bytes",
	  OPT_FORM, OPT_ARGS({ { "<key>" }, 0, 1 }, CMD_CHECKPOINTS(1, 1)) },
	{ OPT_END },
};

/* --- as text --- */

/* What lists show; below it all of the reason, if there is more to it. */
static void print_reason(const struct ckpt_record *record)
{
	struct strbuf text = STRBUF_INIT;
	const char *reason = record->reason + strspn(record->reason, "\n");
	char *title = title_of(record);
	bool same;

	utf8_printable(&text, reason, strcspn(reason, "\n"), "", ' ');
	same = !strcmp(text.buf, title);
	strbuf_reset(&text);
	if (!same)
		strbuf_addf(&text, "%s\n", title);
	if (strcmp(record->reason, "manual") != 0)
		term_clean(&text, record->reason);
	free(title);
	term_say(stdout, "\n");
	for (char *line = text.buf, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		term_say(stdout, "    %.*s\n", (int)(end - line), line);
		end += *end == '\n';
	}
	strbuf_release(&text);
}

/* "session s1, turn 3, sub-agent explore" */
static void show_agent(struct row *row, const struct ckpt_agent *agent)
{
	struct strbuf text = STRBUF_INIT;

	if (agent->session)
		strbuf_addf(&text, "session %s", agent->session);
	if (agent->turn)
		strbuf_addf(&text, "%sturn %llu", text.len ? ", " : "",
			    (unsigned long long)agent->turn);
	if (agent->sub_agent)
		strbuf_addf(&text, "%ssub-agent %s", text.len ? ", " : "", agent->sub_agent);
	if (text.len)
		row_show(row, "agent", "%s", text.buf);
	strbuf_release(&text);
}

static void print_head(const struct ckpt_record *record)
{
	static const struct row_line lines[] = {
		{ "Name:", "name" },	   { "Commit:", "commit" },  { "Date:", "created_at" },
		{ "Source:", "source" },   { "Agent:", "agent" },    { "Files:", "files" },    { "Scope:", "scope" },
		{ "Step:", "step" },	   { "Expires:", "expiry" }, { "State:", "hash" },
		{ "Project:", "project" }, { "Index:", "index" },    { "Operation:", "operation" },
	};
	char iso[CLOCK_ISO_SIZE], age[CLOCK_ISO_SIZE], size[UNITS_SIZE];
	struct row row = ROW_INIT;
	int64_t now = clock_now();

	term_say(stdout, "%scheckpoint %s%s", term_color(TERM_YELLOW), record->id,
		 term_color(TERM_RESET));
	term_say(stdout, "%s%s\n", record->pinned ? " [pinned]" : "",
		 record_expired(record, now) ? " [expired]" : "");
	report_row(&row, record);
	row_show(&row, "created_at", "%s (%s)", clock_format_local(iso, record->created_at),
		 clock_format_age(age, record->created_at, now));
	row_show(&row, "files", "%llu, %s, %llu changed%s%s", (unsigned long long)record->files,
		 units_format_size(size, record->bytes), (unsigned long long)record->changed,
		 record->base ? " since " : "", record->base ? record->base : "");
	if (record->state_only)
		row_show(&row, "files", "none, only state");
	row_show_paths(&row, "name", &record->names);
	row_show_paths(&row, "scope", &record->scope);
	show_agent(&row, &record->agent);
	show_git_row(&row, record);
	row_print(&row, lines, ARRAY_SIZE(lines));
	row_release(&row);
}

static void print_states(const struct ckpt_meta *meta)
{
	struct strbuf value = STRBUF_INIT;
	char size[UNITS_SIZE];

	for (size_t i = 0; i < meta->states_nr; i++) {
		const struct ckpt_state *one = &meta->states[i];

		strbuf_reset(&value);
		/* What others stored must not control the terminal. */
		if (one->value)
			utf8_printable(&value, one->value, one->len, "\n\t", '?');
		else
			strbuf_addf(&value, "(%s)", units_format_size(size, one->size));
		term_say(stdout, "%s = %s\n", one->key, value.buf);
	}
	strbuf_release(&value);
}

static void print_rest(const struct ckpt_record *record, const struct ckpt_meta *meta)
{
	char size[UNITS_SIZE];

	print_reason(record);
	for (size_t i = 0; i < meta->captures.nr; i++)
		term_say(stdout, "%scapture %s: %s, %s\n", i ? "" : "\n",
			 meta->captures.items[i].name, meta->captures.items[i].type,
			 units_format_size(size, meta->captures.items[i].size));
	if (meta->states_nr)
		term_say(stdout, "\n");
	print_states(meta);
	for (size_t i = 0; i < meta->skips.nr; i++) {
		term_say(stdout, "%sleft out: %s (%s)\n", i ? "" : "\n",
			 report_path(meta->skips.items[i].path),
			 skip_why_name(meta->skips.items[i].why));
	}
}

/* --- what it holds --- */

static int print_file(const char *path, size_t len UNUSED, const struct wt_entry *entry,
		      void *payload)
{
	const char *slash = entry->kind == WT_DIR ? "/" : "";
	json_t *array = payload;
	char *name;

	if (!pathspec_matches(&within, path, entry->kind == WT_DIR))
		return 0;
	name = xstrfmt("%s%s", path, slash);
	if (array) {
		json_array_append_new(array, json_pack("{s:o,s:o}", "file", json_path(name), "mode",
						       json_sprintf("%06o", wt_entry_mode(entry))));
	} else if (show_diff_opts.nul) {
		fwrite(name, 1, strlen(name) + 1, stdout);
	} else {
		term_say(stdout, "%s\n", report_path(name));
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

static int write_piece(const char *data, size_t len, void *payload UNUSED)
{
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

/* `key` NULL: all of them. */
static int show_state(struct session *session, const struct ckpt_record *record,
		      const struct ckpt_meta *meta, const char *key)
{
	const struct ckpt_state *one = key ? meta_find_state(meta, key) : NULL;
	int err = 0;

	if (key && !one)
		return ckpt_error_set(CKPT_ENOTFOUND, "checkpoint '%s' has no state key '%s'",
				      record->id, key);
	if (opt_common.json)
		return report_json(json_pack("{s:s,s:o}", "id", record->id, "state",
					     json_states(meta, key)),
				   EXIT_DONE);
	if (one)
		err = report_stream(session->store, &one->oid);
	else
		print_states(meta);
	return err;
}

static int print_json(struct session *session, const struct ckpt_record *record,
		      const struct ckpt_meta *meta)
{
	json_t *changed = NULL, *list = files ? json_array() : NULL;
	struct row answer = ROW_INIT;
	int err = show_diff_of(&changed, session, record, &within);

	if (!err && files)
		err = list_files(list, session, record);
	if (err) {
		json_decref(changed);
		json_decref(list);
		return err;
	}
	report_row(&answer, record);
	row_json(&answer, "changed_files", changed);
	row_json(&answer, "skipped", report_skips(&meta->skips));
	row_json(&answer, "confidence", json_real(record_confidence(record)));
	row_json(&answer, "state", json_states(meta, NULL));
	if (meta->captures.nr)
		row_json(&answer, "captures", report_captures(&meta->captures));
	row_json(&answer, "project", show_git_json(session, record));
	row_texts(&answer, "warnings", &record->warnings);
	if (files)
		row_json(&answer, "files", list);
	return report_json(row_object(&answer), EXIT_DONE);
}

static int print_text(struct session *session, const struct ckpt_record *record,
		      const struct ckpt_meta *meta)
{
	if (!hashes && !show_diff_opts.nul)
		pager_start(session->gitconfig);
	if (files)
		return list_files(NULL, session, record);
	if (hashes)
		return print_hashes(session, record);
	print_head(record);
	print_rest(record, meta);
	if (!show_diff_wanted() && pathspec_is_empty(&within))
		return 0;
	term_say(stdout, "\n");
	return show_diff_of(NULL, session, record, &within);
}

/* "<checkpoint>:<path>" */
static int show_inside(struct session *session, const char *typed)
{
	struct ckpt_record record = CKPT_RECORD_INIT;
	struct strbuf path = STRBUF_INIT;
	int err = 0;

	if (show_diff_wanted() || files || hashes || state || staged || opt_common.json)
		err = ckpt_error_set(CKPT_EUSAGE,
				     "'%s' prints what is at that path: no option of show "
				     "applies",
				     typed);
	if (!err)
		err = show_inside_find(&record, &path, session, typed);
	if (!err && !opt_common.quiet)
		err = show_inside_print(session, &record, path.buf);
	strbuf_release(&path);
	record_release(&record);
	return err;
}

static int check(const struct strlist *args)
{
	bool limited = !state && args->nr > 1;

	if (limited && (hashes || show_inside_is(args->items[0])))
		return ckpt_error_set(CKPT_EUSAGE, "unexpected argument '%s'%s", args->items[1],
				      hashes ? " with --hashes" : "");
	if (staged && (files || hashes || state))
		return ckpt_error_set(CKPT_EUSAGE, "option '--staged' does not go with '--%s'",
				      files    ? "files"
				      : hashes ? "hashes"
					       : "state");
	if (hashes && opt_common.json)
		return ckpt_error_set(CKPT_EUSAGE, "option '--hashes' prints bytes, not JSON");
	return show_diff_check("'--files', ", files);
}

/* What is neither there now nor was before may be a second checkpoint, or a typo. */
static int parse_paths(struct session *session, const struct ckpt_record *record,
		       const struct strlist *args)
{
	struct ckpt_record both[2] = { *record, CKPT_RECORD_INIT };
	struct show_paths_where where = { both, 1 };
	int err = staged ? CKPT_ENOTFOUND : diff_base(&both[1], session, record);

	where.nr += !err;
	if (err == CKPT_ENOTFOUND)
		err = 0;
	if (!err)
		err = show_paths_parse(&within, session, args, 1, &where);
	/* What is staged need not be among the files. */
	for (size_t i = 0; i < within.plain.nr && !err && !staged; i++) {
		const char *path = within.plain.items[i];
		bool found = !*path;

		if (!found)
			err = show_paths_find(&found, session, path, &where);
		if (!err && !found)
			err = ckpt_error_set(
				CKPT_ENOTFOUND,
				"path '%s' is neither in checkpoint '%s' nor in the one "
				"before",
				path, record->id);
	}
	record_release(&both[1]);
	return err;
}

/* With --state, the key comes first, if one is given; otherwise paths follow. */
static int show(struct session *session, const struct strlist *args)
{
	struct ckpt_record record = CKPT_RECORD_INIT;
	const char *name = args->items[state ? args->nr - 1 : 0];
	struct ckpt_meta meta;
	int err;

	if (show_inside_is(name))
		return show_inside(session, name);
	meta_init(&meta);
	err = session_lookup(&record, session->store, name);
	if (!err)
		err = meta_read(&meta, session->store, &record, false);
	if (!err && !state && args->nr > 1)
		err = parse_paths(session, &record, args);
	if (!err && staged)
		err = show_git_staged(session, &record, &within);
	else if (!err && state)
		err = show_state(session, &record, &meta, args->nr > 1 ? args->items[0] : NULL);
	else if (!err && opt_common.json)
		err = print_json(session, &record, &meta);
	else if (!err && !opt_common.quiet)
		err = print_text(session, &record, &meta);
	meta_release(&meta);
	record_release(&record);
	pathspec_release(&within);
	return err;
}

static bool offer(struct complete *complete, const char *what)
{
	bool ours = !strcmp(what, "<path>");

	if (!strcmp(what, "<checkpoint>"))
		return complete_inside(complete);
	if (ours)
		complete_paths(complete, false);
	return ours;
}

const struct opt_spec cmd_show_spec = {
	.command = "show",
	.summary = "show one checkpoint",
	.args = OPT_ARGS(CMD_CHECKPOINTS(1, 1), CMD_PATHS),
	.options = options,
	.offer = offer,
	.check = check,
	.session = SESSION_STORE,
	.run = show,
};
