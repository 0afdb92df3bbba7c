/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The verbs of ptrace(2) and the stops they lead to, against real children.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tracee.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#include "sys/procfs.h"

/* Linux 5.13; glibc 2.36 does not name it */
enum { CODE_PERF = 6 };

struct shared {
	uint32_t ready, go;
	uint64_t watched;
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

/* Say that it runs, and spin until told. */
static void body_spin(void *arg)
{
	(void)arg;
	tracee_tell(&shared->ready, 1);
	tracee_await(&shared->go, 1);
}

static void seizing_does_not_stop_and_interrupting_does(void **state)
{
	pid_t pid = tracee_fork(body_spin, NULL);
	struct stop_reason stop;
	bool found;

	(void)state;
	assert_ok(trace_seize(pid, true));
	tracee_await(&shared->ready, 1);
	assert_ok(wait_next(&stop, &found));
	assert_false(found);
	assert_false(wait_came(&stop));
	assert_ptr_equal(trace_continue(pid, 0), error_gone);
	assert_ok(trace_interrupt(pid));
	while (!wait_came(&stop))
		sched_yield();
	assert_int_equal(stop.tid, pid);
	assert_int_equal(stop.kind, STOP_INTERRUPTED);
	tracee_tell(&shared->go, 1);
	tracee_finish(pid, 0);
	/* there are no tracees any more */
	assert_false(wait_came(&stop));
}

/* Exits with 0 when the event has come; with 1 if the wait ends otherwise. */
static void body_wait(void *arg)
{
	const int *fds = arg;
	struct epoll_event event = { .events = EPOLLIN };

	if (epoll_ctl(fds[0], EPOLL_CTL_ADD, fds[1], &event) < 0)
		_exit(2);
	_exit(epoll_wait(fds[0], &event, 1, -1) == 1 ? 0 : 1);
}

/* epoll_wait(2) ends with EINTR at a stop, whoever asked for it. */
static void a_call_that_notices_stops_is_begun_anew(void **state)
{
	int fds[2] = { epoll_create1(0), eventfd(0, 0) };
	const uint64_t one = 1;
	struct x86_registers regs;
	struct stop_reason stop;
	pid_t pid;

	(void)state;
	assert_true(fds[0] >= 0 && fds[1] >= 0);
	pid = tracee_fork(body_wait, fds);
	while (!procfs_notices_stops(pid))
		sched_yield();
	tracee_seize(pid);
	assert_ok(trace_registers(pid, &regs));
	assert_int_equal(regs.gpr[X86_RAX], (uint64_t)-EINTR);
	assert_true(procfs_call_notices_stops(regs.orig_rax));
	assert_ok(trace_restart_call(pid));
	assert_ok(trace_continue(pid, 0));
	while (!procfs_notices_stops(pid))
		sched_yield();
	assert_int_equal(write(fds[1], &one, sizeof(one)), sizeof(one));
	stop = tracee_wait(pid);
	assert_int_equal(stop.kind, STOP_EXITED);
	assert_int_equal(stop.status, 0);
	close(fds[0]);
	close(fds[1]);
}

extern const char code_spin[], code_after[], code_exit[];

/* exit(2) with the lower half of rbx; r15 is checked by the parent */
__asm__(".text\n"
	"code_start:\n\t"
	"movabs $0x1122334455667788, %r15\n\t"
	"movl $1, (%rdi)\n"
	"code_spin: jmp code_spin\n"
	"code_after: movl $1, %ebx\n"
	"code_exit: movl %ebx, %edi\n\t"
	"movl $231, %eax\n\t"
	"syscall\n");

static void body_code(void *arg)
{
	(void)arg;
	__asm__ volatile("jmp code_start" : : "D"(&shared->ready));
}

static void registers_are_read_and_written(void **state)
{
	pid_t pid = tracee_fork(body_code, NULL);
	struct x86_registers regs, again;

	(void)state;
	tracee_await(&shared->ready, 1);
	tracee_seize(pid);
	assert_ok(trace_registers(pid, &regs));
	assert_int_equal(regs.gpr[X86_R15], UINT64_C(0x1122334455667788));
	assert_int_equal(regs.rip, (uintptr_t)code_spin);
	assert_int_equal(regs.gpr[X86_RDI], (uintptr_t)&shared->ready);
	assert_int_equal(regs.orig_rax, ~UINT64_C(0));
	for (int i = 0; i < 16; i++)
		regs.gpr[i] += (uint64_t)i + 1;
	assert_ok(trace_set_registers(pid, &regs));
	assert_ok(trace_registers(pid, &again));
	assert_memory_equal(&regs, &again, sizeof(regs));
	regs.gpr[X86_RBX] = 42;
	assert_ok(trace_set_registers(pid, &regs));
	assert_ok(trace_set_rip(pid, (uintptr_t)code_exit));
	assert_ok(trace_registers(pid, &again));
	assert_int_equal(again.rip, (uintptr_t)code_exit);
	assert_int_equal(again.gpr[X86_R15], regs.gpr[X86_R15]);
	tracee_finish(pid, 42);
}

static enum trap_code trap_of(pid_t pid)
{
	struct stop_reason stop = tracee_wait(pid);
	struct trap_info info;

	assert_int_equal(stop.kind, STOP_SIGNAL);
	assert_int_equal(stop.signal, SIGTRAP);
	assert_ok(trace_trap_info(pid, &info));
	return info.code;
}

static void steps_are_told_also_over_a_system_call(void **state)
{
	pid_t pid = tracee_fork(body_code, NULL);
	struct x86_registers regs;

	(void)state;
	tracee_await(&shared->ready, 1);
	tracee_seize(pid);
	assert_ok(trace_registers(pid, &regs));
	regs.rip = (uintptr_t)code_after;
	assert_ok(trace_set_registers(pid, &regs));
	/* movl, movl, and movl: then a system call that does nothing */
	for (int i = 0; i < 3; i++) {
		assert_ok(trace_step(pid, 0));
		assert_int_equal(trap_of(pid), TRAP_CODE_STEP);
	}
	assert_ok(trace_registers(pid, &regs));
	assert_int_equal(regs.gpr[X86_RDI], 1);
	regs.gpr[X86_RAX] = SYS_getppid;
	assert_ok(trace_set_registers(pid, &regs));
	assert_ok(trace_step(pid, 0));
	assert_int_equal(trap_of(pid), TRAP_CODE_STEP);
	assert_ok(trace_registers(pid, &regs));
	assert_int_equal(regs.gpr[X86_RAX], getpid());
	regs.rip = (uintptr_t)code_exit;
	regs.gpr[X86_RBX] = 7;
	assert_ok(trace_set_registers(pid, &regs));
	tracee_finish(pid, 7);
}

static void body_traps(void *arg)
{
	(void)arg;
	tracee_await(&shared->go, 1);
	__asm__ volatile("int3");
	shared->watched = 1;
	raise(SIGTRAP);
}

static void a_trap_says_why(void **state)
{
	pid_t pid;
	uint64_t status;

	(void)state;
	tracee_needs_registers();
	pid = tracee_fork(body_traps, NULL);
	tracee_seize(pid);
	tracee_tell(&shared->go, 1);
	assert_ok(trace_continue(pid, 0));
	assert_int_equal(trap_of(pid), TRAP_CODE_BREAKPOINT);
	/* 8 bytes, written, slot 2 */
	assert_ok(trace_set_debug(pid, 2, (uintptr_t)&shared->watched));
	assert_ok(trace_set_debug(pid, 7, 1u << 4 | 9u << 24));
	assert_ok(trace_continue(pid, 0));
	assert_int_equal(trap_of(pid), TRAP_CODE_WATCH);
	assert_ok(trace_debug(pid, 6, &status));
	assert_int_equal(status & 0xf, 1 << 2);
	assert_ok(trace_debug(pid, 2, &status));
	assert_int_equal(status, (uintptr_t)&shared->watched);
	assert_ok(trace_set_debug(pid, 7, 0));
	assert_ok(trace_continue(pid, 0));
	assert_int_equal(trap_of(pid), TRAP_CODE_OTHER);
	tracee_finish(pid, 0);
}

static void a_signal_is_suppressed_or_delivered(void **state)
{
	struct stop_reason stop;
	pid_t pid = tracee_fork(body_spin, NULL);

	(void)state;
	tracee_await(&shared->ready, 1);
	assert_ok(trace_seize(pid, true));
	for (int i = 0; i < 2; i++) {
		kill(pid, SIGUSR1);
		stop = tracee_wait(pid);
		assert_int_equal(stop.kind, STOP_SIGNAL);
		assert_int_equal(stop.signal, SIGUSR1);
		assert_ok(trace_continue(pid, i == 0 ? 0 : SIGUSR1));
	}
	stop = tracee_wait(pid);
	assert_int_equal(stop.kind, STOP_KILLED);
	assert_int_equal(stop.signal, SIGUSR1);
}

static void a_group_stop_is_kept_until_it_is_continued(void **state)
{
	struct stop_reason stop;
	pid_t pid = tracee_fork(body_spin, NULL);

	(void)state;
	tracee_await(&shared->ready, 1);
	assert_ok(trace_seize(pid, true));
	kill(pid, SIGSTOP);
	assert_int_equal(tracee_wait(pid).kind, STOP_SIGNAL);
	assert_ok(trace_continue(pid, SIGSTOP));
	stop = tracee_wait(pid);
	assert_int_equal(stop.kind, STOP_GROUP);
	assert_int_equal(stop.signal, SIGSTOP);
	assert_ok(trace_listen(pid));
	kill(pid, SIGCONT);
	assert_int_equal(tracee_wait(pid).kind, STOP_INTERRUPTED);
	assert_ok(trace_continue(pid, 0));
	stop = tracee_wait(pid);
	assert_int_equal(stop.signal, SIGCONT);
	tracee_tell(&shared->go, 1);
	tracee_finish(pid, 0);
}

/* Twenty queued signals, and behind them, by choice, a trap of perf. */
static void body_pending(void *arg)
{
	siginfo_t info = { .si_signo = SIGTRAP, .si_code = CODE_PERF };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_SETMASK, &set, NULL);
	for (int i = 0; i < 20; i++)
		syscall(SYS_tgkill, getpid(), getpid(), SIGRTMIN);
	if (arg)
		syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), SIGTRAP,
			&info);
	else
		raise(SIGTRAP);
	body_spin(NULL);
}

static bool pending_in(void *arg)
{
	pid_t pid = tracee_fork(body_pending, arg);
	bool pending;

	tracee_await(&shared->ready, 1);
	tracee_seize(pid);
	assert_ok(trace_trap_pending(pid, &pending));
	tracee_kill(pid);
	tracee_tell(&shared->ready, 0);
	return pending;
}

static void a_queued_trap_of_ours_is_seen(void **state)
{
	(void)state;
	assert_true(pending_in(shared));
	assert_false(pending_in(NULL));
}

static void the_signal_mask_is_read_and_written(void **state)
{
	pid_t pid = tracee_fork(body_spin, NULL);
	uint64_t mask;

	(void)state;
	tracee_await(&shared->ready, 1);
	tracee_seize(pid);
	assert_ok(trace_set_signal_mask(pid, UINT64_C(1) << (SIGUSR1 - 1)));
	assert_ok(trace_signal_mask(pid, &mask));
	assert_int_equal(mask, UINT64_C(1) << (SIGUSR1 - 1));
	kill(pid, SIGUSR1);
	tracee_tell(&shared->go, 1);
	tracee_finish(pid, 0);
}

static void body_births(void *arg)
{
	int status;

	body_spin(arg);
	waitpid(fork(), &status, 0);
}

static void a_birth_tells_the_child(void **state)
{
	pid_t pid = tracee_fork(body_births, NULL);
	struct stop_reason stop;
	unsigned long child;

	(void)state;
	assert_ok(trace_seize(pid, true));
	tracee_tell(&shared->go, 1);
	stop = tracee_wait(pid);
	assert_int_equal(stop.kind, STOP_FORK);
	assert_ok(trace_event_message(pid, &child));
	assert_int_equal(tracee_wait((pid_t)child).kind, STOP_INTERRUPTED);
	assert_ok(trace_detach((pid_t)child, 0));
	assert_ok(trace_continue(pid, 0));
	/* the grandchild's end, as the kernel tells it */
	assert_int_equal(tracee_wait(pid).signal, SIGCHLD);
	tracee_finish(pid, 0);
}

static void poking_a_byte_leaves_its_neighbours(void **state)
{
	static const uint8_t text[] = "0123456789abcdef";
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct x86_registers regs;
	pid_t pid;

	(void)state;
	memcpy(page + 4080, text, 16);
	assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
	pid = tracee_fork(body_code, NULL);
	tracee_await(&shared->ready, 1);
	tracee_seize(pid);
	assert_ok(trace_poke_byte(pid, (uintptr_t)page + 4095, 'X'));
	assert_ok(trace_poke_byte(pid, (uintptr_t)page + 4081, 'Y'));
	/* read back by the tracee's own registers would take code: by ptrace */
	assert_ok(trace_registers(pid, &regs));
	assert_int_equal(page[4095], 'f');
	for (int i = 0; i < 16; i++) {
		char path[64];
		uint8_t byte = 0;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
		file = fopen(path, "r");
		assert_non_null(file);
		fseek(file, (long)(page + 4080 + i), SEEK_SET);
		assert_int_equal(fread(&byte, 1, 1, file), 1);
		fclose(file);
		assert_int_equal(byte, i == 15 ? 'X' : i == 1 ? 'Y' : text[i]);
	}
	tracee_kill(pid);
	munmap(page, 4096);
}

static void every_verb_tells_of_a_thread_that_is_gone(void **state)
{
	struct x86_registers regs = { 0 };
	struct stop_reason stop;
	struct trap_info info;
	unsigned long message;
	uint64_t value;
	bool flag;
	pid_t pid = tracee_fork(body_spin, NULL);

	(void)state;
	tracee_seize(pid);
	/* killed in its stop, not yet waited for, then waited for */
	for (int i = 0; i < 2; i++) {
		if (i == 0)
			kill(pid, SIGKILL);
		else
			assert_int_equal(tracee_wait(pid).kind, STOP_KILLED);
		if (i == 0)
			waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 },
			       WEXITED | WNOWAIT);
		assert_ptr_equal(trace_continue(pid, 0), error_gone);
		assert_ptr_equal(trace_step(pid, 0), error_gone);
		assert_ptr_equal(trace_listen(pid), error_gone);
		assert_ptr_equal(trace_detach(pid, 0), error_gone);
		assert_ptr_equal(trace_registers(pid, &regs), error_gone);
		assert_ptr_equal(trace_set_registers(pid, &regs), error_gone);
		assert_ptr_equal(trace_set_rip(pid, 0), error_gone);
		assert_ptr_equal(trace_emulate(pid, false), error_gone);
		assert_ptr_equal(trace_set_vectors(pid, NULL, 0), error_gone);
		assert_ptr_equal(trace_signal_sent(pid, &flag), error_gone);
		assert_ptr_equal(trace_event_message(pid, &message),
				 error_gone);
		assert_ptr_equal(trace_set_debug(pid, 0, 0), error_gone);
		assert_ptr_equal(trace_debug(pid, 0, &value), error_gone);
		assert_ptr_equal(trace_trap_info(pid, &info), error_gone);
		assert_ptr_equal(trace_trap_pending(pid, &flag), error_gone);
		assert_ptr_equal(trace_signal_mask(pid, &value), error_gone);
		assert_ptr_equal(trace_set_signal_mask(pid, 0), error_gone);
		assert_ptr_equal(trace_poke_byte(pid, 4096, 0), error_gone);
	}
	assert_ptr_equal(trace_seize(pid, false), error_gone);
	assert_ptr_equal(trace_interrupt(pid), error_gone);
	assert_ptr_equal(wait_thread(pid, &stop), error_gone);
	assert_ptr_equal(wait_next(&stop, &flag), error_gone);
}

static void body_asks(void *arg)
{
	(void)arg;
	trace_offer();
	for (;;)
		shared->watched = (uint64_t)syscall(SYS_getppid);
}

static void emulated_calls_are_not_made(void **state)
{
	pid_t pid = tracee_fork(body_asks, NULL);
	struct x86_registers regs = { 0 };
	bool sent = false;

	(void)state;
	assert_int_equal(tracee_wait(pid).signal, SIGTRAP);
	assert_ok(trace_take_scratch(pid));
	for (int i = 0; i < 3; i++) {
		assert_ok(trace_emulate(pid, false));
		assert_int_equal(tracee_wait(pid).signal, TRACE_SYSCALL_SIGNAL);
		assert_ok(trace_registers(pid, &regs));
		assert_int_equal(regs.orig_rax, SYS_getppid);
	}
	/* ENOSYS */
	assert_int_equal(shared->watched, ~UINT64_C(0));
	assert_ok(trace_emulate(pid, true));
	assert_int_equal(tracee_wait(pid).signal, SIGTRAP);
	assert_ok(trace_signal_sent(pid, &sent));
	assert_false(sent);
	kill(pid, SIGUSR1);
	assert_ok(trace_emulate(pid, false));
	assert_int_equal(tracee_wait(pid).signal, SIGUSR1);
	assert_ok(trace_signal_sent(pid, &sent));
	assert_true(sent);
	assert_ok(trace_kill_scratch(pid));
	assert_int_equal(tracee_wait(pid).kind, STOP_KILLED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(seizing_does_not_stop_and_interrupting_does),
		TEST(registers_are_read_and_written),
		TEST(a_call_that_notices_stops_is_begun_anew),
		TEST(steps_are_told_also_over_a_system_call),
		TEST(a_trap_says_why),
		TEST(a_signal_is_suppressed_or_delivered),
		TEST(a_group_stop_is_kept_until_it_is_continued),
		TEST(a_queued_trap_of_ours_is_seen),
		TEST(the_signal_mask_is_read_and_written),
		TEST(a_birth_tells_the_child),
		TEST(poking_a_byte_leaves_its_neighbours),
		TEST(emulated_calls_are_not_made),
		TEST(every_verb_tells_of_a_thread_that_is_gone),
	};

	tracee_lock_registers();
	return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
