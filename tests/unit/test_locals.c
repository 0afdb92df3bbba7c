/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which accesses to locals are sampled: functions of assembly, shaped as
 * compilers make them, of this very process. Those of a local that escapes
 * have 8 bytes, the others 4, so that the sites tell them apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "image/elftext.h"
#include "image/image.h"
#include "sampling/creators.h"
#include "sampling/scan.h"

#define PROBE(name, text)                                      \
	void probe_##name(void);                               \
	__asm__(".pushsection .text\n"                         \
		".globl probe_" #name "\n"                     \
		".type probe_" #name ", @function\n"           \
		"probe_" #name ":\n" text "\n"                 \
		".size probe_" #name ", . - probe_" #name "\n" \
		".popsection\n")

/* pthread_create() is a function of the test itself where a sanitizer has it */
#define CREATE "call thrd_create@PLT\n"

/* The calls' targets. */
PROBE(other, "ret");
PROBE(spawn, "movl $1, %esi\njmp thrd_create@PLT");
PROBE(spawn_far, "call probe_spawn\nret");
PROBE(spawn_too_far, "call probe_spawn_far\nret");
PROBE(around, "1: call probe_around\ncall probe_other\nret");

/* -O2: before, at and after the call; one beside it that is not passed */
PROBE(rsp, "subq $40, %rsp\n"
	   "movq $0, 8(%rsp)\n"
	   "movl $0, 4(%rsp)\n"
	   "leaq 8(%rsp), %rcx\n" CREATE "addq 8(%rsp), %rax\n"
	   "movl 4(%rsp), %eax\n"
	   "addq $40, %rsp\n"
	   "ret");
/* -O0: the frame pointer */
PROBE(rbp, "pushq %rbp\n"
	   "movq %rsp, %rbp\n"
	   "subq $32, %rsp\n"
	   "movl $0, -24(%rbp)\n"
	   "movq $0, -16(%rbp)\n"
	   "leaq -16(%rbp), %rax\n"
	   "movq %rax, %rcx\n" CREATE "movq -16(%rbp), %rax\n"
	   "leave\n"
	   "ret");
/* saved registers, and pushes between */
PROBE(pushes, "pushq %r12\n"
	      "pushq %rbx\n"
	      "subq $24, %rsp\n"
	      "leaq 8(%rsp), %rbx\n"
	      "pushq $1\n"
	      "movq %rbx, %rcx\n" CREATE "movq 16(%rsp), %rax\n"
	      "movl 8(%rsp), %eax\n"
	      "popq %rdx\n"
	      "movq 8(%rsp), %rax\n"
	      "movl (%rsp), %eax\n"
	      "addq $24, %rsp\n"
	      "popq %rbx\n"
	      "popq %r12\n"
	      "ret");
/* alloca(): found by rbp, before and after */
PROBE(alloca, "pushq %rbp\n"
	      "movq %rsp, %rbp\n"
	      "subq $16, %rsp\n"
	      "subq %rax, %rsp\n"
	      "movl $0, (%rsp)\n"
	      "leaq -8(%rbp), %rcx\n" CREATE "movq -8(%rbp), %rax\n"
	      "movl -16(%rbp), %edx\n"
	      "leave\n"
	      "ret");
/* a cold part after the return, led to by a branch */
PROBE(cold, "pushq %rbx\n"
	    "subq $32, %rsp\n"
	    "leaq 8(%rsp), %rcx\n" CREATE "testl %eax, %eax\n"
	    "jne 1f\n"
	    "addq $32, %rsp\n"
	    "popq %rbx\n"
	    "ret\n"
	    "1: movq 8(%rsp), %rax\n"
	    "movl 4(%rsp), %eax\n"
	    "ud2");
/* a structure in the frame that has the address: OpenMP, lambdas */
PROBE(captured, "subq $56, %rsp\n"
		"movq $0, 8(%rsp)\n"
		"movl $0, 4(%rsp)\n"
		"leaq 8(%rsp), %rax\n"
		"movq %rax, 40(%rsp)\n"
		"leaq 32(%rsp), %rcx\n"
		"leaq 16(%rsp), %rdi\n" CREATE "addq 8(%rsp), %rax\n"
		"movl (%rsp), %eax\n"
		"addq $56, %rsp\n"
		"ret");
/* an address on the heap, or in a global list */
PROBE(stored, "subq $24, %rsp\n"
	      "leaq 8(%rsp), %rax\n"
	      "movq %rax, (%rdi)\n"
	      "movq 8(%rsp), %rax\n"
	      "movl 4(%rsp), %eax\n"
	      "addq $24, %rsp\n"
	      "ret");
/* a buffer that is only passed to a function that creates nothing */
PROBE(buffer, "subq $24, %rsp\n"
	      "leaq 8(%rsp), %rdi\n"
	      "call probe_other\n"
	      "movq 8(%rsp), %rax\n"
	      "addq $24, %rsp\n"
	      "ret");
/* where the new thread's handle goes */
PROBE(handle, "subq $24, %rsp\n"
	      "leaq 8(%rsp), %rdi\n"
	      "xorl %ecx, %ecx\n" CREATE "movq 8(%rsp), %rax\n"
	      "addq $24, %rsp\n"
	      "ret");
/* a pointer that does not leave the function */
PROBE(inner, "subq $24, %rsp\n"
	     "leaq 8(%rsp), %rax\n"
	     "movq %rax, (%rsp)\n"
	     "movq 8(%rsp), %rdx\n"
	     "xorl %ecx, %ecx\n"
	     "xorl %edi, %edi\n" CREATE "addq $24, %rsp\n"
	     "ret");
/* an argument register that had an address has another value at the call */
PROBE(overwritten, "subq $24, %rsp\n"
		   "leaq 8(%rsp), %rcx\n"
		   "movl $7, %ecx\n" CREATE "movq 8(%rsp), %rax\n"
		   "addq $24, %rsp\n"
		   "ret");
/* beyond what counts as one object, and the saved register above it */
PROBE(extent, "pushq %rbx\n"
	      "subq $288, %rsp\n"
	      "leaq 8(%rsp), %rcx\n" CREATE "movq 128(%rsp), %rax\n"
	      "movl 136(%rsp), %eax\n"
	      "movl 288(%rsp), %eax\n"
	      "addq $288, %rsp\n"
	      "popq %rbx\n"
	      "ret");

#define SPAWN(name, target)                                        \
	PROBE(name, "subq $24, %rsp\n"                             \
		    "leaq 8(%rsp), %rdi\n"                         \
		    "call probe_" #target "\nmovq 8(%rsp), %rax\n" \
		    "addq $24, %rsp\n"                             \
		    "ret")

SPAWN(by_jump, spawn);
SPAWN(by_two, spawn_far);
SPAWN(by_three, spawn_too_far);
SPAWN(by_recursion, around);
PROBE(by_slot, "subq $24, %rsp\n"
	       "leaq 8(%rsp), %rcx\n"
	       "call *thrd_create@GOTPCREL(%rip)\n"
	       "movq 8(%rsp), %rax\n"
	       "addq $24, %rsp\n"
	       "ret");

/* Where others may find it: a pointer of which nothing is known. */
PROBE(keep, "movq %rdi, (%rax)\n"
	    "ret");
PROBE(keep_at_index, "movq %rdi, 8(%rcx,%rax,8)\n"
		     "ret");
PROBE(keep_by_jump, "jmp probe_keep");
PROBE(keep_by_call, "subq $8, %rsp\n"
		    "call probe_keep_by_jump\n"
		    "addq $8, %rsp\n"
		    "ret");
PROBE(keep_too_far, "subq $8, %rsp\n"
		    "call probe_keep_by_call\n"
		    "addq $8, %rsp\n"
		    "ret");
/* -O2: over a call, in rbp too */
PROBE(keep_saved, "pushq %rbp\n"
		  "movq %rdi, %rbp\n"
		  "call probe_other\n"
		  "movq %rbp, (%rax)\n"
		  "popq %rbp\n"
		  "ret");
/* -O0 */
PROBE(keep_spilled, "pushq %rbp\n"
		    "movq %rsp, %rbp\n"
		    "movq %rdi, -8(%rbp)\n"
		    "movq -8(%rbp), %rdx\n"
		    "movq %rdx, (%rax)\n"
		    "popq %rbp\n"
		    "ret");
/* after an early return */
PROBE(keep_behind, "testl %esi, %esi\n"
		   "jne 1f\n"
		   "ret\n"
		   "1: movq %rdi, (%rax)\n"
		   "ret");
/* a structure in the frame that has it, handed to a thread */
PROBE(keep_captured, "subq $24, %rsp\n"
		     "movq %rdi, 8(%rsp)\n"
		     "leaq 8(%rsp), %rcx\n" CREATE "addq $24, %rsp\n"
		     "ret");
PROBE(keep_second, "movq %rsi, 8(%rdi)\n"
		   "ret");
/* nobody else finds it: an object that has its own address, and a local */
PROBE(keep_itself, "leaq 16(%rdi), %rax\n"
		   "movq %rax, (%rdi)\n"
		   "ret");
PROBE(keep_for_itself, "movq %rdi, %fs:16\n"
		       "ret");
PROBE(keep_other, "movq (%rdi), %rdi\n"
		  "movq %rdi, (%rax)\n"
		  "ret");

SPAWN(kept, keep);
SPAWN(kept_at_index, keep_at_index);
SPAWN(kept_by_jump, keep_by_jump);
SPAWN(kept_by_call, keep_by_call);
SPAWN(kept_too_far, keep_too_far);
SPAWN(kept_saved, keep_saved);
SPAWN(kept_spilled, keep_spilled);
SPAWN(kept_behind, keep_behind);
SPAWN(kept_captured, keep_captured);
SPAWN(kept_itself, keep_itself);
SPAWN(kept_for_itself, keep_for_itself);
SPAWN(kept_other, keep_other);
/* the second is passed on; to an object of others, to a local, to one that is kept */
PROBE(kept_elsewhere, "subq $40, %rsp\n"
		      "leaq 8(%rsp), %rsi\n"
		      "call probe_keep_second\n"
		      "movq 8(%rsp), %rax\n"
		      "addq $40, %rsp\n"
		      "ret");
PROBE(kept_here, "subq $40, %rsp\n"
		 "leaq 16(%rsp), %rdi\n"
		 "leaq 8(%rsp), %rsi\n"
		 "call probe_keep_second\n"
		 "movq 8(%rsp), %rax\n"
		 "addq $40, %rsp\n"
		 "ret");
PROBE(kept_by_kept, "subq $40, %rsp\n"
		    "leaq 16(%rsp), %rdi\n"
		    "leaq 8(%rsp), %rsi\n"
		    "call probe_keep_second\n"
		    "leaq 16(%rsp), %rdi\n"
		    "call probe_keep\n"
		    "movq 8(%rsp), %rax\n"
		    "addq $40, %rsp\n"
		    "ret");

struct fixture {
	struct image *image;
	struct rules rules;
	struct scanner scanner;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	bool changed;

	if (!fixture || image_create(getpid(), &fixture->image) ||
	    image_refresh(fixture->image, &changed))
		return -1;
	globs_init(&fixture->rules.globs);
	if (scanner_init(&fixture->scanner, fixture->image, &fixture->rules))
		return -1;
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	scanner_deinit(&fixture->scanner);
	globs_deinit(&fixture->rules.globs);
	image_destroy(fixture->image);
	free(fixture);
	return 0;
}

/* How many sites of 8 bytes the probe has through rsp or rbp; others: none. */
static unsigned int sites(struct fixture *fixture, void (*probe)(void))
{
	uint64_t address = (uintptr_t)probe;
	struct module *module = image_module_at(fixture->image, address);
	struct scan_counts counts = { .functions = 0 };
	struct vec found = VEC_INIT(struct scan_site);
	unsigned int wide = 0;

	assert_non_null(module);
	assert_null(scan_function(&fixture->scanner, module,
				  elftext_function_at(module->text,
						      address - module->bias),
				  RULE_SITE, &found, &counts));
	assert_int_equal(found.count, counts.rules[RULE_SITE]);
	for (size_t i = 0; i < found.count; i++) {
		const struct scan_site *site = vec_at(&found, i);
		uint8_t base = site->insn.operands[0].base;

		assert_int_equal(site->rule, RULE_SITE);
		if (base != X86_RSP && base != X86_RBP)
			continue;
		assert_int_equal(site->insn.operands[0].size, 8);
		wide++;
	}
	assert_int_equal(counts.locals, wide);
	vec_deinit(&found);
	return wide;
}

static void passed_to_a_thread_by_the_stack_pointer(void **state)
{
	assert_int_equal(sites(*state, probe_rsp), 2);
}

static void passed_to_a_thread_by_the_frame_pointer(void **state)
{
	assert_int_equal(sites(*state, probe_rbp), 2);
}

static void pushes_move_the_frame(void **state)
{
	assert_int_equal(sites(*state, probe_pushes), 2);
}

static void alloca_moves_it_by_a_number_not_known(void **state)
{
	assert_int_equal(sites(*state, probe_alloca), 1);
}

static void code_after_a_return_has_the_frame_of_its_branch(void **state)
{
	assert_int_equal(sites(*state, probe_cold), 1);
}

static void an_address_in_a_structure_that_escapes_does_too(void **state)
{
	/* also what is stored to the structure */
	assert_int_equal(sites(*state, probe_captured), 3);
}

static void an_address_stored_outside_the_frame_escapes(void **state)
{
	assert_int_equal(sites(*state, probe_stored), 1);
}

static void other_locals_are_left_out(void **state)
{
	assert_int_equal(sites(*state, probe_buffer), 0);
	assert_int_equal(sites(*state, probe_inner), 0);
	assert_int_equal(sites(*state, probe_overwritten), 0);
	assert_int_equal(sites(*state, probe_handle), 0);
}

static void an_object_ends(void **state)
{
	assert_int_equal(sites(*state, probe_extent), 1);
}

static void a_few_calls_are_followed(void **state)
{
	assert_int_equal(sites(*state, probe_by_slot), 1);
	assert_int_equal(sites(*state, probe_by_jump), 1);
	assert_int_equal(sites(*state, probe_by_two), 1);
	assert_int_equal(sites(*state, probe_by_three), 0);
	assert_int_equal(sites(*state, probe_by_recursion), 0);
	/* in whatever order they are asked for */
	assert_int_equal(sites(*state, probe_spawn_too_far), 0);
	assert_int_equal(sites(*state, probe_by_two), 1);
	assert_int_equal(sites(*state, probe_by_three), 0);
}

static void passed_to_a_function_that_keeps_it(void **state)
{
	assert_int_equal(sites(*state, probe_kept), 1);
	assert_int_equal(sites(*state, probe_kept_at_index), 1);
	assert_int_equal(sites(*state, probe_kept_saved), 1);
	assert_int_equal(sites(*state, probe_kept_spilled), 1);
	assert_int_equal(sites(*state, probe_kept_behind), 1);
	assert_int_equal(sites(*state, probe_kept_captured), 1);
}

static void functions_that_pass_it_on_are_followed(void **state)
{
	/* three calls deep, in whatever order they are asked for */
	assert_int_equal(sites(*state, probe_kept_too_far), 0);
	assert_int_equal(sites(*state, probe_kept_by_call), 1);
	assert_int_equal(sites(*state, probe_kept_by_jump), 1);
	assert_int_equal(sites(*state, probe_kept_too_far), 0);
}

static void an_object_that_keeps_it_is_followed(void **state)
{
	assert_int_equal(sites(*state, probe_kept_elsewhere), 1);
	assert_int_equal(sites(*state, probe_kept_here), 0);
	assert_int_equal(sites(*state, probe_kept_by_kept), 1);
}

static void kept_where_nobody_finds_it_is_left_out(void **state)
{
	assert_int_equal(sites(*state, probe_kept_itself), 0);
	assert_int_equal(sites(*state, probe_kept_for_itself), 0);
	assert_int_equal(sites(*state, probe_kept_other), 0);
}

static void the_option_leaves_all_in(void **state)
{
	struct fixture *fixture = *state;
	uint64_t address = (uintptr_t)probe_buffer;
	struct module *module = image_module_at(fixture->image, address);
	struct scan_counts counts = { .functions = 0 };
	struct vec found = VEC_INIT(struct scan_site);

	fixture->rules.include_stack = true;
	assert_null(scan_function(&fixture->scanner, module,
				  elftext_function_at(module->text,
						      address - module->bias),
				  RULE_SITE, &found, &counts));
	assert_int_equal(found.count, 1);
	assert_int_equal(counts.locals, 0);
	vec_deinit(&found);
}

static void creators_are_known_by_name(void **state)
{
	(void)state;
	assert_true(creators_name("pthread_create"));
	assert_true(creators_name("GOMP_parallel_loop_static"));
	assert_true(creators_name("_ZNSt6thread15_M_start_threadESt10unique_"
				  "ptrINS_6_StateESt14default_deleteIS1_EE"
				  "PFvvE"));
	assert_false(creators_name("pthread_join"));
	assert_false(creators_name(NULL));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(passed_to_a_thread_by_the_stack_pointer),
		TEST(passed_to_a_thread_by_the_frame_pointer),
		TEST(pushes_move_the_frame),
		TEST(alloca_moves_it_by_a_number_not_known),
		TEST(code_after_a_return_has_the_frame_of_its_branch),
		TEST(an_address_in_a_structure_that_escapes_does_too),
		TEST(an_address_stored_outside_the_frame_escapes),
		TEST(other_locals_are_left_out),
		TEST(an_object_ends),
		TEST(a_few_calls_are_followed),
		TEST(passed_to_a_function_that_keeps_it),
		TEST(functions_that_pass_it_on_are_followed),
		TEST(an_object_that_keeps_it_is_followed),
		TEST(kept_where_nobody_finds_it_is_left_out),
		TEST(the_option_leaves_all_in),
		cmocka_unit_test(creators_are_known_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
