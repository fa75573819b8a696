/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "repair/repair.h"

static bool force;

static const struct opt options[] = {
	{ OPT_FLAG, 0, "force", &force, NULL,
	  "merge with this folder's checkpoints; take those of an existing folder" },
	{ OPT_END },
};

/*
 * The old paths of folders that no longer exist; the key if the path is unknown
 * or cannot be typed. Keys are also offered once one was started.
 */
static void offer_store(struct complete *complete, const struct inventory_item *item)
{
	const char *state = inventory_state_name(item->state);
	const char *shown = item->path ? report_path(item->path) : "?";
	char *text;

	if (item->path && !strcmp(shown, item->path) &&
	    !isxdigit((unsigned char)*complete->typed)) {
		text = xstrfmt("%s, %s", state, item->key);
		complete_add(complete, item->path, text);
	} else {
		text = xstrfmt("%s, %s", state, shown);
		complete_add(complete, item->key, text);
	}
	free(text);
}

static bool offer(struct complete *complete, const char *what)
{
	const struct session *session;
	struct inventory_list list;

	/* Both ways to name one are offered as the first. */
	if (!strcmp(what, "<key>"))
		return true;
	if (strcmp(what, "<old path>") != 0)
		return false;
	session = complete_session(complete);
	if (!session || inventory_read(&list, session->home, session->cwd, session->repo))
		return true;
	for (size_t i = 0; i < list.nr; i++)
		if (list.items[i].state != INVENTORY_PRESENT &&
		    list.items[i].state != INVENTORY_SET_ASIDE)
			offer_store(complete, &list.items[i]);
	inventory_release(&list);
	return true;
}

static int print_json(const struct relink_result *result)
{
	struct row answer = ROW_INIT;

	row_bool(&answer, "relinked", true);
	row_path(&answer, "from", result->from);
	row_path(&answer, "to", result->to);
	row_text(&answer, "key", result->key);
	row_number(&answer, "checkpoints", result->checkpoints);
	row_number(&answer, "merged", result->merged);
	row_texts(&answer, "warnings", &result->warnings);
	return report_json(row_object(&answer), result->incomplete ? EXIT_INCOMPLETE : EXIT_DONE);
}

static int print_text(const struct relink_result *result)
{
	report_warnings(&result->warnings);
	report_text("Adopted %zu %s of '%s'; they now belong to '%s'\n", result->checkpoints,
		    result->checkpoints == 1 ? "checkpoint" : "checkpoints",
		    report_path(result->from), report_path(result->to));
	if (result->merged)
		report_text("Merged %zu %s that this folder already had\n", result->merged,
			    result->merged == 1 ? "checkpoint" : "checkpoints");
	return result->incomplete ? EXIT_INCOMPLETE : EXIT_DONE;
}

static int check(const struct strlist *args)
{
	return *args->items[0] ? 0 : ckpt_error_set(CKPT_EUSAGE, "an empty path is not a folder");
}

static int relink(struct session *session, const struct strlist *args)
{
	struct relink_result result;
	int err = relink_store(&result, session, args->items[0], force), status;

	if (err)
		return err;
	status = opt_common.json ? print_json(&result) : print_text(&result);
	relink_result_release(&result);
	return status;
}

const struct opt_spec cmd_relink_spec = {
	.command = "relink",
	.summary = "adopt the checkpoints of a folder that was moved",
	.args = OPT_ARGS({ { "<old path>", "<key>" }, 1, 1 }),
	.options = options,
	.offer = offer,
	.check = check,
	.session = SESSION_NO_STORE,
	.run = relink,
};
