/* SPDX-License-Identifier: MIT */
#include "show/show.h"

struct show_diff_opts show_diff_opts = { .context = -1 };

/* ---- options ---- */

/*
 * As git reads it: "50%", "0.5" and "5" are all one half, since a number without "%" is what
 * follows a decimal point.
 */
static bool parse_similarity(unsigned *out, const char *text)
{
	uint64_t number = 0, scale = 1;
	bool point = false;
	const char *p = text;

	for (; (*p >= '0' && *p <= '9') || (*p == '.' && !point); p++) {
		if (*p == '.') {
			point = true;
			scale = 1;
		} else if (scale < 100000) {
			scale *= 10;
			number = number * 10 + (uint64_t)(*p - '0');
		}
	}
	if (*p == '%') {
		scale = point ? scale * 100 : 100;
		p++;
	}
	if (*p)
		return false;
	*out = number >= scale ? RENAMES_SCORE_MAX : (unsigned)(RENAMES_SCORE_MAX * number / scale);
	if (!*out)
		*out = RENAMES_SCORE_USUAL;
	return true;
}

static bool ignores_space(void)
{
	return show_diff_opts.all_space || show_diff_opts.space_change ||
	       show_diff_opts.space_at_eol || show_diff_opts.blank_lines;
}

int show_diff_check(const char *other, bool given)
{
	const struct show_diff_opts *opts = &show_diff_opts;
	unsigned score;

	if (opts->nul && !opts->numstat && !opts->name_only && !opts->name_status && !given)
		return ckpt_error_set(CKPT_EUSAGE,
				      "option '-z' needs %s'--name-only', '--name-status' or "
				      "'--numstat'",
				      other ? other : "");
	if (opts->renames && !parse_similarity(&score, opts->renames))
		return ckpt_error_set(CKPT_EUSAGE,
				      "option '--find-renames' takes a similarity such as 50%%, "
				      "not '%s'",
				      opts->renames);
	if (opts->context > INT32_MAX)
		return ckpt_error_set(CKPT_EUSAGE, "option '--unified' takes at most %d lines",
				      INT32_MAX);
	return 0;
}

bool show_diff_wanted(void)
{
	const struct show_diff_opts *opts = &show_diff_opts;

	return opts->patch || opts->stat || opts->numstat || opts->shortstat || opts->name_only ||
	       opts->name_status || ignores_space() || opts->renames || opts->context >= 0;
}

static struct patch_opts patch_opts(void)
{
	struct patch_opts out = PATCH_OPTS_INIT;

	if (show_diff_opts.context >= 0)
		out.context = (unsigned)show_diff_opts.context;
	out.ignore = (show_diff_opts.all_space ? PATCH_ALL_SPACE : 0) |
		     (show_diff_opts.space_change ? PATCH_SPACE_CHANGE : 0) |
		     (show_diff_opts.space_at_eol ? PATCH_SPACE_AT_EOL : 0) |
		     (show_diff_opts.blank_lines ? PATCH_BLANK_LINES : 0);
	out.color = *term_color(TERM_RED) != '\0';
	return out;
}

int show_diff_prepare(struct diff *diff)
{
	bool too_many = false;
	unsigned score;
	int err;

	if (!show_diff_opts.renames || !parse_similarity(&score, show_diff_opts.renames))
		return 0;
	err = renames_find(diff, score, &too_many);
	if (!err && too_many && !opt_common.quiet)
		report_message("warning", "too many files were added and removed to compare them "
					  "all, so some renames may not be shown");
	return err;
}

/* ---- contents ---- */

/* Both contents of one change, and the input for patch.h that points at them. */
struct pair {
	struct strbuf old, new;
	struct patch_input in;
};

static int pair_load(struct pair *pair, struct diff *diff, const struct change *change)
{
	uint64_t old_large = 0, new_large = 0;
	int err = 0;

	strbuf_init(&pair->old);
	strbuf_init(&pair->new);
	if (!change->is_dir && change->kind != CHANGE_ADDED)
		err = diff_content(&pair->old, &old_large, diff, change, DIFF_OLD);
	if (!err && !change->is_dir && change->kind != CHANGE_DELETED)
		err = diff_content(&pair->new, &new_large, diff, change, DIFF_NEW);
	pair->in = (struct patch_input){
		.old_path = change->kind == CHANGE_ADDED ? NULL
			    : change->from		 ? change->from
							 : change->path,
		.new_path = change->kind == CHANGE_DELETED ? NULL : change->path,
		.old_mode = change->old_mode,
		.new_mode = change->new_mode,
		.old_oid = change->old_oid,
		.new_oid = change->new_oid,
		.old_data = old_large ? NULL : pair->old.buf,
		.old_len = old_large ? old_large : pair->old.len,
		.new_data = new_large ? NULL : pair->new.buf,
		.new_len = new_large ? new_large : pair->new.len,
		.similarity = change->similarity,
	};
	return err;
}

static void pair_release(struct pair *pair)
{
	strbuf_release(&pair->old);
	strbuf_release(&pair->new);
}

static int add_patch(struct strbuf *out, struct diff *diff, const struct change *change,
		     const struct patch_opts *opts)
{
	struct pair pair;
	int err = pair_load(&pair, diff, change);

	if (!err)
		err = patch_print(out, &pair.in, opts);
	pair_release(&pair);
	return err;
}

static int print_patch(struct diff *diff)
{
	struct patch_opts opts = patch_opts();
	int err = 0;

	/* Nobody reads the rest if the pager was left. */
	for (size_t i = 0; i < diff->changes.nr && !err && !ferror(stdout); i++) {
		struct strbuf out = STRBUF_INIT;

		err = cancel_check();
		if (!err)
			err = add_patch(&out, diff, &diff->changes.items[i], &opts);
		if (!err)
			fwrite(out.buf, 1, out.len, stdout);
		strbuf_release(&out);
	}
	return err;
}

/* ---- counting ---- */

/* How much each file changed; those of which nothing is left to be told are not in it. */
struct counts {
	struct diffstat_file *items;
	size_t nr;
};

static void counts_release(struct counts *counts)
{
	for (size_t i = 0; i < counts->nr; i++)
		free((char *)counts->items[i].path);
	free(counts->items);
}

static int count_one(struct diffstat_file *out, struct diff *diff, const struct change *change,
		     const struct patch_opts *opts)
{
	struct pair pair;
	int err = pair_load(&pair, diff, change);

	*out = (struct diffstat_file){ .from = change->from };
	if (!err)
		err = patch_count(&out->added, &out->removed, &out->binary, &pair.in, opts);
	if (out->binary && !oid_equal(&change->old_oid, &change->new_oid)) {
		out->old_size = pair.in.old_len;
		out->new_size = pair.in.new_len;
	}
	pair_release(&pair);
	return err;
}

int show_diff_count(struct diffstat_file *out, struct diff *diff, const struct change *change)
{
	struct patch_opts opts = patch_opts();
	int err = count_one(out, diff, change, &opts);

	out->path = change->path;
	return err;
}

static bool is_ignored(const struct diffstat_file *file, const struct change *change)
{
	return ignores_space() && change->kind == CHANGE_MODIFIED &&
	       change->old_mode == change->new_mode && !file->binary && !file->added &&
	       !file->removed;
}

static int count_all(struct counts *out, struct diff *diff)
{
	struct patch_opts opts = patch_opts();
	int err = 0;

	*out = (struct counts){ xcalloc(diff->changes.nr + 1, sizeof(*out->items)), 0 };
	for (size_t i = 0; i < diff->changes.nr && !err; i++) {
		const struct change *change = &diff->changes.items[i];
		struct diffstat_file *file = &out->items[out->nr];

		err = cancel_check();
		if (!err)
			err = count_one(file, diff, change, &opts);
		if (err || is_ignored(file, change))
			continue;
		file->path = xstrfmt("%s%s", change->path, change->is_dir ? "/" : "");
		out->nr++;
	}
	return err;
}

/* With -z names are for programs: bytes, each with its end. */
static void print_raw(const char *name)
{
	fwrite(name, 1, strlen(name) + 1, stdout);
}

static void print_numbers(const struct counts *counts)
{
	for (size_t i = 0; i < counts->nr; i++) {
		const struct diffstat_file *file = &counts->items[i];
		struct strbuf name = STRBUF_INIT;

		if (file->binary)
			term_say(stdout, "-\t-\t");
		else
			term_say(stdout, "%zu\t%zu\t", file->added, file->removed);
		if (!show_diff_opts.nul) {
			diffstat_name(&name, file);
			term_say(stdout, "%s\n", name.buf);
		} else {
			if (file->from) {
				print_raw("");
				print_raw(file->from);
			}
			print_raw(file->path);
		}
		strbuf_release(&name);
	}
}

static int print_counts(struct diff *diff, bool numbers, bool summary)
{
	struct strbuf text = STRBUF_INIT;
	struct counts counts;
	int err = count_all(&counts, diff);

	if (!err && numbers)
		print_numbers(&counts);
	else if (!err && summary && counts.nr) {
		diffstat_summary(&text, counts.items, counts.nr);
		fwrite(text.buf, 1, text.len, stdout);
	} else if (!err && counts.nr) {
		diffstat_print(counts.items, counts.nr);
	}
	strbuf_release(&text);
	counts_release(&counts);
	return err;
}

int show_diff_sum(struct show_diff_sum *out, struct diff *diff)
{
	struct counts counts;
	int err = count_all(&counts, diff);

	*out = (struct show_diff_sum){ .files = counts.nr };
	for (size_t i = 0; i < counts.nr; i++) {
		out->added += counts.items[i].binary ? 0 : counts.items[i].added;
		out->deleted += counts.items[i].binary ? 0 : counts.items[i].removed;
	}
	counts_release(&counts);
	return err;
}

int show_diff_differ(bool *out, struct diff *diff)
{
	struct counts counts = { 0 };
	int err = 0;

	*out = diff->changes.nr > 0;
	if (!*out || !ignores_space())
		return 0;
	err = count_all(&counts, diff);
	*out = counts.nr > 0;
	counts_release(&counts);
	return err;
}

/* ---- names ---- */

static void print_path(const char *path, const char *slash)
{
	char *name = xstrfmt("%s%s", path, slash);

	if (show_diff_opts.nul)
		print_raw(name);
	else
		term_say(stdout, "%s", report_path(name));
	free(name);
}

static void print_names(const struct diff *diff)
{
	bool nul = show_diff_opts.nul;

	for (size_t i = 0; i < diff->changes.nr; i++) {
		const struct change *change = &diff->changes.items[i];

		if (show_diff_opts.name_status) {
			term_say(stdout, "%c", (char)change->kind);
			if (change->from)
				term_say(stdout, "%03u", change->similarity);
			putchar(nul ? '\0' : '\t');
			if (change->from) {
				print_path(change->from, "");
				term_say(stdout, "%s", nul ? "" : "\t");
			}
		}
		print_path(change->path, change->is_dir ? "/" : "");
		term_say(stdout, "%s", nul ? "" : "\n");
	}
}

int show_diff_print(struct diff *diff)
{
	const struct show_diff_opts *opts = &show_diff_opts;

	if (opts->stat || opts->numstat || opts->shortstat)
		return print_counts(diff, opts->numstat, opts->shortstat);
	if (!opts->name_only && !opts->name_status)
		return print_patch(diff);
	print_names(diff);
	return 0;
}

json_t *show_diff_json(const struct diff *diff)
{
	json_t *array = json_array();

	for (size_t i = 0; i < diff->changes.nr; i++) {
		const struct change *change = &diff->changes.items[i];
		char *name = xstrfmt("%s%s", change->path, change->is_dir ? "/" : "");
		char status[2] = { (char)change->kind, '\0' };
		json_t *object = json_object();

		json_object_set_new(object, "file", json_path(name));
		json_object_set_new(object, "status", json_string(status));
		if (change->from) {
			json_object_set_new(object, "from", json_path(change->from));
			json_object_set_new(object, "similarity", json_integer(change->similarity));
		}
		json_array_append_new(array, object);
		free(name);
	}
	return array;
}

/* ---- since the previous checkpoint ---- */

/* More than one step must not look like one. */
static void say_gone(struct session *session, const struct ckpt_record *record)
{
	char *text = diff_no_base(session, record, "diff");

	term_say(stdout, "%s\n", text);
	free(text);
}

int show_diff_of(json_t **json, struct session *session, const struct ckpt_record *record,
		 const struct pathspec *only)
{
	struct ckpt_record previous = CKPT_RECORD_INIT;
	struct diff diff;
	int err = diff_base(&previous, session, record);

	if (err && err != CKPT_ENOTFOUND)
		return err;
	if (err && record->base) {
		if (json)
			*json = json_null();
		else
			say_gone(session, record);
		return 0;
	}
	err = diff_checkpoints(&diff, session, err ? NULL : &previous, record, only);
	record_release(&previous);
	if (err)
		return err;
	err = show_diff_prepare(&diff);
	if (!err && json)
		*json = show_diff_json(&diff);
	else if (!err)
		err = show_diff_print(&diff);
	diff_release(&diff);
	return err;
}

/* ---- what was staged ---- */

void show_git_unmerged(const struct diff *diff)
{
	const struct show_diff_opts *opts = &show_diff_opts;
	const struct strlist *paths = staged_unmerged(diff);

	if (opts->stat || opts->numstat || opts->shortstat)
		return;
	for (size_t i = 0; i < paths->nr; i++) {
		if (opts->name_status) {
			putchar('U');
			putchar(opts->nul ? '\0' : '\t');
		} else if (!opts->name_only) {
			term_say(stdout, "* Unmerged path ");
		}
		print_path(paths->items[i], "");
		putchar(opts->nul ? '\0' : '\n');
	}
}

static int print_staged(struct diff *diff, const struct ckpt_record *record)
{
	int err = show_diff_prepare(diff);

	if (!err && opt_common.json) {
		struct row answer = ROW_INIT;

		row_text(&answer, "id", record->id);
		row_json(&answer, "staged", show_diff_json(diff));
		row_json(&answer, "unmerged", json_paths(staged_unmerged(diff)));
		return report_json(row_object(&answer), EXIT_DONE);
	}
	if (err || opt_common.quiet)
		return err;
	if (!show_diff_opts.nul)
		pager_start(diff->session->gitconfig);
	show_git_unmerged(diff);
	return show_diff_print(diff);
}

int show_git_staged(struct session *session, const struct ckpt_record *record,
		    const struct pathspec *only)
{
	struct diff diff;
	int err = staged_of(&diff, session, record, only);

	if (err)
		return err;
	err = print_staged(&diff, record);
	diff_release(&diff);
	return err;
}
