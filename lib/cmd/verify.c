/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

static bool all;

static const struct opt options[] = {
	{ OPT_FLAG, 0, "all", &all, NULL, "verify all checkpoints", OPT_FORM },
	{ OPT_END },
};

struct verifying {
	struct session *session;
	struct verify verify;
	json_t *answers;
	size_t damaged;
};

static int verify_one(struct verifying *verifying, const struct ref_item *ref)
{
	struct verify_result result;
	bool ok;
	int err = verify_checkpoint(&result, &verifying->verify, ref);

	progress_clear();
	if (err)
		return err;
	ok = !result.problems.nr;
	/* Readers take no lock: what another process dropped is not damaged. */
	if (!ok && !refs_exist(verifying->session->store, ref->id) &&
	    !fetched_exists(verifying->session->store, ref->id)) {
		strlist_release(&result.problems);
		return all ? 0 : ckpt_error_set(CKPT_ENOTFOUND,
						"checkpoint '%s' was just dropped", ref->id);
	}
	verifying->damaged += !ok;
	if (opt_common.json) {
		struct row answer = ROW_INIT;

		row_text(&answer, "id", result.id);
		row_bool(&answer, "ok", ok);
		row_texts(&answer, "problems", &result.problems);
		json_array_append_new(verifying->answers, row_object(&answer));
	} else {
		report_text("%s %s%s%s\n", result.id, term_color(ok ? TERM_GREEN : TERM_RED),
			    ok ? "sound" : "damaged", term_color(TERM_RESET));
		for (size_t i = 0; i < result.problems.nr; i++)
			report_text("  %s\n", result.problems.items[i]);
	}
	strlist_release(&result.problems);
	return 0;
}

/* By name: a checkpoint too damaged to be looked up is still found by its full id. */
static int verify_named(struct verifying *verifying, const char *name)
{
	struct ckpt_record record = CKPT_RECORD_INIT;
	const struct ref_item *found;
	struct ref_list refs;
	int err = refs_list(&refs, verifying->session->store);

	if (err)
		return err;
	found = refs_find(&refs, name);
	if (!found)
		err = session_lookup(&record, verifying->session->store, name);
	if (!found && !err)
		refs_add(&refs, record.id, &record.commit);
	record_release(&record);
	if (!err)
		err = verify_one(verifying, found ? found : &refs.items[refs.nr - 1]);
	refs_release(&refs);
	return err;
}

static int verify_all(struct verifying *verifying)
{
	struct ref_list refs;
	int err = refs_list(&refs, verifying->session->store);

	for (size_t i = 0; !err && i < refs.nr; i++)
		err = verify_one(verifying, &refs.items[i]);
	refs_release(&refs);
	return err;
}

static int verify(struct session *session, const struct strlist *args)
{
	struct verifying verifying = { .session = session, .answers = json_array() };
	int err = 0, status;

	verify_begin(&verifying.verify, session, progress_show);
	if (all)
		err = verify_all(&verifying);
	else if (!args->nr)
		err = verify_named(&verifying, "@");
	for (size_t i = 0; i < args->nr && !err; i++)
		err = verify_named(&verifying, args->items[i]);
	status = verifying.damaged ? EXIT_NO : EXIT_DONE;
	if (!err && opt_common.json)
		status = report_json(json_pack("{s:b,s:O}", "ok", !verifying.damaged, "checkpoints",
					       verifying.answers),
				     status);
	json_decref(verifying.answers);
	verify_end(&verifying.verify);
	return err ? err : status;
}

const struct opt_spec cmd_verify_spec = {
	.command = "verify",
	.summary = "check that checkpoints are sound",
	.args = OPT_ARGS(CMD_CHECKPOINTS(0, OPT_MANY)),
	.options = options,
	.session = SESSION_STORE,
	.run = verify,
};
