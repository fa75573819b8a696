/* SPDX-License-Identifier: MIT */
#include "gitstate/gitplan.h"

#include "base/error.h"

#include "unit.h"

/*
 * States are written as text, a word each:
 *
 *   ref=refs/heads/main  head=<id>  tree=<id>  staged=<path>:<id>  gone=<path>  unmerged=<path>
 *   branch=<name>:<id>   private=<ref>:<id>    file=<path>:<data>  op=<word>    at=<n>/<m>
 *   config=<line>
 */
static void state_from(struct gitstate *out, const char *text)
{
	struct strlist words = STRLIST_INIT;

	memset(out, 0, sizeof(*out));
	add_words(&words, text);
	for (size_t i = 0; i < words.nr; i++) {
		char *key = words.items[i], *value = strchr(key, '='), *more;

		*value++ = '\0';
		if (!strcmp(key, "ref"))
			out->ref = xstrdup(value);
		else if (!strcmp(key, "head"))
			out->head = xstrdup(value);
		else if (!strcmp(key, "tree"))
			out->head_tree = xstrdup(value);
		else if (!strcmp(key, "op"))
			out->operation = xstrdup(value);
		else if (!strcmp(key, "at"))
			sscanf(value, "%u/%u", &out->step, &out->total);
		else if (!strcmp(key, "config"))
			strlist_add(&out->branch_config, value);
		else if (!strcmp(key, "gone"))
			gitstate_add_entry(out, value, 0, "", 0, 0);
		else if (!strcmp(key, "unmerged"))
			gitstate_add_entry(out, value, 0100644, "aa", 2, 0);
		else {
			more = strrchr(value, ':');
			*more++ = '\0';
			if (!strcmp(key, "staged"))
				gitstate_add_entry(out, value, 0100644, more, 0, 0);
			else if (!strcmp(key, "branch"))
				gitstate_add_branch(out, value, more);
			else if (!strcmp(key, "private"))
				gitstate_add_private_ref(out, value, more);
			else if (!strcmp(key, "file"))
				gitstate_add_file(out, value, more, strlen(more));
			else
				fail_msg("what is %s?", key);
		}
	}
	strlist_release(&words);
}

static const struct strlist none = STRLIST_INIT;

/* Everything that a plan says and does, as text. */
static void describe(struct strbuf *out, const struct gitplan *plan)
{
	for (size_t i = 0; i < plan->refs.nr; i++) {
		const struct gitwrite_ref *ref = &plan->refs.items[i];

		strbuf_addf(out, "%s %s %s %s\n", i < plan->branches_nr ? "move" : "private",
			    ref->name, ref->old ? ref->old : "-", ref->new ? ref->new : "-");
	}
	for (size_t i = 0; i < plan->config.nr; i++)
		strbuf_addf(out, "%s %s\n", plan->config_removed ? "unset" : "set",
			    plan->config.items[i]);
	strbuf_addf(out, "%s%s%s%s%s\n", plan->head ? "head " : "", plan->index ? "index " : "",
		    plan->operation ? "operation " : "", plan->moved ? "moved " : "",
		    plan->moved ? plan->moved : "");
}

struct row {
	const char *title, *now, *goal, *plan;
	bool index_only;
	const char *refused; /* part of the message, or NULL */
};

#define MAIN(id) "ref=refs/heads/main head=" id " branch=refs/heads/main:" id " tree=t" id

static const struct row rows[] = {
	{ "nothing changed", MAIN("a1"), MAIN("a1"), "\n" },
	{ "commits since", MAIN("b2"), MAIN("a1"), "move refs/heads/main b2 a1\nindex \n" },
	{ "commits since, the index alone", MAIN("b2"), MAIN("a1"), "index \n", true },
	{ "something was staged", MAIN("a1"), MAIN("a1") " staged=x:e1", "index \n" },
	{ "something is staged", MAIN("a1") " staged=x:e1", MAIN("a1"), "index \n" },
	{ "the same is staged", MAIN("a1") " staged=x:e1", MAIN("a1") " staged=x:e1", "\n" },
	{ "another branch is checked out",
	  "ref=refs/heads/other head=b2 tree=tb2 branch=refs/heads/main:a1 branch=refs/heads/other:b2",
	  MAIN("a1"), "head index \n" },
	{ "another one, and the branch moved",
	  "ref=refs/heads/other head=b2 tree=tb2 branch=refs/heads/main:c3 branch=refs/heads/other:b2",
	  MAIN("a1"), "move refs/heads/main c3 a1\nhead index \n" },
	{ "the branch was deleted", "head=b2 tree=tb2",
	  MAIN("a1") " config=branch.main.remote=origin",
	  "move refs/heads/main - a1\nset branch.main.remote=origin\nhead index \n" },
	{ "the branch was moved, not deleted", MAIN("b2"),
	  MAIN("a1") " config=branch.main.remote=origin", "move refs/heads/main b2 a1\nindex \n" },
	{ "detached then", MAIN("b2"), "head=a1 tree=ta1 branch=refs/heads/main:b2",
	  "head index \n" },
	{ "detached then and now, elsewhere", "head=b2 tree=tb2", "head=a1 tree=ta1",
	  "head index \n" },
	{ "detached at the same commit", MAIN("a1"), "head=a1 tree=ta1 branch=refs/heads/main:a1",
	  "head \n" },
	{ "unborn then", MAIN("a1"), "ref=refs/heads/main", "move refs/heads/main a1 -\nindex \n" },
	{ "unborn now", "ref=refs/heads/main", MAIN("a1"), "move refs/heads/main - a1\nindex \n" },
	{ "a merge is in progress", MAIN("a1") " op=merge file=MERGE_HEAD:x", MAIN("a1"),
	  "operation \n" },
	{ "a merge was in progress", MAIN("a1"), MAIN("a1") " op=merge file=MERGE_HEAD:x",
	  "operation \n" },
	{ "a bisection goes",
	  "head=a1 tree=ta1 private=refs/bisect/bad:b2 op=bisect file=BISECT_LOG:x",
	  "head=a1 tree=ta1", "private refs/bisect/bad b2 -\noperation \n" },
	{ "ORIG_HEAD stays", MAIN("a1") " private=ORIG_HEAD:b2", MAIN("a1") " private=ORIG_HEAD:c3",
	  "\n" },
	{ "ORIG_HEAD comes with an operation", MAIN("a1") " private=ORIG_HEAD:b2",
	  MAIN("a1") " private=ORIG_HEAD:c3 op=am file=rebase-apply/applying:",
	  "private ORIG_HEAD b2 c3\noperation \n" },
	{ "a rebase that has finished since",
	  "ref=refs/heads/topic head=d4 tree=td4 branch=refs/heads/topic:d4",
	  "head=c3 tree=tc3 branch=refs/heads/topic:b2 op=rebase "
	  "file=rebase-merge/head-name:refs/heads/topic",
	  "move refs/heads/topic d4 b2\nhead index operation \n" },
	{ "a rebase whose branch was deleted", MAIN("a1"),
	  "head=c3 tree=tc3 branch=refs/heads/topic:b2 op=rebase "
	  "config=branch.topic.merge=refs/heads/v1.2 file=rebase-merge/head-name:refs/heads/topic",
	  "move refs/heads/topic - b2\nset branch.topic.merge=refs/heads/v1.2\n"
	  "head index operation \n" },
	{ "a rebase without a branch", MAIN("a1"),
	  "head=c3 tree=tc3 op=rebase file=rebase-merge/head-name:detached-HEAD",
	  "head index operation \n" },
	{ "no ref that nobody knows", MAIN("a1"), MAIN("a1") " private=refs/heads/x:b2 private=HEAD:b2",
	  "\n" },
	{ "a branch below it is in the way",
	  "head=a1 tree=ta1 branch=refs/heads/main/x:b2", MAIN("a1"),
	  "move refs/heads/main - a1\nhead \n", false,
	  "branch 'main' cannot be created while there is a branch 'main/x'" },
	{ "one above it is in the way", "head=a1 tree=ta1 branch=refs/heads/topic:b2",
	  "ref=refs/heads/topic/x head=a1 tree=ta1 branch=refs/heads/topic/x:a1",
	  "move refs/heads/topic/x - a1\nhead \n", false,
	  "branch 'topic/x' cannot be created while there is a branch 'topic'" },
};

static void check_row(const struct row *row)
{
	struct gitplan_opts opts = { .what = row->index_only ? JOURNAL_INDEX : JOURNAL_GIT };
	struct gitplan_facts facts = { 0 };
	struct strbuf text = STRBUF_INIT;
	struct gitstate now, goal;
	struct gitplan plan;
	int err;

	state_from(&now, row->now);
	state_from(&goal, row->goal);
	gitplan_decide(&plan, &now, &goal, &opts);
	describe(&text, &plan);
	if (strcmp(text.buf, row->plan))
		fail_msg("%s:\n%sinstead of\n%s", row->title, text.buf, row->plan);
	assert_int_equal(gitplan_is_empty(&plan), !strcmp(row->plan, "\n"));
	err = gitplan_check(&plan, &now, &goal, &facts, &opts, "chk_1");
	if (!row->refused != !err || (err && !strstr(ckpt_error_last(), row->refused)))
		fail_msg("%s: %d %s", row->title, err, ckpt_error_last());
	gitplan_release(&plan);
	gitstate_release(&now);
	gitstate_release(&goal);
	strbuf_release(&text);
}

static void test_gitplan_decides(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_row(&rows[i]);
}

/* --- steps that are remembered --- */

static void expect_step(const char *now_text, bool back, const char *expected)
{
	struct gitwrite_refs refs = { 0 };
	struct strlist config = STRLIST_INIT;
	struct gitplan_opts opts = {
		.what = JOURNAL_GIT, .remembered = &refs, .config = &config, .back = back
	};
	struct strbuf text = STRBUF_INIT;
	struct gitstate now, goal;
	struct gitplan plan;

	gitwrite_refs_add(&refs, "refs/heads/main", "b2", "a1");
	gitwrite_refs_add(&refs, "refs/heads/made", NULL, "c3");
	strlist_add(&config, "branch.made.remote=origin");
	state_from(&now, now_text);
	state_from(&goal, now_text);
	gitplan_decide(&plan, &now, &goal, &opts);
	describe(&text, &plan);
	assert_string_equal(text.buf, expected);
	gitplan_release(&plan);
	gitstate_release(&now);
	gitstate_release(&goal);
	gitwrite_refs_release(&refs);
	strlist_release(&config);
	strbuf_release(&text);
}

static void test_gitplan_steps_back_and_forth(void **state)
{
	(void)state;
	expect_step("branch=refs/heads/main:a1 branch=refs/heads/made:c3", true,
		    "move refs/heads/main a1 b2\nmove refs/heads/made c3 -\n"
		    "unset branch.made.remote=origin\n\n");
	expect_step("branch=refs/heads/main:b2", false,
		    "move refs/heads/main b2 a1\nmove refs/heads/made - c3\n"
		    "set branch.made.remote=origin\n\n");
	/* Halfway. */
	expect_step("branch=refs/heads/main:a1", false,
		    "move refs/heads/made - c3\nset branch.made.remote=origin\n\n");
	/* Somebody else has moved one. */
	expect_step("branch=refs/heads/main:d4 branch=refs/heads/made:c3", true,
		    "move refs/heads/made c3 -\nunset branch.made.remote=origin\n"
		    "moved refs/heads/main\n");
}

/* --- words --- */

struct words {
	const char *now, *goal, *says;
	unsigned leaving, coming;
	bool logged;
	struct gitindex_counts now_counts, goal_counts;
};

#define ID1 "1111111111111111111111111111111111111111"
#define ID2 "2222222222222222222222222222222222222222"

static struct words wordings[] = {
	{ MAIN(ID1), MAIN(ID2),
	  "branch main: 1111111 → 2222222 (3 commits leave it; they stay in the reflog)\n"
	  "index: as in 2222222\n", 3, 0, true },
	{ MAIN(ID1), MAIN(ID2),
	  "branch main: 1111111 → 2222222 (1 commit leaves it; it is then reachable only by id)\n"
	  "index: as in 2222222\n", 1, 0, false },
	{ MAIN(ID1), MAIN(ID2),
	  "branch main: 1111111 → 2222222 (1 commit comes back, 2 commits leave it; they stay in "
	  "the reflog)\nindex: as in 2222222\n", 2, 1, true },
	{ MAIN(ID1), MAIN(ID1) " staged=x:e1", "index: 3 staged files come back\n", 0, 0, true,
	  { 0, 0, 0 }, { 3, 0, 0 } },
	{ MAIN(ID1), MAIN(ID1) " staged=x:e1",
	  "index: 1 staged file, 2 unmerged files come back\n"
	  "index: replaces 1 staged file; the safety checkpoint keeps it\n", 0, 0, true,
	  { 1, 0, 0 }, { 1, 2, 0 } },
	{ MAIN(ID1) " op=rebase file=rebase-merge/done:x", MAIN(ID1),
	  "rebase in progress: will be abandoned\n" },
	{ MAIN(ID1), MAIN(ID1) " op=rebase at=3/7 file=rebase-merge/done:x",
	  "rebase 3/7: will be in progress again\n" },
	{ MAIN(ID1) " op=rebase at=4/7 file=rebase-merge/done:y",
	  MAIN(ID1) " op=rebase at=3/7 file=rebase-merge/done:x",
	  "rebase in progress: goes back to where it was, 3/7\n" },
	{ "head=" ID1 " tree=t" ID2, MAIN(ID2) " config=branch.main.remote=origin",
	  "HEAD: 1111111 without a branch → branch main\n"
	  "branch main: created at 2222222, with its configuration\n" },
	{ MAIN(ID1), "ref=refs/heads/main",
	  "branch main: 1111111 → no commit (2 commits leave it; they stay in the reflog)\n"
	  "index: empty, as it was\n", 2, 0, true },
};

static void test_gitplan_says_what_it_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wordings); i++) {
		struct words *words = &wordings[i];
		struct gitplan_opts opts = { .what = JOURNAL_GIT };
		struct gitplan_facts facts = { .leaving = &words->leaving,
					       .coming = &words->coming,
					       .logged = &words->logged,
					       .now = words->now_counts,
					       .goal = words->goal_counts };
		struct strlist says = STRLIST_INIT;
		struct strbuf text = STRBUF_INIT;
		struct gitstate now, goal;
		struct gitplan plan;

		state_from(&now, words->now);
		state_from(&goal, words->goal);
		gitplan_decide(&plan, &now, &goal, &opts);
		gitplan_say(&says, &plan, &now, &goal, &facts);
		for (size_t j = 0; j < says.nr; j++)
			strbuf_addf(&text, "%s\n", says.items[j]);
		assert_string_equal(text.buf, words->says);
		gitplan_release(&plan);
		gitstate_release(&now);
		gitstate_release(&goal);
		strlist_release(&says);
		strbuf_release(&text);
	}
}

/* --- what prevents it --- */

static void expect_refused(const struct gitplan_facts *facts, const char *now_text,
			   const char *goal_text, const char *message)
{
	struct gitplan_opts opts = { .what = JOURNAL_GIT };
	struct gitstate now, goal;
	struct gitplan plan;

	state_from(&now, now_text);
	state_from(&goal, goal_text);
	gitplan_decide(&plan, &now, &goal, &opts);
	assert_int_equal(gitplan_check(&plan, &now, &goal, facts, &opts, "chk_1"), CKPT_EREFUSED);
	if (!strstr(ckpt_error_last(), message))
		fail_msg("'%s' instead of '%s'", ckpt_error_last(), message);
	gitplan_release(&plan);
	gitstate_release(&now);
	gitstate_release(&goal);
}

static void test_gitplan_refuses(void **state)
{
	struct strlist ids = STRLIST_INIT;
	struct gitplan_facts facts = { 0 };

	(void)state;
	strlist_add(&ids, ID2);
	facts.lock = "/r/.git/index.lock";
	expect_refused(&facts, MAIN(ID1), MAIN(ID2), "'/r/.git/index.lock' exists");
	facts.lock = NULL;
	facts.gone = ids;
	expect_refused(&facts, MAIN(ID1), MAIN(ID2),
		       "commit " ID2 " is no longer in the repository; 'git checkpoint restore "
		       "--index chk_1' brings back the files and the index without it");
	facts.tree_gone = true;
	expect_refused(&facts, MAIN(ID1), MAIN(ID2),
		       "'git checkpoint restore chk_1' brings back the files without it");
	facts.gone = none;
	expect_refused(&facts, MAIN(ID1), MAIN(ID2), "the tree t" ID2);
	facts.tree_gone = false;
	facts.missing = ids;
	expect_refused(&facts, MAIN(ID1), MAIN(ID2), "object '" ID2 "', which the index had");
	facts.missing = none;
	facts.elsewhere = "/r/other";
	facts.elsewhere_ref = "refs/heads/main";
	expect_refused(&facts, MAIN(ID1), MAIN(ID2), "branch 'main' is checked out in '/r/other'");
	strlist_release(&ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gitplan_decides),
		cmocka_unit_test(test_gitplan_steps_back_and_forth),
		cmocka_unit_test(test_gitplan_says_what_it_does),
		cmocka_unit_test(test_gitplan_refuses),
	};

	return cmocka_run_group_tests_name("gitplan", tests, unit_setup, unit_teardown);
}
