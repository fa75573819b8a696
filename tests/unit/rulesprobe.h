/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_RULESPROBE_H
#define CKPT_TESTS_RULESPROBE_H

/*
 * What rules make of a worktree. After unit.h.
 *
 * Rules show in what a walk captures, so that is what is looked at. git itself
 * says what it should be wherever it can.
 */

#include "base/error.h"
#include "git/gitconfig.h"
#include "git/repo.h"
#include "tree/rules.h"
#include "tree/scan.h"

struct probe {
	struct strlist files;  /* captured files and links, sorted */
	struct strlist dirs;   /* captured directories */
	struct strlist others; /* "default x/", "sensitive x", "skip sensitive x", "warning ..." */
};

static void collect(struct probe *out, const struct wt_dir *dir)
{
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];

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
UNUSED static void expect(const char *name, struct rules_opts opts, const char *files, const char *others)
{
	struct probe got;

	probe(&got, name, opts);
	assert_string_equal(join(&got.files), files);
	assert_string_equal(join(&got.others), others);
	probe_release(&got);
}

/* The directories that must be captured. */
UNUSED static void expect_dirs(const char *name, struct rules_opts opts, const char *dirs)
{
	struct probe got;

	probe(&got, name, opts);
	strlist_sort_unique(&got.dirs);
	assert_string_equal(join(&got.dirs), dirs);
	probe_release(&got);
}

/* No rules of the user's, unless a test makes some. */
static int no_user_rules(void **state)
{
	(void)state;
	sh("mkdir -p git; : >git/ignore");
	return 0;
}

#endif
