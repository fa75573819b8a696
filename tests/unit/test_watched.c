/* SPDX-License-Identifier: MIT */
/* Questions to a watcher and its answers: what is sent is what is read, and nothing else is. */
#include "unit.h"

#include "base/clock.h"
#include "tree/tree.h"

#include <sys/socket.h>

static void test_a_question_comes_back(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		struct watched_question out, in = {
			.since = { rnd64() >> rnd(64), rnd64() >> rnd(64) },
			.cache = { rnd64(), rnd64() >> rnd(64) },
			.view = { rnd64(), rnd64() >> rnd(64), i ? rnd64() : UINT64_MAX },
		};
		struct strbuf text = STRBUF_INIT;

		watched_question_format(&text, &in);
		assert_true(text.len <= WATCHED_QUESTION_MAX);
		assert_true(watched_question_parse(&out, text.buf, text.len));
		assert_memory_equal(&out, &in, sizeof(in));
		/* No part of it is one, and nothing may follow. */
		for (size_t len = 0; len < text.len; len++)
			assert_false(watched_question_parse(&out, text.buf, len));
		strbuf_addch(&text, ' ');
		assert_false(watched_question_parse(&out, text.buf, text.len));
		strbuf_release(&text);
	}
}

static void test_an_answer_comes_back(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		struct watched out, in = { .now = { rnd64() | 1, rnd64() } };
		struct strbuf text = STRBUF_INIT;

		for (unsigned k = rnd(10); k--;) {
			char name[16];

			rnd_name(name, 1 + rnd(14));
			strlist_addf(rnd(2) ? &in.dirs : &in.trees, "%s/a.b", name);
		}
		if (rnd(2))
			strlist_add(&in.dirs, "");
		strlist_sort_unique(&in.dirs);
		strlist_sort_unique(&in.trees);
		watched_answer_format(&text, &in);
		assert_true(watched_answer_parse(&out, text.buf, text.len));
		assert_memory_equal(&out.now, &in.now, sizeof(in.now));
		assert_false(out.all);
		assert_true(strlist_equal(&out.dirs, &in.dirs));
		assert_true(strlist_equal(&out.trees, &in.trees));
		watched_release(&out);
		for (size_t len = 0; len < text.len; len++)
			assert_false(watched_answer_parse(&out, text.buf, len));
		strbuf_addch(&text, '\0');
		assert_false(watched_answer_parse(&out, text.buf, text.len));
		strbuf_release(&text);
		watched_release(&in);
	}
}

static void test_odd_answers_are_not_taken(void **state)
{
	static const struct {
		const char *text;
		size_t len;
	} odd[] = {
#define ODD(text) { text, sizeof(text) - 1 }
		ODD(""),
		ODD("changed 2 0 1 1 0 0\n"),
		ODD("changed 1 2 1 1 0 0\n"),
		ODD("changed 1 0 0 1 0 0\n"), /* something is known, but nobody watches */
		ODD("changed 1 1 1 1 1 0\na\0"), /* all and some */
		ODD("changed 1 0 1 1 1 0\n/a\0"),
		ODD("changed 1 0 1 1 1 0\na/\0"),
		ODD("changed 1 0 1 1 1 0\na//b\0"),
		ODD("changed 1 0 1 1 1 0\n..\0"),
		ODD("changed 1 0 1 1 1 0\na/../b\0"),
		ODD("changed 1 0 1 1 1 0\na/.\0"),
		ODD("changed 1 0 1 1 2 0\nb\0a\0"), /* not sorted */
		ODD("changed 1 0 1 1 2 0\na\0a\0"),
		ODD("changed 1 0 1 1 ffffffffffffffff 0\na\0"),
		ODD("changed 1 0 1 1 1 0\na"),
		ODD("changed 1 0 12345678901234567 1 0 0\n"),
		ODD("changed 1 0  1 1 0 0\n"),
		ODD("changed 1 0 -1 1 0 0\n"),
		ODD("changed 1 0 1 1 0 0"),
	};
	struct watched out;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		if (watched_answer_parse(&out, odd[i].text, odd[i].len))
			fail_msg("taken: %s", odd[i].text);
}

/* ---- asking ---- */

static void ask_nobody(struct watched *out, int storefd)
{
	watched_ask(out, storefd, NULL);
	assert_true(out->all);
	assert_int_equal(out->now.instance, 0);
	watched_release(out);
}

static void test_nobody_there_means_all(void **state)
{
	struct watched out;
	int storefd, fd;

	(void)state;
	sh("mkdir -p store/checkpoint");
	storefd = open("store", O_RDONLY | O_DIRECTORY);
	ask_nobody(&out, storefd);
	/* One that was killed left its socket. */
	fd = watched_listen(storefd, WATCHED_SOCKET);
	assert_true(fd >= 0);
	assert_int_equal(mode_of("store/" WATCHED_SOCKET), 0600);
	close(fd);
	ask_nobody(&out, storefd);
	put_text("store/checkpoint/plain", "");
	sh("mv store/checkpoint/plain store/" WATCHED_SOCKET);
	ask_nobody(&out, storefd);
	close(storefd);
}

/* It listens, but never answers: the way to it fills up, and still nobody waits for long. */
static void test_one_that_is_stopped_means_all(void **state)
{
	int storefd, fd;
	struct watched out;

	(void)state;
	sh("mkdir -p stopped/checkpoint");
	storefd = open("stopped", O_RDONLY | O_DIRECTORY);
	fd = watched_listen(storefd, WATCHED_SOCKET);
	for (int i = 0; i < 3; i++)
		ask_nobody(&out, storefd);
	for (int i = 0; i < 200; i++) {
		struct strbuf question = STRBUF_INIT, answer = STRBUF_INIT;

		assert_false(watched_talk(&answer, storefd, WATCHED_SOCKET, &question, 1, 100));
		strbuf_release(&answer);
	}
	ask_nobody(&out, storefd);
	close(fd);
	close(storefd);
}

/* Answer one question with these bytes, in a process of its own. */
static pid_t answer_once(int listener, const char *text, size_t len)
{
	pid_t pid = fork();

	if (!pid) {
		char line[WATCHED_QUESTION_MAX];
		int fd;

		while ((fd = accept(listener, NULL, NULL)) < 0)
			;
		while (read(fd, line, sizeof(line)) <= 0)
			;
		if (write(fd, text, len) != (ssize_t)len)
			_exit(1);
		_exit(0);
	}
	return pid;
}

static void test_a_mark_comes_without_a_cache(void **state)
{
	static const char text[] = "changed 1 0 5 7 1 0\na";
	int storefd, fd;
	struct watched out;
	pid_t pid;

	(void)state;
	sh("mkdir -p alive/checkpoint");
	storefd = open("alive", O_RDONLY | O_DIRECTORY);
	fd = watched_listen(storefd, WATCHED_SOCKET);
	pid = answer_once(fd, text, sizeof(text));
	watched_ask(&out, storefd, NULL);
	/* What it names changed since a moment that is not ours. */
	assert_true(out.all);
	assert_int_equal(out.dirs.nr, 0);
	assert_int_equal(out.now.instance, 5);
	assert_int_equal(out.now.tick, 7);
	watched_release(&out);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/* Half an answer. */
	pid = answer_once(fd, text, sizeof(text) - 1);
	ask_nobody(&out, storefd);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(fd);
	close(storefd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_question_comes_back),
		cmocka_unit_test(test_an_answer_comes_back),
		cmocka_unit_test(test_odd_answers_are_not_taken),
		cmocka_unit_test(test_nobody_there_means_all),
		cmocka_unit_test(test_one_that_is_stopped_means_all),
		cmocka_unit_test(test_a_mark_comes_without_a_cache),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
