/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races in all their orders: what each comes to, of those that lose something and
 * of those that do not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "replay-scene.h"

enum { PAGE = 4096 };

/* At the offsets that the instructions below have. */
struct shared {
	uint32_t counter, flag, value, other;
	uint32_t *pointer; /* 16 */
	uint32_t ready, limit; /* 24, 28 */
	uint64_t pair[2]; /* 32 */
	char text[64]; /* 48 */
	char copy[64]; /* 112 */
	void (*function)(void *); /* 176 */
	pthread_mutex_t mutex;
	/* at 8192: no register points there */
	uint32_t far __attribute__((aligned(2 * PAGE)));
};

static struct shared data __attribute__((aligned(2 * PAGE))) = {
	.text = "longer than one vector of thirty-two bytes, and not two",
};

_Static_assert(offsetof(struct shared, pair) == 32, "offset");
_Static_assert(offsetof(struct shared, copy) == 112, "offset");
_Static_assert(offsetof(struct shared, function) == 176, "offset");
_Static_assert(offsetof(struct shared, far) == 8192, "offset");

/* counter++, as gcc compiles it with -O0, -O1 and -O2; held before its load */
SCENE(count_o0,
      "push %rbp\n"
      "mov %rsp, %rbp\n"
      "mov %rdi, -8(%rbp)\n"
      "mov -8(%rbp), %rax",
      "mov (%rax), %eax\n"
      "lea 1(%rax), %edx\n"
      "mov -8(%rbp), %rax\n"
      "mov %edx, (%rax)\n"
      "nop\n"
      "pop %rbp\n"
      "ret");
SCENE(count_o1, "",
      "mov (%rdi), %eax\n"
      "add $1, %eax\n"
      "mov %eax, (%rdi)\n"
      "ret");
SCENE(count_o2, "",
      "addl $1, (%rdi)\n"
      "ret");
/* the same, held before the store */
SCENE(count_o0_store,
      "push %rbp\n"
      "mov %rsp, %rbp\n"
      "mov %rdi, -8(%rbp)\n"
      "mov -8(%rbp), %rax\n"
      "mov (%rax), %eax\n"
      "lea 1(%rax), %edx\n"
      "mov -8(%rbp), %rax",
      "mov %edx, (%rax)\n"
      "nop\n"
      "pop %rbp\n"
      "ret");
SCENE(count_o1_store,
      "mov (%rdi), %eax\n"
      "add $1, %eax",
      "mov %eax, (%rdi)\n"
      "ret");
/* the pointer is in a register that the value overwrites */
SCENE(count_base_store,
      "push %rdi\n"
      "mov (%rsp), %rax\n"
      "mov (%rax), %eax\n"
      "add $1, %eax\n"
      "pop %rcx",
      "mov %eax, (%rcx)\n"
      "ret");
/* what it stores was not loaded: it could be the counter's start */
SCENE(set_two_store,
      "mov (%rdi), %eax\n"
      "mov $2, %eax",
      "mov %eax, (%rdi)\n"
      "ret");
/* an update too far from its load */
SCENE(count_far_store,
      "mov (%rdi), %eax\n"
      "jmp 1f\n"
      "1: add $1, %eax",
      "mov %eax, (%rdi)\n"
      "ret");
/* a bit is set unless it is */
SCENE(mark_low,
      "movzwl (%rdi), %eax\n"
      "test $1, %al\n"
      "jne 1f\n"
      "or $1, %eax",
      "mov %ax, (%rdi)\n"
      "1: ret");
SCENE(mark_high,
      "movzwl (%rdi), %eax\n"
      "test $2, %al\n"
      "jne 1f\n"
      "or $2, %eax",
      "mov %ax, (%rdi)\n"
      "1: ret");
/* it counts, and is held at another look at the counter */
SCENE(count_and_look, "incl (%rdi)",
      "mov (%rdi), %eax\n"
      "ret");
SCENE(count_lock, "",
      "lock addl $1, (%rdi)\n"
      "ret");
SCENE(look, "",
      "mov (%rdi), %eax\n"
      "ret");
SCENE(low_bit, "",
      "orl $1, (%rdi)\n"
      "ret");
SCENE(high_bit, "",
      "orl $0x80000000, (%rdi)\n"
      "ret");
SCENE(test_low_bit, "",
      "mov (%rdi), %eax\n"
      "mov %eax, %ecx\n"
      "and $1, %eax\n"
      "mov %eax, 12(%rdi)\n"
      "ret");
SCENE(clear_bit, "",
      "andl $~1, (%rdi)\n"
      "ret");
SCENE(flag_one, "",
      "movl $1, 4(%rdi)\n"
      "ret");
SCENE(flag_two, "",
      "movl $2, 4(%rdi)\n"
      "ret");
/* a flag that all set, and a place in a list that one gets first */
SCENE(list_one, "",
      "movl $1, 4(%rdi)\n"
      "mov $1, %eax\n"
      "lock xaddl %eax, 12(%rdi)\n"
      "movb $1, 48(%rdi, %rax)\n"
      "ret");
SCENE(list_two, "",
      "movl $1, 4(%rdi)\n"
      "mov $1, %eax\n"
      "lock xaddl %eax, 12(%rdi)\n"
      "movb $2, 48(%rdi, %rax)\n"
      "ret");
SCENE(clear_pointer, "",
      "movq $0, 16(%rdi)\n"
      "ret");
/* if (pointer) *pointer = 3; the pointer is loaded twice */
SCENE(check_pointer, "",
      "cmpq $0, 16(%rdi)\n"
      "je 1f\n"
      "mov 16(%rdi), %rax\n"
      "movl $3, (%rax)\n"
      "1: ret");
/* two threads let go of an object: the last is to set `other' */
SCENE(drop, "",
      "subl $1, (%rdi)\n"
      "jne 1f\n"
      "incl 12(%rdi)\n"
      "1: ret");
/* if (flag) { wait } ... value = 5: a spin lock as spin_wait() sees it */
SCENE(spin, "",
      "1: cmpl $0, 4(%rdi)\n"
      "jne 2f\n"
      "pause\n"
      "jmp 1b\n"
      "2: mov 8(%rdi), %eax\n"
      "mov %eax, 12(%rdi)\n"
      "ret");
/* the writer sets the value first: only the spin decides when it is read */
SCENE(spin_end, "movl $5, 8(%rdi)",
      "movl $1, 4(%rdi)\n"
      "ret");
SCENE(yield, "",
      "1: cmpl $0, 4(%rdi)\n"
      "jne 2f\n"
      "push %rdi\n"
      "mov $24, %eax\n"
      "syscall\n"
      "pop %rdi\n"
      "jmp 1b\n"
      "2: mov 8(%rdi), %eax\n"
      "mov %eax, 12(%rdi)\n"
      "ret");
/* a pair written by one is copied by the other, which may see half of it */
SCENE(write_pair, "",
      "movq $7, 32(%rdi)\n"
      "movq $7, 40(%rdi)\n"
      "ret");
SCENE(read_pair, "",
      "mov 32(%rdi), %rax\n"
      "mov 40(%rdi), %rdx\n"
      "cmp %rax, %rdx\n"
      "je 1f\n"
      "incl 12(%rdi)\n"
      "1: ret");

/*
 * if (!ready) { lock; if (!ready) { value = 5; ready = 1; } unlock; }
 * other = value; with the locks of the C library
 */
void lock_data(void);
void lock_data(void)
{
	pthread_mutex_lock(&data.mutex);
}

void unlock_data(void);
void unlock_data(void)
{
	pthread_mutex_unlock(&data.mutex);
}

#define MAKE_READY            \
	"push %rdi\n"         \
	"call lock_data\n"    \
	"mov (%rsp), %rdi\n"  \
	"cmpl $0, 24(%rdi)\n" \
	"jne 3f\n"            \
	"movl $5, 8(%rdi)\n"
#define MADE_READY              \
	"movl $1, 24(%rdi)\n"   \
	"3: call unlock_data\n" \
	"pop %rdi\n"
#define USE_READY                \
	"1: mov 8(%rdi), %eax\n" \
	"mov %eax, 12(%rdi)\n"   \
	"ret"

SCENE(double_check, "",
      "cmpl $0, 24(%rdi)\n"
      "jne 1f\n" MAKE_READY MADE_READY USE_READY);
SCENE(make_ready, MAKE_READY, MADE_READY USE_READY);
/* it sets the flag before the value: the check sees one without the other */
SCENE(make_ready_early, "",
      "movl $1, 24(%rdi)\n"
      "movl $5, 8(%rdi)\n"
      "ret");
/* if (counter) { lock; if (counter) counter--; unlock; }; and without the second if */
#define TAKE_LOCK          \
	"push %rdi\n"      \
	"call lock_data\n" \
	"mov (%rsp), %rdi\n"
#define TAKE_UNLOCK             \
	"2: call unlock_data\n" \
	"pop %rdi\n"            \
	"1: ret"
SCENE(take, "",
      "cmpl $0, (%rdi)\n"
      "je 1f\n" TAKE_LOCK "cmpl $0, (%rdi)\n"
      "je 2f\n"
      "decl (%rdi)\n" TAKE_UNLOCK);
SCENE(take_blindly, "",
      "cmpl $0, (%rdi)\n"
      "je 1f\n" TAKE_LOCK "decl (%rdi)\n" TAKE_UNLOCK);
SCENE(take_locked, TAKE_LOCK, "decl (%rdi)\n" TAKE_UNLOCK);
SCENE(copy_text,
      "lea 48(%rdi), %rsi\n"
      "add $112, %rdi",
      "movb $1, -112(%rdi)\n"
      "call strcpy@PLT\n"
      "ret");
SCENE(set_byte, "",
      "movb $1, (%rdi)\n"
      "ret");
/* a function is chosen at the first call, the same by all */
void chosen(void *arg);
void chosen(void *arg)
{
	(void)arg;
	data.other = 3;
}
SCENE(choose, "",
      "mov 176(%rdi), %rax\n"
      "test %rax, %rax\n"
      "jne 1f\n"
      "lea chosen(%rip), %rax\n"
      "mov %rax, 176(%rdi)\n"
      "1: call *%rax\n"
      "ret");
/* values are made by one, as many as it says */
SCENE(produce, "movl $6, 8(%rdi)",
      "incl (%rdi)\n"
      "ret");
SCENE(consume, "",
      "mov (%rdi), %eax\n"
      "cmp %eax, 28(%rdi)\n"
      "ja 1f\n"
      "1: ret");
/* a number is returned to a caller that stores it, or does not */
SCENE(load_result, "",
      "mov (%rdi), %eax\n"
      "ret");
SCENE(draw_ticket, "",
      "mov (%rdi), %eax\n"
      "lea 1(%rax), %edx\n"
      "mov %edx, (%rdi)\n"
      "ret");
pair_function store_result, drop_result, store_ticket;
__asm__(".text\n"
	"store_result: push %rdi\n"
	"call load_result\n"
	"pop %rdi\n"
	"mov %eax, 12(%rdi)\n"
	"ret\n"
	"drop_result: push %rdi\n"
	"call load_result\n"
	"pop %rdi\n"
	"xor %eax, %eax\n"
	"ret\n"
	"store_ticket: push %rdi\n"
	"call draw_ticket\n"
	"pop %rdi\n"
	"mov %eax, 12(%rdi)\n"
	"ret\n");
SCENE(clock_and_count, "",
      "incl (%rdi)\n"
      "rdtsc\n"
      "ret");
SCENE(count_at_random, "",
      "incl (%rdi)\n"
      "rdrand %rax\n"
      "ret");
SCENE(count_by_processor, "push %rbx",
      "incl (%rdi)\n"
      "mov $7, %eax\n"
      "cpuid\n"
      "pop %rbx\n"
      "ret");
SCENE(count_and_protect, "",
      "incl (%rdi)\n"
      "xor %eax, %eax\n"
      "xor %ecx, %ecx\n"
      "xor %edx, %edx\n"
      "wrpkru\n"
      "ret");
/* another key is used: the thread may only read by it */
SCENE(count_with_key,
      "xor %ecx, %ecx\n"
      "rdpkru\n"
      "xor $0xc, %eax\n"
      "xor %edx, %edx\n"
      "wrpkru",
      "incl (%rdi)\n"
      "ret");
/* threads whose loops do not end: their next round is the end */
SCENE(count_for_ever, "",
      "1: mov (%rdi), %eax\n"
      "inc %eax\n"
      "mov %eax, (%rdi)\n"
      "xor %eax, %eax\n"
      "jmp 1b");
SCENE(count_locked_for_ever, "",
      "1: lock incl (%rdi)\n"
      "jmp 1b");
/* what it has seen may be of use later, as far as anyone knows */
SCENE(remember_for_ever, "sub $24, %rsp",
      "1: mov (%rdi), %eax\n"
      "mov %eax, 8(%rsp)\n"
      "xor %eax, %eax\n"
      "jmp 1b");
SCENE(sum_for_ever, "xor %ecx, %ecx",
      "1: mov (%rdi), %eax\n"
      "add %eax, %ecx\n"
      "jmp 1b");
SCENE(count_and_call, "",
      "incl (%rdi)\n"
      "mov $39, %eax\n"
      "syscall\n"
      "ret");
SCENE(call_if_set, "",
      "cmpl $0, 4(%rdi)\n"
      "je 1f\n"
      "mov $39, %eax\n"
      "syscall\n"
      "1: ret");
/* as where a breakpoint of ours was left in the text */
SCENE(trap_if_set, "",
      "cmpl $0, 4(%rdi)\n"
      "je 1f\n"
      "int3\n"
      "1: ret");
SCENE(always_faults, "",
      "mov (%rdi), %eax\n"
      "movl $1, 0\n"
      "ret");
/* a page that is not captured is needed behind the access */
SCENE(count_and_go_far, "",
      "incl (%rdi)\n"
      "incl 8192(%rdi)\n"
      "ret");
SCENE(set_and_go_far, "",
      "movl $1, 4(%rdi)\n"
      "incl 8192(%rdi)\n"
      "ret");
SCENE(carry_far, "",
      "mov (%rdi), %eax\n"
      "add %eax, 8192(%rdi)\n"
      "ret");
/* it is needed in one order only: what is there is not used, and is */
SCENE(unless_flag_look_far, "",
      "cmpl $0, 4(%rdi)\n"
      "jne 1f\n"
      "mov 8192(%rdi), %eax\n"
      "1: xor %eax, %eax\n"
      "ret");
SCENE(unless_flag_count_far, "",
      "cmpl $0, 4(%rdi)\n"
      "jne 1f\n"
      "incl 8192(%rdi)\n"
      "1: xor %eax, %eax\n"
      "ret");
SCENE(load_and_forget, "",
      "mov (%rdi), %eax\n"
      "xor %eax, %eax\n"
      "incl 8192(%rdi)\n"
      "xor %eax, %eax\n"
      "ret");
/* loads that overwrite what they need */
SCENE(load_pointer, "add $16, %rdi",
      "mov (%rdi), %rdi\n"
      "movl $3, (%rdi)\n"
      "ret");
SCENE(exchange_flag, "mov $1, %eax",
      "xchg %eax, 4(%rdi)\n"
      "mov %eax, 12(%rdi)\n"
      "ret");
SCENE(add_with_carry, "stc",
      "adcl $0, (%rdi)\n"
      "ret");
SCENE(copy_word,
      "lea 4(%rdi), %rsi\n"
      "add $12, %rdi\n"
      "mov $1, %ecx",
      "rep movsl\n"
      "ret");

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void assert_verdict(const struct replay_result *result,
			   enum replay_verdict verdict)
{
	if (result->failure)
		print_error("failure: %s\n", result->failure);
	for (size_t i = 0;
	     i < result->changes.count && result->verdict != verdict; i++) {
		const struct replay_change *change =
			vec_at(&result->changes, i);

		print_error("%llx+%u in %x\n",
			    (unsigned long long)change->address, change->size,
			    change->schedules);
	}
	assert_int_equal(result->verdict, verdict);
}

static uint32_t value_of(const struct replay_change *change, int schedule)
{
	uint32_t value = 0;

	assert_true(change->schedules >> schedule & 1);
	memcpy(&value, change->values[schedule], sizeof(value));
	return value;
}

static int schedule_named(const char *name)
{
	for (int i = 0; i < REPLAY_SCHEDULES; i++) {
		if (strcmp(replay_schedule_name(i), name) == 0)
			return i;
	}
	fail_msg("no schedule %s", name);
	return -1;
}

/* Both counters and flags race: what of it is whose. */
#define COUNTER &data.counter, sizeof(data.counter)
#define FLAG &data.flag, sizeof(data.flag)

static void a_lost_update_is_a_change_of_the_raced_bytes(void **state)
{
	const struct scene scenes[] = {
		{ { SIDE(count_o0, &data), SIDE(count_o0, &data) }, COUNTER },
		{ { SIDE(count_o1, &data), SIDE(count_o1, &data) }, COUNTER },
		{ { SIDE(count_o2, &data), SIDE(count_o2, &data) }, COUNTER },
		{ { SIDE(count_o0, &data), SIDE(count_o2, &data) }, COUNTER },
		/* both have loaded already */
		{ { SIDE(count_o0_store, &data), SIDE(count_o0_store, &data) },
		  COUNTER },
		{ { SIDE(count_o1_store, &data), SIDE(count_o1_store, &data) },
		  COUNTER },
		{ { SIDE(count_base_store, &data),
		    SIDE(count_base_store, &data) },
		  COUNTER },
		/* one of the two has, or has stored */
		{ { SIDE(count_o1_store, &data), SIDE(count_o2, &data) },
		  COUNTER },
		{ { SIDE(count_o0, &data), SIDE_DONE(count_o0_store, &data) },
		  COUNTER },
		{ { SIDE(count_o1_store, &data),
		    SIDE_DONE(count_o1_store, &data) },
		  COUNTER },
		{ { SIDE(count_o2, &data), SIDE_DONE(count_o2, &data) },
		  COUNTER },
	};
	struct replay_result result;

	replay_result_init(&result);
	for (size_t i = 0; i < COUNT(scenes); i++) {
		const struct replay_change *change;

		scene_replay(*state, &scenes[i], &result);
		assert_verdict(&result, REPLAY_CHANGE);
		assert_false(result.beyond);
		assert_int_equal(result.changes.count, 1);
		change = vec_at(&result.changes, 0);
		assert_int_equal(change->address, (uintptr_t)&data.counter);
		assert_int_equal(change->size, 4);
		assert_int_equal(value_of(change, schedule_named("ab-whole")),
				 2);
		assert_int_equal(value_of(change, schedule_named("ba-whole")),
				 2);
	}
	replay_result_deinit(&result);
}

static void an_update_that_others_have_overtaken_is_begun_anew(void **state)
{
	/* the first loads 0, the second counts, and the first is to store 1 */
	const struct scene scene = { { SIDE(count_o1_store, &data),
				       SIDE(count_and_look, &data) },
				     COUNTER };
	struct replay_result result;
	const struct replay_change *change;

	replay_result_init(&result);
	scene_replay(*state, &scene, &result);
	assert_verdict(&result, REPLAY_NO_CHANGE);
	scene_replay(*state,
		     &(struct scene){ { SIDE(count_o1_store, &data),
					SIDE(count_o2, &data) },
				      COUNTER },
		     &result);
	assert_verdict(&result, REPLAY_CHANGE);
	change = vec_at(&result.changes, 0);
	assert_int_equal(value_of(change, schedule_named("a[b]a")), 1);
	replay_result_deinit(&result);
}

/* A store that ends an update is not the whole of it. */
static void an_update_without_its_load_is_no_proof(void **state)
{
	struct scene scene = { { SIDE(count_far_store, &data),
				 SIDE(count_far_store, &data) },
			       COUNTER };
	struct replay_result result;

	replay_result_init(&result);
	scene.sides[0].updates = scene.sides[1].updates = true;
	scene_replay(*state, &scene, &result);
	assert_verdict(&result, REPLAY_FAILURE);
	assert_string_equal(result.failure, "old-load");
	/* what was not made of the load is a store, and nothing else */
	scene = (struct scene){ { SIDE(set_two_store, &data),
				  SIDE(set_two_store, &data) },
				COUNTER };
	scene_replay(*state, &scene, &result);
	assert_verdict(&result, REPLAY_NO_CHANGE);
	replay_result_deinit(&result);
}

/* Between the load and the store is a branch that is not taken. */
static void an_update_on_a_condition_is_begun_anew(void **state)
{
	struct scene scene = { { SIDE(mark_low, &data), SIDE(mark_low, &data) },
			       &data.counter,
			       sizeof(uint16_t) };
	struct replay_result result;

	replay_result_init(&result);
	scene.sides[0].updates = scene.sides[1].updates = true;
	scene_replay(*state, &scene, &result);
	assert_verdict(&result, REPLAY_NO_CHANGE);
	scene = (struct scene){ { SIDE(mark_low, &data),
				  SIDE(mark_high, &data) },
				&data.counter,
				sizeof(uint16_t) };
	scene.sides[0].updates = scene.sides[1].updates = true;
	scene_replay(*state, &scene, &result);
	assert_verdict(&result, REPLAY_CHANGE);
	assert_true(result.overlaps != 0);
	replay_result_deinit(&result);
}

static void what_no_order_changes_is_no_change(void **state)
{
	const struct scene scenes[] = {
		/* atomic, and so not split */
		{ { SIDE(count_lock, &data), SIDE(count_lock, &data) },
		  COUNTER },
		/* redundant writes */
		{ { SIDE(flag_one, &data), SIDE(flag_one, &data) }, FLAG },
		{ { SIDE(flag_one, &data), SIDE_DONE(flag_one, &data) }, FLAG },
		/* who is first decides about more, but not by the race */
		{ { SIDE(list_one, &data), SIDE(list_two, &data) }, FLAG },
		/* whatever is seen there, the caller does not look at it */
		{ { SIDE(look, &data), SIDE(count_o2, &data) }, COUNTER },
		{ { SIDE(count_o2, &data), SIDE_DONE(look, &data) }, COUNTER },
		/* one bit is looked at, another one is set */
		{ { SIDE(test_low_bit, &data), SIDE(high_bit, &data) },
		  COUNTER },
		{ { SIDE(choose, &data), SIDE(choose, &data) },
		  &data.function,
		  8 },
		/* by vectors, to memory that nobody else writes */
		{ { SIDE(copy_text, &data), SIDE(set_byte, &data) },
		  &data.counter,
		  1 },
		/* either number will do */
		{ { SIDE(consume, &data), SIDE(produce, &data) }, COUNTER },
	};
	struct replay_result result;

	replay_result_init(&result);
	for (size_t i = 0; i < COUNT(scenes); i++) {
		scene_replay(*state, &scenes[i], &result);
		assert_verdict(&result, REPLAY_NO_CHANGE);
		assert_null(result.failure);
		assert_int_equal(result.changes.count, 0);
		assert_false(result.beyond);
	}
	replay_result_deinit(&result);
}

static void what_waits_for_the_other_lets_it_run(void **state)
{
	const struct scene scenes[] = {
		{ { SIDE(spin, &data), SIDE(spin_end, &data) }, FLAG },
		{ { SIDE(spin_end, &data), SIDE(spin, &data) }, FLAG },
		{ { SIDE(yield, &data), SIDE(spin_end, &data) }, FLAG },
	};
	struct replay_result result;

	replay_result_init(&result);
	for (size_t i = 0; i < COUNT(scenes); i++) {
		scene_replay(*state, &scenes[i], &result);
		assert_verdict(&result, REPLAY_NO_CHANGE);
	}
	replay_result_deinit(&result);
}

/* Each bit is another's, and a bit of the other's is lost. */
static void bits_that_share_a_word_are_lost(void **state)
{
	const struct scene scenes[] = {
		{ { SIDE(low_bit, &data), SIDE(high_bit, &data) }, COUNTER },
		{ { SIDE(clear_bit, &data), SIDE(high_bit, &data) }, COUNTER },
	};
	struct replay_result result;

	replay_result_init(&result);
	for (size_t i = 0; i < COUNT(scenes); i++) {
		data.counter = 1;
		scene_replay(*state, &scenes[i], &result);
		data.counter = 0;
		assert_verdict(&result, REPLAY_CHANGE);
		assert_false(result.beyond);
	}
	replay_result_deinit(&result);
}

static const struct replay_change *change_at(const struct replay_result *result,
					     const void *address)
{
	for (size_t i = 0; i < result->changes.count; i++) {
		const struct replay_change *change =
			vec_at(&result->changes, i);

		if (change->address == (uintptr_t)address)
			return change;
	}
	fail_msg("no change there");
	return NULL;
}

static void harm_beyond_the_raced_bytes_is_told(void **state)
{
	const struct replay_change *change;
	struct replay_result result;

	replay_result_init(&result);
	/* of a reference count: twice let go, or never, by a lost update */
	data.counter = 2;
	scene_replay(*state,
		     &(struct scene){ { SIDE(drop, &data), SIDE(drop, &data) },
				      COUNTER },
		     &result);
	data.counter = 0;
	assert_verdict(&result, REPLAY_CHANGE);
	assert_true(result.beyond);
	assert_false(result.registers);
	/* the raced bytes are first */
	change = vec_at(&result.changes, 0);
	assert_int_equal(change->address, (uintptr_t)&data.counter);
	change = change_at(&result, &data.other);
	assert_int_equal(value_of(change, schedule_named("ab-whole")), 1);
	assert_int_equal(value_of(change, schedule_named("a[b]a")), 0);
	/* half of a pair */
	scene_replay(*state,
		     &(struct scene){ { SIDE(read_pair, &data),
					SIDE(write_pair, &data) },
				      &data.pair[0],
				      8 },
		     &result);
	assert_verdict(&result, REPLAY_CHANGE);
	assert_true(result.beyond);
	change = change_at(&result, &data.other);
	assert_int_equal(value_of(change, schedule_named("ab-whole")), 0);
	assert_int_equal(value_of(change, schedule_named("a(b)a")), 1);
	replay_result_deinit(&result);
}

static void locks_are_taken_in_turn(void **state)
{
	const struct scene scenes[] = {
		{ { SIDE(double_check, &data), SIDE(double_check, &data) },
		  &data.ready,
		  4 },
		/* the second holds the lock, and the first is to wait for it */
		{ { SIDE(double_check, &data), SIDE(make_ready, &data) },
		  &data.ready,
		  4 },
		{ { SIDE(make_ready, &data), SIDE(double_check, &data) },
		  &data.ready,
		  4 },
	};
	struct replay_result result;

	replay_result_init(&result);
	for (size_t i = 0; i < COUNT(scenes); i++) {
		scene_replay(*state, &scenes[i], &result);
		assert_verdict(&result, REPLAY_NO_CHANGE);
	}
	/* another thread has the lock, and is not run */
	lock_data();
	scene_replay(*state, &scenes[0], &result);
	unlock_data();
	assert_verdict(&result, REPLAY_FAILURE);
	assert_string_equal(result.failure, "waits");
	/* no lock at all */
	scene_replay(*state,
		     &(struct scene){ { SIDE(double_check, &data),
					SIDE(make_ready_early, &data) },
				      &data.ready,
				      4 },
		     &result);
	assert_verdict(&result, REPLAY_CHANGE);
	assert_true(result.beyond);
	replay_result_deinit(&result);
}

/*
 * The second is held under its lock: the first has checked when it waits, which is
 * no order of the two.
 */
static void a_wait_is_no_order_unless_it_comes_to_one(void **state)
{
	struct replay_result result;

	replay_result_init(&result);
	data.counter = 1;
	scene_replay(*state,
		     &(struct scene){
			     { SIDE(take, &data), SIDE(take_locked, &data) },
			     COUNTER },
		     &result);
	assert_verdict(&result, REPLAY_NO_CHANGE);
	assert_false(result.waited);
	scene_replay(*state,
		     &(struct scene){ { SIDE(take_blindly, &data),
					SIDE(take_locked, &data) },
				      COUNTER },
		     &result);
	data.counter = 0;
	assert_verdict(&result, REPLAY_CHANGE);
	assert_true(result.waited);
	replay_result_deinit(&result);
}

static void a_fault_that_an_order_avoids_is_a_fault(void **state)
{
	const struct scene scene = { { SIDE(check_pointer, &data),
				       SIDE(clear_pointer, &data) },
				     &data.pointer,
				     8 };
	struct replay_result result;
	/* cmocka has a handler; the pair of threads inherits this */
	__sighandler_t before = signal(SIGSEGV, SIG_DFL);

	replay_result_init(&result);
	data.pointer = &data.value;
	scene_replay(*state, &scene, &result);
	signal(SIGSEGV, before);
	data.pointer = NULL;
	assert_verdict(&result, REPLAY_FAULT);
	assert_int_equal(result.signal, SIGSEGV);
	assert_int_equal(result.fault_address, 0);
	assert_int_equal(result.fault_schedules,
			 1U << schedule_named("ab") |
				 1U << schedule_named("a(b)a"));
	assert_false(result.handled);
	replay_result_deinit(&result);
}

static void never_called(int number)
{
	(void)number;
}

static void a_fault_may_have_a_handler(void **state)
{
	const struct scene scene = { { SIDE(check_pointer, &data),
				       SIDE(clear_pointer, &data) },
				     &data.pointer,
				     8 };
	struct replay_result result;
	__sighandler_t before = signal(SIGSEGV, never_called);

	replay_result_init(&result);
	data.pointer = &data.value;
	scene_replay(*state, &scene, &result);
	signal(SIGSEGV, before);
	data.pointer = NULL;
	assert_verdict(&result, REPLAY_FAULT);
	assert_true(result.handled);
	replay_result_deinit(&result);
}

static void a_returned_value_counts_where_it_is_read(void **state)
{
	struct scene scene = { { { .function = store_result,
				   .access = load_result_access,
				   .data = &data },
				 SIDE(count_lock, &data) },
			       COUNTER };
	struct replay_result result;

	replay_result_init(&result);
	scene_replay(*state, &scene, &result);
	assert_verdict(&result, REPLAY_CHANGE);
	assert_true(result.registers);
	assert_true(result.beyond);
	assert_int_equal(result.changes.count, 0);
	scene.sides[0].function = drop_result;
	scene_replay(*state, &scene, &result);
	assert_verdict(&result, REPLAY_NO_CHANGE);
	replay_result_deinit(&result);
}

static void what_cannot_be_replayed_has_a_name(void **state)
{
	const struct {
		struct scene scene;
		const char *name;
	} all[] = {
		{ { { SIDE(clock_and_count, &data), SIDE(look, &data) },
		    COUNTER },
		  "rdtsc" },
		{ { { SIDE(count_at_random, &data), SIDE(look, &data) },
		    COUNTER },
		  "rdrand" },
		{ { { SIDE(count_by_processor, &data), SIDE(look, &data) },
		    COUNTER },
		  "cpuid" },
		{ { { SIDE(count_and_protect, &data), SIDE(look, &data) },
		    COUNTER },
		  "protection-keys" },
		{ { { SIDE(call_if_set, &data), SIDE(flag_one, &data) }, FLAG },
		  "unequal-end" },
		{ { { SIDE(always_faults, &data), SIDE(count_o2, &data) },
		    COUNTER },
		  "signal" },
		{ { { SIDE(trap_if_set, &data), SIDE(flag_one, &data) }, FLAG },
		  "signal" },
		{ { { SIDE(count_o2, &data), SIDE_DONE(add_with_carry, &data) },
		    COUNTER },
		  "cannot-redo" },
		{ { { SIDE(flag_one, &data), SIDE_DONE(copy_word, &data) },
		    FLAG },
		  "cannot-redo" },
	};
	struct replay_result result;

	replay_result_init(&result);
	for (size_t i = 0; i < COUNT(all); i++) {
		scene_replay(*state, &all[i].scene, &result);
		assert_verdict(&result, REPLAY_FAILURE);
		assert_string_equal(result.failure, all[i].name);
	}
	replay_result_deinit(&result);
}

static void a_loop_without_end_ends_at_its_next_round(void **state)
{
	struct scene scene = {
		{ SIDE(count_for_ever, &data), SIDE(count_o2, &data) }, COUNTER
	};
	struct replay_result result;

	replay_result_init(&result);
	scene_replay(*state, &scene, &result);
	assert_verdict(&result, REPLAY_CHANGE);
	assert_false(result.beyond);
	scene.sides[0] = (struct scene_side)SIDE(count_locked_for_ever, &data);
	scene.sides[1] = (struct scene_side)SIDE(count_locked_for_ever, &data);
	scene_replay(*state, &scene, &result);
	assert_verdict(&result, REPLAY_NO_CHANGE);
	scene.sides[0] = (struct scene_side)SIDE(remember_for_ever, &data);
	scene_replay(*state, &scene, &result);
	assert_verdict(&result, REPLAY_FAILURE);
	assert_string_equal(result.failure, "locals");
	/* a register that is read in the next round is of use */
	scene.sides[0] = (struct scene_side)SIDE(sum_for_ever, &data);
	scene_replay(*state, &scene, &result);
	assert_verdict(&result, REPLAY_CHANGE);
	assert_true(result.registers);
	replay_result_deinit(&result);
}

static bool has_protection_keys(void)
{
	unsigned int a = 7, b, c = 0, d;

	/* enabled by the system: CPUID.7.0:ECX.OSPKE */
	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return c >> 4 & 1;
}

static void rights_of_protection_keys_are_not_replayed(void **state)
{
	const struct scene scene = {
		{ SIDE(count_with_key, &data), SIDE(look, &data) }, COUNTER
	};
	struct replay_result result;

	if (!has_protection_keys())
		skip();
	replay_result_init(&result);
	scene_replay(*state, &scene, &result);
	assert_verdict(&result, REPLAY_FAILURE);
	assert_string_equal(result.failure, "protection-keys");
	replay_result_deinit(&result);
}

/* A system call that all schedules come to is an end as good as a return. */
static void a_system_call_is_an_end(void **state)
{
	const struct scene scene = { { SIDE(count_and_call, &data),
				       SIDE(count_lock, &data) },
				     COUNTER };
	struct replay_result result;

	replay_result_init(&result);
	scene_replay(*state, &scene, &result);
	assert_verdict(&result, REPLAY_CHANGE);
	assert_false(result.beyond);
	replay_result_deinit(&result);
}

static void an_access_that_was_made_is_made_again(void **state)
{
	struct replay_result result;

	replay_result_init(&result);
	/* a load that overwrites its base, and would have loaded NULL */
	data.pointer = &data.value;
	scene_replay(*state,
		     &(struct scene){ { SIDE(clear_pointer, &data),
					SIDE_DONE(load_pointer, &data) },
				      &data.pointer,
				      8 },
		     &result);
	data.pointer = NULL;
	assert_verdict(&result, REPLAY_FAULT);
	assert_int_equal(result.fault_address, 0);
	/* an exchange: what the other stores is seen, or is not */
	scene_replay(*state,
		     &(struct scene){ { SIDE(flag_two, &data),
					SIDE_DONE(exchange_flag, &data) },
				      FLAG },
		     &result);
	assert_verdict(&result, REPLAY_CHANGE);
	assert_true(result.beyond);
	assert_int_equal(value_of(change_at(&result, &data.other),
				  schedule_named("ab")),
			 2);
	assert_int_equal(value_of(change_at(&result, &data.flag),
				  schedule_named("ab")),
			 1);
	replay_result_deinit(&result);
}

/* What a lock would let happen too is no overlap, whatever it reaches. */
static void an_overlap_is_what_no_whole_order_leads_to(void **state)
{
	const struct {
		struct scene scene;
		bool overlaps, memory, registers;
	} all[] = {
		/* which value stays; what is read there is stored elsewhere */
		{ { { SIDE(flag_one, &data), SIDE(flag_two, &data) }, FLAG },
		  false,
		  false,
		  false },
		{ { { SIDE(test_low_bit, &data), SIDE(low_bit, &data) },
		    COUNTER },
		  false,
		  false,
		  false },
		{ { { { .function = store_result,
			.access = load_result_access,
			.data = &data },
		      SIDE(count_lock, &data) },
		    COUNTER },
		  false,
		  false,
		  false },
		/* an update is lost */
		{ { { SIDE(count_o1, &data), SIDE(count_o1, &data) }, COUNTER },
		  true,
		  false,
		  false },
		/* and both callers get the same number */
		{ { { { .function = store_ticket,
			.access = draw_ticket_access,
			.data = &data },
		      { .function = store_ticket,
			.access = draw_ticket_access,
			.data = &data } },
		    COUNTER },
		  true,
		  false,
		  true },
		/* half of a pair is seen, and counted */
		{ { { SIDE(read_pair, &data), SIDE(write_pair, &data) },
		    &data.pair[0],
		    8 },
		  true,
		  true,
		  false },
	};
	struct replay_result result;

	replay_result_init(&result);
	for (size_t i = 0; i < COUNT(all); i++) {
		scene_replay(*state, &all[i].scene, &result);
		assert_verdict(&result, REPLAY_CHANGE);
		assert_int_equal(result.overlaps != 0, all[i].overlaps);
		assert_int_equal(result.overlap_memory, all[i].memory);
		assert_int_equal(result.overlap_registers, all[i].registers);
		assert_false(result.still);
	}
	assert_int_equal(result.overlaps & 1U << schedule_named("ab-whole"), 0);
	assert_true(result.overlaps & 1U << schedule_named("a(b)a"));
	replay_result_deinit(&result);
}

/* Bits that are set already: that no order changes them says little. */
static void what_stores_what_is_there_is_still(void **state)
{
	const struct scene scene = {
		{ SIDE(low_bit, &data), SIDE_DONE(low_bit, &data) }, COUNTER
	};
	struct replay_result result;

	replay_result_init(&result);
	scene_replay(*state, &scene, &result);
	assert_verdict(&result, REPLAY_NO_CHANGE);
	assert_false(result.still);
	assert_true(result.redone);
	data.counter = 1;
	scene_replay(*state, &scene, &result);
	assert_verdict(&result, REPLAY_NO_CHANGE);
	assert_true(result.still);
	scene_replay(
		*state,
		&(struct scene){ { SIDE(low_bit, &data), SIDE(low_bit, &data) },
				 COUNTER },
		&result);
	data.counter = 0;
	assert_true(result.still);
	assert_false(result.redone);
	replay_result_deinit(&result);
}

SCENE(low_bit_store,
      "mov (%rdi), %eax\n"
      "or $1, %eax",
      "mov %eax, (%rdi)\n"
      "ret");
SCENE(high_bit_store,
      "mov (%rdi), %eax\n"
      "or $0x80000000, %eax",
      "mov %eax, (%rdi)\n"
      "ret");
SCENE(set_computed,
      "mov 28(%rdi), %eax\n"
      "lea 5(%rax), %eax",
      "mov %eax, (%rdi)\n"
      "ret");
/*
 * Two stores of the same, whatever was there, and some that depend on it: of these an
 * instance in which nothing moves is not blind.
 */
static void stores_that_depend_on_nothing_there_are_blind(void **state)
{
	static const struct {
		struct scene scene;
		uint32_t counter; /* what is there */
		bool still, blind;
	} all[] = {
		{ { { SIDE_VARIES(set_computed, &data),
		      SIDE(set_computed, &data) },
		    COUNTER },
		  5,
		  true,
		  true },
		{ { { SIDE_VARIES(set_computed, &data),
		      SIDE_DONE(set_computed, &data) },
		    COUNTER },
		  5,
		  true,
		  true },
		/* nobody asks: the same is stored always */
		{ { { SIDE(set_computed, &data), SIDE(set_computed, &data) },
		    COUNTER },
		  5,
		  true,
		  false },
		/* what they have loaded before could be what was there */
		{ { { { .function = set_computed,
			.access = set_computed_access,
			.data = &data,
			.varies = true,
			.made = true },
		      SIDE(set_computed, &data) },
		    COUNTER },
		  5,
		  true,
		  false },
		/* and so could what the caller has handed over */
		{ { { { .function = set_computed,
			.access = set_computed_access,
			.data = &data,
			.varies = true,
			.first = true },
		      SIDE(set_computed, &data) },
		    COUNTER },
		  5,
		  true,
		  false },
		/* it tells without that */
		{ { { SIDE_VARIES(set_computed, &data),
		      SIDE(set_computed, &data) },
		    COUNTER },
		  4,
		  false,
		  false },
		/* a bit that is set */
		{ { { SIDE_VARIES(low_bit, &data), SIDE(low_bit, &data) },
		    COUNTER },
		  5,
		  true,
		  false },
		/* the store of an update: the bit is set, and begins clear */
		{ { { SIDE_VARIES(low_bit_store, &data),
		      SIDE(high_bit_store, &data) },
		    COUNTER },
		  0x80000001,
		  true,
		  false },
		/* both set the same bit: that of another number */
		{ { { SIDE_VARIES(low_bit_store, &data),
		      SIDE(low_bit_store, &data) },
		    COUNTER },
		  5,
		  true,
		  false },
		/* a reader finds what is there or what is stored */
		{ { { SIDE_VARIES(set_computed, &data),
		      SIDE(test_low_bit, &data) },
		    COUNTER },
		  5,
		  true,
		  false },
	};
	struct replay_result result;

	replay_result_init(&result);
	for (size_t i = 0; i < COUNT(all); i++) {
		data.counter = all[i].counter;
		scene_replay(*state, &all[i].scene, &result);
		assert_verdict(&result, REPLAY_NO_CHANGE);
		assert_int_equal(result.still, all[i].still);
		assert_int_equal(result.blind, all[i].blind);
	}
	data.counter = 0;
	replay_result_deinit(&result);
}

/* Run again, it is as it was captured, and so are the hints. */
static void a_blind_instance_remains(void **state)
{
	const struct scene scene = { { SIDE_VARIES(set_computed, &data),
				       SIDE(set_computed, &data) },
				     COUNTER };
	struct pair *pair = *state;
	struct replay_instance instance;
	struct replay_question question;
	struct replay_result result;
	size_t hints;

	replay_result_init(&result);
	data.counter = 5;
	pair_start(pair, set_computed, &data, set_computed, &data);
	scene_reach(pair, &scene, &instance, &question);
	scene_learn(pair, &instance, &question, &result);
	hints = pair->hints.count;
	for (int i = 0; i < 2; i++) {
		assert_verdict(&result, REPLAY_NO_CHANGE);
		assert_true(result.still && result.blind);
		assert_ok(replay_run(pair->processor, &question, &result));
	}
	assert_int_equal(pair->hints.count, hints);
	pair_stop(pair);
	data.counter = 0;
	replay_result_deinit(&result);
}

SCENE(set_and_return, "push %rbx",
      "movl $1, (%rdi)\n"
      "xor %eax, %eax\n"
      "pop %rbx\n"
      "ret");
SCENE(set_and_load, "",
      "movl $1, (%rdi)\n"
      "mov 8(%rdi), %eax\n"
      "ret");
SCENE(set_and_push, "",
      "movl $1, (%rdi)\n"
      "push %rdi\n"
      "pop %rax\n"
      "ret");
SCENE(set_and_branch, "",
      "movl $1, (%rdi)\n"
      "test %edi, %edi\n"
      "je 1f\n"
      "1: ret");

static uint32_t schedules_named(const char *const names[])
{
	uint32_t set = 0;

	for (; *names; names++)
		set |= UINT32_C(1) << schedule_named(*names);
	return set;
}

/* Which are not run, as they are others. */
static void what_is_the_same_order_is_run_once(void **state)
{
	static const struct {
		struct scene scene;
		const char *equal[REPLAY_SCHEDULES];
	} all[] = {
		{ { { SIDE(set_and_return, &data),
		      SIDE(set_and_return, &data) },
		    COUNTER },
		  { "b(a)b", "a(b)a", "ab-whole", "ba-whole" } },
		{ { { SIDE(set_and_return, &data), SIDE(set_and_load, &data) },
		    COUNTER },
		  { "b(a)b", "a(b)a", "ab-whole" } },
		{ { { SIDE(set_and_load, &data), SIDE(set_and_return, &data) },
		    COUNTER },
		  { "b(a)b", "a(b)a", "ba-whole" } },
		{ { { SIDE(set_and_push, &data), SIDE(set_and_load, &data) },
		    COUNTER },
		  { "b(a)b" } },
		{ { { SIDE(set_and_branch, &data), SIDE(set_and_load, &data) },
		    COUNTER },
		  { "b(a)b" } },
	};
	struct replay_result result;

	replay_result_init(&result);
	for (size_t i = 0; i < COUNT(all); i++) {
		scene_replay(*state, &all[i].scene, &result);
		assert_verdict(&result, REPLAY_NO_CHANGE);
		assert_int_equal(result.equal, schedules_named(all[i].equal));
	}
	replay_result_deinit(&result);
}

/* In the first instance: nothing was learned yet. */
static void replay_once(struct pair *pair, const struct scene *scene,
			struct replay_result *ret)
{
	const struct scene_side *sides = scene->sides;
	struct replay_instance instance;
	struct replay_question question;

	pair->ends_at_missed = true;
	pair_start(pair, sides[0].function, sides[0].data, sides[1].function,
		   sides[1].data);
	scene_reach(pair, scene, &instance, &question);
	pair_capture(pair, &instance);
	assert_ok(replay_run(pair->processor, &question, ret));
	pair_stop(pair);
}

static void a_region_may_end_at_a_page_that_was_missed(void **state)
{
	struct replay_result result;

	replay_result_init(&result);
	replay_once(*state,
		    &(struct scene){ { SIDE(count_and_go_far, &data),
				       SIDE(count_and_go_far, &data) },
				     COUNTER },
		    &result);
	assert_verdict(&result, REPLAY_CHANGE);
	assert_int_equal(result.changes.count, 1);
	replay_once(*state,
		    &(struct scene){ { SIDE(set_and_go_far, &data),
				       SIDE(set_and_go_far, &data) },
				     FLAG },
		    &result);
	assert_verdict(&result, REPLAY_NO_CHANGE);
	/* what was loaded is in a register that is read there */
	replay_once(*state,
		    &(struct scene){
			    { SIDE(carry_far, &data), SIDE(count_o2, &data) },
			    COUNTER },
		    &result);
	assert_verdict(&result, REPLAY_CHANGE);
	assert_true(result.registers);
	replay_once(*state,
		    &(struct scene){ { SIDE(load_and_forget, &data),
				       SIDE(count_o2, &data) },
				     COUNTER },
		    &result);
	assert_verdict(&result, REPLAY_NO_CHANGE);
	replay_result_deinit(&result);
}

/*
 * Only one way leads to the page: with what it has a moment later, that is no
 * effect, and the next instance has the page; or it is one, as far as is known.
 */
static void a_way_to_a_page_that_was_missed_is_learned(void **state)
{
	struct replay_result result;

	replay_result_init(&result);
	replay_once(*state,
		    &(struct scene){ { SIDE(flag_one, &data),
				       SIDE(unless_flag_look_far, &data) },
				     FLAG },
		    &result);
	assert_int_equal(result.verdict, REPLAY_FAILURE);
	assert_string_equal(result.failure, "learning");
	replay_once(*state,
		    &(struct scene){ { SIDE(flag_one, &data),
				       SIDE(unless_flag_count_far, &data) },
				     FLAG },
		    &result);
	assert_int_equal(result.verdict, REPLAY_FAILURE);
	assert_string_equal(result.failure, "unequal-end");
	replay_result_deinit(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(a_lost_update_is_a_change_of_the_raced_bytes),
		PAIR_TEST(an_update_that_others_have_overtaken_is_begun_anew),
		PAIR_TEST(an_update_without_its_load_is_no_proof),
		PAIR_TEST(an_update_on_a_condition_is_begun_anew),
		PAIR_TEST(what_no_order_changes_is_no_change),
		PAIR_TEST(what_waits_for_the_other_lets_it_run),
		PAIR_TEST(bits_that_share_a_word_are_lost),
		PAIR_TEST(harm_beyond_the_raced_bytes_is_told),
		PAIR_TEST(a_fault_that_an_order_avoids_is_a_fault),
		PAIR_TEST(a_fault_may_have_a_handler),
		PAIR_TEST(locks_are_taken_in_turn),
		PAIR_TEST(a_wait_is_no_order_unless_it_comes_to_one),
		PAIR_TEST(a_returned_value_counts_where_it_is_read),
		PAIR_TEST(what_cannot_be_replayed_has_a_name),
		PAIR_TEST(rights_of_protection_keys_are_not_replayed),
		PAIR_TEST(a_loop_without_end_ends_at_its_next_round),
		PAIR_TEST(a_system_call_is_an_end),
		PAIR_TEST(an_access_that_was_made_is_made_again),
		PAIR_TEST(an_overlap_is_what_no_whole_order_leads_to),
		PAIR_TEST(what_stores_what_is_there_is_still),
		PAIR_TEST(stores_that_depend_on_nothing_there_are_blind),
		PAIR_TEST(a_blind_instance_remains),
		PAIR_TEST(what_is_the_same_order_is_run_once),
		PAIR_TEST(a_region_may_end_at_a_page_that_was_missed),
		PAIR_TEST(a_way_to_a_page_that_was_missed_is_learned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
