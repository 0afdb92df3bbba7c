/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/session/session-replay.c: every instance is answered, whatever its message
 * is like, and what cannot be replayed is counted as that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "base/error.h"
#include "conflict/conflict.h"
#include "report/race-replay.h"
#include "report/race.h"
#include "session/session-state.h"

enum { VECTORS = 1088, PAIR = 77 };

/* One page, and vectors of both threads. */
struct message {
	struct wire_instance head;
	uint8_t vectors[2][VECTORS];
	uint64_t pages[1];
	uint8_t bytes[1][WIRE_PAGE];
};

struct fixture {
	struct session_config config;
	struct session_sink sink;
	struct session session;
	struct channel peer;
	struct race race;
	struct message message;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct session *session = &fixture->session;
	int fds[2];

	*state = fixture;
	session->config = &fixture->config;
	session->sink = &fixture->sink;
	fixture->config.replay_instances = 2;
	race_init(&fixture->race);
	fixture->race.verdict = VERDICT_SUSPECT;
	fixture->message.head = (struct wire_instance){
		.pair = PAIR,
		.pages = 1,
		.of_first = 1,
		.threads = { { .vectors_size = VECTORS, .area_size = VECTORS },
			     { .vectors_size = VECTORS,
			       .area_size = VECTORS } },
	};
	fixture->message.pages[0] = 0x10000;
	session_races_init(session);
	session_replay_init(session);
	return socketpair(AF_UNIX, SOCK_STREAM, 0, fds) ||
	       channel_init(&session->channel, fds[0], WIRE_SIZE_MAX) ||
	       channel_init(&fixture->peer, fds[1], WIRE_SIZE_MAX);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	session_replay_deinit(&fixture->session);
	session_races_deinit(&fixture->session);
	channel_deinit(&fixture->session.channel);
	channel_deinit(&fixture->peer);
	race_deinit(&fixture->race);
	free(fixture);
	return 0;
}

/* The conflict before was one of the race, which cannot be replayed. */
static void announce(struct fixture *fixture)
{
	fixture->session.replays.next = (struct session_instance){
		.race = &fixture->race,
		.failure = "unknown-frame",
	};
}

static void tell(struct fixture *fixture, size_t size)
{
	struct error *err =
		session_replay(&fixture->session, &fixture->message, size);

	assert_null(err);
}

/* Exactly one has come. */
static struct wire_replay answer_whole(struct fixture *fixture)
{
	struct wire_replay answer;
	enum wire_type type;
	const void *payload;
	size_t size;

	channel_fill(&fixture->peer);
	assert_true(channel_next(&fixture->peer, &type, &payload, &size));
	assert_int_equal(type, WIRE_REPLAY);
	assert_int_equal(size, sizeof(answer));
	memcpy(&answer, payload, sizeof(answer));
	assert_int_equal(answer.pair, PAIR);
	assert_int_equal(answer.count, 0);
	return answer;
}

/* The same; is it enough? */
static bool answer(struct fixture *fixture)
{
	return answer_whole(fixture).enough;
}

static uint64_t failures(const struct fixture *fixture)
{
	return race_replay_failures(&fixture->race.replay);
}

static void what_cannot_be_replayed_is_counted(void **state)
{
	struct fixture *fixture = *state;

	announce(fixture);
	tell(fixture, sizeof(fixture->message));
	assert_int_equal(failures(fixture), 1);
	assert_false(answer(fixture));
	announce(fixture);
	tell(fixture, sizeof(fixture->message));
	assert_int_equal(failures(fixture), 2);
	/* no more than config.replay_instances */
	assert_true(answer(fixture));
}

static void what_it_took_is_told(void **state)
{
	struct fixture *fixture = *state;
	struct wire_replay got;

	announce(fixture);
	tell(fixture, sizeof(fixture->message));
	got = answer_whole(fixture);
	assert_true(got.counts);
	/* nothing has run, but the scratch process is there now */
	assert_true(got.scratch_ns > 0);
	assert_true(got.cpu_ns > got.scratch_ns);
	assert_true(session_replay_cpu_ns(&fixture->session.replays) >=
		    got.scratch_ns);
	tell(fixture, sizeof(fixture->message));
	got = answer_whole(fixture);
	assert_false(got.counts);
	assert_int_equal(got.scratch_ns, 0);
}

/* It was said once, when it happened; each race has it in its record. */
static void that_nothing_can_be_replayed_is_counted(void **state)
{
	struct fixture *fixture = *state;
	const struct race_replay_failure *failure;
	struct conflict *conflict = calloc(1, sizeof(*conflict));

	assert_non_null(conflict);
	fixture->session.replays.off = true;
	announce(fixture);
	tell(fixture, sizeof(fixture->message));
	assert_int_equal(failures(fixture), 1);
	failure = vec_at(&fixture->race.replay.failures, 0);
	assert_string_equal(failure->name, "no-processor");
	assert_true(answer(fixture));
	/* what has a failure needs no other one */
	assert_null(session_replay_expect(&fixture->session, conflict,
					  &fixture->race));
	assert_int_equal(failures(fixture), 1);
	race_deinit(&fixture->race);
	race_init(&fixture->race);
	fixture->race.verdict = VERDICT_SUSPECT;
	assert_null(session_replay_expect(&fixture->session, conflict,
					  &fixture->race));
	assert_int_equal(failures(fixture), 1);
	free(conflict);
}

static void one_of_no_race_is_enough(void **state)
{
	struct fixture *fixture = *state;

	tell(fixture, sizeof(fixture->message));
	assert_true(answer(fixture));
}

static void a_message_that_is_cut_short_is_not_counted(void **state)
{
	struct fixture *fixture = *state;

	for (size_t size = sizeof(fixture->message.head);
	     size < sizeof(fixture->message); size++) {
		announce(fixture);
		tell(fixture, size);
		assert_int_equal(failures(fixture), 0);
		assert_false(answer(fixture));
	}
}

static void not_counted(struct fixture *fixture)
{
	announce(fixture);
	tell(fixture, sizeof(fixture->message));
	assert_int_equal(failures(fixture), 0);
	assert_false(answer(fixture));
}

static void counts_that_cannot_be_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct wire_instance *head = &fixture->message.head;
	const struct wire_instance good = *head;

	head->pages = WIRE_PAGES_MAX + 1;
	not_counted(fixture);
	head->pages = UINT32_MAX;
	not_counted(fixture);
	*head = good;
	head->threads[1].vectors_size = WIRE_INSTANCE_VECTORS_MAX + 1;
	not_counted(fixture);
	head->threads[1].vectors_size = UINT32_MAX;
	not_counted(fixture);
	*head = good;
	/* less than what follows */
	head->threads[0].area_size = VECTORS - 1;
	not_counted(fixture);
	head->threads[0].area_size = UINT32_MAX;
	not_counted(fixture);
	*head = good;
	fixture->message.pages[0] = 0x10008;
	not_counted(fixture);
	fixture->message.pages[0] = 0x10000;
	/* more than follow, and more than there can be */
	head->absent = 1;
	not_counted(fixture);
	head->absent = UINT32_MAX;
	not_counted(fixture);
}

static void synchronization_is_not_replayed(void **state)
{
	struct fixture *fixture = *state;

	fixture->race.verdict = VERDICT_SYNC;
	announce(fixture);
	tell(fixture, sizeof(fixture->message));
	assert_true(answer(fixture));
}

static const char *only_failure(const struct fixture *fixture)
{
	const struct race_replay *replay = &fixture->race.replay;
	const struct race_replay_failure *failure;

	assert_int_equal(replay->failures.count, 1);
	failure = vec_at(&replay->failures, 0);
	return failure->name;
}

/* No instance can follow: the kernel made the access. */
static void why_there_is_no_instance_is_counted_once(void **state)
{
	struct fixture *fixture = *state;
	struct conflict *conflict = calloc(1, sizeof(*conflict));

	for (int i = 0; i < 2; i++) {
		conflict->wire.sides[i].present = true;
		conflict->sides[i].wire = &conflict->wire.sides[i];
	}
	assert_null(session_replay_expect(&fixture->session, conflict,
					  &fixture->race));
	assert_int_equal(failures(fixture), 0);
	conflict->sides[1].kernel = true;
	for (int i = 0; i < 2; i++)
		assert_null(session_replay_expect(&fixture->session, conflict,
						  &fixture->race));
	assert_int_equal(failures(fixture), 1);
	assert_string_equal(only_failure(fixture), "system-call");
	free(conflict);
}

#define FIXTURE_TEST(test) \
	cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(what_cannot_be_replayed_is_counted),
		FIXTURE_TEST(what_it_took_is_told),
		FIXTURE_TEST(that_nothing_can_be_replayed_is_counted),
		FIXTURE_TEST(one_of_no_race_is_enough),
		FIXTURE_TEST(a_message_that_is_cut_short_is_not_counted),
		FIXTURE_TEST(counts_that_cannot_be_are_refused),
		FIXTURE_TEST(synchronization_is_not_replayed),
		FIXTURE_TEST(why_there_is_no_instance_is_counted_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
