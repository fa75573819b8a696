/* SPDX-License-Identifier: MIT */
#include "tree/watched.h"

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

/* --- text --- */

/*
 * since 1 <instance> <tick> <base> <size> <mounts> <device> <inode>
 * changed 1 <all> <instance> <tick> <number of directories> <number of trees>, then the paths
 *
 * All numbers are hexadecimal. Both sides are of the same program, but perhaps of two versions.
 */
#define QUESTION "since 1"
#define ANSWER "changed 1"

void watched_question_format(struct strbuf *out, const struct watched_question *question)
{
	strbuf_addf(out,
		    QUESTION " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64
			     " %" PRIx64 " %" PRIx64 "\n",
		    question->since.instance, question->since.tick, question->cache.base,
		    question->cache.size, question->view.mounts, question->view.root_dev,
		    question->view.root_ino);
}

static const char digits[] = "0123456789abcdef";

/* " <number>" */
static bool take_number(uint64_t *out, const char **at, const char *end)
{
	const char *p = *at;
	int nr = 0;

	if (p == end || *p++ != ' ')
		return false;
	for (*out = 0; p < end && nr < 16; p++, nr++) {
		const char *digit = *p ? strchr(digits, *p) : NULL;

		if (!digit)
			break;
		*out = *out << 4 | (uint64_t)(digit - digits);
	}
	*at = p;
	return nr > 0;
}

/* The word, the numbers, a newline; then `at` is after it. */
static bool take_line(uint64_t *numbers, size_t nr, const char *word, const char **at,
		      const char *end)
{
	size_t len = strlen(word);

	if ((size_t)(end - *at) < len || memcmp(*at, word, len) != 0)
		return false;
	*at += len;
	for (size_t i = 0; i < nr; i++)
		if (!take_number(&numbers[i], at, end))
			return false;
	return *at < end && *(*at)++ == '\n';
}

bool watched_question_parse(struct watched_question *out, const char *text, size_t len)
{
	const char *at = text, *end = text + len;
	uint64_t n[7];

	if (!take_line(n, ARRAY_SIZE(n), QUESTION, &at, end) || at != end)
		return false;
	*out = (struct watched_question){ .since = { n[0], n[1] },
					  .cache = { n[2], n[3] },
					  .view = { n[4], n[5], n[6] } };
	return true;
}

static void add_paths(struct strbuf *out, const struct strlist *paths)
{
	for (size_t i = 0; i < paths->nr; i++)
		strbuf_add(out, paths->items[i], strlen(paths->items[i]) + 1);
}

void watched_answer_format(struct strbuf *out, const struct watched *answer)
{
	strbuf_addf(out, ANSWER " %x %" PRIx64 " %" PRIx64 " %zx %zx\n", answer->all ? 1 : 0,
		    answer->now.instance, answer->now.tick, answer->dirs.nr, answer->trees.nr);
	add_paths(out, &answer->dirs);
	add_paths(out, &answer->trees);
}

static bool take_paths(struct strlist *out, uint64_t nr, const char **at, const char *end)
{
	for (uint64_t i = 0; i < nr; i++) {
		size_t len = strnlen(*at, (size_t)(end - *at));

		if (len == (size_t)(end - *at) || !path_is_plain(*at) ||
		    (i && strcmp(out->items[i - 1], *at) >= 0))
			return false;
		strlist_add(out, *at);
		*at += len + 1;
	}
	return true;
}

bool watched_answer_parse(struct watched *out, const char *text, size_t len)
{
	const char *at = text, *end = text + len;
	uint64_t n[5];

	memset(out, 0, sizeof(*out));
	if (take_line(n, ARRAY_SIZE(n), ANSWER, &at, end) && n[0] <= 1 &&
	    take_paths(&out->dirs, n[3], &at, end) && take_paths(&out->trees, n[4], &at, end) &&
	    at == end && (!n[0] || !(n[3] | n[4])) && (n[0] || n[1])) {
		out->all = n[0];
		out->now = (struct watch_mark){ n[1], n[2] };
		return true;
	}
	watched_release(out);
	return false;
}

void watched_release(struct watched *watched)
{
	strlist_release(&watched->dirs);
	strlist_release(&watched->trees);
	memset(watched, 0, sizeof(*watched));
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
