/* SPDX-License-Identifier: MIT */
/* The nodes of a watcher against a model: a plain table of paths. */
#include "unit.h"

#include "base/path.h"
#include "watch/watch_cover_internal.h"

enum { MODEL_MAX = 256 };

/* One row for each directory; a path is "" or "/a/b". */
struct row {
	char path[64];
	int watch; /* -1: loose */
	uint64_t changed;
	bool there;
};

static struct row model[MODEL_MAX];
static int gone[4 * MODEL_MAX];
static size_t gone_nr;

static void note_gone(int watch, void *payload)
{
	(void)payload;
	gone[gone_nr++] = watch;
}

static struct row *find(const char *path)
{
	for (size_t i = 0; i < MODEL_MAX; i++)
		if (model[i].there && !strcmp(model[i].path, path))
			return &model[i];
	return NULL;
}

static struct row *any_row(bool armed)
{
	for (int tries = 0; tries < 1000; tries++) {
		struct row *row = &model[rnd(MODEL_MAX)];

		if (row->there && (!armed || row->watch >= 0))
			return row;
	}
	return NULL;
}

static bool is_below(const char *path, const char *top)
{
	size_t len = strlen(top);

	return !strncmp(path, top, len) && path[len] == '/';
}

static void expect_gone(const struct row *row)
{
	bool found = row->watch < 0;

	for (size_t i = 0; i < gone_nr && !found; i++)
		found = gone[i] == row->watch;
	assert_true(found);
}

/* What the model loses below a path, each with its watch. */
static size_t lose_below(const char *path)
{
	size_t armed = 0;

	for (size_t i = 0; i < MODEL_MAX; i++)
		if (model[i].there && is_below(model[i].path, path)) {
			expect_gone(&model[i]);
			armed += model[i].watch >= 0;
			model[i].there = false;
		}
	return armed;
}

static struct watch_node *node_at(const struct watch_nodes *nodes, const char *path)
{
	struct watch_node *node = nodes->root;

	while (node && *path) {
		char name[64];
		size_t len = strcspn(path + 1, "/");

		snprintf(name, sizeof(name), "%.*s", (int)len, path + 1);
		node = watch_nodes_child(nodes, node, name);
		path += len + 1;
	}
	return node;
}

static void check_lists(const struct watch_nodes *nodes)
{
	uint64_t last = UINT64_MAX;
	size_t armed = 0, loose = 0;

	for (const struct watch_node *at = nodes->newest; at; at = at->older) {
		assert_true(at->changed <= last);
		assert_true(at->watch >= 0);
		last = at->changed;
		armed++;
	}
	for (const struct watch_node *at = nodes->loose; at; at = at->older) {
		assert_int_equal(at->watch, -1);
		assert_null(at->child);
		loose++;
		for (const struct watch_node *up = at; up; up = up->parent)
			assert_true(up->loose_below);
	}
	assert_int_equal(armed + loose, nodes->nr);
	assert_int_equal(loose, nodes->loose_nr);
}

static void compare(const struct watch_nodes *nodes)
{
	size_t nr = 0;

	for (size_t i = 0; i < MODEL_MAX; i++) {
		struct strbuf path = STRBUF_INIT;
		const struct watch_node *node;

		if (!model[i].there)
			continue;
		nr++;
		node = node_at(nodes, model[i].path);
		assert_non_null(node);
		assert_int_equal(node->watch, model[i].watch);
		watch_nodes_path(&path, node);
		assert_string_equal(path.buf, model[i].path + (*model[i].path == '/'));
		if (node->watch >= 0) {
			assert_int_equal(node->changed, model[i].changed);
			assert_ptr_equal(watch_nodes_of(nodes, node->watch), node);
		}
		strbuf_release(&path);
	}
	assert_int_equal(nr, nodes->nr);
	check_lists(nodes);
}

static void add(struct watch_nodes *nodes)
{
	struct row *parent = any_row(true), *row = NULL;
	char path[80];

	for (size_t i = 0; i < MODEL_MAX && !row; i++)
		row = model[i].there ? NULL : &model[i];
	if (!row)
		return;
	if (!nodes->root) {
		*row = (struct row){ .watch = -1, .there = true };
		(void)watch_nodes_add(nodes, NULL, "");
		return;
	}
	if (!parent)
		return;
	snprintf(path, sizeof(path), "%s/%c", parent->path, 'a' + (int)rnd(6));
	if (strlen(path) >= sizeof(row->path) || find(path))
		return;
	*row = (struct row){ .watch = -1, .there = true };
	memcpy(row->path, path, strlen(path) + 1);
	(void)watch_nodes_add(nodes, node_at(nodes, parent->path), strrchr(path, '/') + 1);
}

static void one_step(struct watch_nodes *nodes, uint64_t tick, int *next_watch)
{
	struct row *row = any_row(false);
	struct watch_node *node = row ? node_at(nodes, row->path) : NULL;
	size_t armed;

	gone_nr = 0;
	switch (node ? rnd(12) : 0) {
	case 0:
	case 1:
	case 2:
	case 3:
		add(nodes);
		break;
	case 4:
	case 5:
	case 6:
	case 7:
		if (row->watch >= 0)
			break;
		row->watch = (*next_watch)++;
		row->changed = tick;
		watch_nodes_arm(nodes, node, row->watch, tick);
		break;
	case 8:
		watch_nodes_loosen(nodes, node);
		expect_gone(row);
		armed = lose_below(row->path) + (row->watch >= 0);
		assert_int_equal(gone_nr, armed);
		row->watch = -1;
		break;
	case 9:
		if (rnd(4))
			break;
		watch_nodes_drop(nodes, node);
		expect_gone(row);
		armed = lose_below(row->path) + (row->watch >= 0);
		assert_int_equal(gone_nr, armed);
		row->there = false;
		break;
	default:
		watch_nodes_touch(nodes, node, tick);
		row->changed = tick;
		break;
	}
}

static void test_nodes_are_what_a_table_says(void **state)
{
	struct watch_nodes nodes = { .gone = note_gone };
	int next_watch = 1;

	(void)state;
	for (uint64_t tick = 1; tick < 4000; tick++) {
		one_step(&nodes, tick / 3, &next_watch);
		if (!rnd(5))
			compare(&nodes);
	}
	compare(&nodes);
	watch_nodes_release(&nodes);
	assert_int_equal(nodes.nr, 0);
}

/* Deeper than any stack, and wider than a table. */
static void test_large_trees(void **state)
{
	struct watch_nodes nodes = { .gone = note_gone };
	struct watch_node *node = watch_nodes_add(&nodes, NULL, "");
	struct strbuf path = STRBUF_INIT;
	int watch = 0;

	(void)state;
	nodes.gone = NULL;
	watch_nodes_arm(&nodes, node, watch++, 1);
	for (int i = 0; i < 200000; i++) {
		node = watch_nodes_add(&nodes, node, "x");
		watch_nodes_arm(&nodes, node, watch++, 1);
	}
	watch_nodes_path(&path, node);
	assert_int_equal(path.len, 2 * 200000 - 1);
	for (int i = 0; i < 100000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%d", i);
		watch_nodes_arm(&nodes, watch_nodes_add(&nodes, nodes.root, name), watch++, 1);
	}
	assert_non_null(watch_nodes_child(&nodes, nodes.root, "99999"));
	watch_nodes_loosen(&nodes, nodes.root);
	assert_int_equal(nodes.nr, 1);
	strbuf_release(&path);
	watch_nodes_release(&nodes);
}

/* A flag may be left above, until it is looked at again; never may it be missing. */
static void test_loose_nodes_are_found_from_above(void **state)
{
	struct watch_nodes nodes = { .gone = note_gone };
	struct watch_node *root = watch_nodes_add(&nodes, NULL, ""), *a, *b;

	(void)state;
	watch_nodes_arm(&nodes, root, 1, 1);
	a = watch_nodes_add(&nodes, root, "a");
	watch_nodes_arm(&nodes, a, 2, 1);
	b = watch_nodes_add(&nodes, a, "b");
	watch_nodes_arm(&nodes, b, 3, 1);
	watch_nodes_settle(b);
	watch_nodes_settle(a);
	watch_nodes_settle(root);
	assert_false(root->loose_below);
	watch_nodes_loosen(&nodes, b);
	assert_true(root->loose_below && a->loose_below);
	watch_nodes_settle(a);
	assert_true(a->loose_below);
	watch_nodes_drop(&nodes, b);
	watch_nodes_settle(a);
	watch_nodes_settle(root);
	assert_false(root->loose_below || a->loose_below);
	watch_nodes_release(&nodes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes_are_what_a_table_says),
		cmocka_unit_test(test_large_trees),
		cmocka_unit_test(test_loose_nodes_are_found_from_above),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
