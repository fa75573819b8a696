/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "base/alloc.h"
#include "base/error.h"
#include "flowgen.h"

#include <jansson.h>

#define ID "chk_20260101_000000_abcdef"

/* One of everything. */
static void fill(struct flow_state *state)
{
	struct flow_done *done;
	struct flow_task *task;

	*state = (struct flow_state){
		.workflow_id = xstrdup("release"),
		.started_at = 1767225600,
		.last_updated = 1767225700,
		.current_phase = xstrdup("build"),
		.phase_status = FLOW_IN_PROGRESS,
		.interruption_safe = true,
	};
	done = add_done(state, "plan");
	done->completed_at = 1767225650;
	strlist_add(&done->output, "docs/plan.md");
	strlist_add(&done->output, "\"odd\"\n\xff");
	done->checkpoint = xstrdup(ID);
	add_approval(state, "plan")->approved_at = 1767225660;
	task = add_task(state, "lib/a.c, b");
	task->status = FLOW_IN_PROGRESS;
	task->attempts = 3;
	task->started_at = 1767225670;
	strlist_add(&task->output, "a.o");
	add_task(state, "zwei \xc3\xa4");
}

static json_t *printed(const struct flow_state *state)
{
	struct strbuf text = STRBUF_INIT;
	json_t *object;

	flow_state_print(&text, state);
	object = json_loads(text.buf, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(object);
	strbuf_release(&text);
	return object;
}

static void assert_keys(const json_t *object, const char *expected)
{
	struct strbuf keys = STRBUF_INIT;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
		strbuf_addf(&keys, "%s%s", keys.len ? " " : "", key);
	assert_string_equal(keys.buf, expected);
	strbuf_release(&keys);
}

static void test_the_keys_are_those_of_the_contract(void **unused)
{
	struct flow_state state;
	json_t *object, *task;

	(void)unused;
	fill(&state);
	object = printed(&state);
	assert_keys(object, "workflow_id started_at last_updated current_phase phase_status "
			    "completed_phases user_checkpoints tasks interruption_safe");
	assert_keys(json_array_get(json_object_get(object, "completed_phases"), 0),
		    "phase completed_at output checkpoint");
	assert_keys(json_array_get(json_object_get(object, "user_checkpoints"), 0),
		    "phase approved_at");
	assert_keys(json_array_get(json_object_get(object, "tasks"), 0),
		    "id status attempts started_at completed_at output");
	assert_string_equal(json_string_value(json_object_get(object, "started_at")),
			    "2026-01-01T00:00:00Z");
	/* not begun: a time that is none, an output that is an array all the same */
	task = json_array_get(json_object_get(object, "tasks"), 1);
	assert_true(json_is_null(json_object_get(task, "started_at")));
	assert_true(json_is_null(json_object_get(task, "completed_at")));
	assert_true(json_is_array(json_object_get(task, "output")));
	assert_int_equal(json_integer_value(json_object_get(task, "attempts")), 0);
	json_decref(object);
	flow_state_release(&state);
}

static void test_what_is_printed_is_read_back(void **unused)
{
	struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;
	struct flow_state state, again;

	(void)unused;
	fill(&state);
	flow_state_print(&first, &state);
	assert_int_equal(flow_state_parse(&again, first.buf, first.len), 0);
	flow_state_print(&second, &again);
	assert_string_equal(first.buf, second.buf);
	assert_string_equal(again.done.items[0].output.items[1], "\"odd\"\n\xff");
	assert_int_equal(again.tasks.items[0].attempts, 3);
	assert_int_equal(again.tasks.items[0].status, FLOW_IN_PROGRESS);
	assert_int_equal(again.phase_status, FLOW_IN_PROGRESS);
	flow_state_release(&state);
	flow_state_release(&again);
	strbuf_release(&first);
	strbuf_release(&second);
}

static int parse(const char *text, size_t len)
{
	struct flow_state state;
	int err = flow_state_parse(&state, text, len);

	if (!err)
		flow_state_release(&state);
	return err;
}

static void test_every_truncation_is_damage(void **unused)
{
	struct strbuf text = STRBUF_INIT;
	struct flow_state state;

	(void)unused;
	fill(&state);
	flow_state_print(&text, &state);
	/* without its newline it is whole */
	for (size_t len = 0; len + 1 < text.len; len++)
		assert_int_equal(parse(text.buf, len), CKPT_ECORRUPT);
	assert_int_equal(parse(text.buf, text.len - 1), 0);
	strbuf_addch(&text, '\0');
	assert_int_equal(parse(text.buf, text.len), CKPT_ECORRUPT);
	text.buf[text.len - 1] = 'x';
	assert_int_equal(parse(text.buf, text.len), CKPT_ECORRUPT);
	memset(text.buf, 0, text.len);
	assert_int_equal(parse(text.buf, text.len), CKPT_ECORRUPT);
	flow_state_release(&state);
	strbuf_release(&text);
}

/* A flipped byte may spell another name, but is never the end of us. */
static void test_no_damage_is_fatal(void **unused)
{
	struct strbuf text = STRBUF_INIT;
	struct flow_state state;

	(void)unused;
	fill(&state);
	flow_state_print(&text, &state);
	for (int i = 0; i < rounds(20000); i++) {
		size_t at = rnd((unsigned)text.len);
		char old = text.buf[at];

		text.buf[at] = (char)rnd64();
		(void)parse(text.buf, text.len);
		text.buf[at] = old;
	}
	assert_int_equal(parse(text.buf, text.len), 0);
	flow_state_release(&state);
	strbuf_release(&text);
}

/* Set what `path` (keys and indices between dots) leads to, in a sound state. */
static int parse_with(const char *path, const char *value)
{
	struct flow_state state;
	json_t *object, *at, *to = value ? json_loads(value, JSON_DECODE_ANY, NULL) : NULL;
	char *copy = xstrdup(path), *key = copy, *dot, *text;
	int err;

	fill(&state);
	object = at = printed(&state);
	flow_state_release(&state);
	while ((dot = strchr(key, '.'))) {
		*dot = '\0';
		at = json_is_array(at) ? json_array_get(at, (size_t)atoi(key)) :
					 json_object_get(at, key);
		assert_non_null(at);
		key = dot + 1;
	}
	if (!value)
		assert_int_equal(json_object_del(at, key), 0);
	else if (json_is_array(at))
		json_array_set_new(at, (size_t)atoi(key), to);
	else
		json_object_set_new(at, key, to);
	text = json_dumps(object, 0);
	err = parse(text, strlen(text));
	free(text);
	free(copy);
	json_decref(object);
	return err;
}

static void test_missing_keys(void **unused)
{
	static const char *const paths[] = {
		"workflow_id", "started_at", "last_updated", "current_phase", "phase_status",
		"completed_phases", "user_checkpoints", "tasks", "interruption_safe",
		"completed_phases.0.phase", "completed_phases.0.completed_at",
		"completed_phases.0.output", "completed_phases.0.checkpoint",
		"user_checkpoints.0.phase", "user_checkpoints.0.approved_at", "tasks.0.id",
		"tasks.0.status", "tasks.0.attempts", "tasks.0.started_at", "tasks.0.completed_at",
		"tasks.0.output",
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (parse_with(paths[i], NULL) != CKPT_ECORRUPT)
			fail_msg("without '%s' it is sound", paths[i]);
}

static void test_wrong_values(void **unused)
{
	static const struct {
		const char *path, *value;
	} rows[] = {
		{ "extra", "1" },
		{ "completed_phases.0.extra", "null" },
		{ "user_checkpoints.0.extra", "null" },
		{ "tasks.0.extra", "{}" },
		{ "workflow_id", "7" },
		{ "workflow_id", "null" },
		{ "workflow_id", "\"\"" },
		{ "workflow_id", "\"a/b\"" },
		{ "workflow_id", "\"a\\nb\"" },
		{ "started_at", "1767225600" },
		{ "started_at", "\"yesterday\"" },
		{ "started_at", "\"2026-01-01\"" },
		{ "started_at", "\"2026-01-01T00:00:00+01:00\"" },
		{ "started_at", "\"2026-02-31T00:00:00Z\"" },
		{ "started_at", "null" },
		{ "last_updated", "\"\"" },
		{ "current_phase", "[]" },
		{ "phase_status", "\"running\"" },
		{ "phase_status", "null" },
		{ "phase_status", "1" },
		{ "completed_phases", "{}" },
		{ "completed_phases", "null" },
		{ "completed_phases.0", "\"plan\"" },
		{ "completed_phases.0.output", "\"docs/plan.md\"" },
		{ "completed_phases.0.output", "[1]" },
		{ "completed_phases.0.output", "[\"\"]" },
		{ "completed_phases.0.output", "[\"/etc/passwd\"]" },
		{ "completed_phases.0.output", "[\"../up\"]" },
		{ "completed_phases.0.output", "[\"a/../../b\"]" },
		{ "completed_phases.0.output", "[\"./a\"]" },
		{ "completed_phases.0.output", "[\"a//b\"]" },
		{ "completed_phases.0.output", "[\".git/config\"]" },
		{ "completed_phases.0.output", "[\"\\\"unfinished\"]" },
		{ "completed_phases.0.output", "[\"\\\"nul \\\\000\\\"\"]" },
		{ "completed_phases.0.checkpoint", "null" },
		{ "completed_phases.0.checkpoint", "\"\"" },
		{ "completed_phases.0.checkpoint", "\"chk_1\"" },
		{ "completed_phases.0.completed_at", "null" },
		{ "user_checkpoints", "[1]" },
		{ "user_checkpoints.0.approved_at", "null" },
		{ "tasks", "[[]]" },
		{ "tasks.0.id", "\"\"" },
		{ "tasks.1.id", "\"lib/a.c, b\"" },
		{ "tasks.0.status", "\"in_progress\"" },
		{ "tasks.0.status", "null" },
		{ "tasks.0.attempts", "-1" },
		{ "tasks.0.attempts", "1.5" },
		{ "tasks.0.attempts", "\"1\"" },
		{ "tasks.0.attempts", "null" },
		{ "tasks.0.attempts", "9223372036854775807" },
		{ "tasks.0.started_at", "0" },
		{ "tasks.0.output", "null" },
		{ "interruption_safe", "null" },
		{ "interruption_safe", "\"true\"" },
		{ "interruption_safe", "1" },
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (parse_with(rows[i].path, rows[i].value) != CKPT_ECORRUPT)
			fail_msg("%s with '%s' is sound", rows[i].value, rows[i].path);
	/* false is a value that only a resume minds */
	assert_int_equal(parse_with("interruption_safe", "false"), 0);
	assert_int_equal(parse_with("tasks.0.started_at", "null"), 0);
}

static void test_names(void **unused)
{
	char longest[FLOW_NAME_MAX + 2];

	(void)unused;
	memset(longest, 'x', sizeof(longest));
	longest[FLOW_NAME_MAX + 1] = '\0';
	assert_non_null(flow_name_problem(longest));
	longest[FLOW_NAME_MAX] = '\0';
	assert_null(flow_name_problem(longest));
	assert_null(flow_name_problem("Phase 1: \xc3\xbc"));
	assert_non_null(flow_name_problem(""));
	assert_non_null(flow_name_problem("a/b"));
	assert_non_null(flow_name_problem("a,b"));
	assert_non_null(flow_name_problem("a\tb"));
	assert_non_null(flow_name_problem("a\x7f"));
	assert_non_null(flow_name_problem("a\xff"));
	assert_null(flow_task_problem("a/b,c"));
	assert_non_null(flow_task_problem("a\nb"));
}

static void test_a_plan_is_read_back(void **unused)
{
	struct strbuf text = STRBUF_INIT, wrong = STRBUF_INIT;
	struct flow_plan plan, found;

	(void)unused;
	make_plan(&plan, "a b", "b");
	plan.state_dir = xstrdup("\"x\xff");
	flow_plan_print(&text, &plan);
	assert_int_equal(flow_plan_parse(&found, text.buf, text.len), 0);
	assert_string_equal(found.workflow_id, "w");
	assert_int_equal(found.started_at, 100);
	assert_int_equal(found.phases.nr, 2);
	assert_string_equal(found.approve.items[0], "b");
	assert_string_equal(found.state_dir, "\"x\xff");
	flow_plan_release(&found);
	for (size_t len = 0; len + 1 < text.len; len++)
		assert_int_equal(flow_plan_parse(&found, text.buf, len), CKPT_ECORRUPT);
	flow_plan_release(&plan);
	/* one without phases is none */
	make_plan(&plan, "", "");
	flow_plan_print(&wrong, &plan);
	assert_int_equal(flow_plan_parse(&found, wrong.buf, wrong.len), CKPT_ECORRUPT);
	flow_plan_release(&plan);
	strbuf_release(&text);
	strbuf_release(&wrong);
}

static void test_the_latest_time_of_all(void **unused)
{
	struct flow_state state;

	(void)unused;
	fill(&state);
	assert_null(flow_state_later(&state, 1767225700));
	assert_string_equal(flow_state_later(&state, 1767225699), "last_updated");
	state.tasks.items[1].completed_at = 1767225701;
	assert_string_equal(flow_state_later(&state, 1767225700), "completed_at");
	flow_state_release(&state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_keys_are_those_of_the_contract),
		cmocka_unit_test(test_what_is_printed_is_read_back),
		cmocka_unit_test(test_every_truncation_is_damage),
		cmocka_unit_test(test_no_damage_is_fatal),
		cmocka_unit_test(test_missing_keys),
		cmocka_unit_test(test_wrong_values),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_a_plan_is_read_back),
		cmocka_unit_test(test_the_latest_time_of_all),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
