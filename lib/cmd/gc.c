/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

static void print(const struct gc_result *result)
{
	char freed[UNITS_SIZE], left[UNITS_SIZE];

	units_format_size(left, result->after);
	if (result->after < result->before)
		report_text("Freed %s, %s left in %zu pack%s\n",
			    units_format_size(freed, result->before - result->after), left,
			    result->packs, result->packs == 1 ? "" : "s");
	else
		report_text("Nothing to free, %s in %zu pack%s\n", left, result->packs,
			    result->packs == 1 ? "" : "s");
}

static void note_problems(struct strlist *out, const struct gc_result *result)
{
	if (result->damaged)
		strlist_add(out, "something is damaged, so nothing was deleted; see 'git checkpoint "
				 "doctor'");
	if (*result->why)
		strlist_addf(out, "not everything was packed into one pack: %s", result->why);
}

static json_t *to_json(const struct gc_result *result, const struct strlist *warnings)
{
	uint64_t freed = result->before > result->after ? result->before - result->after : 0;

	return json_pack("{s:I,s:I,s:I,s:o}", "freed", (json_int_t)freed, "bytes",
			 (json_int_t)result->after, "packs", (json_int_t)result->packs, "warnings",
			 json_texts(warnings));
}

/* As for prune: where nothing is kept, there is nothing to do. */
static int gc(struct session *session, const struct strlist *args UNUSED)
{
	struct gc_result result = { 0 };
	struct strlist warnings = STRLIST_INIT;
	int err = 0;

	if (session->store) {
		session->store->progress = progress_show;
		err = gc_store(&result, session, progress_enabled());
		progress_clear();
	}
	if (err)
		return err;
	note_problems(&warnings, &result);
	report_warnings(&warnings);
	if (opt_common.json)
		err = report_json(to_json(&result, &warnings), EXIT_DONE);
	else if (session->store)
		print(&result);
	else if (!opt_common.quiet)
		term_say(stdout, "Nothing to free: no checkpoints of '%s' yet\n",
			 session->worktree);
	strlist_release(&warnings);
	return err;
}

const struct opt_spec cmd_gc_spec = {
	.command = "gc",
	.summary = "free unused space, pack the rest tightly",
	.run = gc,
};
