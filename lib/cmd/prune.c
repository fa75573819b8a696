/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

static bool dry_run, expired, yes;
static int64_t max_count = -1, max_automatic = -1, max_size = -1;

static const struct opt options[] = {
	{ OPT_FLAG, 'n', "dry-run", &dry_run, NULL, "only show what would be removed" },
	{ OPT_FLAG, 'y', "yes", &yes, NULL, "do not ask" },
	{ OPT_NUMBER, 0, "max-count", &max_count, "<n>",
	  "keep at most <n> of those that were asked for", OPT_POSITIVE },
	{ OPT_NUMBER, 0, "max-automatic", &max_automatic, "<n>", "keep at most <n> automatic ones",
	  OPT_POSITIVE },
	{ OPT_SIZE, 0, "max-size", &max_size, "<size>", "shrink the store to at most this size",
	  OPT_POSITIVE },
	{ OPT_FLAG, 0, "expired", &expired, NULL, "only remove expired checkpoints" },
	{ OPT_END },
};

/* The rest is pinned, or needed: then only the user can decide. */
static void warn_of_excess(const struct retain_result *result)
{
	char size[UNITS_SIZE];

	if (result->excess && (!opt_common.quiet || !report_speaks()))
		report_messagef("warning",
				"the store is still %s over the limit, and nothing more may be "
				"removed; raise maxSize, or unpin or drop checkpoints",
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

/* Ask until what was shown is what would go: saves may be taken while somebody thinks. */
static int confirm(struct session *session, const struct evict_rules *rules)
{
	struct retain_result shown = { 0 }, now = { 0 };
	int err = retain_prune(&shown, session, rules, true);

	while (!err) {
		err = show_drop_confirm(&shown);
		if (!err)
			err = retain_prune(&now, session, rules, true);
		if (err || show_drop_same(&shown, &now))
			break;
		retain_result_release(&shown);
		shown = now;
		now = (struct retain_result){ 0 };
	}
	retain_result_release(&shown);
	retain_result_release(&now);
	return err;
}

static int prune(struct session *session, const struct strlist *args UNUSED)
{
	struct retain_result result = { 0 };
	struct evict_rules rules;
	int err = 0;

	choose_rules(&rules, session);
	if (session->store && show_drop_asks(yes, dry_run))
		err = confirm(session, &rules);
	if (session->store && !err) {
		session->store->progress = progress_show;
		err = retain_prune(&result, session, &rules, dry_run);
		progress_clear();
	}
	if (!err) {
		warn_of_excess(&result);
		err = show_drop_report(&result, dry_run);
	}
	retain_result_release(&result);
	return err;
}

const struct opt_spec cmd_prune_spec = {
	.command = "prune",
	.summary = "delete checkpoints that the limits do not keep",
	.options = options,
	.run = prune,
};
