/* SPDX-License-Identifier: MIT */
#include "cmd/report.h"

#include "base/base.h"
#include "record/record.h"
#include "retention/retention.h"
#include "ui/ui.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int status_of(int err)
{
	switch (err) {
	case CKPT_EUSAGE:
		return EXIT_USAGE;
	case CKPT_EREFUSED:
	case CKPT_EDECLINED:
		return EXIT_REFUSED;
	case CKPT_ELOCKED:
		return EXIT_LOCKED;
	case CKPT_ECANCELLED:
		return 128 + cancel_signal();
	default:
		return EXIT_FATAL;
	}
}

void report_clean(struct strbuf *out, const char *text)
{
	utf8_printable(out, text, strlen(text), "\n\t", '?');
}

void report_plain(FILE *to, const char *fmt, ...)
{
	struct strbuf text = STRBUF_INIT, clean = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	report_clean(&clean, text.buf);
	fputs(clean.buf, to);
	strbuf_release(&text);
	strbuf_release(&clean);
}

void report_message(const char *kind, const char *text)
{
	struct strbuf clean = STRBUF_INIT;

	report_clean(&clean, text);
	fprintf(stderr, "%s: %s\n", kind, clean.buf);
	strbuf_release(&clean);
}

static int report_error(int status, const char *why)
{
	char *message = xstrdup(why);

	progress_clear();
	report_message(status == EXIT_FATAL ? "fatal" : "error", message);
	if (opt_common.json) {
		json_t *error = json_object(), *answer = json_object();

		json_object_set_new(error, "code", json_integer(status));
		json_object_set_new(error, "message", json_text(message));
		json_object_set_new(answer, "error", error);
		report_json(answer, status);
	}
	free(message);
	return status;
}

int report_failure(int err)
{
	/* A no is an answer, not a failure. */
	if (err == CKPT_EDECLINED)
		return status_of(err);
	return report_error(status_of(err), ckpt_error_last());
}

int report_no(const char *why)
{
	return report_error(EXIT_NO, why);
}

void report_warnings(const struct strlist *warnings)
{
	if (opt_common.quiet || opt_common.json)
		return;
	for (size_t i = 0; i < warnings->nr; i++)
		report_message("warning", warnings->items[i]);
}

int report_done(int status)
{
	if (fflush(stdout) != 0 || ferror(stdout)) {
		/* A reader that has gone away is not our failure. */
		if (errno != EPIPE)
			fprintf(stderr, "fatal: unable to write the answer: %s\n", strerror(errno));
		return EXIT_FATAL;
	}
	return status;
}

static bool answered; /* in JSON */

void report_no_memory(void)
{
	static const char text[] = "{\"error\":{\"code\":128,\"message\":\"out of memory\"}}\n";

	if (opt_common.json && !answered && write(STDOUT_FILENO, text, strlen(text)) < 0)
		return; /* what could be said was printed on stderr */
}

int report_json(json_t *answer, int status)
{
	struct strbuf text = STRBUF_INIT;

	json_write(&text, answer);
	json_decref(answer);
	strbuf_addch(&text, '\n');
	answered = true;
	fwrite(text.buf, 1, text.len, stdout);
	strbuf_release(&text);
	return report_done(status);
}

void report_text(const char *fmt, ...)
{
	va_list ap;

	if (opt_common.quiet)
		return;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
}

json_t *report_checkpoint(const struct ckpt_record *record)
{
	json_t *object = json_object(), *scope = json_object();
	struct strbuf command = STRBUF_INIT;
	char commit[OID_HEX + 1];

	strbuf_addf(&command, "git checkpoint restore %s", record->id);
	json_object_set_new(object, "id", json_text(record->id));
	json_object_set_new(object, "commit", json_text(oid_hex(commit, &record->commit)));
	json_object_set_new(object, "type", json_text(record->type));
	json_object_set_new(object, "created_at", json_time(record->created_at));
	json_object_set_new(object, "reason", json_text(record->reason));
	json_object_set_new(object, "source", json_text(record->source));
	json_object_set_new(object, "step",
			    record->step >= 0 ? json_integer(record->step) : json_null());
	json_object_set_new(object, "pinned", json_boolean(record->pinned));
	if (record->state_only)
		json_object_set_new(scope, "files", json_array());
	else if (record->scope.nr)
		json_object_set_new(scope, "files", json_paths(&record->scope));
	else
		json_object_set_new(scope, "files", json_pack("[s]", "."));
	json_object_set_new(scope, "state_keys", json_texts(&record->state_keys));
	json_object_set_new(object, "scope", scope);
	json_object_set_new(object, "restore_command", json_text(command.buf));
	json_object_set_new(object, "expiry", json_time(record->expiry));
	strbuf_release(&command);
	return object;
}

json_t *report_listed(const struct ckpt_record *record)
{
	json_t *object = report_checkpoint(record);

	json_object_set_new(object, "hash", json_text(record->state_hash));
	json_object_set_new(object, "files_changed", json_integer((json_int_t)record->changed));
	return object;
}

json_t *report_removed(const struct retain_result *result)
{
	json_t *array = json_array(), *answer = json_object();

	for (size_t i = 0; i < result->nr; i++) {
		const struct retain_victim *victim = &result->items[i];
		char commit[OID_HEX + 1];
		json_t *removed;

		if (victim->record.reason) {
			removed = report_listed(&victim->record);
		} else {
			removed = json_object();
			json_object_set_new(removed, "id", json_text(victim->record.id));
			json_object_set_new(removed, "commit",
					    json_text(oid_hex(commit, &victim->record.commit)));
		}
		json_object_set_new(removed, "why", json_text(victim->why));
		json_array_append_new(array, removed);
	}
	json_object_set_new(answer, "removed", array);
	json_object_set_new(answer, "freed", json_integer((json_int_t)result->freed));
	return answer;
}

json_t *report_captures(const struct ckpt_captures *captures)
{
	json_t *array = json_array();

	for (size_t i = 0; i < captures->nr; i++) {
		const struct ckpt_capture *capture = &captures->items[i];

		json_array_append_new(array, json_pack("{s:o,s:o,s:I}", "name",
						       json_text(capture->name), "type",
						       json_text(capture->type), "bytes",
						       (json_int_t)capture->size));
	}
	return array;
}

json_t *report_state(const struct ckpt_state *state)
{
	struct strbuf quoted = STRBUF_INIT;
	json_t *value;

	if (!state->value)
		return json_null();
	if (*state->value != '"' && !memchr(state->value, '\0', state->len) &&
	    utf8_valid(state->value, state->len))
		return json_stringn(state->value, state->len);
	quote_c(&quoted, state->value, state->len);
	value = json_string(quoted.buf);
	strbuf_release(&quoted);
	return value;
}

json_t *report_skips(const struct skip_list *skips)
{
	json_t *array = json_array();

	for (size_t i = 0; i < skips->nr; i++) {
		json_t *skip = json_object();

		json_object_set_new(skip, "file", json_path(skips->items[i].path));
		json_object_set_new(skip, "why", json_text(skip_why_name(skips->items[i].why)));
		json_array_append_new(array, skip);
	}
	return array;
}

char *report_reason_line(const struct ckpt_record *record)
{
	struct strbuf line = STRBUF_INIT;

	utf8_printable(&line, record->reason, strcspn(record->reason, "\n"), "", ' ');
	return strbuf_detach(&line, NULL);
}

char *report_marked_reason(const struct ckpt_record *record, int64_t now)
{
	struct strbuf text = STRBUF_INIT;
	char *line = report_reason_line(record);

	if (record->pinned)
		strbuf_addstr(&text, "[pinned] ");
	if (record_expired(record, now))
		strbuf_addstr(&text, "[expired] ");
	if (record->missing)
		strbuf_addstr(&text, "[incomplete] ");
	if (record->step >= 0)
		strbuf_addf(&text, "[step %lld] ", (long long)record->step);
	if (record->scope.nr)
		strbuf_addf(&text, "[%s%s] ", record->scope.items[0],
			    record->scope.nr > 1 ? ", ..." : "");
	strbuf_addstr(&text, line);
	free(line);
	return strbuf_detach(&text, NULL);
}
