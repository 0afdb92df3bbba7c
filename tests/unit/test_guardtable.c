/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guardian's table: what is in it after each operation, and when it is
 * full.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "guardian/guardtable.h"

struct fixture {
	struct guardtable *table;
	struct vec free_list;
};

static int setup(void **state)
{
	static struct fixture fixture;

	assert_null(guardtable_create(&fixture.table));
	fixture.free_list = (struct vec)VEC_INIT(uint32_t);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	guardtable_destroy(fixture->table);
	vec_deinit(&fixture->free_list);
	return 0;
}

static uint32_t add(struct fixture *fixture, uint64_t address)
{
	struct guardtable_entry entry = {
		.address = address, .text = 3, .length = 4, .bytes = "abcd"
	};
	uint32_t i;

	assert_true(guardtable_add(fixture->table, &fixture->free_list, &entry,
				   &i));
	return i;
}

static uint32_t recent(const struct guardtable *table, uint32_t back)
{
	return table->recent[(table->recent_next - back) % GUARDTABLE_RECENT];
}

static void an_entry_is_there_until_it_is_removed(void **state)
{
	struct fixture *fixture = *state;
	uint32_t i = add(fixture, 0x1000);
	const struct guardtable_entry *entry = &fixture->table->entries[i];

	assert_true(guardtable_used(fixture->table, i));
	assert_true(i < fixture->table->end);
	assert_int_equal(entry->address, 0x1000);
	assert_int_equal(entry->text, 3);
	assert_int_equal(entry->length, 4);
	assert_memory_equal(entry->bytes, "abcd", 4);
	guardtable_remove(fixture->table, &fixture->free_list, i);
	assert_false(guardtable_used(fixture->table, i));
}

static void places_are_used_again(void **state)
{
	struct fixture *fixture = *state;
	uint32_t first = add(fixture, 1), second = add(fixture, 2);

	assert_int_not_equal(first, second);
	guardtable_remove(fixture->table, &fixture->free_list, first);
	assert_int_equal(add(fixture, 3), first);
	assert_int_equal(fixture->table->end, 2);
	assert_int_equal(fixture->table->entries[second].address, 2);
}

static void the_last_ones_are_known_in_order(void **state)
{
	struct fixture *fixture = *state;
	uint32_t entries[3 * GUARDTABLE_RECENT];

	for (uint32_t i = 0; i < 3 * GUARDTABLE_RECENT; i++)
		entries[i] = add(fixture, 1 + i);
	for (uint32_t back = 1; back <= GUARDTABLE_RECENT; back++)
		assert_int_equal(recent(fixture->table, back),
				 entries[3 * GUARDTABLE_RECENT - back]);
	guardtable_remove(fixture->table, &fixture->free_list, entries[5]);
	add(fixture, 7);
	assert_int_equal(recent(fixture->table, 1), entries[5]);
}

static void a_full_table_refuses(void **state)
{
	struct fixture *fixture = *state;
	struct guardtable_entry entry = { .address = 1, .length = 1 };
	uint32_t i = 0;

	for (uint32_t n = 0; n < GUARDTABLE_ENTRIES; n++)
		i = add(fixture, n);
	assert_false(guardtable_add(fixture->table, &fixture->free_list, &entry,
				    &i));
	guardtable_remove(fixture->table, &fixture->free_list, 77);
	assert_true(guardtable_add(fixture->table, &fixture->free_list, &entry,
				   &i));
	assert_int_equal(i, 77);
	assert_false(guardtable_add(fixture->table, &fixture->free_list, &entry,
				    &i));
}

static void spaces_are_told_apart_by_their_uses(void **state)
{
	struct fixture *fixture = *state;
	struct guardtable *table = fixture->table;
	uint32_t uses, space, other;

	assert_true(guardtable_add_space(table, 1, 100, &space));
	assert_true(guardtable_add_space(table, 1, 100, &other));
	assert_int_not_equal(space, other);
	assert_int_equal(table->spaces[space].pid, 100);
	uses = table->spaces[space].uses;
	assert_int_not_equal(uses, 0);
	guardtable_remove_space(table, space);
	assert_int_equal(table->spaces[space].pid, 0);
	/* the same process, after an exec */
	assert_true(guardtable_add_space(table, 1, 100, &space));
	assert_int_not_equal(table->spaces[space].uses, uses);
}

static void there_are_only_so_many_spaces(void **state)
{
	struct fixture *fixture = *state;
	uint32_t space;

	for (int i = 0; i < GUARDTABLE_SPACES; i++)
		assert_true(
			guardtable_add_space(fixture->table, 1, 1 + i, &space));
	assert_false(guardtable_add_space(fixture->table, 1, 9999, &space));
	guardtable_remove_space(fixture->table, 5);
	assert_true(guardtable_add_space(fixture->table, 1, 9999, &space));
	assert_int_equal(space, 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_entry_is_there_until_it_is_removed),
		TEST(places_are_used_again),
		TEST(the_last_ones_are_known_in_order),
		TEST(a_full_table_refuses),
		TEST(spaces_are_told_apart_by_their_uses),
		TEST(there_are_only_so_many_spaces),
	};

	return cmocka_run_group_tests_name("guardtable", tests, NULL, NULL);
}
