/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A local variable of one thread, which that thread counts up and another
 * reads: it is named as the local that it is, in the frame that has it.
 */
#include "target.h"

struct progress {
	long total, done;
};

static struct progress *volatile shown;

NOINLINE static void step(long *done)
{
	++*done; /* RACE: step */
}

NOINLINE static long show(void)
{
	return shown->done; /* RACE: show */
}

static void *step_loop(void *arg)
{
	struct progress progress = { 100, 0 };
	unsigned x = 1;

	pthread_setname_np(pthread_self(), "worker");
	shown = &progress;
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		step(&progress.done);
		LEAVE();
		x = target_work(x, 40);
	}
	target_meet();
	return arg;
}

static void *show_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		x += (unsigned)show();
		LEAVE();
		x = target_work(x, 30);
	}
	target_meet();
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(step_loop, show_loop);
	return target_done("stack_thread");
}
