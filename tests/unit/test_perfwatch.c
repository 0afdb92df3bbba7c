/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hardware breakpoints by perf: opened, moved, counted, trapping, and recorded
 * with registers and stack. Skipped where the kernel refuses them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tracee.h"

#include <sys/syscall.h>

#include "sys/perfwatch.h"

enum { STEPS = 3, RING_STACK = 4096, RING_TRIES = 4000, RING_GAP_US = 5000 };

struct shared {
	uint32_t ready, step, done;
	uint64_t words[8];
	uint64_t stack_pointer;
};

static struct shared *shared;

extern const char touch_after[];

/* *rdi = rsi; the stack pointer is told, and a mark left where it points */
__asm__(".text\n"
	"touch:\n\t"
	"movabs $0x5a5aa5a55a5aa5a5, %rax\n\t"
	"push %rax\n\t"
	"movq %rsp, (%rdx)\n\t"
	"movq %rsi, (%rdi)\n"
	"touch_after: pop %rax\n\t"
	"ret\n");
void touch(uint64_t *word, uint64_t value, uint64_t *stack_pointer);

/* At each step, writes that step's number into all words. */
static void body(void *arg)
{
	(void)arg;
	tracee_tell(&shared->ready, 1);
	for (uint32_t step = 1; step <= STEPS; step++) {
		while (__atomic_load_n(&shared->step, __ATOMIC_ACQUIRE) < step)
			;
		for (int i = 0; i < 8; i++)
			touch(&shared->words[i], step, &shared->stack_pointer);
		tracee_tell(&shared->done, step);
	}
}

static struct perfwatch_spec spec_of(int word, uint64_t cookie)
{
	return (struct perfwatch_spec){
		.address = (uintptr_t)&shared->words[word],
		.length = 8,
		.write_only = true,
		.cookie = cookie,
	};
}

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

/* A child with a watch on word 0, or a skip. */
static pid_t start(int *ret_fd)
{
	struct perfwatch_spec spec = spec_of(0, 1234);
	pid_t pid = tracee_fork(body, NULL);
	struct error *err;

	tracee_await(&shared->ready, 1);
	tracee_seize(pid);
	err = perfwatch_open(pid, &spec, ret_fd);
	if (err) {
		tracee_kill(pid);
		tracee_skip(err);
	}
	return pid;
}

static void expect_trap(pid_t pid, int word, uint64_t cookie)
{
	struct stop_reason stop = tracee_wait(pid);
	struct x86_registers regs;
	struct trap_info info;

	assert_int_equal(stop.kind, STOP_SIGNAL);
	assert_int_equal(stop.signal, SIGTRAP);
	assert_ok(trace_trap_info(pid, &info));
	assert_int_equal(info.code, TRAP_CODE_PERF);
	assert_int_equal(info.address, (uintptr_t)&shared->words[word]);
	assert_int_equal(info.perf_data, cookie);
	assert_ok(trace_registers(pid, &regs));
	assert_int_equal(regs.rip, (uintptr_t)touch_after);
	assert_int_equal(regs.gpr[X86_RDI], (uintptr_t)&shared->words[word]);
}

static void a_thread_is_stopped_behind_its_access(void **state)
{
	struct perfwatch_spec spec = spec_of(5, 99);
	uint64_t count = 0;
	int fd = -1;
	pid_t pid;

	(void)state;
	tracee_needs_registers();
	pid = start(&fd);
	assert_ok(trace_continue(pid, 0));
	tracee_tell(&shared->step, 1);
	expect_trap(pid, 0, 1234);
	assert_int_equal(shared->words[0], 1);
	assert_int_equal(shared->words[1], 0);
	assert_ok(perfwatch_count(fd, &count));
	assert_int_equal(count, 1);
	/* moved while the thread is in the middle of its round */
	assert_ok(perfwatch_move(fd, &spec));
	assert_ok(trace_continue(pid, 0));
	expect_trap(pid, 5, 99);
	assert_int_equal(shared->words[4], 1);
	assert_int_equal(shared->words[6], 0);
	/* disabled: a whole round without a stop; then enabled by a move */
	assert_ok(perfwatch_disable(fd));
	assert_ok(trace_continue(pid, 0));
	tracee_tell(&shared->step, 2);
	tracee_await(&shared->done, 2);
	assert_ok(perfwatch_count(fd, &count));
	assert_int_equal(count, 2);
	assert_ok(perfwatch_move(fd, &spec));
	tracee_tell(&shared->step, 3);
	expect_trap(pid, 5, 99);
	close(fd);
	tracee_finish(pid, 0);
}

static void a_thread_is_stopped_before_an_instruction(void **state)
{
	const struct perfwatch_spec here = {
		.address = (uintptr_t)touch_after,
		.execute = true,
		.cookie = 77,
	};
	struct perfwatch_spec watch = spec_of(2, 88);
	struct x86_registers regs;
	struct trap_info info;
	int fd = -1;
	pid_t pid;

	(void)state;
	tracee_needs_registers();
	pid = start(&fd);
	assert_ok(perfwatch_move(fd, &here));
	assert_ok(trace_continue(pid, 0));
	tracee_tell(&shared->step, 1);
	/* each time it comes there, and it gets on with the event as it is */
	for (int word = 0; word < 2; word++) {
		assert_int_equal(tracee_wait(pid).signal, SIGTRAP);
		assert_ok(trace_trap_info(pid, &info));
		assert_int_equal(info.code, TRAP_CODE_PERF);
		assert_int_equal(info.perf_data, 77);
		assert_int_equal(info.address, (uintptr_t)touch_after);
		assert_ok(trace_registers(pid, &regs));
		assert_int_equal(regs.rip, (uintptr_t)touch_after);
		assert_int_equal(regs.gpr[X86_RDI],
				 (uintptr_t)&shared->words[word]);
		if (word == 0)
			assert_ok(trace_continue(pid, 0));
	}
	/* the same event may watch bytes then */
	assert_ok(perfwatch_move(fd, &watch));
	assert_ok(trace_continue(pid, 0));
	expect_trap(pid, 2, 88);
	close(fd);
	tracee_kill(pid);
}

/* It is not stopped at the others, which are counted. */
static void a_thread_is_stopped_at_each_third_execution(void **state)
{
	const struct perfwatch_spec third = {
		.address = (uintptr_t)touch_after,
		.execute = true,
		.period = 3,
		.cookie = 77,
	};
	struct x86_registers regs;
	uint64_t count = 0;
	int fd = -1, counting = -1;
	pid_t pid;

	(void)state;
	tracee_needs_registers();
	pid = start(&fd);
	close(fd);
	assert_ok(perfwatch_open(pid, &third, &counting));
	assert_ok(trace_continue(pid, 0));
	tracee_tell(&shared->step, 1);
	for (uint64_t word = 2; word < 8; word += 3) {
		assert_int_equal(tracee_wait(pid).signal, SIGTRAP);
		assert_ok(trace_registers(pid, &regs));
		assert_int_equal(regs.rip, (uintptr_t)touch_after);
		assert_int_equal(regs.gpr[X86_RDI],
				 (uintptr_t)&shared->words[word]);
		assert_ok(perfwatch_count(counting, &count));
		assert_int_equal(count, word + 1);
		if (word == 2)
			assert_ok(trace_continue(pid, 0));
	}
	close(counting);
	tracee_kill(pid);
}

static void what_cannot_be_watched_is_an_error(void **state)
{
	struct perfwatch_spec spec = spec_of(0, 1);
	int fd = -1, fds[8], count;
	struct error *err = NULL;
	pid_t pid = start(&fd);

	(void)state;
	/* no address may be unaligned to its length */
	spec.address++;
	err = perfwatch_open(pid, &spec, &fds[0]);
	assert_non_null(err);
	error_free(err);
	err = NULL;
	/* there are four registers, of which one is taken */
	for (count = 0; count < 8 && !err; count++) {
		spec = spec_of(count, 1);
		err = perfwatch_open(pid, &spec, &fds[count]);
	}
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_UNSUPPORTED);
	error_free(err);
	assert_true(count >= 2 && count <= 4);
	while (--count > 0)
		close(fds[count - 1]);
	close(fd);
	tracee_kill(pid);
	err = perfwatch_open(pid, &spec, &fd);
	assert_ptr_equal(err, error_gone);
}

static void pin(pid_t pid)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	assert_int_equal(sched_setaffinity(pid, sizeof(cpus), &cpus), 0);
}

static void expect_sample(struct perfring *ring, pid_t pid, int word)
{
	struct perfring_sample *sample = calloc(1, sizeof(*sample));
	uint64_t mark = 0;

	do {
		assert_true(perfring_next(ring, sample));
	} while (sample->pid != pid);
	assert_int_equal(sample->tid, pid);
	assert_int_equal(sample->address, (uintptr_t)&shared->words[word]);
	assert_int_equal(sample->regs.rip, (uintptr_t)touch_after);
	assert_int_equal(sample->regs.gpr[X86_RDI],
			 (uintptr_t)&shared->words[word]);
	assert_int_equal(sample->regs.gpr[X86_RDX],
			 (uintptr_t)&shared->stack_pointer);
	assert_int_equal(sample->regs.gpr[X86_RSP], shared->stack_pointer);
	assert_false(sample->from_kernel);
	assert_true(sample->stack_size > 16);
	assert_true(sample->stack_size <= RING_STACK);
	memcpy(&mark, sample->stack, sizeof(mark));
	assert_int_equal(mark, UINT64_C(0x5a5aa5a55a5aa5a5));
	assert_false(perfring_next(ring, sample));
	free(sample);
}

/* The ring wraps round; each access must come out of it whole. */
/*
 * Whoever else watches on this machine may have all registers of the CPU; it
 * gives them back sooner or later.
 */
static struct error *open_ring(const struct perfwatch_spec *spec,
			       struct perfring *ret)
{
	struct error *err = perfring_open(0, spec, RING_STACK, ret);

	for (int i = 0; i < RING_TRIES && err && err->kind == ERROR_UNSUPPORTED;
	     i++) {
		error_free(err);
		usleep(RING_GAP_US);
		err = perfring_open(0, spec, RING_STACK, ret);
	}
	return err;
}

static void a_ring_tells_who_touched_the_bytes(void **state)
{
	struct perfwatch_spec spec = spec_of(2, 0);
	struct perfring_sample *sample;
	struct perfring ring;
	struct error *err;
	pid_t pid;

	(void)state;
	tracee_needs_registers();
	sample = calloc(1, sizeof(*sample));
	pid = tracee_fork(body, NULL);
	pin(pid);
	tracee_await(&shared->ready, 1);
	err = open_ring(&spec, &ring);
	if (err) {
		tracee_kill(pid);
		free(sample);
		tracee_skip(err);
	}
	assert_false(perfring_next(&ring, sample));
	tracee_tell(&shared->step, 1);
	tracee_await(&shared->done, 1);
	expect_sample(&ring, pid, 2);
	/* what was recorded at the former place is thrown away */
	tracee_tell(&shared->step, 2);
	tracee_await(&shared->done, 2);
	spec = spec_of(7, 0);
	assert_ok(perfring_move(&ring, &spec));
	assert_false(perfring_next(&ring, sample));
	tracee_tell(&shared->step, 3);
	tracee_await(&shared->done, 3);
	expect_sample(&ring, pid, 7);
	perfring_close(&ring);
	assert_int_equal(ring.fd, -1);
	waitpid(pid, NULL, 0);
	free(sample);
}

enum { WRAPS = 300 };

static void body_wrap(void *arg)
{
	(void)arg;
	tracee_tell(&shared->ready, 1);
	for (uint32_t i = 1; i <= WRAPS; i++) {
		while (__atomic_load_n(&shared->step, __ATOMIC_ACQUIRE) < i)
			sched_yield();
		touch(&shared->words[0], i, &shared->stack_pointer);
		tracee_tell(&shared->done, i);
	}
}

static void records_come_whole_round_the_end_of_the_ring(void **state)
{
	struct perfwatch_spec spec = spec_of(0, 0);
	struct perfring_sample *sample;
	struct perfring ring;
	struct error *err;
	pid_t pid;

	(void)state;
	tracee_needs_registers();
	sample = calloc(1, sizeof(*sample));
	pid = tracee_fork(body_wrap, NULL);
	pin(pid);
	tracee_await(&shared->ready, 1);
	err = open_ring(&spec, &ring);
	if (err) {
		tracee_kill(pid);
		free(sample);
		tracee_skip(err);
	}
	for (uint32_t i = 1; i <= WRAPS; i++) {
		tracee_tell(&shared->step, i);
		tracee_await(&shared->done, i);
		assert_true(perfring_next(&ring, sample));
		assert_int_equal(sample->tid, pid);
		assert_int_equal(sample->regs.gpr[X86_RSI], i);
		assert_memory_equal(sample->stack,
				    &(uint64_t){ UINT64_C(0x5a5aa5a55a5aa5a5) },
				    8);
	}
	perfring_close(&ring);
	waitpid(pid, NULL, 0);
	free(sample);
}

/* That it is of no effect on this thread, and on no program it executes. */
static void the_kernel_is_kept_ready(void **state)
{
	uint64_t count = 1;
	int fd = -1;
	struct error *err = perfwatch_keep_ready(&fd);

	(void)state;
	if (err)
		tracee_skip(err);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_ok(perfwatch_count(fd, &count));
	assert_int_equal(count, 0);
	close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_thread_is_stopped_behind_its_access),
		TEST(a_thread_is_stopped_before_an_instruction),
		TEST(a_thread_is_stopped_at_each_third_execution),
		TEST(what_cannot_be_watched_is_an_error),
		TEST(a_ring_tells_who_touched_the_bytes),
		TEST(records_come_whole_round_the_end_of_the_ring),
		TEST(the_kernel_is_kept_ready),
	};

	tracee_lock_registers();
	return cmocka_run_group_tests_name("perfwatch", tests, NULL, NULL);
}
