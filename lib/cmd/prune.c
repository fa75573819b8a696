/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "base/base.h"
#include "cmd/report.h"
#include "retention/retention.h"
#include "session/session.h"
#include "ui/ui.h"

#include <stdio.h>

static bool dry_run, expired;
static int64_t max_count = -1, max_automatic = -1, max_size = -1;

static const struct opt options[] = {
	{ OPT_FLAG, 'n', "dry-run", &dry_run, NULL, "only show what would be removed" },
	{ OPT_NUMBER, 0, "max-count", &max_count, "<n>",
	  "keep at most <n> of those that were asked for", OPT_POSITIVE },
	{ OPT_NUMBER, 0, "max-automatic", &max_automatic, "<n>", "keep at most <n> automatic ones",
	  OPT_POSITIVE },
	{ OPT_SIZE, 0, "max-size", &max_size, "<size>", "shrink the store to at most this size",
	  OPT_POSITIVE },
	{ OPT_FLAG, 0, "expired", &expired, NULL, "only remove expired checkpoints" },
	{ OPT_END },
};

static int print(const struct retain_result *result)
{
	char size[UNITS_SIZE];

	for (size_t i = 0; i < result->nr; i++)
		report_text("%s %s%s%s (%s)\n", dry_run ? "Would drop" : "Dropped",
			    term_color(TERM_YELLOW), result->items[i].record.id,
			    term_color(TERM_RESET), result->items[i].why);
	if (!result->nr)
		report_text("Nothing to drop\n");
	if (result->nr || result->freed)
		report_text("%s %s\n", dry_run ? "Would free about" : "Freed",
			    units_format_size(size, result->freed));
	return report_done(EXIT_DONE);
}

/* The rest is pinned, or needed: then only the user can decide. */
static void warn_of_excess(const struct retain_result *result)
{
	char size[UNITS_SIZE];

	if (result->excess && !opt_common.quiet)
		fprintf(stderr,
			"warning: the store is still %s over the limit, and nothing more may be removed; "
			"raise maxSize, or unpin or drop checkpoints\n",
			units_format_size(size, result->excess));
}

/* A number on the command line replaces the setting; --expired alone replaces all settings. */
static void choose_rules(struct evict_rules *rules, const struct session *session)
{
	retain_rules(rules, &session->settings);
	if (expired)
		*rules = (struct evict_rules){ 0 };
	if (max_count >= 0)
		rules->max_count = (uint64_t)max_count;
	if (max_automatic >= 0)
		rules->max_automatic = (uint64_t)max_automatic;
	if (max_size >= 0)
		rules->max_size = (uint64_t)max_size;
	rules->expired = true;
}

static int prune(struct session *session, const struct strlist *args)
{
	struct retain_result result = { 0 };
	struct evict_rules rules;
	int err = 0, status;

	(void)args;
	choose_rules(&rules, session);
	if (session->store)
		err = retain_prune(&result, session, &rules, dry_run);
	if (err) {
		status = report_failure(err);
	} else {
		warn_of_excess(&result);
		status = opt_common.json ? report_json(report_removed(&result), EXIT_DONE) :
					   print(&result);
	}
	retain_result_release(&result);
	return status;
}

const struct opt_spec cmd_prune_spec = {
	.command = "prune",
	.summary = "delete checkpoints that the limits do not keep",
	.options = options,
	.run = prune,
};
