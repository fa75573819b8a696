/* SPDX-License-Identifier: MIT */
#include "restore/revert.h"

#include "base/base.h"
#include "look/look.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"
#include "turns/turns.h"

static int check(const struct ckpt_record *from, const struct ckpt_record *to)
{
	const struct ckpt_record *both[] = { from, to };

	for (size_t i = 0; i < ARRAY_SIZE(both); i++)
		if (both[i]->state_only)
			return ckpt_error_set(CKPT_ERROR,
					      "checkpoint '%s' holds only state, no files",
					      both[i]->id);
	return 0;
}

static int find(struct ckpt_record *out, struct session *session, const char *name, size_t len)
{
	char *copy = xmemdupz(name, len);
	int err = session_lookup(out, session->store, copy);

	free(copy);
	return err;
}

static int find_newest(struct ckpt_record *out, struct session *session)
{
	struct ref_list refs;
	int err = refs_list(&refs, session->store);

	if (!err)
		err = lookup_latest(out, session->store, &refs);
	refs_release(&refs);
	return err;
}

/* What a coding agent did from one prompt to the next. */
static int find_turn(struct ckpt_record *from, struct ckpt_record *to, struct session *session,
		     const char *typed)
{
	struct turn_range range = TURN_RANGE_INIT;
	int err = turns_range(&range, session->store, typed);

	if (err) {
		turns_range_release(&range);
		return err;
	}
	/* They are the caller's now. */
	*from = range.begin;
	*to = range.end;
	return 0;
}

int revert_range(struct ckpt_record *from, struct ckpt_record *to, struct session *session,
		 const char *typed)
{
	const char *dots = strstr(typed, "..");
	int err;

	*from = *to = (struct ckpt_record)CKPT_RECORD_INIT;
	if (!dots && turns_is_turn(typed)) {
		err = find_turn(from, to, session, typed);
	} else if (!dots) {
		err = session_lookup(to, session->store, typed);
		if (!err)
			err = diff_base(from, session, to);
		if (err == CKPT_ENOTFOUND && *to->id) {
			char *text = diff_no_base(session, to, "revert");

			err = ckpt_error_set(err, "%s", text);
			free(text);
		}
	} else if (dots == typed) {
		err = ckpt_error_set(CKPT_EUSAGE,
				     "'%s' does not say where to begin; name a checkpoint before '..'",
				     typed);
	} else if (dots[2] == '.') {
		err = ckpt_error_set(CKPT_EUSAGE, "'%s' is not a range; write '<a>..<b>'", typed);
	} else {
		err = find(from, session, typed, (size_t)(dots - typed));
		if (!err)
			err = dots[2] ? session_lookup(to, session->store, dots + 2)
				      : find_newest(to, session);
	}
	return err ? err : check(from, to);
}
