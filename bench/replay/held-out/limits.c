/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often something may be done: tokens, a time from which on it may be done
 * again, and settings that are read in passing.
 */
#include "figure7.h"

static pthread_mutex_t due_lock = PTHREAD_MUTEX_INITIALIZER;
unsigned long now_time;
unsigned long due = 10;
unsigned long swept;
unsigned tokens = 8;
unsigned long granted;
int backoff;
unsigned long quota = 1000;
unsigned users;
int logging;

/* Not yet? It is asked again under the lock. */
NOINLINE static void due_sweep(unsigned long now)
{
	if (now < due) /* RACE: due */
		return;
	pthread_mutex_lock(&due_lock);
	if (now >= due) { /* RACE: due */
		due = now + 10; /* RACE: due */
		swept++;
	}
	pthread_mutex_unlock(&due_lock);
}

/* The last token is given to both, or one that was put is lost. */
NOINLINE static void token_take(void)
{
	if (tokens > 0) { /* RACE: token */
		tokens--; /* RACE: token */
		__atomic_fetch_add(&granted, 1, __ATOMIC_RELAXED);
	}
}

NOINLINE static void token_put(void)
{
	if (tokens < 8) /* RACE: token */
		tokens++; /* RACE: token */
}

/* How long to wait before the next try. */
NOINLINE static void backoff_set(int value)
{
	backoff = value & 7; /* RACE: backoff */
}

NOINLINE static void backoff_wait(void)
{
	for (int i = 0; i < backoff; i++) /* RACE: backoff */
		__builtin_ia32_pause();
}

/* Taken and given back; what is lost is never had again. */
NOINLINE static void quota_take(void)
{
	quota -= 3; /* RACE: quota */
}

NOINLINE static void quota_give(void)
{
	quota += 3; /* RACE: quota */
}

/* Everyone who logs in is counted, and the last to leave turns the light off. */
NOINLINE static void users_enter(void)
{
	users = users + 1; /* RACE: users */
}

NOINLINE static void users_leave(void)
{
	users = users - 1; /* RACE: users */
	OPAQUE();
	if (users == 0) /* RACE: users */
		__atomic_fetch_add(&granted, 1000, __ATOMIC_RELAXED);
}

/* It is on; that is stored by all who turn it on. */
NOINLINE static void logging_enable(void)
{
	logging = 1; /* RACE: logging */
}

NOINLINE static int logging_is_on(void)
{
	return logging; /* RACE: logging */
}

static void first(unsigned long i)
{
	due_sweep(i);
	token_take();
	backoff_set((int)i);
	quota_take();
	users_enter();
	logging_enable();
}

static void second(unsigned long i)
{
	due_sweep(i);
	token_put();
	backoff_wait();
	quota_give();
	users_leave();
	use((unsigned long)logging_is_on());
}

int main(int argc, char **argv)
{
	struct role roles[] = { { first, 35 }, { second, 30 }, { NULL, 0 } };

	return roles_run(argc, argv, "limits", roles);
}
