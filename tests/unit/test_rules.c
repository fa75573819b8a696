/* SPDX-License-Identifier: MIT */
#include "worktree/rules.h"

#include "base/alloc.h"
#include "base/error.h"
#include "unit.h"
#include "git/gitconfig.h"
#include "git/repo.h"
#include "worktree/scan.h"

/*
 * Rules show in what a walk captures, so that is what is looked at. git itself
 * says what it should be wherever it can.
 */
struct probe {
	struct strlist files;  /* captured files and links, sorted */
	struct strlist dirs;   /* captured directories */
	struct strlist others; /* "default x/", "sensitive x", "skip sensitive x", "warning ..." */
};

static void collect(struct probe *out, const struct wt_dir *dir)
{
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &dir->entries[i];

		strlist_addf(entry->kind == WT_DIR ? &out->dirs : &out->files, "%s%s%s", dir->path,
			     *dir->path ? "/" : "", entry->name);
		if (entry->kind == WT_DIR)
			collect(out, entry->dir);
	}
}

/* `opts` without root, repo and config. */
static void probe(struct probe *out, const char *name, struct rules_opts opts)
{
	struct gitconfig *config = NULL;
	struct rules *rules = NULL;
	struct scan *scan = NULL;
	struct repo *repo = NULL;
	char root[2 * PATH_MAX];
	int err;

	memset(out, 0, sizeof(*out));
	snprintf(root, sizeof(root), "%s/%s", scratch, name);
	err = repo_open_at(&repo, root);
	assert_true(!err || err == CKPT_ENOTFOUND);
	assert_int_equal(gitconfig_open(&config, repo), 0);
	opts.root = root;
	opts.repo = repo;
	opts.config = config;
	if (!opts.defaults)
		opts.defaults = "";
	assert_int_equal(rules_open(&rules, &opts), 0);
	err = scan_run(&scan,
		       &(struct scan_opts){ .root = root, .rules = rules, .threads = 1 + rnd(3) });
	assert_int_equal(err, 0);
	collect(out, scan->root);
	strlist_sort_unique(&out->files);
	for (size_t i = 0; i < scan->defaults_left_out.nr; i++)
		strlist_addf(&out->others, "default %s", scan->defaults_left_out.items[i]);
	for (size_t i = 0; i < scan->sensitive_tracked.nr; i++)
		strlist_addf(&out->others, "sensitive %s", scan->sensitive_tracked.items[i]);
	for (size_t i = 0; i < scan->skips.nr; i++)
		strlist_addf(&out->others, "skip %s %s", skip_why_name(scan->skips.items[i].why),
			     scan->skips.items[i].path);
	for (size_t i = 0; i < rules_warnings(rules)->nr; i++)
		strlist_addf(&out->others, "warning %s", rules_warnings(rules)->items[i]);
	scan_free(scan);
	rules_close(rules);
	gitconfig_close(config);
	repo_free(repo);
}

static void probe_release(struct probe *probe)
{
	strlist_release(&probe->files);
	strlist_release(&probe->dirs);
	strlist_release(&probe->others);
}

static const char *join(const struct strlist *list)
{
	static char text[4][8192];
	static unsigned turn;
	char *out = text[turn++ % 4];

	*out = '\0';
	for (size_t i = 0; i < list->nr; i++)
		sprintf(out + strlen(out), "%s%s", i ? " " : "", list->items[i]);
	return out;
}

/* What must be captured, and what must be said about the rest. */
static void expect(const char *name, struct rules_opts opts, const char *files, const char *others)
{
	struct probe got;

	probe(&got, name, opts);
	assert_string_equal(join(&got.files), files);
	assert_string_equal(join(&got.others), others);
	probe_release(&got);
}

/* ---- as git ---- */

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

/* No rules of the user's, unless a test makes some. */
static int no_user_rules(void **state)
{
	(void)state;
	sh("mkdir -p git; : >git/ignore");
	return 0;
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

/* ---- our own ---- */

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
	struct probe got;

	(void)state;
	sh("mkdir -p named/out/empty named/out/full named/out/other; cd named; echo out/ >.gitignore; "
	   "touch out/a out/b out/full/c .env");
	expect("named", (struct rules_opts){ .also = &also }, ".gitignore", "skip sensitive .env");
	strlist_add(&also, ".env");
	strlist_add(&also, "out/a");
	strlist_add(&also, "out/empty");
	strlist_add(&also, "out/full");
	probe(&got, "named", (struct rules_opts){ .also = &also });
	assert_string_equal(join(&got.files), ".env .gitignore out/a");
	strlist_sort_unique(&got.dirs);
	assert_string_equal(join(&got.dirs), "out out/empty out/full");
	assert_string_equal(join(&got.others), "sensitive .env");
	probe_release(&got);
	strlist_release(&also);
}

static void test_rules_what_is_wanted_as_a_whole(void **state)
{
	struct strlist whole = STRLIST_INIT;
	struct probe got;

	(void)state;
	sh("mkdir -p whole/out/deep/empty whole/other && cd whole && git init -q . &&"
	   " printf 'out/\n*.log\nother/\n' >.gitignore && touch out/a out/b out/deep/c out/deep/.env"
	   " t.log u.log other/x");
	strlist_add(&whole, "out/deep");
	strlist_add(&whole, "t.log");
	probe(&got, "whole", (struct rules_opts){ .whole = &whole });
	assert_string_equal(join(&got.files), ".gitignore out/deep/c t.log");
	/* what is empty is there, too, and a secret stays one */
	assert_string_equal(join(&got.dirs), "out out/deep out/deep/empty");
	assert_string_equal(join(&got.others), "skip sensitive out/deep/.env");
	probe_release(&got);
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
		cmocka_unit_test_setup(test_rules_capture_what_git_sees, no_user_rules),
		cmocka_unit_test_setup(test_rules_defaults_stand_below_the_project, no_user_rules),
		cmocka_unit_test_setup(test_rules_exclude_setting_stands_above_all, no_user_rules),
		cmocka_unit_test_setup(test_rules_sensitive_files_are_left_out_and_named,
				       no_user_rules),
		cmocka_unit_test_setup(test_rules_nested_repositories_count_as_files,
				       no_user_rules),
		cmocka_unit_test_setup(test_rules_what_is_named_counts_as_tracked, no_user_rules),
		cmocka_unit_test_setup(test_rules_what_is_wanted_as_a_whole, no_user_rules),
		cmocka_unit_test_setup(test_rules_defaults_are_dropped_but_what_was_added, no_user_rules),
		cmocka_unit_test_setup(test_rules_gitignore_links_are_not_followed, no_user_rules),
		cmocka_unit_test_setup(test_rules_say_what_cannot_be_read, no_user_rules),
		cmocka_unit_test_setup(test_rules_fingerprint_changes_with_every_source,
				       no_user_rules),
	};

	return cmocka_run_group_tests_name("rules", tests, unit_setup, unit_teardown);
}
