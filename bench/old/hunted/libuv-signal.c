/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libuv: a thread gets the signals that a loop in another one handles. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <uv.h>

enum { TIMES = 1 };

static sem_t handled;
static int calls;

static void on_signal(uv_signal_t *handle, int number)
{
	(void)number;
	if (++calls == TIMES)
		uv_close((uv_handle_t *)handle, NULL);
	sem_post(&handled);
}

static void *raise_all(void *unused)
{
	(void)unused;
	for (int i = 0; i < TIMES; i++) {
		pthread_kill(pthread_self(), SIGUSR1);
		sem_wait(&handled);
	}
	return NULL;
}

int main(void)
{
	uv_signal_t handle;
	sigset_t set;
	pthread_t thread;

	sem_init(&handled, 0, 0);
	uv_signal_init(uv_default_loop(), &handle);
	uv_signal_start(&handle, on_signal, SIGUSR1);
	pthread_create(&thread, NULL, raise_all, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	uv_run(uv_default_loop(), UV_RUN_DEFAULT);
	pthread_join(thread, NULL);
	return calls != TIMES;
}
