/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A throng of N threads (1000), waiting. For a line "round" on standard input
 * each adds one under a lock; for "storm" 10 000 threads are born and end, 20
 * at a time. Each line is answered by "NAME TOTAL" after the totals were
 * checked. Ends at the end of input.
 */
#include "special.h"

enum { THREADS_MAX = 4096, STORM = 10000, AT_ONCE = 20 };

static pthread_barrier_t begin, end;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long total, expected;

static void add(unsigned x)
{
	special_hot(x);
	pthread_mutex_lock(&lock);
	total++;
	pthread_mutex_unlock(&lock);
}

static void *member(void *arg)
{
	for (unsigned x = 0;; x++) {
		pthread_barrier_wait(&begin);
		add(x);
		pthread_barrier_wait(&end);
	}
	return arg;
}

static void *mayfly(void *arg)
{
	add((unsigned)(uintptr_t)arg);
	return NULL;
}

static void round_of(unsigned threads)
{
	pthread_barrier_wait(&begin);
	pthread_barrier_wait(&end);
	expected += threads;
}

static void storm(void)
{
	pthread_t threads[AT_ONCE];

	for (unsigned n = 0; n < STORM / AT_ONCE; n++) {
		for (uintptr_t i = 0; i < AT_ONCE; i++)
			threads[i] = target_thread(mayfly, (void *)i);
		for (int i = 0; i < AT_ONCE; i++)
			pthread_join(threads[i], NULL);
	}
	expected += STORM;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
	char line[32];

	target_check(count > 0 && count <= THREADS_MAX, "1 to 4096 threads");
	pthread_barrier_init(&begin, NULL, count + 1);
	pthread_barrier_init(&end, NULL, count + 1);
	for (unsigned i = 0; i < count; i++)
		target_thread(member, NULL);
	round_of(count);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "storm") == 0)
			storm();
		else
			round_of(count);
		target_check(total == expected, "the total");
		printf("%s %lu\n", line, total);
		fflush(stdout);
	}
	return target_done("throng");
}
