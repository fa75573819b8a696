/* SPDX-License-Identifier: MIT */
#include "base/pool.h"

#include "base/alloc.h"
#include "base/error.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { MAX_THREADS = 64 };

struct pool_queue {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	void **items; /* a stack: depth first keeps it short */
	size_t nr, alloc;
	unsigned busy;

	/* One of the two kinds of work. */
	pool_item_fn item_fn;
	atomic_size_t next;
	size_t n;
	pool_work_fn work_fn;
	void *payload;

	atomic_bool failed;
	int err;
	char *message;
};

struct worker {
	struct pool_queue *queue;
	unsigned number;
	pthread_t thread;
};

unsigned pool_default_threads(void)
{
	cpu_set_t set;
	int n = 1;

	if (!sched_getaffinity(0, sizeof(set), &set))
		n = CPU_COUNT(&set);
	return n < 1 ? 1 : n > 16 ? 16 : (unsigned)n;
}

static void note_failure(struct pool_queue *queue, int err)
{
	pthread_mutex_lock(&queue->lock);
	if (!atomic_load(&queue->failed)) {
		queue->err = err;
		queue->message = xstrdup(ckpt_error_last());
		atomic_store(&queue->failed, true);
	}
	pthread_cond_broadcast(&queue->wake);
	pthread_mutex_unlock(&queue->lock);
}

static void run_items(struct worker *worker)
{
	struct pool_queue *queue = worker->queue;

	while (!atomic_load_explicit(&queue->failed, memory_order_relaxed)) {
		size_t i = atomic_fetch_add(&queue->next, 1);
		int err;

		if (i >= queue->n)
			return;
		err = queue->item_fn(i, worker->number, queue->payload);
		if (err) {
			note_failure(queue, err);
			return;
		}
	}
}

/* The next item, or NULL when all work is done or something failed. */
static void *take_item(struct pool_queue *queue)
{
	void *item = NULL;

	pthread_mutex_lock(&queue->lock);
	while (!queue->nr && queue->busy && !atomic_load(&queue->failed))
		pthread_cond_wait(&queue->wake, &queue->lock);
	if (queue->nr && !atomic_load(&queue->failed)) {
		item = queue->items[--queue->nr];
		queue->busy++;
	} else {
		pthread_cond_broadcast(&queue->wake);
	}
	pthread_mutex_unlock(&queue->lock);
	return item;
}

static void end_item(struct pool_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	if (!--queue->busy && !queue->nr)
		pthread_cond_broadcast(&queue->wake);
	pthread_mutex_unlock(&queue->lock);
}

static void run_queue(struct worker *worker)
{
	struct pool_queue *queue = worker->queue;
	void *item;

	while ((item = take_item(queue))) {
		int err = queue->work_fn(queue, item, worker->number, queue->payload);

		if (err)
			note_failure(queue, err);
		end_item(queue);
	}
}

static void *run_worker(void *arg)
{
	struct worker *worker = arg;

	if (worker->queue->item_fn)
		run_items(worker);
	else
		run_queue(worker);
	return NULL;
}

static int run_all(struct pool_queue *queue, unsigned threads)
{
	struct worker workers[MAX_THREADS];
	unsigned started = 1;
	int err;

	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	workers[0] = (struct worker){ .queue = queue };
	/* Fewer threads than requested is slower, not wrong. */
	for (; started < threads; started++) {
		workers[started] = (struct worker){ .queue = queue, .number = started };
		if (pthread_create(&workers[started].thread, NULL, run_worker, &workers[started]))
			break;
	}
	run_worker(&workers[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);

	err = queue->err;
	if (err)
		ckpt_error_set(err, "%s", queue->message);
	free(queue->message);
	free(queue->items);
	pthread_cond_destroy(&queue->wake);
	pthread_mutex_destroy(&queue->lock);
	return err;
}

int pool_for(unsigned threads, size_t n, pool_item_fn fn, void *payload)
{
	struct pool_queue queue = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.wake = PTHREAD_COND_INITIALIZER,
		.item_fn = fn,
		.n = n,
		.payload = payload,
	};

	return run_all(&queue, threads < n ? threads : n ? (unsigned)n : 1);
}

int pool_drain(unsigned threads, void *first, pool_work_fn fn, void *payload)
{
	struct pool_queue queue = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.wake = PTHREAD_COND_INITIALIZER,
		.work_fn = fn,
		.payload = payload,
	};

	pool_push(&queue, first);
	return run_all(&queue, threads ? threads : 1);
}

void pool_push(struct pool_queue *queue, void *item)
{
	pthread_mutex_lock(&queue->lock);
	*ALLOC_NEXT(queue->items, queue->nr, queue->alloc) = item;
	pthread_cond_signal(&queue->wake);
	pthread_mutex_unlock(&queue->lock);
}
