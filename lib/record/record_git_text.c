/* SPDX-License-Identifier: MIT */
#include "record/record_git_internal.h"

#include "base/base.h"
#include "git/git.h"

#define VERSION "1"

const char *const record_git_names[RECORD_GIT_TEXTS] = { "flagged", "head", "index", "operation",
							 "refs" };

/* In an entry of the index, where "-" means none. */
static const struct {
	char letter;
	unsigned flag;
} flag_letters[] = {
	{ 'i', GITINDEX_INTENT_TO_ADD },
	{ 's', GITINDEX_SKIP_WORKTREE },
	{ 'a', GITINDEX_ASSUME_UNCHANGED },
	{ 'h', GITSTATE_AS_HEAD },
};

/* --- writing --- */

__attribute__((format(printf, 2, 3))) static void add(struct strbuf *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(out, fmt, ap);
	va_end(ap);
	strbuf_addch(out, '\0');
}

static void add_optional(struct strbuf *out, const char *key, const char *value)
{
	if (value)
		add(out, "%s %s", key, value);
}

static void encode_head(struct strbuf *out, const struct gitstate *state)
{
	add(out, "version %s", VERSION);
	add_optional(out, "head", state->head);
	add_optional(out, "ref", state->ref);
	add_optional(out, "tree", state->head_tree);
	for (size_t i = 0; i < state->branch_config.nr; i++)
		add(out, "config %s", state->branch_config.items[i]);
}

static const char *or_dash(const char *text)
{
	return *text ? text : "-";
}

/* Those that only have flags, or only the others. */
static void encode_entries(struct strbuf *out, const struct gitstate *state, bool flagged)
{
	for (size_t i = 0; i < state->entries_nr; i++) {
		const struct gitstate_entry *entry = &state->entries[i];
		char flags[ARRAY_SIZE(flag_letters) + 1] = "";
		size_t nr = 0;

		if (flagged != !!(entry->flags & GITSTATE_AS_HEAD))
			continue;
		for (size_t n = 0; n < ARRAY_SIZE(flag_letters); n++)
			if (entry->flags & flag_letters[n].flag)
				flags[nr++] = flag_letters[n].letter;
		add(out, "entry %06o %s %u %s %06o %s %s", entry->mode, or_dash(entry->oid),
		    entry->stage, or_dash(flags), entry->head_mode, or_dash(entry->head_oid),
		    entry->path);
	}
}

/* Of a sparse checkout there are many, which stay the same while others are staged. */
static void encode_flagged(struct strbuf *out, const struct gitstate *state)
{
	encode_entries(out, state, true);
}

static void encode_index(struct strbuf *out, const struct gitstate *state)
{
	encode_entries(out, state, false);
}

static void encode_operation(struct strbuf *out, const struct gitstate *state)
{
	add_optional(out, "operation", state->operation);
	if (state->total)
		add(out, "step %u %u", state->step, state->total);
	add_optional(out, "autostash", state->autostash);
	for (size_t i = 0; i < state->private_refs_nr; i++)
		add(out, "ref %s %s", state->private_refs[i].oid, state->private_refs[i].name);
	for (size_t i = 0; i < state->files_nr; i++) {
		add(out, "file %zu %s", state->files[i].len, state->files[i].path);
		strbuf_add(out, state->files[i].data, state->files[i].len);
		strbuf_addch(out, '\0');
	}
}

static void encode_refs(struct strbuf *out, const struct gitstate *state)
{
	for (size_t i = 0; i < state->branches_nr; i++)
		add(out, "branch %s %s", state->branches[i].oid, state->branches[i].name);
	for (size_t i = 0; i < state->stashes_nr; i++)
		add(out, "stash %s %s", state->stashes[i].oid, state->stashes[i].note);
}

void record_git_encode(struct strbuf *out, const struct gitstate *state, enum record_git_text which)
{
	static void (*const encode[])(struct strbuf *, const struct gitstate *) = {
		[RECORD_GIT_FLAGGED] = encode_flagged, [RECORD_GIT_HEAD] = encode_head,
		[RECORD_GIT_INDEX] = encode_index,     [RECORD_GIT_OPERATION] = encode_operation,
		[RECORD_GIT_REFS] = encode_refs,
	};

	encode[which](out, state);
}

/* --- reading --- */

struct cursor {
	const char *p, *end;
};

/* The next word of a field, up to a blank; false if it is longer than `size` - 1 or has no blank. */
static bool word(char *out, size_t size, const char **p)
{
	size_t len = strcspn(*p, " ");

	if (!(*p)[len] || len >= size)
		return false;
	memcpy(out, *p, len);
	out[len] = '\0';
	*p += len + 1;
	return true;
}

static bool id_word(char out[GITSTATE_OID], const char **p)
{
	bool ok = word(out, GITSTATE_OID, p);

	if (ok && !strcmp(out, "-"))
		*out = '\0';
	return ok;
}

static bool number_word(unsigned *out, const char **p, int base)
{
	char text[16], *end;
	unsigned long value;

	if (!word(text, sizeof(text), p) || !*text || strspn(text, "0123456789") != strlen(text))
		return false;
	value = strtoul(text, &end, base);
	*out = (unsigned)value;
	return !*end && value <= 0xffffffff;
}

static bool decode_entry(struct gitstate *state, const char *p)
{
	char oid[GITSTATE_OID], head_oid[GITSTATE_OID], letters[16];
	unsigned mode, stage, head_mode, flags = 0;
	struct gitstate_entry *entry;

	if (!number_word(&mode, &p, 8) || !id_word(oid, &p) || !number_word(&stage, &p, 10) ||
	    !word(letters, sizeof(letters), &p) || !number_word(&head_mode, &p, 8) ||
	    !id_word(head_oid, &p))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(flag_letters); i++)
		if (strchr(letters, flag_letters[i].letter))
			flags |= flag_letters[i].flag;
	entry = gitstate_add_entry(state, p, mode, oid, stage, flags);
	entry->head_mode = head_mode;
	memcpy(entry->head_oid, head_oid, sizeof(head_oid));
	return true;
}

/* The bytes of a file follow its field. */
static bool decode_file(struct gitstate *state, const char *p, struct cursor *at)
{
	unsigned len;

	if (!number_word(&len, &p, 10) || (size_t)(at->end - at->p) <= len || at->p[len])
		return false;
	gitstate_add_file(state, p, at->p, len);
	at->p += len + 1;
	return true;
}

static bool decode_ref(struct gitstate *state, const char *key, const char *p)
{
	char oid[GITSTATE_OID];

	if (!id_word(oid, &p))
		return false;
	if (!strcmp(key, "branch"))
		gitstate_add_branch(state, p, oid);
	else if (!strcmp(key, "stash"))
		gitstate_add_stash(state, oid, p);
	else
		gitstate_add_private_ref(state, p, oid);
	return true;
}

static bool decode_step(struct gitstate *state, const char *p)
{
	char text[32];
	const char *rest = text;

	snprintf(text, sizeof(text), "%s ", p);
	return number_word(&state->step, &rest, 10) && number_word(&state->total, &rest, 10);
}

static bool set(char **slot, const char *value)
{
	if (*slot)
		return false;
	*slot = xstrdup(value);
	return true;
}

/* Those of a text all have different names, whichever text it is; unknown ones are newer. */
static bool decode_field(struct gitstate *state, const char *key, const char *value,
			 struct cursor *at, enum record_git_text which)
{
	if (which == RECORD_GIT_HEAD) {
		if (!strcmp(key, "version"))
			return !strcmp(value, VERSION);
		if (!strcmp(key, "head"))
			return set(&state->head, value);
		if (!strcmp(key, "ref"))
			return set(&state->ref, value);
		if (!strcmp(key, "tree"))
			return set(&state->head_tree, value);
		if (!strcmp(key, "config"))
			strlist_add(&state->branch_config, value);
	} else if (which == RECORD_GIT_FLAGGED || which == RECORD_GIT_INDEX) {
		if (!strcmp(key, "entry"))
			return decode_entry(state, value);
	} else if (which == RECORD_GIT_REFS) {
		if (!strcmp(key, "branch") || !strcmp(key, "stash"))
			return decode_ref(state, key, value);
	} else {
		if (!strcmp(key, "operation"))
			return set(&state->operation, value);
		if (!strcmp(key, "step"))
			return decode_step(state, value);
		if (!strcmp(key, "autostash"))
			return set(&state->autostash, value);
		if (!strcmp(key, "ref"))
			return decode_ref(state, key, value);
		if (!strcmp(key, "file"))
			return decode_file(state, value, at);
	}
	return true;
}

int record_git_decode(struct gitstate *state, const struct strbuf *text, enum record_git_text which)
{
	struct cursor at = { text->buf, text->buf + text->len };

	while (at.p < at.end) {
		const char *field = at.p, *nul = memchr(field, '\0', (size_t)(at.end - field));
		const char *value = field;
		char key[16];

		if (!nul || !word(key, sizeof(key), &value))
			break;
		at.p = nul + 1;
		if (!decode_field(state, key, value, &at, which))
			break;
		if (at.p == at.end)
			return 0;
	}
	if (!text->len)
		return 0;
	return ckpt_error_set(CKPT_ECORRUPT, "the recorded %s of the repository is malformed",
			      record_git_names[which]);
}
