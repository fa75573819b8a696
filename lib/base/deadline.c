/* SPDX-License-Identifier: MIT */
#include "base/cancel.h"

#include "base/clock.h"

#include <signal.h>

static void wait_until(struct deadline *deadline, double when)
{
	struct timespec ts = { .tv_sec = (time_t)when,
			       .tv_nsec = (long)((when - (double)(time_t)when) * 1e9) };

	pthread_cond_timedwait(&deadline->changed, &deadline->lock, &ts);
}

static void *watch(void *payload)
{
	struct deadline *deadline = payload;

	pthread_mutex_lock(&deadline->lock);
	while (!deadline->over && clock_monotonic() < deadline->when)
		wait_until(deadline, deadline->when);
	if (!deadline->over) {
		double end = clock_monotonic() + DEADLINE_GRACE_SECONDS;

		/* Everything that takes long checks this. */
		atomic_store(&deadline->passed, true);
		kill(getpid(), SIGTERM);
		while (!deadline->over && clock_monotonic() < end)
			wait_until(deadline, end);
		if (!deadline->over)
			deadline->give_up(deadline->why);
	}
	pthread_mutex_unlock(&deadline->lock);
	return NULL;
}

void deadline_start(struct deadline *deadline, double when, deadline_give_up_fn give_up,
		    const char *why)
{
	pthread_condattr_t attr;

	memset(deadline, 0, sizeof(*deadline));
	deadline->give_up = give_up;
	deadline->why = why;
	deadline->when = when;
	pthread_mutex_init(&deadline->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&deadline->changed, &attr);
	pthread_condattr_destroy(&attr);
	deadline->running = !pthread_create(&deadline->thread, NULL, watch, deadline);
}

void deadline_set(struct deadline *deadline, double when)
{
	pthread_mutex_lock(&deadline->lock);
	deadline->when = when;
	pthread_cond_signal(&deadline->changed);
	pthread_mutex_unlock(&deadline->lock);
}

void deadline_end(struct deadline *deadline)
{
	pthread_mutex_lock(&deadline->lock);
	deadline->over = true;
	pthread_cond_signal(&deadline->changed);
	pthread_mutex_unlock(&deadline->lock);
	if (deadline->running)
		pthread_join(deadline->thread, NULL);
	pthread_cond_destroy(&deadline->changed);
	pthread_mutex_destroy(&deadline->lock);
}

bool deadline_passed(const struct deadline *deadline)
{
	return atomic_load(&deadline->passed);
}
