/* SPDX-License-Identifier: MIT */
#include "watch/watch.h"

#include "store/store.h"
#include "tree/tree.h"

#include <sys/file.h>

/* --- which worktrees are registered --- */

/* "watched 1", then each path in C quotes, a line each, sorted. */
#define FIRST_LINE "watched 1\n"

static int set_damaged(const char *home)
{
	return ckpt_error_set(CKPT_ECORRUPT,
			      "'%s/" WATCH_REGISTRY "' is not a list of watched directories; remove it, "
			      "and add them again",
			      home);
}

static bool parse_list(struct strlist *out, const char *text)
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
			  !parse_list(out, text.buf + strlen(FIRST_LINE))))
		err = set_damaged(home);
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
	int err = store_make_home(home), lock = -1;

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

/* --- asking the process --- */

enum { ANSWER_MAX = 16 << 20, STEP_MS = 20 };

bool watch_is_running(pid_t *pid_out, const char *home)
{
	char *path = xstrfmt("%s/" WATCH_LOCK, home);
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct strbuf text = STRBUF_INIT;
	bool running = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0;

	if (pid_out)
		*pid_out = running && !fs_read_text(&text, AT_FDCWD, path) ?
				   (pid_t)strtol(text.buf, NULL, 10) : 0;
	strbuf_release(&text);
	fs_close(fd);
	free(path);
	return running;
}

static int set_not_running(void)
{
	return ckpt_error_set(CKPT_ENOTFOUND,
			      "nothing is being watched; 'git checkpoint watch start' starts it");
}

static int parse_answer(json_t **out, const struct strbuf *answer)
{
	*out = json_loadb(answer->buf, answer->len, 0, NULL);
	return *out ? 0 : ckpt_error_set(CKPT_ERROR, "the watching process gave an answer that makes no sense");
}

int watch_tell(json_t **out, const char *home, const char *word, int patience)
{
	int dirfd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	struct strbuf question = STRBUF_INIT, answer = STRBUF_INIT;

	*out = NULL;
	strbuf_addf(&question, "%s 1\n", word);
	if (dirfd < 0)
		err = set_not_running();
	else if (watched_talk(&answer, dirfd, WATCH_SOCKET, &question, patience, ANSWER_MAX))
		err = parse_answer(out, &answer);
	else if (errno == ENOENT || errno == ECONNREFUSED)
		err = set_not_running();
	else
		err = ckpt_error_set(CKPT_ELOCKED, "the watching process does not answer: %s",
				     strerror(errno));
	fs_close(dirfd);
	strbuf_release(&question);
	strbuf_release(&answer);
	return err;
}

static bool is_answering(const char *home)
{
	json_t *answer = NULL;
	int err = watch_tell(&answer, home, "status", 1000);

	json_decref(answer);
	return !err;
}

/* By looking again and again: it is not our child, so nothing tells when it starts or ends. */
bool watch_await(const char *home, bool running, int seconds)
{
	const struct timespec step = { 0, STEP_MS * 1000000L };
	double until = clock_monotonic() + seconds;

	while (running ? !is_answering(home) : watch_is_running(NULL, home)) {
		if (clock_monotonic() > until || cancel_signal())
			return false;
		(void)nanosleep(&step, NULL);
	}
	return true;
}
