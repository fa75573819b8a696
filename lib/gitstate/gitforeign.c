/* SPDX-License-Identifier: MIT */
#include "gitstate/gitforeign.h"

#include "git/git.h"
#include "gitstate/gitstate_internal.h"
#include "gitstate/gitwrite.h"

bool gitforeign_is(const struct ckpt_record *record)
{
	return record->imported || record->machine;
}

__attribute__((format(printf, 2, 3))) static int refuse(const struct ckpt_record *record,
							const char *fmt, ...)
{
	struct strbuf why = STRBUF_INIT;
	va_list ap;
	int err;

	va_start(ap, fmt);
	strbuf_vaddf(&why, fmt, ap);
	va_end(ap);
	err = ckpt_error_set(CKPT_EREFUSED, "checkpoint '%s' was %s, and %s", record->id,
			     record->imported ? "imported" : "taken on another machine", why.buf);
	strbuf_release(&why);
	return err;
}

/* --- HEAD --- */

/* git adds ".lock" to each file that it makes for a name. */
static bool fits_as_file(const char *name)
{
	for (size_t len; (len = strcspn(name, "/")); name += len + (name[len] == '/'))
		if (len + strlen(".lock") > NAME_MAX)
			return false;
	return true;
}

/* One that is here is one. */
static bool is_branch(const struct repo *repo, const char *ref)
{
	char *here = strncmp(ref, "refs/heads/", 11) ? NULL : repo_ref(repo, ref);
	bool ok = here || (!strncmp(ref, "refs/heads/", 11) && fits_as_file(ref) &&
			   !gitwrite_check_branch_name(repo, ref + 11));

	free(here);
	return ok;
}

static int check_head(const struct gitstate *state, const struct ckpt_record *record,
		      const struct repo *repo)
{
	struct strbuf name = STRBUF_INIT;
	int err;

	if (!state->ref || is_branch(repo, state->ref))
		return 0;
	quote_c(&name, state->ref, strlen(state->ref));
	err = refuse(record,
		     "its HEAD is %s, which git does not allow as a branch; 'git checkpoint "
		     "restore --index %s' brings back the files and the index",
		     name.buf, record->id);
	strbuf_release(&name);
	return err;
}

/* --- lists of steps --- */

/* What they do is known: no program runs, and no ref moves beside HEAD and refs/rewritten/. */
static bool is_known_step(const char *line)
{
	static const char *const words[] = { "break", "drop", "edit",  "fixup",	 "label",  "merge",
					     "noop",  "pick", "reset", "revert", "reword", "squash",
					     "d",     "e",    "f",     "l",	 "t",	   "m",
					     "b",     "p",    "r",     "s" };
	size_t len = strcspn(line, " \t\r");

	if (!*line || *line == '#')
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i]) == len && !strncmp(line, words[i], len))
			return true;
	return false;
}

/* Keep the known steps of a list. What is shown is what stays, and what does not. */
static void sift_steps(struct strlist *says, struct gitstate_file *file, bool shown)
{
	struct strbuf kept = STRBUF_INIT;
	char *rest = NULL;

	for (char *line = strtok_r(file->data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		bool known;

		line += strspn(line, " \t");
		known = is_known_step(line);
		if (known)
			strbuf_addf(&kept, "%s\n", line);
		if (shown && *line && *line != '#')
			strlist_addf(says, "%s: %s",
				     known ? "step to come" : "left out of the steps", line);
	}
	free(file->data);
	file->len = kept.len;
	file->data = strbuf_detach(&kept, NULL);
}

/* --- files of an operation --- */

/*
 * All that a merge, a pick, a revert or a rebase needs; paths and names of programs are not among it.
 * Ids are a line each, perhaps abbreviated; texts are messages, or files that only have to exist.
 */
#define REBASE "rebase-merge/"

static const char *const id_files[] = { "MERGE_HEAD",	      "sequencer/abort-safety",
					"sequencer/head",     REBASE "amend",
					REBASE "autostash",   REBASE "onto",
					REBASE "orig-head",   REBASE "squash-onto",
					REBASE "stopped-sha", NULL };
static const char *const number_files[] = { REBASE "end", REBASE "msgnum", NULL };
static const char *const step_files[] = { "sequencer/todo", REBASE "git-rebase-todo", NULL };
static const char *const done_files[] = { REBASE "current-fixups", REBASE "done", NULL };
static const char *const text_files[] = { "MERGE_MODE",
					  "MERGE_MSG",
					  "SQUASH_MSG",
					  REBASE "author-script",
					  REBASE "cdate_is_adate",
					  REBASE "drop_redundant_commits",
					  REBASE "ignore_date",
					  REBASE "interactive",
					  REBASE "keep_redundant_commits",
					  REBASE "message",
					  REBASE "message-fixup",
					  REBASE "message-squash",
					  REBASE "signoff",
					  NULL };

static bool is_one_of(const char *path, const char *const list[])
{
	while (*list && strcmp(*list, path) != 0)
		list++;
	return *list;
}

/* That a rebase moves at its end, or "detached HEAD". */
static bool names_branch(const struct repo *repo, const struct gitstate_file *file)
{
	char *name = xmemdupz(file->data, strcspn(file->data, "\n"));
	bool ok = strlen(name) + 1 >= file->len &&
		  (!strcmp(name, "detached HEAD") || is_branch(repo, name));

	free(name);
	return ok;
}

static bool admit_file(struct strlist *says, struct gitstate_file *file, const struct repo *repo)
{
	bool steps = is_one_of(file->path, step_files);

	if (strlen(file->data) != file->len)
		return false;
	if (steps || is_one_of(file->path, done_files))
		sift_steps(says, file, steps);
	else if (!strcmp(file->path, REBASE "head-name"))
		return names_branch(repo, file);
	else if (is_one_of(file->path, id_files))
		return strspn(file->data, "0123456789abcdef\n") == file->len;
	else if (is_one_of(file->path, number_files))
		return strspn(file->data, "0123456789\n") == file->len;
	else
		return is_one_of(file->path, text_files);
	return true;
}

/* One line; `names` is used up. */
static void say_all(struct strlist *says, const char *what, struct strlist *names)
{
	struct strbuf text = STRBUF_INIT;

	strlist_sort_unique(names);
	for (size_t i = 0; i < names->nr; i++)
		strbuf_addf(&text, "%s%s", i ? ", " : "", names->items[i]);
	if (names->nr)
		strlist_addf(says, "%s: %s", what, text.buf);
	strbuf_release(&text);
	strlist_release(names);
}

static void sift_files(struct strlist *says, struct gitstate *state, const struct repo *repo,
		       bool force)
{
	struct strlist come = STRLIST_INIT, stay = STRLIST_INIT;
	size_t kept = 0;

	for (size_t i = 0; i < state->files_nr; i++) {
		struct gitstate_file file = state->files[i];
		bool comes = force && admit_file(says, &file, repo);

		/* Of patches there may be many. */
		strlist_add(comes ? &come : &stay,
			    path_below(file.path, "rebase-apply") ? "rebase-apply" : file.path);
		if (comes) {
			state->files[kept++] = file;
		} else {
			free(file.path);
			free(file.data);
		}
	}
	state->files_nr = kept;
	say_all(says, "files of the operation", &come);
	say_all(says, "left out", &stay);
}

/* --- refs of an operation --- */

static bool admit_ref(const struct gitstate_ref *ref, const struct repo *repo)
{
	static const char *const beside_head[] = {
		"AUTO_MERGE", "CHERRY_PICK_HEAD", "MERGE_AUTOSTASH",
		"ORIG_HEAD",  "REBASE_HEAD",	  "REVERT_HEAD",
		NULL
	};
	char *branch;
	bool ok;

	if (is_one_of(ref->name, beside_head))
		return true;
	if (strncmp(ref->name, "refs/rewritten/", 15) != 0)
		return false;
	/* A label of a rebase, to which the same rules apply. */
	branch = xstrfmt("refs/heads/%s", ref->name + 15);
	ok = is_branch(repo, branch);
	free(branch);
	return ok;
}

static void sift_refs(struct strlist *says, struct gitstate *state, const struct repo *repo,
		      bool force)
{
	struct strlist come = STRLIST_INIT;
	size_t kept = 0;

	for (size_t i = 0; i < state->private_refs_nr; i++) {
		struct gitstate_ref ref = state->private_refs[i];

		if (force && admit_ref(&ref, repo)) {
			strlist_add(&come, ref.name);
			state->private_refs[kept++] = ref;
			continue;
		}
		free(ref.name);
		free(ref.oid);
		free(ref.note);
	}
	state->private_refs_nr = kept;
	say_all(says, "refs of the operation", &come);
}

/* --- the operation --- */

enum { STEPS_SHOWN = 5 }; /* in a message */

static int refuse_operation(const struct gitstate *state, const struct ckpt_record *record)
{
	const char *const files[] = { "rebase-merge/git-rebase-todo", "sequencer/todo" };
	struct strbuf steps = STRBUF_INIT;
	size_t nr = 0;
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const char *line = gitstate_text(state, files[i]);

		for (; line && *line; line += strcspn(line, "\n"), line += *line == '\n') {
			line += strspn(line, " \t");
			if (*line && *line != '\n' && *line != '#' && nr++ < STEPS_SHOWN)
				strbuf_addf(&steps, "%s'%.*s'", steps.len ? ", " : " (",
					    (int)strcspn(line, "\n"), line);
		}
	}
	if (nr)
		strbuf_addstr(&steps, nr > STEPS_SHOWN ? ", ...)" : ")");
	err = refuse(record,
		     "a %s is in progress in it%s; use --force to take its steps over, without "
		     "those that run commands, or 'git checkpoint restore --index %s'",
		     state->operation, steps.buf, record->id);
	strbuf_release(&steps);
	return err;
}

/* A state whose operation was sifted has none if nothing is left with which git would go on. */
static void settle_operation(struct gitrecord *git)
{
	struct gitstate *state = &git->state;

	if (state->files_nr || gitstate_private(state, "CHERRY_PICK_HEAD") ||
	    gitstate_private(state, "REVERT_HEAD"))
		return;
	free(state->operation);
	free(state->autostash);
	state->operation = state->autostash = NULL;
	state->step = state->total = 0;
	memset(&git->autostash, 0, sizeof(git->autostash));
}

int gitforeign_admit(struct strlist *says, struct gitrecord *git, const struct ckpt_record *record,
		     const struct repo *repo, enum gitforeign_flags flags)
{
	struct gitstate *state = &git->state;
	bool whole = flags & GITFOREIGN_WHOLE, force = whole && flags & GITFOREIGN_FORCE;
	struct strlist unsaid = STRLIST_INIT;
	int err;

	if (!gitforeign_is(record))
		return 0;
	err = whole ? check_head(state, record, repo) : 0;
	if (!err && whole && !force && state->operation)
		err = refuse_operation(state, record);
	if (err)
		return err;
	strlist_release(&state->branch_config);
	sift_files(whole ? says : &unsaid, state, repo, force);
	sift_refs(whole ? says : &unsaid, state, repo, force);
	settle_operation(git);
	strlist_release(&unsaid);
	return 0;
}

/* --- the index --- */

int gitforeign_check_index(struct store *store, const struct repo *repo,
			   const struct gitrecord *git, const struct ckpt_record *record)
{
	int err = gitforeign_is(record) ? gitwrite_index_try(store, repo, &git->state) : 0;

	return err == CKPT_EREFUSED || err == CKPT_ERROR
		       ? refuse(record, "git does not take its index: %s", ckpt_error_last())
		       : err;
}
