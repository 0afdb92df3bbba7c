/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libevent: two threads, each with an event base of its own. */
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <stdlib.h>

static void call(evutil_socket_t none, short what, void *calls)
{
	(void)none;
	(void)what;
	++*(int *)calls;
}

static void *dispatch(void *unused)
{
	const struct timeval at_once = { 0, 0 };
	struct event_base *base = event_base_new();
	int calls = 0;
	struct event *event = evtimer_new(base, call, &calls);

	(void)unused;
	evtimer_add(event, &at_once);
	event_base_dispatch(base);
	event_free(event);
	event_base_free(base);
	if (calls != 1)
		exit(1);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	evthread_use_pthreads();
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, dispatch, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
