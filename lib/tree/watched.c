/* SPDX-License-Identifier: MIT */
#include "tree/watched.h"

#include "base/base.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

/* --- how a process sees the file system --- */

void watched_view_now(struct watched_view *out)
{
	struct stat st;

	memset(out, 0, sizeof(*out));
	if (!stat("/", &st)) {
		out->root_dev = st.st_dev;
		out->root_ino = st.st_ino;
	}
	if (!stat("/proc/self/ns/mnt", &st))
		out->mounts = st.st_ino;
}

bool watched_view_equal(const struct watched_view *a, const struct watched_view *b)
{
	return a->mounts && a->mounts == b->mounts && a->root_dev == b->root_dev &&
	       a->root_ino == b->root_ino;
}

/* --- the connection --- */

/* Through /proc, because the name of a socket must be short. */
static bool make_address(struct sockaddr_un *out, int dirfd, const char *path)
{
	*out = (struct sockaddr_un){ .sun_family = AF_UNIX };
	return snprintf(out->sun_path, sizeof(out->sun_path), "/proc/self/fd/%d/%s", dirfd, path) <
	       (int)sizeof(out->sun_path);
}

bool watched_peer_is_us(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) && len == sizeof(peer) &&
	       peer.uid == geteuid();
}

int watched_listen(int dirfd, const char *path)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), saved;
	struct sockaddr_un address;
	mode_t before;
	bool bound;

	if (fd < 0 || !make_address(&address, dirfd, path)) {
		fs_close(fd);
		return -1;
	}
	(void)unlinkat(dirfd, path, 0);
	before = umask(0177);
	bound = !bind(fd, (struct sockaddr *)&address, sizeof(address)) && !listen(fd, 64);
	saved = errno;
	umask(before);
	if (bound)
		return fd;
	close(fd);
	errno = saved;
	return -1;
}

static int connect_to(int dirfd, const char *path)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address;

	/* If it does not accept, its queue is full at some time: then this fails, and nobody waits. */
	if (fd >= 0 && make_address(&address, dirfd, path) &&
	    !connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		if (watched_peer_is_us(fd))
			return fd;
		errno = EPERM;
	}
	fs_close(fd);
	return -1;
}

/* Wait until something can be read or written; false when the time is over. */
static bool wait_for(int fd, short events, double deadline)
{
	for (;;) {
		struct pollfd pollfd = { .fd = fd, .events = events };
		double left = deadline - clock_monotonic();
		int rc = left > 0 ? poll(&pollfd, 1, (int)(left * 1000) + 1) : 0;

		if (rc > 0)
			return true;
		if (rc < 0 && errno == EINTR && !cancel_signal())
			continue;
		if (!rc)
			errno = ETIMEDOUT;
		return false;
	}
}

static bool send_all(int fd, const struct strbuf *text, double deadline)
{
	size_t sent = 0;

	while (sent < text->len) {
		ssize_t n = send(fd, text->buf + sent, text->len - sent, MSG_NOSIGNAL);

		if (n > 0)
			sent += (size_t)n;
		else if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		else if (!wait_for(fd, POLLOUT, deadline))
			return false;
	}
	return true;
}

static bool receive_all(struct strbuf *out, int fd, double deadline, size_t max)
{
	size_t start = out->len;

	for (;;) {
		ssize_t n;

		strbuf_grow(out, 4096);
		n = recv(fd, out->buf + out->len, out->alloc - out->len - 1, 0);
		if (!n)
			return true;
		if (n > 0) {
			strbuf_setlen(out, out->len + (size_t)n);
			if (out->len - start <= max)
				continue;
			errno = EMSGSIZE;
			return false;
		}
		if ((errno != EAGAIN && errno != EINTR) || !wait_for(fd, POLLIN, deadline))
			return false;
	}
}

bool watched_talk(struct strbuf *out, int dirfd, const char *path, const struct strbuf *question,
		  int patience, size_t max)
{
	double deadline = clock_monotonic() + patience / 1000.0;
	int fd = connect_to(dirfd, path);
	bool done;

	if (fd < 0)
		return false;
	done = send_all(fd, question, deadline) && receive_all(out, fd, deadline, max);
	fs_close(fd);
	return done;
}

/* --- the question --- */

void watched_ask(struct watched *out, int storefd, const struct statcache *cache)
{
	struct strbuf text = STRBUF_INIT, answer = STRBUF_INIT;
	struct watched_question question = { .since = { 0, 0 } };

	memset(out, 0, sizeof(*out));
	if (cache) {
		question.since = statcache_head(cache)->mark;
		question.cache = statcache_id(cache);
	}
	watched_view_now(&question.view);
	watched_question_format(&text, &question);
	if (!watched_talk(&answer, storefd, WATCHED_SOCKET, &text, WATCHED_PATIENCE,
			  WATCHED_ANSWER_MAX) ||
	    !watched_answer_parse(out, answer.buf, answer.len))
		out->all = true;
	/* It knows nothing of what we ask about, whatever it says. */
	if (!question.since.instance || question.since.instance != out->now.instance) {
		strlist_release(&out->dirs);
		strlist_release(&out->trees);
		out->all = true;
	}
	strbuf_release(&text);
	strbuf_release(&answer);
}
