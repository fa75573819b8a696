/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_SCANPROBE_H
#define CKPT_TESTS_SCANPROBE_H

/* Scans of directories below the scratch directory, and their results as text. After unit.h. */

#include "git/gitconfig.h"
#include "store/ingest.h"
#include "store/ingest.h"
#include "tree/scan.h"
#include "tree/statcache.h"

#include "cacheprobe.h"

static struct gitconfig *config;
static struct repo *in_repo; /* whose rules and index count; NULL: outside of git */

UNUSED static int scanprobe_setup(void **state)
{
	return unit_setup(state) || gitconfig_open(&config, NULL) ? -1 : 0;
}

UNUSED static int scanprobe_teardown(void **state)
{
	gitconfig_close(config);
	return unit_teardown(state);
}

/* Scan `name` of the scratch directory; all but the root may be given in `opts`. */
UNUSED static int scan_in(struct scan **out, const char *name, struct scan_opts opts, bool all)
{
	struct rules_opts rules_opts = {
		.repo = in_repo,
		.config = config,
		.defaults = all ? "" : rules_default_patterns,
		.include_ignored = all,
		.include_sensitive = all,
	};
	struct rules *rules = NULL;
	char root[2 * PATH_MAX];
	int err;

	snprintf(root, sizeof(root), "%s/%s", scratch, name);
	rules_opts.root = opts.root = root;
	assert_int_equal(rules_open(&rules, &rules_opts), 0);
	opts.rules = rules;
	err = scan_run(out, &opts);
	rules_close(rules);
	return err;
}

/* All that a scan found as text, equal for equal results. */
UNUSED static void describe(struct strbuf *out, const struct wt_dir *dir, bool contents)
{
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];
		char hex[SHA256_HEX + 1];

		strbuf_addf(out, "%s/%s %d %o", dir->path, entry->name, entry->kind, entry->mode);
		if (entry->kind != WT_DIR)
			strbuf_addf(out, " %llu", (unsigned long long)entry->st.size);
		if (contents && entry->kind != WT_DIR) {
			strbuf_addf(out, " %s", oid_hex(hex, &entry->oid));
			strbuf_addf(out, " %s", oid_hex_encode(hex, entry->sha256, SHA256_SIZE));
		}
		strbuf_addch(out, '\n');
		if (entry->kind == WT_DIR) {
			assert_ptr_equal(entry->dir->parent, dir);
			describe(out, entry->dir, contents);
		}
	}
	if (contents) {
		char hex[OID_HEX + 1];

		strbuf_addf(out, "tree of %s %s\n", dir->path, oid_hex(hex, &dir->tree));
	}
}

UNUSED static void describe_lists(struct strbuf *out, const struct scan *scan)
{
	for (size_t i = 0; i < scan->skips.nr; i++)
		strbuf_addf(out, "skip %s %s\n", skip_why_name(scan->skips.items[i].why),
			    scan->skips.items[i].path);
	for (size_t i = 0; i < scan->defaults_left_out.nr; i++)
		strbuf_addf(out, "default %s\n", scan->defaults_left_out.items[i]);
	for (size_t i = 0; i < scan->sensitive_tracked.nr; i++)
		strbuf_addf(out, "sensitive %s\n", scan->sensitive_tracked.items[i]);
}

/* ---- with the stat cache of an earlier one ---- */

/* Scan, read what is not known, build the trees: all as one text. */
UNUSED static struct scan *capture(struct strbuf *out, const char *name, const struct statcache *cache,
			    struct ingest_result *read)
{
	struct scan *scan = NULL;
	struct ingest_opts ingest = { .threads = 2 };

	assert_int_equal(scan_in(&scan, name,
				 (struct scan_opts){ .threads = 1 + rnd(4), .cache = cache }, true),
			 0);
	ingest.scan = scan;
	assert_int_equal(ingest_run(read, &ingest), 0);
	assert_int_equal(ingest_trees(scan->root, NULL, 2), 0);
	describe(out, scan->root, true);
	return scan;
}

UNUSED static int write_cache(const struct scan *scan)
{
	struct statcache_head head = { .origin = scan->origin };

	return cache_write("cache", &head, scan->root);
}

#endif
