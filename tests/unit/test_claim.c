/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/hunt/claim.c: which accesses are those that a candidate has. */
#include "hunt/claim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "report/race.h"

/* A frame as these tests write it; texts are borrowed. */
#define FRAME(...) ((struct race_frame){ __VA_ARGS__ })
#define AT(f, l) .file = (char *)(uintptr_t)(f), .line = (l)
#define IN(f) .function = (char *)(uintptr_t)(f)
#define OF(m, o) .module = (char *)(uintptr_t)(m), .offset = (o)

enum { FRAMES = 4 };

struct stack {
	struct race_frame frames[FRAMES];
	size_t count;
};

#define STACK(...)                                                      \
	((struct stack){ { __VA_ARGS__ },                               \
			 sizeof((struct race_frame[]){ __VA_ARGS__ }) / \
				 sizeof(struct race_frame) })

static struct vec frames_of(struct stack *stack)
{
	return (struct vec){ .items = stack->frames,
			     .count = stack->count,
			     .size = sizeof(struct race_frame) };
}

static bool fits(struct stack claimed, struct stack access)
{
	const struct race race = { .evidence = EVIDENCE_REPORTED };
	struct race_side side = { .access = ACCESS_WRITE,
				  .frames = frames_of(&claimed) };
	struct vec frames = frames_of(&access);

	return claim_fit(&race, &side, &frames, ACCESS_RMW, 0) == CLAIM_BY_LINE;
}

/* How well it fits, as a report of DRD or of another tool. */
static enum claim_fit how(bool drd, struct stack claimed, struct stack access)
{
	const struct race race = {
		.evidence = EVIDENCE_REPORTED,
		.backend = (char *)(uintptr_t)(drd ? "drd" : "helgrind"),
	};
	struct race_side side = { .frames = frames_of(&claimed) };
	struct vec frames = frames_of(&access);

	return claim_fit(&race, &side, &frames, ACCESS_RMW, 0);
}

static void a_line_is_the_same_in_another_folder(void **state)
{
	struct stack claimed = STACK(FRAME(IN("add"), AT("/a/s.c", 9)));

	(void)state;
	assert_true(fits(claimed, STACK(FRAME(IN("add"), AT("/b/s.c", 9)))));
	assert_false(fits(claimed, STACK(FRAME(IN("add"), AT("/b/s.c", 8)))));
	assert_false(fits(claimed, STACK(FRAME(IN("add"), AT("/b/t.c", 9)))));
	/* inlined elsewhere, which has another name */
	assert_true(fits(claimed, STACK(FRAME(IN("main"), AT("s.c", 9)))));
}

static void a_function_of_another_library_is_not_it(void **state)
{
	struct stack claimed = STACK(FRAME(IN("init"), OF("/l/liba.so.1", 0)));

	(void)state;
	assert_true(
		fits(claimed, STACK(FRAME(IN("init"), OF("/m/liba.so.1", 8)))));
	assert_false(
		fits(claimed, STACK(FRAME(IN("init"), OF("/l/libb.so.1", 8)))));
	/* Valgrind's text has no module beside the line */
	assert_true(fits(claimed, STACK(FRAME(IN("init")))));
	assert_true(fits(STACK(FRAME(IN("init"), OF("a", 0))),
			 STACK(FRAME(IN("init"), OF("b", 8)))));
}

static void callers_do_not_access(void **state)
{
	struct stack claimed = STACK(FRAME(AT("s.c", 9)), FRAME(AT("s.c", 13)));

	(void)state;
	assert_false(fits(claimed, STACK(FRAME(AT("s.c", 13)))));
	assert_false(fits(STACK(FRAME(AT("s.c", 13))), claimed));
}

static void headers_of_libraries_are_passed_over(void **state)
{
	struct stack inlined =
		STACK(FRAME(AT("/usr/include/c++/12/bits/stl_vector.h", 988)),
		      FRAME(AT("/src/queue.cc", 9)));

	(void)state;
	assert_true(fits(inlined, inlined));
	assert_true(fits(inlined, STACK(FRAME(AT("queue.cc", 9)))));
	assert_false(fits(inlined, STACK(FRAME(AT("queue.cc", 8)))));
	/* as Valgrind's text has it */
	assert_true(fits(STACK(FRAME(AT("stl_vector.h", 988)),
			       FRAME(AT("queue.cc", 9))),
			 inlined));
	/* and clang */
	assert_true(fits(STACK(FRAME(AT("/usr/bin/../lib/gcc/x/../../include/"
					"c++/12/vector",
					5)),
			       FRAME(AT("queue.cc", 9))),
			 inlined));
	/* a header of one's own is not */
	assert_false(
		fits(STACK(FRAME(AT("pool.h", 9)), FRAME(AT("queue.cc", 9))),
		     STACK(FRAME(AT("queue.cc", 9)))));
}

static void what_is_intercepted_is_passed_over(void **state)
{
	struct stack access =
		STACK(FRAME(IN("__memcpy_avx"), OF("/lib/libc.so.6", 0x10)),
		      FRAME(IN("put"), AT("s.c", 10)));

	(void)state;
	assert_true(fits(STACK(FRAME(IN("memcpy"), OF("cache", 0x5b61e)),
			       FRAME(IN("put"), AT("s.c", 10))),
			 access));
	assert_true(
		fits(STACK(FRAME(IN("memcpy"), AT("vg_replace_strmem.c", 1)),
			   FRAME(IN("put"), AT("s.c", 10))),
		     access));
	assert_false(
		fits(STACK(FRAME(IN("memcpy"), OF("cache", 0x5b61e))), access));
}

static void without_lines_functions_and_offsets_tell(void **state)
{
	struct stack claimed = STACK(FRAME(OF("/a/cache", 0x11a9)));

	(void)state;
	assert_true(fits(claimed, STACK(FRAME(OF("/b/cache", 0x11a9)))));
	assert_false(fits(claimed, STACK(FRAME(OF("/b/cache", 0x11aa)))));
	assert_false(fits(claimed, STACK(FRAME(OF("/b/queue", 0x11a9)))));
	assert_true(fits(STACK(FRAME(IN("add"), OF("/a/cache", 1))),
			 STACK(FRAME(IN("add"), AT("s.c", 9)))));
	assert_false(fits(STACK(FRAME(IN("add"), OF("/a/cache", 1))),
			  STACK(FRAME(IN("put"), OF("/a/cache", 1)))));
	assert_false(fits(STACK(FRAME(OF("/a/cache", 0))),
			  STACK(FRAME(OF("/a/cache", 0)))));
}

static void a_write_is_no_read(void **state)
{
	struct stack stack = STACK(FRAME(AT("s.c", 9)));
	struct vec frames = frames_of(&stack);
	struct race_side side = { .access = ACCESS_WRITE, .frames = frames };
	const struct race race = { .evidence = EVIDENCE_REPORTED };

	(void)state;
	assert_true(claim_fit(&race, &side, &frames, ACCESS_WRITE, 0));
	assert_true(claim_fit(&race, &side, &frames, ACCESS_RMW, 0));
	assert_true(claim_fit(&race, &side, &frames, ACCESS_NONE, 0));
	assert_false(claim_fit(&race, &side, &frames, ACCESS_READ, 0));
	side.access = ACCESS_NONE;
	assert_true(claim_fit(&race, &side, &frames, ACCESS_READ, 0));
}

static void a_race_may_have_its_sides_turned(void **state)
{
	struct stack one = STACK(FRAME(AT("s.c", 9)));
	struct stack two = STACK(FRAME(AT("s.c", 13)));
	struct stack three = STACK(FRAME(AT("s.c", 20)));
	struct race candidate = { .sides = { { .frames = frames_of(&one) },
					     { .frames = frames_of(&two) } } };
	struct race race = { .sides = { { .frames = frames_of(&two) },
					{ .frames = frames_of(&one) } } };
	const enum claim_fit lines[2] = { CLAIM_BY_LINE, CLAIM_BY_LINE };

	(void)state;
	assert_true(claim_is_race(&candidate, lines, &race));
	race.sides[0].frames = frames_of(&three);
	assert_false(claim_is_race(&candidate, lines, &race));
	/* DRD's, whose second side is not known */
	candidate.sides[1].frames.count = 0;
	assert_true(claim_is_race(&candidate, lines, &race));
	candidate.sides[0].frames.count = 0;
	assert_false(claim_is_race(&candidate, lines, &race));
}

/* The first side of a candidate is told by its function, the second one by its line. */
static void a_race_fits_as_well_as_the_recording(void **state)
{
	struct stack one = STACK(FRAME(IN("get"), AT("s.c", 9)));
	struct stack two = STACK(FRAME(IN("put"), AT("s.c", 13)));
	struct stack beside = STACK(FRAME(IN("get"), AT("s.c", 11)));
	struct stack behind = STACK(FRAME(IN("put"), AT("s.c", 15)));
	struct race candidate = { .sides = { { .frames = frames_of(&one) },
					     { .frames = frames_of(&two) } } };
	struct race race = { .sides = { { .frames = frames_of(&two) },
					{ .frames = frames_of(&beside) } } };
	enum claim_fit fits[2] = { CLAIM_BY_FUNCTION, CLAIM_BY_LINE };

	(void)state;
	assert_true(claim_is_race(&candidate, fits, &race));
	race.sides[0].frames = frames_of(&behind);
	assert_false(claim_is_race(&candidate, fits, &race));
	fits[1] = CLAIM_BY_FUNCTION;
	assert_true(claim_is_race(&candidate, fits, &race));
}

static void another_line_of_the_function_fits_less(void **state)
{
	struct stack claimed = STACK(FRAME(IN("get"), AT("/a/s.c", 9)));

	(void)state;
	assert_int_equal(how(false, claimed,
			     STACK(FRAME(IN("get"), AT("/b/s.c", 11)))),
			 CLAIM_BY_FUNCTION);
	assert_int_equal(how(false, claimed,
			     STACK(FRAME(IN("get"), AT("t.c", 11)))),
			 CLAIM_NOT);
	assert_int_equal(how(false, claimed,
			     STACK(FRAME(IN("put"), AT("s.c", 11)))),
			 CLAIM_NOT);
}

static void a_member_may_be_named_without_its_class(void **state)
{
	struct stack claimed = STACK(FRAME(IN("pop"), AT("/a/s.cc", 9)));
	struct stack access =
		STACK(FRAME(IN("Ring<int, 16>::pop"), AT("/b/s.cc", 11)));

	(void)state;
	assert_int_equal(how(false, claimed, access), CLAIM_BY_FUNCTION);
	assert_int_equal(how(false, access, claimed), CLAIM_BY_FUNCTION);
	claimed.frames[0].function = access.frames[0].function;
	assert_int_equal(how(false, claimed, access), CLAIM_BY_FUNCTION);
	/* of another class, or file, or function */
	assert_int_equal(how(false,
			     STACK(FRAME(IN("Queue::pop"), AT("s.cc", 9))),
			     access),
			 CLAIM_NOT);
	assert_int_equal(how(false, STACK(FRAME(IN("pop"), AT("t.cc", 9))),
			     access),
			 CLAIM_NOT);
	assert_int_equal(how(false, STACK(FRAME(IN("op"), AT("s.cc", 9))),
			     access),
			 CLAIM_NOT);
}

/* DRD names the call of put() where put() accesses. */
static void what_was_called_at_the_line_fits_better(void **state)
{
	struct stack claimed = STACK(FRAME(IN("loop"), AT("s.c", 20)));
	struct stack access = STACK(FRAME(IN("put"), AT("s.c", 13)),
				    FRAME(IN("loop"), AT("s.c", 20)));

	(void)state;
	assert_int_equal(how(true, claimed, access), CLAIM_BY_CALL);
	assert_int_equal(how(false, claimed, access), CLAIM_NOT);
	access.frames[1].line = 21;
	assert_int_equal(how(true, claimed, access), CLAIM_NOT);
	/* that of a caller further out is not it */
	access = STACK(FRAME(IN("put"), AT("s.c", 13)),
		       FRAME(IN("step"), AT("s.c", 16)),
		       FRAME(IN("loop"), AT("s.c", 20)));
	assert_int_equal(how(true, claimed, access), CLAIM_NOT);
}

static enum claim_fit chosen(unsigned int found, unsigned int expected)
{
	unsigned int taken;
	enum claim_fit fit = claim_choose(found, &taken);

	assert_int_equal(taken, expected);
	return fit;
}

static void the_best_are_chosen(void **state)
{
	static const enum claim_fit ranks[] = {
		CLAIM_BY_FUNCTION, CLAIM_RESIZED, CLAIM_INLINED,
		CLAIM_BY_CALL,	   CLAIM_BY_LINE, CLAIM_BY_BYTES
	};
	unsigned int found = 1U << CLAIM_NOT;

	(void)state;
	assert_int_equal(chosen(0, 0), CLAIM_NOT);
	assert_int_equal(chosen(found, 0), CLAIM_NOT);
	for (size_t i = 0; i < sizeof(ranks) / sizeof(*ranks); i++) {
		found |= 1U << ranks[i];
		assert_int_equal(chosen(found, 1U << ranks[i]), ranks[i]);
	}
}

/* It is not all inlined: another access may be the reported one. */
static void a_function_with_other_lines_is_not_inlined(void **state)
{
	unsigned int both = 1U << CLAIM_INLINED | 1U << CLAIM_BY_FUNCTION;

	(void)state;
	assert_int_equal(chosen(both, both), CLAIM_BY_FUNCTION);
	assert_int_equal(chosen(both | 1U << CLAIM_RESIZED,
				1U << CLAIM_INLINED),
			 CLAIM_INLINED);
	assert_int_equal(chosen(both | 1U << CLAIM_BY_LINE,
				1U << CLAIM_BY_LINE),
			 CLAIM_BY_LINE);
}

static enum claim_fit sized(uint32_t claimed_size, struct stack claimed,
			    uint32_t size, struct stack access)
{
	const struct race race = { .evidence = EVIDENCE_REPORTED };
	struct race_side side = { .size = claimed_size,
				  .frames = frames_of(&claimed) };
	struct vec frames = frames_of(&access);

	return claim_fit(&race, &side, &frames, ACCESS_READ, size);
}

/* A loop over elements of 4 bytes takes four at once, or one byte of a flag counts. */
static void another_size_fits_less(void **state)
{
	struct stack line = STACK(FRAME(IN("sum"), AT("s.c", 9)));
	struct stack copied =
		STACK(FRAME(IN("memcpy")), FRAME(IN("sum"), AT("s.c", 9)));

	(void)state;
	assert_int_equal(sized(4, line, 4, line), CLAIM_BY_LINE);
	assert_int_equal(sized(4, line, 16, line), CLAIM_RESIZED);
	assert_int_equal(sized(4, line, 1, line), CLAIM_RESIZED);
	assert_int_equal(sized(8, line, 4, line), CLAIM_RESIZED);
	/* it is not known */
	assert_int_equal(sized(4, line, 0, line), CLAIM_BY_LINE);
	assert_int_equal(sized(0, line, 4, line), CLAIM_BY_LINE);
	/* detectors report half of it */
	assert_int_equal(sized(8, line, 16, line), CLAIM_BY_LINE);
	/* its steps are the C library's */
	assert_int_equal(sized(4, line, 16, copied), CLAIM_BY_LINE);
	assert_int_equal(sized(1, copied, 4, line), CLAIM_BY_LINE);
	assert_true(claim_is_unsure(CLAIM_RESIZED));
	assert_false(claim_is_unsure(CLAIM_BY_LINE));
}

/* In this build get() is inlined in loop(), whose line the instruction has. */
static void what_is_inlined_fits_at_the_call(void **state)
{
	struct stack claimed = STACK(FRAME(IN("get"), AT("s.c", 9)),
				     FRAME(IN("loop"), AT("s.c", 20)),
				     FRAME(IN("main"), AT("s.c", 30)));
	struct stack access = STACK(FRAME(IN("loop"), AT("s.c", 20)));

	(void)state;
	assert_int_equal(sized(4, claimed, 4, access), CLAIM_INLINED);
	/* what else the line accesses is of other sizes */
	assert_int_equal(sized(4, claimed, 8, access), CLAIM_NOT);
	assert_int_equal(sized(4, claimed, 4,
			       STACK(FRAME(IN("loop"), AT("s.c", 21)))),
			 CLAIM_NOT);
	assert_int_equal(sized(4, claimed, 4,
			       STACK(FRAME(IN("main"), AT("s.c", 30)))),
			 CLAIM_NOT);
	assert_int_equal(sized(4, claimed, 4, claimed), CLAIM_BY_LINE);
	assert_int_equal(sized(0, claimed, 4, access), CLAIM_NOT);
	assert_true(claim_is_unsure(CLAIM_INLINED));
	/* not that of a library's header */
	claimed = STACK(FRAME(IN("get"), AT("s.c", 9)),
			FRAME(AT("/usr/include/c++/12/bits/invoke.h", 61)));
	access = STACK(FRAME(AT("/usr/include/c++/12/bits/invoke.h", 61)));
	assert_int_equal(sized(4, claimed, 4, access), CLAIM_NOT);
}

/* What a race must have is what the recording has: the call's line alone is not it. */
static void a_race_at_the_call_is_not_the_one_of_the_function(void **state)
{
	struct stack push = STACK(FRAME(IN("push"), AT("s.c", 9)),
				  FRAME(IN("writer"), AT("s.c", 14)));
	struct stack writer = STACK(FRAME(IN("writer"), AT("s.c", 14)));
	struct stack reader = STACK(FRAME(IN("reader"), AT("s.c", 22)));
	struct race candidate = {
		.sides = { { .size = 4, .frames = frames_of(&reader) },
			   { .size = 4, .frames = frames_of(&push) } }
	};
	struct race race = {
		.sides = { { .size = 4, .frames = frames_of(&reader) },
			   { .size = 4, .frames = frames_of(&writer) } }
	};
	enum claim_fit fits[2] = { CLAIM_BY_LINE, CLAIM_BY_LINE };

	(void)state;
	assert_false(claim_is_race(&candidate, fits, &race));
	fits[1] = CLAIM_INLINED;
	assert_true(claim_is_race(&candidate, fits, &race));
	race.sides[1].size = 8;
	assert_false(claim_is_race(&candidate, fits, &race));
}

static void a_race_of_another_size_is_another_one(void **state)
{
	struct stack fill = STACK(FRAME(IN("fill"), AT("s.c", 15)));
	struct stack first = STACK(FRAME(IN("fill"), AT("s.c", 13)));
	struct stack sum = STACK(FRAME(IN("sum"), AT("s.c", 24)));
	struct race candidate = {
		.sides = { { .size = 4, .frames = frames_of(&sum) },
			   { .size = 4, .frames = frames_of(&fill) } }
	};
	struct race race = {
		.sides = { { .size = 16, .frames = frames_of(&fill) },
			   { .size = 16, .frames = frames_of(&sum) } }
	};
	enum claim_fit fits[2] = { CLAIM_BY_LINE, CLAIM_BY_LINE };

	(void)state;
	assert_false(claim_is_race(&candidate, fits, &race));
	fits[0] = fits[1] = CLAIM_RESIZED;
	assert_true(claim_is_race(&candidate, fits, &race));
	/* and another line of the function is not it */
	race.sides[0] =
		(struct race_side){ .size = 4, .frames = frames_of(&first) };
	assert_false(claim_is_race(&candidate, fits, &race));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_the_same_in_another_folder),
		cmocka_unit_test(a_function_of_another_library_is_not_it),
		cmocka_unit_test(callers_do_not_access),
		cmocka_unit_test(headers_of_libraries_are_passed_over),
		cmocka_unit_test(what_is_intercepted_is_passed_over),
		cmocka_unit_test(without_lines_functions_and_offsets_tell),
		cmocka_unit_test(a_write_is_no_read),
		cmocka_unit_test(a_race_may_have_its_sides_turned),
		cmocka_unit_test(a_race_fits_as_well_as_the_recording),
		cmocka_unit_test(another_line_of_the_function_fits_less),
		cmocka_unit_test(a_member_may_be_named_without_its_class),
		cmocka_unit_test(what_was_called_at_the_line_fits_better),
		cmocka_unit_test(the_best_are_chosen),
		cmocka_unit_test(a_function_with_other_lines_is_not_inlined),
		cmocka_unit_test(another_size_fits_less),
		cmocka_unit_test(what_is_inlined_fits_at_the_call),
		cmocka_unit_test(
			a_race_at_the_call_is_not_the_one_of_the_function),
		cmocka_unit_test(a_race_of_another_size_is_another_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
