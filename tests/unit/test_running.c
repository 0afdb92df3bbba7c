/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks of code that were seen to run, and when they are told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/error.h"
#include "tracer/running.h"
#include "wire/channel.h"
#include "wire/running.h"

enum { TOLD_MAX = 2 * RUNNING_BLOCKS_MAX, LIMIT = 8 << 20 };

static const uint64_t BEGIN_NS = 1000 * CLOCK_NS_PER_S;

static struct test {
	struct running running;
	struct channel out, in;
	struct wire_running told[TOLD_MAX];
	int count;
	int messages;
} test;

static void begin(size_t limit)
{
	int fds[2];

	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_null(channel_init(&test.out, fds[0], limit));
	assert_null(channel_init(&test.in, fds[1], LIMIT));
	running_init(&test.running);
}

static void end(void)
{
	running_deinit(&test.running);
	channel_deinit(&test.out);
	channel_deinit(&test.in);
}

static void hear(void)
{
	const void *payload;
	enum wire_type type;
	size_t size;

	do {
		channel_flush(&test.out);
		channel_fill(&test.in);
		while (channel_next(&test.in, &type, &payload, &size)) {
			size_t n = size / sizeof(test.told[0]);

			assert_int_equal(type, WIRE_RUNNING);
			assert_int_equal(size % sizeof(test.told[0]), 0);
			assert_in_range(n, 1, WIRE_RUNNING_MAX);
			assert_true(test.count + n <= TOLD_MAX);
			memcpy(&test.told[test.count], payload, size);
			test.count += (int)n;
			test.messages++;
		}
	} while (channel_pending(&test.out));
}

/* What is told then, and nothing of what was told before. */
static int tell(uint64_t now)
{
	test.count = test.messages = 0;
	running_tell(&test.running, &test.out, now);
	hear();
	return test.count;
}

static void assert_told(int i, uint32_t program, uint64_t address,
			uint32_t count)
{
	assert_true(i < test.count);
	assert_int_equal(test.told[i].program, program);
	assert_int_equal(test.told[i].address, address);
	assert_int_equal(test.told[i].count, count);
}

/* Is the block new? */
static bool note(uint32_t program, uint64_t address, uint64_t now)
{
	size_t before = test.running.blocks.count;

	running_note(&test.running, program, address, now);
	return test.running.blocks.count > before;
}

static void a_new_block_is_told_at_once(void **state)
{
	uint64_t now = BEGIN_NS;

	(void)state;
	begin(LIMIT);
	assert_true(note(1, 0x401238, now));
	assert_false(note(1, 0x401230, now));
	assert_false(note(1, 0x40123f, now));
	assert_true(note(1, 0x401240, now));
	/* the same place of another program is another block */
	assert_true(note(2, 0x401238, now));
	assert_int_equal(tell(now), 3);
	assert_told(0, 1, 0x401230, 3);
	assert_told(1, 1, 0x401240, 1);
	assert_told(2, 2, 0x401230, 1);
	assert_true(note(1, 0x500000, now + 1));
	assert_int_equal(tell(now + 1), 1);
	assert_told(0, 1, 0x500000, 1);
	end();
}

static void one_that_runs_on_is_told_each_second(void **state)
{
	uint64_t now = BEGIN_NS;

	(void)state;
	begin(LIMIT);
	note(1, 0x1000, now);
	note(1, 0x2000, now);
	assert_int_equal(tell(now), 2);
	for (int i = 0; i < 99; i++) {
		now += 10 * CLOCK_NS_PER_MS;
		note(1, 0x1008, now);
		assert_int_equal(tell(now), 0);
	}
	/* also when it has just ceased */
	assert_int_equal(tell(now + CLOCK_NS_PER_S), 1);
	assert_told(0, 1, 0x1000, 99);
	assert_int_equal(tell(now + 5 * CLOCK_NS_PER_S), 0);
	end();
}

static void one_that_ceased_is_new_when_it_comes_back(void **state)
{
	uint64_t now = BEGIN_NS;

	(void)state;
	begin(LIMIT);
	note(1, 0x1000, now);
	for (uint64_t i = 0; i < 300; i++)
		note(1, 0x2000 + 16 * i, now);
	assert_int_equal(tell(now), 301);
	now += 20 * CLOCK_NS_PER_S;
	assert_false(note(1, 0x1000, now));
	assert_int_equal(tell(now), 1);
	now += 20 * CLOCK_NS_PER_S;
	assert_int_equal(tell(now), 0);
	assert_int_equal(test.running.blocks.count, 1);
	assert_int_equal(test.running.index.count, 1);
	assert_int_equal(running_note(&test.running, 1, 0x1000, now), BEGIN_NS);
	assert_true(note(1, 0x2000, now));
	assert_int_equal(tell(now + CLOCK_NS_PER_S), 2);
	end();
}

static void there_are_not_too_many(void **state)
{
	uint64_t now = BEGIN_NS;

	(void)state;
	begin(LIMIT);
	for (uint64_t i = 0; i < RUNNING_BLOCKS_MAX; i++)
		assert_true(note(1, 16 * i, now));
	assert_false(note(1, 0x7fff00000000, now));
	assert_int_equal(tell(now), RUNNING_BLOCKS_MAX);
	assert_int_equal(test.messages, RUNNING_BLOCKS_MAX / WIRE_RUNNING_MAX);
	/* those that are not seen any more make room for others */
	now += 3 * CLOCK_NS_PER_S;
	for (uint64_t i = 0; i < 10; i++)
		note(1, 16 * i, now);
	assert_int_equal(tell(now), 10);
	assert_int_equal(test.running.blocks.count, 10);
	assert_true(note(1, 0x7fff00000000, now));
	end();
}

static void an_address_of_nobody_is_left_out(void **state)
{
	(void)state;
	begin(LIMIT);
	assert_false(note(1, 0xffffffffff600000, BEGIN_NS));
	assert_int_equal(tell(BEGIN_NS), 0);
	end();
}

static void what_cannot_be_sent_is_told_later(void **state)
{
	uint64_t now = BEGIN_NS;

	(void)state;
	/* no message fits */
	begin(8);
	note(1, 0x1000, now);
	assert_int_equal(tell(now), 0);
	test.out.out_limit = LIMIT;
	now += CLOCK_NS_PER_S;
	note(1, 0x1000, now);
	assert_int_equal(tell(now), 1);
	assert_told(0, 1, 0x1000, 2);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_block_is_told_at_once),
		cmocka_unit_test(one_that_runs_on_is_told_each_second),
		cmocka_unit_test(one_that_ceased_is_new_when_it_comes_back),
		cmocka_unit_test(there_are_not_too_many),
		cmocka_unit_test(an_address_of_nobody_is_left_out),
		cmocka_unit_test(what_cannot_be_sent_is_told_later),
	};

	return cmocka_run_group_tests_name("running", tests, NULL, NULL);
}
