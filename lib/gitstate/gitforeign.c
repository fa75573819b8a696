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

enum form {
	FORM_BRANCH, /* that a rebase moves at its end, or "detached HEAD" */
	FORM_IDS,    /* a line each, perhaps abbreviated */
	FORM_NUMBER,
	FORM_STEPS,
	FORM_DONE, /* steps that nobody carries out again */
	FORM_TEXT, /* a message, or a file that only has to exist */
};

/* All that a merge, a pick, a revert or a rebase needs; paths and names of programs are not among it. */
static const struct {
	const char *path;
	enum form form;
} known_files[] = {
	{ "MERGE_HEAD", FORM_IDS },
	{ "MERGE_MODE", FORM_TEXT },
	{ "MERGE_MSG", FORM_TEXT },
	{ "SQUASH_MSG", FORM_TEXT },
	{ "rebase-merge/amend", FORM_IDS },
	{ "rebase-merge/author-script", FORM_TEXT },
	{ "rebase-merge/autostash", FORM_IDS },
	{ "rebase-merge/cdate_is_adate", FORM_TEXT },
	{ "rebase-merge/current-fixups", FORM_DONE },
	{ "rebase-merge/done", FORM_DONE },
	{ "rebase-merge/drop_redundant_commits", FORM_TEXT },
	{ "rebase-merge/end", FORM_NUMBER },
	{ "rebase-merge/git-rebase-todo", FORM_STEPS },
	{ "rebase-merge/head-name", FORM_BRANCH },
	{ "rebase-merge/ignore_date", FORM_TEXT },
	{ "rebase-merge/interactive", FORM_TEXT },
	{ "rebase-merge/keep_redundant_commits", FORM_TEXT },
	{ "rebase-merge/message", FORM_TEXT },
	{ "rebase-merge/message-fixup", FORM_TEXT },
	{ "rebase-merge/message-squash", FORM_TEXT },
	{ "rebase-merge/msgnum", FORM_NUMBER },
	{ "rebase-merge/onto", FORM_IDS },
	{ "rebase-merge/orig-head", FORM_IDS },
	{ "rebase-merge/signoff", FORM_TEXT },
	{ "rebase-merge/squash-onto", FORM_IDS },
	{ "rebase-merge/stopped-sha", FORM_IDS },
	{ "sequencer/abort-safety", FORM_IDS },
	{ "sequencer/head", FORM_IDS },
	{ "sequencer/todo", FORM_STEPS },
};

static bool names_branch(const struct repo *repo, const struct gitstate_file *file)
{
	char *name = xmemdupz(file->data, strcspn(file->data, "\n"));
	bool ok = strlen(name) + 1 >= file->len &&
		  (!strcmp(name, "detached HEAD") || is_branch(repo, name));

	free(name);
	return ok;
}

static bool has_form(const struct repo *repo, const struct gitstate_file *file, enum form form)
{
	if (strlen(file->data) != file->len)
		return false;
	if (form == FORM_BRANCH)
		return names_branch(repo, file);
	if (form == FORM_IDS)
		return strspn(file->data, "0123456789abcdef\n") == file->len;
	return form != FORM_NUMBER || strspn(file->data, "0123456789\n") == file->len;
}

static bool admit_file(struct strlist *says, struct gitstate_file *file, const struct repo *repo)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_files); i++) {
		enum form form = known_files[i].form;

		if (strcmp(known_files[i].path, file->path) != 0)
			continue;
		if (!has_form(repo, file, form))
			return false;
		if (form == FORM_STEPS || form == FORM_DONE)
			sift_steps(says, file, form == FORM_STEPS);
		return true;
	}
	return false;
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
	static const char *const beside_head[] = { "AUTO_MERGE",      "CHERRY_PICK_HEAD",
						   "MERGE_AUTOSTASH", "ORIG_HEAD",
						   "REBASE_HEAD",     "REVERT_HEAD" };
	char *branch;
	bool ok;

	for (size_t i = 0; i < ARRAY_SIZE(beside_head); i++)
		if (!strcmp(beside_head[i], ref->name))
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
