/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Breakpoints of a recording are passed by copies of their instructions: nobody
 * passes unseen, and the program does not notice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "driven.h"

#include "sys/mapping.h"
#include "tracee/displaced.h"

enum { PAGE = 4096 };

/* Functions with one access each, at their sites. */
extern const char site_relative[], site_divide[], site_string[], site_jump[];
extern const char sequence_abort[];
uint64_t relative_word, sequence_aborts;

__asm__(".pushsection .text\n"
	"do_relative:\n"
	"site_relative: movq %rdi, relative_word(%rip)\n\t"
	"ret\n"
	"do_divide:\n\t"
	"xorl %edx, %edx\n\t"
	"movl $1, %eax\n"
	"site_divide: divl (%rdi)\n\t"
	"ret\n"
	"do_string:\n\t"
	"movq %rdx, %rcx\n"
	"site_string: rep movsb\n\t"
	"ret\n"
	"do_jump:\n\t"
	"leaq 1f(%rip), %rax\n\t"
	"movq %rax, (%rdi)\n"
	"site_jump: jmp *(%rdi)\n"
	"1: ret\n"
	/* the kernel demands the number before it: RSEQ_SIG */
	".long 0x53053053\n"
	"sequence_abort:\n\t"
	"incq sequence_aborts(%rip)\n\t"
	"jmp site_write\n\t"
	".popsection\n");

void do_relative(uint64_t value);
void do_divide(volatile uint32_t *divisor);
void do_string(volatile void *to, const volatile void *from, size_t size);
void do_jump(volatile uint64_t *target);

static int hits;

/* Counts executions: as a recording does. */
static bool count_hit(struct thread *thread, const struct x86_registers *regs,
		      void *data)
{
	hits += !displaced_again(thread, regs);
	assert_int_equal(regs->rip, *(const uint64_t *)data);
	return true;
}

/* One of a recording, which stays. */
static struct breakpoint *arm(struct driven *driven, const char *label)
{
	struct wire_site site = site_at(label, 1);
	struct breakpoint *breakpoint;

	site.record = 1;
	breakpoint = driven_arm(driven, &site);
	breakpoint->policy = BREAKPOINT_PERSISTENT;
	breakpoint->predicate = count_hit;
	breakpoint->predicate_data = &breakpoint->site.address;
	hits = 0;
	return breakpoint;
}

static struct driven *start(lane_work *work, int lanes, void (*prepare)(void))
{
	lane_work *const all[] = { work, work, work };

	driven_plan(all, lanes);
	child_plan.prepare = prepare;
	return driven_start(&watch_by_value);
}

static const struct thread *lane_thread(const struct driven *driven, int i)
{
	return tracees_thread(&driven->engine.core.tracees,
			      child_plan.arena->lanes[i].tid);
}

static struct addrspace *space_of(const struct driven *driven)
{
	return tracees_process(&driven->engine.core.tracees, driven->pid)
		->space;
}

/* Returns the signal. */
static int await_stop(pid_t tid)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)tid, &info,
				WSTOPPED | WNOWAIT | __WALL),
			 0);
	return info.si_status;
}

/* The lane meets the breakpoint and is resumed. What it does then is not handled. */
static void pass_halfway(struct driven *driven, int lane)
{
	lane_start(lane, 1);
	await_stop(child_plan.arena->lanes[lane].tid);
	assert_true(driven_event(driven));
}

/* Two passes: the first maps the memory and writes the copy. */
static void pass_once(struct driven *driven, int lane)
{
	lane_start(lane, 1);
	driven_until(driven, lane_idle(lane));
}

static void work_write(struct arena *arena, struct lane *lane)
{
	do_write(&arena->data[lane - arena->lanes], lane->done + 1);
}

/* One thread is past its stop, and nothing was seen of it since: the next stops. */
static void nobody_passes_while_another_does(void **state)
{
	struct driven *driven = start(work_write, 2, NULL);
	struct breakpoint *breakpoint = arm(driven, site_write);

	(void)state;
	for (int i = 0; i < 20; i++) {
		pass_halfway(driven, i % 2);
		assert_true(breakpoint->armed);
		assert_int_equal(lane_thread(driven, i % 2)->displaced.state,
				 DISPLACED_AWAY);
		lane_start(1 - i % 2, 1);
		await_stop(child_plan.arena->lanes[1 - i % 2].tid);
		driven_until(driven, lane_idle(0) && lane_idle(1));
		assert_int_equal(hits, 2 * (i + 1));
	}
	assert_int_equal(child_plan.arena->data[0], 20);
	assert_int_equal(child_plan.arena->data[1], 20);
	/* one memory for all, and one copy */
	assert_int_equal(space_of(driven)->displaced.areas.count, 1);
	assert_int_equal(((struct displaced_area *)vec_at(
				  &space_of(driven)->displaced.areas, 0))
				 ->used,
			 1);
	driven_end(driven);
}

static void all_are_seen_together(void **state)
{
	enum { PASSES = 300 };
	struct driven *driven = start(work_write, 3, NULL);
	const struct breakpoint *breakpoint = arm(driven, site_write);

	(void)state;
	for (int i = 0; i < 3; i++)
		lane_start(i, PASSES);
	driven_until(driven, lane_idle(0) && lane_idle(1) && lane_idle(2));
	assert_int_equal(hits, 3 * PASSES);
	for (int i = 0; i < 3; i++)
		assert_int_equal(child_plan.arena->data[i], PASSES);
	assert_true(breakpoint->armed);
	assert_int_equal(driven->note_count, 0);
	driven_end(driven);
}

static void work_relative(struct arena *arena, struct lane *lane)
{
	do_relative(lane->done + 7);
	arena->data[0] = relative_word;
}

static void an_operand_relative_to_rip_is_the_same(void **state)
{
	struct driven *driven = start(work_relative, 1, NULL);

	(void)state;
	arm(driven, site_relative);
	pass_once(driven, 0);
	assert_int_equal(child_plan.arena->data[0], 7);
	pass_halfway(driven, 0);
	assert_int_equal(lane_thread(driven, 0)->displaced.state,
			 DISPLACED_AWAY);
	driven_until(driven, lane_idle(0));
	assert_int_equal(child_plan.arena->data[0], 8);
	assert_int_equal(hits, 2);
	driven_end(driven);
}

/* The first byte is of the stack: three iterations are three hits, as without. */
static void work_string(struct arena *arena, struct lane *lane)
{
	(void)lane;
	do_string(&arena->data[1], &arena->data[0], 3);
}

static void each_iteration_of_a_string_is_a_hit(void **state)
{
	struct driven *driven = start(work_string, 1, NULL);
	struct breakpoint *breakpoint;
	struct wire_site site;

	(void)state;
	child_plan.arena->data[0] = 0x44332211;
	/* it has two operands */
	site = (struct wire_site){ .id = 1, .address = (uintptr_t)site_string };
	site.record = 1;
	site.insn.length = 2;
	site.insn.rep = X86_REP;
	memcpy(site.bytes, site_string, site.insn.length);
	breakpoint = driven_arm(driven, &site);
	breakpoint->policy = BREAKPOINT_PERSISTENT;
	breakpoint->predicate = count_hit;
	breakpoint->predicate_data = &breakpoint->site.address;
	hits = 0;
	pass_halfway(driven, 0);
	assert_true(breakpoint->armed);
	driven_until(driven, lane_idle(0));
	assert_int_equal(child_plan.arena->data[1], 0x332211);
	/* the last leaves the instruction or not, as the processor has it */
	assert_in_range(hits, 3, 4);
	driven_end(driven);
}

static void work_jump(struct arena *arena, struct lane *lane)
{
	(void)lane;
	do_jump(&arena->data[0]);
}

/* As ever: lifted for the one. */
static void a_jump_is_stepped_over(void **state)
{
	struct driven *driven = start(work_jump, 1, NULL);
	struct breakpoint *breakpoint = arm(driven, site_jump);

	(void)state;
	pass_halfway(driven, 0);
	assert_false(breakpoint->armed);
	driven_until(driven, lane_idle(0));
	assert_true(breakpoint->armed);
	assert_int_equal(hits, 1);
	assert_int_equal(space_of(driven)->displaced.areas.count, 0);
	driven_end(driven);
}

/* What a handler sees: told by the child. */
enum { SEEN_RIP = 16, SEEN_ADDRESS, SEEN_COUNT };

static void on_signal(int signal, siginfo_t *info, void *context)
{
	ucontext_t *at = context;
	uint64_t *seen = child_plan.arena->data;

	seen[SEEN_RIP] = (uint64_t)at->uc_mcontext.gregs[REG_RIP];
	seen[SEEN_ADDRESS] = (uint64_t)(uintptr_t)info->si_addr;
	if (signal == SIGSEGV)
		mprotect(info->si_addr, PAGE, PROT_READ | PROT_WRITE);
	if (signal == SIGFPE)
		at->uc_mcontext.gregs[REG_RIP] += 2;
	__atomic_add_fetch(&seen[SEEN_COUNT], 1, __ATOMIC_RELEASE);
}

static void prepare_handlers(void)
{
	struct sigaction action = { .sa_sigaction = on_signal,
				    .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGFPE, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
}

static void work_fault(struct arena *arena, struct lane *lane)
{
	uint64_t *page =
		mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	lane->result = (uintptr_t)page;
	do_write(page, 5);
	arena->data[0] = *page;
}

/* Before and after the copy was written. */
static void a_handler_of_a_fault_sees_the_original(void **state)
{
	struct driven *driven = start(work_fault, 1, prepare_handlers);
	const uint64_t *seen = child_plan.arena->data;

	(void)state;
	arm(driven, site_write);
	for (uint64_t i = 1; i <= 2; i++) {
		pass_once(driven, 0);
		assert_int_equal(seen[SEEN_COUNT], i);
		assert_int_equal(seen[SEEN_RIP], (uintptr_t)site_write);
		assert_int_equal(seen[SEEN_ADDRESS],
				 child_plan.arena->lanes[0].result);
		assert_int_equal(seen[0], 5);
		/* the fault, and again when it is executed */
		assert_int_equal(hits, 2 * i);
	}
	driven_end(driven);
}

static void work_divide(struct arena *arena, struct lane *lane)
{
	(void)lane;
	do_divide((volatile uint32_t *)&arena->data[3]);
}

/* The signal tells where the instruction is. */
static void a_signal_names_the_original(void **state)
{
	struct driven *driven = start(work_divide, 1, prepare_handlers);
	const uint64_t *seen = child_plan.arena->data;

	(void)state;
	arm(driven, site_divide);
	for (uint64_t i = 1; i <= 2; i++) {
		pass_once(driven, 0);
		assert_int_equal(seen[SEEN_COUNT], i);
		assert_int_equal(seen[SEEN_RIP], (uintptr_t)site_divide);
		assert_int_equal(seen[SEEN_ADDRESS], (uintptr_t)site_divide);
		assert_int_equal(hits, i);
	}
	driven_end(driven);
}

/* It comes when the thread is at the copy; the execution is still one. */
static void a_signal_in_between_is_not_a_second_execution(void **state)
{
	struct driven *driven = start(work_write, 2, prepare_handlers);
	const uint64_t *seen = child_plan.arena->data;

	(void)state;
	arm(driven, site_write);
	for (uint64_t i = 1; i <= 20; i++) {
		pid_t tid = child_plan.arena->lanes[1].tid;

		lane_start(1, 1);
		await_stop(tid);
		assert_int_equal(syscall(SYS_tgkill, driven->pid, tid, SIGUSR1),
				 0);
		driven_until(driven, lane_idle(1) && seen[SEEN_COUNT] == i);
		assert_int_equal(seen[SEEN_RIP], (uintptr_t)site_write);
		assert_int_equal(seen[1], i);
		assert_int_equal(hits, i);
	}
	driven_end(driven);
}

/* Whoever gets a signal at each hit executes the instruction all the same. */
static void signals_at_each_hit_do_not_hold_it_up(void **state)
{
	struct driven *driven = start(work_write, 2, prepare_handlers);
	const uint64_t *seen = child_plan.arena->data;
	pid_t tid = child_plan.arena->lanes[1].tid;
	int stops = 0;

	(void)state;
	arm(driven, site_write);
	lane_start(1, 1);
	while (seen[1] != 1 && stops++ < 100) {
		if (await_stop(tid) == SIGTRAP)
			assert_int_equal(syscall(SYS_tgkill, driven->pid, tid,
						 SIGUSR1),
					 0);
		assert_true(driven_event(driven));
	}
	assert_int_equal(seen[1], 1);
	driven_until(driven, lane_idle(1));
	driven_end(driven);
}

/* A stop has no handler: the thread goes on where it was. */
static void a_stop_in_between_is_none_either(void **state)
{
	struct driven *driven = start(work_write, 2, NULL);
	pid_t tid = child_plan.arena->lanes[1].tid;

	(void)state;
	arm(driven, site_write);
	lane_start(1, 1);
	await_stop(tid);
	assert_int_equal(syscall(SYS_tgkill, driven->pid, tid, SIGSTOP), 0);
	driven_until(driven, lane_thread(driven, 1)->state == THREAD_LISTENING);
	assert_int_equal(child_plan.arena->data[1], 0);
	assert_int_equal(kill(driven->pid, SIGCONT), 0);
	driven_until(driven, lane_idle(1));
	assert_int_equal(child_plan.arena->data[1], 1);
	assert_int_equal(hits, 1);
	driven_end(driven);
}

static void letting_go_leaves_nobody_there(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		struct driven *driven = start(work_write, 3, NULL);

		arm(driven, site_write);
		pass_once(driven, 0);
		for (int j = 0; j < 3; j++)
			lane_start(j, 100);
		pass_halfway(driven, 0);
		driven_release(driven);
		for (int j = 0; j < 3; j++) {
			const struct lane *lane = &child_plan.arena->lanes[j];

			tracee_await(&lane->done, lane->todo);
			assert_int_equal(child_plan.arena->data[j], lane->todo);
		}
		driven_end(driven);
	}
}

/* A filter that kills whoever calls mmap(2). */
static void prepare_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {
		.len = sizeof(code) / sizeof(code[0]),
		.filter = code,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0)
		_exit(1);
}

static void a_program_with_a_filter_is_left_alone(void **state)
{
	struct driven *driven = start(work_write, 1, prepare_filter);
	struct breakpoint *breakpoint = arm(driven, site_write);

	(void)state;
	for (int i = 1; i <= 3; i++) {
		pass_halfway(driven, 0);
		assert_false(breakpoint->armed);
		driven_until(driven, lane_idle(0));
		assert_int_equal(hits, i);
		assert_int_equal(child_plan.arena->data[0], i);
	}
	assert_true(breakpoint->armed);
	assert_int_equal(driven->note_count, 1);
	driven_end(driven);
}

static void work_limited(struct arena *arena, struct lane *lane)
{
	struct rlimit limit = { 0 };

	setrlimit(RLIMIT_AS, &limit);
	work_write(arena, lane);
}

static void a_program_without_room_is_told(void **state)
{
	struct driven *driven = start(work_limited, 1, NULL);

	(void)state;
	arm(driven, site_write);
	for (int i = 1; i <= 3; i++) {
		pass_once(driven, 0);
		assert_int_equal(hits, i);
		assert_int_equal(child_plan.arena->data[0], i);
	}
	assert_int_equal(driven->note_count, 1);
	driven_end(driven);
}

enum { STACK = 16 * PAGE, STACK_GROWN = 512 * PAGE };

/* A stack that the kernel enlarges, just below the program; then it is used. */
static void work_stack(struct arena *arena, struct lane *lane)
{
	extern const char __executable_start;
	const char *end = &__executable_start - STACK;
	volatile char *stack = (volatile char *)(uintptr_t)end;

	if (lane->done == 0 &&
	    mmap((void *)stack, STACK, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN |
			 MAP_FIXED_NOREPLACE,
		 -1, 0) != stack)
		_exit(1);
	work_write(arena, lane);
	for (int i = PAGE; lane->done > 0 && i <= STACK_GROWN; i += PAGE)
		stack[-i] = 1;
}

static void prepare_stack(void)
{
	struct rlimit limit = { .rlim_cur = 8 << 20, .rlim_max = 8 << 20 };

	if (setrlimit(RLIMIT_STACK, &limit) != 0)
		_exit(1);
}

static void a_stack_below_the_program_can_grow(void **state)
{
	struct driven *driven = start(work_stack, 1, prepare_stack);

	(void)state;
	arm(driven, site_write);
	pass_once(driven, 0);
	assert_int_equal(space_of(driven)->displaced.areas.count, 1);
	pass_once(driven, 0);
	assert_int_equal(child_plan.arena->data[0], 2);
	driven_end(driven);
}

/* Something else is where the copy was. */
static void work_replace(struct arena *arena, struct lane *lane)
{
	void *place = (void *)(uintptr_t)arena->data[9];

	if (place &&
	    mmap(place, PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != place)
		_exit(1);
	work_write(arena, lane);
}

static void what_the_program_has_mapped_is_not_executed(void **state)
{
	struct driven *driven = start(work_replace, 1, NULL);
	struct breakpoint *breakpoint = arm(driven, site_write);
	const struct displaced_area *area;

	(void)state;
	pass_once(driven, 0);
	area = vec_at(&space_of(driven)->displaced.areas, 0);
	child_plan.arena->data[9] = area->start;
	for (int i = 2; i < 5; i++) {
		pass_halfway(driven, 0);
		assert_false(breakpoint->armed);
		driven_until(driven, lane_idle(0));
		assert_int_equal(hits, i);
		assert_int_equal(child_plan.arena->data[0], i);
	}
	assert_int_equal(driven->note_count, 1);
	driven_end(driven);
}

/* As when another library is loaded there: the memory is ours still. */
static void what_is_no_copy_any_more_is_written_anew(void **state)
{
	static const uint8_t other[] = { 0x0f, 0x0b, 0x0f, 0x0b };
	struct driven *driven = start(work_write, 1, NULL);
	struct breakpoint *breakpoint = arm(driven, site_write);
	const struct displaced_area *area;

	(void)state;
	pass_once(driven, 0);
	area = vec_at(&space_of(driven)->displaced.areas, 0);
	assert_ok(memory_write_text(&driven->memory, 0, area->start, other,
				    sizeof(other)));
	for (int i = 2; i < 5; i++) {
		pass_halfway(driven, 0);
		assert_true(breakpoint->armed);
		driven_until(driven, lane_idle(0));
		assert_int_equal(hits, i);
		assert_int_equal(child_plan.arena->data[0], i);
	}
	assert_int_equal(area->used, 1);
	driven_end(driven);
}

/* What another thread may be executing stays. */
static void a_copy_in_use_is_not_written(void **state)
{
	static const uint8_t other[] = { 0x0f, 0x0b };
	struct driven *driven = start(work_write, 2, NULL);
	struct breakpoint *breakpoint = arm(driven, site_write);
	const struct displaced_area *area;
	uint8_t byte = 0;
	size_t size;

	(void)state;
	pass_once(driven, 0);
	area = vec_at(&space_of(driven)->displaced.areas, 0);
	pass_halfway(driven, 0);
	/* behind the instruction and the jump */
	assert_ok(memory_write_text(&driven->memory, 0, area->start + 16, other,
				    sizeof(other)));
	pass_halfway(driven, 1);
	assert_true(breakpoint->armed);
	assert_ok(memory_read(&driven->memory, area->start + 16, &byte, 1,
			      &size));
	assert_int_equal(byte, other[0]);
	assert_int_equal(area->used, 2);
	driven_until(driven, lane_idle(0) && lane_idle(1));
	assert_int_equal(hits, 3);
	assert_int_equal(child_plan.arena->data[1], 1);
	driven_end(driven);
}

static void work_processes(struct arena *arena, struct lane *lane)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		do_write(&arena->data[4], lane->done + 1);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	lane->result = (uint64_t)status;
	pid = vfork();
	if (pid == 0) {
		do_write(&arena->data[5], lane->done + 1);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	lane->result += (uint64_t)status;
	work_write(arena, lane);
}

/* A copy of the memory has no breakpoint; a child in the same memory meets it. */
static void children_do_what_they_should(void **state)
{
	struct driven *driven = start(work_processes, 1, NULL);

	(void)state;
	arm(driven, site_write);
	for (int i = 1; i <= 5; i++) {
		pass_once(driven, 0);
		assert_int_equal(child_plan.arena->lanes[0].result, 0);
		assert_int_equal(child_plan.arena->data[4], i);
		assert_int_equal(child_plan.arena->data[5], i);
		assert_int_equal(child_plan.arena->data[0], i);
		assert_int_equal(hits, 2 * i);
	}
	driven_end(driven);
}

/* The kernel's struct rseq_cs: a sequence that holds site_write. */
static struct {
	uint32_t version, flags;
	uint64_t start, size, abort;
} __attribute__((aligned(32))) sequence;

static void work_sequence(struct arena *arena, struct lane *lane)
{
	struct rseq *rseq = (struct rseq *)((char *)__builtin_thread_pointer() +
					    __rseq_offset);

	sequence.start = (uintptr_t)site_write;
	sequence.size = 3;
	sequence.abort = (uintptr_t)sequence_abort;
	__atomic_store_n((uint64_t *)&rseq->rseq_cs, (uintptr_t)&sequence,
			 __ATOMIC_RELEASE);
	work_write(arena, lane);
	lane->result = sequence_aborts;
}

/* The kernel begins it anew: there, and not at a copy that it does not know. */
static void a_restartable_sequence_is_not_left(void **state)
{
	struct driven *driven;

	(void)state;
	if (__rseq_size == 0)
		skip();
	driven = start(work_sequence, 1, NULL);
	arm(driven, site_write);
	pass_halfway(driven, 0);
	assert_int_equal(lane_thread(driven, 0)->displaced.state,
			 DISPLACED_NOT);
	driven_until(driven, lane_idle(0));
	assert_int_equal(child_plan.arena->lanes[0].result, 1);
	assert_int_equal(child_plan.arena->data[0], 1);
	driven_end(driven);
}

static void work_begin_sequence(struct arena *arena, struct lane *lane)
{
	volatile uint64_t *place =
		(void *)((char *)__builtin_thread_pointer() + __rseq_offset +
			 offsetof(struct rseq, rseq_cs));

	(void)arena;
	(void)lane;
	do_write(place, 0);
}

/* The kernel would forget one that is begun at a copy. */
static void what_begins_a_sequence_has_no_copy(void **state)
{
	struct driven *driven;

	(void)state;
	if (__rseq_size == 0)
		skip();
	driven = start(work_begin_sequence, 1, NULL);
	arm(driven, site_write);
	pass_halfway(driven, 0);
	assert_int_equal(lane_thread(driven, 0)->displaced.state,
			 DISPLACED_NOT);
	driven_until(driven, lane_idle(0));
	driven_end(driven);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_passes_while_another_does),
		cmocka_unit_test(all_are_seen_together),
		cmocka_unit_test(an_operand_relative_to_rip_is_the_same),
		cmocka_unit_test(each_iteration_of_a_string_is_a_hit),
		cmocka_unit_test(a_jump_is_stepped_over),
		cmocka_unit_test(a_handler_of_a_fault_sees_the_original),
		cmocka_unit_test(a_signal_names_the_original),
		cmocka_unit_test(a_signal_in_between_is_not_a_second_execution),
		cmocka_unit_test(signals_at_each_hit_do_not_hold_it_up),
		cmocka_unit_test(a_stop_in_between_is_none_either),
		cmocka_unit_test(letting_go_leaves_nobody_there),
		cmocka_unit_test(a_program_with_a_filter_is_left_alone),
		cmocka_unit_test(a_program_without_room_is_told),
		cmocka_unit_test(a_stack_below_the_program_can_grow),
		cmocka_unit_test(what_the_program_has_mapped_is_not_executed),
		cmocka_unit_test(what_is_no_copy_any_more_is_written_anew),
		cmocka_unit_test(a_copy_in_use_is_not_written),
		cmocka_unit_test(children_do_what_they_should),
		cmocka_unit_test(a_restartable_sequence_is_not_left),
		cmocka_unit_test(what_begins_a_sequence_has_no_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
