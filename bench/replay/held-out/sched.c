/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a scheduler of tasks has: a clock, workers that are idle, a request to look
 * for work, and the sum of what they have to do.
 */
#include "figure7.h"

enum { WORK = 64 };

static pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER;
unsigned long ticks;
int idle_worker = 3; /* 0: none */
unsigned long given;
int need_look;
static unsigned work_count;
long load;
unsigned char policy = 1, priority = 1;

/* One thread counts; others look whether their time is over, then or later. */
NOINLINE static void ticks_advance(void)
{
	ticks = ticks + 1; /* RACE: ticks */
}

NOINLINE static int ticks_are_over(unsigned long begun)
{
	return ticks - begun > 8; /* RACE: ticks */
}

/* Both give work to the same worker. */
NOINLINE static void idle_give(void)
{
	int worker = idle_worker; /* RACE: idle */

	if (worker == 0)
		return;
	idle_worker = 0; /* RACE: idle */
	__atomic_fetch_add(&given, 1, __ATOMIC_RELAXED);
}

NOINLINE static void idle_enter(void)
{
	idle_worker = 3; /* RACE: idle */
}

/* Asked for after work was put; cleared before all of it is taken. */
NOINLINE static void look_request(void)
{
	pthread_mutex_lock(&work_lock);
	if (work_count < WORK)
		work_count++;
	pthread_mutex_unlock(&work_lock);
	need_look = 1; /* RACE: look */
}

NOINLINE static unsigned look_answer(void)
{
	unsigned got;

	if (!need_look) /* RACE: look */
		return 0;
	need_look = 0; /* RACE: look */
	__sync_synchronize();
	pthread_mutex_lock(&work_lock);
	got = work_count;
	work_count = 0;
	pthread_mutex_unlock(&work_lock);
	return got;
}

/* What a task adds when it comes it takes away when it goes. */
NOINLINE static void load_add(long weight)
{
	load += weight; /* RACE: load */
}

/* Settings of two owners, in two bytes that lie side by side. */
NOINLINE static void policy_set(unsigned value)
{
	policy = (unsigned char)value; /* RACE: policy */
}

NOINLINE static unsigned policy_get(void)
{
	unsigned value = policy; /* RACE: policy */

	/* 1 and 2 are two names of one policy, for old callers */
	return value == 1 || value == 2 ? 7 : 9;
}

static void clock_thread(unsigned long i)
{
	ticks_advance();
	idle_enter();
	look_request();
	load_add(5);
	policy_set(1 + ((unsigned)i & 1));
}

static void worker(unsigned long i)
{
	static __thread unsigned long begun;

	if (ticks_are_over(begun))
		begun = i;
	idle_give();
	use(look_answer());
	load_add(-5);
	use(policy_get());
}

int main(int argc, char **argv)
{
	struct role roles[] = { { clock_thread, 40 },
				{ worker, 25 },
				{ worker, 35 },
				{ NULL, 0 } };

	return roles_run(argc, argv, "sched", roles);
}
