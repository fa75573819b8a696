/* SPDX-License-Identifier: MIT */
#include "base/cancel.h"

#include "base/error.h"

#include <signal.h>

static volatile sig_atomic_t caught;
static struct sigaction child_before = { .sa_handler = SIG_DFL };

static void note(int sig)
{
	caught = sig;
}

/* A file beyond the limit: the write fails, and reports that. */
static void let_it_fail(int sig)
{
	(void)sig;
}

void cancel_install(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = note }, heard = { .sa_handler = SIG_DFL };

	/* A handler, which programs that we start do not inherit. */
	sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = let_it_fail, .sa_flags = SA_RESTART }, NULL);
	sigaction(SIGCHLD, &heard, &child_before);
	sigemptyset(&action.sa_mask);
	/* A second signal ends the program at once. */
	action.sa_flags = (int)SA_RESETHAND;
	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction old;

		/* nohup and similar programs set SIG_IGN; that stays. */
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

void cancel_give_back_child(void)
{
	sigaction(SIGCHLD, &child_before, NULL);
}

int cancel_check(void)
{
	return caught ? ckpt_error_set(CKPT_ECANCELLED, "interrupted, nothing was changed") : 0;
}

int cancel_signal(void)
{
	return caught;
}
