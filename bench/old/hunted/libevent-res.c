/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libevent: a thread activates the event that another one waits for, again and
 * again, until its callback has run three times. It is not persistent: of an event
 * that is, the loop reads under its lock what it was activated for.
 */
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

enum { TIMES = 3 };

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
	int run = 0;

	(void)unused;
	for (int i = 0; run < TIMES; i++) {
		event_active(event, i % 2 ? EV_READ : EV_TIMEOUT, 1);
		run += sem_trywait(&fired) == 0;
	}
	event_base_loopbreak(base);
	return NULL;
}

int main(void)
{
	pthread_t thread;

	sem_init(&fired, 0, 0);
	evthread_use_pthreads();
	base = event_base_new();
	event = event_new(base, -1, 0, call, NULL);
	pthread_create(&thread, NULL, activate, NULL);
	event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY);
	pthread_join(thread, NULL);
	event_free(event);
	event_base_free(base);
	return calls == 0;
}
