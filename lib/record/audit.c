/* SPDX-License-Identifier: MIT */
#include "record/audit.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fsio.h"
#include "store/store.h"

#include <string.h>

#define LOG "checkpoint/log"

int ckpt_audit_add(struct store *store, const char *action, const char *id,
		   const struct oid *commit, const char *reason, const char *hash)
{
	json_t *entry = json_object();
	struct strbuf line = STRBUF_INIT;
	char hex[OID_HEX + 1];
	int err;

	json_object_set_new(entry, "at", json_time(clock_now()));
	json_object_set_new(entry, "action", json_text(action));
	json_object_set_new(entry, "id", json_text(id));
	json_object_set_new(entry, "commit", json_text(commit ? oid_hex(hex, commit) : NULL));
	json_object_set_new(entry, "reason", json_text(reason));
	json_object_set_new(entry, "hash", json_text(hash));
	json_write(&line, entry);
	strbuf_addch(&line, '\n');
	err = fs_append_line(store->dirfd, LOG, line.buf, line.len, 0600);
	json_decref(entry);
	strbuf_release(&line);
	return err;
}

int ckpt_audit_read(json_t **out, struct store *store, size_t max)
{
	struct strbuf text = STRBUF_INIT;
	json_t *array = json_array();
	int err = fs_read_file(&text, store->dirfd, LOG);
	size_t end = text.len;

	if (err == CKPT_ENOTFOUND)
		err = 0;
	while (!err && end && (!max || json_array_size(array) < max)) {
		size_t start = end - 1;
		json_t *entry;

		while (start && text.buf[start - 1] != '\n')
			start--;
		entry = json_loadb(text.buf + start, end - start, 0, NULL);
		if (json_is_object(entry))
			json_array_append(array, entry);
		json_decref(entry);
		end = start;
	}
	strbuf_release(&text);
	if (err)
		json_decref(array);
	else
		*out = array;
	return err;
}
