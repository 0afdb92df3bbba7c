/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions of which two runs do not do the same, found in text.
 */
#include "function-code.h"

#include "replay/hazard.h"

/* more than the scan looks back, on both sides */
#define SOME_CODE             \
	".rept 20\n"          \
	"mov 8(%rdi), %eax\n" \
	"add $0x1234, %rax\n" \
	"test %rax, %rax\n"   \
	"jne 1f\n"            \
	"1:\n"                \
	".endr\n"

CODE(random, SOME_CODE HERE(random) "rdrand %rax\n" SOME_CODE);
CODE(seed, SOME_CODE HERE(seed) "rdseed %r9d\n" SOME_CODE);
CODE(processor, SOME_CODE HERE(processor) "cpuid\n" SOME_CODE);
CODE(number, SOME_CODE HERE(number) "rdpid %rcx\n" SOME_CODE);
CODE(keys, SOME_CODE HERE(keys) "wrpkru\n" SOME_CODE);
/* cpuid, rdrand and wrpkru as numbers of others */
CODE(inside, SOME_CODE HERE(inside) "mov $0xa20f, %eax\n"
				    "movabs $0xf0c70f11223344, %rax\n"
				    "lea 0xef010f(%rdi), %rax\n"
				    "cmpxchg8b (%rdi)\n" SOME_CODE);
CODE(first, HERE(first) "cpuid\n" SOME_CODE);

struct found {
	struct hazard hazards[HAZARDS_MAX];
	size_t count;
};

#define FIND(state, name, ret)                                           \
	((ret)->count = hazard_find(*(state), name##_start,              \
				    (size_t)(name##_end - name##_start), \
				    at(name##_start), (ret)->hazards))

static void assert_one(const struct found *found, const uint8_t *where,
		       enum replay_stop_kind kind)
{
	assert_int_equal(found->count, 1);
	assert_int_equal(found->hazards[0].address, at(where));
	assert_string_equal(replay_stop_name(found->hazards[0].kind),
			    replay_stop_name(kind));
}

static void each_is_found_where_it_begins(void **state)
{
	struct found found;

	FIND(state, random, &found);
	assert_one(&found, random_here, REPLAY_RANDOM);
	FIND(state, seed, &found);
	assert_one(&found, seed_here, REPLAY_RANDOM);
	FIND(state, processor, &found);
	assert_one(&found, processor_here, REPLAY_CPUID);
	FIND(state, number, &found);
	assert_one(&found, number_here, REPLAY_RANDOM);
	FIND(state, keys, &found);
	assert_one(&found, keys_here, REPLAY_KEYS);
	FIND(state, first, &found);
	assert_one(&found, first_here, REPLAY_CPUID);
}

static void numbers_of_others_are_none(void **state)
{
	struct found found;

	FIND(state, inside, &found);
	assert_int_equal(found.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_found_where_it_begins),
		cmocka_unit_test(numbers_of_others_are_none),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
