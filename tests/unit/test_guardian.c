/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guardian behind a tracer that really dies: a child of the test arms
 * breakpoints in a child of its own, and is killed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../helpers/turn.h"
#include "tracee.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "guardian/deputy.h"
#include "guardian/guardian.h"
#include "guardian/guardtable.h"
#include "guardian/heartbeat.h"
#include "sites.h"
#include "sys/procfs.h"
#include "tracee/breakpoint.h"

enum { PAGE = 4096, TEXT = 2 * PAGE, DR_CONTROL = 7 };

enum { READY = 1 };

static struct shared {
	uint32_t ready, up;
	pid_t target, guardian;
	bool two; /* threads in the target */
	pid_t second; /* of them */
	bool registers; /* set some, by ptrace */
	bool clean; /* the tracer ends by itself */
	bool stuck; /* it is, with a stop that nobody waits for */
	bool listens; /* the target is in a group-stop, and it knows */
	bool met; /* its second thread has stopped for a signal before */
	uint32_t signals; /* SIGUSR1 that the target got */
	int code; /* si_code of the last one */
	struct heartbeat heartbeat;
} * shared;

static void target_signalled(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	shared->code = info->si_code;
	__atomic_add_fetch(&shared->signals, 1, __ATOMIC_RELEASE);
}

static void *second_body(void *arg)
{
	(void)arg;
	shared->second = (pid_t)syscall(SYS_gettid);
	tracee_tell(&shared->up, 1);
	for (;;)
		pause();
	return NULL;
}

static void target_body(void *arg)
{
	pthread_t second;
	const struct sigaction counted = { .sa_sigaction = target_signalled,
					   .sa_flags = SA_SIGINFO };

	(void)arg;
	prctl(PR_SET_PDEATHSIG, 0);
	sigaction(SIGUSR1, &counted, NULL);
	if (!shared->two)
		tracee_tell(&shared->up, 1);
	else if (pthread_create(&second, NULL, second_body, NULL) != 0)
		_exit(1);
	for (;;)
		pause();
}

static void arm(struct addrspace *space, const char *label)
{
	struct wire_site site = site_at(label, 1);
	bool armed;

	assert_ok(breakpoint_arm(space, &site, &armed));
	assert_true(armed);
}

/* Not by tracee_seize(), whose exit_kill would take the target along. */
static void set_registers(struct guardian *guardian)
{
	assert_ok(trace_seize_alone(shared->target));
	assert_ok(trace_interrupt(shared->target));
	tracee_wait(shared->target);
	guardian_note_registers(guardian);
	assert_ok(
		trace_set_debug(shared->target, 0, (uintptr_t)&shared->ready));
	assert_ok(trace_set_debug(shared->target, DR_CONTROL, 1));
	assert_ok(trace_continue(shared->target, 0));
}

static void listen_to(struct addrspace *space)
{
	struct stop_reason stop;

	assert_int_equal(kill(shared->target, SIGSTOP), 0);
	stop = tracee_wait(shared->target);
	assert_int_equal(stop.kind, STOP_SIGNAL);
	assert_ok(trace_continue(shared->target, SIGSTOP));
	stop = tracee_wait(shared->target);
	assert_int_equal(stop.kind, STOP_GROUP);
	addrspace_note_stopped(space, shared->target, true);
	assert_ok(trace_listen(shared->target));
}

/* Of a signal; one that was not taken yet is lost in the next. */
static void await_stop(pid_t tid)
{
	struct thread_status status;

	do {
		sched_yield();
		assert_ok(procfs_status(tid, &status));
	} while (status.state != 't');
}

static void signal_second(void)
{
	assert_int_equal(syscall(SYS_tgkill, shared->target, shared->second,
				 SIGUSR1),
			 0);
	await_stop(shared->second);
}

static void tracer_body(void *arg)
{
	struct guardian *guardian;
	struct addrspace *space;

	(void)arg;
	assert_ok(guardian_start(&shared->heartbeat, &guardian));
	shared->guardian = guardian->pid;
	shared->target = tracee_fork(target_body, NULL);
	tracee_await(&shared->up, 1);
	assert_ok(addrspace_create(shared->target, &space));
	assert_ok(addrspace_protect(space, guardian));
	arm(space, site_write);
	arm(space, site_read);
	arm(space, site_far);
	if (shared->registers)
		set_registers(guardian);
	if (shared->stuck) {
		assert_ok(guardian_deputize(guardian));
		assert_ok(trace_seize_alone(shared->target));
		if (shared->two)
			assert_ok(trace_seize_alone(shared->second));
		if (shared->met)
			signal_second();
		if (shared->listens)
			listen_to(space);
		heartbeat_beat(&shared->heartbeat);
	}
	tracee_tell(&shared->ready, READY);
	if (shared->clean) {
		guardian_stop(guardian);
		_exit(0);
	}
	for (;;)
		pause();
}

static int setup(void **state)
{
	(void)state;
	shared = tracee_share(sizeof(*shared));
	/* the target and the guardian come to us when their parent dies */
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (shared->target > 0)
		tracee_kill(shared->target);
	munmap(shared, sizeof(*shared));
	return 0;
}

static pid_t start(void)
{
	pid_t tracer = tracee_fork(tracer_body, NULL);

	tracee_await(&shared->ready, READY);
	return tracer;
}

static void end_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static bool pristine(void)
{
	uint64_t text = (uintptr_t)site_write & ~(uint64_t)(PAGE - 1);
	struct memory memory;
	uint8_t bytes[TEXT];
	size_t size;

	memory_init(&memory, shared->target);
	assert_ok(memory_read(&memory, text, bytes, TEXT, &size));
	memory_deinit(&memory);
	assert_int_equal(size, TEXT);
	return memcmp(bytes, (const void *)(uintptr_t)text, TEXT) == 0;
}

static void a_killed_tracer_leaves_clean_text(void **state)
{
	pid_t tracer = start();

	(void)state;
	assert_false(pristine());
	tracee_kill(tracer);
	end_of(shared->guardian);
	assert_true(pristine());
}

static void a_killed_tracer_leaves_clear_registers(void **state)
{
	struct stop_reason stop;
	uint64_t control;
	pid_t tracer;

	(void)state;
	tracee_lock_registers();
	shared->registers = true;
	tracer = start();
	tracee_kill(tracer);
	end_of(shared->guardian);
	assert_true(pristine());
	assert_ok(trace_seize_alone(shared->target));
	assert_ok(trace_interrupt(shared->target));
	stop = tracee_wait(shared->target);
	assert_int_equal(stop.kind, STOP_INTERRUPTED);
	assert_ok(trace_debug(shared->target, DR_CONTROL, &control));
	assert_int_equal(control & 0xff, 0);
}

/* After seconds in which its heart does not beat. */
static void expect_killed(pid_t tracer)
{
	int how;

	assert_int_equal(waitpid(tracer, &how, 0), tracer);
	assert_true(WIFSIGNALED(how));
	assert_int_equal(WTERMSIG(how), SIGKILL);
	assert_int_equal(shared->heartbeat.killed, 1);
	end_of(shared->guardian);
	assert_true(pristine());
}

/* On the way to there: from SIGSTOP back to its sleep, or from a tracer. */
static void await_state(char state)
{
	struct thread_status status;

	do {
		sched_yield();
		assert_ok(procfs_status(shared->target, &status));
		assert_int_equal(status.tracer, 0);
	} while (status.state != state);
}

static void a_stuck_tracer_is_killed_for_its_target(void **state)
{
	(void)state;
	shared->stuck = true;
	expect_killed(start());
	await_state('S');
}

/* It stops the target, for a tracer that does not pass the signal on. */
static void a_signal_is_given_back(void **state)
{
	pid_t tracer;

	(void)state;
	shared->stuck = true;
	tracer = start();
	assert_int_equal(kill(shared->target, SIGUSR1), 0);
	expect_killed(tracer);
	tracee_await(&shared->signals, 1);
	assert_int_equal(shared->code, SI_TKILL);
	await_state('S');
	assert_int_equal(shared->signals, 1);
}

static void a_stopped_target_stays_stopped(void **state)
{
	pid_t tracer;

	(void)state;
	shared->stuck = shared->listens = true;
	tracer = start();
	expect_killed(tracer);
	await_state('T');
	assert_int_equal(kill(shared->target, SIGCONT), 0);
	await_state('S');
}

/* Each takes the three seconds after which a tracer is stuck. */
enum { TURNS = 8 };

static bool in_turn(size_t index)
{
	bool has = turn_has(index, TURNS);

	turn_tell(!has, 1);
	return has;
}

/* SIGSTOP that nobody passed on. */
static void a_target_stopped_meanwhile_is_stopped(void **state)
{
	pid_t tracer;

	(void)state;
	if (!in_turn(0))
		return;
	shared->stuck = true;
	tracer = start();
	assert_int_equal(kill(shared->target, SIGSTOP), 0);
	expect_killed(tracer);
	await_state('T');
}

static void a_target_continued_meanwhile_goes_on(void **state)
{
	pid_t tracer;

	(void)state;
	if (!in_turn(1))
		return;
	shared->stuck = shared->listens = true;
	tracer = start();
	assert_int_equal(kill(shared->target, SIGCONT), 0);
	expect_killed(tracer);
	await_state('S');
}

/* SIGCONT would take it away. */
static void a_stop_from_a_terminal_is_given_back(void **state)
{
	pid_t tracer;

	(void)state;
	if (!in_turn(2))
		return;
	shared->stuck = true;
	tracer = start();
	assert_int_equal(kill(shared->target, SIGTSTP), 0);
	expect_killed(tracer);
	await_state('T');
}

static void continued_after(int signal)
{
	pid_t tracer;

	shared->stuck = true;
	tracer = start();
	assert_int_equal(kill(shared->target, signal), 0);
	await_stop(shared->target);
	assert_int_equal(kill(shared->target, SIGCONT), 0);
	if (shared->two)
		await_stop(shared->second);
	expect_killed(tracer);
	await_state('S');
}

/* SIGCONT is pending, and would be lost in the guardian's SIGSTOP. */
static void a_target_stopped_and_continued_goes_on(void **state)
{
	(void)state;
	if (in_turn(3))
		continued_after(SIGSTOP);
}

/* The stopping signal is not given back: SIGCONT has ended it. */
static void one_stopped_from_a_terminal_and_continued_goes_on(void **state)
{
	(void)state;
	if (in_turn(4))
		continued_after(SIGTSTP);
}

/* The thread that is free to take it has SIGCONT. */
static void one_continued_through_another_thread_goes_on(void **state)
{
	(void)state;
	if (!in_turn(5))
		return;
	shared->two = true;
	continued_after(SIGSTOP);
}

/* A thread of it has met something before, and nobody has waited for that. */
static void a_stopped_target_with_a_stop_from_before_stays_stopped(void **state)
{
	pid_t tracer;

	(void)state;
	if (!in_turn(6))
		return;
	shared->stuck = shared->listens = true;
	shared->two = shared->met = true;
	tracer = start();
	expect_killed(tracer);
	await_state('T');
	assert_int_equal(kill(shared->target, SIGCONT), 0);
	tracee_await(&shared->signals, 1);
	await_state('S');
}

/* The end of its group-stop is seen, but it is not its user's last word. */
static void a_target_continued_and_stopped_again_is_stopped(void **state)
{
	pid_t tracer;

	(void)state;
	if (!in_turn(7))
		return;
	shared->stuck = shared->listens = true;
	tracer = start();
	assert_int_equal(kill(shared->target, SIGCONT), 0);
	assert_int_equal(kill(shared->target, SIGSTOP), 0);
	expect_killed(tracer);
	await_state('T');
}

/* It is for the tracer then to have lifted what it armed. */
static void a_clean_end_writes_nothing(void **state)
{
	pid_t tracer;

	(void)state;
	shared->clean = true;
	tracer = start();
	/* it waits for the guardian */
	end_of(tracer);
	assert_int_equal(kill(shared->guardian, 0), -1);
	assert_int_equal(errno, ESRCH);
	assert_false(pristine());
}

static void a_killed_guardian_is_noticed_once(void **state)
{
	struct guardian *guardian;
	struct wire_site site = site_at(site_write, 1);
	uint32_t entry = 0;
	pid_t pid;

	(void)state;
	assert_ok(guardian_start(&shared->heartbeat, &guardian));
	pid = guardian->pid;
	shared->target = tracee_fork(target_body, NULL);
	tracee_kill(pid);
	assert_false(guardian_ended(guardian, getpid()));
	assert_true(guardian_ended(guardian, pid));
	assert_false(guardian_ended(guardian, pid));
	assert_true(guardian_add(guardian, 0, &site, &entry));
	guardian_remove(guardian, entry);
	guardian_stop(guardian);
}

/* A deputy that wakes after the guardian's end finds its table. */
static void stops_with_a_deputy(void *arg)
{
	struct guardian *guardian;
	struct guardtable *table;

	(void)arg;
	assert_ok(guardian_start(&shared->heartbeat, &guardian));
	assert_ok(guardian_deputize(guardian));
	table = guardian->table;
	guardian_stop(guardian);
	assert_true(deputy_ask(&table->deputy, 60 * CLOCK_NS_PER_S));
	_exit(0);
}

static void a_deputy_outlives_the_guardian(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	shared->target = tracee_fork(target_body, NULL);
	pid = tracee_fork(stops_with_a_deputy, NULL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static bool guardian_holds(pid_t guardian, pid_t pid)
{
	char memory[64], path[64], target[64];

	snprintf(memory, sizeof(memory), "/proc/%d/mem", (int)pid);
	for (int fd = 0; fd < 64; fd++) {
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)guardian,
			 fd);
		length = readlink(path, target, sizeof(target) - 1);
		target[length > 0 ? length : 0] = '\0';
		if (strcmp(target, memory) == 0)
			return true;
	}
	return false;
}

/* And it is not waited for without end. */
static void the_guardian_is_awaited_until_it_has_the_memory(void **state)
{
	struct guardian *guardian;
	struct addrspace *space;
	struct error *err;

	(void)state;
	assert_ok(guardian_start(&shared->heartbeat, &guardian));
	shared->target = tracee_fork(target_body, NULL);
	assert_ok(addrspace_create(shared->target, &space));
	/* until it is stopped: kill(2) does not wait for that */
	assert_int_equal(kill(guardian->pid, SIGSTOP), 0);
	assert_int_equal(waitpid(guardian->pid, NULL, WUNTRACED),
			 guardian->pid);
	assert_ok(addrspace_protect(space, guardian));
	err = guardian_await_space(guardian, space->guardian_space);
	assert_non_null(err);
	error_free(err);
	assert_false(guardian_holds(guardian->pid, shared->target));
	assert_int_equal(kill(guardian->pid, SIGCONT), 0);
	assert_ok(guardian_await_space(guardian, space->guardian_space));
	assert_true(guardian_holds(guardian->pid, shared->target));
	addrspace_release(space);
	guardian_stop(guardian);
}

static void no_guardian_is_no_obstacle(void **state)
{
	struct wire_site site = site_at(site_write, 1);
	uint32_t space = 7, entry = 7;

	(void)state;
	shared->target = tracee_fork(target_body, NULL);
	assert_ok(guardian_add_space(NULL, 1, 1, &space));
	assert_true(guardian_add(NULL, 0, &site, &entry));
	guardian_remove(NULL, 1);
	assert_ok(guardian_await_space(NULL, 7));
	guardian_remove_space(NULL, 0);
	guardian_note_registers(NULL);
	assert_false(guardian_ended(NULL, 0));
	guardian_stop(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_killed_tracer_leaves_clean_text),
		TEST(a_killed_tracer_leaves_clear_registers),
		TEST(a_stuck_tracer_is_killed_for_its_target),
		TEST(a_signal_is_given_back),
		TEST(a_stopped_target_stays_stopped),
		TEST(a_target_stopped_meanwhile_is_stopped),
		TEST(a_target_continued_meanwhile_goes_on),
		TEST(a_stop_from_a_terminal_is_given_back),
		TEST(a_target_stopped_and_continued_goes_on),
		TEST(one_stopped_from_a_terminal_and_continued_goes_on),
		TEST(one_continued_through_another_thread_goes_on),
		TEST(a_stopped_target_with_a_stop_from_before_stays_stopped),
		TEST(a_target_continued_and_stopped_again_is_stopped),
		TEST(a_clean_end_writes_nothing),
		TEST(a_killed_guardian_is_noticed_once),
		TEST(a_deputy_outlives_the_guardian),
		TEST(the_guardian_is_awaited_until_it_has_the_memory),
		TEST(no_guardian_is_no_obstacle),
	};

	return cmocka_run_group_tests_name("guardian", tests, NULL, NULL);
}
