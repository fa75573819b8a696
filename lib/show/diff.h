/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SHOW_DIFF_H
#define CKPT_SHOW_DIFF_H

#include "ui/ui.h"

struct change;
struct ckpt_record;
struct diff;
struct pathspec;

/** The ways to show a difference, on stdout, and the options for that: those of git-diff(1). */

struct show_diff_opts {
	bool patch, stat, numstat, shortstat, name_only, name_status;
	bool nul;
	bool all_space, space_change, space_at_eol, blank_lines; /**< that are ignored */
	const char *renames; /**< NULL: not looked for; "": with the usual similarity */
	bool no_renames;
	int64_t context; /**< lines; -1: the usual number */
};
extern struct show_diff_opts show_diff_opts;

/** Rows for a table of options: the forms, of which one can be chosen; more may follow with OPT_OR. */
/* clang-format off */
#define SHOW_DIFF_FORMS(also) \
	{ OPT_FLAG, 'p', "patch", &show_diff_opts.patch, NULL, also "show what changed, as a patch" }, \
	{ OPT_FLAG, 0, "stat", &show_diff_opts.stat, NULL, \
	  also "show how much changed, file by file", OPT_OR }, \
	{ OPT_FLAG, 0, "numstat", &show_diff_opts.numstat, NULL, \
	  also "show how many lines were added and removed, as numbers", OPT_OR }, \
	{ OPT_FLAG, 0, "shortstat", &show_diff_opts.shortstat, NULL, \
	  also "show only the last line of --stat", OPT_OR }, \
	{ OPT_FLAG, 0, "name-only", &show_diff_opts.name_only, NULL, also "show only names", OPT_OR }, \
	{ OPT_FLAG, 0, "name-status", &show_diff_opts.name_status, NULL, \
	  also "show only names and A, M, D, T or R", OPT_OR }

/** And how it is compared, and shown. */
#define SHOW_DIFF_HOW \
	{ OPT_NUMBER, 'U', "unified", &show_diff_opts.context, "<n>", \
	  "lines of context in a patch, instead of 3" }, \
	{ OPT_FLAG, 'w', "ignore-all-space", &show_diff_opts.all_space, NULL, \
	  "ignore white space in lines" }, \
	{ OPT_FLAG, 'b', "ignore-space-change", &show_diff_opts.space_change, NULL, \
	  "ignore changes in the amount of white space" }, \
	{ OPT_FLAG, 0, "ignore-space-at-eol", &show_diff_opts.space_at_eol, NULL, \
	  "ignore white space at the end of lines" }, \
	{ OPT_FLAG, 0, "ignore-blank-lines", &show_diff_opts.blank_lines, NULL, \
	  "ignore blank lines that come or go" }, \
	{ OPT_OPTIONAL, 'M', "find-renames", &show_diff_opts.renames, "<n>", \
	  "show renames; of files that are at least <n>% alike, or 50%" }, \
	{ OPT_FLAG, 0, "no-renames", &show_diff_opts.no_renames, NULL, \
	  "show no renames (default)", OPT_OR }
/* clang-format on */

/**
 * CKPT_EUSAGE if the options do not fit together. -z also goes with `other` ("'--x', ", or NULL),
 * which was `given` or not.
 */
int show_diff_check(const char *other, bool given);

/** True if a form was chosen, or an option that means one. */
bool show_diff_wanted(void);

/** Apply -M; call it before all others. */
int show_diff_prepare(struct diff *diff);

/** In the form that was chosen, or as a patch. */
int show_diff_print(struct diff *diff);

/** How much differs, as the last line of --stat says it. */
struct show_diff_sum {
	size_t files, added, deleted;
};

int show_diff_sum(struct show_diff_sum *out, struct diff *diff);

/** How much one of its changes is; `path` and `from` in `out` belong to the change. */
int show_diff_count(struct diffstat_file *out, struct diff *diff, const struct change *change);

/** Whether something differs that the options do not ignore. */
int show_diff_differ(bool *out, struct diff *diff);

/** [{"file","status"}], of a rename also "from" and "similarity" */
json_t *show_diff_json(const struct diff *diff);

/**
 * What changed in a checkpoint since the previous one of its scope, the same two ways: in `json`
 * or, if that is NULL, printed. `only` (NULL: all) limits it. If the previous one is gone, this is
 * what is said, null in JSON.
 */
int show_diff_of(json_t **json, struct session *session, const struct ckpt_record *record,
		 const struct pathspec *only);

#endif
