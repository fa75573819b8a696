/* SPDX-License-Identifier: MIT */
/*
 * What comes over the socket of a watcher, in both directions: what is taken is written again byte
 * by byte the same, and every path in it leads nowhere but down.
 */
#include "fuzz.h"

#include "tree/tree.h"

static void check_paths(const struct strlist *paths)
{
	for (size_t i = 0; i < paths->nr; i++) {
		const char *path = paths->items[i];
		size_t len = strlen(path);

		FUZZ_CHECK(*path != '/' && (!len || path[len - 1] != '/'), "the path '%s'", path);
		FUZZ_CHECK(!strstr(path, "//") && strncmp(path, "../", 3) && !strstr(path, "/../") &&
				   strcmp(path, ".."),
			   "the path '%s'", path);
		FUZZ_CHECK(!i || strcmp(paths->items[i - 1], path) < 0, "not sorted");
	}
}

static bool take_question(const char *text, size_t len)
{
	struct watched_question question;

	return watched_question_parse(&question, text, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf again = STRBUF_INIT, once_more = STRBUF_INIT;
	struct watched_question question;
	struct watched answer;
	/* Of exactly that size, so that reading further is noticed. */
	char *text = malloc(size ? size : 1);

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	if (watched_question_parse(&question, text, size)) {
		watched_question_format(&again, &question);
		FUZZ_CHECK(take_question(again.buf, again.len), "not a question: %s", again.buf);
	}
	strbuf_reset(&again);
	if (watched_answer_parse(&answer, text, size)) {
		check_paths(&answer.dirs);
		check_paths(&answer.trees);
		FUZZ_CHECK(!answer.all || !(answer.dirs.nr + answer.trees.nr), "all, and some");
		watched_answer_format(&again, &answer);
		watched_release(&answer);
		FUZZ_CHECK(watched_answer_parse(&answer, again.buf, again.len), "not an answer");
		watched_answer_format(&once_more, &answer);
		FUZZ_CHECK(strbuf_equal(&again, &once_more), "another answer");
		watched_release(&answer);
	}
	strbuf_release(&again);
	strbuf_release(&once_more);
	free(text);
	return 0;
}
