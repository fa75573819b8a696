/* SPDX-License-Identifier: MIT */
#include "cmd/tried_internal.h"

#include "base/base.h"
#include "cmd/copied_internal.h"
#include "cmd/ran_internal.h"
#include "cmd/report.h"
#include "record/record.h"
#include "ui/ui.h"

int tried_check_command(const struct opt_spec *spec, int checkpoints)
{
	if (opt_common.dashdash == checkpoints)
		return 0;
	return ckpt_error_set(CKPT_EUSAGE,
			      "'%s' needs '--' before the command; see 'git checkpoint %s -h'",
			      spec->command, spec->command);
}

int tried_run(struct try *out, struct session *session, const struct ckpt_record *target,
	      const struct strlist *command, unsigned flags)
{
	char **argv = xcalloc(command->nr + 1, sizeof(*argv));
	int err;

	memcpy(argv, command->items, command->nr * sizeof(*argv));
	fflush(stdout);
	err = try_run(out, session, target, argv, flags, progress_show);
	progress_clear();
	free(argv);
	if (!err)
		copied_say_mismatch(&out->copy);
	if (!err && out->copy.match && !out->child.started)
		ran_say_failed("", command->items[0], &out->child);
	if (out->left) {
		struct strbuf text = STRBUF_INIT;

		strbuf_addf(&text, "the copy '%s' could not be removed: %s", out->left, out->why);
		report_message("warning", text.buf);
		strbuf_release(&text);
	}
	return err;
}
