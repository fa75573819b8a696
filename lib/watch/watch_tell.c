/* SPDX-License-Identifier: MIT */
#include "watch/watch.h"

#include "base/base.h"
#include "tree/tree.h"

#include <sys/file.h>

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

static int not_running(void)
{
	return ckpt_error_set(CKPT_ENOTFOUND,
			      "nothing is being watched; 'git checkpoint watch start' starts it");
}

static int make_sense(json_t **out, const struct strbuf *answer)
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
		err = not_running();
	else if (watched_talk(&answer, dirfd, WATCH_SOCKET, &question, patience, ANSWER_MAX))
		err = make_sense(out, &answer);
	else if (errno == ENOENT || errno == ECONNREFUSED)
		err = not_running();
	else
		err = ckpt_error_set(CKPT_ELOCKED, "the watching process does not answer: %s",
				     strerror(errno));
	fs_close(dirfd);
	strbuf_release(&question);
	strbuf_release(&answer);
	return err;
}

static bool answers(const char *home)
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

	while (running ? !answers(home) : watch_is_running(NULL, home)) {
		if (clock_monotonic() > until || cancel_signal())
			return false;
		(void)nanosleep(&step, NULL);
	}
	return true;
}
