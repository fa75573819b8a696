/* SPDX-License-Identifier: MIT */
#include "show/show.h"

enum { SHOWN = 20 };

bool show_drop_asks(bool yes, bool dry_run)
{
	return !yes && !dry_run && !opt_common.json && prompt_possible();
}

char *show_drop_name(const struct ckpt_record *record)
{
	return record->machine ? xstrfmt("%s/%s", record->machine, record->id)
			       : xstrdup(record->id);
}

static void show_victim(const struct retain_victim *victim)
{
	const struct ckpt_record *record = &victim->record;
	char *reason = record->reason ? title_of(record) : NULL, age[CLOCK_ISO_SIZE];
	char *name = show_drop_name(record);

	term_say(stderr, "  %s", report_id(name));
	free(name);
	if (reason)
		term_say(stderr, "  %s: %s", clock_format_age(age, record->created_at, clock_now()),
			 reason);
	term_say(stderr, "%s\n", reason ? "" : "  damaged");
	free(reason);
}

int show_drop_confirm(const struct retain_result *result)
{
	char *question;
	bool agreed;

	if (!result->nr)
		return 0; /* nothing to agree to */
	for (size_t i = 0; i < result->nr && i < SHOWN; i++)
		show_victim(&result->items[i]);
	if (result->nr > SHOWN)
		term_say(stderr, "  and %zu more; --dry-run shows all\n", result->nr - SHOWN);
	question = result->nr == 1 ? xstrdup("Delete this checkpoint for good?")
				   : xstrfmt("Delete these %zu checkpoints for good?", result->nr);
	agreed = prompt_yes(question);
	free(question);
	if (cancel_signal())
		return ckpt_error_set(CKPT_ECANCELLED, "interrupted, nothing was dropped");
	if (agreed)
		return 0;
	term_say(stderr, "Nothing was dropped.\n");
	return ckpt_error_set(CKPT_EDECLINED, "nothing was dropped");
}

/* Of one dropped by name it is the reason that it was saved for, which may be any text. */
static char *why_line(const struct retain_victim *victim)
{
	const char *reason = victim->record.reason;

	return reason && !strcmp(victim->why, reason) ? title_of(&victim->record)
						      : xstrdup(victim->why);
}

static void print(const struct retain_result *result, bool dry_run)
{
	char size[UNITS_SIZE];

	for (size_t i = 0; i < result->nr; i++) {
		char *why = why_line(&result->items[i]), *name = show_drop_name(&result->items[i].record);
		bool bare = *why != '('; /* unlike "(no message)" */

		report_text(bare ? "%s %s (%s)\n" : "%s %s %s\n", dry_run ? "Would drop" : "Dropped",
			    report_id(name), why);
		free(name);
		free(why);
	}
	if (!result->nr)
		report_text("Nothing to drop\n");
	if ((result->nr && !dry_run) || result->freed)
		report_text("%s %s\n", dry_run ? "Would free about" : "Freed",
			    units_format_size(size, result->freed));
}

/* As listed, each with "why". */
static json_t *to_json(const struct retain_result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->nr; i++) {
		const struct retain_victim *victim = &result->items[i];
		char commit[OID_HEX + 1];
		struct row row = ROW_INIT;

		if (victim->record.reason) {
			report_row(&row, &victim->record);
		} else {
			row_text(&row, "id", victim->record.id);
			row_text(&row, "commit", oid_hex(commit, &victim->record.commit));
		}
		row_text(&row, "why", victim->why);
		json_array_append_new(array, row_object(&row));
	}
	return json_pack("{s:o,s:I}", "removed", array, "freed", (json_int_t)result->freed);
}

int show_drop_report(const struct retain_result *result, bool dry_run)
{
	if (opt_common.json)
		return report_json(to_json(result), EXIT_DONE);
	print(result, dry_run);
	return EXIT_DONE;
}

bool show_drop_same(const struct retain_result *a, const struct retain_result *b)
{
	bool same = a->nr == b->nr;

	for (size_t i = 0; i < a->nr && same; i++)
		same = !strcmp(a->items[i].record.id, b->items[i].record.id);
	return same;
}
