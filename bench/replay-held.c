/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay-held MB INSTANCES: a program of that much memory, all of it written to,
 * with two threads that race and a third that goes on. Both are stopped, captured
 * (replay/livein.h), let go, and replayed in two orders; INSTANCES times. Printed
 * are the microseconds for which they were held: median, 90 of 100, most; and what
 * of the program has changed meanwhile: its page faults, its children, its threads,
 * and what waitpid(-1, __WALL) tells it (0: that it has no child).
 *
 * replay-held MB serve SECONDS: the program alone, for racewatch to watch.
 *
 * replay-held PID live INSTANCES: a server that runs. All its threads are stopped,
 * two of them captured, and the copy of these is run, while what the kernel counts
 * of the server must not change, as nothing of it runs; then all go on. Pages that
 * any instance has missed are captured in all later ones, as if all were of one
 * race. Printed are the microseconds that the captures took, the sums of what has
 * changed of its page faults, its children, ended ones too, and its threads, and
 * the median number of pages.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "replay/livein.h"
#include "replay/orders.h"
#include "sys/mapping.h"
#include "sys/memory.h"
#include "sys/trace.h"
#include "sys/wait.h"

enum { PAGE = 4096, THREADS = 2, LIMIT_NS = 3000000 };

/* What the two processes share. */
struct shared {
	uint32_t goes_on;
	uint32_t tids[THREADS];
	uint32_t go, over;
	int waited; /* errno of the program's own waitpid(), 0: ECHILD */
};

static struct shared *shared;
static uint8_t *memory_of_program;
static size_t memory_pages;
static uint64_t counter;

/* Stops at its first instruction, with its return address at rsp. */
void region(uint64_t *number);
__asm__(".text\n.globl region\nregion:\n\tint3\n\tincq (%rdi)\n\tret\n");

static void fail(const char *what)
{
	fprintf(stderr, "replay-held: %s\n", what);
	exit(1);
}

static void must(struct error *err)
{
	if (err)
		fail(error_message(err));
}

static uint32_t told(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void *race(void *arg)
{
	uint32_t *tid = arg;

	__atomic_store_n(tid, (uint32_t)gettid(), __ATOMIC_RELEASE);
	while (!told(&shared->go))
		sched_yield();
	while (!told(&shared->over))
		region(&counter);
	return NULL;
}

static void *go_on(void *arg)
{
	for (size_t i = 0; !told(&shared->over); i++) {
		memory_of_program[i % memory_pages * PAGE]++;
		__atomic_store_n(&shared->goes_on, 1, __ATOMIC_RELEASE);
	}
	return arg;
}

static void fill(unsigned long megabytes)
{
	memory_pages = megabytes * 256;
	memory_of_program = mmap(NULL, memory_pages * PAGE,
				 PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory_of_program == MAP_FAILED)
		fail("not so much memory");
	memset(memory_of_program, 1, memory_pages * PAGE);
}

static void program(void)
{
	pthread_t threads[THREADS + 1];

	/* created after the first count, it would be a change of the program */
	pthread_create(&threads[THREADS], NULL, go_on, NULL);
	while (!told(&shared->goes_on))
		sched_yield();
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, race, &shared->tids[i]);
	for (int i = 0; i <= THREADS; i++)
		pthread_join(threads[i], NULL);
	/* nobody has made it a parent */
	shared->waited = waitpid(-1, NULL, __WALL) == -1 && errno == ECHILD ? 0
									    : 1;
	_exit(0);
}

__attribute__((noipa)) static void add(void)
{
	counter++;
}

static void *serve_thread(void *arg)
{
	for (time_t end = time(NULL) + *(long *)arg; time(NULL) < end;) {
		for (int i = 0; i < 1000; i++)
			add();
	}
	return NULL;
}

static int serve(long seconds)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, serve_thread, &seconds);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* What the kernel counts of the program. */
struct counts {
	unsigned long faults, threads;
	bool children;
};

/* Of a server; more threads are left alone. */
enum { LIVE_THREADS = 64 };

struct live {
	pid_t pid;
	pid_t tids[LIVE_THREADS];
	int count;
};

static void count(pid_t pid, struct counts *ret)
{
	char path[64], text[1024];
	unsigned long minor, major;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file || !fgets(text, sizeof(text), file) ||
	    sscanf(strrchr(text, ')') + 2,
		   "%*c %*d %*d %*d %*d %*d %*u %lu %*u %lu %*u %*u %*u %*u "
		   "%*u %*d %*d %lu",
		   &minor, &major, &ret->threads) != 3)
		fail("no /proc/PID/stat");
	fclose(file);
	ret->faults = minor + major;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid,
		 (int)pid);
	file = fopen(path, "re");
	ret->children = file && fgets(text, sizeof(text), file);
	if (file)
		fclose(file);
}

static void stop_both(void)
{
	for (int i = 0; i < THREADS; i++) {
		struct stop_reason stop;

		must(wait_thread((pid_t)shared->tids[i], &stop));
		if (stop.kind != STOP_SIGNAL || stop.signal != SIGTRAP)
			fail("a thread stopped elsewhere");
	}
}

static void let_go(void)
{
	for (int i = 0; i < THREADS; i++)
		must(trace_continue((pid_t)shared->tids[i], 0));
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double take(const struct memory *memory, struct replay_capture *capture)
{
	const pid_t tids[THREADS] = { (pid_t)shared->tids[0],
				      (pid_t)shared->tids[1] };
	const struct memory *const memories[THREADS] = { memory, memory };
	double begun = now_us();

	must(replay_capture_take(tids, memories, NULL, NULL, capture));
	return now_us() - begun;
}

static void replay(struct processor *processor,
		   const struct replay_capture *capture,
		   const struct replay_instance *as,
		   struct replay_outcome *outcome)
{
	struct replay_instance instance = *as;

	for (int i = 0; i < THREADS; i++)
		instance.threads[i].return_slot =
			capture->threads[i].regs.gpr[X86_RSP];
	must(processor_load(processor, capture, &instance));
	must(orders_run(processor, orders_ab, ORDERS_WHOLE_STEPS, outcome));
	if (!outcome->complete)
		fail("an order was not complete");
	must(orders_run(processor, orders_ba, ORDERS_WHOLE_STEPS, outcome));
	if (!outcome->complete)
		fail("the other order was not complete");
}

static int compare(const void *a, const void *b)
{
	double one = *(const double *)a, two = *(const double *)b;

	return (one > two) - (one < two);
}

static void measure(pid_t pid, size_t instances, double *held)
{
	struct replay_capture *capture = calloc(1, sizeof(*capture));
	struct memory memory;
	struct mappings mappings;
	struct replay_hints hints = { .count = 0 };
	struct replay_instance instance = {
		.sources = { { .memory = &memory, .mappings = &mappings } },
		.hints = &hints,
		.limit_ns = LIMIT_NS,
	};
	struct processor *processor;
	struct replay_outcome outcome;

	outcome_init(&outcome);
	must(processor_create(SCRATCH_BY_FAULTFD, &processor));
	memory_init(&memory, pid);
	mappings_init(&mappings, pid);
	for (size_t i = 0; i < instances; i++) {
		stop_both();
		held[i] = take(&memory, capture);
		let_go();
		replay(processor, capture, &instance, &outcome);
	}
	processor_destroy(processor);
	outcome_deinit(&outcome);
	memory_deinit(&memory);
	mappings_deinit(&mappings);
	free(capture);
}

static void live_find(struct live *live)
{
	char path[64];
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)live->pid);
	folder = opendir(path);
	if (!folder)
		fail("no such process");
	while ((entry = readdir(folder)) && live->count < LIVE_THREADS) {
		if (entry->d_name[0] != '.')
			live->tids[live->count++] = atoi(entry->d_name);
	}
	closedir(folder);
	if (live->count < THREADS)
		fail("the process has one thread");
	for (int i = 0; i < live->count; i++)
		must(trace_seize_alone(live->tids[i]));
}

/* A signal that comes first is delivered when the thread goes on. */
static void live_stop(const struct live *live, int *signals)
{
	for (int i = 0; i < live->count; i++)
		must(trace_interrupt(live->tids[i]));
	for (int i = 0; i < live->count; i++) {
		struct stop_reason stop;

		must(wait_thread(live->tids[i], &stop));
		signals[i] = stop.kind == STOP_SIGNAL ? stop.signal : 0;
		if (stop.kind == STOP_EXITED || stop.kind == STOP_KILLED)
			fail("a thread of the server has ended");
	}
}

static void live_go(const struct live *live, const int *signals, bool last)
{
	for (int i = 0; i < live->count; i++)
		must(last ? trace_detach(live->tids[i], signals[i])
			  : trace_continue(live->tids[i], signals[i]));
}

/* Wherever the threads are, the copy runs on from there for a moment. */
static void live_replay(struct processor *processor,
			const struct replay_capture *capture,
			const struct replay_instance *as)
{
	struct replay_instance instance = *as;
	struct replay_outcome outcome;
	struct error *err;

	outcome_init(&outcome);
	for (int i = 0; i < THREADS; i++)
		instance.threads[i].return_slot =
			capture->threads[i].regs.gpr[X86_RSP];
	err = processor_load(processor, capture, &instance);
	if (!err)
		err = orders_run(processor, orders_ab, ORDERS_WHOLE_STEPS,
				 &outcome);
	must(err);
	outcome_deinit(&outcome);
}

/* What two threads changed; each pair in turn. */
static double live_instance(const struct live *live, size_t number,
			    struct processor *processor,
			    const struct replay_instance *instance,
			    struct replay_capture *capture)
{
	const pid_t tids[THREADS] = {
		live->tids[number % (size_t)live->count],
		live->tids[(number + 1) % (size_t)live->count],
	};
	const struct memory *const memories[THREADS] = {
		instance->sources[0].memory,
		instance->sources[0].memory,
	};
	double begun = now_us(), took;

	must(replay_capture_take(tids, memories, NULL, instance->hints,
				 capture));
	took = now_us() - begun;
	live_replay(processor, capture, instance);
	return took;
}

static double median(double *numbers, size_t count)
{
	qsort(numbers, count, sizeof(*numbers), compare);
	return numbers[count / 2];
}

/* Threads of the server may begin and end while it runs, and not while it is held. */
static void live_measure(struct live *live, size_t instances, double *held)
{
	struct replay_capture *capture = calloc(1, sizeof(*capture));
	struct memory memory;
	struct mappings mappings;
	struct replay_hints hints = { .count = 0 };
	struct replay_instance instance = {
		.sources = { { .memory = &memory, .mappings = &mappings } },
		.hints = &hints,
		.limit_ns = LIMIT_NS,
	};
	int signals[LIVE_THREADS];
	unsigned long faults = 0, threads = 0, children = 0;
	double *pages = calloc(instances + 1, sizeof(*pages));
	struct processor *processor;

	must(processor_create(SCRATCH_BY_FAULTFD, &processor));
	memory_init(&memory, live->pid);
	mappings_init(&mappings, live->pid);
	for (size_t i = 0; i < instances; i++) {
		struct counts before, after;

		usleep(1000);
		live_stop(live, signals);
		count(live->pid, &before);
		held[i] = live_instance(live, i, processor, &instance, capture);
		pages[i] = (double)capture->count;
		count(live->pid, &after);
		live_go(live, signals, i + 1 == instances);
		faults += after.faults - before.faults;
		threads += after.threads - before.threads;
		children += after.children != before.children;
	}
	printf("%.1f ", median(held, instances));
	printf("%.1f %.1f %lu %lu %lu %.0f\n", held[instances * 9 / 10],
	       held[instances - 1], faults, children, threads,
	       median(pages, instances));
	processor_destroy(processor);
	memory_deinit(&memory);
	mappings_deinit(&mappings);
	free(pages);
	free(capture);
}

static int watch_live(pid_t pid, size_t instances)
{
	struct live live = { .pid = pid };
	double *held = calloc(instances + 1, sizeof(*held));

	live_find(&live);
	live_measure(&live, instances, held);
	free(held);
	return 0;
}

static void seize(pid_t pid)
{
	(void)pid;
	for (int i = 0; i < THREADS; i++) {
		while (!told(&shared->tids[i]))
			sched_yield();
		must(trace_seize((pid_t)shared->tids[i], true));
	}
	__atomic_store_n(&shared->go, 1, __ATOMIC_RELEASE);
}

/* The last stop of each is behind its int3; they go on to their ends. */
static void finish(pid_t pid)
{
	struct stop_reason stop;

	stop_both();
	__atomic_store_n(&shared->over, 1, __ATOMIC_RELEASE);
	let_go();
	for (int i = 0; i < THREADS; i++) {
		do
			must(wait_thread((pid_t)shared->tids[i], &stop));
		while (stop.kind != STOP_EXITED);
	}
	if (waitpid(pid, NULL, 0) != pid)
		fail("the program is lost");
}

static void print(const double *held, size_t count, const struct counts *before,
		  const struct counts *after)
{
	printf("%.1f %.1f %.1f %ld %d %ld %d\n", held[count / 2],
	       held[count * 9 / 10], held[count - 1],
	       (long)(after->faults - before->faults),
	       after->children || before->children,
	       (long)(after->threads - before->threads), shared->waited);
}

int main(int argc, char **argv)
{
	struct counts before, after;
	size_t instances;
	double *held;
	pid_t pid;

	if (argc < 3)
		fail("MB INSTANCES, MB serve SECONDS, or PID live INSTANCES");
	if (argc > 3 && strcmp(argv[2], "live") == 0)
		return watch_live(atoi(argv[1]), strtoul(argv[3], NULL, 10));
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc > 3) {
		fill(strtoul(argv[1], NULL, 10));
		return serve(strtol(argv[3], NULL, 10));
	}
	instances = strtoul(argv[2], NULL, 10);
	held = calloc(instances + 1, sizeof(*held));
	pid = fork();
	if (pid == 0) {
		fill(strtoul(argv[1], NULL, 10));
		program();
	}
	seize(pid);
	stop_both();
	let_go();
	count(pid, &before);
	measure(pid, instances, held);
	count(pid, &after);
	finish(pid);
	qsort(held, instances, sizeof(*held), compare);
	print(held, instances, &before, &after);
	free(held);
	return 0;
}
