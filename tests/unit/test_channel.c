/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Framed messages over a socketpair: whole, in pieces, too large, and after
 * the other side has gone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "wire/channel.h"

enum { LIMIT = 1 << 22 };

struct pair {
	struct channel a, b;
};

static int setup(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	int fds[2];

	if (!pair || socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		return -1;
	if (channel_init(&pair->a, fds[0], LIMIT) ||
	    channel_init(&pair->b, fds[1], LIMIT))
		return -1;
	*state = pair;
	return 0;
}

static int teardown(void **state)
{
	struct pair *pair = *state;

	channel_deinit(&pair->a);
	channel_deinit(&pair->b);
	free(pair);
	return 0;
}

static void expect(struct channel *channel, enum wire_type type,
		   const void *payload, size_t size)
{
	enum wire_type got;
	const void *bytes;
	size_t got_size;

	assert_true(channel_next(channel, &got, &bytes, &got_size));
	assert_int_equal(got, type);
	assert_int_equal(got_size, size);
	assert_int_equal((uintptr_t)bytes % 8, 0);
	assert_memory_equal(bytes, payload, size);
}

static void expect_nothing(struct channel *channel)
{
	enum wire_type type;
	const void *bytes;
	size_t size;

	assert_false(channel_next(channel, &type, &bytes, &size));
}

static void messages_arrive_whole_and_in_order(void **state)
{
	struct pair *pair = *state;
	struct channel_part parts[2] = { { "abc", 3 }, { "defgh", 5 } };

	assert_true(channel_send(&pair->a, WIRE_NOTE, "hello", 5));
	assert_true(channel_send(&pair->a, WIRE_STOP, NULL, 0));
	assert_true(channel_send_parts(&pair->a, WIRE_NOTE, parts, 2));
	assert_true(channel_pending(&pair->a));
	channel_flush(&pair->a);
	assert_false(channel_pending(&pair->a));
	channel_fill(&pair->b);
	expect(&pair->b, WIRE_NOTE, "hello", 5);
	expect(&pair->b, WIRE_STOP, "", 0);
	expect(&pair->b, WIRE_NOTE, "abcdefgh", 8);
	expect_nothing(&pair->b);
}

static void a_message_in_pieces_is_awaited(void **state)
{
	struct pair *pair = *state;
	struct {
		struct wire_header header;
		char payload[16];
	} message = { { WIRE_NOTE, 12 }, "twelve bytes" };
	const char *bytes = (const char *)&message;

	for (size_t i = 0; i < sizeof(message); i++) {
		expect_nothing(&pair->b);
		assert_int_equal(write(pair->a.fd, bytes + i, 1), 1);
		channel_fill(&pair->b);
	}
	expect(&pair->b, WIRE_NOTE, "twelve bytes", 12);
}

/* More than the socket takes at once: kept, and sent when it can be. */
static void what_the_socket_does_not_take_is_kept(void **state)
{
	struct pair *pair = *state;
	static uint8_t payload[100000];
	int sent = 0, received = 0;

	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 7);
	while (channel_send(&pair->a, WIRE_NOTE, payload, sizeof(payload)))
		sent++;
	assert_int_equal(sent, LIMIT / (sizeof(payload) + 8));
	channel_flush(&pair->a);
	assert_true(channel_pending(&pair->a));
	while (received < sent) {
		enum wire_type type;
		const void *bytes;
		size_t size;

		channel_flush(&pair->a);
		channel_fill(&pair->b);
		while (channel_next(&pair->b, &type, &bytes, &size)) {
			assert_int_equal(size, sizeof(payload));
			assert_memory_equal(bytes, payload, size);
			received++;
		}
	}
	assert_false(channel_pending(&pair->a));
}

static bool starve;

void *__real_realloc(void *pointer, size_t size);
void *__wrap_realloc(void *pointer, size_t size);

void *__wrap_realloc(void *pointer, size_t size)
{
	return starve ? NULL : __real_realloc(pointer, size);
}

/* What was not read is not lost. */
static void without_memory_it_says_so_until_there_is_some(void **state)
{
	struct pair *pair = *state;

	assert_true(channel_send(&pair->a, WIRE_NOTE, "hello", 5));
	channel_flush(&pair->a);
	starve = true;
	channel_fill(&pair->b);
	starve = false;
	assert_true(pair->b.starved);
	assert_false(pair->b.closed);
	expect_nothing(&pair->b);
	channel_fill(&pair->b);
	assert_false(pair->b.starved);
	expect(&pair->b, WIRE_NOTE, "hello", 5);
}

static void too_large_a_message_is_refused(void **state)
{
	struct pair *pair = *state;
	uint8_t *payload = calloc(1, WIRE_SIZE_MAX + 1);

	assert_false(
		channel_send(&pair->a, WIRE_NOTE, payload, WIRE_SIZE_MAX + 1));
	assert_false(channel_pending(&pair->a));
	assert_true(channel_send(&pair->a, WIRE_NOTE, payload, WIRE_SIZE_MAX));
	free(payload);
}

/* The other side has not listened for long, and is to hear of the end. */
static void the_last_words_find_room(void **state)
{
	struct pair *pair = *state;
	static uint8_t payload[1000];
	enum wire_type type = WIRE_NOTE;
	const void *bytes;
	size_t size;

	while (channel_send(&pair->a, WIRE_NOTE, payload, sizeof(payload)))
		;
	while (channel_send(&pair->a, WIRE_NOTE, payload, 1))
		;
	assert_true(channel_send(&pair->a, WIRE_EXITED, payload,
				 sizeof(struct wire_exited)));
	assert_true(channel_send(&pair->a, WIRE_DETACHED, NULL, 0));
	while (type != WIRE_DETACHED) {
		channel_flush(&pair->a);
		channel_fill(&pair->b);
		while (channel_next(&pair->b, &type, &bytes, &size))
			;
	}
}

static void a_length_beyond_the_limit_closes(void **state)
{
	struct pair *pair = *state;
	struct wire_header header = { WIRE_NOTE, WIRE_SIZE_MAX + 1 };

	assert_int_equal(write(pair->a.fd, &header, sizeof(header)),
			 sizeof(header));
	channel_fill(&pair->b);
	expect_nothing(&pair->b);
	assert_true(pair->b.closed);
}

static void what_came_before_the_end_is_still_read(void **state)
{
	struct pair *pair = *state;

	assert_true(channel_send(&pair->a, WIRE_NOTE, "last", 4));
	channel_flush(&pair->a);
	channel_deinit(&pair->a);
	channel_fill(&pair->b);
	assert_true(pair->b.closed);
	expect(&pair->b, WIRE_NOTE, "last", 4);
	expect_nothing(&pair->b);
	assert_false(channel_send(&pair->b, WIRE_NOTE, "x", 1));
}

static void
sending_to_nobody_raises_no_signal_and_loses_no_message(void **state)
{
	struct pair *pair = *state;

	assert_true(channel_send(&pair->a, WIRE_NOTE, "last", 4));
	channel_flush(&pair->a);
	channel_deinit(&pair->a);
	assert_true(channel_send(&pair->b, WIRE_NOTE, "x", 1));
	channel_flush(&pair->b);
	assert_false(channel_pending(&pair->b));
	assert_false(channel_send(&pair->b, WIRE_NOTE, "x", 1));
	assert_false(pair->b.closed);
	channel_fill(&pair->b);
	assert_true(pair->b.closed);
	expect(&pair->b, WIRE_NOTE, "last", 4);
}

/* What can wait does not hurry the rest, and the rest hurries it. */
static void what_can_wait_is_told_from_what_cannot(void **state)
{
	static const uint8_t much[32 << 10];
	struct pair *pair = *state;

	assert_false(channel_is_urgent(&pair->a));
	assert_true(channel_send(&pair->a, WIRE_STATS, "s", 1));
	assert_true(channel_pending(&pair->a));
	assert_false(channel_is_urgent(&pair->a));
	assert_true(channel_send(&pair->a, WIRE_CONFLICT, "c", 1));
	assert_true(channel_send(&pair->a, WIRE_SAMPLE, "s", 1));
	assert_true(channel_is_urgent(&pair->a));
	channel_flush(&pair->a);
	assert_false(channel_is_urgent(&pair->a));
	assert_true(channel_send(&pair->a, WIRE_SAMPLE, "s", 1));
	assert_false(channel_is_urgent(&pair->a));
	/* there is much of it */
	assert_true(channel_send(&pair->a, WIRE_RETURNED, much, sizeof(much)));
	assert_true(channel_is_urgent(&pair->a));
	channel_flush(&pair->a);
	channel_fill(&pair->b);
	expect(&pair->b, WIRE_STATS, "s", 1);
	expect(&pair->b, WIRE_CONFLICT, "c", 1);
	expect(&pair->b, WIRE_SAMPLE, "s", 1);
	expect(&pair->b, WIRE_SAMPLE, "s", 1);
	expect(&pair->b, WIRE_RETURNED, much, sizeof(much));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(messages_arrive_whole_and_in_order),
		TEST(a_message_in_pieces_is_awaited),
		TEST(what_the_socket_does_not_take_is_kept),
		TEST(without_memory_it_says_so_until_there_is_some),
		TEST(too_large_a_message_is_refused),
		TEST(the_last_words_find_room),
		TEST(a_length_beyond_the_limit_closes),
		TEST(what_came_before_the_end_is_still_read),
		TEST(what_can_wait_is_told_from_what_cannot),
		TEST(sending_to_nobody_raises_no_signal_and_loses_no_message),
	};

	return cmocka_run_group_tests_name("channel", tests, NULL, NULL);
}
