/* SPDX-License-Identifier: MIT */
#include "agents/agent_trouble_internal.h"

#include "agents/agents.h"
#include "base/base.h"
#include "store/store.h"

/*
 * What went wrong last, an object a line, the newest at the end. It is written without the lock of
 * the store, which may be just what is wrong: of two at once one is forgotten, and told again.
 */
enum { KEPT = 40 };

/* Numbers do not make a difference: how much of it has been read, which process has the lock. */
static bool is_same(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (isdigit((unsigned char)*a))
			a++;
		while (isdigit((unsigned char)*b))
			b++;
		if (*a != *b || !*a)
			return *a == *b;
	}
}

static bool has_text(const json_t *line, const char *key, const char *wanted)
{
	const char *text = json_string_value(json_object_get(line, key));

	return text && wanted && !strcmp(text, wanted);
}

static bool is_same_text(const json_t *line, const char *why)
{
	const char *text = json_string_value(json_object_get(line, "why"));

	return text && is_same(text, why);
}

/* The lines that can be read, oldest first; a new reference. */
static json_t *load(struct store *store)
{
	struct strbuf text = STRBUF_INIT;
	json_t *lines = json_array();
	char *line, *rest = NULL;

	if (fs_read_file(&text, store->dirfd, LAYOUT_AGENT_TROUBLE))
		strbuf_reset(&text);
	for (line = strtok_r(text.buf, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		json_t *object = json_loads(line, 0, NULL);

		if (json_is_object(object))
			json_array_append(lines, object);
		json_decref(object);
	}
	strbuf_release(&text);
	return lines;
}

static int keep(struct store *store, const json_t *lines)
{
	struct strbuf text = STRBUF_INIT;
	size_t nr = json_array_size(lines);
	int err;

	for (size_t i = nr > KEPT ? nr - KEPT : 0; i < nr; i++) {
		json_write(&text, json_array_get(lines, i));
		strbuf_addch(&text, '\n');
	}
	err = fs_write_file(store->dirfd, LAYOUT_AGENT_TROUBLE, text.buf, text.len, 0600, FS_FAST);
	strbuf_release(&text);
	return err;
}

bool agent_trouble_note(struct store *store, const char *agent, const char *session, const char *why)
{
	json_t *lines = load(store), *line;
	char *kept = ckpt_error_keep();
	bool told = false;
	size_t i;

	json_array_foreach(lines, i, line)
		told = told || (has_text(line, "agent", agent) && has_text(line, "session", session) &&
				is_same_text(line, why));
	line = json_object();
	json_object_set_new(line, "agent", json_text(agent));
	json_object_set_new(line, "session", session ? json_text(session) : json_null());
	json_object_set_new(line, "at", json_integer((json_int_t)clock_now()));
	json_object_set_new(line, "why", json_text(why));
	json_array_append_new(lines, line);
	if (keep(store, lines))
		told = false;
	json_decref(lines);
	ckpt_error_put_back(CKPT_ERROR, kept);
	return !told;
}

char *agents_trouble(struct store *store, const char *agent, int64_t *at)
{
	json_t *lines = load(store), *line;
	char *why = NULL;
	size_t i;

	json_array_foreach(lines, i, line) {
		const char *text = json_string_value(json_object_get(line, "why"));

		if (!text || !has_text(line, "agent", agent))
			continue;
		free(why);
		why = xstrdup(text);
		*at = json_integer_value(json_object_get(line, "at"));
	}
	json_decref(lines);
	return why;
}
