/* SPDX-License-Identifier: MIT */
#include "record/flow_state.h"

#include "base/base.h"

enum { ATTEMPTS_MAX = 1000000000 };

static int damaged(const char *key, const char *what)
{
	return ckpt_error_set(CKPT_ECORRUPT, "'%s' %s", key, what);
}

static json_t *load_object(const char *text, size_t len)
{
	json_error_t error;
	json_t *value = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);

	if (json_is_object(value))
		return value;
	ckpt_error_set(CKPT_ECORRUPT, value ? "it is JSON, but not an object" : "it is not JSON (%s)",
		       error.text);
	json_decref(value);
	return NULL;
}

/* All of the keys and no others; `keys` ends with NULL. */
static int check_keys(const json_t *object, const char *what, const char *const *keys)
{
	size_t nr = 0;

	if (!json_is_object(object))
		return damaged(what, "is not an object");
	for (; keys[nr]; nr++)
		if (!json_object_get(object, keys[nr]))
			return damaged(keys[nr], "is missing");
	if (json_object_size(object) != nr)
		return damaged(what, "has unknown keys");
	return 0;
}

static int read_text(char **out, const json_t *object, const char *key,
		     const char *(*problem)(const char *))
{
	const char *text = json_string_value(json_object_get(object, key));

	if (!text)
		return damaged(key, "is not a string");
	if (problem(text))
		return damaged(key, problem(text));
	*out = xstrdup(text);
	return 0;
}

/* Exactly as we write them. */
static int read_time(int64_t *out, const json_t *object, const char *key, bool optional)
{
	const json_t *value = json_object_get(object, key);
	const char *text = json_string_value(value);
	char iso[CLOCK_ISO_SIZE];

	if (optional && json_is_null(value))
		return 0;
	if (!text || !clock_parse_iso(out, text) || *out <= 0 ||
	    strcmp(clock_format_iso(iso, *out), text))
		return damaged(key, "is not a time");
	return 0;
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

static int read_output(struct strlist *out, const json_t *object)
{
	const json_t *array = json_object_get(object, "output");
	json_t *item;
	size_t i;

	if (!json_is_array(array))
		return damaged("output", "is not an array");
	json_array_foreach(array, i, item)
	{
		char *path = json_path_value(item);

		if (!path || !is_inner_path(path)) {
			free(path);
			return damaged("output", "has an entry that is not a path below the worktree");
		}
		strlist_take(out, path);
	}
	return 0;
}

static int read_done(struct flow_state *out, const json_t *object)
{
	static const char *const keys[] = { "phase", "completed_at", "output", "checkpoint", NULL };
	struct flow_done *done;
	const char *id;
	char *phase = NULL;
	int err = check_keys(object, "completed_phases", keys);

	if (!err)
		err = read_text(&phase, object, "phase", flow_name_problem);
	if (err)
		return err;
	done = flow_state_add_done(out, phase);
	free(phase);
	err = read_time(&done->completed_at, object, "completed_at", false);
	if (!err)
		err = read_output(&done->output, object);
	id = json_string_value(json_object_get(object, "checkpoint"));
	if (!err && (!id || !refs_valid_id(id)))
		err = damaged("checkpoint", "is not the id of a checkpoint");
	if (!err)
		snprintf(done->checkpoint, sizeof(done->checkpoint), "%s", id);
	return err;
}

static int read_approval(struct flow_state *out, const json_t *object)
{
	static const char *const keys[] = { "phase", "approved_at", NULL };
	struct flow_approval *approval;
	char *phase = NULL;
	int err = check_keys(object, "user_checkpoints", keys);

	if (!err)
		err = read_text(&phase, object, "phase", flow_name_problem);
	if (err)
		return err;
	approval = flow_state_add_approval(out, phase);
	free(phase);
	return read_time(&approval->approved_at, object, "approved_at", false);
}

static int read_task(struct flow_state *out, const json_t *object)
{
	static const char *const keys[] = { "id",	    "status", "attempts", "started_at",
					    "completed_at", "output", NULL };
	struct flow_task *task;
	const json_t *attempts;
	char *id = NULL;
	int err = check_keys(object, "tasks", keys);

	if (!err)
		err = read_text(&id, object, "id", flow_task_problem);
	if (err)
		return err;
	task = flow_state_add_task(out, id);
	free(id);
	for (size_t i = 0; i + 1 < out->tasks_nr; i++)
		if (!strcmp(out->tasks[i].id, task->id))
			return damaged("tasks", "names a task twice");
	if (!flow_task_status_parse(&task->status,
				    json_string_value(json_object_get(object, "status"))))
		return damaged("status", "is not the status of a task");
	attempts = json_object_get(object, "attempts");
	task->attempts = (uint64_t)json_integer_value(attempts);
	if (!json_is_integer(attempts) || task->attempts > ATTEMPTS_MAX)
		return damaged("attempts", "is not a number");
	err = read_time(&task->started_at, object, "started_at", true);
	if (!err)
		err = read_time(&task->completed_at, object, "completed_at", true);
	return err ? err : read_output(&task->output, object);
}

static int read_array(struct flow_state *out, const json_t *object, const char *key,
		      int (*read_item)(struct flow_state *, const json_t *))
{
	const json_t *array = json_object_get(object, key);
	json_t *item;
	size_t i;
	int err;

	if (!json_is_array(array))
		return damaged(key, "is not an array");
	json_array_foreach(array, i, item)
	{
		err = read_item(out, item);
		if (err)
			return err;
	}
	return 0;
}

static int read_state(struct flow_state *out, const json_t *object)
{
	static const char *const keys[] = { "workflow_id",	 "started_at",
					    "last_updated",	 "current_phase",
					    "phase_status",	 "completed_phases",
					    "user_checkpoints",	 "tasks",
					    "interruption_safe", NULL };
	const json_t *safe = json_object_get(object, "interruption_safe");
	const char *status = json_string_value(json_object_get(object, "phase_status"));
	int err = check_keys(object, "phase.json", keys);

	if (!err)
		err = read_text(&out->workflow_id, object, "workflow_id", flow_name_problem);
	if (!err)
		err = read_time(&out->started_at, object, "started_at", false);
	if (!err)
		err = read_time(&out->last_updated, object, "last_updated", false);
	if (!err)
		err = read_text(&out->current_phase, object, "current_phase", flow_name_problem);
	if (!err && !flow_status_parse(&out->phase_status, status))
		err = damaged("phase_status", "is not the status of a phase");
	if (!err)
		err = read_array(out, object, "completed_phases", read_done);
	if (!err)
		err = read_array(out, object, "user_checkpoints", read_approval);
	if (!err)
		err = read_array(out, object, "tasks", read_task);
	if (!err && !json_is_boolean(safe))
		err = damaged("interruption_safe", "is neither true nor false");
	out->interruption_safe = json_is_true(safe);
	return err;
}

int flow_state_parse(struct flow_state *out, const char *text, size_t len)
{
	json_t *object = load_object(text, len);
	int err;

	memset(out, 0, sizeof(*out));
	if (!object)
		return CKPT_ECORRUPT;
	err = read_state(out, object);
	json_decref(object);
	if (err)
		flow_state_release(out);
	return err;
}

static int read_names(struct strlist *out, const json_t *object, const char *key)
{
	const json_t *array = json_object_get(object, key);
	json_t *item;
	size_t i;

	if (!json_is_array(array))
		return damaged(key, "is not an array");
	json_array_foreach(array, i, item)
	{
		const char *name = json_string_value(item);

		if (!name || flow_name_problem(name))
			return damaged(key, "has an entry that is not a name");
		strlist_add(out, name);
	}
	return 0;
}

static int read_plan(struct flow_plan *out, const json_t *object)
{
	const json_t *dir = json_object_get(object, "state_dir");
	int err = read_text(&out->workflow_id, object, "workflow_id", flow_name_problem);

	if (!err)
		err = read_time(&out->started_at, object, "started_at", false);
	if (!err)
		err = read_names(&out->phases, object, "phases");
	if (!err && !out->phases.nr)
		err = damaged("phases", "is empty");
	if (!err)
		err = read_names(&out->approve, object, "approve");
	if (!err && json_is_string(dir)) {
		out->state_dir = json_path_value(dir);
		/* "" is the root of the worktree. */
		if (!out->state_dir ||
		    (*out->state_dir && *out->state_dir != '/' && !is_inner_path(out->state_dir)))
			err = damaged("state_dir", "is not a path");
	} else if (!err && !json_is_null(dir)) {
		err = damaged("state_dir", "is not a path");
	}
	return err;
}

int flow_plan_parse(struct flow_plan *out, const char *text, size_t len, const char *workflow_id,
		    int64_t started_at)
{
	json_t *object = load_object(text, len);
	const json_t *at = object;
	int err = object ? 0 : CKPT_ECORRUPT;

	memset(out, 0, sizeof(*out));
	while (!err) {
		if (!json_is_object(at)) {
			err = ckpt_error_set(CKPT_ECORRUPT, "it belongs to another workflow");
			break;
		}
		err = read_plan(out, at);
		if (!err && !strcmp(out->workflow_id, workflow_id) && out->started_at == started_at)
			break;
		flow_plan_release(out);
		at = json_object_get(at, "previous");
	}
	if (err)
		flow_plan_release(out);
	json_decref(object);
	return err;
}
