/* SPDX-License-Identifier: MIT */
#include "record/audit.h"

#include "record/checkpoint.h"
#include "record/title.h"

static int add_entry(struct store *store, int64_t at, const char *action, const char *id,
	       const struct oid *commit, const char *reason, const char *source, const char *hash,
	       const char *git, const struct ckpt_record *titled)
{
	json_t *entry = json_object();
	struct strbuf line = STRBUF_INIT;
	char hex[OID_HEX + 1], *title = titled ? title_of(titled) : NULL;
	int err;

	json_object_set_new(entry, "at", json_time(at));
	json_object_set_new(entry, "action", json_text(action));
	json_object_set_new(entry, "id", json_text(id));
	json_object_set_new(entry, "commit", json_text(commit ? oid_hex(hex, commit) : NULL));
	json_object_set_new(entry, "reason", json_text(reason));
	if (title)
		json_object_set_new(entry, "title", json_text(title));
	free(title);
	if (source && strcmp(source, JOURNAL_SOURCE) != 0)
		json_object_set_new(entry, "source", json_text(source));
	json_object_set_new(entry, "hash", json_text(hash));
	if (git)
		json_object_set_new(entry, "git", json_text(git));
	json_write(&line, entry);
	strbuf_addch(&line, '\n');
	err = fs_append_line(store->dirfd, LAYOUT_LOG, line.buf, line.len, 0600);
	json_decref(entry);
	strbuf_release(&line);
	return err;
}

int audit_add(struct store *store, const char *action, const char *id, const struct oid *commit,
	      const char *reason, const char *hash)
{
	return add_entry(store, clock_now(), action, id, commit, reason, NULL, hash, NULL, NULL);
}

int audit_add_restore(struct store *store, const char *action, const struct ckpt_record *record,
		      const char *reason, const char *source, const char *hash,
		      enum journal_git git)
{
	return add_entry(store, clock_now(), action, record->id, &record->commit,
		   reason ? reason : record->reason, source, hash,
		   git == JOURNAL_FILES ? NULL : journal_git_name(git), reason ? NULL : record);
}

int audit_add_save(struct store *store, const struct ckpt_record *record)
{
	return add_entry(store, record->created_at, "save", record->id, &record->commit, record->reason,
		   NULL, record->state_hash, NULL, record);
}

/* Whether a line tells where an existing checkpoint came from. */
static bool is_origin(const char *line, size_t len, struct store *store)
{
	json_t *entry = json_loadb(line, len, 0, NULL);
	const char *id = json_string_value(json_object_get(entry, "id")),
		   *action = json_string_value(json_object_get(entry, "action"));
	bool origin = id && action && (!strcmp(action, "save") || !strcmp(action, "salvage")) &&
		      refs_valid_id(id) && refs_exist(store, id);

	json_decref(entry);
	return origin;
}

void audit_sync(struct store *store)
{
	int fd = fs_open_regular(NULL, store->dirfd, LAYOUT_LOG, O_NOFOLLOW);

	if (fd >= 0) {
		(void)fdatasync(fd);
		close(fd);
	}
}

/* Whether reading it is worth it. Nothing is known from a time when it was longer. */
static bool is_too_long(uint64_t size, uint64_t left, uint64_t max)
{
	return size > max && (left > size || size - left > left / 2);
}

int audit_trim(uint64_t *left, struct store *store, uint64_t max)
{
	struct strbuf text = STRBUF_INIT, out = STRBUF_INIT;
	struct stat st;
	size_t at = 0;
	int err;

	if (fstatat(store->dirfd, LAYOUT_LOG, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !is_too_long((uint64_t)st.st_size, *left, max))
		return 0;
	err = fs_read_file(&text, store->dirfd, LAYOUT_LOG);
	while (!err && at < text.len) {
		const char *line = text.buf + at, *end = memchr(line, '\n', text.len - at);
		size_t len = end ? (size_t)(end + 1 - line) : text.len - at;

		at += len;
		if (text.len - at <= max / 2 || is_origin(line, len, store))
			strbuf_add(&out, line, len);
	}
	if (!err && out.len < text.len)
		err = fs_write_file(store->dirfd, LAYOUT_LOG, out.buf, out.len, 0600, FS_DURABLE);
	if (!err)
		*left = out.len;
	strbuf_release(&text);
	strbuf_release(&out);
	return err;
}

int audit_read(json_t **out, struct store *store, size_t max)
{
	struct strbuf text = STRBUF_INIT;
	json_t *array = json_array();
	int err = fs_read_file(&text, store->dirfd, LAYOUT_LOG);
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

int audit_removed(struct strlist *out, struct store *store)
{
	static const char *const words[] = { "drop", "evict", "prune" };
	json_t *log = NULL, *known = json_object(), *entry;
	int err = audit_read(&log, store, 0);
	size_t i;

	/* The newest comes first. */
	json_array_foreach(log, i, entry)
	{
		const char *id = json_string_value(json_object_get(entry, "id"));
		const char *action = json_string_value(json_object_get(entry, "action"));

		if (!id || !action || json_object_get(known, id))
			continue;
		json_object_set_new(known, id, json_true());
		for (size_t j = 0; j < ARRAY_SIZE(words); j++)
			if (!strcmp(action, words[j]))
				strlist_add(out, id);
	}
	strlist_sort_unique(out);
	json_decref(known);
	json_decref(log);
	return err;
}
