/* SPDX-License-Identifier: MIT */
/*
 * Besides some samples, random trees with random ignore files, about which
 * this code and git must be of one mind. CKPT_TEST_SEED and CKPT_TEST_ROUNDS
 * choose others than the usual ones.
 */
#include "git/exclude.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fsio.h"
#include "base/path.h"
#include "base/spawn.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "git/gitindex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static char scratch[4096];

/* ---- samples ---- */

static enum exclude_verdict ask(const char *patterns, const char *base, const char *path,
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
		int verdict = (int)ask(samples[i].patterns, samples[i].base, samples[i].path,
				       samples[i].is_dir);

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

/* ---- random trees ---- */

struct tree {
	uint64_t rng;
	bool ignore_case;
	char *names[10]; /* most names and patterns of one tree are made of these */
	struct strlist files, dirs;
};

static uint64_t rnd(struct tree *tree, uint64_t below)
{
	tree->rng ^= tree->rng << 13;
	tree->rng ^= tree->rng >> 7;
	tree->rng ^= tree->rng << 17;
	return (tree->rng >> 11) % below;
}

#define PICK(tree, array) ((array)[rnd(tree, ARRAY_SIZE(array))])

static void random_name(struct tree *tree, struct strbuf *out)
{
	static const char *const atoms[] = {
		"a", "b", "c", "A", "B", "foo", "bar", ".o", ".", "1", "9", "-", "_", "~",
		" ", "[", "]", "#", "!", "\\", "^", "*", "?", ":", "\t", "\v", "\r",
		"\xc3\xa9", "\xc3\x89", "\xf0\x9f\x98\x80", "\xff",
	};

	do {
		strbuf_reset(out);
		for (uint64_t n = 1 + rnd(tree, 3); n; n--)
			/* Half of them plain: odd letters alone would seldom be matched. */
			strbuf_addstr(out, rnd(tree, 2) ? atoms[rnd(tree, 11)] : PICK(tree, atoms));
		/* check-ignore would take a ":" in front for pathspec magic. */
	} while (!strcmp(out->buf, ".") || !strcmp(out->buf, "..") || *out->buf == ':');
}

static void random_glob(struct tree *tree, struct strbuf *out)
{
	static const char *const globs[] = {
		"*", "*", "**", "***", "?", "[a-c]", "[!a]", "[^b]", "[]]", "[!]a]", "[[]", "[a",
		"[\\]]", "[\\a-\\c]", "[a-]", "[A-C]", "[ab-]", "[[:alpha:]]", "[[:upper:]]",
		"[[:digit:]x]", "[![:punct:]]", "[[:space:]]", "[[:cntrl:]]", "[[:nosuch:]]",
		"[[:alnum:]_.]", "[[:lower:]-z]", "[[:]", "[[:graph:]]", "[[:print:]]",
		"[[:blank:]]", "[[:xdigit:]]", "[\xc3-\xff]", "\\", "\\*", "\\a", "\\A", "\\ ", "*.o",
	};

	strbuf_addstr(out, PICK(tree, globs));
}

/* One component: a name that exists, with something in it made a glob. */
static void random_component(struct tree *tree, struct strbuf *out)
{
	const char *name = PICK(tree, tree->names);
	uint64_t kind = rnd(tree, 16);

	if (kind == 0) {
		strbuf_addstr(out, "**");
		return;
	}
	if (kind == 1) {
		for (uint64_t n = 1 + rnd(tree, 3); n; n--)
			random_glob(tree, out);
		return;
	}
	for (; *name; name++) {
		uint64_t what = kind < 7 ? 9 : rnd(tree, 16);

		if (what == 0)
			random_glob(tree, out);
		else if (what == 1)
			strbuf_addch(out, '?');
		else if (what == 2)
			strbuf_addf(out, "[%s%c]", rnd(tree, 4) ? "" : "!", *name);
		else if (what == 3)
			strbuf_addch(out, '*');
		else if (what == 4 && *name >= 'a' && *name <= 'z')
			strbuf_addch(out, *name - 'a' + 'A');
		else if (what == 5 || (strchr("\\*?[", *name) && rnd(tree, 4)))
			strbuf_addf(out, "\\%c", *name);
		else
			strbuf_addch(out, *name);
	}
	/* Stars behind letters mean something else when a slash or nothing follows. */
	if (!rnd(tree, 12))
		strbuf_addstr(out, "**");
}

static void random_pattern(struct tree *tree, struct strbuf *out)
{
	static const char *const odd[] = {
		"", " ", "/", "!", "!/", "//", "\\", "# a", "#", "**", "/**", "**/", "!*/", "\t",
		"/*", "!**/*", "**/**", "a\\", "!.gitignore", "/./a", "a//b",
	};
	static const char *const ends[] = { " ", "  ", "\\ ", "\\  ", "\t", "\r", "/ ", "\\", " \\" };

	if (!rnd(tree, 15)) {
		strbuf_addstr(out, PICK(tree, odd));
		return;
	}
	if (!rnd(tree, 4))
		strbuf_addch(out, '!');
	if (!rnd(tree, 5))
		strbuf_addch(out, '/');
	if (!rnd(tree, 12))
		strbuf_addstr(out, "**/");
	for (uint64_t n = rnd(tree, 3) ? 1 : 1 + rnd(tree, 4); n; n--) {
		random_component(tree, out);
		if (n > 1)
			strbuf_addstr(out, rnd(tree, 6) ? "/" : rnd(tree, 4) ? "/**/" : "\\/");
	}
	if (!rnd(tree, 5))
		strbuf_addch(out, '/');
	if (!rnd(tree, 8))
		strbuf_addstr(out, PICK(tree, ends));
}

static void write_patterns(struct tree *tree, const char *path)
{
	struct strbuf text = STRBUF_INIT;
	bool crlf = !rnd(tree, 6);

	if (!rnd(tree, 6))
		strbuf_addstr(&text, "\xef\xbb\xbf");
	for (uint64_t n = rnd(tree, 7); n; n--) {
		random_pattern(tree, &text);
		if (!rnd(tree, 150))
			strbuf_add(&text, "\0x", 2);
		if (n > 1 || rnd(tree, 4))
			strbuf_addstr(&text, crlf ? "\r\n" : "\n");
	}
	assert_int_equal(fs_write_file(AT_FDCWD, path, text.buf, text.len, 0644, FS_FAST), 0);
	strbuf_release(&text);
}

/* With core.ignoreCase git takes "A" for tracked if "a" is: no such pairs, then. */
static bool is_taken(struct tree *tree, const char *path)
{
	struct strlist *lists[] = { &tree->files, &tree->dirs };

	for (size_t l = 0; l < 2; l++)
		for (size_t i = 0; i < lists[l]->nr; i++)
			if (tree->ignore_case ? !strcasecmp(lists[l]->items[i], path)
					      : !strcmp(lists[l]->items[i], path))
				return true;
	return false;
}

static void fill_dir(struct tree *tree, const char *rel, int depth)
{
	struct strbuf path = STRBUF_INIT, name = STRBUF_INIT;

	if (rnd(tree, 10) < (*rel ? 3 : 8)) {
		strbuf_addf(&path, "%s%s.gitignore", rel, *rel ? "/" : "");
		write_patterns(tree, path.buf);
		strlist_add(&tree->files, path.buf);
	}
	for (uint64_t n = 2 + rnd(tree, 7); n; n--) {
		if (rnd(tree, 5)) {
			strbuf_reset(&name);
			strbuf_addstr(&name, PICK(tree, tree->names));
		} else {
			random_name(tree, &name);
		}
		strbuf_reset(&path);
		strbuf_addf(&path, "%s%s%s", rel, *rel ? "/" : "", name.buf);
		if (is_taken(tree, path.buf))
			continue;
		if (depth < 4 && rnd(tree, 5) < 2 && tree->files.nr < 150) {
			assert_int_equal(mkdir(path.buf, 0755), 0);
			strlist_add(&tree->dirs, path.buf);
			fill_dir(tree, path.buf, depth + 1);
			continue;
		}
		strlist_add(&tree->files, path.buf);
		if (!rnd(tree, 10))
			assert_int_equal(symlink("..", path.buf), 0);
		else
			assert_int_equal(fs_write_file(AT_FDCWD, path.buf, "x", 1, 0644, FS_FAST),
					 0);
	}
	strbuf_release(&path);
	strbuf_release(&name);
}

static void add_file(struct tree *tree, const char *path)
{
	if (is_taken(tree, path))
		return;
	assert_int_equal(fs_write_file(AT_FDCWD, path, "x", 1, 0644, FS_FAST), 0);
	strlist_add(&tree->files, path);
}

/* Directories with one pattern each: here no pattern hides what another one does. */
static void fill_single(struct tree *tree)
{
	struct strbuf path = STRBUF_INIT, pattern = STRBUF_INIT;

	for (int i = 0; i < 12; i++) {
		strbuf_reset(&path);
		strbuf_addf(&path, "d%d", i);
		assert_int_equal(mkdir(path.buf, 0755), 0);
		strlist_add(&tree->dirs, path.buf);
		strbuf_reset(&pattern);
		random_pattern(tree, &pattern);
		strbuf_addf(&path, "/.gitignore");
		assert_int_equal(fs_write_file(AT_FDCWD, path.buf, pattern.buf, pattern.len, 0644,
					       FS_FAST), 0);
		strlist_add(&tree->files, path.buf);
		for (size_t n = 0; n < ARRAY_SIZE(tree->names); n++) {
			strbuf_reset(&path);
			strbuf_addf(&path, "d%d/%s", i, tree->names[n]);
			if (n < 2 && !is_taken(tree, path.buf)) {
				assert_int_equal(mkdir(path.buf, 0755), 0);
				strlist_add(&tree->dirs, path.buf);
				strbuf_addf(&path, "/%s", PICK(tree, tree->names));
				if (n == 0) {
					assert_int_equal(mkdir(path.buf, 0755), 0);
					strlist_add(&tree->dirs, path.buf);
					strbuf_addf(&path, "/%s", PICK(tree, tree->names));
				}
			}
			add_file(tree, path.buf);
		}
	}
	strbuf_release(&path);
	strbuf_release(&pattern);
}

/* ---- what git says, and what we say ---- */

static void run(struct strbuf *out, const char *command)
{
	const char *argv[] = { "sh", "-c", command, NULL };

	strbuf_reset(out);
	if (spawn_capture(out, NULL, argv))
		fail_msg("%s: %s", command, ckpt_error_last());
}

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

	run(&said, "git ls-files -z -o --exclude-standard");
	for (const char *p = said.buf; p < said.buf + said.len; p += strlen(p) + 1)
		strlist_add(&gits, p);
	strlist_sort_unique(&gits);
	strlist_sort_unique(&walk->unignored);
	same = strlist_equal(&gits, &walk->unignored);
	if (!same)
		print_error("ls-files shows %zu files, we %zu\n", gits.nr, walk->unignored.nr);
	assert_int_equal(fs_write_file(AT_FDCWD, ".git/asked", walk->paths.buf, walk->paths.len,
				       0644, FS_FAST), 0);
	run(&said, "git check-ignore -z --stdin -v -n --no-index <.git/asked || test $? = 1");
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

static void clear_worktree(void)
{
	DIR *dir = opendir(".");
	struct dirent *entry;

	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    strcmp(entry->d_name, ".git"))
			fs_remove_tree(AT_FDCWD, entry->d_name);
	closedir(dir);
	unlink(".git/index");
}

static void make_tree(struct tree *tree, const char *excludes_file)
{
	struct strbuf text = STRBUF_INIT, added = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(tree->names); i++) {
		random_name(tree, &text);
		tree->names[i] = xstrdup(text.buf);
	}
	if (rnd(tree, 2)) {
		fill_dir(tree, "", 0);
		write_patterns(tree, ".git/info/exclude");
		write_patterns(tree, excludes_file);
	} else {
		fill_single(tree);
		fs_write_file(AT_FDCWD, ".git/info/exclude", "", 0, 0644, FS_FAST);
		fs_write_file(AT_FDCWD, excludes_file, "", 0, 0644, FS_FAST);
	}
	strbuf_reset(&text);
	strbuf_addf(&text, "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
		    "\tignoreCase = %s\n\texcludesFile = %s\n",
		    tree->ignore_case ? "true" : "false", excludes_file);
	fs_write_file(AT_FDCWD, ".git/config", text.buf, text.len, 0644, FS_FAST);
	/* Some are tracked, whatever the patterns say about them. */
	for (size_t i = 0; i < tree->files.nr; i++)
		if (!rnd(tree, 5))
			strbuf_add(&added, tree->files.items[i], strlen(tree->files.items[i]) + 1);
	fs_write_file(AT_FDCWD, ".git/added", added.buf, added.len, 0644, FS_FAST);
	run(&text, "git --literal-pathspecs add -f --pathspec-from-file=.git/added "
		   "--pathspec-file-nul");
	strbuf_release(&text);
	strbuf_release(&added);
}

static bool run_round(uint64_t seed, size_t *decisions, size_t *ignored)
{
	struct tree tree = { .rng = seed * 0x9e3779b97f4a7c15u + 1 };
	struct walk walk = { .verdicts = STRBUF_INIT, .paths = STRBUF_INIT };
	struct exclude_chain user = { NULL, NULL }, info = { NULL, &user };
	struct strbuf excludes_file = STRBUF_INIT, gitdir = STRBUF_INIT;
	struct gitindex *index = NULL;
	bool same;

	tree.ignore_case = walk.ignore_case = !rnd(&tree, 3);
	strbuf_addf(&excludes_file, "%s/excludes", scratch);
	strbuf_addf(&gitdir, "%s/work/.git", scratch);
	clear_worktree();
	make_tree(&tree, excludes_file.buf);
	if (gitindex_open(&index, scratch, gitdir.buf, false))
		fail_msg("%s", ckpt_error_last());
	walk.index = index;
	user.list = load(&walk, excludes_file.buf, "");
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
	strbuf_release(&excludes_file);
	strbuf_release(&gitdir);
	strlist_release(&tree.files);
	strlist_release(&tree.dirs);
	for (size_t i = 0; i < ARRAY_SIZE(tree.names); i++)
		free(tree.names[i]);
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
	uint64_t rounds = number_from_env("CKPT_TEST_ROUNDS", 60);
	size_t decisions = 0, ignored = 0;

	(void)state;
	for (uint64_t i = 0; i < rounds; i++)
		if (!run_round(seed + i, &decisions, &ignored))
			fail_msg("differs from git: CKPT_TEST_SEED=%llu CKPT_TEST_ROUNDS=1",
				 (unsigned long long)(seed + i));
	print_message("%zu decisions, %zu of them to ignore\n", decisions, ignored);
	/* Else the generator makes nothing worth comparing. */
	assert_true(rounds < 60 || (decisions > 2000 && ignored > decisions / 10));
}

static int setup(void **state)
{
	const char *tmp = getenv("TMPDIR");
	struct strbuf out = STRBUF_INIT;

	(void)state;
	for (char **var = environ; *var;) {
		char *name = xmemdupz(*var, strcspn(*var, "="));

		if (!strncmp(name, "GIT_", 4)) {
			unsetenv(name);
			var = environ;
		} else {
			var++;
		}
		free(name);
	}
	snprintf(scratch, sizeof(scratch), "%s/ckpt-exclude-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(scratch) || chdir(scratch))
		return -1;
	setenv("HOME", scratch, 1);
	setenv("XDG_CONFIG_HOME", scratch, 1);
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	run(&out, "git init -q work");
	strbuf_release(&out);
	return chdir("work");
}

static int teardown(void **state)
{
	(void)state;
	return chdir("/") || fs_remove_tree(AT_FDCWD, scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exclude_samples),
		cmocka_unit_test(test_exclude_chain_first_opinion_decides),
		cmocka_unit_test(test_exclude_agrees_with_git),
	};

	return cmocka_run_group_tests_name("exclude", tests, setup, teardown);
}
