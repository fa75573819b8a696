/* SPDX-License-Identifier: MIT */
#include "watch/watch.h"

#include "base/base.h"
#include "store/store.h"

#include <sys/file.h>

/* "watched 1", then each path in C quotes, a line each, sorted. */
#define FIRST_LINE "watched 1\n"

static int damaged(const char *home)
{
	return ckpt_error_set(CKPT_ECORRUPT,
			      "'%s/" WATCH_REGISTRY "' is not a list of watched directories; remove it, "
			      "and add them again",
			      home);
}

static bool parse(struct strlist *out, const char *text)
{
	while (*text) {
		struct strbuf path = STRBUF_INIT;
		const char *end = NULL;

		if (!quote_undo_c(&path, text, &end) || *end != '\n' || path.buf[0] != '/' ||
		    strlen(path.buf) != path.len) {
			strbuf_release(&path);
			return false;
		}
		strlist_take(out, strbuf_detach(&path, NULL));
		text = end + 1;
	}
	return true;
}

int watch_registry_read(struct strlist *out, const char *home)
{
	char *path = xstrfmt("%s/" WATCH_REGISTRY, home);
	struct strbuf text = STRBUF_INIT;
	int err = fs_read_text(&text, AT_FDCWD, path);

	if (err == CKPT_ENOTFOUND)
		err = 0;
	else if (!err && (strncmp(text.buf, FIRST_LINE, strlen(FIRST_LINE)) != 0 ||
			  strlen(text.buf) != text.len ||
			  !parse(out, text.buf + strlen(FIRST_LINE))))
		err = damaged(home);
	strlist_sort_unique(out);
	strbuf_release(&text);
	free(path);
	return err;
}

static int write_list(const struct strlist *list, const char *skip, const char *home)
{
	char *path = xstrfmt("%s/" WATCH_REGISTRY, home);
	struct strbuf text = STRBUF_INIT;
	int err;

	strbuf_addstr(&text, FIRST_LINE);
	for (size_t i = 0; i < list->nr; i++)
		if (!skip || strcmp(list->items[i], skip) != 0) {
			quote_c(&text, list->items[i], strlen(list->items[i]));
			strbuf_addch(&text, '\n');
		}
	err = fs_write_file(AT_FDCWD, path, text.buf, text.len, 0600, FS_DURABLE);
	strbuf_release(&text);
	free(path);
	return err;
}

int watch_registry_change(bool *changed, const char *home, const char *root, bool add)
{
	struct strlist list = STRLIST_INIT;
	int err = fs_mkdir_p(home, 0700), lock = -1;

	*changed = false;
	if (!err) {
		lock = layout_lock_home(home, true);
		err = lock < 0 ? ckpt_error_errno("unable to lock '%s'", home) : 0;
	}
	if (!err)
		err = watch_registry_read(&list, home);
	*changed = !err && strlist_has(&list, root) != add;
	if (*changed && add) {
		strlist_add(&list, root);
		strlist_sort_unique(&list);
	}
	if (*changed)
		err = write_list(&list, add ? NULL : root, home);
	fs_close(lock);
	strlist_release(&list);
	return err;
}
