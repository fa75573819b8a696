/* SPDX-License-Identifier: MIT */
/* Random repositories with random rules, of which git sees what we capture. */
#include "tree/rules.h"

#include "base/alloc.h"
#include "base/error.h"
#include "unit.h"

#include "rulesprobe.h"

static const char *const names[] = {
	"a", "b", "foo", "bar.o", "x.c", "a b", "#x", "o", "FOO", "B"
};

/* Where case does not count git takes "FOO" for the tracked "foo"; so no file is called that. */
enum { FILE_NAMES = 8 };

static void random_pattern(struct strbuf *out)
{
	static const char *const globs[] = { "*",  "*.o", "?",	  "[ab]", "**",
					     "f*", "*o",  "[!a]", "\\#x", "x.?" };

	if (!rnd(4))
		strbuf_addch(out, '!');
	if (!rnd(4))
		strbuf_addch(out, '/');
	for (unsigned n = 1 + rnd(3); n; n--)
		strbuf_addf(out, "%s%s",
			    rnd(2) ? globs[rnd(ARRAY_SIZE(globs))] : names[rnd(ARRAY_SIZE(names))],
			    n > 1 ? "/" : "");
	if (!rnd(3))
		strbuf_addch(out, '/');
	strbuf_addch(out, '\n');
}

static void put_patterns(const char *path, unsigned max)
{
	struct strbuf text = STRBUF_INIT;

	for (unsigned n = rnd(max + 1); n; n--)
		random_pattern(&text);
	put_bytes(path, text.buf, text.len);
	strbuf_release(&text);
}

static void random_repo(const char *name)
{
	char path[2 * PATH_MAX];

	sh("git init -q --template= '%s'; cd '%s'; mkdir -p .git/info a/b/foo a/foo b/a 'a b' "
	   "foo/a",
	   name, name);
	for (int i = 0; i < 50; i++) {
		static const char *const dirs[] = { "",	  "a/",	  "a/b/", "a/b/foo/", "a/foo/",
						    "b/", "b/a/", "a b/", "foo/",     "foo/a/" };

		snprintf(path, sizeof(path), "%s/%s/%s%s", scratch, name, dirs[rnd(10)],
			 names[rnd(FILE_NAMES)]);
		if (!is_there(path))
			put_text(path, "x");
	}
	/* Some tracked, ignored or not, some of them gone again. */
	sh("cd '%s'; find . -path ./.git -prune -o -type f -print0 | sort -z | "
	   "awk -v RS='\\0' -v ORS='\\0' 'NR %% 6 == 1' | xargs -0 git add -f --; "
	   "git ls-files -z | awk -v RS='\\0' -v ORS='\\0' 'NR == 2' | xargs -0 -r rm -f --",
	   name);
	put_patterns(in_scratch("%s/.gitignore", name), 4);
	put_patterns(in_scratch("%s/.git/info/exclude", name), 2);
	if (rnd(2))
		put_patterns(in_scratch("%s/a/.gitignore", name), 3);
	if (rnd(2))
		put_patterns(in_scratch("%s/a/b/.gitignore", name), 2);
	if (rnd(2))
		put_patterns(in_scratch("git/ignore"), 2);
	else
		put_text(in_scratch("git/ignore"), "");
	if (!rnd(3)) {
		put_patterns(in_scratch("excludes"), 2);
		sh("git -C '%s' config core.excludesFile '%s/excludes'", name, scratch);
	}
	if (!rnd(4))
		sh("git -C '%s' config core.ignoreCase true", name);
}

static void test_rules_capture_what_git_sees(void **state)
{
	size_t captured = 0, left_out = 0;

	(void)state;
	for (int round = 0; round < 24; round++) {
		struct strlist listed = STRLIST_INIT;
		struct strbuf out = STRBUF_INIT;
		struct probe got, whole;
		char name[32];

		snprintf(name, sizeof(name), "git%d", round);
		random_repo(name);
		ask(&out, "cd '%s'; git ls-files -z -c -o --exclude-standard", name);
		for (const char *p = out.buf; p < out.buf + out.len; p += strlen(p) + 1)
			if (is_there(in_scratch("%s/%s", name, p)))
				strlist_add(&listed, p);
		strlist_sort_unique(&listed);
		probe(&got, name, (struct rules_opts){ .include_sensitive = true });
		if (!strlist_equal(&listed, &got.files))
			fail_msg("round %d: git has %s; we have %s", round, join(&listed),
				 join(&got.files));
		assert_int_equal(got.others.nr, 0);
		/* With all that is ignored nothing is left out. */
		probe(&whole, name,
		      (struct rules_opts){ .include_sensitive = true, .include_ignored = true });
		captured += got.files.nr;
		left_out += whole.files.nr - got.files.nr;
		for (size_t i = 0; i < got.files.nr; i++) {
			size_t at = 0;

			while (at < whole.files.nr &&
			       strcmp(whole.files.items[at], got.files.items[i]))
				at++;
			assert_true(at < whole.files.nr);
		}
		probe_release(&got);
		probe_release(&whole);
		strlist_release(&listed);
		strbuf_release(&out);
	}
	assert_true(captured > 200);
	assert_true(left_out > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_rules_capture_what_git_sees, no_user_rules),
	};

	return cmocka_run_group_tests_name("rules: as git", tests, unit_setup, unit_teardown);
}
