/* SPDX-License-Identifier: MIT */
#include "flow/flow.h"

/* What a field holds, and the type of the member. */
enum kind {
	NAME,	      /* char * */
	TASK_ID,      /* char * */
	CHECKPOINT,   /* char * */
	DIR_OR_NULL,  /* char * */
	TIME,	      /* int64_t */
	TIME_OR_NULL, /* int64_t */
	PHASE_STATUS, /* enum flow_status */
	TASK_STATUS,  /* enum flow_status */
	COUNT,	      /* uint64_t */
	TRUTH,	      /* bool */
	PATHS,	      /* struct strlist */
	NAMES,	      /* struct strlist */
	OBJECTS,      /* FLOW_LIST() */
};

/* One table for each structure: it is parsed, checked, printed and released by that. */
struct field {
	const char *key; /* NULL: the end of the table */
	enum kind kind;
	size_t at;
	const struct field *items; /* of objects */
	size_t size;
};

#define FIELD(key, kind, type, member) { key, kind, offsetof(struct type, member), NULL, 0 }
#define LIST(key, fields, type, member) \
	{ key, OBJECTS, offsetof(struct flow_state, member), fields, sizeof(struct type) }

static const struct field done_fields[] = {
	FIELD("phase", NAME, flow_done, phase),
	FIELD("completed_at", TIME, flow_done, completed_at),
	FIELD("output", PATHS, flow_done, output),
	FIELD("checkpoint", CHECKPOINT, flow_done, checkpoint),
	{ NULL },
};

static const struct field approval_fields[] = {
	FIELD("phase", NAME, flow_approval, phase),
	FIELD("approved_at", TIME, flow_approval, approved_at),
	{ NULL },
};

static const struct field task_fields[] = {
	FIELD("id", TASK_ID, flow_task, id),
	FIELD("status", TASK_STATUS, flow_task, status),
	FIELD("attempts", COUNT, flow_task, attempts),
	FIELD("started_at", TIME_OR_NULL, flow_task, started_at),
	FIELD("completed_at", TIME_OR_NULL, flow_task, completed_at),
	FIELD("output", PATHS, flow_task, output),
	{ NULL },
};

static const struct field state_fields[] = {
	FIELD("workflow_id", NAME, flow_state, workflow_id),
	FIELD("started_at", TIME, flow_state, started_at),
	FIELD("last_updated", TIME, flow_state, last_updated),
	FIELD("current_phase", NAME, flow_state, current_phase),
	FIELD("phase_status", PHASE_STATUS, flow_state, phase_status),
	LIST("completed_phases", done_fields, flow_done, done),
	LIST("user_checkpoints", approval_fields, flow_approval, approvals),
	LIST("tasks", task_fields, flow_task, tasks),
	FIELD("interruption_safe", TRUTH, flow_state, interruption_safe),
	{ NULL },
};

static const struct field plan_fields[] = {
	FIELD("workflow_id", NAME, flow_plan, workflow_id),
	FIELD("started_at", TIME, flow_plan, started_at),
	FIELD("phases", NAMES, flow_plan, phases),
	FIELD("approve", NAMES, flow_plan, approve),
	FIELD("state_dir", DIR_OR_NULL, flow_plan, state_dir),
	{ NULL },
};

/* --- words --- */

enum { STATUSES = FLOW_FAILED + 1 };

static const char *const statuses[STATUSES] = { "pending", "in_progress", "complete", "failed" };
static const char *const task_statuses[STATUSES] = { "pending", "running", "complete", "failed" };

const char *flow_status_name(enum flow_status status)
{
	return statuses[status];
}

const char *flow_task_status_name(enum flow_status status)
{
	return task_statuses[status];
}

static bool find_status(enum flow_status *out, const char *const *words, const char *word)
{
	int i = 0;

	while (i < STATUSES && (!word || strcmp(words[i], word)))
		i++;
	*out = (enum flow_status)i;
	return i < STATUSES;
}

bool flow_task_status_parse(enum flow_status *out, const char *name)
{
	return find_status(out, task_statuses, name);
}

static const char *find_problem(const char *name, const char *reserved)
{
	size_t len = strlen(name);

	if (!len)
		return "is empty";
	if (len > FLOW_NAME_MAX)
		return "is too long";
	if (!utf8_valid(name, len))
		return "is not UTF-8";
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
			return "has a control character in it";
		if (strchr(reserved, name[i]))
			return "has a '/' or ',' in it";
	}
	return NULL;
}

const char *flow_name_problem(const char *name)
{
	return find_problem(name, "/,");
}

const char *flow_task_problem(const char *id)
{
	return find_problem(id, "");
}

static const char *find_id_problem(const char *id)
{
	return refs_valid_id(id) ? NULL : "is not the id of a checkpoint";
}

/* --- one value: each function returns NULL, or what is wrong with it --- */

static const char *read_text(char **to, const json_t *value, const char *(*problem)(const char *))
{
	const char *text = json_string_value(value);

	*to = text && !problem(text) ? xstrdup(text) : NULL;
	return text ? problem(text) : "is not a string";
}

/* Exactly as we write them. */
static const char *read_time(int64_t *to, const json_t *value)
{
	const char *text = json_string_value(value);
	char iso[CLOCK_ISO_SIZE];
	bool good = text && clock_parse_iso(to, text) && *to > 0 &&
		    !strcmp(clock_format_iso(iso, *to), text);

	return good ? NULL : "is not a time";
}

static const char *read_count(uint64_t *to, const json_t *value)
{
	enum { COUNT_MAX = 1000000000 };

	*to = (uint64_t)json_integer_value(value);
	return json_is_integer(value) && *to <= COUNT_MAX ? NULL : "is not a number";
}

/* Below the worktree, judged by the path alone. */
static bool is_inner_path(const char *path)
{
	struct strbuf clean = STRBUF_INIT;
	bool inner;

	path_absolute(&clean, "/", path);
	inner = *path && *path != '/' && !strcmp(clean.buf + 1, path) && !path_has_dotgit(path);
	strbuf_release(&clean);
	return inner;
}

/* "" is the root of the worktree. */
static const char *read_dir(char **to, const json_t *value)
{
	char *path = json_path_value(value);
	bool good = path && (!*path || *path == '/' || is_inner_path(path));

	*to = path;
	return good || json_is_null(value) ? NULL : "is not a path";
}

static char *copy_path(const json_t *value)
{
	char *path = json_path_value(value);

	if (path && is_inner_path(path))
		return path;
	free(path);
	return NULL;
}

static char *copy_name(const json_t *value)
{
	char *name = NULL;

	(void)read_text(&name, value, flow_name_problem);
	return name;
}

static const char *read_list(struct strlist *to, const json_t *array,
			     char *(*copy)(const json_t *), const char *problem)
{
	if (!json_is_array(array))
		return "is not an array";
	for (size_t i = 0; i < json_array_size(array); i++) {
		char *text = copy(json_array_get(array, i));

		if (!text)
			return problem;
		strlist_take(to, text);
	}
	return NULL;
}

static const char *read_value(void *to, const json_t *value, enum kind kind)
{
	switch (kind) {
	case NAME:
		return read_text(to, value, flow_name_problem);
	case TASK_ID:
		return read_text(to, value, flow_task_problem);
	case CHECKPOINT:
		return read_text(to, value, find_id_problem);
	case DIR_OR_NULL:
		return read_dir(to, value);
	case TIME_OR_NULL:
		return json_is_null(value) ? NULL : read_time(to, value);
	case TIME:
		return read_time(to, value);
	case PHASE_STATUS:
		return find_status(to, statuses, json_string_value(value)) ?
			       NULL :
			       "is not the status of a phase";
	case TASK_STATUS:
		return find_status(to, task_statuses, json_string_value(value)) ?
			       NULL :
			       "is not the status of a task";
	case COUNT:
		return read_count(to, value);
	case TRUTH:
		*(bool *)to = json_is_true(value);
		return json_is_boolean(value) ? NULL : "is neither true nor false";
	case PATHS:
		return read_list(to, value, copy_path,
				 "has an entry that is not a path below the worktree");
	case NAMES:
		return read_list(to, value, copy_name, "has an entry that is not a name");
	case OBJECTS:
		break;
	}
	return NULL;
}

static json_t *print_value(const void *from, enum kind kind)
{
	switch (kind) {
	case NAME:
	case TASK_ID:
	case CHECKPOINT:
		return json_text(*(char *const *)from);
	case DIR_OR_NULL:
		return *(char *const *)from ? json_path(*(char *const *)from) : json_null();
	case TIME:
	case TIME_OR_NULL:
		return json_time(*(const int64_t *)from);
	case PHASE_STATUS:
		return json_string(statuses[*(const enum flow_status *)from]);
	case TASK_STATUS:
		return json_string(task_statuses[*(const enum flow_status *)from]);
	case COUNT:
		return json_integer((json_int_t) * (const uint64_t *)from);
	case TRUTH:
		return json_boolean(*(const bool *)from);
	case PATHS:
		return json_paths(from);
	case NAMES:
		return json_texts(from);
	case OBJECTS:
		break;
	}
	return json_array();
}

/* --- objects --- */

typedef FLOW_LIST(char) any_list;

static any_list list_at(const void *at)
{
	any_list list;

	memcpy(&list, at, sizeof(list));
	return list;
}

void *flow_state_add(void *list, size_t size)
{
	any_list any = list_at(list);
	char *item;

	any.items = xrealloc(any.items, (any.nr + 1) * size);
	item = memset(any.items + any.nr++ * size, 0, size);
	memcpy(list, &any, sizeof(any));
	return item;
}

static void release_fields(void *object, const struct field *fields)
{
	for (const struct field *field = fields; field->key; field++) {
		void *at = (char *)object + field->at;
		any_list list = { 0 };

		if (field->kind == OBJECTS)
			list = list_at(at);
		else if (field->kind <= DIR_OR_NULL)
			free(*(char **)at);
		else if (field->kind == PATHS || field->kind == NAMES)
			strlist_release(at);
		for (size_t i = 0; i < list.nr; i++)
			release_fields(list.items + i * field->size, field->items);
		free(list.items);
	}
}

static json_t *print_fields(const void *object, const struct field *fields)
{
	json_t *out = json_object();

	for (const struct field *field = fields; field->key; field++) {
		const void *at = (const char *)object + field->at;
		json_t *value = print_value(at, field->kind);
		any_list list = { 0 };

		if (field->kind == OBJECTS)
			list = list_at(at);
		for (size_t i = 0; i < list.nr; i++)
			json_array_append_new(value, print_fields(list.items + i * field->size,
								  field->items));
		json_object_set_new(out, field->key, value);
	}
	return out;
}

static const char *find_later(const void *object, const struct field *fields, int64_t when)
{
	const char *found = NULL;

	for (const struct field *field = fields; field->key && !found; field++) {
		const void *at = (const char *)object + field->at;
		any_list list = { 0 };

		if (field->kind == OBJECTS)
			list = list_at(at);
		else if (field->kind == TIME || field->kind == TIME_OR_NULL)
			found = *(const int64_t *)at > when ? field->key : NULL;
		for (size_t i = 0; i < list.nr && !found; i++)
			found = find_later(list.items + i * field->size, field->items, when);
	}
	return found;
}

static int set_damaged(const char *key, const char *what)
{
	return ckpt_error_set(CKPT_ECORRUPT, "'%s' %s", key, what);
}

static int read_fields(void *out, const json_t *object, const char *what,
		       const struct field *fields);

static int read_items(void *list, const json_t *array, const struct field *field)
{
	json_t *item;
	size_t i;
	int err = json_is_array(array) ? 0 : set_damaged(field->key, "is not an array");

	json_array_foreach(array, i, item)
		if (!err)
			err = read_fields(flow_state_add(list, field->size), item, field->key,
					  field->items);
	return err;
}

/* All of the keys and no others. */
static int read_fields(void *out, const json_t *object, const char *what,
		       const struct field *fields)
{
	size_t nr = 0;

	if (!json_is_object(object))
		return set_damaged(what, "is not an object");
	for (const struct field *field = fields; field->key; field++, nr++) {
		const json_t *value = json_object_get(object, field->key);
		void *to = (char *)out + field->at;
		const char *problem = NULL;
		int err = 0;

		if (!value)
			problem = "is missing";
		else if (field->kind == OBJECTS)
			err = read_items(to, value, field);
		else
			problem = read_value(to, value, field->kind);
		if (problem)
			err = set_damaged(field->key, problem);
		if (err)
			return err;
	}
	return json_object_size(object) == nr ? 0 : set_damaged(what, "has unknown keys");
}

static int parse_fields(void *out, const char *text, size_t len, const char *what,
			const struct field *fields)
{
	json_error_t error;
	json_t *object = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	int err;

	if (object)
		err = read_fields(out, object, what, fields);
	else
		err = ckpt_error_set(CKPT_ECORRUPT, "it is not JSON (%s)", error.text);
	json_decref(object);
	return err;
}

/* People look into these files. */
static void print_text_of(struct strbuf *out, const void *from, const struct field *fields)
{
	json_t *object = print_fields(from, fields);
	char *text = json_dumps(object, JSON_INDENT(2));

	strbuf_addstr(out, text ? text : "null");
	strbuf_addch(out, '\n');
	free(text);
	json_decref(object);
}

/* --- phase.json --- */

void flow_state_release(struct flow_state *state)
{
	release_fields(state, state_fields);
	memset(state, 0, sizeof(*state));
}

void flow_state_clear_tasks(struct flow_state *state)
{
	while (state->tasks.nr)
		release_fields(&state->tasks.items[--state->tasks.nr], task_fields);
}

static int check_tasks(const struct flow_state *state)
{
	for (size_t i = 0; i < state->tasks.nr; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(state->tasks.items[i].id, state->tasks.items[k].id))
				return set_damaged("tasks", "names a task twice");
	return 0;
}

int flow_state_parse(struct flow_state *out, const char *text, size_t len)
{
	int err;

	memset(out, 0, sizeof(*out));
	err = parse_fields(out, text, len, "phase.json", state_fields);
	if (!err)
		err = check_tasks(out);
	if (err)
		flow_state_release(out);
	return err;
}

void flow_state_print(struct strbuf *out, const struct flow_state *state)
{
	print_text_of(out, state, state_fields);
}

const char *flow_state_later(const struct flow_state *state, int64_t when)
{
	return find_later(state, state_fields, when);
}

json_t *flow_state_object(const struct flow_state *state)
{
	return print_fields(state, state_fields);
}

json_t *flow_task_object(const struct flow_task *task)
{
	return print_fields(task, task_fields);
}

/* --- workflow.json --- */

void flow_plan_release(struct flow_plan *plan)
{
	release_fields(plan, plan_fields);
	memset(plan, 0, sizeof(*plan));
}

int flow_plan_parse(struct flow_plan *out, const char *text, size_t len)
{
	int err;

	memset(out, 0, sizeof(*out));
	err = parse_fields(out, text, len, "workflow.json", plan_fields);
	if (!err && !out->phases.nr)
		err = set_damaged("phases", "is empty");
	if (err)
		flow_plan_release(out);
	return err;
}

void flow_plan_print(struct strbuf *out, const struct flow_plan *plan)
{
	print_text_of(out, plan, plan_fields);
}
