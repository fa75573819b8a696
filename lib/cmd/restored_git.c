/* SPDX-License-Identifier: MIT */
#include "cmd/restored_internal.h"

#include "base/base.h"
#include "cmd/report.h"
#include "restore/restore.h"
#include "ui/ui.h"

void restored_print_git(FILE *out, const struct restore_result *result)
{
	for (size_t i = 0; i < result->git.says.nr; i++)
		if (restore_line_is_new(result, result->git.says.items[i]))
			report_plain(out, "  %s\n", result->git.says.items[i]);
}

const char *restored_git_option(const struct restore_result *result)
{
	static const char *const options[] = {
		[JOURNAL_FILES] = "", [JOURNAL_INDEX] = "--index ", [JOURNAL_GIT] = "--git "
	};

	return options[result->git.what];
}

static json_t *text_pair(const char *from, const char *to)
{
	struct row pair = ROW_INIT;

	row_text(&pair, "from", from);
	row_text(&pair, "to", to);
	return row_object(&pair);
}

static json_t *counts(const struct gitstate_counts *index)
{
	return json_pack("{s:I,s:I,s:I}", "staged", (json_int_t)index->staged, "unmerged",
			 (json_int_t)index->unmerged, "intent_to_add",
			 (json_int_t)index->intent_to_add);
}

json_t *restored_git_json(const struct restore_result *result)
{
	const struct restore_git_side *from = &result->git.from, *to = &result->git.to;
	struct row git = ROW_INIT, index = ROW_INIT;

	row_json(&git, "head", text_pair(from->head, to->head));
	row_json(&git, "branch", text_pair(from->branch, to->branch));
	row_json(&index, "from", counts(&from->index));
	row_json(&index, "to", counts(&to->index));
	row_json(&git, "index", row_object(&index));
	row_json(&git, "operation", text_pair(from->operation, to->operation));
	row_json(&git, "changes", json_texts(&result->git.says));
	row_json(&git, "match",
		 result->git.checked ? json_boolean(result->git.match) : json_null());
	return row_object(&git);
}

void restored_say_git_mismatch(const struct restore_result *result)
{
	if (result->git.left)
		fputs("error: the repository was left as it is\n", stderr);
	else if (result->git.checked && !result->git.match)
		fputs("error: the repository is NOT as in the checkpoint: stop and look\n", stderr);
}
