/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: each thread has its own instance of a thread-local
 * variable, also when it is touched through a pointer.
 */
#include "target.h"

__thread struct {
	long count, pad[3], last;
} mine;

NOINLINE static void direct_add(long n)
{
	mine.count += n;
}

NOINLINE static void through_pointer(long *last, long value)
{
	*last = value;
}

static void *tls_loop(void *arg)
{
	unsigned x = 3;
	long count = 0;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		direct_add(2);
		count += 2;
		through_pointer(&mine.last, (long)i);
		x = target_work(x, 30);
	}
	target_check(mine.count == count, "another thread was here");
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(tls_loop, tls_loop);
	return target_done("free_tls");
}
