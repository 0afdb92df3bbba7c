/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/report/sorter.c: the same order in memory and through the file, against
 * the C library's qsort(3).
 */
#include "report/sorter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/rng.h"

enum { ITEMS = 20000, KEYS = 5000 };

struct pair {
	char key[16];
	unsigned int order;
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *one = a, *two = b;
	int order = strcmp(one->key, two->key);

	return order ? order
		     : (one->order > two->order) - (one->order < two->order);
}

/* Data of very different lengths, some beyond a buffer. */
static size_t data_size(unsigned int order)
{
	return order % 997 == 0 ? 70000 : order % 50 + sizeof(order);
}

static void add_pair(struct sorter *sorter, const struct pair *pair)
{
	static char data[70000];
	struct sorter_item item = {
		.key = (const uint8_t *)pair->key,
		.key_size = strlen(pair->key),
		.data = data,
		.size = data_size(pair->order),
	};

	memset(data, (int)pair->order, sizeof(data));
	memcpy(data, &pair->order, sizeof(pair->order));
	assert_null(sorter_add(sorter, &item));
}

static void is_next(struct sorter *sorter, const struct pair *pair)
{
	struct sorter_item item;
	unsigned int order;
	bool more = false;

	assert_null(sorter_next(sorter, &item, &more));
	assert_true(more);
	assert_int_equal(item.key_size, strlen(pair->key));
	assert_memory_equal(item.key, pair->key, item.key_size);
	assert_int_equal(item.size, data_size(pair->order));
	memcpy(&order, item.data, sizeof(order));
	assert_int_equal(order, pair->order);
	assert_int_equal((unsigned char)item.data[item.size - 1],
			 item.size > sizeof(order)
				 ? (unsigned char)pair->order
				 : (unsigned char)item.data[item.size - 1]);
}

static void sort_with(size_t memory)
{
	struct pair *pairs = calloc(ITEMS, sizeof(*pairs));
	struct sorter *sorter;
	struct sorter_item item;
	struct rng rng;
	bool more = true;

	assert_non_null(pairs);
	assert_null(sorter_create(memory, &sorter));
	rng_init(&rng, 1);
	for (unsigned int i = 0; i < ITEMS; i++) {
		/* of different lengths, one a prefix of another */
		snprintf(pairs[i].key, sizeof(pairs[i].key), "%x",
			 (unsigned int)rng_below(&rng, KEYS));
		pairs[i].order = i;
		add_pair(sorter, &pairs[i]);
	}
	qsort(pairs, ITEMS, sizeof(*pairs), compare_pairs);
	for (int round = 0; round < 2; round++) {
		assert_null(sorter_sort(sorter));
		for (unsigned int i = 0; i < ITEMS; i++)
			is_next(sorter, &pairs[i]);
		assert_null(sorter_next(sorter, &item, &more));
		assert_false(more);
	}
	sorter_destroy(sorter);
	free(pairs);
}

static void sorts_in_memory(void **state)
{
	(void)state;
	sort_with(64 << 20);
}

static void sorts_in_chunks(void **state)
{
	(void)state;
	sort_with(100000);
	sort_with(5000);
}

static void nothing_is_sorted(void **state)
{
	struct sorter_item item;
	struct sorter *sorter;
	bool more = true;

	(void)state;
	assert_null(sorter_create(1000, &sorter));
	assert_null(sorter_sort(sorter));
	assert_null(sorter_next(sorter, &item, &more));
	assert_false(more);
	sorter_destroy(sorter);
}

static void no_room_for_the_file_is_an_error(void **state)
{
	struct sorter_item item = { .data = "data", .size = 5 };
	struct sorter *sorter;
	struct error *err;

	(void)state;
	setenv("TMPDIR", "/nonexistent/there", 1);
	assert_null(sorter_create(1, &sorter));
	assert_null(sorter_add(sorter, &item));
	err = sorter_add(sorter, &item);
	assert_non_null(err);
	assert_non_null(strstr(error_message(err), "/nonexistent/there"));
	error_free(err);
	sorter_destroy(sorter);
	unsetenv("TMPDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorts_in_memory),
		cmocka_unit_test(sorts_in_chunks),
		cmocka_unit_test(nothing_is_sorted),
		cmocka_unit_test(no_room_for_the_file_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
