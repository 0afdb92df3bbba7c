/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A front end that has been taken over: what it can say, in a million ways, harms
 * neither the tracer nor the program. RACEWATCH_TEST_LONG is for the million; else there
 * are 20 000 random messages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tracee.h"

#include "frontend.h"
#include "wire/sound.h"

enum {
	SHORT = 20000,
	LONG = 1000000,
	BATCH = 64,
	MESSAGE_MAX = 4096, /* of random bytes */
};

static uint64_t random_state;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static struct wire_site good_site(uint64_t id, uint64_t address)
{
	struct wire_site site = site_at(site_write, id);

	site.address = address;
	return site;
}

static struct wire_hunt good_hunt(void)
{
	struct wire_hunt hunt = { .partner_count = 1 };

	hunt.site = site_at(site_write, 1);
	hunt.partners[0] = site_at(site_read, 2);
	return hunt;
}

#define assert_unsound(type, message) \
	assert_false(wire_is_sound(type, &(message), sizeof(message)))

#define assert_field_is_checked(type, message, field, value)             \
	do {                                                             \
		__typeof__(message) copy_ = (message);                   \
		assert_true(wire_is_sound(type, &copy_, sizeof(copy_))); \
		copy_.field = (value);                                   \
		assert_unsound(type, copy_);                             \
	} while (0)

/* A bool with a value that no bool has. */
#define assert_flag_is_checked(type, message, field)   \
	do {                                           \
		__typeof__(message) copy_ = (message); \
		*(unsigned char *)&copy_.field = 2;    \
		assert_unsound(type, copy_);           \
	} while (0)

static void each_field_of_a_site_is_checked(void **state)
{
	struct wire_site site = site_at(site_write, 1);

	(void)state;
	assert_field_is_checked(WIRE_SITES, site, insn.length, 0);
	assert_field_is_checked(WIRE_SITES, site, insn.length,
				X86_INSN_MAX + 1);
	assert_field_is_checked(WIRE_SITES, site, insn.operand_count, 3);
	assert_field_is_checked(WIRE_SITES, site, insn.rep, X86_REPNE + 1);
	assert_field_is_checked(WIRE_SITES, site, insn.flow, X86_FLOW_STOP + 1);
	assert_field_is_checked(WIRE_SITES, site, insn.refusal, X86_REFUSALS);
	assert_field_is_checked(WIRE_SITES, site, insn.operands[0].base,
				X86_REG_NONE + 1);
	assert_field_is_checked(WIRE_SITES, site, insn.operands[0].index,
				X86_REG_NONE + 1);
	assert_field_is_checked(WIRE_SITES, site, insn.operands[0].bit_reg,
				X86_REG_NONE + 1);
	assert_field_is_checked(WIRE_SITES, site, insn.operands[0].segment,
				X86_SEG_GS + 1);
	assert_field_is_checked(WIRE_SITES, site, insn.operands[0].scale, 9);
	assert_field_is_checked(WIRE_SITES, site, insn.operands[0].size, 0);
	assert_field_is_checked(WIRE_SITES, site, insn.operands[0].size,
				X86_ACCESS_MAX + 1);
	assert_field_is_checked(WIRE_SITES, site, insn.operands[0].kind, 4);
	assert_field_is_checked(WIRE_SITES, site, bytes[0], 0xcc);
	assert_field_is_checked(WIRE_SITES, site, address, UINT64_MAX);
	assert_field_is_checked(WIRE_SITES, site, address, UINT64_C(1) << 56);
	assert_field_is_checked(WIRE_SITES, site, provoke, 0xff);
	assert_field_is_checked(WIRE_RECORD, site, record, 0xff);
	assert_flag_is_checked(WIRE_SITES, site, seldom);
	assert_flag_is_checked(WIRE_SITES, site, once);
	assert_flag_is_checked(WIRE_SITES, site, runs);
	assert_flag_is_checked(WIRE_SITES, site, hunt);
	assert_flag_is_checked(WIRE_SITES, site, insn.synchronizes);
	assert_flag_is_checked(WIRE_SITES, site, insn.vector);
	assert_flag_is_checked(WIRE_SITES, site, insn.indirect);
	assert_flag_is_checked(WIRE_SITES, site, insn.operands[0].addr32);
	assert_flag_is_checked(WIRE_SITES, site, insn.operands[0].string);
	assert_flag_is_checked(WIRE_SITES, site, insn.operands[0].stack);
	assert_false(wire_is_sound(WIRE_SITES, &site, sizeof(site) - 1));
}

static void the_second_of_two_sites_is_checked(void **state)
{
	struct wire_site sites[2] = { site_at(site_write, 1),
				      site_at(site_read, 2) };

	(void)state;
	assert_true(wire_is_sound(WIRE_SITES, sites, sizeof(sites)));
	sites[1].insn.length = 200;
	assert_false(wire_is_sound(WIRE_SITES, sites, sizeof(sites)));
	assert_true(wire_is_sound(WIRE_SITES, sites, sizeof(sites[0])));
}

static void what_is_recorded_is_of_one_program(void **state)
{
	struct wire_site sites[2] = { site_at(site_write, 1),
				      site_at(site_read, 2) };

	(void)state;
	assert_true(wire_is_sound(WIRE_RECORD, sites, sizeof(sites)));
	sites[1].program = 1;
	assert_true(wire_is_sound(WIRE_SITES, sites, sizeof(sites)));
	assert_false(wire_is_sound(WIRE_RECORD, sites, sizeof(sites)));
	assert_false(wire_is_sound(WIRE_RECORD, sites, 0));
}

static void each_field_of_a_hunt_is_checked(void **state)
{
	struct wire_hunt hunt = good_hunt();

	(void)state;
	assert_field_is_checked(WIRE_HUNT, hunt, side, WIRE_HUNT_SIDES);
	assert_field_is_checked(WIRE_HUNT, hunt, path_length,
				WIRE_PATH_MAX + 1);
	assert_field_is_checked(WIRE_HUNT, hunt, stack_count,
				WIRE_HUNT_STACK + 1);
	assert_field_is_checked(WIRE_HUNT, hunt, partner_count,
				WIRE_HUNT_PARTNERS + 1);
	assert_field_is_checked(WIRE_HUNT, hunt, other_count,
				WIRE_HUNT_OTHERS + 1);
	assert_field_is_checked(WIRE_HUNT, hunt, early_count, 2);
	assert_field_is_checked(WIRE_HUNT, hunt, site.insn.length, 16);
	assert_field_is_checked(WIRE_HUNT, hunt, partners[0].insn.length, 16);
	assert_field_is_checked(WIRE_HUNT, hunt, partners[0].program, 1);
	assert_flag_is_checked(WIRE_HUNT, hunt, any);
	assert_flag_is_checked(WIRE_HUNT, hunt, by_text);
	assert_flag_is_checked(WIRE_HUNT, hunt, until_all);
	assert_flag_is_checked(WIRE_HUNT, hunt, unlisted);
}

static void a_place_of_a_hunt_is_checked(void **state)
{
	struct wire_hunt hunt = good_hunt();

	(void)state;
	hunt.other_count = 1;
	hunt.others[0].length = WIRE_PATH_MAX + 1;
	assert_unsound(WIRE_HUNT, hunt);
}

static void each_field_of_the_others_is_checked(void **state)
{
	struct wire_range range = { .start = 1, .end = 2 };
	struct wire_signal asked = { .signal = SIGTERM };
	struct wire_judged judged = { .freeze = 1 };
	struct wire_replay replay = { .pair = 1 };

	(void)state;
	assert_field_is_checked(WIRE_FORGET, range, end, 0);
	assert_field_is_checked(WIRE_FORGET, range, end, UINT64_MAX);
	assert_field_is_checked(WIRE_SIGNAL, asked, signal, SIGSEGV);
	assert_field_is_checked(WIRE_SIGNAL, asked, signal, SIGSTOP);
	assert_field_is_checked(WIRE_SIGNAL, asked, signal, 33);
	assert_field_is_checked(WIRE_SIGNAL, asked, signal, 0);
	assert_field_is_checked(WIRE_SIGNAL, asked, signal, -1);
	assert_field_is_checked(WIRE_SIGNAL, asked, signal, SIGRTMAX + 1);
	assert_field_is_checked(WIRE_REPLAY, replay, count, WIRE_HINTS_MAX + 1);
	assert_flag_is_checked(WIRE_JUDGED, judged, stop);
	assert_flag_is_checked(WIRE_REPLAY, replay, enough);
	assert_flag_is_checked(WIRE_REPLAY, replay, counts);
	assert_flag_is_checked(WIRE_REPLAY, replay, still);
}

static void ranges_of_shared_memory_are_in_order(void **state)
{
	struct {
		struct wire_shared_head head;
		struct wire_shared ranges[2];
	} message = { .head = { .pid = 1, .count = 2 },
		      .ranges = { { .start = 16, .end = 32 },
				  { .start = 32, .end = 48 } } };

	(void)state;
	assert_true(wire_is_sound(WIRE_SHARED, &message, sizeof(message)));
	message.ranges[1].start = 31;
	assert_unsound(WIRE_SHARED, message);
	message.ranges[1].start = 49;
	assert_unsound(WIRE_SHARED, message);
	message.ranges[1].start = 32;
	message.head.count = UINT32_MAX;
	assert_unsound(WIRE_SHARED, message);
	message.head.count = 2;
	message.head.pid = -1;
	assert_unsound(WIRE_SHARED, message);
}

/* What the tracer sends it does not take. */
static void no_other_type_is_taken(void **state)
{
	static const uint8_t bytes[MESSAGE_MAX];

	(void)state;
	for (int type = 0; type < 256; type++) {
		if (type != WIRE_STOP &&
		    (type < WIRE_SITES || type > WIRE_RECORD))
			assert_false(
				wire_is_sound((enum wire_type)type, bytes, 0));
	}
}

/* --- a tracer and a program that live --- */

static void hostile_send(struct frontend *frontend, enum wire_type type,
			 const void *payload, size_t size)
{
	while (!channel_send(&frontend->channel, type, payload, size) &&
	       !frontend->channel.closed)
		frontend_turn(frontend);
}

/* Not those that the program is meant to obey. */
static bool hostile_is_asked(enum wire_type type, const void *payload,
			     size_t size)
{
	return (type == WIRE_STOP || type == WIRE_SIGNAL) &&
	       wire_is_sound(type, payload, size);
}

static void hostile_noise(struct frontend *frontend)
{
	static uint64_t words[MESSAGE_MAX / sizeof(uint64_t)];
	enum wire_type type = (enum wire_type)(random_next() % 48);
	size_t size = random_next() % sizeof(words);

	/* every other one has the size that its type asks for */
	if (random_next() % 2)
		size = type == WIRE_SITES || type == WIRE_RECORD
			       ? sizeof(struct wire_site)
		       : type == WIRE_FORGET ? sizeof(struct wire_range)
		       : type == WIRE_SIGNAL ? sizeof(struct wire_signal)
		       : type == WIRE_JUDGED ? sizeof(struct wire_judged)
		       : type == WIRE_REPLAY ? sizeof(struct wire_replay)
		       : type == WIRE_HUNT   ? sizeof(struct wire_hunt)
					     : sizeof(struct wire_startup);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = random_next() >> (random_next() % 64);
	if (!hostile_is_asked(type, words, size))
		hostile_send(frontend, type, words, size);
}

/* A site that was good, with some of its bytes changed. */
static void hostile_site(struct frontend *frontend,
			 const struct wire_site *good)
{
	struct wire_site site = *good;
	uint8_t *bytes = (uint8_t *)&site;
	size_t changes = 1 + random_next() % 3;

	site.id = random_next();
	for (size_t i = 0; i < changes; i++)
		bytes[random_next() % sizeof(site)] = (uint8_t)random_next();
	hostile_send(frontend, WIRE_SITES, &site, sizeof(site));
}

static void hostile_forget(struct frontend *frontend)
{
	struct wire_range range = { .start = arena->write_site &
					     ~UINT64_C(4095),
				    .program = (uint32_t)(random_next() % 2) };

	range.end = range.start + random_next() % 8192;
	hostile_send(frontend, WIRE_FORGET, &range, sizeof(range));
}

/* By hand: where the bytes are right and the place is wrong. */
static void hostile_places(struct frontend *frontend)
{
	const uint64_t places[] = { arena->data_site,
				    arena->unnamed_site,
				    arena->data_site + 1,
				    8,
				    4096,
				    (UINT64_C(1) << 47) - 16 };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct wire_site site =
			good_site(WIRE_AIMED | (100 + i), places[i]);

		for (uint32_t program = 0; program < 3; program++) {
			site.program = program;
			hostile_send(frontend, WIRE_SITES, &site, sizeof(site));
		}
	}
}

/* Sides without end, of programs that there are and that there are not. */
static void hostile_hunt(struct frontend *frontend)
{
	struct wire_hunt hunt = good_hunt();

	hunt.site.address = arena->write_site;
	hunt.partners[0].address = arena->read_site;
	hunt.side = (uint32_t)(random_next() % (2 * WIRE_HUNT_SIDES));
	hunt.site.program = (uint32_t)(random_next() % 3);
	hunt.partners[0].program = hunt.site.program;
	hunt.any = random_next() % 2;
	hunt.by_text = random_next() % 2;
	hunt.ordinal = random_next() >> (random_next() % 64);
	hunt.hold_ns = random_next() % (20 * 1000 * 1000);
	hostile_send(frontend, WIRE_HUNT, &hunt, sizeof(hunt));
}

static void hostile_record(struct frontend *frontend)
{
	struct wire_site site = good_site(random_next() % 4,
					  random_next() % 2 ? arena->write_site
							    : arena->data_site);

	site.program = (uint32_t)(random_next() % 3);
	site.record = (uint32_t)(random_next() % 4);
	hostile_send(frontend, WIRE_RECORD, &site, sizeof(site));
}

static void hostile_turn(struct frontend *frontend)
{
	const struct wire_site good[] = { good_site(1, arena->write_site),
					  good_site(2, arena->data_site),
					  good_site(3, arena->unnamed_site) };

	switch (random_next() % 6) {
	case 0:
		hostile_noise(frontend);
		break;
	case 1:
		hostile_site(frontend, &good[random_next() % 3]);
		break;
	case 2:
		hostile_send(frontend, WIRE_SITES, &good[0], sizeof(good[0]));
		break;
	case 3:
		hostile_hunt(frontend);
		break;
	case 4:
		hostile_record(frontend);
		break;
	default:
		hostile_forget(frontend);
		break;
	}
}

static void no_message_harms_the_program(const struct tracer_config *config)
{
	int count = getenv("RACEWATCH_TEST_LONG") ? LONG : SHORT;
	struct frontend *frontend = frontend_start_as("/proc/self/exe", config);
	int written = 0; /* how often the data did not hold what it should */

	if (frontend->failed) {
		struct error *err = error_create(ERROR_OTHER, "%s",
						 frontend->failure.message);

		frontend_end(frontend);
		tracee_skip(err);
	}
	tracee_await(&arena->ready, 2);
	random_state = 0x9e3779b97f4a7c15;
	hostile_places(frontend);
	for (int i = 0; i < count && !frontend->channel.closed; i++) {
		hostile_turn(frontend);
		if (i % BATCH == 0)
			frontend_turn(frontend);
		if (memcmp(arena->copy, site_write, sizeof(arena->copy)) != 0)
			written++;
	}
	assert_int_equal(written, 0);
	assert_false(frontend->channel.closed);
	assert_non_null(strstr(frontend->note, "makes no sense"));
	finish(frontend);
}

static void no_message_harms_a_program_with_breakpoints(void **state)
{
	const struct tracer_config config = { .tracing.backend = "value" };

	(void)state;
	no_message_harms_the_program(&config);
}

static void no_message_harms_a_program_with_watchpoints(void **state)
{
	const struct tracer_config config = { .tracing.backend = "perf" };

	(void)state;
	no_message_harms_the_program(&config);
}

static void no_message_harms_a_program_in_a_hunt(void **state)
{
	const struct tracer_config config = { .tracing.backend = "ptrace",
					      .hunts = true };

	(void)state;
	no_message_harms_the_program(&config);
}

static void no_message_harms_a_program_that_is_recorded(void **state)
{
	const struct tracer_config config = { .tracing.backend = "ptrace",
					      .record_executions = 2 };

	(void)state;
	no_message_harms_the_program(&config);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_of_a_site_is_checked),
		cmocka_unit_test(the_second_of_two_sites_is_checked),
		cmocka_unit_test(what_is_recorded_is_of_one_program),
		cmocka_unit_test(each_field_of_a_hunt_is_checked),
		cmocka_unit_test(a_place_of_a_hunt_is_checked),
		cmocka_unit_test(each_field_of_the_others_is_checked),
		cmocka_unit_test(ranges_of_shared_memory_are_in_order),
		cmocka_unit_test(no_other_type_is_taken),
		cmocka_unit_test(no_message_harms_a_program_with_breakpoints),
		cmocka_unit_test(no_message_harms_a_program_with_watchpoints),
		cmocka_unit_test(no_message_harms_a_program_in_a_hunt),
		cmocka_unit_test(no_message_harms_a_program_that_is_recorded),
	};

	if (argc > 3 && strcmp(argv[1], "--child") == 0)
		return child_main(atoi(argv[2]), atoi(argv[3]));
	tracee_lock_registers();
	return cmocka_run_group_tests_name("sound", tests, NULL, NULL);
}
