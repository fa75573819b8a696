/* SPDX-License-Identifier: MIT */
#include "cmd/hooks_offer_internal.h"

#include "base/base.h"
#include "cmd/config_internal.h"
#include "cmd/hint_internal.h"
#include "cmd/report.h"
#include "session/session.h"
#include "ui/ui.h"

#define KEY "hookSensitive"

static bool is_undecided(const struct session *session)
{
	return !strcmp(settings_origin(&session->settings, (unsigned)setting_find(KEY)), "default");
}

/* An answer that cannot be stored is worth a warning; the guard is in place all the same. */
static bool store_answer(bool yes, bool global)
{
	const struct settings_change change = { .value = yes ? "true" : "false" };
	struct strlist problems = STRLIST_INIT;
	struct strbuf file = STRBUF_INIT;
	int err = config_file(&file, global);

	if (!err)
		err = settings_change(file.buf, (unsigned)setting_find(KEY), &change);
	if (err)
		strlist_addf(&problems, "the answer cannot be stored: %s", ckpt_error_last());
	report_warnings(&problems);
	strlist_release(&problems);
	strbuf_release(&file);
	return !err;
}

static void ask(bool global)
{
	bool yes;

	fputs("Files that look like secrets, such as an untracked .env, are not in the\n"
	      "checkpoints of the guard: what 'git clean' removes of them is lost. With\n"
	      "'" KEY "' they are saved, too. They stay on this disk, in the private store.\n",
	      stderr);
	yes = prompt_yes("Save these, too?");
	if (cancel_signal())
		return; /* not an answer */
	if (store_answer(yes, global))
		report_text(KEY " is now %s; 'git checkpoint config %s" KEY " %s' changes that\n",
			    yes ? "true" : "false", global ? "--global " : "",
			    yes ? "false" : "true");
}

void hooks_offer_sensitive(struct session *session, bool global)
{
	if (opt_common.quiet || opt_common.json || !is_undecided(session))
		return;
	if (prompt_possible())
		ask(global);
	/* What remembers it is there, which may not exist yet. */
	else if (!fs_mkdir_p(session->home, 0700) && hint_first(session, KEY))
		report_text("note: files that look like secrets, such as .env, are not saved; 'git "
			    "checkpoint\n"
			    "      config %s" KEY " true' has them saved, too, on this disk only\n",
			    global ? "--global " : "");
}
