/* SPDX-License-Identifier: MIT */
#include "show/complete.h"

#include "base/base.h"
#include "record/record.h"
#include "restore/restore.h"
#include "session/session.h"
#include "show/path.h"
#include "show/report.h"
#include "turns/turns.h"

enum { CHECKPOINTS_MAX = 50 };

/* ---- checkpoints ---- */

/* "@~2, 3 minutes ago, before the rewrite (agent) [pinned]"; `position` may be "" */
static char *describe(const struct ckpt_record *record, const char *position, int64_t now)
{
	char age[CLOCK_ISO_SIZE], *title = title_of(record);
	struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "%s%s%s, %s", position, *position ? ", " : "",
		    clock_format_age(age, record->created_at, now), title);
	if (strcmp(record->source, "cli") != 0)
		strbuf_addf(&text, " (%s)", record->source);
	if (record->pinned)
		strbuf_addstr(&text, " [pinned]");
	if (record_expired(record, now))
		strbuf_addstr(&text, " [expired]");
	free(title);
	return strbuf_detach(&text, NULL);
}

/* True for the beginning of the six digits; a single letter may begin any other name. */
static bool is_short_id(const char *typed)
{
	size_t len = strspn(typed, "0123456789abcdef");

	return len >= 2 && len <= 6 && !typed[len];
}

/* Its id, its six digits, or "@~<back>", or "step:<n>", depending on what was typed. */
static void add_names(struct complete *complete, const struct ckpt_record *record,
		      const char *position, struct strlist *steps)
{
	bool by_position = *complete->typed == '@';
	char *text = describe(record, by_position ? "" : position, clock_now()), *name = NULL;

	if (by_position) {
		if (*position)
			complete_add(complete, position, text);
	} else if (!strlist_has(&complete->look->args, record->id)) {
		complete_add(complete,
			     is_short_id(complete->typed) ? report_short_id(record) : record->id,
			     text);
	}
	if (*complete->typed == 's' && record->step >= 0) {
		name = xstrfmt("step:%lld", (long long)record->step);
		/* Of two with the same step the newest is meant. */
		if (!strlist_has(steps, name))
			complete_add(complete, name, text);
		strlist_add(steps, name);
	}
	free(name);
	free(text);
}

/* "turn:<n>" of the session that was active last, with the prompts. */
static void add_turns(struct complete *complete, struct session *session)
{
	const struct turn_session *last;
	struct turns turns;

	if (*complete->typed != 't' || turns_read(&turns, session->store))
		return;
	last = turns.nr ? &turns.items[turns.nr - 1] : NULL;
	for (size_t i = last ? last->nr : 0; i--;) {
		char *name = xstrfmt("turn:%" PRIu64, last->items[i].number);

		complete_add(complete, name, last->items[i].prompt);
		free(name);
	}
	turns_release(&turns);
}

/* The names that people gave, however old the checkpoint is. */
static void add_given(struct complete *complete, struct session *session,
		      const struct ref_list *refs)
{
	struct strlist names = STRLIST_INIT;

	keepers_names(&names, session->store);
	for (size_t i = 0; i < names.nr; i++) {
		const struct ref_item *ref = lookup_named(session->store, refs, names.items[i]);
		struct ckpt_record record;
		char *text;

		if (!ref || record_read(&record, session->store, ref))
			continue;
		text = describe(&record, "", clock_now());
		complete_add(complete, names.items[i], text);
		free(text);
		record_release(&record);
	}
	strlist_release(&names);
}

bool complete_given_names(struct complete *complete)
{
	struct session *session = complete_session(complete);
	struct ref_list refs;

	if (session && session->store && !refs_list(&refs, session->store)) {
		add_given(complete, session, &refs);
		refs_release(&refs);
	}
	return true;
}

void complete_checkpoints(struct complete *complete)
{
	struct session *session = complete_session(complete);
	struct strlist steps = STRLIST_INIT;
	struct ref_list refs;
	size_t nr = 0, back = 0;

	if (!session || !session->store || refs_list(&refs, session->store))
		return;
	add_given(complete, session, &refs);
	add_turns(complete, session);
	for (size_t i = refs.nr; i-- && nr < CHECKPOINTS_MAX;) {
		const char *typed = complete->typed;
		struct ckpt_record record;
		char *position;

		if (record_read(&record, session->store, &refs.items[i]))
			continue;
		position = report_position(&back, &record);
		/* With part of an id typed, older ones come into reach. */
		if (is_short_id(typed) ? !strncmp(report_short_id(&record), typed, strlen(typed))
				       : strncmp(typed, "chk_", 4) != 0 ||
						 !strncmp(record.id, typed, strlen(typed))) {
			add_names(complete, &record, position, &steps);
			nr++;
		}
		free(position);
		record_release(&record);
	}
	strlist_release(&steps);
	refs_release(&refs);
}

/* ---- paths ---- */

/* The directory that was typed, and its current contents. */
struct place {
	char *typed;          /* "../src/", "" */
	struct strbuf below;  /* from the root: "src" */
	struct strlist files, directories; /* existing ones, sorted */
};

static void read_place(struct place *place, const struct session *session)
{
	char *full = xstrfmt("%s/%s", session->worktree, place->below.buf);
	int fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct strlist names = STRLIST_INIT;
	struct stat st;

	if (fd >= 0)
		(void)fs_names(&names, fd, ".", 0, NULL);
	for (size_t i = 0; i < names.nr; i++)
		if (strcmp(names.items[i], ".git"))
			strlist_add(!fstatat(fd, names.items[i], &st, AT_SYMLINK_NOFOLLOW) &&
						    S_ISDIR(st.st_mode)
					    ? &place->directories
					    : &place->files,
				    names.items[i]);
	strlist_release(&names);
	fs_close(fd);
	strlist_sort_unique(&place->files);
	strlist_sort_unique(&place->directories);
	free(full);
}

static void place_release(struct place *place)
{
	free(place->typed);
	strbuf_release(&place->below);
	strlist_release(&place->files);
	strlist_release(&place->directories);
}

static void add_path(struct complete *complete, const struct place *place, const char *name,
		     bool directory, const char *text)
{
	/* Alone it would be an option, or somebody's home. */
	bool odd = !*place->typed && (*name == '~' || (*name == '-' && complete->look->dashdash < 0));
	char *path = xstrfmt("%s%s%s%s", odd ? "./" : "", place->typed, name, directory ? "/" : "");

	if (directory)
		complete_add_open(complete, path, text);
	else
		complete_add(complete, path, text);
	free(path);
}

/* The directory in the checkpoint, with its entries; NULL if it does not have it. */
static const struct wt_dir *find_dir(struct snapshot *snapshot, const char *path)
{
	struct wt_dir *dir = snapshot->root;
	struct wt_entry *entry;

	if (*path) {
		if (snapshot_find(&entry, snapshot, path) || !entry || entry->kind != WT_DIR)
			return NULL;
		dir = entry->dir;
	}
	return snapshot_expand(snapshot, dir) ? NULL : dir;
}

/* What a restore would remove. For a checkpoint of some paths, only these. */
static void add_new(struct complete *complete, const struct place *place,
		    const struct strlist *names, const struct wt_dir *dir,
		    const struct ckpt_record *record)
{
	for (size_t i = 0; i < names->nr; i++) {
		struct strbuf path = STRBUF_INIT;

		strbuf_addstr(&path, place->below.buf);
		path_append(&path, names->items[i]);
		if (!(dir && wt_child(dir, names->items[i], strlen(names->items[i]))) && plan_concerns(&record->scope, path.buf))
			add_path(complete, place, names->items[i], names == &place->directories,
				 "not in the checkpoint");
		strbuf_release(&path);
	}
}

/* With `present` only existing paths. */
static void add_tree(struct complete *complete, const struct place *place,
		     struct snapshot *snapshot, const struct ckpt_record *record, bool present)
{
	const struct wt_dir *dir = find_dir(snapshot, place->below.buf);

	for (size_t i = 0; dir && i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];
		bool there = pathset_has(&place->files, entry->name) ||
			     pathset_has(&place->directories, entry->name);

		if (there || !present)
			add_path(complete, place, entry->name, entry->kind == WT_DIR,
				 there ? NULL : "only in the checkpoint");
	}
	add_new(complete, place, &place->directories, dir, record);
	add_new(complete, place, &place->files, dir, record);
}

void complete_paths(struct complete *complete, bool guess)
{
	const struct opt_look *look = complete->look;
	const char *checkpoint = look->args.nr && look->dashdash ? look->args.items[0] : NULL;
	struct session *session = complete_session(complete);
	const char *slash = strrchr(complete->typed, '/');
	struct place place = { .below = STRBUF_INIT };
	struct snapshot *snapshot;
	struct ckpt_record record;
	int err = -1;

	if (!session || !session->store)
		return;
	if (checkpoint)
		err = session_lookup(&record, session->store, checkpoint);
	if (err && (guess || !checkpoint))
		err = lookup_default(&record, session->store);
	if (err)
		return;
	place.typed = xmemdupz(complete->typed, slash ? (size_t)(slash + 1 - complete->typed) : 0);
	if (!record.state_only &&
	    !session_path(&place.below, session, *place.typed ? place.typed : ".") &&
	    !snapshot_open(&snapshot, session->store, &record)) {
		read_place(&place, session);
		add_tree(complete, &place, snapshot, &record, guess);
		snapshot_free(snapshot);
	}
	place_release(&place);
	record_release(&record);
}

/* The entries of the directory of which `place` has what was typed. */
static void add_inside(struct complete *complete, struct place *place, struct session *session,
		       const struct ckpt_record *record)
{
	struct snapshot *snapshot;
	const struct wt_dir *dir;

	if (show_inside_top(&place->below, session, place->typed) ||
	    snapshot_open(&snapshot, session->store, record))
		return;
	dir = find_dir(snapshot, place->below.buf);
	for (size_t i = 0; dir && i < dir->nr; i++) {
		bool deeper = wt_entries(dir)[i].kind == WT_DIR;
		char *path =
			xstrfmt("%s%s%s", place->typed, wt_entries(dir)[i].name, deeper ? "/" : "");

		if (deeper)
			complete_add_open(complete, path, NULL);
		else
			complete_add(complete, path, NULL);
		free(path);
	}
	snapshot_free(snapshot);
}

bool complete_inside(struct complete *complete)
{
	struct session *session = complete_session(complete);
	bool inside = session && session->store && show_inside_is(complete->typed);
	const char *path = inside ? show_inside_path(complete->typed) : "",
		   *slash = strrchr(path, '/');
	size_t kept = inside ? (size_t)(path - complete->typed) : 0;
	char *name = xmemdupz(complete->typed, kept ? kept - 1 : 0);
	struct place place = { .below = STRBUF_INIT };
	struct ckpt_record record;

	inside = inside && !session_lookup(&record, session->store, name);
	if (inside) {
		place.typed = xmemdupz(path, slash ? (size_t)(slash + 1 - path) : 0);
		complete->kept += kept;
		if (!record.state_only)
			add_inside(complete, &place, session, &record);
		complete->kept -= kept;
		place_release(&place);
		record_release(&record);
	}
	free(name);
	return inside;
}
