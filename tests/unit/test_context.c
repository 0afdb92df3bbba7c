/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All registers of a thread, out of it and into another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tracee.h"

#include <sched.h>
#include <sys/syscall.h>

#include "replay/context.h"

/* int3 with known registers, then for ever. */
static void body(void *arg)
{
	(void)arg;
	__asm__ volatile("mov $0x1122334455667788, %%rbx\n"
			 "movq %%rbx, %%xmm5\n"
			 "int3\n"
			 "1: jmp 1b"
			 :
			 :
			 : "rbx", "xmm5", "memory");
}

static void idle(void *arg)
{
	(void)arg;
	for (;;)
		pause();
}

static void they_go_from_one_thread_to_another(void **state)
{
	static struct replay_context from, there, back;
	static struct replay_held held;
	pid_t source = tracee_fork(idle, NULL), other = tracee_fork(idle, NULL);

	(void)state;
	tracee_seize(source);
	tracee_seize(other);
	assert_ok(replay_context_read(source, &from));
	/* it is not to make its system call anew, nor to step */
	from.regs.rip = (uintptr_t)body;
	from.regs.rflags |= 0x100;
	assert_ok(replay_context_write(other, &from, &held));
	assert_ok(trace_continue(other, 0));
	assert_int_equal(tracee_wait(other).signal, SIGTRAP);
	assert_ok(replay_context_read(other, &there));
	assert_int_equal(there.regs.gpr[X86_RBX], 0x1122334455667788);
	assert_int_equal(there.vectors_size, from.vectors_size);
	/* XSAVE's legacy area: xmm0 at byte 160 */
	assert_memory_equal(there.vectors + 160 + 5 * 16,
			    "\x88\x77\x66\x55\x44\x33\x22\x11", 8);
	/* what that one has was not said: it is written */
	memset(&held, 0, sizeof(held));
	assert_ok(replay_context_write(source, &there, &held));
	assert_ok(replay_context_read(source, &back));
	assert_memory_equal(back.regs.gpr, there.regs.gpr,
			    sizeof(back.regs.gpr));
	assert_int_equal(back.regs.rip, there.regs.rip);
	assert_int_equal(back.regs.fs_base, there.regs.fs_base);
	assert_memory_equal(back.vectors, there.vectors, back.vectors_size);
	tracee_kill(source);
	tracee_kill(other);
}

/* What is held is not written, and what differs from it is. */
static void what_is_there_is_not_written(void **state)
{
	static struct replay_context context, back;
	static struct replay_held held;
	pid_t pid = tracee_fork(idle, NULL);
	uint64_t rbx;

	(void)state;
	tracee_seize(pid);
	assert_ok(replay_context_read(pid, &context));
	assert_ok(replay_context_read_vectors(pid, &context, &held));
	context.regs.orig_rax = ~UINT64_C(0);
	rbx = context.regs.gpr[X86_RBX];
	context.regs.gpr[X86_RBX] = rbx + 1;
	held.regs = context.regs;
	held.known = true;
	assert_ok(replay_context_write(pid, &context, &held));
	assert_false(held.known);
	assert_ok(replay_context_read(pid, &back));
	assert_int_equal(back.regs.gpr[X86_RBX], rbx);
	/* it is not known any more */
	assert_ok(replay_context_write(pid, &context, &held));
	assert_ok(replay_context_read(pid, &back));
	assert_int_equal(back.regs.gpr[X86_RBX], rbx + 1);
	tracee_kill(pid);
}

enum { TILES_UNKNOWN, TILES_USED, TILES_REFUSED };

/* Configures its tiles, where the kernel lets it, and says which. */
static void use_tiles(void *arg)
{
	static const struct {
		uint8_t palette, rest[63];
	} configuration = { .palette = 1 };
	uint32_t *told = arg;

	if (syscall(SYS_arch_prctl, 0x1023 /* ARCH_REQ_XCOMP_PERM */, 18)) {
		tracee_tell(told, TILES_REFUSED);
		return;
	}
	__asm__ volatile("ldtilecfg %0\n\t"
			 "movl %2, %1\n"
			 "1: jmp 1b"
			 :
			 : "m"(configuration), "m"(*told), "i"(TILES_USED)
			 : "memory");
}

static void a_thread_that_uses_tiles_is_refused(void **state)
{
	static struct replay_context context;
	uint32_t *told = tracee_share(sizeof(*told));
	pid_t pid = tracee_fork(use_tiles, told);
	struct error *err;

	(void)state;
	while (__atomic_load_n(told, __ATOMIC_ACQUIRE) == TILES_UNKNOWN)
		sched_yield();
	if (*told == TILES_REFUSED) {
		waitpid(pid, NULL, 0);
		skip();
	}
	tracee_seize(pid);
	err = replay_context_read(pid, &context);
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_UNSUPPORTED);
	error_free(err);
	tracee_kill(pid);
}

static void a_thread_that_is_gone_is_told(void **state)
{
	static struct replay_context context;
	static struct replay_held held;
	pid_t pid = tracee_fork(idle, NULL);

	(void)state;
	tracee_kill(pid);
	assert_ptr_equal(replay_context_read(pid, &context), error_gone);
	assert_ptr_equal(replay_context_write(pid, &context, &held),
			 error_gone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_go_from_one_thread_to_another),
		cmocka_unit_test(what_is_there_is_not_written),
		cmocka_unit_test(a_thread_that_uses_tiles_is_refused),
		cmocka_unit_test(a_thread_that_is_gone_is_told),
	};

	alarm(TRACEE_TEST_SECONDS);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
