/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libevent: a thread activates the event that another one waits for, again and
 * again, without waiting for its callback.
 */
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

enum { TIMES = 2000 };

static sem_t fired;
static struct event *event;
static struct event_base *base;
static int calls;

static void call(evutil_socket_t none, short what, void *closure)
{
	(void)none;
	(void)what;
	(void)closure;
	calls++;
	sem_post(&fired);
}

static void *activate(void *unused)
{
	(void)unused;
	for (int i = 0; i < TIMES; i++)
		event_active(event, i % 2 ? EV_READ : EV_TIMEOUT, 1);
	sem_wait(&fired);
	event_base_loopbreak(base);
	return NULL;
}

int main(void)
{
	const struct timeval later = { 600, 0 };
	pthread_t thread;

	sem_init(&fired, 0, 0);
	evthread_use_pthreads();
	base = event_base_new();
	event = event_new(base, -1, EV_PERSIST, call, NULL);
	event_add(event, &later);
	pthread_create(&thread, NULL, activate, NULL);
	event_base_dispatch(base);
	pthread_join(thread, NULL);
	event_free(event);
	event_base_free(base);
	return calls == 0;
}
