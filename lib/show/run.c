/* SPDX-License-Identifier: MIT */
#include "show/run.h"

#include "base/base.h"
#include "show/report.h"
#include "show/restore.h"
#include "ui/ui.h"

#include <signal.h>

void show_run_say(const char *fmt, ...)
{
	va_list ap;

	if (opt_common.quiet || !report_speaks())
		return;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
}

char *show_run_signal_name(int sig)
{
	const char *name = sigabbrev_np(sig);

	return name ? xstrfmt("SIG%s", name) : xstrfmt("signal %d", sig);
}

void show_run_say_failed(const char *what, const char *name, const struct run_child *child)
{
	char *sig = child->signal ? show_run_signal_name(child->signal) : NULL;

	if (!child->started)
		report_messagef("error", "unable to run '%s': %s", name, strerror(child->error));
	else if (sig)
		report_messagef("error", "%s'%s' was killed by %s", what, name, sig);
	else
		report_messagef("error", "%s'%s' failed with status %d", what, name,
				child->exit_status);
	free(sig);
}

bool show_run_is_back(const struct show_run *ran)
{
	return ran->result.match && !restore_captures_failed(&ran->result);
}

void show_run_say_restored(const struct show_run *ran)
{
	const struct restore_result *result = &ran->result;
	size_t counts[3];

	report_warnings(&result->warnings);
	show_restore_count(counts, &result->plan);
	show_run_say("Rolled back to %s: %zu brought back, %zu changed, %zu removed%s\n",
		     ran->saved.record.id, counts[EFFECT_BROUGHT_BACK], counts[EFFECT_CHANGED],
		     counts[EFFECT_REMOVED], result->match ? ", verified" : "");
	if (!plan_is_empty(&result->plan))
		show_run_say("The state after the command is %s; 'git checkpoint undo' goes back "
			     "to it\n",
			     result->safety);
	for (size_t i = 0; i < result->captures.nr; i++)
		if (result->captures.items[i].status != CAPTURE_DONE)
			report_messagef("error", "capture '%s': %s", result->captures.items[i].name,
					capture_status_name(result->captures.items[i].status));
	show_restore_say_mismatch(result, NULL);
	show_restore_say_head(result);
}

json_t *show_run_json(const struct show_run *ran)
{
	struct row object = ROW_INIT, check = ROW_INIT;
	char *sig = ran->child.signal ? show_run_signal_name(ran->child.signal) : NULL;

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
		 ran->restored ? show_restore_json(&ran->result, &ran->saved.record,
						   show_restore_way_back(&ran->result))
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
