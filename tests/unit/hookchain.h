/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_HOOKCHAIN_H
#define CKPT_TESTS_HOOKCHAIN_H

/* Calls of hooks, with the processes above them, and what is decided. After unit.h. */

#include "base/alloc.h"
#include "base/proc.h"
#include "hooks/hook_rules.h"

/*
 * Processes are written as "<topmost> > ... > <nearest>", words apart by one
 * blank ("%" is a blank within a word); "@" before one begins a new session. Expected is the command of the
 * reason, "" for nothing; flags after it: "+n" all that is not ignored, "+i" ignored files too, "+a" look
 * for an autostash, "+u" only if HEAD is unborn.
 */
static void add_proc(struct proc_list *list, const char *text, pid_t session)
{
	struct proc proc = { .pid = (pid_t)(100 + list->nr), .start = 1, .session = session };

	while (*text) {
		size_t len = strcspn(text, " ");

		char *word = xmemdupz(text, len);

		for (char *p = word; (p = strchr(p, '%'));)
			*p = ' ';
		strlist_take(&proc.argv, word);
		text += len;
		text += *text == ' ';
	}
	proc.name = xstrdup("x");
	ALLOC_GROW(list->items, list->nr + 1, list->alloc);
	/* The nearest comes first. */
	memmove(list->items + 1, list->items, list->nr * sizeof(*list->items));
	list->items[0] = proc;
	list->nr++;
}

static void make_chain(struct proc_list *list, const char *chain)
{
	char *copy = xstrdup(chain), *p = copy;
	pid_t session = 1;

	memset(list, 0, sizeof(*list));
	while (p && *p) {
		char *next = strstr(p, " > ");

		if (next)
			*next = '\0';
		if (*p == '@') {
			session++;
			p++;
		}
		add_proc(list, p, session);
		p = next ? next + 3 : NULL;
	}
	free(copy);
}

static const char *told(const struct hook_decision *decision)
{
	static char text[128];

	if (!decision->act)
		return "";
	snprintf(text, sizeof(text), "%s%s%s%s", decision->command,
		 decision->extent == HOOK_TAKES_IGNORED   ? "+i" :
		 decision->extent == HOOK_TAKES_UNTRACKED ? "+n" :
							    "",
		 decision->autostash ? "+a" : "",
		 decision->only_unborn ? "+u" : "");
	return text;
}

UNUSED static void expect(struct hook_call *call, const char *chain, const char *expected)
{
	struct hook_decision decision;
	struct proc_list list;

	make_chain(&list, chain);
	call->ancestors = &list;
	hook_decide(&decision, call);
	if (strcmp(told(&decision), expected))
		fail_msg("%s: %s: '%s' instead of '%s'", hook_names[call->name], chain, told(&decision),
			 expected);
	proc_list_release(&list);
}

#endif
