/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/hunt/history.c: what a side knows of its bytes, from traces by hand. */
#include "hunt/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "hunt/target.h"
#include "report/frame.h"
#include "trace-writer.h"
#include "x86/access.h"

enum { ADDRESS = 0x10000, PLACE_A = 0x1100, PLACE_B = 0x1200, LOCK = 0x12000 };

static struct writer writer;
static struct vec sides;

/* The threads 2 and 3, which thread 1 creates and never joins. */
static void begin_by(uint32_t promises)
{
	sides = (struct vec)VEC_INIT(struct hunt_side);
	writer_begin_by(&writer, TRACE_BY_VALGRIND, promises);
	writer_thread(&writer, 1, 0, 0, 0, 0, 0, 0);
	writer_thread(&writer, 2, 1, 0, 9, 0, 0, 0);
	writer_thread(&writer, 3, 1, 1, 9, 0, 0, 0);
	writer_descriptor(&writer, 1, TRACE_WRITES, PLACE_A,
			  (const uint64_t[]){ 0x1301, 0x1401 }, 2);
	writer_descriptor(&writer, 2, TRACE_READS, PLACE_B, NULL, 0);
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

static struct trace_cell cell_at(uint32_t thread, uint32_t descriptor,
				 uint64_t sequence)
{
	return writer_cell(ADDRESS, thread, descriptor, sequence);
}

/* What the side at the place knows. */
static const struct recorded *find(uint64_t place)
{
	const struct hunt_pairing options = { .slow_down = 10, .quiet = true };
	struct hunt_totals totals;
	struct error *err;

	writer_end(&writer, 1000);
	err = hunt_targets_from_traces(writer.folder, &options, &sides,
				       &totals);
	if (err)
		fail_msg("%s", error_message(err));
	for (size_t i = 0; i < sides.count; i++) {
		const struct hunt_side *side = vec_at(&sides, i);

		if (side->place.offset == place)
			return &side->recorded;
	}
	fail_msg("no side at 0x%llx", (unsigned long long)place);
	return NULL;
}

static const struct recorded_access *access_of(const struct recorded *recorded,
					       size_t i)
{
	assert_true(i < recorded->accesses.count);
	return vec_at(&recorded->accesses, i);
}

static uint64_t offset_of(const struct vec *frames, size_t i)
{
	assert_true(i < frames->count);
	return ((const struct race_frame *)vec_at(frames, i))->offset;
}

static void accesses_are_in_order_with_their_stacks(void **state)
{
	struct trace_cell later = cell_at(3, 2, 30);
	struct trace_cell first = cell_at(2, 1, 10);
	const struct recorded *recorded;

	(void)state;
	first.count = 4;
	first.last = 90;
	writer_add(&writer, &later);
	writer_add(&writer, &first);
	recorded = find(PLACE_A);
	assert_int_equal(recorded->pid, 42);
	assert_int_equal(recorded->address, ADDRESS);
	assert_int_equal(recorded->size, 8);
	assert_int_equal(recorded->block.size, 0);
	assert_int_equal(recorded->accesses.count, 2);
	assert_int_equal(recorded->left_out, 0);
	assert_false(recorded->order_unknown);
	assert_int_equal(access_of(recorded, 0)->first, 10);
	assert_int_equal(access_of(recorded, 0)->last, 90);
	assert_int_equal(access_of(recorded, 0)->count, 4);
	assert_string_equal(access_of(recorded, 0)->thread_path, "0.0");
	assert_int_equal(access_of(recorded, 0)->access, ACCESS_WRITE);
	assert_true(access_of(recorded, 0)->held);
	assert_int_equal(access_of(recorded, 0)->locks.count, 0);
	assert_false(access_of(recorded, 0)->locks_unknown);
	assert_int_equal(access_of(recorded, 0)->frames.count, 3);
	assert_int_equal(offset_of(&access_of(recorded, 0)->frames, 0),
			 PLACE_A);
	/* of a return address the call */
	assert_int_equal(offset_of(&access_of(recorded, 0)->frames, 1), 0x1300);
	assert_int_equal(access_of(recorded, 1)->access, ACCESS_READ);
	assert_string_equal(access_of(recorded, 1)->thread_path, "0.1");
	assert_false(access_of(recorded, 1)->held);
}

static void without_a_total_order_that_is_told(void **state)
{
	const struct trace_cell cells[] = { cell_at(3, 2, 30),
					    cell_at(2, 1, 10) };

	end(state);
	begin_by(TRACE_EXACT_LOCKS);
	writer_add(&writer, &cells[0]);
	writer_add(&writer, &cells[1]);
	assert_true(find(PLACE_A)->order_unknown);
}

static void other_bytes_and_blocks_are_left_out(void **state)
{
	const struct trace_block block = { 1, 2, ADDRESS, 64, 5, 2, 0 };
	const struct trace_block old = { 2, 2, ADDRESS, 64, 1, 2, 0 };
	struct trace_cell cell = cell_at(3, 2, 20);
	const struct recorded *recorded;

	(void)state;
	writer_chunk(&writer, TRACE_BLOCK, &block, sizeof(block), NULL, 0);
	writer_chunk(&writer, TRACE_BLOCK, &old, sizeof(old), NULL, 0);
	cell.block = 1;
	cell.mask = cell.first_mask = 0x0f;
	writer_add(&writer, &cell);
	cell.first = cell.last = 21;
	cell.mask = cell.first_mask = 0xf0;
	writer_add(&writer, &cell);
	cell.first = cell.last = 4;
	cell.block = 2;
	cell.mask = cell.first_mask = 0x0f;
	writer_add(&writer, &cell);
	cell = cell_at(2, 1, 10);
	cell.block = 1;
	cell.mask = cell.first_mask = 0x0c;
	writer_add(&writer, &cell);
	recorded = find(PLACE_A);
	assert_int_equal(recorded->address, ADDRESS + 2);
	assert_int_equal(recorded->accesses.count, 2);
	assert_int_equal(access_of(recorded, 0)->first, 10);
	assert_int_equal(access_of(recorded, 1)->first, 20);
	assert_int_equal(recorded->block.address, ADDRESS);
	assert_int_equal(recorded->block.size, 64);
	assert_string_equal(recorded->block.thread_path, "0.0");
}

static void locks_have_the_calls_that_took_them(void **state)
{
	struct {
		struct trace_lockset set;
		struct trace_lock locks[2];
	} locks = { { 7, 2 },
		    { { .address = LOCK + 64,
			.kind = TRACE_RWLOCK,
			.shared = 1,
			.descriptor = 1 },
		      { .address = LOCK, .kind = TRACE_MUTEX } } };
	struct trace_cell cell = cell_at(2, 1, 10);
	const struct recorded_lock *lock;
	const struct recorded_access *access;

	(void)state;
	writer_chunk(&writer, TRACE_LOCKSET, &locks.set, sizeof(locks.set),
		     locks.locks, sizeof(locks.locks));
	cell.lockset = 7;
	writer_add(&writer, &cell);
	cell = cell_at(3, 2, 30);
	writer_add(&writer, &cell);
	access = access_of(find(PLACE_A), 0);
	assert_int_equal(access->locks.count, 2);
	/* as they were taken */
	lock = vec_at(&access->locks, 0);
	assert_int_equal(lock->address, LOCK + 64);
	assert_int_equal(lock->kind, RECORDED_RWLOCK);
	assert_true(lock->shared);
	assert_int_equal(lock->taken.count, 2);
	assert_int_equal(offset_of(&lock->taken, 0), 0x1300);
	lock = vec_at(&access->locks, 1);
	assert_int_equal(lock->kind, RECORDED_MUTEX);
	assert_false(lock->shared);
	assert_int_equal(lock->taken.count, 0);
}

/* Of a set that the recorder has kept; not of none where it had no room for some. */
static void without_room_for_locks_they_are_unknown(void **state)
{
	struct trace_cell cell = cell_at(2, 1, 10);
	const struct recorded *recorded;

	(void)state;
	writer_lockset(&writer, 7, LOCK);
	cell.lockset = 7;
	writer_add(&writer, &cell);
	cell = cell_at(3, 2, 30);
	writer_add(&writer, &cell);
	writer.dropped_locksets = 1;
	recorded = find(PLACE_A);
	assert_false(access_of(recorded, 0)->locks_unknown);
	assert_int_equal(access_of(recorded, 0)->locks.count, 1);
	assert_true(access_of(recorded, 1)->locks_unknown);
}

/* The side at 500, its partner at 900, and of the rest those around the side. */
static void of_many_those_that_matter_are_kept(void **state)
{
	struct trace_cell cell;
	const struct recorded *recorded;

	(void)state;
	writer_descriptor(&writer, 3, TRACE_READS, 0x1500, NULL, 0);
	for (uint64_t i = 1; i <= 40; i++) {
		cell = cell_at(2, 3, i * 20 + 1);
		writer_add(&writer, &cell);
	}
	cell = cell_at(2, 1, 500);
	writer_add(&writer, &cell);
	cell = cell_at(3, 2, 900);
	writer_add(&writer, &cell);
	recorded = find(PLACE_A);
	assert_int_equal(recorded->accesses.count, HISTORY_MAX);
	assert_int_equal(recorded->left_out, 42 - HISTORY_MAX);
	assert_int_equal(access_of(recorded, HISTORY_MAX - 1)->first, 900);
	assert_int_equal(access_of(recorded, 0)->first, 401);
	for (size_t i = 0; i < HISTORY_MAX; i++)
		assert_int_equal(access_of(recorded, i)->held,
				 access_of(recorded, i)->first == 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			accesses_are_in_order_with_their_stacks, begin, end),
		cmocka_unit_test_setup_teardown(
			without_a_total_order_that_is_told, begin, end),
		cmocka_unit_test_setup_teardown(
			other_bytes_and_blocks_are_left_out, begin, end),
		cmocka_unit_test_setup_teardown(
			locks_have_the_calls_that_took_them, begin, end),
		cmocka_unit_test_setup_teardown(
			without_room_for_locks_they_are_unknown, begin, end),
		cmocka_unit_test_setup_teardown(
			of_many_those_that_matter_are_kept, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
