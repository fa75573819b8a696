/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "hooks/hooks.h"
#include "remote/remote.h"
#include "repair/repair.h"

static bool fix;

static const struct opt options[] = {
	{ OPT_FLAG, 0, "fix", &fix, NULL, "fix what can be fixed" },
	{ OPT_END },
};

/* Other worktrees that are gone, told with what is wrong here; `stores` has the rest. */
enum { GONE_MAX = 5 };

/* Not a problem of a store: it is what stores are for. */
static void print_gone(const struct inventory_list *stores)
{
	size_t gone = 0;

	for (size_t i = 0; i < stores->nr && gone < GONE_MAX; i++)
		gone += show_gone_print(&stores->items[i]);
	if (gone == GONE_MAX)
		report_text("'git checkpoint stores' lists all directories that are gone\n");
}

/* The first `in_store` problems are those that --fix knows. */
static int print(const struct problems *problems, size_t in_store, const struct session *session,
		 const struct inventory_list *stores)
{
	json_t *array = json_array();
	size_t open = 0;

	for (size_t i = 0; i < problems->nr; i++) {
		const struct problem *problem = &problems->items[i];

		open += !problem->fixed;
		json_array_append_new(array,
				      json_pack("{s:o,s:b}", "what", json_text(problem->what),
						"fixed", (int)problem->fixed));
		if (!opt_common.json)
			report_text("%s%s%s %s\n",
				    term_color(problem->fixed ? TERM_GREEN : TERM_RED),
				    problem->fixed ? "fixed:" : "problem:", term_color(TERM_RESET),
				    problem->what);
	}
	if (opt_common.json)
		return report_json(json_pack("{s:b,s:o,s:o}", "ok", !open, "problems", array,
					     "gone", show_gone_json(stores)),
				   open ? EXIT_NO : EXIT_DONE);
	json_decref(array);
	if (!problems->nr && session->store)
		report_text("sound\n");
	else if (!problems->nr)
		report_text("no checkpoints of '%s' yet\n", session->worktree);
	else if (in_store && open && !fix)
		report_text("'git checkpoint doctor --fix' fixes what can be fixed\n");
	print_gone(stores);
	return open ? EXIT_NO : EXIT_DONE;
}

/* Hooks that git would not run: there the user only seems to be protected. */
static void look_at_hooks(struct problems *problems, const struct session *session)
{
	struct strlist found = STRLIST_INIT;
	struct hooks_report hooks = { 0 };

	if (session->repo && !hooks_status(&hooks, session->repo))
		hooks_check(&found, &hooks);
	for (size_t i = 0; i < found.nr; i++)
		problems_addf(problems, false, "%s", found.items[i]);
	hooks_report_release(&hooks);
	strlist_release(&found);
}

/* Not cmd_session_open(): what that warns of is found here. */
static int doctor(struct session *session, const struct strlist *args UNUSED)
{
	struct problems problems = { 0 };
	struct inventory_list stores = { 0 };
	size_t in_store;
	int err = session_open(session, SESSION_ANY);

	if (err)
		return err;
	term_set_color(session->settings.color);
	progress_setup(session->settings.progress, opt_common.quiet || opt_common.json);
	report_warnings(&session->settings.warnings);
	err = doctor_run(&problems, session, fix, progress_show);
	if (!err)
		err = remote_check(&problems, session, fix, progress_show);
	progress_clear();
	in_store = problems.nr;
	if (!err)
		look_at_hooks(&problems, session);
	if (!err)
		err = inventory_read(&stores, session->home, session->cwd, session->repo);
	if (!err)
		err = print(&problems, in_store, session, &stores);
	inventory_release(&stores);
	problems_release(&problems);
	return err;
}

const struct opt_spec cmd_doctor_spec = {
	.command = "doctor",
	.summary = "find and fix what is wrong with the store",
	.options = options,
	.alone = true,
	.run = doctor,
};
