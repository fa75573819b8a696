/* SPDX-License-Identifier: MIT */
#include "tree/watched.h"

#include "base/base.h"

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
