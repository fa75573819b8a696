/* SPDX-License-Identifier: MIT */
/* The journal of a restore and the stack of undo: what can be read is written and read the same. */
#include "fuzz.h"

#include "record/journal.h"
#include "record/lookup.h"

static void same_list(const struct strlist *a, const struct strlist *b)
{
	FUZZ_CHECK(a->nr == b->nr, "other paths");
	for (size_t i = 0; i < a->nr; i++)
		FUZZ_CHECK(!strcmp(a->items[i], b->items[i]), "other paths");
}

static void try_journal(struct store *store)
{
	struct journal journal = { 0 }, again = { 0 };

	FUZZ_CHECK(journal_exists(store), "there is none");
	(void)journal_is_left(store);
	if (journal_read(&journal, store))
		return;
	FUZZ_CHECK(lookup_valid_target(journal.target) && lookup_valid_target(journal.safety), "no id");
	FUZZ_CHECK(!journal_write(&journal, store) && !journal_read(&again, store),
		   "what was read cannot be written");
	FUZZ_CHECK(!strcmp(journal.target, again.target) && !strcmp(journal.safety, again.safety) &&
			   journal.kind == again.kind &&
			   journal.no_delete == again.no_delete &&
			   journal.replaying == again.replaying,
		   "another journal");
	same_list(&journal.paths, &again.paths);
	same_list(&journal.made, &again.made);
	journal_release(&journal);
	journal_release(&again);
}

static void try_undo(struct store *store)
{
	struct undo_stack stack, again;

	(void)journal_undo_read(&stack, store);
	FUZZ_CHECK(stack.done <= stack.nr, "more is done than there is");
	FUZZ_CHECK(!journal_undo_write(&stack, store), "what was read cannot be written");
	(void)journal_undo_read(&again, store);
	FUZZ_CHECK(stack.nr == again.nr && stack.done == again.done, "another stack");
	for (size_t i = 0; i < stack.nr; i++) {
		FUZZ_CHECK(!strcmp(stack.items[i].before, again.items[i].before), "another entry");
		same_list(&stack.items[i].paths, &again.items[i].paths);
	}
	journal_undo_release(&stack);
	journal_undo_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct store *store = fuzz_store();

	fuzz_put("store/checkpoint/journal", data, size);
	fuzz_put("store/checkpoint/undo", data, size);
	try_journal(store);
	try_undo(store);
	return 0;
}
