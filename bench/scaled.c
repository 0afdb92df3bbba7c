/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scaled THREADS BUSY MB [LIBRARY...]: a program of any size for bench/scale:
 * so many threads, of which BUSY compute and the others wait, every eighth of
 * them with a time-out of 10 ms; so much memory in use; shared objects opened
 * by path; and the functions linked in from text that bench/scale generates.
 *
 * Says "ready PID". For a number of milliseconds on standard input it tells how
 * many rounds a second the busy threads made in that time; for "storm" how many
 * nanoseconds a thread took of 64 at a time. Ends at the end of input.
 */
#include "target.h"

#include <dlfcn.h>

enum { THREADS_MAX = 4096, CELLS = 64, STORM = 64, STORMS = 20 };

typedef long generated(long *cells, long n);
/* none in a program without generated text */
extern generated *const text_functions[] __attribute__((weak));
extern const unsigned long text_count __attribute__((weak));

static struct {
	unsigned long rounds;
	long cells[CELLS];
	long pad[7];
} workers[THREADS_MAX];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t begun;
static long shared[CELLS];

NOINLINE static void step(long *cells, unsigned x)
{
	cells[x % CELLS] += x;
	cells[x / 64 % CELLS] ^= cells[(x + 7) % CELLS];
	if (x % 64)
		return;
	pthread_mutex_lock(&lock);
	shared[x / 64 % CELLS] += cells[0];
	pthread_mutex_unlock(&lock);
}

static void *busy(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg, x = me + 1;
	long *cells = workers[me].cells;

	pthread_barrier_wait(&begun);
	for (;;) {
		x = target_work(x, 100);
		step(cells, x);
		if (text_functions)
			text_functions[x % text_count](cells, 4);
		__atomic_fetch_add(&workers[me].rounds, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *idle(void *arg)
{
	struct timespec time = { .tv_nsec = 10000000 };

	pthread_barrier_wait(&begun);
	while ((uintptr_t)arg % 8 == 0)
		nanosleep(&time, NULL);
	pthread_mutex_lock(&lock);
	for (;;)
		pthread_cond_wait(&never, &lock);
	return NULL;
}

static unsigned long rounds(unsigned busy_count)
{
	unsigned long sum = 0;

	for (unsigned i = 0; i < busy_count; i++)
		sum += __atomic_load_n(&workers[i].rounds, __ATOMIC_RELAXED);
	return sum;
}

static void measure(unsigned busy_count, long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
	unsigned long before = rounds(busy_count);
	uint64_t start = target_clock();

	nanosleep(&time, NULL);
	printf("%.0f\n", (double)(rounds(busy_count) - before) * 1e9 /
				 (double)(target_clock() - start));
}

static void *mayfly(void *arg)
{
	long cells[CELLS] = { 0 };

	step(cells, target_work((unsigned)(uintptr_t)arg, 1000));
	return NULL;
}

static void storm(void)
{
	pthread_t threads[STORM];
	uint64_t start = target_clock();

	for (int n = 0; n < STORMS; n++) {
		for (uintptr_t i = 0; i < STORM; i++)
			threads[i] = target_thread(mayfly, (void *)i);
		for (int i = 0; i < STORM; i++)
			pthread_join(threads[i], NULL);
	}
	printf("%llu\n",
	       (unsigned long long)(target_clock() - start) / (STORM * STORMS));
}

/* Each page is written to; not a copy of one, which could be merged. */
static void fill(size_t bytes)
{
	char *heap = bytes ? malloc(bytes) : NULL;

	target_check(!bytes || heap, "memory");
	for (size_t at = 0; at < bytes; at += 4096)
		*(size_t *)(void *)(heap + at) = at;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 3 ? (unsigned)atoi(argv[1]) : 0;
	unsigned busy_count = argc > 3 ? (unsigned)atoi(argv[2]) : 0;
	char line[32];

	target_check(count > 0 && count <= THREADS_MAX && busy_count <= count,
		     "1 to 4096 threads");
	for (int i = 4; i < argc; i++)
		target_check(dlopen(argv[i], RTLD_NOW) != NULL, argv[i]);
	fill(strtoul(argv[3], NULL, 10) << 20);
	pthread_barrier_init(&begun, NULL, count + 1);
	for (uintptr_t i = 0; i < count; i++)
		target_thread(i < busy_count ? busy : idle, (void *)i);
	pthread_barrier_wait(&begun);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (strcmp(line, "storm\n") == 0)
			storm();
		else
			measure(busy_count, atol(line));
		fflush(stdout);
	}
	return 0;
}
