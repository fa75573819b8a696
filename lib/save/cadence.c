/* SPDX-License-Identifier: MIT */
#include "save/cadence_internal.h"

#include "base/base.h"
#include "record/record.h"
#include "save/save.h"
#include "store/store.h"

#define SECTION "every"

/*
 * The cache is written without waiting for the disk, and may be outdated after a power
 * cut: then too few checkpoints would be taken.
 */
static json_t *this_boot(void)
{
	struct strbuf id = STRBUF_INIT;
	json_t *text;

	if (fs_read_file(&id, AT_FDCWD, "/proc/sys/kernel/random/boot_id"))
		strbuf_reset(&id);
	strbuf_trim(&id);
	text = json_text(id.buf);
	strbuf_release(&id);
	return text;
}

/*
 * The counts, an object. Missing, damaged or from before a reboot: start over,
 * which may take an extra checkpoint, but misses none.
 */
static json_t *read_counts(struct store *store)
{
	struct cache_section section = cache_open(store, SECTION);
	json_t *counts = json_loadb(section.data ? section.data : "", section.len, 0, NULL),
	       *boot = this_boot();

	cache_close(&section);
	/* All other keys start with a digit. */
	if (!json_is_object(counts) || !json_equal(json_object_get(counts, "boot"), boot)) {
		json_decref(counts);
		counts = json_object();
		json_object_set(counts, "boot", boot);
	}
	json_decref(boot);
	return counts;
}

static json_t *key_of(const struct save_opts *opts)
{
	char *key = xstrfmt("%" PRIu64 " %s", opts->every, opts->source);
	json_t *text = json_text(key); /* any bytes, made UTF-8 */

	free(key);
	return text;
}

/* The number of calls before this one since the last that was due. */
static uint64_t calls_before(json_t *counts, json_t *key, const struct save_opts *opts)
{
	json_int_t calls = json_integer_value(json_object_get(counts, json_string_value(key)));

	return calls < 0 || (uint64_t)calls >= opts->every ? 0 : (uint64_t)calls;
}

int cadence_due(bool *due_out, struct store *store, const struct save_opts *opts,
		const struct ckpt_record *newest)
{
	int64_t age = newest ? clock_now() - newest->created_at : 0;
	uint64_t calls = 0;

	if (opts->every) {
		json_t *counts = read_counts(store), *key = key_of(opts);

		calls = calls_before(counts, key, opts);
		json_decref(counts);
		json_decref(key);
	}
	/* A clock that went backwards makes ages negative; then the save is due. */
	*due_out = !calls && !(opts->min_interval && newest && age >= 0 && age < opts->min_interval);
	return 0;
}

void cadence_note(struct store *store, const struct save_opts *opts, bool due)
{
	struct strbuf text = STRBUF_INIT;
	json_t *counts, *key;
	uint64_t calls;

	if (!opts->every)
		return;
	counts = read_counts(store);
	key = key_of(opts);
	calls = calls_before(counts, key, opts);
	if (calls || due) {
		json_object_set_new(counts, json_string_value(key),
				    json_integer((json_int_t)((calls + 1) % opts->every)));
		json_write(&text, counts);
		cache_set(store, SECTION, text.buf, text.len);
	}
	strbuf_release(&text);
	json_decref(counts);
	json_decref(key);
}
