/* SPDX-License-Identifier: MIT */
/*
 * What a hook is told: its name, events, arguments, the refs on stdin, and
 * the command lines of the processes above it. Apart by NULs; a word "|"
 * ends a command line, the words "%" end a part.
 */
#include "fuzz.h"

#include "base/alloc.h"
#include "base/proc.h"
#include "hooks/hook_rules.h"

static void add_proc(struct proc_list *list, struct strlist *words)
{
	struct proc proc = { .pid = (pid_t)(100 + list->nr), .start = 1, .session = 1 };

	proc.name = xstrdup(words->nr ? words->items[0] : "x");
	proc.argv = *words;
	*words = (struct strlist)STRLIST_INIT;
	ALLOC_GROW(list->items, list->nr + 1, list->alloc);
	list->items[list->nr++] = proc;
}

static void decide(enum hook_name name, unsigned events, const struct strlist *args, const char *refs,
		   const struct proc_list *procs)
{
	struct hook_call call = { .name = name,
				  .args = (const char *const *)args->items,
				  .args_nr = args->nr,
				  .events = events,
				  .refs = refs,
				  .ancestors = procs };
	struct hook_decision decision;

	(void)hook_wants_refs(&call);
	hook_decide(&decision, &call);
	FUZZ_CHECK(!decision.act || (decision.command && *decision.command), "a reason without a name");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum hook_name names[] = { HOOK_PRE_REBASE, HOOK_REFERENCE_TRANSACTION, HOOK_FSMONITOR };
	struct fuzz_input in = { data, size };
	struct strlist words = STRLIST_INIT, args = STRLIST_INIT;
	struct proc_list procs = { 0 };
	unsigned kind = fuzz_byte(&in), events = 0;
	char *list = fuzz_until(&in, '\0', NULL), *refs = fuzz_until(&in, '\0', NULL), *word;

	hook_events_parse(&events, list);
	while (in.size) {
		word = fuzz_until(&in, '\0', NULL);
		if (!strcmp(word, "%")) {
			free(word);
			break;
		}
		strlist_take(&args, word);
	}
	while (in.size && procs.nr < 20) {
		word = fuzz_until(&in, '\0', NULL);
		if (!strcmp(word, "|")) {
			add_proc(&procs, &words);
			free(word);
		} else {
			strlist_take(&words, word);
		}
	}
	add_proc(&procs, &words);
	decide(names[kind % 3], events, &args, refs, &procs);
	decide(names[kind % 3], HOOK_EVENT_ALL, &args, refs, &procs);
	proc_list_release(&procs);
	strlist_release(&args);
	free(list);
	free(refs);
	return 0;
}
