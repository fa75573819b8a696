/* SPDX-License-Identifier: MIT */
#include "tree/vouch.h"

#include "base/base.h"
#include "git/git.h"
#include "tree/scan.h"
#include "tree/statcache.h"

struct job {
	struct gitfresh fresh;
	const struct statcache *other;
	struct strbuf path;
	int64_t start_ns;
};

/* When the system was booted, by the clock of file times. */
static int64_t boot_ns(void)
{
	struct timespec up;

	if (clock_gettime(CLOCK_BOOTTIME, &up) < 0)
		return INT64_MAX;
	return clock_file_ns() - clock_ns(&up);
}

static struct timespec seconds(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
}

static void vouch_file(struct job *job, struct wt_entry *entry, const struct statcache_entry *other)
{
	struct stat st = { .st_mode = S_IFREG,
			   .st_size = (off_t)entry->st.size,
			   .st_ino = (ino_t)entry->st.ino,
			   .st_mtim = seconds(entry->st.mtime_ns),
			   .st_ctim = seconds(entry->st.ctime_ns) };
	struct oid oid;

	if (entry->flags & WT_KNOWN || other->st.size != entry->st.size ||
	    wt_stat_racy(&entry->st, job->start_ns) ||
	    !gitfresh_wrote(&oid, &job->fresh, job->path.buf, &st) || !oid_equal(&oid, &other->oid))
		return;
	entry->oid = oid;
	memcpy(entry->sha256, other->sha256, SHA256_SIZE);
	entry->flags |= WT_KNOWN;
}

static void vouch_dir(struct job *job, struct wt_dir *dir, const struct statcache_dir *other)
{
	const struct statcache_entry *theirs = statcache_entries(other);
	size_t len = job->path.len;
	uint32_t j = 0;

	for (size_t i = 0; i < dir->nr; i++) {
		struct wt_entry *entry = &wt_entries(dir)[i];
		const struct statcache_dir *below;
		int cmp = 1;

		while (j < other->nr &&
		       (cmp = wt_name_compare(statcache_name(other, &theirs[j]), theirs[j].name_len,
					      theirs[j].kind == WT_DIR, entry->name, entry->name_len,
					      entry->kind == WT_DIR)) < 0)
			j++;
		if (j == other->nr || cmp || theirs[j].kind != entry->kind)
			continue;
		strbuf_setlen(&job->path, len);
		strbuf_add(&job->path, entry->name, entry->name_len);
		if (entry->kind == WT_FILE) {
			vouch_file(job, entry, &theirs[j]);
		} else if (entry->kind == WT_DIR && (below = statcache_child(job->other, &theirs[j]))) {
			strbuf_addch(&job->path, '/');
			vouch_dir(job, entry->dir, below);
		}
	}
	strbuf_setlen(&job->path, len);
}

void vouch(struct scan *scan, int64_t start_ns, const struct statcache *other,
	   const struct repo *repo, const struct gitconfig *config)
{
	const struct statcache_dir *root = statcache_root(other);
	struct job job = { .other = other, .path = STRBUF_INIT, .start_ns = start_ns };

	if (!root || !origin_on_disk(&scan->origin) ||
	    !gitfresh_open(&job.fresh, repo, config, boot_ns()))
		return;
	if (job.fresh.to_ns < start_ns)
		vouch_dir(&job, scan->root, root);
	gitfresh_release(&job.fresh);
	strbuf_release(&job.path);
}
