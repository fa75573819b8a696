/* SPDX-License-Identifier: MIT */
#include "watch/watch_cover_internal.h"

#include "base/base.h"

#include <sys/inotify.h>

enum {
	READ_SIZE = 65536,
	READS_MAX = 16, /* in a row, before others get their turn */
	NAME_EVENTS = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO,
	END_EVENTS = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED,
};

/* The directory itself went, or got another name. */
static void end_of(struct watch_cover *cover, struct watch_node *node)
{
	if (!node->parent) {
		cover->gone = true;
		watch_cover_lose(cover);
		return;
	}
	watch_nodes_touch(&cover->nodes, node->parent, cover->tick);
	watch_nodes_loosen(&cover->nodes, node);
}

/* Whatever happened to a name: if it is, or was, that of a directory, look again (4). */
static void name_changed(struct watch_cover *cover, struct watch_node *node, const char *name)
{
	struct watch_node *child = watch_nodes_child(&cover->nodes, node, name);

	if (child)
		watch_nodes_loosen(&cover->nodes, child);
}

static void apply(struct watch_cover *cover, const struct inotify_event *event)
{
	struct watch_node *node;

	if (event->mask & IN_Q_OVERFLOW) {
		cover->changes++;
		watch_cover_lose(cover);
		return;
	}
	node = watch_nodes_of(&cover->nodes, event->wd);
	if (!node)
		return;
	cover->changes++;
	if (event->mask & END_EVENTS) {
		end_of(cover, node);
		return;
	}
	watch_nodes_touch(&cover->nodes, node, cover->tick);
	if (event->mask & NAME_EVENTS && event->len)
		name_changed(cover, node, event->name);
}

/* One read; 1 if `cookie` was in it, 0 if not, -1 if there was nothing, or after a failure. */
static int read_some(struct watch_cover *cover, int cookie)
{
	_Alignas(struct inotify_event) char buf[READ_SIZE];
	ssize_t len = read(cover->inotify, buf, sizeof(buf));
	int seen = 0;

	if (len <= 0) {
		if (len < 0 && errno != EAGAIN && errno != EINTR)
			watch_cover_lose(cover);
		return len < 0 && errno == EINTR ? 0 : -1;
	}
	for (char *at = buf; at < buf + len;) {
		const struct inotify_event *event = (const struct inotify_event *)at;

		if (cookie >= 0 && event->wd == cookie && event->mask & IN_IGNORED)
			seen = 1;
		else
			apply(cover, event);
		at += sizeof(*event) + event->len;
	}
	return seen;
}

void watch_cover_read(struct watch_cover *cover)
{
	for (int i = 0; i < READS_MAX; i++)
		if (read_some(cover, -1) < 0)
			break;
}

/*
 * That a watch was removed is an event like any other: it is in the queue after all that happened
 * before. The next one is put there at once, while there certainly is room for it. What was read
 * together with it happened later; the walk has not begun yet, so it may count as earlier.
 */
bool watch_cover_sync(struct watch_cover *cover)
{
	int cookie = cover->cookie >= 0 ? cover->cookie : watch_cover_add_cookie(cover);
	int seen = 0;

	cover->cookie = -1;
	if (cookie < 0 || inotify_rm_watch(cover->inotify, cookie) < 0)
		return false;
	cover->cookie = watch_cover_add_cookie(cover);
	while (!seen && !cover->lost)
		seen = read_some(cover, cookie);
	if (seen < 0)
		watch_cover_lose(cover);
	return !cover->lost;
}
