/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "hooks/hooks.h"

static const char *source = "cli", *expires, *name;
static int64_t step = -1, every = -1, min_interval;
static bool automatic, pin, move_name, allow_empty, include_ignored, include_sensitive;
static bool include_worktrees, force, state_only;
static struct strlist messages = STRLIST_INIT;
static struct strlist states = STRLIST_INIT, state_files = STRLIST_INIT, captures = STRLIST_INIT;

static const struct opt options[] = {
	{ OPT_LIST, 'm', "message", &messages, "<reason>", "why this checkpoint is taken" },
	{ OPT_STRING, 0, "source", &source, "<name>", "who takes it (default cli)" },
	{ OPT_NUMBER, 0, "step", &step, "<n>",
	  "step number; the checkpoint can be named "
	  "step:<n>" },
	{ OPT_STRING, 0, "expires", &expires, "<dur|time|never>", "when it expires" },
	{ OPT_FLAG, 0, "pin", &pin, NULL, "never evict it" },
	{ OPT_STRING, 0, "name", &name, "<name>", "a name for it; a named one is never evicted" },
	{ OPT_FLAG, 0, "move-name", &move_name, NULL, "give it the name even if another has it" },
	{ OPT_LIST, 0, "state", &states, "<k>=<v>", "store a small named value with it" },
	{ OPT_LIST, 0, "state-file", &state_files, "<k>=<path>",
	  "store the contents of a file as a named value" },
	{ OPT_FLAG, 0, "state-only", &state_only, NULL,
	  "save only state and named captures, no files" },
	{ OPT_LIST, 0, "capture", &captures, "<name>", "also take this capture" },
	{ OPT_NUMBER, 0, "every", &every, "<n>", "save only at the first of every <n> calls",
	  OPT_POSITIVE },
	{ OPT_DURATION, 0, "min-interval", &min_interval, "<dur>",
	  "skip while the newest is younger than this" },
	{ OPT_FLAG, 0, "automatic", &automatic, NULL,
	  "save only if something changed; thinned out with age", false },
	{ OPT_FLAG, 0, "allow-empty", &allow_empty, NULL, "save even if nothing changed" },
	{ OPT_FLAG, 0, "include-ignored", &include_ignored, NULL, "also save ignored files" },
	{ OPT_FLAG, 0, "include-sensitive", &include_sensitive, NULL,
	  "also save files that look like secrets" },
	{ OPT_FLAG, 0, "include-worktrees", &include_worktrees, NULL,
	  "also save other worktrees of the repository" },
	{ OPT_FLAG, 0, "force", &force, NULL, "allow the home directory, '/' or very many files" },
	{ OPT_END },
};

/* The captures that are configured. */
static bool offer(struct complete *complete, const char *what)
{
	struct capture_defs defs;

	if (!strcmp(what, "--name"))
		return complete_given_names(complete);
	if (strcmp(what, "--capture") != 0)
		return false;
	if (!capture_load(&defs, complete_session(complete))) {
		for (size_t i = 0; i < defs.nr; i++)
			complete_add(complete, defs.items[i].name, defs.items[i].type);
		capture_defs_release(&defs);
	}
	return true;
}

static int parse_expiry(int64_t *out)
{
	int64_t seconds;

	*out = 0;
	if (!expires || !strcmp(expires, "never"))
		return 0;
	if (clock_parse_duration(&seconds, expires))
		*out = clock_now() + seconds;
	else if (!clock_parse_iso(out, expires))
		return ckpt_error_set(CKPT_EUSAGE,
				      "option '--expires' takes a duration such as 7d, a time such as "
				      "2030-12-31T18:00, or never, not '%s'",
				      expires);
	if (*out <= clock_now())
		return ckpt_error_set(CKPT_EUSAGE, "option '--expires': '%s' is in the past", expires);
	return 0;
}

/* "<key>=<rest>", cut up in place; the rest, or NULL if it is malformed. */
static char *split_state(char *item, const char *option, const struct ckpt_meta *meta,
			 const struct extras_state_file *files, size_t files_nr)
{
	char *equals = strchr(item, '=');
	bool twice = false;

	if (!equals) {
		ckpt_error_set(CKPT_EUSAGE, "option '%s' takes <key>=<%s>, not '%s'", option,
			       strcmp(option, "--state") ? "path" : "value", item);
		return NULL;
	}
	*equals = '\0';
	if (!meta_state_key_valid(item)) {
		ckpt_error_set(CKPT_EUSAGE,
			       "option '%s': '%s' is not a valid key: use 1 to %d bytes of UTF-8 without "
			       "control characters",
			       option, item, CKPT_STATE_KEY_MAX);
		return NULL;
	}
	for (size_t i = 0; i < files_nr; i++)
		twice = twice || !strcmp(files[i].key, item);
	if (twice || meta_find_state(meta, item)) {
		ckpt_error_set(CKPT_EUSAGE, "option '%s' gives the key '%s' twice", option, item);
		return NULL;
	}
	return equals + 1;
}

/* Values into `meta`, files into an array that the caller frees. */
static int parse_states(struct ckpt_meta *meta, struct extras_state_file **files)
{
	size_t nr = 0;

	*files = xcalloc(state_files.nr ? state_files.nr : 1, sizeof(**files));
	for (size_t i = 0; i < states.nr; i++) {
		const char *value = split_state(states.items[i], "--state", meta, NULL, 0);

		if (!value)
			return CKPT_EUSAGE;
		meta_add_state(meta, states.items[i], value, strlen(value));
	}
	for (size_t i = 0; i < state_files.nr; i++) {
		const char *path = split_state(state_files.items[i], "--state-file", meta, *files, nr);

		if (!path)
			return CKPT_EUSAGE;
		(*files)[nr++] = (struct extras_state_file){ state_files.items[i], path };
	}
	if (state_only && !states.nr && !state_files.nr && !captures.nr)
		return ckpt_error_set(CKPT_EUSAGE, "option '--state-only' needs '--state', "
						   "'--state-file' or '--capture': without files there "
						   "would be nothing to save");
	return 0;
}

/* A user of `git stash save` may have meant it as a reason. */
static int no_such_path(const char *path)
{
	return ckpt_error_set(CKPT_ENOTFOUND,
			      "unable to save '%s': no such path; use -m to give a reason", path);
}

/* "." alone names everything. Paths below another named one add nothing. */
static int parse_scope(struct strlist *out, const struct session *session, const struct strlist *args)
{
	struct strbuf path = STRBUF_INIT, full = STRBUF_INIT;
	struct strlist all = STRLIST_INIT;
	bool whole = false;
	int err = 0;

	for (size_t i = 0; i < args->nr && !err; i++) {
		struct stat st;

		err = session_path(&path, session, args->items[i]);
		if (err)
			break;
		strbuf_reset(&full);
		strbuf_addf(&full, "%s/%s", session->worktree, path.buf);
		if (lstat(full.buf, &st) < 0)
			err = errno == ENOENT ? no_such_path(args->items[i]) :
						ckpt_error_errno("unable to save '%s'", args->items[i]);
		whole = whole || !path.len;
		strlist_add(&all, path.buf);
	}
	strlist_sort_unique(&all);
	for (size_t i = 0; i < all.nr && !whole; i++) {
		bool below = false;

		for (size_t j = 0; j < out->nr && !below; j++)
			below = path_below(all.items[i], out->items[j]) != NULL;
		if (!below)
			strlist_add(out, all.items[i]);
	}
	strlist_release(&all);
	strbuf_release(&path);
	strbuf_release(&full);
	return err;
}

static char *sum_up(const struct save_result *result)
{
	const struct ckpt_record *record = &result->record;
	char size[UNITS_SIZE];
	char *counts, *text;

	if (!result->have_record)
		return xstrdup("no checkpoint yet");
	if (record->state_only)
		return xstrfmt("%zu state %s, %zu %s, no files", record->state_keys.nr,
			       record->state_keys.nr == 1 ? "key" : "keys", record->captures.nr,
			       record->captures.nr == 1 ? "capture" : "captures");
	counts = xstrfmt("%llu %s, %s", (unsigned long long)record->files,
			 record->files == 1 ? "file" : "files",
			 units_format_size(size, record->bytes));
	if (result->outcome == SAVE_UNCHANGED)
		text = xstrfmt("%s, unchanged since %s", counts, record->id);
	else if (result->outcome == SAVE_NOT_YET)
		text = xstrfmt("%s in %s, not looked at since", counts, record->id);
	else if (record->base)
		text = xstrfmt("%s, %llu changed since %s", counts,
			       (unsigned long long)record->changed, record->base);
	else
		text = xstrfmt("%s, first checkpoint%s", counts,
			       record->scope.nr ? " of this scope" : "");
	free(counts);
	return text;
}

static json_t *stats_json(const struct save_result *result)
{
	const struct ckpt_record *record = &result->record;
	bool created = result->outcome == SAVE_CREATED;
	struct row object = ROW_INIT;

	row_number(&object, "files", record->files);
	row_number(&object, "bytes", record->bytes);
	row_number(&object, "changed", created ? record->changed : 0);
	row_number(&object, "new_bytes", result->new_bytes);
	row_seconds(&object, "seconds", result->seconds);
	return row_object(&object);
}

static json_t *next_actions(const struct ckpt_record *record)
{
	return json_pack("[o,o,o]", json_sprintf("git checkpoint diff %s", record->id),
			 json_sprintf("git checkpoint show --stat %s", record->id),
			 json_sprintf("git checkpoint restore %s", record->id));
}

static int print_json(const struct save_result *result, int status)
{
	const struct ckpt_record *record = &result->record;
	struct row answer = ROW_INIT, before = ROW_INIT;
	bool known = result->have_record;
	json_t *anchors = known ? json_pack("[s,o,s]", record->id,
					    json_sprintf("refs/checkpoints/%s", record->id),
					    record->state_hash)
				: json_array();
	char *text = sum_up(result);

	row_bool(&answer, "checkpoint_created", result->outcome == SAVE_CREATED);
	row_json(&answer, "checkpoint",
		 known ? report_checkpoint(record) : json_null());
	row_text(&before, "hash", known ? record->state_hash : NULL);
	row_text(&before, "summary", text);
	row_json(&answer, "pre_mutation_state", row_object(&before));
	row_json(&answer, "stats", stats_json(result));
	if (record->captures.nr)
		row_json(&answer, "captures", report_captures(&record->captures));
	row_json(&answer, "skipped", report_skips(&result->skips));
	row_json(&answer, "next_safe_actions",
		 known ? next_actions(record) : json_array());
	row_json(&answer, "confidence", json_real(known ? record_confidence(record) : 0.0));
	row_json(&answer, "evidence_anchors", anchors);
	row_json(&answer, "assumptions",
		 json_pack("[s*,s]",
			   include_ignored ? NULL : "files that ignore rules leave out can be created again",
			   "the contents of every .git are kept safe by git itself"));
	row_texts(&answer, "warnings", &record->warnings);
	free(text);
	return report_json(row_object(&answer), status);
}

/* All warnings, but what stays left out, such as node_modules, is named only once. */
static void print_warnings(const struct session *session, const struct save_result *result)
{
	const struct strlist *all = &result->record.warnings;
	struct strlist some = STRLIST_INIT;

	if (opt_common.quiet)
		return;
	for (size_t i = 0; i < all->nr; i++) {
		bool once = false;

		for (size_t j = 0; j < result->once.nr && !once; j++)
			once = !strcmp(all->items[i], result->once.items[j]);
		if (!once || advice_first(session->home, session->worktree, all->items[i]))
			strlist_add(&some, all->items[i]);
	}
	report_warnings(&some);
	strlist_release(&some);
}

static void print_text(const struct session *session, const struct save_result *result, int status)
{
	const struct ckpt_record *record = &result->record;
	char *text = sum_up(result), size[UNITS_SIZE];

	print_warnings(session, result);
	switch (result->outcome) {
	case SAVE_CREATED:
		for (size_t i = 0; i < record->captures.nr; i++)
			report_text("Captured %s (%s)\n", record->captures.items[i].name,
				    units_format_size(size, record->captures.items[i].size));
		report_text("Saved %s (%s)\n", report_id(record->id), text);
		break;
	case SAVE_UNCHANGED:
		report_text("Nothing changed since %s\n", report_id(record->id));
		break;
	case SAVE_NOT_YET:
		report_text("Not due yet%s%s\n", result->have_record ? ", the newest is " : "",
			    result->have_record ? report_id(record->id) : "");
		break;
	}
	if (status == EXIT_INCOMPLETE && !opt_common.quiet)
		term_say(stderr, "warning: the checkpoint is incomplete: %llu %s not in it\n",
			 (unsigned long long)record->missing,
			 record->missing == 1 ? "path is" : "paths are");
	free(text);
}

static void give_advice(const struct session *session)
{
	struct hooks_report hooks = { 0 };

	if (advice_due(session, ADVICE_SAVED)) {
		advice_say(session, ADVICE_SAVED);
	} else if (session->repo && advice_due(session, ADVICE_HOOKS)) {
		if (!hooks_status(&hooks, session->repo) && !hooks.installed &&
		    !hooks_protected(&hooks))
			advice_say(session, ADVICE_HOOKS);
		hooks_report_release(&hooks);
	}
}

static char *reason; /* NULL: none was given */

/* Each is a paragraph, as of `git commit`. */
static void join_messages(void)
{
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < messages.nr; i++)
		strbuf_addf(&text, "%s%s", i ? "\n\n" : "", messages.items[i]);
	reason = messages.nr ? strbuf_detach(&text, NULL) : NULL;
}

/* What is parsed before there is a session. */
static int64_t expiry;
static struct ckpt_meta meta;
static struct extras_state_file *files;

static int check(const struct strlist *args)
{
	int err = parse_expiry(&expiry);

	join_messages();
	meta_init(&meta);
	if (!err)
		err = cmd_check_name(name, move_name);
	if (!err)
		err = parse_states(&meta, &files);
	if (!err && state_only && args->nr)
		err = ckpt_error_set(CKPT_EUSAGE, "option '--state-only' takes no paths");
	return err;
}

static struct save_opts asked_for(const struct strlist *scope)
{
	return (struct save_opts){
		.reason = reason ? reason : "manual",
		.said = reason != NULL,
		.source = source,
		.automatic = automatic,
		.step = step,
		.kept = { .expiry = expiry, .pin = pin, .name = name, .move_name = move_name },
		.cadence = { .every = every > 0 ? (uint64_t)every : 0,
			     .min_interval = min_interval },
		.extras = { .states = meta.states,
			    .states_nr = meta.states_nr,
			    .state_files = files,
			    .state_files_nr = state_files.nr,
			    .captures = &captures,
			    .alone = state_only },
		.scan = { .scope = scope,
			  .include_ignored = include_ignored,
			  .include_sensitive = include_sensitive,
			  .include_worktrees = include_worktrees,
			  .progress = progress_show },
		.allow_empty = allow_empty,
		.force = force,
	};
}

static int print_result(struct session *session, const struct save_result *result)
{
	int status = result->have_record && result->record.missing ? EXIT_INCOMPLETE : EXIT_DONE;

	/* It is part of the answer, but the last word to a person. */
	if (!report_speaks())
		advice_evicted(session, result->evicted);
	if (opt_common.json)
		status = print_json(result, status);
	else
		print_text(session, result, status);
	if (report_speaks())
		advice_evicted(session, result->evicted);
	if (result->outcome == SAVE_CREATED)
		give_advice(session);
	return status;
}

static int save(struct session *session, const struct strlist *args)
{
	struct strlist scope = STRLIST_INIT;
	struct save_opts opts = asked_for(&scope);
	struct save_result result = { 0 };
	int err = parse_scope(&scope, session, args);

	if (!err)
		err = save_checkpoint(&result, session, &opts);
	progress_clear();
	if (!err)
		err = print_result(session, &result);
	if (err >= 0 && result.outcome == SAVE_CREATED)
		cmd_push_auto(session, result.record.id);
	save_result_release(&result);
	strlist_release(&scope);
	meta_release(&meta);
	free(files);
	free(reason);
	return err;
}

static const struct opt_instead instead[] = {
	{ "-a", "all files are saved, unless paths are named" },
	{ "--all", "all files are saved, unless paths are named" },
	{ "-u", "untracked files are saved, too" },
	{ "--include-untracked", "untracked files are saved, too" },
	{ "--amend", "a checkpoint does not change; 'git checkpoint drop @' deletes the newest" },
	{ NULL },
};

const struct opt_spec cmd_save_spec = {
	.command = "save",
	.summary = "take a checkpoint",
	.args = OPT_ARGS(CMD_PATHS),
	.options = options,
	.instead = instead,
	.offer = offer,
	.check = check,
	.session = SESSION_SAVE,
	.run = save,
};
