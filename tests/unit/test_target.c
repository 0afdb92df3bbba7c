/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/hunt/target.c, and with it pairs, descriptors and sides: which accesses
 * conflict, what tells them apart, and in which order they are tried.
 */
#include "hunt/target.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "hunt/candidates.h"
#include "report/race.h"
#include "trace-writer.h"

enum { ADDRESS = 0x10000, PLACE_A = 0x1100, PLACE_B = 0x1200 };

/* Two descriptors of the places, of thread 2 and 3, which thread 1 creates. */
static struct writer writer;
static struct vec sides;
static struct hunt_totals totals;

static void begin_by(uint32_t promises)
{
	sides = (struct vec)VEC_INIT(struct hunt_side);
	writer_begin_by(&writer, TRACE_BY_VALGRIND, promises);
	writer_thread(&writer, 1, 0, 0, 0, 0, 0, 0);
}

static int begin(void **state)
{
	(void)state;
	begin_by(TRACE_TOTAL_ORDER | TRACE_EXACT_LOCKS);
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (size_t i = 0; i < sides.count; i++)
		hunt_side_deinit(vec_at(&sides, i));
	vec_deinit(&sides);
	writer_remove(&writer);
	return 0;
}

static const struct hunt_side *side_at(size_t i)
{
	return vec_at(&sides, i);
}

static const struct hunt_partner *partner_of(const struct hunt_side *side,
					     size_t i)
{
	return vec_at(&side->partners, i);
}

static void find(void)
{
	const struct hunt_pairing options = { .slow_down = 10, .quiet = true };
	struct error *err;

	err = hunt_targets_from_traces(writer.folder, &options, &sides,
				       &totals);
	if (err)
		fail_msg("%s", error_message(err));
}

/* The threads 2 and 3, created before access 10, never joined. */
static void two_threads(void)
{
	writer_thread(&writer, 2, 1, 0, 9, 0, 0, 0);
	writer_thread(&writer, 3, 1, 1, 9, 0, 0, 0);
}

static void two_places(uint32_t flags_a, uint32_t flags_b)
{
	writer_descriptor(&writer, 1, flags_a, PLACE_A, NULL, 0);
	writer_descriptor(&writer, 2, flags_b, PLACE_B, NULL, 0);
}

static void access_at(uint64_t address, uint32_t thread, uint32_t descriptor,
		      uint64_t sequence, uint8_t mask)
{
	struct trace_cell cell =
		writer_cell(address, thread, descriptor, sequence);

	cell.mask = cell.first_mask = mask;
	writer_add(&writer, &cell);
}

static void a_pair_has_two_sides(void **state)
{
	const struct hunt_side *first, *second;

	(void)state;
	two_threads();
	two_places(TRACE_WRITES, TRACE_READS);
	access_at(ADDRESS, 2, 1, 10, 0xff);
	access_at(ADDRESS, 3, 2, 30, 0xff);
	writer_end(&writer, 100);
	find();
	assert_int_equal(totals.pairs, 1);
	assert_int_equal(totals.threads, 3);
	assert_int_equal(totals.accesses, 100);
	assert_int_equal(sides.count, 2);
	/* the earlier one, as the other comes after it */
	first = side_at(0);
	second = side_at(1);
	assert_int_equal(first->id, 1);
	assert_int_equal(first->place.offset, PLACE_A);
	assert_string_equal(first->place.module, WRITER_PROGRAM);
	assert_string_equal(first->program, WRITER_PROGRAM);
	assert_true(first->writes);
	assert_int_equal(first->size, 8);
	assert_int_equal(first->ordinal, 0);
	/* 20 ms under a recorder that is ten times slower: 2 * 2 + 10 */
	assert_int_equal(first->hold_ns, 14000000);
	assert_int_equal(first->partners.count, 1);
	assert_int_equal(partner_of(first, 0)->place.offset, PLACE_B);
	assert_string_equal(partner_of(first, 0)->thread_path, "0.1");
	assert_int_equal(partner_of(first, 0)->distance_ns, 20000000);
	assert_false(partner_of(first, 0)->writes);
	assert_int_equal(second->place.offset, PLACE_B);
	assert_true(second->rank < first->rank);
	assert_int_equal(strlen(first->fingerprint), 32);
	assert_string_not_equal(first->fingerprint, second->fingerprint);
}

/* Of threads 2 and 3, one after the other: how many pairs. */
static void pairs_are(uint32_t flags_a, uint32_t flags_b, uint8_t mask_a,
		      uint8_t mask_b, uint64_t expected)
{
	begin(NULL);
	two_threads();
	two_places(flags_a, flags_b);
	access_at(ADDRESS, 2, 1, 10, mask_a);
	access_at(ADDRESS, 3, 2, 11, mask_b);
	writer_end(&writer, 20);
	find();
	assert_int_equal(totals.pairs, expected);
	assert_int_equal(sides.count, 2 * expected);
	end(NULL);
}

static void what_conflicts(void **state)
{
	enum { READ = TRACE_READS, WRITE = TRACE_WRITES };
	enum { ATOMIC = TRACE_READS | TRACE_WRITES | TRACE_ATOMIC };

	(void)state;
	pairs_are(WRITE, WRITE, 0xff, 0xff, 1);
	pairs_are(READ, READ, 0xff, 0xff, 0);
	pairs_are(WRITE, READ, 0x0f, 0xf0, 0);
	pairs_are(WRITE, READ, 0x1f, 0xf0, 1);
	pairs_are(ATOMIC, ATOMIC, 0xff, 0xff, 0);
	pairs_are(ATOMIC, READ, 0xff, 0xff, 1);
	pairs_are(WRITE | TRACE_RUNTIME, READ, 0xff, 0xff, 0);
	pairs_are(WRITE | TRACE_STRING, READ, 0xff, 0xff, 1);
}

static void one_thread_has_no_pair(void **state)
{
	(void)state;
	two_threads();
	two_places(TRACE_WRITES, TRACE_WRITES);
	access_at(ADDRESS, 2, 1, 10, 0xff);
	access_at(ADDRESS, 2, 2, 11, 0xff);
	writer_end(&writer, 20);
	find();
	assert_int_equal(totals.pairs_all, 0);
}

static void creations_and_joins_order(void **state)
{
	(void)state;
	writer_thread(&writer, 2, 1, 0, 9, 15, 1, 0);
	two_places(TRACE_WRITES, TRACE_WRITES);
	writer_descriptor(&writer, 3, TRACE_READS, 0x1300, NULL, 0);
	access_at(ADDRESS, 1, 1, 5, 0xff);
	access_at(ADDRESS, 2, 2, 12, 0xff);
	access_at(ADDRESS, 1, 3, 16, 0xff);
	/* not ordered: while both run */
	access_at(ADDRESS + 8, 1, 3, 13, 0xff);
	access_at(ADDRESS + 8, 2, 2, 14, 0xff);
	writer_end(&writer, 20);
	find();
	assert_int_equal(totals.pairs_own, 2);
	assert_int_equal(totals.pairs, 1);
	assert_int_equal(sides.count, 2);
}

static void runtimes_are_left_out(void **state)
{
	(void)state;
	two_threads();
	two_places(TRACE_WRITES | TRACE_RUNTIME, TRACE_READS);
	access_at(ADDRESS, 2, 1, 10, 0xff);
	access_at(ADDRESS, 3, 2, 11, 0xff);
	writer_end(&writer, 20);
	find();
	assert_int_equal(totals.pairs_all, 1);
	assert_int_equal(totals.pairs_own, 0);
}

/* Both of one pair hold the mutex; the other pair is further apart. */
static void locks_rank_and_prune_nothing(void **state)
{
	struct trace_cell cell;

	(void)state;
	two_threads();
	two_places(TRACE_WRITES, TRACE_WRITES);
	writer_descriptor(&writer, 3, TRACE_WRITES, 0x1300, NULL, 0);
	writer_descriptor(&writer, 4, TRACE_WRITES, 0x1400, NULL, 0);
	writer_lockset(&writer, 7, 0x77);
	cell = writer_cell(ADDRESS, 2, 1, 10);
	cell.lockset = cell.common = 7;
	writer_add(&writer, &cell);
	cell = writer_cell(ADDRESS, 3, 2, 11);
	cell.lockset = cell.common = 7;
	writer_add(&writer, &cell);
	access_at(ADDRESS + 8, 2, 3, 20, 0xff);
	access_at(ADDRESS + 8, 3, 4, 60, 0xff);
	writer_end(&writer, 100);
	find();
	assert_int_equal(totals.pairs, 2);
	assert_int_equal(sides.count, 4);
	assert_int_equal(side_at(0)->place.offset, 0x1300);
	assert_false(side_at(0)->locked);
	for (size_t i = 0; i < sides.count; i++)
		assert_int_equal(side_at(i)->locked,
				 side_at(i)->place.offset < 0x1300);
}

/* What a runtime alone accesses, and what no other thread does, is lost to nobody. */
static void crowded_places_are_counted(void **state)
{
	static const struct {
		uint32_t flags; /* of the place of the first access */
		uint16_t crowded; /* flags of its cell */
		uint64_t expected;
	} rows[] = {
		{ TRACE_WRITES, 0, 0 },
		{ TRACE_WRITES, TRACE_CROWDED, 1 },
		{ TRACE_WRITES | TRACE_RUNTIME, TRACE_CROWDED, 1 },
		{ TRACE_WRITES | TRACE_RUNTIME, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct trace_cell cell;

		begin(NULL);
		two_threads();
		two_places(rows[i].flags, TRACE_READS);
		cell = writer_cell(ADDRESS, 2, 1, 10);
		cell.flags = rows[i].crowded;
		writer_add(&writer, &cell);
		access_at(ADDRESS, 3, 2, 11, 0xff);
		/* of a runtime alone */
		writer_descriptor(&writer, 3, TRACE_WRITES | TRACE_RUNTIME,
				  0x1300, NULL, 0);
		cell = writer_cell(ADDRESS + 8, 2, 3, 12);
		cell.flags = TRACE_CROWDED;
		writer_add(&writer, &cell);
		writer_end(&writer, 20);
		find();
		assert_int_equal(totals.crowded, rows[i].expected);
		end(NULL);
	}
}

/* Threads 2 and 3 access the same bytes in turn, in that many heap blocks or in one. */
static void find_among(uint32_t count, bool in_blocks, uint32_t loose)
{
	struct trace_block block = { .address = ADDRESS, .size = 64 };

	two_threads();
	two_places(TRACE_WRITES, TRACE_READS);
	/* what thread 2 reads in no block that is known */
	writer_descriptor(&writer, 4, TRACE_READS, 0x1400, NULL, 0);
	for (uint32_t i = 0; i < loose; i++) {
		struct trace_cell cell =
			writer_cell(ADDRESS, 2, 4, UINT64_C(5000) + i);

		writer_add(&writer, &cell);
	}
	while (block.id++ < (in_blocks ? count / 2 : 1))
		writer_chunk(&writer, TRACE_BLOCK, &block, sizeof(block), NULL,
			     0);
	for (uint32_t i = 0; i < count; i++) {
		bool second = i % 2;
		struct trace_cell cell = writer_cell(
			ADDRESS, 2 + second, 1 + second, UINT64_C(10) + i);

		cell.block = in_blocks ? 1 + i / 2 : 1;
		writer_add(&writer, &cell);
	}
	/* a third place, in the last block only */
	writer_descriptor(&writer, 3, TRACE_WRITES, 0x1300, NULL, 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct trace_cell cell =
			writer_cell(ADDRESS, 3, 3, UINT64_C(10) + count + i);

		cell.block = in_blocks ? count / 2 : 1;
		writer_add(&writer, &cell);
	}
	writer_end(&writer, UINT64_C(20) + count);
	find();
}

static void accesses_of_different_blocks_are_never_too_many(void **state)
{
	(void)state;
	find_among(4000, true, 0);
	assert_int_equal(totals.left_out, 0);
	assert_int_equal(totals.pairs, 2);
}

static void others_are_left_out_and_counted(void **state)
{
	(void)state;
	find_among(1024, false, 0);
	assert_int_equal(totals.left_out, 2);
	assert_int_equal(totals.pairs, 1);
}

/* What is in no known block is compared with everything, but not for ever. */
static void comparisons_are_limited(void **state)
{
	(void)state;
	find_among(4000, true, 1024);
	assert_true(totals.left_out > 0);
	/* the first of these are compared with what thread 3 writes */
	assert_int_equal(totals.pairs, 1);
}

/* The best rank of a pair, both of which hold a lock or none; in *ret its side. */
static double rank_of_pair(uint32_t promises, uint32_t lockset,
			   struct hunt_side *ret)
{
	struct trace_cell cells[] = { writer_cell(ADDRESS, 2, 1, 10),
				      writer_cell(ADDRESS, 3, 2, 11) };
	double rank;

	begin_by(promises);
	two_threads();
	two_places(TRACE_WRITES, TRACE_WRITES);
	writer_lockset(&writer, 7, 0x77);
	for (size_t i = 0; i < 2; i++) {
		cells[i].lockset = cells[i].common = lockset;
		writer_add(&writer, &cells[i]);
	}
	writer_end(&writer, 100);
	find();
	assert_int_equal(sides.count, 2);
	rank = side_at(0)->rank;
	ret->locked = side_at(0)->locked;
	ret->locks_unknown = side_at(0)->locks_unknown;
	end(NULL);
	return rank;
}

static void locks_that_are_unknown_are_not_none(void **state)
{
	struct hunt_side none, unknown, common;
	double unlocked = rank_of_pair(TRACE_EXACT_LOCKS, 0, &none);
	double untold = rank_of_pair(0, 0, &unknown);
	double locked = rank_of_pair(TRACE_EXACT_LOCKS, 7, &common);

	(void)state;
	assert_true(unlocked > untold && untold > locked);
	assert_false(none.locked || none.locks_unknown);
	assert_true(!unknown.locked && unknown.locks_unknown);
	assert_true(common.locked && !common.locks_unknown);
}

/* Memory that was freed and allocated again is another variable. */
static void blocks_are_told_apart(void **state)
{
	struct trace_block block = { .id = 1, .address = ADDRESS, .size = 64 };
	struct trace_cell cell;

	(void)state;
	two_threads();
	two_places(TRACE_WRITES, TRACE_WRITES);
	writer_chunk(&writer, TRACE_BLOCK, &block, sizeof(block), NULL, 0);
	block.id = 2;
	writer_chunk(&writer, TRACE_BLOCK, &block, sizeof(block), NULL, 0);
	cell = writer_cell(ADDRESS, 2, 1, 10);
	cell.block = 1;
	writer_add(&writer, &cell);
	cell = writer_cell(ADDRESS, 3, 2, 11);
	cell.block = 2;
	writer_add(&writer, &cell);
	cell = writer_cell(ADDRESS + 8, 2, 1, 12);
	cell.block = 2;
	writer_add(&writer, &cell);
	cell = writer_cell(ADDRESS + 8, 3, 2, 13);
	cell.block = 2;
	writer_add(&writer, &cell);
	writer_end(&writer, 20);
	find();
	assert_int_equal(totals.pairs, 1);
	assert_int_equal(partner_of(side_at(0), 0)->distance_ns, 1000000);
	assert_string_equal(side_at(0)->variable,
			    "bytes 8..15 of a block of 64");
}

/* A held thread waits for all its partners: one side, not three. */
static void one_side_serves_its_partners(void **state)
{
	(void)state;
	two_threads();
	two_places(TRACE_WRITES, TRACE_READS);
	writer_descriptor(&writer, 3, TRACE_READS, 0x1300, NULL, 0);
	writer_descriptor(&writer, 4, TRACE_READS, 0x1400, NULL, 0);
	access_at(ADDRESS, 2, 1, 10, 0xff);
	access_at(ADDRESS, 3, 2, 13, 0xff);
	access_at(ADDRESS, 3, 3, 12, 0xff);
	/* this partner conflicts with another access of the instruction too */
	access_at(ADDRESS, 3, 4, 14, 0xff);
	access_at(ADDRESS + 8, 2, 1, 15, 0xff);
	access_at(ADDRESS + 8, 3, 4, 16, 0xff);
	writer_end(&writer, 20);
	find();
	assert_int_equal(totals.pairs, 3);
	assert_int_equal(sides.count, 4);
	assert_int_equal(side_at(0)->place.offset, PLACE_A);
	assert_int_equal(side_at(0)->partners.count, 3);
	/* the nearest first; held for the farthest: 4 ms */
	assert_int_equal(partner_of(side_at(0), 0)->place.offset, 0x1300);
	assert_int_equal(side_at(0)->hold_ns, 10800000);
}

/* What was folded: the partner came before and after the held access. */
static void the_next_access_of_a_partner_counts(void **state)
{
	struct trace_cell cell;

	(void)state;
	two_threads();
	two_places(TRACE_WRITES, TRACE_READS);
	access_at(ADDRESS, 2, 1, 50, 0xff);
	cell = writer_cell(ADDRESS, 3, 2, 10);
	cell.count = 9;
	cell.last = 90;
	writer_add(&writer, &cell);
	writer_end(&writer, 100);
	find();
	assert_int_equal(sides.count, 2);
	for (size_t i = 0; i < 2; i++) {
		if (side_at(i)->place.offset == PLACE_A)
			assert_int_equal(side_at(i)->hold_ns, 12000000);
	}
}

static const struct hunt_side *side_of(uint64_t offset)
{
	for (size_t i = 0; i < sides.count; i++) {
		if (side_at(i)->place.offset == offset)
			return side_at(i);
	}
	fail_msg("no side at 0x%llx", (unsigned long long)offset);
	return NULL;
}

/*
 * Threads 2 and 3 are created at the same place, 4 at another one. Instruction A
 * is executed by 2 and 3, B by 4 and 2.
 */
static void threads_are_told_apart_by_their_origin(void **state)
{
	(void)state;
	writer_descriptor(&writer, 8, 0, 0x1800, NULL, 0);
	writer_descriptor(&writer, 9, 0, 0x1900, NULL, 0);
	writer_thread(&writer, 2, 1, 0, 9, 0, 0, 8);
	writer_thread(&writer, 3, 1, 1, 9, 0, 0, 8);
	writer_thread(&writer, 4, 1, 2, 9, 0, 0, 9);
	two_places(TRACE_WRITES, TRACE_WRITES);
	access_at(ADDRESS, 2, 1, 10, 0xff);
	access_at(ADDRESS, 3, 1, 11, 0xff);
	access_at(ADDRESS + 8, 4, 2, 12, 0xff);
	access_at(ADDRESS + 8, 2, 2, 13, 0xff);
	writer_end(&writer, 20);
	find();
	assert_int_equal(totals.pairs, 2);
	assert_null(side_of(PLACE_A)->thread_path);
	assert_string_equal(side_of(PLACE_B)->thread_path, "0.2");
}

/*
 * 2 and 3 have one origin, and different partners: their first executions of the
 * instruction are one side.
 */
static void the_same_access_is_one_side(void **state)
{
	(void)state;
	writer_descriptor(&writer, 8, 0, 0x1800, NULL, 0);
	writer_thread(&writer, 2, 1, 0, 9, 0, 0, 8);
	writer_thread(&writer, 3, 1, 1, 9, 0, 0, 8);
	two_places(TRACE_WRITES, TRACE_READS);
	writer_descriptor(&writer, 3, TRACE_READS, 0x1300, NULL, 0);
	access_at(ADDRESS, 2, 1, 10, 0xff);
	access_at(ADDRESS, 1, 2, 12, 0xff);
	access_at(ADDRESS + 8, 3, 1, 13, 0xff);
	access_at(ADDRESS + 8, 1, 3, 17, 0xff);
	writer_end(&writer, 20);
	find();
	assert_int_equal(totals.pairs, 2);
	assert_int_equal(sides.count, 3);
	assert_int_equal(side_of(PLACE_A)->partners.count, 2);
	assert_int_equal(side_of(PLACE_A)->hold_ns, 10800000);
}

/*
 * Threads of different origins execute one instruction: whichever is first, it is
 * held there.
 */
static void one_instruction_has_a_side_in_both_threads(void **state)
{
	(void)state;
	two_threads();
	writer_descriptor(&writer, 1, TRACE_WRITES, PLACE_A, NULL, 0);
	access_at(ADDRESS, 2, 1, 10, 0xff);
	access_at(ADDRESS, 3, 1, 30, 0xff);
	writer_end(&writer, 100);
	find();
	assert_int_equal(totals.pairs, 1);
	assert_int_equal(sides.count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(side_at(i)->place.offset, PLACE_A);
		assert_int_equal(side_at(i)->hold_ns, 14000000);
		assert_int_equal(side_at(i)->partners.count, 1);
		assert_int_equal(partner_of(side_at(i), 0)->place.offset,
				 PLACE_A);
	}
	/* the earlier one, as the other comes after it */
	assert_string_equal(side_at(0)->thread_path, "0.0");
	assert_string_equal(side_at(1)->thread_path, "0.1");
	assert_string_equal(partner_of(side_at(1), 0)->thread_path, "0.0");
}

/* Of one origin, any of them is held: that is the same for both. */
static void one_instruction_of_any_thread_has_one_side(void **state)
{
	(void)state;
	writer_descriptor(&writer, 8, 0, 0x1800, NULL, 0);
	writer_thread(&writer, 2, 1, 0, 9, 0, 0, 8);
	writer_thread(&writer, 3, 1, 1, 9, 0, 0, 8);
	writer_descriptor(&writer, 1, TRACE_WRITES, PLACE_A, NULL, 0);
	access_at(ADDRESS, 2, 1, 10, 0xff);
	access_at(ADDRESS, 3, 1, 30, 0xff);
	writer_end(&writer, 100);
	find();
	assert_int_equal(sides.count, 1);
	assert_null(side_at(0)->thread_path);
}

/* The instruction is called from three stacks. */
static void the_shortest_stack_is_taken(void **state)
{
	static const uint64_t stacks[][3] = { { 0x20, 0x21, 0x22 },
					      { 0x20, 0x31, 0x22 },
					      { 0x40, 0x21, 0x22 } };
	struct trace_uses uses = { .thread = 2, .executions = 5 };
	struct trace_cell cell;

	(void)state;
	two_threads();
	two_places(TRACE_WRITES, TRACE_READS);
	for (uint32_t i = 0; i < 3; i++) {
		writer_descriptor(&writer, 10 + i, TRACE_WRITES, 0x1500,
				  stacks[i], 3);
		uses.descriptor = 10 + i;
		writer_chunk(&writer, TRACE_USES, &uses, sizeof(uses), NULL, 0);
	}
	cell = writer_cell(ADDRESS, 2, 11, 10);
	cell.ordinal = 4;
	writer_add(&writer, &cell);
	access_at(ADDRESS, 3, 2, 11, 0xff);
	access_at(ADDRESS + 8, 2, 12, 12, 0xff);
	access_at(ADDRESS + 8, 3, 1, 13, 0xff);
	writer_end(&writer, 20);
	find();
	for (size_t i = 0; i < sides.count; i++) {
		const struct hunt_side *side = side_at(i);
		const struct hunt_place *caller;

		if (side->place.offset != 0x1500) {
			assert_int_equal(side->stack.count, 0);
			continue;
		}
		caller = vec_at(&side->stack, 0);
		assert_int_equal(side->stack.count,
				 caller->offset == 0x20 ? 2 : 1);
		assert_int_equal(side->ordinal, caller->offset == 0x20 ? 4 : 0);
	}
}

/* With a call of memcpy from there, an access by one of its instructions. */
static void string_descriptor(uint32_t id, uint64_t place, uint64_t caller)
{
	struct trace_descriptor descriptor = {
		.id = id,
		.flags = TRACE_WRITES | TRACE_STRING,
		.place = { .module = 1, .offset = place },
		.function = 0x1500,
		.size = 16,
		.depth = 1,
		.name = "memcpy",
	};
	const struct trace_place stack = { .module = 1, .offset = caller };

	writer_chunk(&writer, TRACE_DESCRIPTOR, &descriptor, sizeof(descriptor),
		     &stack, sizeof(stack));
}

/*
 * A call of a string function has one side, whichever of its instructions makes
 * the access, and each place that calls it has another one.
 */
static void a_call_of_a_string_function_has_a_side(void **state)
{
	enum { ONE = 0x20, OTHER = 0x40 };
	bool seen[2] = { false, false };

	(void)state;
	two_threads();
	two_places(TRACE_WRITES, TRACE_READS);
	for (uint32_t i = 0; i < 3; i++) {
		string_descriptor(10 + i, 0x1520 + 8 * i, ONE);
		string_descriptor(20 + i, 0x1520 + 8 * i, OTHER);
		access_at(ADDRESS + 8 * i, 2, 10 + i, 10 + i, 0xff);
		access_at(ADDRESS + 8 * i, 2, 20 + i, 20 + i, 0xff);
		access_at(ADDRESS + 8 * i, 3, 2, 30 + i, 0xff);
	}
	writer_end(&writer, 40);
	find();
	assert_int_equal(totals.pairs, 3);
	assert_int_equal(sides.count, 3);
	for (size_t i = 0; i < sides.count; i++) {
		const struct hunt_side *side = side_at(i);

		if (!side->string_function)
			continue;
		/* of the bytes that come first */
		assert_int_equal(side->place.offset, 0x1520);
		assert_string_equal(side->string_function, "memcpy");
		assert_string_equal(side->function, "memcpy");
		assert_int_equal(side->stack.count, 1);
		seen[((struct hunt_place *)vec_at(&side->stack, 0))->offset ==
		     OTHER] = true;
	}
	assert_true(seen[0] && seen[1]);
	assert_string_equal(partner_of(side_of(PLACE_B), 0)->string_function,
			    "memcpy");
	assert_int_equal(partner_of(side_of(PLACE_B), 0)->place.offset, 0x1520);
	assert_int_equal(side_of(PLACE_B)->partners.count, 2);
}

/* The kernel's access has no instruction where a thread could be held. */
static void a_system_call_is_a_partner_only(void **state)
{
	(void)state;
	two_threads();
	two_places(TRACE_WRITES | TRACE_SYSCALL, TRACE_READS);
	access_at(ADDRESS, 2, 1, 10, 0xff);
	access_at(ADDRESS, 3, 2, 11, 0xff);
	writer_end(&writer, 20);
	find();
	assert_int_equal(totals.pairs, 1);
	assert_int_equal(sides.count, 1);
	assert_int_equal(side_at(0)->place.offset, PLACE_B);
	assert_true(partner_of(side_at(0), 0)->syscall);
}

static void the_best_are_kept(void **state)
{
	const struct hunt_pairing options = { .most = 1 };

	(void)state;
	two_threads();
	two_places(TRACE_WRITES, TRACE_READS);
	access_at(ADDRESS, 2, 1, 10, 0xff);
	access_at(ADDRESS, 3, 2, 30, 0xff);
	writer_end(&writer, 100);
	assert_null(hunt_targets_from_traces(writer.folder, &options, &sides,
					     &totals));
	assert_int_equal(sides.count, 1);
	assert_int_equal(totals.sides, 1);
	assert_int_equal(totals.sides_left_out, 1);
	assert_int_equal(side_at(0)->place.offset, PLACE_A);
}

/* With the crowded cells at these addresses, may the recording lack the accesses? */
static void lacks(uint64_t crowded, bool expected)
{
	static const uint64_t places[] = { PLACE_A, PLACE_B };
	struct candidate candidate = { .sides = VEC_INIT(
					       struct candidate_side) };
	struct candidates candidates = { { &candidate, 1, 1,
					   sizeof(candidate) } };
	const struct hunt_pairing options = { .candidates = &candidates,
					      .quiet = true };
	struct race race;

	race_init(&race);
	race.evidence = EVIDENCE_REPORTED;
	candidate.race = &race;
	for (int i = 0; i < 2; i++) {
		struct race_frame *frame = vec_append(&race.sides[i].frames);

		assert_non_null(frame);
		frame->module = strdup(WRITER_PROGRAM);
		frame->offset = places[i];
	}
	begin(NULL);
	two_threads();
	two_places(TRACE_WRITES, TRACE_READS);
	writer_descriptor(&writer, 3, TRACE_WRITES, 0x1300, NULL, 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct trace_cell cell =
			writer_cell(ADDRESS, 2 + i, 1 + i, 10 + i);

		cell.flags = crowded == cell.address ? TRACE_CROWDED : 0;
		writer_add(&writer, &cell);
		/* another instruction's, elsewhere */
		cell = writer_cell(ADDRESS + 64, 2 + i, 3, 20 + i);
		cell.flags = crowded == cell.address ? TRACE_CROWDED : 0;
		writer_add(&writer, &cell);
	}
	writer_end(&writer, 100);
	assert_null(hunt_targets_from_traces(writer.folder, &options, &sides,
					     &totals));
	assert_true(candidate.found);
	assert_int_equal(candidate.incomplete, expected);
	assert_int_equal(candidate.sides.count, 2);
	vec_deinit(&candidate.sides);
	race_deinit(&race);
	end(NULL);
}

/* Of a granule that many instructions access, a recording does not have all. */
static void crowded_bytes_of_a_candidate_may_lack_its_access(void **state)
{
	(void)state;
	lacks(0, false);
	lacks(ADDRESS, true);
	lacks(ADDRESS + 64, false);
}

static void is_refused(const char *folder, const char *program,
		       enum error_kind kind, const char *words)
{
	const struct hunt_pairing options = { .program = program };
	struct error *err =
		hunt_targets_from_traces(folder, &options, &sides, &totals);

	assert_non_null(err);
	assert_int_equal(err->kind, kind);
	if (!strstr(error_message(err), words))
		fail_msg("'%s' lacks '%s'", error_message(err), words);
	error_free(err);
	assert_int_equal(sides.count, 0);
}

static void bad_input_is_refused(void **state)
{
	(void)state;
	two_threads();
	two_places(TRACE_WRITES, TRACE_READS);
	access_at(ADDRESS, 2, 1, 10, 0xff);
	access_at(ADDRESS, 3, 77, 11, 0xff);
	writer_end(&writer, 20);
	is_refused("/nonexistent", NULL, ERROR_USAGE, "/nonexistent: ");
	is_refused("/dev", NULL, ERROR_USAGE, "/dev has no file trace.");
	is_refused(writer.folder, NULL, ERROR_FORMAT,
		   "descriptor 77 is not known");
	is_refused(writer.folder, NULL, ERROR_FORMAT, "trace.42: byte ");
}

static void programs_are_chosen(void **state)
{
	const struct hunt_pairing by_name = { .program = "prog*" };

	(void)state;
	writer_end(&writer, 20);
	is_refused(writer.folder, "other", ERROR_USAGE, "matches 'other'");
	assert_null(hunt_targets_from_traces(writer.folder, &by_name, &sides,
					     &totals));
}

static void a_trace_that_was_cut_counts(void **state)
{
	long whole;

	(void)state;
	two_threads();
	two_places(TRACE_WRITES, TRACE_READS);
	access_at(ADDRESS, 2, 1, 10, 0xff);
	access_at(ADDRESS, 3, 2, 30, 0xff);
	whole = ftell(writer.file);
	writer_end(&writer, 100);
	assert_int_equal(truncate(writer.path, whole + 20), 0);
	find();
	assert_int_equal(totals.cut, 1);
	assert_int_equal(totals.pairs, 1);
	assert_int_equal(sides.count, 2);
}

/* Of a process that runs on after the command, or was killed. */
static void an_empty_trace_is_passed_over(void **state)
{
	char path[PATH_MAX];
	FILE *file;

	(void)state;
	two_threads();
	two_places(TRACE_WRITES, TRACE_READS);
	access_at(ADDRESS, 2, 1, 10, 0xff);
	access_at(ADDRESS, 3, 2, 30, 0xff);
	writer_end(&writer, 100);
	snprintf(path, sizeof(path), "%s/trace.7", writer.folder);
	file = fopen(path, "we");
	assert_non_null(file);
	fclose(file);
	find();
	assert_int_equal(totals.traces, 1);
	assert_int_equal(totals.pairs, 1);
	unlink(path);
}

static void only_empty_traces_are_refused(void **state)
{
	(void)state;
	writer_end(&writer, 100);
	assert_int_equal(truncate(writer.path, 0), 0);
	is_refused(writer.folder, NULL, ERROR_FORMAT,
		   "trace.42 is empty, as are all");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_pair_has_two_sides),
		cmocka_unit_test(what_conflicts),
		TEST(one_thread_has_no_pair),
		TEST(creations_and_joins_order),
		TEST(runtimes_are_left_out),
		TEST(locks_rank_and_prune_nothing),
		cmocka_unit_test(locks_that_are_unknown_are_not_none),
		cmocka_unit_test(crowded_places_are_counted),
		TEST(accesses_of_different_blocks_are_never_too_many),
		TEST(others_are_left_out_and_counted),
		TEST(comparisons_are_limited),
		TEST(blocks_are_told_apart),
		TEST(one_side_serves_its_partners),
		TEST(the_next_access_of_a_partner_counts),
		TEST(threads_are_told_apart_by_their_origin),
		TEST(the_same_access_is_one_side),
		TEST(one_instruction_has_a_side_in_both_threads),
		TEST(one_instruction_of_any_thread_has_one_side),
		TEST(the_shortest_stack_is_taken),
		TEST(a_call_of_a_string_function_has_a_side),
		TEST(a_system_call_is_a_partner_only),
		TEST(the_best_are_kept),
		cmocka_unit_test(
			crowded_bytes_of_a_candidate_may_lack_its_access),
		TEST(bad_input_is_refused),
		TEST(programs_are_chosen),
		TEST(a_trace_that_was_cut_counts),
		TEST(an_empty_trace_is_passed_over),
		TEST(only_empty_traces_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
