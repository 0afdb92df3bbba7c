/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What /proc tells of threads: signals, names, time, and what they wait for.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tracee.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <time.h>

#include "sys/procfs.h"
#include "sys/trace.h"

struct shared {
	uint32_t ready, go, word;
	pid_t tids[3];
};

static struct shared *shared;

static int setup(void **state)
{
	(void)state;
	shared = tracee_share(sizeof(*shared));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	munmap(shared, sizeof(*shared));
	return 0;
}

static void body_signals(void *arg)
{
	sigset_t set;

	(void)arg;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGTRAP, SIG_IGN);
	signal(SIGTERM, exit);
	prctl(PR_SET_NAME, "a name) R 1 (x");
	tracee_tell(&shared->ready, 1);
	tracee_await(&shared->go, 1);
}

static uint64_t bit(int signal)
{
	return UINT64_C(1) << (signal - 1);
}

static void the_status_is_read(void **state)
{
	pid_t pid = tracee_fork(body_signals, NULL);
	struct thread_status status;
	char name[16];

	(void)state;
	tracee_await(&shared->ready, 1);
	assert_ok(procfs_status(pid, &status));
	assert_int_equal(status.blocked, bit(SIGUSR1) | bit(SIGTRAP));
	assert_true(status.ignored & bit(SIGTRAP));
	assert_false(status.ignored & bit(SIGTERM));
	assert_true(status.caught & bit(SIGTERM));
	assert_int_equal(status.tgid, pid);
	assert_int_equal(status.tracer, 0);
	procfs_name(pid, pid, name, sizeof(name));
	assert_string_equal(name, "a name) R 1 (x");
	tracee_seize(pid);
	assert_ok(procfs_status(pid, &status));
	assert_int_equal(status.tracer, getpid());
	assert_int_equal(status.state, 't');
	tracee_tell(&shared->go, 1);
	assert_ok(trace_continue(pid, 0));
	waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	assert_ok(procfs_status(pid, &status));
	assert_int_equal(status.state, 'Z');
	waitpid(pid, NULL, 0);
	assert_ptr_equal(procfs_status(pid, &status), error_gone);
	procfs_name(pid, pid, name, sizeof(name));
	assert_string_equal(name, "");
}

static void body_spin(void *arg)
{
	(void)arg;
	tracee_tell(&shared->ready, 1);
	while (!__atomic_load_n(&shared->go, __ATOMIC_ACQUIRE))
		;
}

static void time_on_a_cpu_stands_still_in_a_stop(void **state)
{
	pid_t pid = tracee_fork(body_spin, NULL);
	uint64_t before, then, after;
	struct x86_registers regs;

	(void)state;
	tracee_await(&shared->ready, 1);
	tracee_seize(pid);
	/* a request waits until it has left its processor */
	assert_ok(trace_registers(pid, &regs));
	assert_ok(procfs_cpu_time(pid, pid, &before));
	sched_yield();
	assert_ok(procfs_cpu_time(pid, pid, &then));
	assert_int_equal(then, before);
	assert_ok(trace_continue(pid, 0));
	do {
		sched_yield();
		assert_ok(procfs_cpu_time(pid, pid, &after));
	} while (after < before + 1000 * 1000);
	tracee_tell(&shared->go, 1);
	waitpid(pid, NULL, 0);
	assert_ptr_equal(procfs_cpu_time(pid, pid, &after), error_gone);
}

/* It shares a processor with us, and we do not sleep. */
static void a_wait_for_a_processor_is_counted(void **state)
{
	struct procfs_time before, after;
	cpu_set_t old, one;
	pid_t pid;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(old), &old), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	pid = tracee_fork(body_spin, NULL);
	tracee_await(&shared->ready, 1);
	assert_ok(procfs_times(pid, pid, &before));
	do {
		assert_ok(procfs_times(pid, pid, &after));
		assert_true(after.ran_ns >= before.ran_ns);
	} while (after.waited_ns < before.waited_ns + 1000 * 1000);
	tracee_tell(&shared->go, 1);
	waitpid(pid, NULL, 0);
	assert_int_equal(sched_setaffinity(0, sizeof(old), &old), 0);
	assert_ptr_equal(procfs_times(pid, pid, &after), error_gone);
}

/* The stopped one has stood still: the process's clock says the same. */
static void time_of_a_process_is_that_of_its_threads(void **state)
{
	pid_t pid = tracee_fork(body_spin, NULL);
	uint64_t whole, thread, later;
	struct x86_registers regs;

	(void)state;
	tracee_await(&shared->ready, 1);
	tracee_seize(pid);
	assert_ok(trace_registers(pid, &regs));
	assert_true(procfs_process_cpu(pid, &whole));
	assert_ok(procfs_cpu_time(pid, pid, &thread));
	assert_int_equal(whole, thread);
	assert_ok(trace_continue(pid, 0));
	do {
		sched_yield();
		assert_true(procfs_process_cpu(pid, &later));
	} while (later < whole + 1000 * 1000);
	tracee_tell(&shared->go, 1);
	waitpid(pid, NULL, 0);
	assert_false(procfs_process_cpu(pid, &later));
	assert_true(procfs_process_cpu(getpid(), &later));
}

static void calls_of_a_process_are_counted(void **state)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	uint64_t calls, later;
	int file = -1, kept;
	pid_t pid;

	(void)state;
	assert_true(fd >= 0);
	if (!procfs_process_calls(getpid(), &file, &calls))
		skip(); /* a kernel without CONFIG_TASK_IO_ACCOUNTING */
	for (int i = 0; i < 100; i++)
		assert_int_equal(write(fd, "x", 1), 1);
	kept = file;
	assert_true(procfs_process_calls(getpid(), &file, &later));
	assert_int_equal(file, kept);
	/* the reads of the file itself too */
	assert_in_range(later - calls, 100, 110);
	close(fd);
	close(file);
	file = -1;
	pid = tracee_fork(body_spin, NULL);
	assert_true(procfs_process_calls(pid, &file, &calls));
	tracee_kill(pid);
	assert_false(procfs_process_calls(pid, &file, &calls));
	close(file);
	file = -1;
	assert_false(procfs_process_calls(pid, &file, &calls));
	assert_int_equal(file, -1);
}

/* Ticks so far, and that they are counted on. */
static uint64_t ticks_of(int *ret_processors)
{
	uint64_t busy, idle, busy_later, idle_later;

	assert_true(procfs_processors(ret_processors, &busy, &idle));
	do {
		assert_true(procfs_processors(ret_processors, &busy_later,
					      &idle_later));
		assert_true(busy_later >= busy);
	} while (busy_later == busy);
	return busy + idle;
}

static void the_processors_tell_of_busy_and_idle(void **state)
{
	cpu_set_t all, one;
	uint64_t ticks;
	int processors, first = 0;

	(void)state;
	ticks = ticks_of(&processors);
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	assert_int_equal(processors, CPU_COUNT(&all));
	if (processors == 1)
		return;
	while (!CPU_ISSET(first, &all))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	/* one of two has half of the ticks at most, as far as they agree */
	assert_true(ticks_of(&processors) < ticks / 4 * 3);
	assert_int_equal(processors, 1);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

enum wait {
	WAIT_FUTEX,
	WAIT_FUTEX_TIMED,
	WAIT_BITSET,
	WAIT_PAUSE,
	WAIT_CHILD,
	WAIT_CHILD_ID,
};

static void wait_for_a_child(enum wait wait)
{
	pid_t child = fork();
	siginfo_t info;
	int status;

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		tracee_tell(&shared->ready, 1);
		pause();
	}
	if (wait == WAIT_CHILD)
		waitpid(child, &status, 0);
	else
		waitid(P_PID, (id_t)child, &info, WEXITED);
}

static void body_wait(void *arg)
{
	const struct timespec hour = { .tv_sec = 3600 };
	enum wait wait = (enum wait)(uintptr_t)arg;

	if (wait == WAIT_CHILD || wait == WAIT_CHILD_ID)
		wait_for_a_child(wait);
	tracee_tell(&shared->ready, 1);
	if (wait == WAIT_PAUSE)
		pause();
	else
		syscall(SYS_futex, &shared->word,
			wait == WAIT_BITSET
				? FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG
				: FUTEX_WAIT,
			0, wait == WAIT_FUTEX_TIMED ? &hour : NULL, NULL,
			FUTEX_BITSET_MATCH_ANY);
}

static enum procfs_awaited awaited(enum wait wait)
{
	pid_t pid = tracee_fork(body_wait, (void *)(uintptr_t)wait);
	uint64_t args[PROCFS_ARGUMENTS];
	struct thread_status status;
	enum procfs_awaited awaited;
	int number;

	tracee_await(&shared->ready, 1);
	do {
		sched_yield();
		assert_ok(procfs_status(pid, &status));
	} while (status.state != 'S');
	awaited = procfs_awaited(pid);
	assert_true(procfs_system_call(pid, &number, args));
	if (wait <= WAIT_BITSET)
		assert_int_equal(args[0], (uintptr_t)&shared->word);
	/* restarted, all of them */
	assert_false(procfs_notices_stops(pid));
	tracee_kill(pid);
	tracee_tell(&shared->ready, 0);
	assert_int_equal(procfs_awaited(pid), PROCFS_NOBODY);
	return awaited;
}

static void a_wait_without_end_tells_whom_it_is_for(void **state)
{
	pid_t pid;

	(void)state;
	assert_int_equal(awaited(WAIT_FUTEX), PROCFS_THREADS);
	assert_int_equal(awaited(WAIT_BITSET), PROCFS_THREADS);
	assert_int_equal(awaited(WAIT_FUTEX_TIMED), PROCFS_NOBODY);
	assert_int_equal(awaited(WAIT_PAUSE), PROCFS_NOBODY);
	assert_int_equal(awaited(WAIT_CHILD), PROCFS_CHILDREN);
	assert_int_equal(awaited(WAIT_CHILD_ID), PROCFS_CHILDREN);
	pid = tracee_fork(body_spin, NULL);
	tracee_await(&shared->ready, 1);
	assert_int_equal(procfs_awaited(pid), PROCFS_NOBODY);
	tracee_kill(pid);
}

static void libraries_and_shared_memory_change_what_is_mapped(void **state)
{
	const size_t size = 5 * (size_t)sysconf(_SC_PAGESIZE);
	uint64_t before, after;
	void *memory;

	(void)state;
	assert_true(procfs_mapped(getpid(), &before));
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(procfs_mapped(getpid(), &after));
	assert_int_equal(after, before);
	/* as a library's text */
	assert_int_equal(mprotect(memory, size, PROT_READ | PROT_EXEC), 0);
	assert_true(procfs_mapped(getpid(), &after));
	assert_int_equal(after, before + 5);
	munmap(memory, size);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(procfs_mapped(getpid(), &after));
	assert_int_equal(after, before + 5);
	munmap(memory, size);
	assert_true(procfs_mapped(getpid(), &after));
	assert_int_equal(after, before);
	/* no process has that number */
	assert_false(procfs_mapped(INT32_MAX, &after));
}

static void body_semop(void *arg)
{
	struct sembuf take = { .sem_op = -1 };

	tracee_tell(&shared->ready, 1);
	syscall(SYS_semop, *(int *)arg, &take, 1);
}

static void some_calls_would_notice_a_stop(void **state)
{
	int id = semget(IPC_PRIVATE, 1, 0600);
	pid_t pid = tracee_fork(body_semop, &id);
	uint64_t args[PROCFS_ARGUMENTS];
	int number = -1;

	(void)state;
	while (!procfs_system_call(pid, &number, args) || number != SYS_semop)
		sched_yield();
	assert_true(procfs_notices_stops(pid));
	semctl(id, 0, IPC_RMID);
	tracee_kill(pid);
	assert_false(procfs_notices_stops(pid));
}

static void *thread_wait(void *arg)
{
	shared->tids[(uintptr_t)arg] = gettid();
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_RELEASE);
	tracee_await(&shared->go, 1);
	return NULL;
}

static void body_threads(void *arg)
{
	pthread_t threads[2];

	(void)arg;
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, thread_wait, (void *)(i + 1));
	thread_wait(NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

struct seen {
	int count, most;
	bool known[3];
};

static bool visit(pid_t tid, void *data)
{
	struct seen *seen = data;

	seen->count++;
	for (int i = 0; i < 3; i++)
		seen->known[i] |= shared->tids[i] == tid;
	return seen->count < seen->most;
}

static void every_thread_is_visited_until_it_is_enough(void **state)
{
	pid_t pid = tracee_fork(body_threads, NULL);
	struct seen all = { .most = 99 }, one = { .most = 1 };

	(void)state;
	tracee_await(&shared->ready, 3);
	assert_ok(procfs_threads(pid, visit, &all));
	assert_int_equal(all.count, 3);
	for (int i = 0; i < 3; i++)
		assert_true(all.known[i]);
	assert_ok(procfs_threads(pid, visit, &one));
	assert_int_equal(one.count, 1);
	tracee_tell(&shared->go, 1);
	waitpid(pid, NULL, 0);
	assert_ptr_equal(procfs_threads(pid, visit, &all), error_gone);
}

static void features_of_a_thread_are_words(void **state)
{
	static const char text[] = "Name:\tshstk\n"
				   "x86_Thread_features:\tshstk wrss \n"
				   "x86_Thread_features_locked:\tfoo\n";

	(void)state;
	assert_true(procfs_status_has(text, "shstk"));
	assert_true(procfs_status_has(text, "wrss"));
	assert_false(procfs_status_has(text, "shst"));
	assert_false(procfs_status_has(text, "foo"));
	assert_false(procfs_status_has("Name:\tshstk\n", "shstk"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void a_thread_has_a_number_of_its_own(void **state)
{
	(void)state;
	/* nobody looks from another PID namespace */
	assert_int_equal(procfs_own_tid(getpid(), gettid()), gettid());
	assert_int_equal(procfs_own_tid(getpid(), 0), 0);
	assert_int_equal(procfs_status_own("Name:\ta\nNSpid:\t4242\t71\t5\n"
					   "NSpgid:\t4242\t71\t1\n"),
			 5);
	assert_int_equal(procfs_status_own("Name:\ta\nNSpid:\t4242\n"), 4242);
	assert_int_equal(procfs_status_own("Name:\ta\nNSpid:\t\n"), 0);
	assert_int_equal(procfs_status_own("Name:\ta\n"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			libraries_and_shared_memory_change_what_is_mapped),
		TEST(the_status_is_read),
		cmocka_unit_test(features_of_a_thread_are_words),
		TEST(time_on_a_cpu_stands_still_in_a_stop),
		TEST(a_wait_for_a_processor_is_counted),
		TEST(time_of_a_process_is_that_of_its_threads),
		TEST(calls_of_a_process_are_counted),
		TEST(the_processors_tell_of_busy_and_idle),
		TEST(a_wait_without_end_tells_whom_it_is_for),
		TEST(some_calls_would_notice_a_stop),
		TEST(every_thread_is_visited_until_it_is_enough),
		cmocka_unit_test(a_thread_has_a_number_of_its_own),
	};

	return cmocka_run_group_tests_name("procfs", tests, NULL, NULL);
}
