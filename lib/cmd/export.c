/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "remote/remote.h"

static bool patch, tar, bundle;
static const char *file;

static const struct opt options[] = {
	{ OPT_FLAG, 0, "patch", &patch, NULL, "as a patch for 'git apply', against the recorded HEAD" },
	{ OPT_FLAG, 0, "tar", &tar, NULL, "as a tar archive of its files", OPT_OR },
	{ OPT_FLAG, 0, "bundle", &bundle, NULL, "as a git bundle with everything, for 'import'",
	  OPT_OR },
	{ OPT_STRING, 'o', "output", &file, "<file>", "write to this file, not to stdout" },
	{ OPT_END },
};

static const struct opt_instead instead[] = {
	{ "--zip", "use '--tar'" },
	{ "-p", "use '--patch'" },
	{ NULL },
};

static bool to_stdout(void)
{
	return !file || !strcmp(file, "-");
}

static int check(const struct strlist *args UNUSED)
{
	if (patch + tar + bundle != 1)
		return ckpt_error_set(CKPT_EUSAGE,
				      "say what to export it as: '--patch', '--tar' or '--bundle'");
	if (file && !*file)
		return ckpt_error_set(CKPT_EUSAGE, "option '--output' needs the name of a file");
	if (to_stdout() && opt_common.json)
		return ckpt_error_set(CKPT_EUSAGE,
				      "option '--json' needs '--output': both answers cannot go to stdout");
	if (!file && isatty(STDOUT_FILENO))
		return ckpt_error_set(CKPT_EUSAGE,
				      "not writing a file to the terminal; use '--output <file>', or "
				      "redirect stdout");
	return 0;
}

static int print(const struct ckpt_record *record, const struct export_result *result)
{
	struct row answer = ROW_INIT;

	row_text(&answer, "exported", record->id);
	row_text(&answer, "format", patch ? "patch" : tar ? "tar" : "bundle");
	row_path(&answer, "file", file);
	row_number(&answer, "bytes", result->bytes);
	row_text(&answer, "against", result->against);
	row_texts(&answer, "warnings", &result->warnings);
	return report_json(row_object(&answer), EXIT_DONE);
}

static void tell(const struct ckpt_record *record, const struct export_result *result)
{
	char size[UNITS_SIZE];

	report_warnings(&result->warnings);
	if (to_stdout() || opt_common.quiet)
		return;
	term_say(stdout, "Exported %s to '%s' (%s%s%.12s)\n", record->id, file,
		 units_format_size(size, result->bytes), result->against ? ", against " : "",
		 result->against ? result->against : "");
}

static int export(struct session *session, const struct strlist *args)
{
	enum export_format format = patch ? EXPORT_PATCH : tar ? EXPORT_TAR : EXPORT_BUNDLE;
	struct export_result result = { 0 };
	struct ckpt_record record;
	int status = EXIT_DONE;
	int err = session_lookup(&record, session->store, args->items[0]);

	if (err)
		return err;
	err = export_checkpoint(&result, session, &record, format, to_stdout() ? NULL : file);
	if (!err && opt_common.json)
		status = print(&record, &result);
	else if (!err)
		tell(&record, &result);
	export_result_release(&result);
	record_release(&record);
	return err ? err : status;
}

const struct opt_spec cmd_export_spec = {
	.command = "export",
	.summary = "write a checkpoint to a file: patch, tar, bundle",
	.args = OPT_ARGS(CMD_CHECKPOINTS(1, 1)),
	.options = options,
	.instead = instead,
	.check = check,
	.session = SESSION_STORE,
	.run = export,
};
