/* SPDX-License-Identifier: MIT */
#include "cmd/hunking_internal.h"

#include "base/base.h"
#include "cmd/report.h"
#include "session/session.h"
#include "ui/ui.h"

void hunking_release(struct hunking *hunking)
{
	choose_list_release(&hunking->chosen);
	choose_release(&hunking->choices);
}

/* Both contents of each part of a choice, and the input for patch.h that points at them. */
struct loaded {
	struct patch_input *inputs;
	struct strbuf *contents; /* old and new in turn */
	size_t nr;
};

static void loaded_release(struct loaded *loaded)
{
	for (size_t i = 0; i < 2 * loaded->nr; i++)
		strbuf_release(&loaded->contents[i]);
	free(loaded->contents);
	free(loaded->inputs);
}

static int load_part(struct patch_input *out, struct strbuf *old, struct strbuf *new,
		     struct session *session, const struct choice_part *part)
{
	bool large;
	int err = choose_read(old, new, &large, session, part);

	*out = (struct patch_input){
		.old_path = part->old.mode ? part->path : NULL,
		.new_path = part->new.mode ? part->path : NULL,
		.old_mode = part->old.mode,
		.new_mode = part->new.mode,
		.old_oid = part->old.oid,
		.new_oid = part->new.oid,
		.old_data = large ? NULL : old->buf,
		.new_data = large ? NULL : new->buf,
		.old_len = large ? 1 : old->len,
		.new_len = large ? 1 : new->len,
	};
	return err;
}

static int load(struct loaded *out, struct session *session, const struct choice *choice)
{
	int err = 0;

	*out = (struct loaded){ xcalloc(choice->nr, sizeof(*out->inputs)),
				xcalloc(2 * choice->nr, sizeof(*out->contents)), choice->nr };
	for (size_t i = 0; i < 2 * out->nr; i++)
		strbuf_init(&out->contents[i]);
	for (size_t i = 0; i < out->nr && !err; i++)
		err = load_part(&out->inputs[i], &out->contents[2 * i], &out->contents[2 * i + 1],
				session, &choice->parts[i]);
	return err;
}

static void take(struct chosen_list *out, const struct choice *choice,
		 const struct hunking_file *file)
{
	struct chosen chosen = { .choice = choice };

	if (!hunking_take(&chosen, file)) {
		strbuf_release(&chosen.content);
		return;
	}
	ALLOC_GROW(out->items, out->nr + 1, out->alloc);
	out->items[out->nr++] = chosen;
}

static int ask_about(struct hunking *out, bool *quit_out, struct session *session,
		     const struct choice *choice)
{
	struct hunking_file file = { .old = STRBUF_INIT, .new = STRBUF_INIT, .header = STRBUF_INIT };
	struct loaded loaded;
	int err = load(&loaded, session, choice);

	if (err == CKPT_EREFUSED) {
		report_message("warning", ckpt_error_last());
		strlist_addf(&out->chosen.conflicts, "%s\n%s", CHOOSE_CHANGED,
			     choice->parts[0].path);
		loaded_release(&loaded);
		return 0;
	}
	if (!err)
		err = hunking_file_init(&file, loaded.inputs, loaded.nr);
	if (!err && file.hunks.nr)
		err = hunking_ask(&file, quit_out);
	if (!err)
		take(&out->chosen, choice, &file);
	hunking_file_release(&file);
	loaded_release(&loaded);
	return err;
}

/* Conflicts are of what would be done: choosing does not remove them. */
static int find_choices(struct hunking *out, struct session *session,
			const struct restore_opts *opts)
{
	struct restore_opts look = *opts;
	struct restore_result preview;
	int err;

	look.dry_run = true;
	look.confirm = NULL;
	look.patch = NULL;
	look.choices = &out->choices;
	err = restore_checkpoint(&preview, session, &look);
	progress_clear();
	if (err)
		return err;
	for (size_t i = 0; i < preview.conflicts_nr; i++)
		strlist_addf(&out->chosen.conflicts, "%s\n%s", preview.conflicts[i].why,
			     preview.conflicts[i].path);
	restore_result_release(&preview);
	return 0;
}

int hunking_choose(struct hunking *out, struct session *session, const struct restore_opts *opts,
		   bool yes)
{
	bool quit = false;
	int err;

	memset(out, 0, sizeof(*out));
	if (!yes && !opts->dry_run && !prompt_possible())
		return ckpt_error_set(CKPT_EREFUSED, "not a terminal; use --yes to confirm");
	if (!yes && !opts->dry_run && opt_common.json)
		return ckpt_error_set(CKPT_EREFUSED, "--json does not ask; use --yes to confirm");
	err = find_choices(out, session, opts);
	for (size_t i = 0; i < out->choices.nr && !err && !quit; i++)
		err = ask_about(out, &quit, session, &out->choices.items[i]);
	return err ? err : cancel_check();
}

bool hunking_says_nothing(const struct hunking *hunking)
{
	if (opt_common.json || !hunking->choices.nr || hunking->chosen.nr ||
	    hunking->chosen.conflicts.nr)
		return false;
	report_text("Nothing was chosen, nothing was changed\n");
	return true;
}
