/* SPDX-License-Identifier: MIT */
#include "ops/cadence.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fsio.h"
#include "base/json.h"
#include "ops/save.h"
#include "record/record.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdlib.h>

#define FILE_NAME "checkpoint/every"

/*
 * The number of calls before this one since the last that was due; one more is
 * noted if so asked.
 */
static int count_call(uint64_t *out, struct store *store, const struct save_opts *opts, bool note)
{
	struct strbuf text = STRBUF_INIT, clean = STRBUF_INIT;
	char *key = xstrfmt("%" PRIu64 " %s", opts->every, opts->source);
	json_t *counts, *name = json_text(key);
	json_int_t calls;
	int err = fs_read_file(&text, store->dirfd, FILE_NAME);

	/* Not there or damaged: begin anew, which takes a checkpoint too many, never one too few. */
	counts = err ? NULL : json_loadb(text.buf, text.len, 0, NULL);
	if (!json_is_object(counts)) {
		json_decref(counts);
		counts = json_object();
	}
	calls = json_integer_value(json_object_get(counts, json_string_value(name)));
	if (calls < 0 || (uint64_t)calls >= opts->every)
		calls = 0;
	*out = (uint64_t)calls;
	json_object_set_new(counts, json_string_value(name),
			    json_integer((json_int_t)((uint64_t)(calls + 1) % opts->every)));
	json_write(&clean, counts);
	err = note ? fs_write_file(store->dirfd, FILE_NAME, clean.buf, clean.len, 0600, FS_FAST) : 0;
	json_decref(counts);
	json_decref(name);
	strbuf_release(&text);
	strbuf_release(&clean);
	free(key);
	return err;
}

int cadence_due(bool *due_out, struct store *store, const struct save_opts *opts,
		const struct ckpt_record *newest)
{
	uint64_t calls = 0;
	int err = opts->every ? count_call(&calls, store, opts, false) : 0;
	int64_t age = newest ? clock_now() - newest->created_at : 0;

	/* A clock that went backwards makes ages negative; then the save is due. */
	*due_out = !calls && !(opts->min_interval && newest && age >= 0 && age < opts->min_interval);
	return err;
}

int cadence_note(struct store *store, const struct save_opts *opts)
{
	uint64_t calls;

	return opts->every ? count_call(&calls, store, opts, true) : 0;
}
