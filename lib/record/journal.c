/* SPDX-License-Identifier: MIT */
#include "record/journal.h"

#include "record/lookup.h"

#include <sys/file.h>

/* --- both are JSON; paths are C-quoted so that any bytes survive --- */

static json_t *write_paths(const struct strlist *paths)
{
	json_t *array = json_array();

	for (size_t i = 0; i < paths->nr; i++) {
		struct strbuf quoted = STRBUF_INIT;

		quote_c(&quoted, paths->items[i], strlen(paths->items[i]));
		json_array_append_new(array, json_string(quoted.buf));
		strbuf_release(&quoted);
	}
	return array;
}

static void read_paths(struct strlist *out, const json_t *array)
{
	json_t *item;
	size_t i;

	json_array_foreach(array, i, item) {
		struct strbuf path = STRBUF_INIT;

		if (json_is_string(item) && quote_undo_c(&path, json_string_value(item), NULL))
			strlist_add(out, path.buf);
		strbuf_release(&path);
	}
}

static bool read_id(char out[CKPT_ID_SIZE], const json_t *object, const char *key)
{
	const char *id = json_string_value(json_object_get(object, key));

	if (!id || !lookup_valid_target(id))
		return false;
	snprintf(out, CKPT_ID_SIZE, "%s", id);
	return true;
}

static char *read_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return xstrdup(text ? text : "");
}

static char *read_source(const json_t *object)
{
	const char *source = json_string_value(json_object_get(object, "source"));

	return xstrdup(source ? source : JOURNAL_SOURCE);
}

static const char *const git_names[] = {
	[JOURNAL_FILES] = "files",
	[JOURNAL_INDEX] = "index",
	[JOURNAL_GIT] = "git",
};

const char *journal_git_name(enum journal_git git)
{
	return git_names[git];
}

/* A restore of files alone has none of this. */
static void write_git(json_t *object, enum journal_git git, const struct strlist *refs,
		      const struct strlist *config)
{
	if (git == JOURNAL_FILES)
		return;
	json_object_set_new(object, "git", json_text(journal_git_name(git)));
	json_object_set_new(object, "refs", write_paths(refs));
	json_object_set_new(object, "branch_config", write_paths(config));
}

static enum journal_git read_git(struct strlist *refs, struct strlist *config, const json_t *object)
{
	const char *name = json_string_value(json_object_get(object, "git"));
	enum journal_git git = JOURNAL_GIT;

	while (git != JOURNAL_FILES && (!name || strcmp(name, git_names[git])))
		git--;
	read_paths(refs, json_object_get(object, "refs"));
	read_paths(config, json_object_get(object, "branch_config"));
	return git;
}

/* --- the undo stack --- */

static void entry_release(struct undo_entry *entry)
{
	strlist_release(&entry->paths);
	strlist_release(&entry->made);
	strlist_release(&entry->refs);
	strlist_release(&entry->config);
	free(entry->source);
}

void journal_undo_release(struct undo_stack *stack)
{
	for (size_t i = 0; i < stack->nr; i++)
		entry_release(&stack->items[i]);
	free(stack->items);
	memset(stack, 0, sizeof(*stack));
}

static struct undo_entry *add_entry(struct undo_stack *stack)
{
	ALLOC_GROW(stack->items, stack->nr + 1, stack->alloc);
	memset(&stack->items[stack->nr], 0, sizeof(*stack->items));
	return &stack->items[stack->nr++];
}

void journal_undo_push(struct undo_stack *stack, const char *before, const char *restored,
		       const struct strlist *paths, const struct strlist *made)
{
	struct undo_entry *entry;

	while (stack->nr > stack->done)
		entry_release(&stack->items[--stack->nr]);
	entry = add_entry(stack);
	snprintf(entry->before, sizeof(entry->before), "%s", before);
	snprintf(entry->restored, sizeof(entry->restored), "%s", restored);
	strlist_extend(&entry->paths, paths);
	strlist_extend(&entry->made, made);
	if (stack->nr > UNDO_MAX) {
		entry_release(&stack->items[0]);
		memmove(stack->items, stack->items + 1, --stack->nr * sizeof(*stack->items));
	}
	stack->done = stack->nr;
}

static void list_ids(struct strlist *out, const struct undo_stack *stack)
{
	for (size_t i = 0; i < stack->nr; i++) {
		strlist_add(out, stack->items[i].before);
		strlist_add(out, stack->items[i].restored);
		strlist_add(out, stack->items[i].after);
	}
}

static json_t *write_stack(const struct undo_stack *stack)
{
	json_t *object = json_object(), *array = json_array();

	for (size_t i = 0; i < stack->nr; i++) {
		json_t *entry = json_object();

		json_object_set_new(entry, "before", json_text(stack->items[i].before));
		json_object_set_new(entry, "restored", json_text(stack->items[i].restored));
		json_object_set_new(entry, "after", json_text(stack->items[i].after));
		json_object_set_new(entry, "paths", write_paths(&stack->items[i].paths));
		json_object_set_new(entry, "made", write_paths(&stack->items[i].made));
		json_object_set_new(entry, "source", json_text(stack->items[i].source));
		write_git(entry, stack->items[i].git, &stack->items[i].refs,
			  &stack->items[i].config);
		json_array_append_new(array, entry);
	}
	json_object_set_new(object, "version", json_integer(1));
	json_object_set_new(object, "done", json_integer((json_int_t)stack->done));
	json_object_set_new(object, "restores", array);
	return object;
}

static void read_stack(struct undo_stack *out, const json_t *object)
{
	json_int_t done = json_integer_value(json_object_get(object, "done"));
	json_t *item;
	size_t i;

	memset(out, 0, sizeof(*out));
	out->damaged = !json_is_array(json_object_get(object, "restores"));
	json_array_foreach(json_object_get(object, "restores"), i, item) {
		struct undo_entry *entry = add_entry(out);

		if (!read_id(entry->before, item, "before")) {
			journal_undo_release(out);
			out->damaged = true;
			break;
		}
		(void)read_id(entry->restored, item, "restored");
		(void)read_id(entry->after, item, "after");
		read_paths(&entry->paths, json_object_get(item, "paths"));
		read_paths(&entry->made, json_object_get(item, "made"));
		entry->git = read_git(&entry->refs, &entry->config, item);
		entry->source = read_source(item);
	}
	out->done = done < 0 || (size_t)done > out->nr ? out->nr : (size_t)done;
}

/* During a restore, what is needed if it is taken back stays needed. */
static int keep_named(struct store *store, const struct undo_stack *stack, bool alone)
{
	struct strlist ids = STRLIST_INIT;
	int err;

	list_ids(&ids, stack);
	err = keepers_set(store, KEEPER_UNDO, &ids, alone);
	strlist_release(&ids);
	return err;
}

int journal_undo_write(const struct undo_stack *stack, struct store *store)
{
	int err = keep_named(store, stack, false);

	if (!err)
		err = json_write_file(store->dirfd, LAYOUT_UNDO, write_stack(stack), 0600, FS_DURABLE);
	/* What it named before is free to go; if that fails, it is kept until the next time. */
	if (!err && !journal_exists(store))
		(void)keep_named(store, stack, true);
	return err;
}

int journal_undo_read(struct undo_stack *out, struct store *store)
{
	json_t *object;
	int err = json_read_file(&object, store->dirfd, LAYOUT_UNDO);
	/* Something else where the file should be is damage. */
	bool unread = err && err != CKPT_ENOTFOUND && errno != EINVAL && errno != EISDIR &&
		      errno != ELOOP;

	read_stack(out, object);
	json_decref(object);
	out->damaged = out->damaged && !unread && err != CKPT_ENOTFOUND;
	return unread ? CKPT_ERROR : 0;
}

/* --- the journal --- */

static const char *const kind_names[] = {
	[JOURNAL_RESTORE] = "restore",
	[JOURNAL_UNDO] = "undo",
	[JOURNAL_REDO] = "redo",
	[JOURNAL_REVERT] = "revert",
	[JOURNAL_PICK] = "pick",
};

const char *journal_kind_name(enum journal_kind kind)
{
	return kind_names[kind];
}

static enum journal_kind read_kind(const json_t *object)
{
	const char *name = json_string_value(json_object_get(object, "kind"));
	enum journal_kind kind = JOURNAL_PICK;

	while (kind != JOURNAL_RESTORE && (!name || strcmp(name, kind_names[kind])))
		kind--;
	return kind;
}

bool journal_exists(const struct store *store)
{
	struct stat st;

	return !fstatat(store->dirfd, LAYOUT_JOURNAL, &st, AT_SYMLINK_NOFOLLOW);
}

bool journal_is_left(const struct store *store)
{
	bool held;
	int fd;

	if (!journal_exists(store))
		return false;
	if (store->lockfd >= 0)
		return true;
	fd = fs_open_regular(NULL, store->dirfd, LAYOUT_LOCK, O_NOFOLLOW);
	held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	fs_close(fd);
	/* Checked again: it may have finished between the two. */
	return !held && journal_exists(store);
}

/* Before it exists, and whatever a process left that was killed in between. */
static int keep_ends(const struct journal *journal, struct store *store)
{
	struct strlist ids = STRLIST_INIT;
	int err;

	strlist_add(&ids, journal->target);
	strlist_add(&ids, journal->safety);
	err = keepers_set(store, KEEPER_JOURNAL, &ids, true);
	strlist_release(&ids);
	return err;
}

int journal_write(const struct journal *journal, struct store *store)
{
	json_t *object;
	int err = journal_exists(store) ? 0 : keep_ends(journal, store);

	if (err)
		return err;
	object = json_object();
	json_object_set_new(object, "version", json_integer(1));
	json_object_set_new(object, "kind", json_text(journal_kind_name(journal->kind)));
	json_object_set_new(object, "target", json_text(journal->target));
	json_object_set_new(object, "safety", json_text(journal->safety));
	json_object_set_new(object, "staging", json_text(journal->stages));
	json_object_set_new(object, "reason", json_text(journal->reason));
	json_object_set_new(object, "source", json_text(journal->source));
	json_object_set_new(object, "paths", write_paths(&journal->paths));
	json_object_set_new(object, "made", write_paths(&journal->made));
	json_object_set_new(object, "modes", write_paths(&journal->modes));
	json_object_set_new(object, "no_delete", json_boolean(journal->no_delete));
	json_object_set_new(object, "replaying", json_boolean(journal->replaying));
	json_object_set_new(object, "undo", write_stack(&journal->undo));
	write_git(object, journal->git, &journal->refs, &journal->config);
	if (journal->git_began)
		json_object_set_new(object, "git_began", json_integer(journal->git_began));
	return json_write_file(store->dirfd, LAYOUT_JOURNAL, object, 0600, FS_DURABLE);
}

int journal_read(struct journal *out, struct store *store)
{
	json_t *object;
	int err = json_read_file(&object, store->dirfd, LAYOUT_JOURNAL);

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	if (!read_id(out->target, object, "target") || !read_id(out->safety, object, "safety")) {
		json_decref(object);
		return ckpt_error_set(CKPT_ECORRUPT, "the journal of the interrupted restore is damaged; "
						     "'git checkpoint list' shows the safety checkpoint "
						     "that was taken before it");
	}
	out->kind = read_kind(object);
	out->stages = read_text(object, "staging");
	out->reason = read_text(object, "reason");
	out->source = read_source(object);
	read_paths(&out->paths, json_object_get(object, "paths"));
	read_paths(&out->made, json_object_get(object, "made"));
	read_paths(&out->modes, json_object_get(object, "modes"));
	out->no_delete = json_is_true(json_object_get(object, "no_delete"));
	out->replaying = json_is_true(json_object_get(object, "replaying"));
	if (json_object_get(object, "undo"))
		read_stack(&out->undo, json_object_get(object, "undo"));
	else /* damaged: then nothing of the stack is taken back */
		(void)journal_undo_read(&out->undo, store);
	out->git = read_git(&out->refs, &out->config, object);
	out->git_began = json_integer_value(json_object_get(object, "git_began"));
	json_decref(object);
	return 0;
}

int journal_remove(struct store *store)
{
	struct undo_stack stack;

	if (unlinkat(store->dirfd, LAYOUT_JOURNAL, 0) < 0 && errno != ENOENT)
		return ckpt_error_errno("unable to remove '%s/" LAYOUT_JOURNAL "'", store->path);
	/* If it comes back after a power cut, it belongs to a finished restore: no harm. */
	(void)fs_sync_dir(store->dirfd, "checkpoint");
	(void)keepers_set(store, KEEPER_JOURNAL, &strlist_empty, true);
	if (!journal_undo_read(&stack, store))
		(void)keep_named(store, &stack, true);
	journal_undo_release(&stack);
	return 0;
}

void journal_release(struct journal *journal)
{
	free(journal->stages);
	free(journal->reason);
	free(journal->source);
	strlist_release(&journal->paths);
	strlist_release(&journal->made);
	strlist_release(&journal->modes);
	strlist_release(&journal->refs);
	strlist_release(&journal->config);
	journal_undo_release(&journal->undo);
	memset(journal, 0, sizeof(*journal));
}
