/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The library of loaded.c; for its twin, LOADED_TWIN is in the environment. */
#include "target.h"

void loaded_set(long value);
long loaded_get(void);

static long level, ready;
static pthread_t helper;
static sem_t begun;

NOINLINE static void begin_write(void)
{
	ready = 1;
}

NOINLINE static long help_read(void)
{
	return ready;
}

static void *help(void *arg)
{
	usleep(20000);
	if (getenv("LOADED_TWIN"))
		sem_wait(&begun);
	target_check(help_read() >= 0, "ready");
	return arg;
}

__attribute__((constructor)) static void begin(void)
{
	sem_init(&begun, 0, 0);
	helper = target_thread(help, NULL);
	begin_write();
	sem_post(&begun);
}

__attribute__((destructor)) static void end(void)
{
	pthread_join(helper, NULL);
}

void loaded_set(long value)
{
	level = value;
}

long loaded_get(void)
{
	return level;
}
