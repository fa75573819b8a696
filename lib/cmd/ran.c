/* SPDX-License-Identifier: MIT */
#include "cmd/ran_internal.h"

#include "base/base.h"
#include "cmd/report.h"
#include "cmd/restored_internal.h"
#include "ui/ui.h"

#include <signal.h>

void ran_say(const char *fmt, ...)
{
	va_list ap;

	if (opt_common.quiet || !report_speaks())
		return;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
}

char *ran_signal_name(int sig)
{
	const char *name = sigabbrev_np(sig);

	return name ? xstrfmt("SIG%s", name) : xstrfmt("signal %d", sig);
}

void ran_say_failed(const char *what, const char *name, const struct run_child *child)
{
	char *sig = child->signal ? ran_signal_name(child->signal) : NULL;

	if (!child->started)
		report_messagef("error", "unable to run '%s': %s", name, strerror(child->error));
	else if (sig)
		report_messagef("error", "%s'%s' was killed by %s", what, name, sig);
	else
		report_messagef("error", "%s'%s' failed with status %d", what, name,
				child->exit_status);
	free(sig);
}

bool ran_is_back(const struct ran *ran)
{
	return ran->result.match && !restore_captures_failed(&ran->result);
}

void ran_say_restored(const struct ran *ran)
{
	const struct restore_result *result = &ran->result;
	size_t counts[3];

	report_warnings(&result->warnings);
	restored_count(counts, &result->plan);
	ran_say("Rolled back to %s: %zu brought back, %zu changed, %zu removed%s\n",
		ran->saved.record.id, counts[EFFECT_BROUGHT_BACK], counts[EFFECT_CHANGED],
		counts[EFFECT_REMOVED], result->match ? ", verified" : "");
	if (!plan_is_empty(&result->plan))
		ran_say("The state after the command is %s; 'git checkpoint undo' goes back to it\n",
		    result->safety);
	for (size_t i = 0; i < result->captures_nr; i++)
		if (result->captures[i].status != RESTORE_CAPTURE_DONE)
			report_messagef("error", "capture '%s': %s", result->captures[i].name,
					restore_capture_status_name(result->captures[i].status));
	restored_say_mismatch(result, NULL);
	restored_say_head(result);
}

json_t *ran_json(const struct ran *ran)
{
	struct row object = ROW_INIT, check = ROW_INIT;
	char *sig = ran->child.signal ? ran_signal_name(ran->child.signal) : NULL;

	row_text(&check, "command", ran->verify);
	row_json(&check, "exit_status", json_integer(ran->check.exit_status));
	row_bool(&object, "ran", ran->child.started);
	row_texts(&object, "command", ran->command);
	row_json(&object, "exit_status", json_integer(ran->child.exit_status));
	row_text(&object, "signal", sig);
	row_json(&object, "checkpoint", report_checkpoint(&ran->saved.record));
	row_json(&object, "verify", ran->checked ? row_object(&check) : json_null());
	row_bool(&object, "rolled_back", ran->restored);
	row_json(&object, "restore",
		 ran->restored ? restored_json(&ran->result, &ran->saved.record,
					       restored_way_back(&ran->result))
			       : json_null());
	row_json(&object, "seconds",
		 json_real((double)(long long)(ran->child.seconds * 1e6) / 1e6));
	row_texts(&object, "warnings", &ran->warnings);
	if (ran->error)
		row_json(&object, "error", report_error_object(ran->error, ran->message));
	row_release(&check);
	free(sig);
	return row_object(&object);
}
