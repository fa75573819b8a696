/* SPDX-License-Identifier: MIT */
#include "watch/watch.h"

#include "tree/tree.h"
#include "watch/watch_tree_internal.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>

enum {
	SAVES_MAX = 2, /* at the same time; more would only wait for the disk */
	LOCK_TRIES = 1000,
	TALKS_MAX = 64,
	TALK_SECONDS = 5,
	DEAF_SECONDS = 1, /* a socket that nobody takes from stays readable, and would keep us busy */
};

/*
 * --- connections of processes that ask ---
 *
 * Each sends one line and gets one answer. Nobody waits for them: a peer that says nothing, or does
 * not read, is cut off.
 */

struct talk {
	int fd;
	struct watch_tree *tree; /* NULL: it asks the process as a whole */
	struct strbuf in, out;
	size_t sent;
	bool answered;
	double until;
};

struct talks {
	struct talk items[TALKS_MAX];
	size_t nr;
	double deaf; /* until then none is taken: there are no descriptors */
};

/* One from a socket that listens, if it is a process of this user. */
static void accept_talk(struct talks *talks, int listener, struct watch_tree *tree)
{
	int fd = talks->nr < TALKS_MAX ?
			 accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;
	struct talk *talk;

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
	talk->until = clock_monotonic() + TALK_SECONDS;
}

/* What came; true when the question is complete and has not been answered yet. */
static bool read_talk(struct talk *talk)
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

/* As much as it takes now; false when there is nothing left to do: close it. */
static bool write_talk(struct talk *talk)
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

static void close_talk(struct talks *talks, size_t at)
{
	struct talk *talk = &talks->items[at];

	close(talk->fd);
	strbuf_release(&talk->in);
	strbuf_release(&talk->out);
	*talk = talks->items[--talks->nr];
}

/* --- the process --- */

struct server {
	struct watch_trees trees;
	struct talks talks;
	int homefd, lockfd, listener, mounts;
	int64_t since;
	bool stop;
	struct pollfd *fds; /* of one round */
	size_t fds_nr, fds_alloc;
};

/* --- beginning --- */

/* False if another process watches. One that only looks shares the lock for a moment. */
static bool get_lock(int fd)
{
	const struct timespec moment = { 0, 1000000 };

	for (int tries = 0; tries < LOCK_TRIES; tries++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return true;
		if (flock(fd, LOCK_SH | LOCK_NB) < 0)
			return false;
		(void)flock(fd, LOCK_UN);
		(void)nanosleep(&moment, NULL);
	}
	return false;
}

/* Held as long as the process lives, with its id in it for people. */
static int take_lock(struct server *server, const char *home)
{
	char pid[32], *holder;
	int len = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());

	server->lockfd = openat(server->homefd, WATCH_LOCK,
				O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (server->lockfd < 0)
		return ckpt_error_errno("unable to open '%s/" WATCH_LOCK "'", home);
	if (get_lock(server->lockfd)) {
		if (ftruncate(server->lockfd, 0) < 0 ||
		    fs_pwrite_all(server->lockfd, pid, (size_t)len, 0) < 0)
			return ckpt_error_errno("unable to write '%s/" WATCH_LOCK "'", home);
		return 0;
	}
	holder = proc_lock_holder("/proc", server->lockfd);
	(void)ckpt_error_set(CKPT_EREFUSED, "already watching: %s", holder);
	free(holder);
	return CKPT_EREFUSED;
}

/* Those of a worktree that is no longer watched. */
static void drop_talks(struct watch_tree *tree, void *payload)
{
	struct talks *talks = payload;

	for (size_t i = talks->nr; i > 0; i--)
		if (talks->items[i - 1].tree == tree)
			close_talk(talks, i - 1);
}

static int begin_serving(struct server *server, const char *home)
{
	int err = store_make_home(home);

	watch_trees_init(&server->trees, home);
	server->trees.gone = drop_talks;
	server->trees.payload = &server->talks;
	server->since = clock_now();
	server->lockfd = server->listener = server->homefd = -1;
	/* Without it, nothing would tell that something was mounted. */
	server->mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (!err && server->mounts < 0)
		err = ckpt_error_errno("unable to open '/proc/self/mountinfo'");
	if (!err) {
		server->homefd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		err = server->homefd < 0 ? ckpt_error_errno("unable to open '%s'", home) : 0;
	}
	if (!err)
		err = take_lock(server, home);
	if (!err) {
		server->listener = watched_listen(server->homefd, WATCH_SOCKET);
		if (server->listener < 0)
			err = ckpt_error_errno("unable to listen at '%s/" WATCH_SOCKET "'", home);
	}
	return err;
}

static void end_serving(struct server *server)
{
	if (server->listener >= 0)
		(void)unlinkat(server->homefd, WATCH_SOCKET, 0);
	watch_trees_release(&server->trees);
	while (server->talks.nr)
		close_talk(&server->talks, 0);
	fs_close(server->listener);
	fs_close(server->mounts);
	fs_close(server->homefd);
	fs_close(server->lockfd);
	free(server->fds);
}

/* --- questions --- */

static json_t *make_status(const struct server *server)
{
	json_t *trees = json_array(), *answer = json_object();

	for (size_t i = 0; i < server->trees.nr; i++)
		json_array_append_new(trees, watch_tree_status(server->trees.items[i]));
	json_object_set_new(answer, "pid", json_integer(getpid()));
	json_object_set_new(answer, "since", json_time(server->since));
	json_object_set_new(answer, "problem", json_text(server->trees.problem));
	json_object_set_new(answer, "worktrees", trees);
	return answer;
}

static void obey_word(struct server *server, struct talk *talk)
{
	const char *word = talk->in.buf;
	json_t *answer;

	if (!strcmp(word, "stop 1\n")) {
		server->stop = true;
	} else if (!strcmp(word, "reload 1\n")) {
		/* In the next round: this one still uses the trees that may go. */
		server->trees.tries = 0;
		server->trees.again = 0;
	} else if (strcmp(word, "status 1\n") != 0) {
		talk->until = 0;
		return;
	}
	answer = make_status(server);
	json_write(&talk->out, answer);
	json_decref(answer);
}

/* An answer must not miss what was mounted a moment ago. */
static void look_at_mounts(struct server *server)
{
	struct pollfd fd = { .fd = server->mounts, .events = POLLPRI };

	if (poll(&fd, 1, 0) <= 0)
		return;
	for (size_t i = 0; i < server->trees.nr; i++)
		watch_tree_look_at_mounts(server->trees.items[i]);
}

static void answer_talk(struct server *server, struct talk *talk)
{
	struct watched_question question;

	talk->answered = true;
	if (!talk->tree) {
		obey_word(server, talk);
	} else if (watched_question_parse(&question, talk->in.buf, talk->in.len)) {
		look_at_mounts(server);
		watch_tree_answer(&talk->out, talk->tree, &question);
	}
}

/* --- rounds --- */

static void add_fd(struct server *server, int fd, short events)
{
	*ALLOC_NEXT(server->fds, server->fds_nr, server->fds_alloc) =
		(struct pollfd){ .fd = fd, .events = events };
}

enum { OWN_FDS = 3, TREE_FDS = 3 };

/* First our own, then three for each tree, then the connections; those that are -1 are ignored. */
static void collect_fds(struct server *server)
{
	bool room = server->talks.nr < TALKS_MAX &&
		    clock_monotonic() >= server->talks.deaf;

	server->fds_nr = 0;
	add_fd(server, room ? server->listener : -1, POLLIN);
	add_fd(server, server->trees.inotify, POLLIN);
	add_fd(server, server->mounts, POLLPRI);
	for (size_t i = 0; i < server->trees.nr; i++) {
		const struct watch_tree *tree = server->trees.items[i];

		add_fd(server, tree->cover.root ? tree->cover.inotify : -1, POLLIN);
		add_fd(server, tree->child.pidfd, POLLIN);
		add_fd(server, room ? tree->listener : -1, POLLIN);
	}
	for (size_t i = 0; i < server->talks.nr; i++)
		add_fd(server, server->talks.items[i].fd,
		       server->talks.items[i].answered ? POLLOUT : POLLIN);
}

static double min_time(double a, double b)
{
	return a < b ? a : b;
}

static double next_time(const struct server *server, bool may_save)
{
	double next = server->trees.again;

	for (size_t i = 0; i < server->trees.nr && may_save; i++)
		next = min_time(next, watch_tree_due(server->trees.items[i]));
	for (size_t i = 0; i < server->talks.nr; i++)
		next = min_time(next, server->talks.items[i].until);
	if (server->talks.deaf > clock_monotonic())
		next = min_time(next, server->talks.deaf);
	return next;
}

/* Signals are let in only here, so that none comes between the check and the wait. */
static void wait_for_something(struct server *server, bool may_save)
{
	double left = next_time(server, may_save) - clock_monotonic();
	struct timespec timeout = { 0, 0 };
	sigset_t all;

	sigemptyset(&all);
	if (left > 0 && left < INFINITY) {
		timeout.tv_sec = (time_t)left;
		timeout.tv_nsec = (long)((left - (double)timeout.tv_sec) * 1e9);
	}
	if (ppoll(server->fds, server->fds_nr, left < INFINITY ? &timeout : NULL, &all) < 0)
		for (size_t i = 0; i < server->fds_nr; i++)
			server->fds[i].revents = 0;
}

static void deal_with_trees(struct server *server)
{
	for (size_t i = 0; i < server->trees.nr; i++) {
		const struct pollfd *fds = server->fds + OWN_FDS + TREE_FDS * i;
		struct watch_tree *tree = server->trees.items[i];

		if (fds[0].revents && tree->cover.root)
			watch_tree_read(tree);
		if (fds[1].revents && tree->child.pid)
			watch_tree_saved(tree);
		if (fds[2].revents && tree->listener >= 0)
			accept_talk(&server->talks, tree->listener, tree);
	}
}

/* From the last to the first, because one that is closed gives its place to the last. */
static void deal_with_talks(struct server *server, size_t nr)
{
	double now = clock_monotonic();

	for (size_t i = nr; i > 0; i--) {
		struct talk *talk = &server->talks.items[i - 1];
		short told = server->fds[server->fds_nr - nr + i - 1].revents;
		bool open = true;

		if (told && !talk->answered && read_talk(talk))
			answer_talk(server, talk);
		if (talk->answered)
			open = write_talk(talk);
		if (!open || now >= talk->until)
			close_talk(&server->talks, i - 1);
	}
}

static void deal_with_all(struct server *server)
{
	size_t talks = server->talks.nr;

	if (server->fds[1].revents)
		watch_trees_read(&server->trees);
	if (server->fds[2].revents)
		for (size_t i = 0; i < server->trees.nr; i++)
			watch_tree_look_at_mounts(server->trees.items[i]);
	deal_with_talks(server, talks);
	deal_with_trees(server);
	if (server->fds[0].revents)
		accept_talk(&server->talks, server->listener, NULL);
}

/* Whether another one could be started. */
static bool save_what_is_due(struct server *server)
{
	size_t saves = 0;

	for (size_t i = 0; i < server->trees.nr; i++)
		saves += server->trees.items[i]->child.pid > 0;
	for (size_t i = 0; i < server->trees.nr && saves < SAVES_MAX; i++) {
		struct watch_tree *tree = server->trees.items[i];
		bool before = tree->child.pid > 0;

		watch_tree_save(tree);
		saves += !before && tree->child.pid > 0;
	}
	return saves < SAVES_MAX;
}

static void serve_rounds(struct server *server)
{
	while (!server->stop && !cancel_signal()) {
		bool may_save;

		watch_trees_miss(&server->trees);
		if (server->trees.again <= clock_monotonic())
			watch_trees_look(&server->trees);
		if (!server->trees.roots_nr && !server->trees.problem)
			break;
		may_save = save_what_is_due(server);
		collect_fds(server);
		wait_for_something(server, may_save);
		deal_with_all(server);
	}
}

int watch_run(const char *home)
{
	struct server server = { 0 };
	sigset_t blocked, before;
	int err;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGHUP);
	err = begin_serving(&server, home);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	if (!err) {
		server.trees.again = 0;
		serve_rounds(&server);
	}
	end_serving(&server);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}
