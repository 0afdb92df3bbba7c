/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conflicts made up by hand in this very process: functions of assembly with
 * labels stand for the code, a buffer for each thread's stack, and the
 * registers are what they would be. What is found must be the instruction, its
 * access, the overlap, the verdict and the names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "conflict/conflict.h"
#include "conflict/evidence.h"
#include "image/debuginfo.h"
#include "image/elftext.h"
#include "image/image.h"
#include "report/race.h"
#include "sampling/names.h"
#include "sampling/rules.h"
#include "sampling/scan.h"

extern uint64_t shared_words[4];
extern _Atomic uint64_t flag_word;
extern struct flagged {
	_Atomic uint64_t stop;
	uint64_t total;
} flagged;
uint64_t shared_words[4];
_Atomic uint64_t flag_word;
struct flagged flagged;

/* before_NAME is the instruction, after_NAME the one behind it */
#define CODE(name, text)                                                   \
	extern const char entry_##name[], before_##name[], after_##name[]; \
	__asm__(".pushsection .text\n"                                     \
		".globl code_" #name ", entry_" #name "\n"                 \
		".globl before_" #name ", after_" #name "\n"               \
		".type code_" #name ", @function\n"                        \
		"code_" #name ":\nentry_" #name ":\n.cfi_startproc\nnop\n" \
		"before_" #name ": " text "\n"                             \
		"after_" #name ": ret\n.cfi_endproc\n"                     \
		".size code_" #name ", . - code_" #name "\n"               \
		".popsection\n")

CODE(store, "movq %rax, (%rdi)");
CODE(load, "movq (%rdi), %rax");
CODE(load_own, "movq (%rdi), %rdi");
CODE(load_low, "movl (%rdi), %eax; andl $0xffffff, %eax");
CODE(load_all, "movl (%rdi), %eax; cmpl %eax, %esi");
CODE(store_byte, "movb %al, (%rdi)");
CODE(wide, "movups %xmm0, (%rdi)");
CODE(flags, "movups %xmm0, flagged(%rip)");
CODE(add, "addq %rsi, (%rdi)");
CODE(exchange, "xchgq %rax, (%rdi)");
CODE(locked, "lock addq %rsi, (%rdi)");
CODE(copy, "movsq");
CODE(system, "syscall");
CODE(call, "callq *(%rdi)");
CODE(masked, "vpmaskmovd %ymm0, %ymm1, (%rdi)");

enum { STACK = 256 };

struct message {
	struct wire_conflict wire;
	uint8_t stacks[2][STACK];
};

struct fixture {
	struct image *image;
	struct rules rules;
	struct scanner scanner;
	struct conflict_context context;
	struct message message;
	struct conflict conflict;
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
	fixture->context = (struct conflict_context){
		.homes = { { fixture->image, &fixture->scanner, 0 },
			   { fixture->image, &fixture->scanner, 0 } },
		.rules = &fixture->rules,
		.backend = "perf",
		.program = "test",
	};
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	scanner_deinit(&fixture->scanner);
	image_destroy(fixture->image);
	free(fixture);
	return 0;
}

/* A thread at rip with rdi at the data, called from the middle of main. */
static struct wire_side *side(struct fixture *fixture, int i, const void *rip,
			      const void *data)
{
	struct wire_side *wire = &fixture->message.wire.sides[i];
	uint64_t caller = (uintptr_t)after_store;

	memset(wire, 0, sizeof(*wire));
	wire->present = true;
	wire->before = i == 0;
	wire->pid = 100;
	wire->tid = 101 + i;
	wire->syscall = -1;
	strcpy(wire->name, i == 0 ? "first" : "second");
	wire->path_length = 1;
	wire->path[0] = (uint32_t)i;
	wire->regs.rip = (uintptr_t)rip;
	wire->regs.gpr[X86_RDI] = (uintptr_t)data;
	wire->regs.gpr[X86_RSP] = 0x7000;
	wire->stack_address = 0x7000;
	wire->stack_size = STACK;
	memcpy(fixture->message.stacks[i], &caller, sizeof(caller));
	return wire;
}

static void stalled(struct fixture *fixture, const void *rip, const void *data,
		    unsigned int kind, uint32_t size)
{
	struct wire_side *wire = side(fixture, 0, rip, data);

	wire->access =
		(struct mem_access){ (uintptr_t)data, size, (uint8_t)kind };
	fixture->message.wire.evidence = WIRE_WATCHPOINT;
}

static const struct conflict *understand(struct fixture *fixture)
{
	struct error *err = conflict_read(&fixture->context, &fixture->message,
					  sizeof(fixture->message),
					  &fixture->conflict);

	if (err)
		fail_msg("%s", error_message(err));
	return &fixture->conflict;
}

static void the_instruction_before_rip_is_found(void **state)
{
	struct fixture *fixture = *state;
	const struct conflict *conflict;

	stalled(fixture, before_load, shared_words, ACCESS_READ, 8);
	side(fixture, 1, after_store, shared_words);
	conflict = understand(fixture);
	assert_true(conflict->race);
	assert_null(conflict->sides[0].sync);
	assert_null(conflict->sides[1].sync);
	assert_int_equal(conflict->sides[0].insn_address,
			 (uintptr_t)before_load);
	assert_int_equal(conflict->sides[1].insn_address,
			 (uintptr_t)before_store);
	assert_int_equal(conflict->sides[1].access.kind, ACCESS_WRITE);
	assert_int_equal(conflict->sides[1].access.size, 8);
	assert_int_equal(conflict->sides[1].frames[0].pc,
			 (uintptr_t)before_store);
	assert_int_equal(conflict->overlap.address, (uintptr_t)shared_words);
	assert_int_equal(conflict->overlap.size, 8);
}

static void read_against_read_is_no_race(void **state)
{
	struct fixture *fixture = *state;

	stalled(fixture, before_load, shared_words, ACCESS_READ, 8);
	side(fixture, 1, after_load, shared_words);
	assert_false(understand(fixture)->race);
	stalled(fixture, before_store, shared_words, ACCESS_WRITE, 8);
	side(fixture, 1, after_load, shared_words);
	assert_true(understand(fixture)->race);
	assert_int_equal(fixture->conflict.sides[1].access.kind, ACCESS_READ);
}

/* A bit-field of 24 bits is loaded with the byte behind it. */
static void bytes_that_are_thrown_away_are_no_race(void **state)
{
	struct fixture *fixture = *state;
	char *bytes = (char *)shared_words;

	stalled(fixture, before_load_low, shared_words, ACCESS_READ, 4);
	side(fixture, 1, after_store_byte, bytes + 3);
	assert_false(understand(fixture)->race);
	/* one of the field's own */
	side(fixture, 1, after_store_byte, bytes + 2);
	assert_true(understand(fixture)->race);
	stalled(fixture, before_load_all, shared_words, ACCESS_READ, 4);
	side(fixture, 1, after_store_byte, bytes + 3);
	assert_true(understand(fixture)->race);
}

/* The same where nobody was seen, by what has changed. */
static void changed_bytes_that_are_thrown_away_are_no_race(void **state)
{
	struct fixture *fixture = *state;

	stalled(fixture, before_load_low, shared_words, ACCESS_READ, 4);
	memset(&fixture->message.wire.sides[1], 0,
	       sizeof(fixture->message.wire.sides[1]));
	fixture->message.wire.sides[1].syscall = -1;
	fixture->message.wire.evidence = WIRE_VALUE_CHANGE;
	fixture->message.wire.before[3] = 1;
	assert_false(understand(fixture)->race);
	/* one of the field's own, too */
	fixture->message.wire.before[2] = 1;
	assert_true(understand(fixture)->race);
	/* and the last byte of what uses it */
	stalled(fixture, before_load_all, shared_words, ACCESS_READ, 4);
	fixture->message.wire.evidence = WIRE_VALUE_CHANGE;
	fixture->message.wire.before[2] = 0;
	assert_true(understand(fixture)->race);
}

static void an_overwritten_address_register_does_not_confuse(void **state)
{
	struct fixture *fixture = *state;
	const struct conflict *conflict;

	stalled(fixture, before_store, shared_words, ACCESS_WRITE, 8);
	side(fixture, 1, after_load_own, (void *)0x1234);
	conflict = understand(fixture);
	assert_int_equal(conflict->sides[1].insn_address,
			 (uintptr_t)before_load_own);
	assert_int_equal(conflict->sides[1].access.kind, ACCESS_READ);
	assert_int_equal(conflict->overlap.address, (uintptr_t)shared_words);
	assert_int_equal(conflict->overlap.size, 8);
}

static void the_overlap_is_what_both_touched(void **state)
{
	struct fixture *fixture = *state;
	struct race *race;

	stalled(fixture, before_wide, shared_words, ACCESS_WRITE, 16);
	side(fixture, 1, after_load, &shared_words[1]);
	for (int i = 0; i < 16; i++) {
		fixture->message.wire.before[i] = (uint8_t)i;
		fixture->message.wire.after[i] = (uint8_t)(i + 100);
	}
	understand(fixture);
	assert_int_equal(fixture->conflict.overlap.address,
			 (uintptr_t)&shared_words[1]);
	assert_int_equal(fixture->conflict.overlap.size, 8);
	assert_null(conflict_describe(&fixture->context, &fixture->conflict,
				      &race));
	assert_int_equal(race->size, 8);
	assert_int_equal(race->before[0], 8);
	assert_int_equal(race->after[7], 115);
	assert_int_equal(race->sides[0].size, 16);
	race_deinit(race);
	free(race);
}

/* Its mask is not known: only bytes that changed show that it wrote them. */
static void a_masked_store_must_have_changed_something(void **state)
{
	struct fixture *fixture = *state;

	stalled(fixture, before_store, shared_words, ACCESS_WRITE, 8);
	side(fixture, 1, after_masked, shared_words);
	assert_false(understand(fixture)->race);
	fixture->message.wire.after[3] ^= 1;
	assert_true(understand(fixture)->race);
	side(fixture, 1, after_store, shared_words);
	fixture->message.wire.after[3] ^= 1;
	assert_true(understand(fixture)->race);
}

static void of_a_copy_the_side_that_was_watched_counts(void **state)
{
	struct fixture *fixture = *state;
	struct wire_side *wire;

	/* after one element: rsi and rdi have moved on */
	stalled(fixture, before_store, shared_words, ACCESS_WRITE, 8);
	wire = side(fixture, 1, after_copy, &shared_words[1]);
	wire->regs.gpr[X86_RSI] = (uintptr_t)&flag_word;
	assert_int_equal(understand(fixture)->sides[1].access.kind,
			 ACCESS_WRITE);
	wire->regs.gpr[X86_RDI] = (uintptr_t)&flag_word;
	wire->regs.gpr[X86_RSI] = (uintptr_t)&shared_words[1];
	assert_int_equal(understand(fixture)->sides[1].access.kind,
			 ACCESS_READ);
}

static void at_a_functions_start_it_was_the_call(void **state)
{
	struct fixture *fixture = *state;
	uint64_t caller = (uintptr_t)after_call;
	const struct conflict *conflict;

	stalled(fixture, before_store, shared_words, ACCESS_WRITE, 8);
	side(fixture, 1, entry_store, shared_words);
	memcpy(fixture->message.stacks[1], &caller, sizeof(caller));
	conflict = understand(fixture);
	assert_int_equal(conflict->sides[1].insn_address,
			 (uintptr_t)before_call);
	assert_int_equal(conflict->sides[1].access.kind, ACCESS_READ);
	assert_int_equal(conflict->sides[1].frames[0].pc,
			 (uintptr_t)before_call);
	assert_false(conflict->sides[1].frames[0].is_return);
}

static void the_kernel_reads_or_writes_by_its_call(void **state)
{
	struct fixture *fixture = *state;
	struct wire_side *wire;
	struct race *race;

	stalled(fixture, before_store, shared_words, ACCESS_WRITE, 8);
	wire = side(fixture, 1, after_system, NULL);
	wire->syscall = SYS_write;
	assert_int_equal(understand(fixture)->sides[1].access.kind,
			 ACCESS_READ);
	wire->syscall = SYS_read;
	assert_int_equal(understand(fixture)->sides[1].access.kind,
			 ACCESS_WRITE);
	assert_true(fixture->conflict.sides[1].kernel);
	assert_null(conflict_describe(&fixture->context, &fixture->conflict,
				      &race));
	assert_string_equal(race->sides[1].syscall, "read");
	assert_string_equal(race->sides[1].insn, "syscall");
	race_deinit(race);
	free(race);
}

static void synchronizing_instructions_are_evidence_of_their_side(void **state)
{
	struct fixture *fixture = *state;

	stalled(fixture, before_load, shared_words, ACCESS_READ, 8);
	side(fixture, 1, after_exchange, shared_words);
	assert_string_equal(understand(fixture)->sides[1].sync,
			    "synchronizing");
	side(fixture, 1, after_locked, shared_words);
	assert_string_equal(understand(fixture)->sides[1].sync,
			    "synchronizing");
	assert_null(fixture->conflict.sides[0].sync);
	side(fixture, 1, after_add, shared_words);
	assert_null(understand(fixture)->sides[1].sync);
	assert_int_equal(fixture->conflict.sides[1].access.kind, ACCESS_RMW);
}

static void an_atomic_variable_is_evidence_of_both_sides(void **state)
{
	struct fixture *fixture = *state;
	struct race *race;

	stalled(fixture, before_load, (const void *)&flag_word, ACCESS_READ, 8);
	side(fixture, 1, after_store, (const void *)&flag_word);
	assert_string_equal(understand(fixture)->sides[1].sync, "atomic-type");
	assert_null(conflict_describe(&fixture->context, &fixture->conflict,
				      &race));
	assert_int_equal(race->verdict, VERDICT_SUSPECT); /* not judged yet */
	assert_string_equal(race->sides[0].sync, "atomic-type");
	assert_string_equal(race->sides[1].sync, "atomic-type");
	race_deinit(race);
	free(race);
}

/* A store of all of it begins in an atomic member; they meet in another. */
static void a_mark_is_of_the_bytes_where_they_meet(void **state)
{
	struct fixture *fixture = *state;

	stalled(fixture, before_load, &flagged.total, ACCESS_READ, 8);
	side(fixture, 1, after_flags, &flagged);
	assert_int_equal(understand(fixture)->sides[1].rule, RULE_ATOMIC_TYPE);
	assert_null(fixture->conflict.sides[1].sync);
	assert_null(fixture->conflict.sides[0].sync);
	stalled(fixture, before_load, (const void *)&flagged.stop, ACCESS_READ,
		8);
	side(fixture, 1, after_flags, &flagged);
	assert_string_equal(understand(fixture)->sides[1].sync, "atomic-type");
}

static void a_changed_value_without_a_thread_is_a_write(void **state)
{
	struct fixture *fixture = *state;
	struct race *race;

	stalled(fixture, before_store, shared_words, ACCESS_WRITE, 8);
	memset(&fixture->message.wire.sides[1], 0,
	       sizeof(fixture->message.wire.sides[1]));
	fixture->message.wire.sides[1].syscall = -1;
	fixture->message.wire.evidence = WIRE_VALUE_CHANGE;
	fixture->message.wire.before[0] = 1;
	assert_true(understand(fixture)->race);
	assert_int_equal(fixture->conflict.sides[1].access.kind, ACCESS_WRITE);
	assert_null(conflict_describe(&fixture->context, &fixture->conflict,
				      &race));
	assert_int_equal(race->sides[1].role, RACE_UNKNOWN);
	assert_int_equal(race->sides[1].frames.count, 0);
	assert_int_equal(race->evidence, EVIDENCE_VALUE_CHANGE);
	race_deinit(race);
	free(race);
}

static void everything_gets_its_name(void **state)
{
	struct fixture *fixture = *state;
	const struct race_frame *frame;
	struct race *race;

	stalled(fixture, before_add, &shared_words[2], ACCESS_RMW, 8);
	side(fixture, 1, after_store, &shared_words[2]);
	understand(fixture);
	assert_null(conflict_describe(&fixture->context, &fixture->conflict,
				      &race));
	assert_string_equal(race->program, "test");
	assert_string_equal(race->backend, "perf");
	assert_string_equal(race->variable.name, "shared_words[2]");
	assert_int_equal(race->variable.region, REGION_GLOBAL);
	assert_string_equal(race->sides[0].thread, "first");
	assert_string_equal(race->sides[1].thread, "second");
	assert_int_equal(race->sides[1].thread_path_length, 1);
	assert_int_equal(race->sides[1].thread_path[0], 1);
	assert_int_equal(race->sides[0].role, RACE_STALLED);
	assert_int_equal(race->sides[1].role, RACE_RACING);
	assert_non_null(strstr(race->sides[1].insn, "mov"));
	frame = vec_at(&race->sides[0].frames, 0);
	assert_non_null(strstr(frame->function, "_add"));
	assert_int_equal(race->sides[0].pattern.change, PATTERN_ADD);
	assert_int_equal(race->sides[1].address, (uintptr_t)&shared_words[2]);
	frame = vec_at(&race->sides[1].frames, 0);
	assert_non_null(strstr(frame->function, "_store"));
	assert_non_null(frame->module);
	assert_int_equal(strlen(race->fingerprint), 32);
	assert_int_equal(race->verdict, VERDICT_SUSPECT);
	race_deinit(race);
	free(race);
}

static void the_key_tells_places_apart_and_nothing_else(void **state)
{
	struct fixture *fixture = *state;
	uint64_t key;

	stalled(fixture, before_add, &shared_words[2], ACCESS_RMW, 8);
	side(fixture, 1, after_store, &shared_words[2]);
	key = understand(fixture)->key;
	fixture->message.wire.wall_ns++;
	fixture->message.wire.before[3] ^= 1;
	fixture->message.wire.sides[1].tid += 5;
	assert_int_equal(understand(fixture)->key, key);
	stalled(fixture, before_add, &shared_words[1], ACCESS_RMW, 8);
	side(fixture, 1, after_store, &shared_words[1]);
	assert_int_not_equal(understand(fixture)->key, key);
	stalled(fixture, before_add, &shared_words[2], ACCESS_RMW, 8);
	side(fixture, 1, after_exchange, &shared_words[2]);
	assert_int_not_equal(understand(fixture)->key, key);
}

/* The side's instruction is the first of a function of that module. */
static struct conflict_side side_in(struct module *module,
				    const struct elf_function *function,
				    const struct fixture *fixture)
{
	static const struct wire_side wire = { .present = true };

	return (struct conflict_side){
		.wire = &wire,
		.home = &fixture->context.homes[0],
		.module = module,
		.insn_address = function->start + module->bias,
		.access = { .kind = ACCESS_READ },
	};
}

/* All that is asked of it is answered without debug information. */
static void string_functions_are_known_by_name(void **state)
{
	struct fixture *fixture = *state;
	struct module *libc =
		image_module_at(fixture->image, (uintptr_t)getpid);
	const struct elf_function *functions;
	struct debug_module *debug;
	size_t count, found = 0;

	functions = elftext_functions(libc->text, &count);
	for (size_t i = 0; i < count; i++) {
		struct conflict_side own =
			side_in(libc, &functions[i], fixture);
		bool is_string = rules_string_name(functions[i].name);

		assert_int_equal(evidence_of_string_function(&own), is_string);
		if (!is_string)
			continue;
		assert_int_equal(evidence_missing(&own), ATOMICS_MISS_NOTHING);
		found++;
	}
	assert_true(found > 10);
	assert_null(debuginfo_unread(fixture->image, libc, &debug));
	assert_false(debug->loaded);
}

static void a_message_cut_short_is_refused(void **state)
{
	struct fixture *fixture = *state;
	const size_t sizes[] = { 0, sizeof(struct wire_conflict) - 1,
				 sizeof(struct wire_conflict),
				 sizeof(struct message) - 1 };

	stalled(fixture, before_load, shared_words, ACCESS_READ, 8);
	side(fixture, 1, after_store, shared_words);
	for (size_t i = 0; i < 4; i++)
		assert_true(error_catch(
			conflict_read(&fixture->context, &fixture->message,
				      sizes[i], &fixture->conflict),
			ERROR_FORMAT));
}

static void code_outside_all_modules_is_unknown_not_fatal(void **state)
{
	struct fixture *fixture = *state;
	struct race *race;

	stalled(fixture, before_load, shared_words, ACCESS_READ, 8);
	side(fixture, 1, (const void *)0x10, shared_words);
	assert_true(understand(fixture)->race);
	/* the watch was for writes */
	assert_int_equal(fixture->conflict.sides[1].access.kind, ACCESS_WRITE);
	assert_int_equal(fixture->conflict.sides[1].insn_address, 0);
	assert_null(conflict_describe(&fixture->context, &fixture->conflict,
				      &race));
	assert_null(race->sides[1].insn);
	assert_true(race->sides[1].frames.count >= 1);
	race_deinit(race);
	free(race);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_instruction_before_rip_is_found),
		TEST(read_against_read_is_no_race),
		TEST(bytes_that_are_thrown_away_are_no_race),
		TEST(changed_bytes_that_are_thrown_away_are_no_race),
		TEST(an_overwritten_address_register_does_not_confuse),
		TEST(the_overlap_is_what_both_touched),
		TEST(a_masked_store_must_have_changed_something),
		TEST(of_a_copy_the_side_that_was_watched_counts),
		TEST(at_a_functions_start_it_was_the_call),
		TEST(the_kernel_reads_or_writes_by_its_call),
		TEST(synchronizing_instructions_are_evidence_of_their_side),
		TEST(an_atomic_variable_is_evidence_of_both_sides),
		TEST(a_mark_is_of_the_bytes_where_they_meet),
		TEST(a_changed_value_without_a_thread_is_a_write),
		TEST(everything_gets_its_name),
		TEST(the_key_tells_places_apart_and_nothing_else),
		TEST(string_functions_are_known_by_name),
		TEST(a_message_cut_short_is_refused),
		TEST(code_outside_all_modules_is_unknown_not_fatal),
	};

	return cmocka_run_group_tests_name("conflict", tests, NULL, NULL);
}
