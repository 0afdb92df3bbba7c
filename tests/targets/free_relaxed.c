/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: counters and a progress mark, C11 atomics with
 * memory_order_relaxed. Nothing is handed over by them; each is read and
 * written by atomic operations only.
 */
#include "target.h"
#include <stdatomic.h>

static struct {
	atomic_long events, level;
	atomic_uchar state;
} progress;

NOINLINE static void progress_note(long level)
{
	atomic_fetch_add_explicit(&progress.events, 1, memory_order_relaxed);
	atomic_store_explicit(&progress.level, level, memory_order_relaxed);
	atomic_store_explicit(&progress.state, level & 7, memory_order_relaxed);
}

NOINLINE static long progress_level(void)
{
	return atomic_load_explicit(&progress.level, memory_order_relaxed);
}

NOINLINE static int progress_state(void)
{
	return atomic_load_explicit(&progress.state, memory_order_relaxed);
}

static void *note_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		progress_note((long)i);
		x = target_work(x, 30);
	}
	return arg;
}

static void *look_loop(void *arg)
{
	long last = 0, now;
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		now = progress_level();
		target_check(now >= last && progress_state() < 8, "order");
		last = now;
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(note_loop, look_loop);
	target_check(progress.events == progress.level + 1, "lost updates");
	return target_done("free_relaxed");
}
