/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Of which conflicts a replay can be asked for, and what is asked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "base/error.h"
#include "conflict/conflict.h"
#include "image/image.h"
#include "sampling/scan.h"
#include "session/session-replay.h"

enum { RACED = 0x10040, CFA = 0x7000 };

/*
 * lock(mutex); *word = 1; and the same behind a call of something else. With symbols
 * that the scanner finds, and calls through the PLT.
 */
#define STORE_BEHIND(name, function)                                          \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name \
		":\n\tpush %rbx\n\tmov %rsi, %rbx\n\tcall " #function         \
		"@PLT\n" #name                                                \
		"_site:\n\tmovl $1, (%rbx)\n\tpop %rbx\n\tret\n"              \
		".globl " #name "_site\n.size " #name ", .-" #name "\n")

STORE_BEHIND(store_locked, pthread_mutex_lock);
STORE_BEHIND(store_behind_call, pthread_mutex_unlock);
extern const char store_locked_site[], store_behind_call_site[];

/* at[number & 255] = 2 * number, and *word = value */
__asm__(".text\n.globl store_made\n.type store_made, @function\nstore_made:\n"
	"\tmovzbl %sil, %eax\n\tlea (%rsi, %rsi), %edx\n"
	"store_made_site:\n\tmov %edx, (%rdi, %rax, 4)\n\tret\n"
	".globl store_made_site\n.size store_made, .-store_made\n"
	".globl store_handed\n.type store_handed, @function\nstore_handed:\n"
	"store_handed_site:\n\tmov %esi, (%rdi)\n\tret\n"
	".globl store_handed_site\n.size store_handed, .-store_handed\n");
extern const char store_made_site[], store_handed_site[];
extern const char __ehdr_start[];

/*
 * check(word); return *word; as it is built without optimization, and with an
 * instruction behind the load that acts, or leads elsewhere.
 */
#define LOAD_BEHIND_CALL(name, rest)                                          \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name \
		":\n\tsub $24, %rsp\n\tmov %rdi, 8(%rsp)\n"                   \
		"\tcall store_made\n\tmov 8(%rsp), %rax\n" #name              \
		"_site:\n\tmov (%rax), %rax\n\tmov %rax, 16(%rsp)\n" rest     \
		"\tmov 16(%rsp), %rax\n\tadd $24, %rsp\n\tret\n"              \
		".globl " #name "_site\n.size " #name ", .-" #name "\n");     \
	extern const char name##_site[]

LOAD_BEHIND_CALL(load_only, "test %rax, %rax\nje 1f\nnop\n1:\n");
LOAD_BEHIND_CALL(load_store, "\tmov %rax, (%rdi)\n");
LOAD_BEHIND_CALL(load_call, "\tcall store_made\n");
LOAD_BEHIND_CALL(load_again, "\tjne load_again\n");
LOAD_BEHIND_CALL(load_elsewhere, "\tjne store_made\n");
LOAD_BEHIND_CALL(load_jump, "\tjmp *%rcx\n");

struct fixture {
	struct image *image;
	struct rules rules;
	struct scanner scanner;
	struct conflict_home home;
	struct conflict conflict;
	struct session_instance instance;
};

/* A store that was stalled, and a load that trapped: mov (%rax), %rax. */
static void scene(struct fixture *fixture)
{
	static const enum access_kind kinds[] = { ACCESS_WRITE, ACCESS_READ };
	struct conflict *conflict = &fixture->conflict;

	memset(conflict, 0, sizeof(*conflict));
	for (int i = 0; i < 2; i++) {
		struct conflict_side *side = &conflict->sides[i];

		conflict->wire.sides[i].present = true;
		side->wire = &conflict->wire.sides[i];
		side->home = &fixture->home;
		side->module = image_module_at(fixture->image,
					       (uintptr_t)__ehdr_start);
		assert_non_null(side->module);
		side->insn_address = 1; /* of no function */
		side->access = (struct mem_access){ RACED, 8, kinds[i] };
		side->insn.operand_count = 1;
		side->insn.operands[0] = (struct mem_operand){
			.base = X86_RAX,
			.index = X86_REG_NONE,
			.size = 8,
			.kind = kinds[i],
		};
		side->frames[0].registers.cfa = CFA;
		side->frame_count = 1;
	}
	conflict->wire.sides[0].before = true;
	conflict->sides[1].guessed = true;
	conflict->overlap = conflict->sides[0].access;
}

static const char *refusal(struct fixture *fixture)
{
	struct error *err =
		session_replay_question(&fixture->conflict, &fixture->instance);

	assert_null(err);
	return fixture->instance.failure;
}

static void an_address_that_was_overwritten_follows(void **state)
{
	struct fixture *fixture = *state;
	const struct replay_question *question = &fixture->instance.question;

	scene(fixture);
	assert_null(refusal(fixture));
	assert_int_equal(question->sides[1].access.address, RACED);
	assert_true(question->sides[1].done);
	assert_false(question->sides[0].done);
	assert_int_equal(question->address, RACED);
	assert_int_equal(fixture->instance.own_slots[1], CFA - 8);
	/* a part of what the load has read */
	scene(fixture);
	fixture->conflict.sides[0].access.address += 4;
	fixture->conflict.sides[0].access.size = 4;
	fixture->conflict.overlap = fixture->conflict.sides[0].access;
	assert_null(refusal(fixture));
}

static void refused(struct fixture *fixture)
{
	assert_string_equal(refusal(fixture), "unknown-address");
}

static void one_that_may_be_elsewhere_does_not(void **state)
{
	struct fixture *fixture = *state;
	struct conflict_side *side = &fixture->conflict.sides[1];

	/* which half of the bytes has it read? */
	scene(fixture);
	side->access.size = 4;
	refused(fixture);
	scene(fixture);
	side->access.address -= 4;
	refused(fixture);
	scene(fixture);
	side->access.address += 8;
	refused(fixture);
	scene(fixture);
	side->access.size = 16;
	refused(fixture);
	scene(fixture);
	side->access.kind = ACCESS_WRITE;
	refused(fixture);
	scene(fixture);
	side->insn.operand_count = 2;
	refused(fixture);
	scene(fixture);
	side->insn.operands[0].string = true;
	refused(fixture);
}

static void what_is_known_too_little_of_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct conflict_side *side = &fixture->conflict.sides[1];

	scene(fixture);
	side->kernel = true;
	assert_string_equal(refusal(fixture), "system-call");
	scene(fixture);
	fixture->conflict.wire.sides[1].present = false;
	assert_string_equal(refusal(fixture), "not-held");
	scene(fixture);
	side->insn_address = 0;
	assert_string_equal(refusal(fixture), "unknown-instruction");
	scene(fixture);
	side->frame_count = 0;
	assert_string_equal(refusal(fixture), "unknown-frame");
}

/* Is the store at that place the first access of its function? */
static bool is_first(struct fixture *fixture, const char *site)
{
	struct conflict_side *side = &fixture->conflict.sides[0];

	scene(fixture);
	side->insn_address = (uintptr_t)site;
	side->insn.length = 6;
	assert_null(refusal(fixture));
	return fixture->instance.first[0];
}

static void a_call_that_takes_a_lock_is_nothing_done(void **state)
{
	assert_true(is_first(*state, store_locked_site));
	assert_false(is_first(*state, store_behind_call_site));
}

/* Do the functions make what they store? */
static bool is_made(struct fixture *fixture, const char *first,
		    const char *second)
{
	struct conflict_side *sides = fixture->conflict.sides;

	scene(fixture);
	sides[0].insn_address = (uintptr_t)first;
	sides[1].insn_address = (uintptr_t)second;
	assert_null(refusal(fixture));
	return fixture->instance.question.made;
}

static void what_one_caller_hands_over_is_not_made(void **state)
{
	assert_true(is_made(*state, store_made_site, store_made_site));
	assert_true(is_made(*state, store_made_site, store_locked_site));
	assert_false(is_made(*state, store_made_site, store_handed_site));
	assert_false(is_made(*state, store_handed_site, store_made_site));
}

/* Does the region go on to the return of the caller? */
static bool goes_on(struct fixture *fixture, const char *site)
{
	struct conflict_side *side = &fixture->conflict.sides[0];

	scene(fixture);
	side->insn_address = (uintptr_t)site;
	side->frames[1].registers.cfa = CFA + 64;
	side->frame_count = 2;
	assert_null(refusal(fixture));
	assert_int_equal(fixture->instance.own_slots[0], CFA - 8);
	return fixture->instance.return_slots[0] == CFA + 64 - 8;
}

static void who_only_loads_from_there_on_leaves_it_to_the_caller(void **state)
{
	assert_true(goes_on(*state, load_only_site));
	assert_false(goes_on(*state, load_store_site));
	assert_false(goes_on(*state, load_call_site));
	assert_false(goes_on(*state, load_again_site));
	assert_false(goes_on(*state, load_elsewhere_site));
	assert_false(goes_on(*state, load_jump_site));
	assert_false(goes_on(*state, store_locked_site));
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct error *err = image_create(getpid(), &fixture->image);
	bool changed;

	*state = fixture;
	fixture->home.image = fixture->image;
	globs_init(&fixture->rules.globs);
	if (!err)
		err = image_refresh(fixture->image, &changed);
	if (!err)
		err = scanner_init(&fixture->scanner, fixture->image,
				   &fixture->rules);
	fixture->home.scanner = &fixture->scanner;
	return err != NULL;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_that_was_overwritten_follows),
		cmocka_unit_test(one_that_may_be_elsewhere_does_not),
		cmocka_unit_test(a_call_that_takes_a_lock_is_nothing_done),
		cmocka_unit_test(what_is_known_too_little_of_is_refused),
		cmocka_unit_test(what_one_caller_hands_over_is_not_made),
		cmocka_unit_test(
			who_only_loads_from_there_on_leaves_it_to_the_caller),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
