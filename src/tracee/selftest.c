/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trying the watchpoints for real; see selftest.h.
 */
#include "tracee/selftest.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "sys/memory.h"
#include "sys/perfwatch.h"
#include "sys/trace.h"
#include "sys/wait.h"
#include "x86/dregs.h"

enum {
	DR_CONTROL = 7,
	/*
	 * others may have all registers, for a moment as a rule: another
	 * watcher gives them back when it has been idle for one
	 */
	SELFTEST_TRIES = 400,
	SELFTEST_GAP_US = 5000,
};

/* A child that waits for a byte and then does something to `watched`. */
struct selftest {
	pid_t pid;
	int go; /* write end */
};

/* Written and read by children; the parent only takes its address. */
static volatile uint64_t watched;

/* What the child is to do. */
enum selftest_deed { DEED_WRITE, DEED_BY_KERNEL, DEED_EXECUTE };

/* Executed by a child; the parent only takes its address. */
__attribute__((noinline)) static void selftest_location(void)
{
	watched = 2;
}

static void selftest_child(int go, enum selftest_deed deed)
{
	sigset_t none;
	char byte;

	/*
	 * perf does not stop a thread that blocks SIGTRAP, as the tracer does
	 */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* without a parent there is nothing to do */
	if (read(go, &byte, 1) != 1)
		_exit(1); /* exit-allowed: forked child */
	switch (deed) {
	case DEED_WRITE:
		watched = 1;
		break;
	case DEED_BY_KERNEL:
		if (read(go, (void *)(uintptr_t)&watched, 1) != 1)
			_exit(1); /* exit-allowed: forked child */
		break;
	case DEED_EXECUTE:
		selftest_location();
		break;
	}
	_exit(0); /* exit-allowed: forked child */
}

/* Start a child, seized and stopped. */
static struct error *selftest_begin(struct selftest *test,
				    enum selftest_deed deed)
{
	struct stop_reason stop;
	struct error *err;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_os(errno, "make a pipe");
	test->pid = fork();
	if (test->pid == 0) {
		close(fds[1]);
		selftest_child(fds[0], deed);
	}
	close(fds[0]);
	test->go = fds[1];
	if (test->pid < 0) {
		err = error_os(errno, "fork");
		close(test->go);
		return err;
	}
	err = trace_seize(test->pid, true);
	if (!err)
		err = trace_interrupt(test->pid);
	if (!err)
		err = wait_thread(test->pid, &stop);
	return err;
}

static void selftest_end(const struct selftest *test)
{
	if (test->pid <= 0)
		return;
	close(test->go);
	/* it is killed when we end, at the latest (trace_seize()) */
	if (kill(test->pid, SIGKILL) != 0)
		return;
	while (waitpid(test->pid, NULL, __WALL) == test->pid)
		;
}

/* Let the child act; did it stop with a trap of this kind? */
static struct error *selftest_act(const struct selftest *test,
				  enum trap_code wanted, bool *ret_trapped)
{
	struct trap_info info;
	struct stop_reason stop;
	struct error *err;

	/* the second byte is for a read by the kernel */
	if (write(test->go, "12", 2) != 2)
		return error_os(errno, "write to a test child");
	err = trace_continue(test->pid, 0);
	if (!err)
		err = wait_thread(test->pid, &stop);
	*ret_trapped = false;
	if (err || stop.kind != STOP_SIGNAL || stop.signal != SIGTRAP)
		return err;
	err = trace_trap_info(test->pid, &info);
	*ret_trapped = !err && info.code == wanted;
	return err;
}

static struct error *selftest_set_registers(pid_t pid)
{
	struct dregs dregs = { 0 };
	struct dregs_claim claim;
	struct error *err;

	if (!dregs_claim(&dregs, (uint64_t)(uintptr_t)&watched, sizeof(watched),
			 DREGS_WRITE, false, &claim))
		return error_create(ERROR_OTHER, "no debug register is free");
	err = trace_set_debug(pid, 0, dregs.slots[0].address);
	if (!err)
		err = trace_set_debug(pid, DR_CONTROL, dregs_control(&dregs));
	return err;
}

static struct error *selftest_registers_once(bool *ret_trapped)
{
	struct selftest test = { 0 };
	struct error *err;

	*ret_trapped = false;
	err = selftest_begin(&test, DEED_WRITE);
	if (!err)
		err = selftest_set_registers(test.pid);
	if (!err)
		err = selftest_act(&test, TRAP_CODE_WATCH, ret_trapped);
	selftest_end(&test);
	return err;
}

bool selftest_is_busy(const struct error *err)
{
	return err->code == ENOSPC;
}

/* As perfwatch.h tells it; by ptrace(2) the kernel says no more than the code. */
static struct error *selftest_busy(void)
{
	struct error *err =
		error_create(ERROR_UNSUPPORTED,
			     "no debug register is free: others have them");

	if (err != error_nomem)
		err->code = ENOSPC;
	return err;
}

/*
 * Do others have all registers, and is there still time for them to give some
 * back? Waits a moment then, and frees the error.
 */
static bool selftest_waits(struct error *err, int *tries)
{
	if (!err || !selftest_is_busy(err) || ++*tries == SELFTEST_TRIES)
		return false;
	error_free(err);
	usleep(SELFTEST_GAP_US);
	return true;
}

static struct error *selftest_dead(void)
{
	return error_create(
		ERROR_UNSUPPORTED,
		"debug registers can be written but do not trap (as on some virtual machines)");
}

struct error *selftest_registers(void)
{
	struct error *err;
	bool trapped;
	int tries = 0;

	do {
		err = selftest_registers_once(&trapped);
	} while (selftest_waits(err, &tries));
	if (err && selftest_is_busy(err)) {
		error_free(err);
		err = selftest_busy();
	}
	if (!err && !trapped)
		err = selftest_dead();
	return error_wrap(err, "watchpoints by ptrace");
}

/* Perf's events do not trap: do the debug registers, or is it perf's fault? */
static struct error *selftest_no_trap(const char *fault)
{
	bool trapped;
	struct error *err = selftest_registers_once(&trapped);
	bool dead = !err && !trapped;

	error_free(err);
	return dead ? selftest_dead()
		    : error_create(ERROR_UNSUPPORTED, "%s", fault);
}

static struct error *selftest_perf_once(bool by_kernel, bool *ret_trapped)
{
	struct perfwatch_spec spec = {
		.address = (uint64_t)(uintptr_t)&watched,
		.length = sizeof(watched),
		.write_only = true,
		.kernel = by_kernel,
		.cookie = 1,
	};
	struct selftest test = { 0 };
	struct error *err;
	int fd = -1;

	*ret_trapped = false;
	err = selftest_begin(&test, by_kernel ? DEED_BY_KERNEL : DEED_WRITE);
	if (!err)
		err = perfwatch_open(test.pid, &spec, &fd);
	if (!err)
		err = selftest_act(&test, TRAP_CODE_PERF, ret_trapped);
	if (fd >= 0)
		close(fd);
	selftest_end(&test);
	return err;
}

struct error *selftest_perf(bool *ret_kernel)
{
	struct error *err;
	bool trapped;
	int tries = 0;

	do {
		err = selftest_perf_once(false, &trapped);
	} while (selftest_waits(err, &tries));
	if (!err && !trapped)
		err = selftest_no_trap(
			"perf breakpoints with sigtrap do not trap (needs Linux 5.13)");
	if (err)
		return error_wrap(err, "watchpoints by perf");
	error_free(selftest_perf_once(true, ret_kernel));
	return NULL;
}

/* Stopped before the instruction, and is the event good for a watch then? */
static struct error *selftest_stopped_at(pid_t pid, int fd, bool *ret)
{
	const struct perfwatch_spec watch = {
		.address = (uint64_t)(uintptr_t)&watched,
		.length = sizeof(watched),
		.write_only = true,
		.cookie = 2,
	};
	struct x86_registers regs;
	struct error *err;

	err = trace_registers(pid, &regs);
	if (err)
		return err;
	*ret = regs.rip == (uint64_t)(uintptr_t)selftest_location;
	return *ret ? perfwatch_move(fd, &watch) : NULL;
}

static struct error *selftest_execution_once(bool *ret_trapped)
{
	const struct perfwatch_spec spec = {
		.address = (uint64_t)(uintptr_t)selftest_location,
		.execute = true,
		.cookie = 1,
	};
	struct selftest test = { 0 };
	struct error *err;
	int fd = -1;

	*ret_trapped = false;
	err = selftest_begin(&test, DEED_EXECUTE);
	if (!err)
		err = perfwatch_open(test.pid, &spec, &fd);
	if (!err)
		err = selftest_act(&test, TRAP_CODE_PERF, ret_trapped);
	if (!err && *ret_trapped)
		err = selftest_stopped_at(test.pid, fd, ret_trapped);
	if (fd >= 0)
		close(fd);
	selftest_end(&test);
	return err;
}

struct error *selftest_execution(void)
{
	struct error *err;
	bool trapped;
	int tries = 0;

	do {
		err = selftest_execution_once(&trapped);
	} while (selftest_waits(err, &tries));
	if (!err && !trapped)
		err = selftest_no_trap(
			"perf execution breakpoints do not stop a thread before the instruction (needs Linux 5.13)");
	return error_wrap(err, "execution breakpoints by perf");
}

static struct error *selftest_open_ring(int cpu, struct perfring *ret)
{
	const struct perfwatch_spec spec = {
		.address = (uint64_t)(uintptr_t)&watched,
		.length = sizeof(watched),
		.write_only = true,
		.kernel = true,
	};

	return perfring_open(cpu, &spec, 0, ret);
}

/* Keep the child on a processor, the first of those that it may run on. */
static struct error *selftest_pin(pid_t pid, int *ret_cpu)
{
	cpu_set_t may, one;
	int cpu = 0;

	if (sched_getaffinity(pid, sizeof(may), &may) < 0)
		return error_os(errno, "look for a processor");
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &may))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(pid, sizeof(one), &one) < 0)
		return error_os(errno, "keep a child on processor %d", cpu);
	*ret_cpu = cpu;
	return NULL;
}

static struct error *selftest_cpu_try(bool *ret_trapped)
{
	struct selftest test = { 0 };
	struct perfring ring = { .fd = -1 };
	uint64_t count = 0;
	bool stopped;
	int cpu = 0;
	struct error *err = selftest_begin(&test, DEED_WRITE);

	if (!err)
		err = selftest_pin(test.pid, &cpu);
	if (!err)
		err = selftest_open_ring(cpu, &ring);
	/* it is recorded, and the child runs on to its end */
	if (!err)
		err = selftest_act(&test, TRAP_CODE_PERF, &stopped);
	if (!err)
		err = perfwatch_count(ring.fd, &count);
	if (ring.fd >= 0)
		perfring_close(&ring);
	selftest_end(&test);
	*ret_trapped = count > 0;
	return err;
}

struct error *selftest_cpu(void)
{
	struct error *err;
	bool trapped;
	int tries = 0;

	do {
		err = selftest_cpu_try(&trapped);
	} while (selftest_waits(err, &tries));
	if (!err && !trapped)
		err = selftest_no_trap(
			"CPU-wide perf breakpoints record nothing");
	return error_wrap(err, "CPU-wide watchpoints by perf");
}

struct error *selftest_trace(void)
{
	struct selftest test = { 0 };
	struct error *err = selftest_begin(&test, false);

	selftest_end(&test);
	return error_wrap(err, "trace a child");
}

/* Write a byte of the child's text, the same as is there. */
static struct error *selftest_write(const struct memory *memory,
				    pid_t stopped_tid)
{
	uint64_t address = (uint64_t)(uintptr_t)&selftest_child;
	uint8_t byte;
	size_t size;
	struct error *err = memory_read(memory, address, &byte, 1, &size);

	/* by ptrace(2) only what differs is written: so it is made to */
	if (!err && stopped_tid > 0) {
		uint8_t other = (uint8_t)~byte;

		err = memory_write_text(memory, stopped_tid, address, &other,
					1);
	}
	return err ? err
		   : memory_write_text(memory, stopped_tid, address, &byte, 1);
}

static struct error *selftest_try_memory(pid_t pid, struct selftest_memory *ret)
{
	struct memory memory;
	struct error *err;
	uint8_t byte;
	size_t size;

	memory_init(&memory, pid);
	memory_close_file(&memory);
	err = memory_read(&memory, (uint64_t)(uintptr_t)&watched, &byte, 1,
			  &size);
	ret->reads_directly = !err;
	error_free(err);
	memory_reopen(&memory, pid);
	err = memory_read(&memory, (uint64_t)(uintptr_t)&watched, &byte, 1,
			  &size);
	if (!err) {
		err = selftest_write(&memory, 0);
		ret->writes_file = !err;
	}
	if (err && err->kind == ERROR_REFUSED) {
		error_free(err);
		err = selftest_write(&memory, pid);
	}
	memory_deinit(&memory);
	return err;
}

struct error *selftest_memory(struct selftest_memory *ret)
{
	struct selftest_memory found = { false };
	struct selftest test = { 0 };
	struct error *err = selftest_begin(&test, false);

	if (!err)
		err = selftest_try_memory(test.pid, &found);
	selftest_end(&test);
	if (err)
		return error_wrap(err, "the memory of a child");
	*ret = found;
	return NULL;
}

struct error *selftest_free_registers(int *ret)
{
	struct dregs dregs = { 0 };
	struct selftest test = { 0 };
	struct error *err = selftest_begin(&test, false);
	int count = 0;

	/* far apart, so that none is used twice */
	for (int i = 0; !err && i < DREGS_SLOTS; i++) {
		struct dregs_claim claim;
		struct error *refusal;

		if (!dregs_claim(&dregs, (uint64_t)(uintptr_t)&watched + 64 * i,
				 1, DREGS_WRITE, false, &claim))
			break;
		refusal = trace_set_debug(test.pid, i, dregs.slots[i].address);
		if (!refusal)
			refusal = trace_set_debug(test.pid, DR_CONTROL,
						  dregs_control(&dregs));
		count += !refusal;
		if (refusal && refusal->code != ENOSPC) {
			err = refusal;
			break;
		}
		error_free(refusal);
		if (count <= i)
			break;
	}
	selftest_end(&test);
	if (err)
		return error_wrap(err, "count the debug registers");
	*ret = count;
	return NULL;
}

struct error *selftest_await_registers(uint64_t wait_ns, int *ret)
{
	uint64_t end = clock_now_ns() + wait_ns;
	int count = 0;
	struct error *err = selftest_free_registers(&count);

	while (!err && count == 0 && clock_now_ns() < end) {
		usleep(SELFTEST_GAP_US);
		err = selftest_free_registers(&count);
	}
	if (!err && count == 0)
		err = selftest_busy();
	if (!err)
		*ret = count;
	return err;
}
