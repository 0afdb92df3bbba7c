/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * System calls made in a stopped thread: they do what they should, and the
 * thread does not notice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tracee.h"

#include "sys/mapping.h"
#include "sys/memory.h"
#include "sys/procfs.h"
#include "sys/remote.h"

enum { ACTION = 32, STACK = 4096 };

struct shared {
	uint32_t ready, go;
};

static const uint64_t trap_bit = UINT64_C(1) << (SIGTRAP - 1);

struct remote {
	struct shared *shared;
	pid_t pid;
	struct memory memory;
	uint64_t syscall_address;
	struct x86_registers regs;
	uint64_t mask;
	uint8_t stack[STACK];
};

static void handler(int signal)
{
	(void)signal;
}

static void body(void *arg)
{
	struct shared *shared = arg;
	struct sigaction action = { .sa_handler = handler,
				    .sa_flags = SA_RESTART | SA_NODEFER };

	sigaddset(&action.sa_mask, SIGUSR2);
	sigaction(SIGTRAP, &action, NULL);
	tracee_tell(&shared->ready, 1);
	while (!__atomic_load_n(&shared->go, __ATOMIC_ACQUIRE))
		;
}

static void look(struct remote *remote, struct x86_registers *regs,
		 uint64_t *mask, uint8_t *stack)
{
	size_t size;

	memset(regs, 0, sizeof(*regs));
	assert_ok(trace_registers(remote->pid, regs));
	assert_ok(trace_signal_mask(remote->pid, mask));
	assert_ok(memory_read(&remote->memory, regs->gpr[X86_RSP] - STACK / 2,
			      stack, STACK, &size));
	assert_int_equal(size, STACK);
}

static int setup(void **state)
{
	struct remote *remote = calloc(1, sizeof(*remote));

	remote->shared = tracee_share(sizeof(*remote->shared));
	remote->pid = tracee_fork(body, remote->shared);
	tracee_await(&remote->shared->ready, 1);
	tracee_seize(remote->pid);
	memory_init(&remote->memory, remote->pid);
	assert_ok(remote_syscall_address(&remote->memory,
					 &remote->syscall_address));
	*state = remote;
	return 0;
}

static int teardown(void **state)
{
	struct remote *remote = *state;

	memory_deinit(&remote->memory);
	tracee_kill(remote->pid);
	munmap(remote->shared, sizeof(*remote->shared));
	free(remote);
	return 0;
}

static void assert_unchanged(struct remote *remote)
{
	struct x86_registers regs;
	uint8_t stack[STACK];
	uint64_t mask;

	look(remote, &regs, &mask, stack);
	assert_memory_equal(&regs, &remote->regs, sizeof(regs));
	assert_int_equal(mask, remote->mask);
	assert_memory_equal(stack, remote->stack, STACK);
}

static void action_of(struct remote *remote, const uint8_t *set, uint8_t *old)
{
	assert_ok(remote_sigaction(remote->pid, &remote->memory,
				   remote->syscall_address, SIGTRAP, set, old));
}

static struct thread_status status_of(pid_t pid)
{
	struct thread_status status;

	assert_ok(procfs_status(pid, &status));
	return status;
}

static void the_handler_is_read_and_nothing_changes(void **state)
{
	struct remote *remote = *state;
	uint8_t old[ACTION] = { 0 };
	uint64_t address, flags, mask;

	look(remote, &remote->regs, &remote->mask, remote->stack);
	action_of(remote, NULL, old);
	memcpy(&address, old, 8);
	memcpy(&flags, old + 8, 8);
	memcpy(&mask, old + 24, 8);
	assert_int_equal(address, (uintptr_t)handler);
	assert_int_equal(flags & (SA_RESTART | SA_NODEFER),
			 SA_RESTART | SA_NODEFER);
	assert_int_equal(mask, UINT64_C(1) << (SIGUSR2 - 1));
	assert_unchanged(remote);
	assert_true(status_of(remote->pid).caught & trap_bit);
}

static void set_to(struct remote *remote, void (*what)(int))
{
	uint64_t action[ACTION / 8] = { (uint64_t)(uintptr_t)what };

	look(remote, &remote->regs, &remote->mask, remote->stack);
	action_of(remote, (const uint8_t *)action, NULL);
	assert_unchanged(remote);
}

static void a_disposition_that_is_set_stays(void **state)
{
	struct remote *remote = *state;
	uint8_t old[ACTION];
	uint64_t address;

	action_of(remote, NULL, old);
	set_to(remote, SIG_IGN);
	assert_true(status_of(remote->pid).ignored & trap_bit);
	set_to(remote, SIG_DFL);
	assert_false(status_of(remote->pid).ignored & trap_bit);
	assert_false(status_of(remote->pid).caught & trap_bit);
	action_of(remote, old, NULL);
	assert_true(status_of(remote->pid).caught & trap_bit);
	memset(old, 0, sizeof(old));
	action_of(remote, NULL, old);
	memcpy(&address, old, 8);
	assert_int_equal(address, (uintptr_t)handler);
}

static void it_also_works_with_the_signal_blocked(void **state)
{
	struct remote *remote = *state;

	assert_ok(trace_set_signal_mask(remote->pid, trap_bit));
	set_to(remote, SIG_IGN);
	assert_true(status_of(remote->pid).ignored & trap_bit);
	set_to(remote, handler);
	assert_true(status_of(remote->pid).caught & trap_bit);
	assert_true(status_of(remote->pid).blocked & trap_bit);
}

static void an_error_of_the_call_is_told(void **state)
{
	struct remote *remote = *state;
	uint8_t action[ACTION] = { 0 };
	struct error *err;

	look(remote, &remote->regs, &remote->mask, remote->stack);
	err = remote_sigaction(remote->pid, &remote->memory,
			       remote->syscall_address, SIGKILL, action, NULL);
	assert_non_null(err);
	assert_int_equal(err->code, EINVAL);
	error_free(err);
	assert_unchanged(remote);
}

/* Where nothing is, and not where something is. */
static void memory_is_mapped_where_it_is_asked_for(void **state)
{
	enum { SIZE = 2 * 4096 };
	struct remote *remote = *state;
	/* what is free here is free in the child, which has mapped nothing */
	void *free =
		mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t place = (uintptr_t)free;
	struct mapping mapping = { 0 };
	struct mappings mappings;
	bool found = false;
	struct error *err;

	munmap(free, SIZE);
	look(remote, &remote->regs, &remote->mask, remote->stack);
	assert_ok(remote_map_text(remote->pid, remote->syscall_address, place,
				  SIZE));
	assert_unchanged(remote);
	mappings_init(&mappings, remote->pid);
	assert_ok(mappings_find(&mappings, place, &mapping, &found));
	mappings_deinit(&mappings);
	assert_true(found);
	assert_int_equal(mapping.start, place);
	assert_int_equal(mapping.end, place + SIZE);
	assert_int_equal(mapping.access, MAPPING_READ | MAPPING_EXECUTE);
	assert_int_equal(mapping.inode, 0);
	err = remote_map_text(remote->pid, remote->syscall_address,
			      (uintptr_t)handler & ~UINT64_C(4095), SIZE);
	assert_non_null(err);
	assert_int_equal(err->code, EEXIST);
	error_free(err);
	assert_unchanged(remote);
}

static void signals_that_come_meanwhile_are_not_lost(void **state)
{
	struct remote *remote = *state;
	struct stop_reason stop;

	look(remote, &remote->regs, &remote->mask, remote->stack);
	kill(remote->pid, SIGUSR1);
	assert_ok(trace_interrupt(remote->pid));
	action_of(remote, NULL, (uint8_t[ACTION]){ 0 });
	assert_unchanged(remote);
	assert_ok(trace_continue(remote->pid, 0));
	stop = tracee_wait(remote->pid);
	assert_int_equal(stop.kind, STOP_SIGNAL);
	assert_int_equal(stop.signal, SIGUSR1);
}

static void a_stop_signal_that_comes_meanwhile_is_not_lost(void **state)
{
	struct remote *remote = *state;
	struct stop_reason stop;

	kill(remote->pid, SIGSTOP);
	action_of(remote, NULL, (uint8_t[ACTION]){ 0 });
	assert_ok(trace_continue(remote->pid, 0));
	stop = tracee_wait(remote->pid);
	assert_int_equal(stop.kind, STOP_GROUP);
	assert_int_equal(stop.signal, SIGSTOP);
}

/* Told to go on meanwhile, the process is not to be stopped after all. */
static void a_stop_that_was_ended_meanwhile_is_not_repeated(void **state)
{
	struct remote *remote = *state;
	struct stop_reason stop;

	kill(remote->pid, SIGSTOP);
	action_of(remote, NULL, (uint8_t[ACTION]){ 0 });
	kill(remote->pid, SIGCONT);
	for (int i = 0; i < 4; i++) {
		assert_ok(trace_continue(remote->pid, 0));
		stop = tracee_wait(remote->pid);
		assert_int_not_equal(stop.kind, STOP_GROUP);
		assert_int_not_equal(stop.signal, SIGSTOP);
		if (stop.kind == STOP_SIGNAL && stop.signal == SIGCONT)
			return;
	}
	fail_msg("SIGCONT was lost");
}

static int wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg != NULL;
}

static void a_killed_thread_is_gone(void **state)
{
	struct remote *remote = *state;
	uint8_t old[ACTION];

	kill(remote->pid, SIGKILL);
	assert_ptr_equal(remote_sigaction(remote->pid, &remote->memory,
					  remote->syscall_address, SIGTRAP,
					  NULL, old),
			 error_gone);
}

/* Only another thread lives on, so that no end is told of it. */
static void a_leader_that_has_ended_is_gone(void **state)
{
	struct stop_reason stop;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		static char stack[65536];

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		clone(wait_for_ever, stack + sizeof(stack),
		      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
			      CLONE_THREAD,
		      NULL);
		raise(SIGSTOP);
		syscall(SYS_exit, 0);
	}
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	assert_ok(trace_seize(pid, true));
	kill(pid, SIGCONT);
	while (wait_thread_stop(pid, &stop) != error_gone)
		error_free(trace_continue(
			pid, stop.kind == STOP_SIGNAL ? stop.signal : 0));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, __WALL), pid);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_handler_is_read_and_nothing_changes),
		TEST(a_disposition_that_is_set_stays),
		TEST(it_also_works_with_the_signal_blocked),
		TEST(an_error_of_the_call_is_told),
		TEST(memory_is_mapped_where_it_is_asked_for),
		TEST(signals_that_come_meanwhile_are_not_lost),
		TEST(a_stop_signal_that_comes_meanwhile_is_not_lost),
		TEST(a_stop_that_was_ended_meanwhile_is_not_repeated),
		TEST(a_killed_thread_is_gone),
		cmocka_unit_test(a_leader_that_has_ended_is_gone),
	};

	return cmocka_run_group_tests_name("remote", tests, NULL, NULL);
}
