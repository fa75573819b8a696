/* SPDX-License-Identifier: MIT */
#include "base/cancel.h"

#include "base/error.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid /* the kernel's name is not in every C library */
#endif

enum { AGAIN_NS = 10000000 };

static volatile sig_atomic_t caught;
/* While one waits: the timer that interrupts it. */
static volatile sig_atomic_t waiting;
static timer_t timer;
static struct sigaction child_before = { .sa_handler = SIG_DFL };

/*
 * The call that should be interrupted may not have been entered yet, and then would not notice
 * this signal: the timer repeats until it does. timer_settime(2) may be called here.
 */
static void note(int sig)
{
	const struct itimerspec soon = { .it_value.tv_nsec = AGAIN_NS,
					 .it_interval.tv_nsec = AGAIN_NS };
	int saved = errno;

	caught = sig;
	if (waiting)
		timer_settime(timer, 0, &soon, NULL);
	errno = saved;
}

/* Only the call that it interrupts matters. */
static void interrupt(int sig UNUSED)
{
}

/* A file beyond the limit: the write fails, and reports that. */
static void let_it_fail(int sig UNUSED)
{
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

/* --- calls that block --- */

bool cancel_interrupt_after(int64_t seconds)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN };
	struct itimerspec end = { .it_value.tv_sec = seconds < INT32_MAX ? seconds : INT32_MAX,
				  .it_interval.tv_nsec = AGAIN_NS };
	struct sigaction action = { .sa_handler = interrupt };
	sigset_t signals;

	/* Not SIGALRM: whoever started us may have set an alarm that is to end us. */
	event.sigev_notify_thread_id = gettid();
	sigemptyset(&action.sa_mask);
	sigemptyset(&signals);
	sigaddset(&signals, SIGRTMIN);
	if (seconds <= 0 || sigaction(SIGRTMIN, &action, NULL) < 0 ||
	    timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
		return false;
	pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
	timer_settime(timer, 0, &end, NULL);
	waiting = 1;
	/* Caught before anybody waited. */
	if (caught)
		note(caught);
	return true;
}

void cancel_interrupt_end(void)
{
	if (!waiting)
		return;
	waiting = 0;
	timer_delete(timer);
}
