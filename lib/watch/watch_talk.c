/* SPDX-License-Identifier: MIT */
#include "watch/watch_talk_internal.h"

#include "base/base.h"
#include "tree/tree.h"

#include <sys/socket.h>

/* A socket that nobody takes from stays readable, and would keep us busy. */
enum { DEAF_SECONDS = 1 };

void watch_talk_accept(struct watch_talks *talks, int listener, struct watch_tree *tree)
{
	int fd = talks->nr < WATCH_TALKS_MAX ?
			 accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;
	struct watch_talk *talk;

	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		talks->deaf = clock_monotonic() + DEAF_SECONDS;
	if (fd < 0)
		return;
	if (!watched_peer_is_us(fd)) {
		close(fd);
		return;
	}
	talk = &talks->items[talks->nr++];
	memset(talk, 0, sizeof(*talk));
	talk->fd = fd;
	talk->tree = tree;
	strbuf_init(&talk->in);
	strbuf_init(&talk->out);
	talk->until = clock_monotonic() + WATCH_TALK_SECONDS;
}

bool watch_talk_read(struct watch_talk *talk)
{
	char buf[WATCHED_QUESTION_MAX];
	ssize_t n = recv(talk->fd, buf, sizeof(buf), 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n > 0)
		strbuf_add(&talk->in, buf, (size_t)n);
	if (n > 0 && talk->in.buf[talk->in.len - 1] == '\n' &&
	    talk->in.len <= WATCHED_QUESTION_MAX)
		return true;
	/* It went away, or goes on and on. */
	if (n <= 0 || talk->in.len > WATCHED_QUESTION_MAX)
		talk->until = 0;
	return false;
}

bool watch_talk_write(struct watch_talk *talk)
{
	while (talk->sent < talk->out.len) {
		ssize_t n = send(talk->fd, talk->out.buf + talk->sent, talk->out.len - talk->sent,
				 MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			return true;
		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0)
			talk->sent += (size_t)n;
	}
	return false;
}

void watch_talk_close(struct watch_talks *talks, size_t at)
{
	struct watch_talk *talk = &talks->items[at];

	close(talk->fd);
	strbuf_release(&talk->in);
	strbuf_release(&talk->out);
	*talk = talks->items[--talks->nr];
}

void watch_talks_drop(struct watch_talks *talks, const struct watch_tree *tree)
{
	for (size_t i = talks->nr; i > 0; i--)
		if (talks->items[i - 1].tree == tree)
			watch_talk_close(talks, i - 1);
}
