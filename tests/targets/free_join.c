/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: a result is written by a thread and read after the join;
 * the next thread gets what main() wrote before it was born.
 */
#include "target.h"

struct {
	long input, result;
} job;

NOINLINE static void *compute(void *arg)
{
	long sum = 0;

	for (long i = 0; i < 200; i++)
		sum += target_work((unsigned)(job.input + i), 20) & 1;
	job.result = job.input + sum;
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 1);
	for (unsigned long i = 0; target_goes_on(i * 64); i++) {
		job.input = (long)i;
		pthread_join(target_thread(compute, NULL), NULL);
		target_check(job.result >= (long)i, "result");
	}
	return target_done("free_join");
}
