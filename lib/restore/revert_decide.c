/* SPDX-License-Identifier: MIT */
#include "restore/revert_internal.h"

#include "base/base.h"
#include "tree/tree.h"

/* The same kind, contents and permission bits; or both NULL. */
static bool same(const struct wt_entry *a, const struct wt_entry *b)
{
	return !a || !b ? a == b
			: a->kind == b->kind && oid_equal(&a->oid, &b->oid) &&
				  (a->kind == WT_LINK || a->mode == b->mode);
}

bool revert_merge_mode(unsigned *out, unsigned base, unsigned now, unsigned then)
{
	*out = now == base ? then : now;
	return now == base || then == base || now == then;
}

static enum revert_do conflict(const char **why_out, const char *why)
{
	*why_out = why;
	return REVERT_CONFLICT;
}

enum revert_do revert_decide(const char **why_out, const struct revert_sides *sides)
{
	const struct wt_entry *base = sides->base, *now = sides->now, *then = sides->then;

	if (same(now, then))
		return REVERT_NOTHING;
	if (!now)
		return base ? conflict(why_out, "modify/delete: deleted since") : REVERT_TAKE;
	if (!base)
		return conflict(why_out, then ? "add/add: created again since, and not the same"
					      : "kind: something else since");
	if (!then)
		return same(now, base)
			       ? REVERT_REMOVE
			       : conflict(why_out, "modify/delete: created by it, changed since");
	if (same(now, base))
		return REVERT_TAKE;
	if (same(then, base))
		return REVERT_NOTHING;
	if (base->kind != now->kind || base->kind != then->kind)
		return conflict(why_out, "kind: a file, a link or a directory since");
	if (base->kind == WT_LINK)
		return conflict(why_out, "symlink: leads elsewhere since");
	return REVERT_MERGE;
}
