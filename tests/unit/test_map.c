/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/base/map.c, checked against a plain array of what should be in it. */
#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"

enum { KEYS = 64, STEPS = 20000 };

/* Keys that collide, with the two ends of the range among them. */
static uint64_t key_of(unsigned int i)
{
	if (i == 0)
		return 0;
	if (i == 1)
		return UINT64_MAX;
	return (uint64_t)i << (i % 2 ? 32 : 3);
}

struct reference {
	bool present[KEYS];
	uint64_t value[KEYS];
	size_t count;
};

static void check_one(const struct map *map, const struct reference *reference,
		      unsigned int i)
{
	uint64_t *value = map_get(map, key_of(i));

	if (!reference->present[i]) {
		assert_null(value);
		return;
	}
	assert_non_null(value);
	assert_int_equal(*value, reference->value[i]);
}

static void step(struct map *map, struct reference *reference, struct rng *rng)
{
	unsigned int i = (unsigned int)rng_below(rng, KEYS);

	if (rng_below(rng, 2)) {
		uint64_t value = rng_next(rng);

		assert_true(map_set(map, key_of(i), value));
		reference->count += !reference->present[i];
		reference->present[i] = true;
		reference->value[i] = value;
	} else {
		assert_int_equal(map_remove(map, key_of(i)),
				 reference->present[i]);
		reference->count -= reference->present[i];
		reference->present[i] = false;
	}
}

static void agrees_with_a_naive_map(void **state)
{
	struct reference reference = { 0 };
	struct map map = { 0 };
	struct rng rng;

	(void)state;
	rng_init(&rng, 1);
	for (int n = 0; n < STEPS; n++) {
		step(&map, &reference, &rng);
		assert_int_equal(map.count, reference.count);
		check_one(&map, &reference, (unsigned int)n % KEYS);
	}
	for (unsigned int i = 0; i < KEYS; i++)
		check_one(&map, &reference, i);
	map_deinit(&map);
}

static void next_visits_every_key_once(void **state)
{
	bool seen[KEYS] = { false };
	uint64_t key, value;
	struct map map = { 0 };
	size_t cursor = 0, visited = 0;

	(void)state;
	for (unsigned int i = 0; i < KEYS; i++)
		assert_true(map_set(&map, key_of(i), i));
	while (map_next(&map, &cursor, &key, &value)) {
		assert_true(value < KEYS);
		assert_int_equal(key, key_of((unsigned int)value));
		assert_false(seen[value]);
		seen[value] = true;
		visited++;
	}
	assert_int_equal(visited, KEYS);
	map_deinit(&map);
}

static void empty_map_has_nothing(void **state)
{
	struct map map = { 0 };
	uint64_t key, value;
	size_t cursor = 0;

	(void)state;
	assert_null(map_get(&map, 0));
	assert_false(map_remove(&map, 0));
	assert_false(map_next(&map, &cursor, &key, &value));
	assert_true(map_set(&map, 5, 6));
	map_deinit(&map);
	assert_null(map_get(&map, 5));
	assert_int_equal(map.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_a_naive_map),
		cmocka_unit_test(next_visits_every_key_once),
		cmocka_unit_test(empty_map_has_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
