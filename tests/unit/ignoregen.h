/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_IGNOREGEN_H
#define CKPT_TESTS_IGNOREGEN_H

/* Random trees with random ignore files, in a repository. After unit.h. */

#include "base/alloc.h"
#include "base/fs.h"
#include "base/strlist.h"

#include <dirent.h>
#include <strings.h>

struct ignore_tree {
	bool ignore_case;
	char *names[10]; /* most names and patterns of one tree are made of these */
	struct strlist files, dirs;
};

#define PICK(array) ((array)[rnd(ARRAY_SIZE(array))])

static void random_name(struct strbuf *out)
{
	static const char *const atoms[] = {
		"a", "b", "c", "A", "B", "foo", "bar", ".o", ".", "1", "9", "-", "_", "~",
		" ", "[", "]", "#", "!", "\\", "^", "*", "?", ":", "\t", "\v", "\r",
		"\xc3\xa9", "\xc3\x89", "\xf0\x9f\x98\x80", "\xff",
	};

	do {
		strbuf_reset(out);
		for (unsigned n = 1 + rnd(3); n; n--)
			/* Half of them plain: odd letters alone would seldom be matched. */
			strbuf_addstr(out, rnd(2) ? atoms[rnd(11)] : PICK(atoms));
		/* check-ignore would take a ":" in front for pathspec magic. */
	} while (!strcmp(out->buf, ".") || !strcmp(out->buf, "..") || *out->buf == ':');
}

static void random_glob(struct strbuf *out)
{
	static const char *const globs[] = {
		"*", "*", "**", "***", "?", "[a-c]", "[!a]", "[^b]", "[]]", "[!]a]", "[[]", "[a",
		"[\\]]", "[\\a-\\c]", "[a-]", "[A-C]", "[ab-]", "[[:alpha:]]", "[[:upper:]]",
		"[[:digit:]x]", "[![:punct:]]", "[[:space:]]", "[[:cntrl:]]", "[[:nosuch:]]",
		"[[:alnum:]_.]", "[[:lower:]-z]", "[[:]", "[[:graph:]]", "[[:print:]]",
		"[[:blank:]]", "[[:xdigit:]]", "[\xc3-\xff]", "\\", "\\*", "\\a", "\\A", "\\ ", "*.o",
	};

	strbuf_addstr(out, PICK(globs));
}

/* One component: a name that exists, with something in it made a glob. */
static void random_component(struct ignore_tree *tree, struct strbuf *out)
{
	const char *name = PICK(tree->names);
	unsigned kind = rnd(16);

	if (kind == 0) {
		strbuf_addstr(out, "**");
		return;
	}
	if (kind == 1) {
		for (unsigned n = 1 + rnd(3); n; n--)
			random_glob(out);
		return;
	}
	for (; *name; name++) {
		unsigned what = kind < 7 ? 9 : rnd(16);

		if (what == 0)
			random_glob(out);
		else if (what == 1)
			strbuf_addch(out, '?');
		else if (what == 2)
			strbuf_addf(out, "[%s%c]", rnd(4) ? "" : "!", *name);
		else if (what == 3)
			strbuf_addch(out, '*');
		else if (what == 4 && *name >= 'a' && *name <= 'z')
			strbuf_addch(out, *name - 'a' + 'A');
		else if (what == 5 || (strchr("\\*?[", *name) && rnd(4)))
			strbuf_addf(out, "\\%c", *name);
		else
			strbuf_addch(out, *name);
	}
	/* Stars after letters mean something else when a slash or nothing follows. */
	if (!rnd(12))
		strbuf_addstr(out, "**");
}

static void random_pattern(struct ignore_tree *tree, struct strbuf *out)
{
	static const char *const odd[] = {
		"", " ", "/", "!", "!/", "//", "\\", "# a", "#", "**", "/**", "**/", "!*/", "\t",
		"/*", "!**/*", "**/**", "a\\", "!.gitignore", "/./a", "a//b",
	};
	static const char *const ends[] = { " ", "  ", "\\ ", "\\  ", "\t", "\r", "/ ", "\\", " \\" };

	if (!rnd(15)) {
		strbuf_addstr(out, PICK(odd));
		return;
	}
	if (!rnd(4))
		strbuf_addch(out, '!');
	if (!rnd(5))
		strbuf_addch(out, '/');
	if (!rnd(12))
		strbuf_addstr(out, "**/");
	for (unsigned n = rnd(3) ? 1 : 1 + rnd(4); n; n--) {
		random_component(tree, out);
		if (n > 1)
			strbuf_addstr(out, rnd(6) ? "/" : rnd(4) ? "/**/" : "\\/");
	}
	if (!rnd(5))
		strbuf_addch(out, '/');
	if (!rnd(8))
		strbuf_addstr(out, PICK(ends));
}

static void write_patterns(struct ignore_tree *tree, const char *path)
{
	struct strbuf text = STRBUF_INIT;
	bool crlf = !rnd(6);

	if (!rnd(6))
		strbuf_addstr(&text, "\xef\xbb\xbf");
	for (unsigned n = rnd(7); n; n--) {
		random_pattern(tree, &text);
		if (!rnd(150))
			strbuf_add(&text, "\0x", 2);
		if (n > 1 || rnd(4))
			strbuf_addstr(&text, crlf ? "\r\n" : "\n");
	}
	put_bytes(path, text.buf, text.len);
	strbuf_release(&text);
}

/* With core.ignoreCase git takes "A" for tracked if "a" is: no such pairs, then. */
static bool is_taken(struct ignore_tree *tree, const char *path)
{
	struct strlist *lists[] = { &tree->files, &tree->dirs };

	for (size_t l = 0; l < 2; l++)
		for (size_t i = 0; i < lists[l]->nr; i++)
			if (tree->ignore_case ? !strcasecmp(lists[l]->items[i], path)
					      : !strcmp(lists[l]->items[i], path))
				return true;
	return false;
}

static void fill_dir(struct ignore_tree *tree, const char *rel, int depth)
{
	struct strbuf path = STRBUF_INIT, name = STRBUF_INIT;

	if (rnd(10) < (*rel ? 3 : 8)) {
		strbuf_addf(&path, "%s%s.gitignore", rel, *rel ? "/" : "");
		write_patterns(tree, path.buf);
		strlist_add(&tree->files, path.buf);
	}
	for (unsigned n = 2 + rnd(7); n; n--) {
		if (rnd(5)) {
			strbuf_reset(&name);
			strbuf_addstr(&name, PICK(tree->names));
		} else {
			random_name(&name);
		}
		strbuf_reset(&path);
		strbuf_addf(&path, "%s%s%s", rel, *rel ? "/" : "", name.buf);
		if (is_taken(tree, path.buf))
			continue;
		if (depth < 4 && rnd(5) < 2 && tree->files.nr < 150) {
			assert_int_equal(mkdir(path.buf, 0755), 0);
			strlist_add(&tree->dirs, path.buf);
			fill_dir(tree, path.buf, depth + 1);
			continue;
		}
		strlist_add(&tree->files, path.buf);
		if (!rnd(10))
			assert_int_equal(symlink("..", path.buf), 0);
		else
			put_text(path.buf, "x");
	}
	strbuf_release(&path);
	strbuf_release(&name);
}

static void add_file(struct ignore_tree *tree, const char *path)
{
	if (is_taken(tree, path))
		return;
	put_text(path, "x");
	strlist_add(&tree->files, path);
}

/* Directories with one pattern each: here no pattern hides what another one does. */
static void fill_single(struct ignore_tree *tree)
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
		put_bytes(path.buf, pattern.buf, pattern.len);
		strlist_add(&tree->files, path.buf);
		for (size_t n = 0; n < ARRAY_SIZE(tree->names); n++) {
			strbuf_reset(&path);
			strbuf_addf(&path, "d%d/%s", i, tree->names[n]);
			if (n < 2 && !is_taken(tree, path.buf)) {
				assert_int_equal(mkdir(path.buf, 0755), 0);
				strlist_add(&tree->dirs, path.buf);
				strbuf_addf(&path, "/%s", PICK(tree->names));
				if (n == 0) {
					assert_int_equal(mkdir(path.buf, 0755), 0);
					strlist_add(&tree->dirs, path.buf);
					strbuf_addf(&path, "/%s", PICK(tree->names));
				}
			}
			add_file(tree, path.buf);
		}
	}
	strbuf_release(&path);
	strbuf_release(&pattern);
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

/* A tree with ignore files in place of what is in the worktree, which is the current directory. */
static void ignoregen(struct ignore_tree *tree, const char *excludes_file)
{
	struct strbuf text = STRBUF_INIT, added = STRBUF_INIT;

	clear_worktree();
	tree->ignore_case = !rnd(3);
	for (size_t i = 0; i < ARRAY_SIZE(tree->names); i++) {
		random_name(&text);
		tree->names[i] = xstrdup(text.buf);
	}
	if (rnd(2)) {
		fill_dir(tree, "", 0);
		write_patterns(tree, ".git/info/exclude");
		write_patterns(tree, excludes_file);
	} else {
		fill_single(tree);
		put_text(".git/info/exclude", "");
		put_text(excludes_file, "");
	}
	strbuf_reset(&text);
	strbuf_addf(&text, "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
		    "\tignoreCase = %s\n\texcludesFile = %s\n",
		    tree->ignore_case ? "true" : "false", excludes_file);
	put_text(".git/config", text.buf);
	/* Some are tracked, whatever the patterns say about them. */
	for (size_t i = 0; i < tree->files.nr; i++)
		if (!rnd(5))
			strbuf_add(&added, tree->files.items[i], strlen(tree->files.items[i]) + 1);
	put_bytes(".git/added", added.buf, added.len);
	sh("git --literal-pathspecs add -f --pathspec-from-file=.git/added --pathspec-file-nul");
	strbuf_release(&text);
	strbuf_release(&added);
}

static void ignoregen_release(struct ignore_tree *tree)
{
	strlist_release(&tree->files);
	strlist_release(&tree->dirs);
	for (size_t i = 0; i < ARRAY_SIZE(tree->names); i++)
		free(tree->names[i]);
}

#endif
