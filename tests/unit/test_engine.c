/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Torture: a short run of the whole tracer is repeated, with the first, the
 * second, ... call to a function failing in the tracer. It must not crash, and
 * the program must end as it would have without it.
 *
 * Linked with --wrap for malloc, calloc, realloc, process_vm_readv and ptrace.
 * A short run takes every n-th call; RACEWATCH_TEST_LONG takes all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tracee.h"

#include <poll.h>
#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "sites.h"
#include "tracer/tracer.h"
#include "wire/channel.h"

enum { STATUS = 42, PASSES = 400, OUT_LIMIT = 1 << 20, SURE = 5 };

enum torture { TORTURE_NONE, TORTURE_MEMORY, TORTURE_READ, TORTURE_REGISTERS };

struct arena {
	/* of the tracer: what fails, when, and how often it was called */
	enum torture what;
	uint32_t at, calls;
	/* of the program */
	uint32_t ready, go, ended;
	uint64_t write_site, read_site;
	uint64_t data[4];
};

static struct arena *arena;
static pid_t test_pid;

/* Is this the call that is to fail? Only in the tracer. */
static bool torture_now(enum torture what)
{
	if (!arena || arena->what != what || getpid() == test_pid)
		return false;
	return __atomic_add_fetch(&arena->calls, 1, __ATOMIC_RELAXED) ==
	       arena->at;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return torture_now(TORTURE_MEMORY) ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	return torture_now(TORTURE_MEMORY) ? NULL : __real_calloc(count, size);
}

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
	return torture_now(TORTURE_MEMORY) ? NULL : __real_realloc(old, size);
}

ssize_t __real_process_vm_readv(pid_t pid, const struct iovec *local,
				unsigned long local_count,
				const struct iovec *remote,
				unsigned long remote_count,
				unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local,
				unsigned long local_count,
				const struct iovec *remote,
				unsigned long remote_count,
				unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local,
				unsigned long local_count,
				const struct iovec *remote,
				unsigned long remote_count, unsigned long flags)
{
	if (torture_now(TORTURE_READ)) {
		errno = EPERM;
		return -1;
	}
	return __real_process_vm_readv(pid, local, local_count, remote,
				       remote_count, flags);
}

/*
 * Writing debug registers fails where other users have them all. (What a
 * thread stands or falls with, such as its rip, cannot fail while it lives.)
 */
long __real_ptrace(enum __ptrace_request request, pid_t pid, uintptr_t address,
		   uintptr_t data);
long __wrap_ptrace(enum __ptrace_request request, pid_t pid, uintptr_t address,
		   uintptr_t data);
long __wrap_ptrace(enum __ptrace_request request, pid_t pid, uintptr_t address,
		   uintptr_t data)
{
	if (request == PTRACE_POKEUSER &&
	    address >= offsetof(struct user, u_debugreg) &&
	    torture_now(TORTURE_REGISTERS)) {
		errno = ENOSPC;
		return -1;
	}
	return __real_ptrace(request, pid, address, data);
}

/* --- the program, which is this one --- */

/*
 * On a slow machine little may happen in that many passes. What is made sure of
 * by torture() is waited for.
 */
static bool child_goes_on(uint64_t pass)
{
	return pass < PASSES ||
	       (arena->at <= SURE &&
		__atomic_load_n(&arena->calls, __ATOMIC_RELAXED) < arena->at &&
		pass < 200 * PASSES);
}

static void *child_write(void *arg)
{
	for (uint64_t i = 0; child_goes_on(i); i++) {
		do_write(&arena->data[0], i);
		for (int spin = 0; spin < 1000; spin++)
			__asm__ volatile("pause");
	}
	return arg;
}

static void child_fork(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		do_write(&arena->data[1], 1);
		_exit(do_read(&arena->data[1]) == 1 ? 0 : 1);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		_exit(1);
}

static int child_main(int fd, int lifeline)
{
	pthread_t thread;

	tracee_is_child = true;
	tracee_hold(lifeline);
	arena = mmap(NULL, sizeof(*arena), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	arena->write_site = (uintptr_t)site_write;
	arena->read_site = (uintptr_t)site_read;
	tracee_tell(&arena->ready, 1);
	tracee_await(&arena->go, 1);
	pthread_create(&thread, NULL, child_write, NULL);
	for (uint64_t i = 0; child_goes_on(i); i++) {
		do_read(&arena->data[0]);
		for (int spin = 0; spin < 1000; spin++)
			__asm__ volatile("pause");
		if (i % (PASSES / 2) == PASSES / 4)
			child_fork();
	}
	pthread_join(thread, NULL);
	tracee_tell(&arena->ended, 1);
	return STATUS;
}

/* --- the front end --- */

struct run {
	struct tracer tracer;
	struct channel channel;
	struct wire_site sites[2];
	bool started, failed, exited;
	struct wire_exited exit;
};

static void run_send_sites(struct run *run)
{
	for (int i = 0; i < 2; i++)
		run->sites[i].id += 2;
	channel_send(&run->channel, WIRE_SITES, run->sites, sizeof(run->sites));
}

static void run_turn(struct run *run)
{
	struct channel *channel = &run->channel;
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	enum wire_type type;
	const void *payload;
	size_t size;

	channel_flush(channel);
	poll(&fd, 1, 10);
	channel_fill(channel);
	while (channel_next(channel, &type, &payload, &size)) {
		run->started |= type == WIRE_STARTED;
		run->failed |= type == WIRE_FAILED;
		if (type == WIRE_RETURNED)
			run_send_sites(run);
		if (type != WIRE_EXITED)
			continue;
		run->exited = true;
		memcpy(&run->exit, payload, sizeof(run->exit));
	}
}

static void run_program(struct run *run, const char *backend, int fd)
{
	char number[16], lifeline[16];
	char *argv[] = { (char *)"/proc/self/exe", (char *)"--child", number,
			 lifeline, NULL };
	struct tracer_config config = {
		.argv = argv,
		.tracing.backend = backend,
		.seed = 1,
		.params = { .rate = 5000,
			    .stall_max_ns = 500000,
			    .stretch_max = 1 },
	};

	snprintf(number, sizeof(number), "%d", fd);
	snprintf(lifeline, sizeof(lifeline), "%d", tracee_lifeline());
	assert_ok(tracer_spawn(&config, &run->tracer));
	assert_ok(channel_init(&run->channel, run->tracer.fd, OUT_LIMIT));
	while (!run->started && !run->failed && !run->channel.closed)
		run_turn(run);
	if (run->started) {
		/* it may have been let go, and not be traced any more */
		tracee_await(&arena->ready, 1);
		run->sites[0] = site_at(site_write, 1);
		run->sites[0].address = arena->write_site;
		run->sites[1] = site_at(site_read, 2);
		run->sites[1].address = arena->read_site;
		run_send_sites(run);
		channel_flush(&run->channel);
	}
	tracee_tell(&arena->go, 1);
	while (!run->exited && !run->channel.closed)
		run_turn(run);
}

/* False when there was no such call any more. */
static bool torture_once(enum torture what, const char *backend, uint32_t at)
{
	struct run run = { 0 };
	bool reached;
	int status;
	int fd = (int)syscall(SYS_memfd_create, "arena", 0);

	alarm(TRACEE_TEST_SECONDS);
	assert_int_equal(ftruncate(fd, sizeof(*arena)), 0);
	arena = mmap(NULL, sizeof(*arena), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	arena->what = what;
	arena->at = at;
	run_program(&run, backend, fd);
	channel_deinit(&run.channel);
	assert_int_equal(waitpid(run.tracer.pid, &status, 0), run.tracer.pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("call %u: the tracer ended with status %x", at,
			 (unsigned int)status);
	/* a program that could not be started ends by itself */
	if (run.exited && !run.failed && run.exit.status != STATUS << 8)
		fail_msg("call %u: the program ended with status %x", at,
			 (unsigned int)run.exit.status);
	/* it was started, or never was: but not half */
	if (run.started || arena->ready)
		tracee_await(&arena->ended, 1);
	reached = arena->calls >= at;
	if (!reached)
		assert_true(run.exited);
	munmap(arena, sizeof(*arena));
	arena = NULL;
	close(fd);
	return reached;
}

static void torture(enum torture what, const char *backend, uint32_t most)
{
	bool all = getenv("RACEWATCH_TEST_LONG") != NULL;
	uint32_t at = 1;

	test_pid = getpid();
	/* the first ones one by one, then ever further apart */
	while (torture_once(what, backend, at) && (all || at < most))
		at += all || at < 40 ? 1 : 1 + at / 8;
	print_message("%s: %u calls\n", backend, at);
	assert_true(at > SURE);
}

static void memory_runs_out(void **state)
{
	(void)state;
	torture(TORTURE_MEMORY, "value", 300);
	if (!machine_lacks_registers())
		torture(TORTURE_MEMORY, "ptrace", 300);
}

static void the_programs_memory_cannot_be_read(void **state)
{
	(void)state;
	torture(TORTURE_READ, "value", 300);
}

static void debug_registers_are_taken(void **state)
{
	(void)state;
	tracee_needs_registers();
	torture(TORTURE_REGISTERS, "ptrace", 300);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_runs_out),
		cmocka_unit_test(the_programs_memory_cannot_be_read),
		cmocka_unit_test(debug_registers_are_taken),
	};

	if (argc > 3 && strcmp(argv[1], "--child") == 0)
		return child_main(atoi(argv[2]), atoi(argv[3]));
	tracee_lock_registers();
	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
