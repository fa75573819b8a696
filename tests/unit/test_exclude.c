/* SPDX-License-Identifier: MIT */
/*
 * Besides some samples, random trees with random ignore files, about which
 * this code and git must be of one mind. CKPT_TEST_SEED and CKPT_TEST_ROUNDS
 * choose others than the usual ones.
 */
#include "git/exclude.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/path.h"
#include "git/gitindex.h"

#include "unit.h"

#include "ignoregen.h"

#include <dirent.h>

/* ---- samples ---- */

static enum exclude_verdict verdict_of(const char *patterns, const char *base, const char *path,
				       bool is_dir)
{
	struct exclude_list *list = exclude_list_new(patterns, strlen(patterns), base, 7, false);
	struct exclude_chain chain = { list, NULL };
	const char *slash = strrchr(path, '/');
	enum exclude_verdict verdict =
		exclude_match(&chain, path, slash ? slash + 1 : path, is_dir, NULL);

	exclude_list_free(list);
	return verdict;
}

static void test_exclude_samples(void **state)
{
	static const struct {
		const char *patterns, *base, *path;
		bool is_dir;
		enum exclude_verdict expect;
	} samples[] = {
		{ "foo", "", "foo", false, EXCLUDE_IGNORED },
		{ "foo", "", "a/b/foo", true, EXCLUDE_IGNORED },
		{ "foo", "", "foo/bar", false, EXCLUDE_UNDECIDED },
		{ "foo/", "", "foo", false, EXCLUDE_UNDECIDED },
		{ "foo/", "", "foo", true, EXCLUDE_IGNORED },
		{ "/foo", "", "a/foo", false, EXCLUDE_UNDECIDED },
		{ "/foo", "a", "a/foo", false, EXCLUDE_IGNORED },
		{ "/foo", "a", "b/foo", false, EXCLUDE_UNDECIDED },
		{ "x/foo", "a", "a/x/foo", false, EXCLUDE_IGNORED },
		{ "x/foo", "", "a/x/foo", false, EXCLUDE_UNDECIDED },
		{ "*.o\n!a.o\n", "", "a.o", false, EXCLUDE_INCLUDED },
		{ "!a.o\n*.o\n", "", "a.o", false, EXCLUDE_IGNORED },
		{ "*.o", "", ".o", false, EXCLUDE_IGNORED },
		{ "# no\n\\#yes\n", "", "#yes", false, EXCLUDE_IGNORED },
		{ "# no", "", "# no", false, EXCLUDE_UNDECIDED },
		{ "\\!x", "", "!x", false, EXCLUDE_IGNORED },
		{ "foo  ", "", "foo", false, EXCLUDE_IGNORED },
		{ "foo\\ ", "", "foo ", false, EXCLUDE_IGNORED },
		{ "foo\\  ", "", "foo ", false, EXCLUDE_IGNORED },
		{ "foo\t", "", "foo", false, EXCLUDE_UNDECIDED },
		{ "foo\t", "", "foo\t", false, EXCLUDE_IGNORED },
		{ "foo\r\nbar\r", "", "foo", false, EXCLUDE_IGNORED },
		{ "foo\r\nbar\r", "", "bar", false, EXCLUDE_IGNORED },
		{ "foo\r\r\n", "", "foo\r", false, EXCLUDE_IGNORED },
		{ "\xef\xbb\xbf" "foo", "", "foo", false, EXCLUDE_IGNORED },
		{ "/\n\n \n!\n!/\n//\n", "", "foo", true, EXCLUDE_UNDECIDED },
		{ "*\n/\n!\n", "", "foo", true, EXCLUDE_IGNORED },
		{ "a**/b", "", "a", true, EXCLUDE_UNDECIDED },
		{ "a**/b", "", "ax/y/b", false, EXCLUDE_IGNORED },
		{ "/a**", "", "ax/y", false, EXCLUDE_IGNORED },
		{ "a/**", "", "a", true, EXCLUDE_UNDECIDED },
		{ "a/*", "", "a/b/c", false, EXCLUDE_UNDECIDED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		int verdict = (int)verdict_of(samples[i].patterns, samples[i].base,
					      samples[i].path, samples[i].is_dir);

		if (verdict != (int)samples[i].expect)
			fail_msg("sample %zu: '%s' says %d about '%s'", i, samples[i].patterns,
				 verdict, samples[i].path);
	}
}

static void test_exclude_chain_first_opinion_decides(void **state)
{
	struct exclude_list *high = exclude_list_new("!keep\n", 6, "", 1, false);
	struct exclude_list *none = exclude_list_new("# nothing\n", 10, "", 2, false);
	struct exclude_list *low = exclude_list_new("*\n", 2, "", 3, false);
	struct exclude_chain last = { low, NULL }, middle = { none, &last };
	struct exclude_chain first = { high, &middle };
	const struct exclude_list *decided = NULL;

	(void)state;
	assert_true(exclude_list_empty(none));
	assert_false(exclude_list_empty(low));
	assert_int_equal(exclude_match(&first, "keep", "keep", false, &decided), EXCLUDE_INCLUDED);
	assert_int_equal(exclude_list_tag(decided), 1);
	assert_int_equal(exclude_match(&first, "x", "x", false, &decided), EXCLUDE_IGNORED);
	assert_int_equal(exclude_list_tag(decided), 3);
	decided = high;
	assert_int_equal(exclude_match(&middle, "x", "x", false, NULL), EXCLUDE_IGNORED);
	last.list = none;
	assert_int_equal(exclude_match(&middle, "x", "x", false, &decided), EXCLUDE_UNDECIDED);
	assert_ptr_equal(decided, high);
	assert_int_equal(exclude_match(NULL, "x", "x", false, NULL), EXCLUDE_UNDECIDED);
	exclude_list_free(high);
	exclude_list_free(none);
	exclude_list_free(low);
	exclude_list_free(NULL);
}

/* ---- what git says, and what we say ---- */

struct walk {
	bool ignore_case;
	const struct gitindex *index;
	struct strlist sources; /* tag - 1 is the place in here */
	struct strlist unignored;
	struct strbuf verdicts; /* what check-ignore prints, without lines and patterns */
	struct strbuf paths;
	size_t ignored, decisions;
};

static struct exclude_list *load(struct walk *walk, const char *file, const char *base)
{
	struct strbuf text = STRBUF_INIT;
	struct exclude_list *list;

	if (fs_read_file(&text, AT_FDCWD, file))
		strbuf_reset(&text);
	strlist_add(&walk->sources, file);
	list = exclude_list_new(text.buf, text.len, base, (int)walk->sources.nr, walk->ignore_case);
	strbuf_release(&text);
	return list;
}

struct answer {
	enum exclude_verdict verdict;
	const struct exclude_list *list;
};

static void walk_dir(struct walk *walk, const char *rel, const struct exclude_chain *outer,
		     const struct answer *ignored);

static void walk_entry(struct walk *walk, const char *path, const char *name, bool is_dir,
		       const struct exclude_chain *chain, const struct answer *ignored)
{
	struct answer answer = { EXCLUDE_UNDECIDED, NULL };

	if (ignored)
		answer = *ignored;
	else
		answer.verdict = exclude_match(chain, path, name, is_dir, &answer.list);
	walk->decisions++;
	walk->ignored += answer.verdict == EXCLUDE_IGNORED;
	strbuf_add(&walk->paths, path, strlen(path) + 1);
	if (answer.verdict != EXCLUDE_UNDECIDED)
		strbuf_addf(&walk->verdicts, "%s %s",
			    walk->sources.items[exclude_list_tag(answer.list) - 1],
			    answer.verdict == EXCLUDE_INCLUDED ? "!" : "");
	strbuf_addf(&walk->verdicts, ": %s\n", path);
	if (is_dir)
		walk_dir(walk, path, chain, answer.verdict == EXCLUDE_IGNORED ? &answer : NULL);
	else if (answer.verdict != EXCLUDE_IGNORED && !gitindex_has(walk->index, path))
		strlist_add(&walk->unignored, path);
}

static void walk_dir(struct walk *walk, const char *rel, const struct exclude_chain *outer,
		     const struct answer *ignored)
{
	struct exclude_chain chain = { NULL, outer };
	struct strbuf path = STRBUF_INIT;
	DIR *dir = opendir(*rel ? rel : ".");
	struct dirent *entry;

	assert_non_null(dir);
	strbuf_addstr(&path, rel);
	path_append(&path, ".gitignore");
	chain.list = load(walk, path.buf, rel);
	while ((entry = readdir(dir))) {
		struct stat st;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    !strcmp(entry->d_name, ".git"))
			continue;
		strbuf_reset(&path);
		strbuf_addstr(&path, rel);
		path_append(&path, entry->d_name);
		assert_int_equal(lstat(path.buf, &st), 0);
		walk_entry(walk, path.buf, path.buf + path.len - strlen(entry->d_name),
			   S_ISDIR(st.st_mode), &chain, ignored);
	}
	closedir(dir);
	strbuf_release(&path);
	exclude_list_free((struct exclude_list *)chain.list);
}

/* "<source>NUL<line>NUL<pattern>NUL<path>NUL" to what walk_entry() writes. */
static void digest_check_ignore(struct strbuf *out, const struct strbuf *said)
{
	const char *field[4], *p = said->buf, *end = said->buf + said->len;

	while (p < end) {
		for (size_t i = 0; i < 4; i++) {
			field[i] = p;
			p += strlen(p) + 1;
		}
		if (*field[0])
			strbuf_addf(out, "%s %s", field[0], *field[2] == '!' ? "!" : "");
		strbuf_addf(out, ": %s\n", field[3]);
	}
}

/* The first line in which they differ, for the message. */
static void show_difference(const char *ours, const char *gits)
{
	while (*ours && *gits) {
		size_t a = strcspn(ours, "\n"), b = strcspn(gits, "\n");

		if (a != b || memcmp(ours, gits, a)) {
			print_error("ours: %.*s\ngit:  %.*s\n", (int)a, ours, (int)b, gits);
			return;
		}
		ours += a + !!ours[a];
		gits += b + !!gits[b];
	}
}

static bool compare_with_git(struct walk *walk)
{
	struct strbuf said = STRBUF_INIT, digest = STRBUF_INIT;
	struct strlist gits = STRLIST_INIT;
	bool same;

	ask(&said, "git ls-files -z -o --exclude-standard");
	for (const char *p = said.buf; p < said.buf + said.len; p += strlen(p) + 1)
		strlist_add(&gits, p);
	strlist_sort_unique(&gits);
	strlist_sort_unique(&walk->unignored);
	same = strlist_equal(&gits, &walk->unignored);
	if (!same)
		print_error("ls-files shows %zu files, we %zu\n", gits.nr, walk->unignored.nr);
	put_bytes(".git/asked", walk->paths.buf, walk->paths.len);
	strbuf_reset(&said);
	ask(&said, "git check-ignore -z --stdin -v -n --no-index <.git/asked || test $? = 1");
	digest_check_ignore(&digest, &said);
	if (digest.len != walk->verdicts.len ||
	    memcmp(digest.buf, walk->verdicts.buf, digest.len)) {
		show_difference(walk->verdicts.buf, digest.buf);
		same = false;
	}
	strlist_release(&gits);
	strbuf_release(&said);
	strbuf_release(&digest);
	return same;
}

static bool run_round(uint64_t seed, size_t *decisions, size_t *ignored)
{
	struct ignore_tree tree = { 0 };
	struct walk walk = { .verdicts = STRBUF_INIT, .paths = STRBUF_INIT };
	struct exclude_chain user = { NULL, NULL }, info = { NULL, &user };
	const char *excludes_file = in_scratch("excludes");
	struct gitindex *index = NULL;
	bool same;

	unit_seed = seed;
	ignoregen(&tree, excludes_file);
	walk.ignore_case = tree.ignore_case;
	if (gitindex_open(&index, in_scratch("work"), in_scratch("work/.git"), false))
		fail_msg("%s", ckpt_error_last());
	walk.index = index;
	user.list = load(&walk, excludes_file, "");
	info.list = load(&walk, ".git/info/exclude", "");
	walk_dir(&walk, "", &info, NULL);
	same = compare_with_git(&walk);
	*decisions += walk.decisions;
	*ignored += walk.ignored;

	exclude_list_free((struct exclude_list *)user.list);
	exclude_list_free((struct exclude_list *)info.list);
	gitindex_close(index);
	strlist_release(&walk.sources);
	strlist_release(&walk.unignored);
	strbuf_release(&walk.verdicts);
	strbuf_release(&walk.paths);
	ignoregen_release(&tree);
	return same;
}

static uint64_t number_from_env(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value && *value ? strtoull(value, NULL, 0) : otherwise;
}

static void test_exclude_agrees_with_git(void **state)
{
	uint64_t seed = number_from_env("CKPT_TEST_SEED", 20240501);
	uint64_t times = number_from_env("CKPT_TEST_ROUNDS", 60);
	size_t decisions = 0, ignored = 0;

	(void)state;
	for (uint64_t i = 0; i < times; i++)
		if (!run_round(seed + i, &decisions, &ignored))
			fail_msg("differs from git: CKPT_TEST_SEED=%llu CKPT_TEST_ROUNDS=1",
				 (unsigned long long)(seed + i));
	print_message("%zu decisions, %zu of them to ignore\n", decisions, ignored);
	/* Else the generator makes nothing worth comparing. */
	assert_true(times < 60 || (decisions > 2000 && ignored > decisions / 10));
}

static int setup(void **state)
{
	if (unit_setup(state))
		return -1;
	sh("git init -q work");
	return chdir("work");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exclude_samples),
		cmocka_unit_test(test_exclude_chain_first_opinion_decides),
		cmocka_unit_test(test_exclude_agrees_with_git),
	};

	return cmocka_run_group_tests_name("exclude", tests, setup, unit_teardown);
}
