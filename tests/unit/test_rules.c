/* SPDX-License-Identifier: MIT */
#include "tree/rules.h"

#include "base/alloc.h"
#include "base/error.h"
#include "git/gitconfig.h"
#include "git/repo.h"
#include "unit.h"

#include "rulesprobe.h"

static void test_rules_defaults_stand_below_the_project(void **state)
{
	struct rules_opts defaults = { .defaults = rules_default_patterns };

	(void)state;
	sh("git init -q def; cd def; mkdir -p node_modules/p src/node_modules/q build; "
	   "touch f node_modules/p/x src/node_modules/q/y build/z src/a.pyc src/k");
	expect("def", defaults, "f src/k",
	       "default build/ default node_modules/ default src/a.pyc default src/node_modules/");
	/* The project may take one back ... */
	sh("printf '!/build/\\n!*.pyc\\n' >def/.gitignore");
	expect("def", defaults, ".gitignore build/z f src/a.pyc src/k",
	       "default node_modules/ default src/node_modules/");
	/* ... or leave it out itself, which then goes without saying. */
	sh("printf 'node_modules/\\nbuild/\\n*.pyc\\n' >def/.gitignore");
	expect("def", defaults, ".gitignore f src/k", "");
	/* What is tracked is in, whatever says otherwise; the rest beside it is still left out. */
	sh("cd def; git add -f node_modules/p/x build/z; touch node_modules/p/other; rm "
	   ".gitignore");
	expect("def", defaults, "build/z f node_modules/p/x src/k",
	       "default node_modules/ default src/a.pyc default src/node_modules/");
	/* Outside of git there is nothing but the defaults. */
	sh("rm -rf def/.git");
	expect("def", defaults, "f src/k",
	       "default build/ default node_modules/ default src/a.pyc default src/node_modules/");
	defaults.include_ignored = true;
	expect("def", defaults,
	       "build/z f node_modules/p/other node_modules/p/x src/a.pyc src/k "
	       "src/node_modules/q/y",
	       "");
}

static void test_rules_exclude_setting_stands_above_all(void **state)
{
	struct strlist exclude = STRLIST_INIT;
	struct rules_opts opts = { .exclude = &exclude, .defaults = rules_default_patterns };

	(void)state;
	sh("git init -q own; cd own; mkdir -p tmp dist keep; touch tmp/a dist/b keep/c x.log y.txt "
	   "t.log; "
	   "printf '!tmp/\\ny.txt\\n' >.gitignore; git add -f t.log");
	strlist_add(&exclude, "tmp/");
	strlist_add(&exclude, "*.log");
	strlist_add(&exclude, "!dist/");
	expect("own", opts, ".gitignore dist/b keep/c t.log", "");
	/* Also where ignored files are asked for. */
	opts.include_ignored = true;
	expect("own", opts, ".gitignore dist/b keep/c t.log y.txt", "");
	strlist_release(&exclude);
}

static void test_rules_sensitive_files_are_left_out_and_named(void **state)
{
	struct strlist more = STRLIST_INIT;
	struct rules_opts opts = { .defaults = "" };

	(void)state;
	sh("git init -q sec; cd sec; mkdir -p d .env.d credentials; "
	   "touch .env .env.local .env.example d/.env id_rsa id_rsa.pub k.pem d/t.key "
	   "credentials/f "
	   "d/credentials .npmrc plain .env.d/f; git add -f d/t.key id_rsa");
	expect("sec", opts, ".env.d/f .env.example credentials/f d/t.key id_rsa plain",
	       "sensitive d/t.key sensitive id_rsa skip sensitive .env skip sensitive .env.local "
	       "skip sensitive .npmrc skip sensitive d/.env skip sensitive d/credentials "
	       "skip sensitive id_rsa.pub skip sensitive k.pem");
	/* What an ignore rule leaves out needs no word. */
	sh("printf '.env*\\n*.pem\\n' >sec/.gitignore; rm sec/id_rsa.pub sec/.npmrc "
	   "sec/d/credentials");
	expect("sec", opts, ".gitignore credentials/f d/t.key id_rsa plain",
	       "sensitive d/t.key sensitive id_rsa");
	strlist_add(&more, "pl*");
	strlist_add(&more, "!id_rsa");
	opts.sensitive = &more;
	expect("sec", opts, ".gitignore credentials/f d/t.key id_rsa",
	       "sensitive d/t.key skip sensitive plain");
	opts.include_sensitive = true;
	expect("sec", opts, ".gitignore credentials/f d/t.key id_rsa plain", "");
	strlist_release(&more);
}

static void test_rules_nested_repositories_count_as_files(void **state)
{
	struct rules_opts opts = { .defaults = rules_default_patterns };

	(void)state;
	sh("git init -q out; cd out; mkdir -p sub/in vendor/lib ign; git init -q sub; git init -q "
	   "vendor/lib; "
	   "git init -q ign/deep; touch f sub/a sub/in/b.o sub/in/t.o vendor/lib/v ign/x "
	   "ign/deep/t ign/deep/u; "
	   "printf '*.o\\n' >sub/.gitignore; printf 'a\\n' >sub/.git/info/exclude; "
	   "git -C sub add -f in/t.o; git -C ign/deep add t; printf '/ign/deep\\nlib/\\n' "
	   ">.gitignore; "
	   "git -C vendor/lib add v");
	/* Its own rules and index count in it; ignored by the outer one, what it tracks stays in. */
	expect("out", opts, ".gitignore f ign/deep/t ign/x sub/.gitignore sub/in/t.o vendor/lib/v",
	       "");
}

/* By name a file counts, and a directory by itself: nothing else that is in it. */
static void test_rules_what_is_named_counts_as_tracked(void **state)
{
	struct strlist also = STRLIST_INIT;

	(void)state;
	sh("mkdir -p named/out/empty named/out/full named/out/other; cd named; echo out/ >.gitignore; "
	   "touch out/a out/b out/full/c .env");
	expect("named", (struct rules_opts){ .also = &also }, ".gitignore", "skip sensitive .env");
	add_words(&also, ".env out/a out/empty out/full");
	expect_dirs("named", (struct rules_opts){ .also = &also }, "out out/empty out/full");
	expect("named", (struct rules_opts){ .also = &also }, ".env .gitignore out/a",
	       "sensitive .env");
	strlist_release(&also);
}

static void test_rules_what_is_wanted_as_a_whole(void **state)
{
	struct strlist whole = STRLIST_INIT;

	(void)state;
	sh("mkdir -p whole/out/deep/empty whole/other && cd whole && git init -q . &&"
	   " printf 'out/\n*.log\nother/\n' >.gitignore && touch out/a out/b out/deep/c out/deep/.env"
	   " t.log u.log other/x");
	add_words(&whole, "out/deep t.log");
	/* what is empty is there, too, and a secret stays one */
	expect_dirs("whole", (struct rules_opts){ .whole = &whole }, "out out/deep out/deep/empty");
	expect("whole", (struct rules_opts){ .whole = &whole }, ".gitignore out/deep/c t.log",
	       "skip sensitive out/deep/.env");
	strlist_release(&whole);
}

static void test_rules_defaults_are_dropped_but_what_was_added(void **state)
{
	struct strbuf text = STRBUF_INIT;

	(void)state;
	strbuf_addf(&text, "# mine\n%s!build/\nnode_modules\nbig/", rules_default_patterns);
	rules_drop_defaults(&text);
	assert_string_equal(text.buf, "# mine\n!build/\nnode_modules\nbig/");
	rules_drop_defaults(&text);
	assert_string_equal(text.buf, "# mine\n!build/\nnode_modules\nbig/");
	strbuf_reset(&text);
	rules_drop_defaults(&text);
	assert_string_equal(text.buf, "");
	strbuf_release(&text);
}

static void test_rules_gitignore_links_are_not_followed(void **state)
{
	(void)state;
	sh("git init -q lnk; cd lnk; echo f >pats; ln -s pats .gitignore; mkdir d; mkfifo "
	   "d/.gitignore; "
	   "touch f d/g");
	expect("lnk", (struct rules_opts){ .defaults = "" }, ".gitignore d/g f pats",
	       "skip special d/.gitignore");
}

static void test_rules_say_what_cannot_be_read(void **state)
{
	struct probe got;

	(void)state;
	sh("git init -q warn; cd warn; touch f g.o; printf '*.o\\n' >.gitignore; "
	   "rm -f .git/info/exclude; mkdir -p .git/info/exclude; printf garbage >.git/index");
	probe(&got, "warn", (struct rules_opts){ .defaults = "" });
	assert_string_equal(join(&got.files), ".gitignore f");
	assert_int_equal(got.others.nr, 2);
	assert_non_null(strstr(join(&got.others), "warning ignore rules left unread"));
	assert_non_null(
		strstr(join(&got.others), "warning files that are both tracked and ignored"));
	probe_release(&got);
}

/* ---- the fingerprint, by which an earlier walk is known to have gone by the same rules ---- */

static uint64_t fingerprint(const char *name, struct rules_opts opts, const char *dir)
{
	struct gitconfig *config = NULL;
	struct arena arena = ARENA_INIT;
	struct rules *rules = NULL;
	struct repo *repo = NULL;
	char root[2 * PATH_MAX];
	struct rules_dir at;
	uint64_t print;
	int fd;

	snprintf(root, sizeof(root), "%s/%s", scratch, name);
	(void)repo_open_at(&repo, root);
	assert_int_equal(gitconfig_open(&config, repo), 0);
	opts.root = root;
	opts.repo = repo;
	opts.config = config;
	assert_int_equal(rules_open(&rules, &opts), 0);
	at = rules_begin(rules);
	fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rules_enter(&at, rules, &arena, fd, "", is_there(in_scratch("%s/.gitignore", name)), false);
	close(fd);
	if (*dir) {
		fd = open(in_scratch("%s/%s", name, dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		rules_enter(&at, rules, &arena, fd, dir,
			    is_there(in_scratch("%s/%s/.gitignore", name, dir)), false);
		close(fd);
	}
	print = at.fingerprint;
	rules_close(rules);
	arena_release(&arena);
	gitconfig_close(config);
	repo_free(repo);
	return print;
}

static void test_rules_fingerprint_changes_with_every_source(void **state)
{
	static const char *const changes[] = {
		"echo x >fp/.gitignore",
		"echo y >fp/.gitignore",
		"echo x >fp/d/.gitignore",
		"echo '!x' >fp/d/.gitignore",
		"echo z >fp/.git/info/exclude",
		"echo z >git/ignore",
		"echo zz >git/ignore",
		"git -C fp config core.ignoreCase true",
		"echo q >excl; git -C fp config core.excludesFile \"$PWD/excl\"",
	};
	struct strlist list = STRLIST_INIT;
	struct rules_opts opts = { .defaults = "a\n" };
	uint64_t seen[32];
	size_t nr = 0;

	(void)state;
	sh("git init -q fp; mkdir fp/d; rm -f fp/.git/info/exclude");
	seen[nr++] = fingerprint("fp", opts, "d");
	assert_int_equal(fingerprint("fp", opts, "d"), seen[0]);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		sh("%s", changes[i]);
		seen[nr++] = fingerprint("fp", opts, "d");
	}
	assert_int_equal(fingerprint("fp", opts, "d"), seen[nr - 1]);
	opts.defaults = "b\n";
	seen[nr++] = fingerprint("fp", opts, "d");
	strlist_add(&list, "e");
	opts.exclude = &list;
	seen[nr++] = fingerprint("fp", opts, "d");
	opts.exclude = NULL;
	opts.sensitive = &list;
	seen[nr++] = fingerprint("fp", opts, "d");
	opts.include_ignored = true;
	seen[nr++] = fingerprint("fp", opts, "d");
	opts.include_sensitive = true;
	seen[nr++] = fingerprint("fp", opts, "d");
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < i; j++)
			if (seen[i] == seen[j])
				fail_msg("%zu and %zu have the same fingerprint", j, i);
	strlist_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_rules_defaults_stand_below_the_project, no_user_rules),
		cmocka_unit_test_setup(test_rules_exclude_setting_stands_above_all, no_user_rules),
		cmocka_unit_test_setup(test_rules_sensitive_files_are_left_out_and_named, no_user_rules),
		cmocka_unit_test_setup(test_rules_nested_repositories_count_as_files, no_user_rules),
		cmocka_unit_test_setup(test_rules_what_is_named_counts_as_tracked, no_user_rules),
		cmocka_unit_test_setup(test_rules_what_is_wanted_as_a_whole, no_user_rules),
		cmocka_unit_test_setup(test_rules_defaults_are_dropped_but_what_was_added, no_user_rules),
		cmocka_unit_test_setup(test_rules_gitignore_links_are_not_followed, no_user_rules),
		cmocka_unit_test_setup(test_rules_say_what_cannot_be_read, no_user_rules),
		cmocka_unit_test_setup(test_rules_fingerprint_changes_with_every_source, no_user_rules),
	};

	return cmocka_run_group_tests_name("rules", tests, unit_setup, unit_teardown);
}
