/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread in the virtual processor: where its region ends, and by what name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "replay-pair.h"
#include "replay/processor-parts.h"

enum { PAGE = 4096 };

static struct {
	uint64_t words[32];
	uint8_t from[300], to[300];
} data __attribute__((aligned(PAGE)));

static const uint64_t constant[PAGE / 8] __attribute__((aligned(PAGE))) = { 1 };

PAIR_REGION(region_nothing, "ret");
PAIR_REGION(region_time, "rdtsc\n"
			 "mov %rax, (%rdi)\n"
			 "ret");
PAIR_REGION(region_time_and_cpu, "rdtscp\n"
				 "ret");
PAIR_REGION(region_spin, "1: jmp 1b");
PAIR_REGION(region_null, "mov 0x18, %eax\n"
			 "ret");
PAIR_REGION(region_unmapped, "movabs $0x123456789000, %rax\n"
			     "mov 8(%rax), %eax\n"
			     "ret");
PAIR_REGION(region_far, "movabs $0x8000000000000000, %rax\n"
			"mov (%rax), %eax\n"
			"ret");
PAIR_REGION(region_write_constant, "movl $1, (%rdi)\n"
				   "ret");
PAIR_REGION(region_jump_to_data, "movb $0xc3, (%rdi)\n"
				 "call *%rdi\n"
				 "ret");
PAIR_REGION(region_divide, "xor %ecx, %ecx\n"
			   "xor %edx, %edx\n"
			   "div %ecx\n"
			   "ret");
PAIR_REGION(region_undefined, "ud2");
PAIR_REGION(region_own_trap, "int3\n"
			     "ret");
/* five calls of itself, from one call site but for the first */
PAIR_REGION(region_descend, "jmp 2f\n"
			    "1: dec %edx\n"
			    "jz 3f\n"
			    "call 1b\n"
			    "incl (%rdi)\n"
			    "3: ret\n"
			    "2: mov $5, %edx\n"
			    "call 1b\n"
			    "ret");
PAIR_REGION(region_vectors, "vmovdqu %ymm7, (%rdi)\n"
			    "vpaddq %ymm7, %ymm7, %ymm8\n"
			    "ret");
PAIR_REGION(region_wide, "vmovdqu64 %zmm17, (%rdi)\n"
			 "ret");
PAIR_REGION(region_bases, "mov %fs:0, %rax\n"
			  "mov %rax, (%rdi)\n"
			  "ret");
PAIR_REGION(region_copy, "mov $300, %ecx\n"
			 "lea 256(%rdi), %rsi\n"
			 "lea 556(%rdi), %rdi\n"
			 "rep movsb\n"
			 "ret");
PAIR_REGION(region_patched, "nop\n"
			    "incl (%rdi)\n"
			    "ret");
PAIR_REGION(region_deep, "sub $40000, %rsp\n"
			 "movl $1, (%rsp)\n"
			 "mov (%rsp), %eax\n"
			 "add $40000, %rsp\n"
			 "mov %eax, (%rdi)\n"
			 "ret");

static const struct replay_step first[] = { { 0, REPLAY_REST } };

/* Run the first thread's region alone. */
static void run_first(struct pair *pair, pair_function *function, void *arg)
{
	pair_start(pair, function, arg, region_nothing, &data);
	pair_run(pair, first, 1, &pair->ab);
}

static void assert_stopped(const struct pair *pair, enum replay_stop_kind kind)
{
	assert_string_equal(replay_stop_name(pair->ab.stop.kind),
			    replay_stop_name(kind));
}

static void assert_faulted(const struct pair *pair, uint64_t address)
{
	assert_stopped(pair, REPLAY_SIGNAL);
	assert_int_equal(pair->ab.stop.signal, SIGSEGV);
	assert_true(pair->ab.stop.has_address);
	assert_int_equal(pair->ab.stop.address, address);
}

static void the_clock_is_not_read(void **state)
{
	run_first(*state, region_time, &data);
	assert_stopped(*state, REPLAY_TIME_STAMP);
	pair_stop(*state);
	run_first(*state, region_time_and_cpu, &data);
	assert_stopped(*state, REPLAY_TIME_STAMP);
	pair_stop(*state);
}

static void an_endless_loop_is_ended(void **state)
{
	run_first(*state, region_spin, &data);
	assert_stopped(*state, REPLAY_LIMIT);
	/* and is as good as before for the next */
	assert_ok(orders_run(((struct pair *)*state)->processor, first, 1,
			     &((struct pair *)*state)->ba));
	assert_int_equal(((struct pair *)*state)->ba.stop.kind, REPLAY_LIMIT);
	pair_stop(*state);
}

static void where_nothing_is_mapped_it_faults(void **state)
{
	struct pair *pair = *state;

	run_first(pair, region_null, &data);
	assert_faulted(pair, 0x18);
	pair_stop(pair);
	run_first(pair, region_far, &data);
	assert_stopped(pair, REPLAY_SIGNAL);
	assert_int_equal(pair->ab.stop.signal, SIGSEGV);
	assert_false(pair->ab.stop.has_address);
	pair_stop(pair);
}

/* What is not mapped now may have been when the threads were held. */
static void a_page_that_is_gone_is_asked_for_before_it_faults(void **state)
{
	struct pair *pair = *state;
	struct replay_instance instance;

	pair_start(pair, region_unmapped, &data, region_nothing, &data);
	instance = pair_instance(pair);
	pair_capture(pair, &instance);
	assert_ok(orders_run(pair->processor, first, 1, &pair->ab));
	assert_stopped(pair, REPLAY_LEARNING);
	pair_capture(pair, &instance);
	assert_ok(orders_run(pair->processor, first, 1, &pair->ab));
	assert_faulted(pair, 0x123456789008);
	pair_stop(pair);
}

static void what_forbids_an_access_faults(void **state)
{
	run_first(*state, region_write_constant, (void *)(uintptr_t)constant);
	assert_faulted(*state, (uintptr_t)constant);
	pair_stop(*state);
	/* what is written is data, and never code */
	run_first(*state, region_jump_to_data, &data);
	assert_faulted(*state, (uintptr_t)&data);
	pair_stop(*state);
}

static void signals_of_instructions_are_told(void **state)
{
	static const struct {
		pair_function *function;
		int signal;
	} all[] = {
		{ region_divide, SIGFPE },
		{ region_undefined, SIGILL },
		{ region_own_trap, SIGTRAP },
	};
	struct pair *pair = *state;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		run_first(pair, all[i].function, &data);
		assert_stopped(pair, REPLAY_SIGNAL);
		assert_int_equal(pair->ab.stop.signal, all[i].signal);
		pair_stop(pair);
	}
}

/* Step to the second call of itself, and make that the instance. */
static void to_second_call(struct pair *pair)
{
	pid_t tid = (pid_t)pair->shared->tids[0];

	/* jmp; mov; call; dec; jz; call; dec; jz */
	for (int i = 0; i < 8; i++) {
		assert_ok(trace_step(tid, 0));
		assert_int_equal(tracee_wait(tid).signal, SIGTRAP);
	}
}

static void a_recursive_function_returns_from_the_right_call(void **state)
{
	struct pair *pair = *state;

	pair_start(pair, region_descend, &data, region_nothing, &data);
	to_second_call(pair);
	pair_run(pair, first, 1, &pair->ab);
	assert_stopped(pair, REPLAY_RETURNED);
	/* three deeper calls returned to the same address */
	assert_int_equal(pair->ab.contexts[0].regs.gpr[X86_RDX], 0);
	assert_int_equal(pair_word(pair, &pair->ab, &data.words[0]), 3);
	pair_stop(pair);
}

static void fill(uint64_t *words)
{
	for (int i = 0; i < 32; i++)
		words[i] = (uint64_t)(i + 1) * 0x0101010101010101;
}

static void with_ymm7(void *arg)
{
	__asm__ volatile("vmovdqu (%0), %%ymm7" : : "r"(arg) : "xmm7");
	region_vectors((char *)arg + 64);
}

static void with_zmm17(void *arg)
{
	__asm__ volatile("vmovdqu64 (%0), %%zmm17" : : "r"(arg));
	region_wide((char *)arg + 64);
}

static void check_words(const struct pair *pair, int from, int count)
{
	for (int i = 0; i < count; i++) {
		uint64_t word = 0;

		assert_true(outcome_read(&pair->ab, pair->processor, 0,
					 (uintptr_t)&data.words[from + i],
					 &word, sizeof(word)));
		assert_int_equal(word, (uint64_t)(i + 1) * 0x0101010101010101);
	}
}

static void vector_registers_go_in_and_out(void **state)
{
	struct pair *pair = *state;

	if (!__builtin_cpu_supports("avx2"))
		skip();
	fill(data.words);
	run_first(pair, with_ymm7, data.words);
	memset(&data, 0, sizeof(data));
	assert_stopped(pair, REPLAY_RETURNED);
	check_words(pair, 8, 4);
	assert_memory_not_equal(pair->ab.contexts[0].vectors,
				pair->processor->starts[0].vectors,
				pair->ab.contexts[0].vectors_size);
	pair_stop(pair);
}

static void wide_vector_registers_go_in(void **state)
{
	struct pair *pair = *state;

	if (!__builtin_cpu_supports("avx512f"))
		skip();
	fill(data.words);
	run_first(pair, with_zmm17, data.words);
	memset(&data, 0, sizeof(data));
	assert_stopped(pair, REPLAY_RETURNED);
	check_words(pair, 8, 8);
	pair_stop(pair);
}

static void the_thread_control_block_is_its_own(void **state)
{
	struct pair *pair = *state;
	uint64_t word = 0;

	run_first(pair, region_bases, &data);
	assert_stopped(pair, REPLAY_RETURNED);
	assert_true(outcome_read(&pair->ab, pair->processor, 0,
				 (uintptr_t)&data, &word, sizeof(word)));
	assert_int_equal(word, pair->processor->starts[0].regs.fs_base);
	pair_stop(pair);
}

static void a_string_instruction_is_one(void **state)
{
	static const struct replay_step steps[] = {
		{ 0, REPLAY_ACCESS },
		{ 0, REPLAY_ACCESS },
		{ 0, REPLAY_ACCESS },
		{ 0, REPLAY_ACCESS },
	};
	struct pair *pair = *state;
	uint8_t copy[sizeof(data.to)];

	memset(data.from, 0x5a, sizeof(data.from));
	pair_start(pair, region_copy, &data, region_nothing, &data);
	pair_run(pair, steps, 4, &pair->ab);
	assert_stopped(pair, REPLAY_STEPPED);
	assert_true(pair->ab.complete);
	assert_int_equal(pair->ab.contexts[0].regs.gpr[X86_RCX], 0);
	assert_true(outcome_read(&pair->ab, pair->processor, 0,
				 (uintptr_t)data.to, copy, sizeof(copy)));
	assert_memory_equal(copy, data.from, sizeof(copy));
	memset(&data, 0, sizeof(data));
	pair_stop(pair);
}

struct patch {
	uint64_t address;
	uint8_t byte;
};

static void hide_patch(void *arg, uint64_t page, uint8_t *bytes)
{
	const struct patch *patch = arg;

	if (patch->address - page < REPLAY_PAGE)
		bytes[patch->address - page] = patch->byte;
}

/* The program's text has an int3 of ours in it. */
static void our_breakpoints_are_not_seen(void **state)
{
	struct pair *pair = *state;
	/* behind its own int3 and nop */
	uint64_t address = (uintptr_t)region_patched + 2;
	struct patch patch = { .address = address };
	struct replay_instance instance;
	size_t size;

	pair_start(pair, region_patched, &data, region_nothing, &data);
	assert_ok(memory_read(&pair->memory, address, &patch.byte, 1, &size));
	assert_ok(memory_write_text(&pair->memory, pair->pid, address, "\xcc",
				    1));
	instance = pair_instance(pair);
	pair_capture(pair, &instance);
	assert_ok(orders_run(pair->processor, first, 1, &pair->ab));
	assert_stopped(pair, REPLAY_SIGNAL);
	assert_int_equal(pair->ab.stop.signal, SIGTRAP);
	instance.sources[0].hide = hide_patch;
	instance.sources[0].data = &patch;
	pair_capture(pair, &instance);
	assert_ok(orders_run(pair->processor, first, 1, &pair->ab));
	assert_stopped(pair, REPLAY_RETURNED);
	assert_int_equal(pair_word(pair, &pair->ab, &data), 1);
	pair_stop(pair);
}

static void dead_stack_need_not_be_learned(void **state)
{
	struct pair *pair = *state;

	run_first(pair, region_deep, &data);
	assert_stopped(pair, REPLAY_RETURNED);
	assert_int_equal(pair_word(pair, &pair->ab, &data), 1);
	assert_int_equal(pair->hints.count, 0);
	pair_stop(pair);
}

static void stops_have_names(void **state)
{
	(void)state;
	for (int i = 0; i < REPLAY_STOPS; i++) {
		assert_non_null(replay_stop_name((enum replay_stop_kind)i));
		for (int j = 0; j < i; j++)
			assert_string_not_equal(
				replay_stop_name((enum replay_stop_kind)i),
				replay_stop_name((enum replay_stop_kind)j));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(the_clock_is_not_read),
		PAIR_TEST(an_endless_loop_is_ended),
		PAIR_TEST(where_nothing_is_mapped_it_faults),
		PAIR_TEST(a_page_that_is_gone_is_asked_for_before_it_faults),
		PAIR_TEST(what_forbids_an_access_faults),
		PAIR_TEST(signals_of_instructions_are_told),
		PAIR_TEST(a_recursive_function_returns_from_the_right_call),
		PAIR_TEST(vector_registers_go_in_and_out),
		PAIR_TEST(wide_vector_registers_go_in),
		PAIR_TEST(the_thread_control_block_is_its_own),
		PAIR_TEST(a_string_instruction_is_one),
		PAIR_TEST(our_breakpoints_are_not_seen),
		PAIR_TEST(dead_stack_need_not_be_learned),
		cmocka_unit_test(stops_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
