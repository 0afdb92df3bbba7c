/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From where instructions take addresses, by what Intel's manual says of each.
 */
#include "function-code.h"

#include <string.h>

#include "dataflow/origins.h"

#define V(i) (UINT64_C(1) << (ORIGINS_VECTORS + (i)))

enum {
	RAX = 1 << X86_RAX,
	RCX = 1 << X86_RCX,
	RDX = 1 << X86_RDX,
	RBX = 1 << X86_RBX,
	RSP = 1 << X86_RSP,
	RBP = 1 << X86_RBP,
	RSI = 1 << X86_RSI,
	RDI = 1 << X86_RDI,
	R9 = 1 << X86_R9,
};

static struct origins find(void **state, const uint8_t *code)
{
	struct origins ret;

	origins_find(*state, code, X86_INSN_MAX, at(code), &ret);
	return ret;
}

/* The only result. */
static void assert_result(void **state, const uint8_t *code, uint64_t to,
			  uint64_t from, bool loaded)
{
	struct origins origins = find(state, code);

	assert_int_equal(origins.count, 1);
	assert_int_equal(origins.results[0].to, to);
	assert_int_equal(origins.results[0].stored, to == 0);
	assert_int_equal(origins.results[0].from, from);
	assert_int_equal(origins.results[0].loaded, loaded);
}

/* These are written, and no address is. */
static void assert_none(void **state, const uint8_t *code, uint64_t written)
{
	struct origins origins = find(state, code);

	assert_int_equal(origins.count, 0);
	assert_int_equal(origins.written & written, written);
}

/* Behind each, room for the longest instruction. */
#define ONE(name, text) CODE(name, text "\n.fill 15, 1, 0x90")

ONE(move, "mov %rax, %r9");
ONE(load, "mov 8(%rbx,%rcx,2), %rax");
ONE(store, "mov %rsi, (%rdi)");
ONE(store_number, "movq $1, (%rdi)");
ONE(load_4, "mov (%rbx), %eax");
ONE(lea, "lea 16(%rdi,%rsi,8), %rax");
ONE(sum, "add %rdx, %rax");
ONE(sum_memory, "add %rdx, (%rdi)");
ONE(zero, "xor %rax, %rax");
ONE(either, "cmove %rcx, %rax");
ONE(product, "imul %rdx, %rax");
ONE(number, "mov $0x404040, %eax");
ONE(call, "call *8(%rax)");
ONE(system_call, "syscall");

static void moves_and_sums(void **state)
{
	struct origins origins;

	assert_result(state, move_start, R9, RAX, false);
	assert_result(state, load_start, RAX, 0, true);
	origins = find(state, load_start);
	assert_int_equal(origins.read_at, RBX | RCX);
	assert_result(state, store_start, 0, RSI, false);
	origins = find(state, store_start);
	assert_int_equal(origins.written_at, RDI);
	assert_int_equal(origins.written, 0);
	assert_result(state, store_number_start, 0, 0, false);
	assert_result(state, lea_start, RAX, RDI | RSI, false);
	assert_result(state, sum_start, RAX, RAX | RDX, false);
	assert_result(state, sum_memory_start, 0, RDX, true);
}

static void what_is_no_address(void **state)
{
	assert_none(state, load_4_start, RAX);
	assert_none(state, zero_start, RAX);
	assert_none(state, product_start, RAX);
	assert_none(state, number_start, RAX);
	/* which of the two it is, is not known */
	assert_none(state, either_start, RAX);
	assert_none(state, system_call_start, RAX | RCX);
	assert_int_equal(find(state, call_start).written_at, RSP);
	assert_int_equal(find(state, call_start).read_at, RAX);
}

ONE(exchange, "xchg %rax, (%rdi)");
ONE(swap, "xchg %rbx, %rsi");
ONE(compare, "lock cmpxchg %rsi, (%rdi)");
ONE(add_exchange, "lock xadd %rdx, (%rdi)");

static void exchanges_go_both_ways(void **state)
{
	struct origins origins = find(state, exchange_start);

	assert_int_equal(origins.count, 2);
	assert_true(origins.results[0].stored);
	assert_int_equal(origins.results[0].from, RAX);
	assert_int_equal(origins.results[1].to, RAX);
	assert_true(origins.results[1].loaded);
	origins = find(state, swap_start);
	assert_int_equal(origins.count, 2);
	assert_int_equal(origins.results[0].to | origins.results[1].to,
			 RBX | RSI);
	assert_int_equal(origins.results[0].to, origins.results[1].from);
	/* rax has what was there: Capstone does not say that it is written */
	origins = find(state, compare_start);
	assert_int_equal(origins.written, RAX);
	assert_int_equal(origins.results[0].to, RAX);
	assert_true(origins.results[0].loaded);
	assert_true(origins.results[1].stored);
	assert_int_equal(origins.results[1].from, RSI);
	origins = find(state, add_exchange_start);
	assert_int_equal(origins.results[0].to, RDX);
	assert_int_equal(origins.results[0].from, 0);
	assert_true(origins.results[0].loaded);
	assert_true(origins.results[1].stored);
	assert_int_equal(origins.results[1].from, RDX);
}

ONE(push, "push %rbx");
ONE(pop, "pop %rbx");
ONE(leave, "leave");
ONE(copy, "rep movsq");
ONE(fill, "rep stosq");

static void the_stack_and_strings(void **state)
{
	struct origins origins;

	assert_result(state, push_start, 0, RBX, false);
	assert_int_equal(find(state, push_start).written & RSP, RSP);
	assert_result(state, pop_start, RBX, 0, true);
	assert_int_equal(find(state, pop_start).read_at, RSP);
	assert_result(state, leave_start, RBP, 0, true);
	assert_int_equal(find(state, leave_start).read_at, RBP);
	origins = find(state, copy_start);
	assert_int_equal(origins.count, 3);
	assert_true(origins.results[0].stored && origins.results[0].loaded);
	assert_int_equal(origins.read_at, RSI);
	assert_int_equal(origins.written_at, RDI);
	assert_int_equal(origins.written & (RSI | RDI | RCX), RSI | RDI | RCX);
	origins = find(state, fill_start);
	assert_true(origins.results[0].stored);
	assert_int_equal(origins.results[0].from, RAX);
}

ONE(to_vector, "movq %rax, %xmm3");
ONE(high_half, "movhps 8(%rdi), %xmm3");
ONE(both_halves, "punpcklqdq %xmm1, %xmm0");
ONE(vector_load, "movdqu (%rsi), %xmm2");
ONE(vector_store, "movups %xmm9, (%rdi)");
ONE(from_vector, "movq %xmm3, %rax");
ONE(insert, "vpinsrq $1, %rcx, %xmm4, %xmm5");
ONE(scalar_4, "movss (%rdi), %xmm0");
ONE(vector_sum, "paddq %xmm1, %xmm0");

ONE(vector_move, "vmovdqu %ymm1, %ymm2");

static void whole_vectors_stay_as_they_are(void **state)
{
	assert_true(find(state, vector_load_start).results[0].in_place);
	assert_true(find(state, vector_store_start).results[0].in_place);
	assert_true(find(state, vector_move_start).results[0].in_place);
	assert_false(find(state, to_vector_start).results[0].in_place);
	assert_false(find(state, high_half_start).results[0].in_place);
	assert_false(find(state, both_halves_start).results[0].in_place);
	assert_false(find(state, move_start).results[0].in_place);
}

static void addresses_go_through_vectors(void **state)
{
	assert_result(state, to_vector_start, V(3), RAX, false);
	assert_result(state, high_half_start, V(3), V(3), true);
	assert_result(state, both_halves_start, V(0), V(0) | V(1), false);
	assert_result(state, vector_load_start, V(2), 0, true);
	assert_result(state, vector_store_start, 0, V(9), false);
	assert_result(state, from_vector_start, RAX, V(3), false);
	assert_result(state, insert_start, V(5), V(4) | RCX, false);
	assert_none(state, scalar_4_start, V(0));
	assert_none(state, vector_sum_start, V(0));
}

static void what_is_not_known_writes_everything(void **state)
{
	static const uint8_t bad[X86_INSN_MAX] = { 0x06 };

	assert_none(state, bad, UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves_and_sums),
		cmocka_unit_test(what_is_no_address),
		cmocka_unit_test(exchanges_go_both_ways),
		cmocka_unit_test(the_stack_and_strings),
		cmocka_unit_test(whole_vectors_stay_as_they_are),
		cmocka_unit_test(addresses_go_through_vectors),
		cmocka_unit_test(what_is_not_known_writes_everything),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
