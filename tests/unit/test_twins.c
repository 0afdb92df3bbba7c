/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which pages of two programs are the same memory. Pure: the mappings are a table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "replay/twins.h"
#include "sys/mapping.h"

enum { SHARED = MAPPING_READ | MAPPING_WRITE | MAPPING_SHARED };

struct table {
	const struct mapping *mappings;
	size_t count;
	bool ends; /* the program does, before the last one is told */
};

static struct error *table_look(void *data, uint64_t address,
				struct mapping *ret, bool *ret_found)
{
	const struct table *table = data;

	*ret_found = false;
	for (size_t i = 0; i < table->count && !*ret_found; i++) {
		*ret = table->mappings[i];
		*ret_found = address < ret->end;
		if (*ret_found && table->ends && i + 1 == table->count)
			return error_gone;
	}
	return NULL;
}

static const struct mapping first[] = {
	{ .start = 0x10000,
	  .end = 0x14000,
	  .access = SHARED,
	  .device = 1,
	  .inode = 7,
	  .offset = 0x2000 },
	/* each has its own, of the same file */
	{ .start = 0x20000,
	  .end = 0x21000,
	  .access = MAPPING_READ | MAPPING_WRITE,
	  .device = 1,
	  .inode = 7 },
	/* text is not copied */
	{ .start = 0x30000,
	  .end = 0x31000,
	  .access = SHARED | MAPPING_EXECUTE,
	  .device = 1,
	  .inode = 8 },
	{ .start = 0x40000,
	  .end = 0x41000,
	  .access = SHARED,
	  .device = 1,
	  .inode = 9 },
};
static const struct mapping second[] = {
	/* the same number on another device */
	{ .start = 0x10000,
	  .end = 0x14000,
	  .access = SHARED,
	  .device = 2,
	  .inode = 7,
	  .offset = 0x2000 },
	{ .start = 0x30000,
	  .end = 0x31000,
	  .access = SHARED | MAPPING_EXECUTE,
	  .device = 1,
	  .inode = 8 },
	{ .start = 0x50000,
	  .end = 0x52000,
	  .access = MAPPING_SHARED,
	  .device = 1,
	  .inode = 7,
	  .offset = 0x3000 },
	{ .start = 0x60000,
	  .end = 0x61000,
	  .access = SHARED,
	  .device = 1,
	  .inode = 9 },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void assert_at(const struct twins *twins, int space, uint64_t page,
		      uint64_t expected)
{
	uint64_t address = 0;

	assert_int_equal(twins_find(twins, space, page, &address),
			 expected != 0);
	assert_int_equal(address, expected);
}

static void read_both(struct twins *twins, struct table *one,
		      struct table *other, uint64_t shift)
{
	const struct replay_source sources[REPLAY_SPACES] = {
		{ .look = table_look, .data = one },
		{ .look = table_look, .data = other },
	};

	assert_null(twins_read(twins, sources, shift));
}

static void the_same_file_and_offset_are_the_same_memory(void **state)
{
	struct table one = { first, COUNT(first), false };
	struct table other = { second, COUNT(second), false };
	struct twins twins;

	(void)state;
	twins_init(&twins);
	/* twice: nothing is left of the first time */
	read_both(&twins, &other, &one, 0);
	read_both(&twins, &one, &other, 0);
	assert_at(&twins, 0, 0x10000, 0);
	assert_at(&twins, 0, 0x11000, 0x50000);
	assert_at(&twins, 0, 0x12000, 0x51000);
	assert_at(&twins, 0, 0x13000, 0);
	assert_at(&twins, 0, 0x14000, 0);
	assert_at(&twins, 1, 0x51000, 0x12000);
	assert_at(&twins, 1, 0x10000, 0);
	assert_at(&twins, 0, 0x20000, 0);
	assert_at(&twins, 0, 0x30000, 0);
	assert_at(&twins, 0, 0x40000, 0x60000);
	assert_at(&twins, 1, 0x60000, 0x40000);
	twins_deinit(&twins);
}

static void what_a_program_that_ends_does_not_tell_is_not_shared(void **state)
{
	struct table one = { first, COUNT(first), false };
	struct table other = { second, COUNT(second), true };
	struct twins twins;

	(void)state;
	twins_init(&twins);
	read_both(&twins, &one, &other, 0);
	assert_at(&twins, 0, 0x11000, 0x50000);
	assert_at(&twins, 0, 0x40000, 0);
	twins_deinit(&twins);
}

/* As a child has that maps anew what it has of its parent. */
static void of_two_places_the_one_that_races_is_taken(void **state)
{
	const struct mapping twice[] = {
		{ .start = 0x40000,
		  .end = 0x41000,
		  .access = SHARED,
		  .device = 1,
		  .inode = 9 },
		{ .start = 0x70000,
		  .end = 0x71000,
		  .access = SHARED,
		  .device = 1,
		  .inode = 9 },
	};
	struct table one = { first, COUNT(first), false };
	struct table other = { twice, COUNT(twice), false };
	struct twins twins;

	(void)state;
	twins_init(&twins);
	read_both(&twins, &one, &other, 0);
	assert_at(&twins, 0, 0x40000, 0x40000);
	read_both(&twins, &one, &other, 0x30000);
	assert_at(&twins, 0, 0x40000, 0x70000);
	assert_at(&twins, 1, 0x70000, 0x40000);
	assert_at(&twins, 1, 0x40000, 0x40000);
	read_both(&twins, &other, &one, -UINT64_C(0x30000));
	assert_at(&twins, 0, 0x70000, 0x40000);
	assert_at(&twins, 1, 0x40000, 0x70000);
	/* nothing is that far */
	read_both(&twins, &one, &other, 0x1000);
	assert_at(&twins, 0, 0x40000, 0x40000);
	twins_deinit(&twins);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_file_and_offset_are_the_same_memory),
		cmocka_unit_test(
			what_a_program_that_ends_does_not_tell_is_not_shared),
		cmocka_unit_test(of_two_places_the_one_that_races_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
