/* SPDX-License-Identifier: MIT */
#include "watch/watch_cover_internal.h"

#include "base/base.h"

/* Names take that much, and a few bytes for the line before them. */
enum { NAMES_MAX = WATCHED_ANSWER_MAX - WATCHED_QUESTION_MAX };

/* The watched directory is the one that its path leads to. */
static bool is_there(struct watch_cover *cover)
{
	struct stat st;

	if (!cover->gone && !lstat(cover->root, &st) && st.st_dev == cover->dev &&
	    st.st_ino == cover->ino)
		return true;
	cover->gone = true;
	return false;
}

/* Another cache than the one that was loaded, or places where watches are missing. */
static enum watch_trouble load_if_needed(struct watch_cover *cover, const struct statcache_id *asked)
{
	const struct statcache_id *loaded = &cover->loaded;

	if (asked->base == loaded->base && asked->size == loaded->size && !cover->nodes.loose_nr)
		return WATCH_NONE;
	return watch_cover_load(cover);
}

static bool add_path(struct strlist *out, size_t *room, const struct watch_node *node)
{
	struct strbuf path = STRBUF_INIT;

	watch_nodes_path(&path, node);
	if (path.len + 1 > *room) {
		strbuf_release(&path);
		return false;
	}
	*room -= path.len + 1;
	strlist_take(out, strbuf_detach(&path, NULL));
	return true;
}

/* False: there are too many. */
static bool collect(struct watched *out, const struct watch_cover *cover, uint64_t since)
{
	size_t room = NAMES_MAX;

	for (const struct watch_node *node = cover->nodes.newest; node && node->changed > since;
	     node = node->older)
		if (!add_path(&out->dirs, &room, node))
			return false;
	for (const struct watch_node *node = cover->nodes.loose; node; node = node->older)
		if (!add_path(&out->trees, &room, node))
			return false;
	strlist_sort_unique(&out->dirs);
	strlist_sort_unique(&out->trees);
	return true;
}

static bool is_known(const struct watch_cover *cover, const struct watched_question *question)
{
	return !cover->lost && question->since.instance == cover->instance &&
	       question->since.tick < cover->tick && cover->loaded.size &&
	       question->cache.base == cover->loaded.base &&
	       question->cache.size == cover->loaded.size;
}

void watch_cover_answer(struct watched *out, enum watch_trouble *trouble_out,
			struct watch_cover *cover, const struct watched_question *question,
			const struct watched_view *view)
{
	bool synced;

	memset(out, 0, sizeof(*out));
	out->all = true;
	*trouble_out = WATCH_NONE;
	if (cover->blind || !watched_view_equal(view, &question->view) || !is_there(cover))
		return;
	synced = watch_cover_sync(cover);
	if (synced)
		*trouble_out = load_if_needed(cover, &question->cache);
	if (*trouble_out || cover->gone)
		return;
	if (synced && is_known(cover, question)) {
		out->all = !collect(out, cover, question->since.tick);
		if (out->all) {
			strlist_release(&out->dirs);
			strlist_release(&out->trees);
		}
	}
	/* Even if it is not known what happened before: from now on it is (1). */
	out->now = (struct watch_mark){ cover->instance, cover->tick++ };
}
