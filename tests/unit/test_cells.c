/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/recorder/cells.c and src/hunt/trace-cells.c: what is packed comes out again,
 * and bytes that are cut off or too large are refused.
 */
#include "recorder/cells.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "hunt/trace-cells.h"
#include "hunt/trace-format.h"

enum { ADDRESS = 0x1008, BLOCK = 7, NUMBERS = 16 };

static struct trace_cell plain(void)
{
	return (struct trace_cell){
		.address = ADDRESS,
		.thread = 1,
		.descriptor = 2,
		.count = 1,
		.first = 3,
		.last = 3,
		.mask = 0xff,
		.first_mask = 0xff,
		.block = BLOCK,
	};
}

static void unpack_begin(struct trace_unpacked *unpacked,
			 const struct cells *cells)
{
	trace_cells_begin(unpacked, &cells->head, cells->bytes, cells->size);
}

static void assert_same(const struct trace_cell *all, uint32_t count,
			const struct cells *cells)
{
	struct trace_unpacked unpacked;

	assert_int_equal(cells->head.count, count);
	unpack_begin(&unpacked, cells);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(unpacked.left, count - i);
		assert_true(trace_cells_next(&unpacked));
		assert_memory_equal(&unpacked.cell, &all[i], sizeof(*all));
	}
	assert_int_equal(unpacked.left, 0);
	assert_ptr_equal(unpacked.at, unpacked.end);
}

static void pack(struct cells *cells, const struct trace_cell *all,
		 uint32_t count)
{
	cells_begin(cells, ADDRESS, BLOCK);
	for (uint32_t i = 0; i < count; i++)
		cells_add(cells, &all[i]);
}

static void a_plain_cell_takes_six_bytes(void **state)
{
	const struct trace_cell cell = plain();
	struct cells cells;

	(void)state;
	pack(&cells, &cell, 1);
	/* flags, thread, descriptor, ordinal, twice the first, lockset */
	assert_int_equal(cells.size, 6);
	assert_memory_equal(cells.bytes, "\0\1\2\0\6\0", 6);
	assert_same(&cell, 1, &cells);
}

/* Every field has every size, and each differs from the cell before. */
static void all_fields_come_out_again(void **state)
{
	struct trace_cell all[NUMBERS];
	struct cells cells;

	(void)state;
	for (uint32_t i = 0; i < NUMBERS; i++) {
		uint64_t number = (UINT64_C(1) << 4 * i) - (i % 3);

		all[i] = plain();
		all[i].thread = (uint32_t)number;
		all[i].descriptor = (uint32_t)(number * 3);
		all[i].ordinal = (uint32_t)(number * 5);
		all[i].count = (uint32_t)(number * 7);
		/* up and down */
		all[i].first = i % 2 ? number : UINT64_MAX / 2 - number;
		all[i].last = all[i].first + (i % 4) * number;
		all[i].value = number * UINT64_C(0x9e3779b97f4a7c15);
		all[i].mask = (uint8_t)(i * 17);
		all[i].first_mask = (uint8_t)(0xff - i);
		all[i].lockset = (uint32_t)(number * 11);
		all[i].common = (uint32_t)(i % 2 ? number : number * 11);
		all[i].flags = i % 2 ? TRACE_CROWDED : 0;
	}
	pack(&cells, all, NUMBERS);
	assert_same(all, NUMBERS, &cells);
}

static struct trace_cell largest(uint32_t i)
{
	struct trace_cell cell = plain();

	cell.thread = cell.descriptor = cell.ordinal = UINT32_MAX;
	cell.count = cell.lockset = UINT32_MAX;
	cell.common = UINT32_MAX - 1;
	/* half of all numbers apart, and each value is the other's complement */
	cell.first = i % 2 ? UINT64_MAX / 2 + 1 : 0;
	cell.last = cell.first + UINT64_MAX;
	cell.value = i % 2 ? 0 : UINT64_MAX;
	cell.mask = 1;
	return cell;
}

static void there_is_room_for_the_largest(void **state)
{
	struct trace_cell all[64];
	struct cells cells;
	uint32_t count = 0;

	(void)state;
	cells_begin(&cells, ADDRESS, BLOCK);
	while (cells_has_room(&cells)) {
		uint32_t before = cells.size;

		assert_in_range(count, 0, 63);
		all[count] = largest(count);
		cells_add(&cells, &all[count++]);
		assert_in_range(cells.size - before, 1, PACKED_BYTES);
	}
	assert_in_range(cells.size, 1, sizeof(cells.bytes));
	assert_same(all, count, &cells);
}

static void what_is_cut_off_is_refused(void **state)
{
	const struct trace_cell cell = largest(1);
	struct trace_unpacked unpacked;
	struct cells cells;
	uint32_t whole;

	(void)state;
	pack(&cells, &cell, 1);
	whole = cells.size;
	for (cells.size = 0; cells.size < whole; cells.size++) {
		unpack_begin(&unpacked, &cells);
		assert_false(trace_cells_next(&unpacked));
	}
	unpack_begin(&unpacked, &cells);
	assert_true(trace_cells_next(&unpacked));
}

static void numbers_that_are_too_large_are_refused(void **state)
{
	/* a thread of 33 bits; one that does not end in 64 */
	static const unsigned char large[] = "\0\x80\x80\x80\x80\x10\0\0\0\0";
	static const unsigned char endless[] =
		"\0\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\0\0\0\0";
	const struct trace_cells head = { .count = 1 };
	struct trace_unpacked unpacked;

	(void)state;
	trace_cells_begin(&unpacked, &head, large, sizeof(large));
	assert_false(trace_cells_next(&unpacked));
	trace_cells_begin(&unpacked, &head, endless, sizeof(endless));
	assert_false(trace_cells_next(&unpacked));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_cell_takes_six_bytes),
		cmocka_unit_test(all_fields_come_out_again),
		cmocka_unit_test(there_is_room_for_the_largest),
		cmocka_unit_test(what_is_cut_off_is_refused),
		cmocka_unit_test(numbers_that_are_too_large_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
