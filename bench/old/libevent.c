/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libevent: each thread has an event base of its own and runs timers in it. */
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 2, EVENTS = 200000 };

struct loop {
	struct event *timer;
	int left;
};

static void fired(evutil_socket_t none, short what, void *closure)
{
	struct loop *const loop = closure;
	const struct timeval soon = { 0, 0 };

	(void)none;
	(void)what;
	if (--loop->left > 0)
		evtimer_add(loop->timer, &soon);
}

static void *run(void *unused)
{
	struct event_base *const base = event_base_new();
	const struct timeval soon = { 0, 0 };
	struct loop loop = { NULL, EVENTS };

	(void)unused;
	loop.timer = evtimer_new(base, fired, &loop);
	evtimer_add(loop.timer, &soon);
	event_base_dispatch(base);
	event_free(loop.timer);
	event_base_free(base);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	evthread_use_pthreads();
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
