/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The whole tracer process with a scripted front end: a program is started,
 * sites are sent, a conflict comes back with the registers and stacks it should
 * have; and the front end's end, in order or not, harms nobody.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tracee.h"

#include "base/rng.h"
#include "frontend.h"
#include "tracee/selftest.h"
#include "x86/int3.h"

static void check_stalled(const struct frontend *frontend)
{
	const struct wire_side *side = &frontend->conflict.sides[0];
	int i = side->tid == arena->tids[0] ? 0 : 1;

	assert_true(side->present);
	assert_true(side->before);
	assert_int_equal(side->tid, arena->tids[i]);
	assert_int_equal(side->pid, frontend->start.pid);
	assert_int_equal(side->regs.rip,
			 i == 0 ? arena->write_site : arena->read_site);
	assert_int_equal(side->site % 2, i == 0);
	assert_int_equal(side->access.size, 8);
	assert_int_equal(side->access.kind,
			 i == 0 ? ACCESS_WRITE : ACCESS_READ);
	assert_int_equal(side->access.address, side->regs.gpr[X86_RDI]);
}

/* The stacks lead back into the text of the program. */
static void check_stacks(const struct frontend *frontend)
{
	for (int i = 0; i < 2; i++) {
		const struct wire_side *side = &frontend->conflict.sides[i];
		const uint64_t from = arena->write_site - (1 << 20);

		if (!side->present)
			continue;
		assert_in_range(frontend->returns[i], from, from + (2 << 20));
		assert_int_not_equal(frontend->returns[i], 0);
	}
}

static void backend_finds_the_race(const char *backend, bool other_known)
{
	struct frontend *frontend = frontend_start("/proc/self/exe", backend);
	const struct wire_side *other = &frontend->conflict.sides[1];

	if (frontend->failed) {
		struct error *err = error_create(ERROR_OTHER, "%s",
						 frontend->failure.message);

		frontend_end(frontend);
		tracee_skip(err);
	}
	assert_true(frontend->started);
	assert_string_equal(frontend->start.backend, backend);
	frontend_send_sites(frontend);
	frontend_until(frontend, frontend->conflict_count > 0 &&
					 (!other_known || other->present));
	assert_true(frontend->conflict_count > 0);
	check_stalled(frontend);
	if (other_known) {
		assert_true(other->present);
		assert_true(other->tid == arena->tids[0] ||
			    other->tid == arena->tids[1]);
		assert_int_not_equal(other->tid,
				     frontend->conflict.sides[0].tid);
	}
	check_stacks(frontend);
	finish(frontend);
}

static void perf_finds_the_race(void **state)
{
	(void)state;
	backend_finds_the_race("perf", true);
}

static void ptrace_finds_the_race(void **state)
{
	(void)state;
	backend_finds_the_race("ptrace", true);
}

static void perf_cpu_finds_the_race(void **state)
{
	(void)state;
	backend_finds_the_race("perf-cpu", true);
}

static void value_finds_the_race(void **state)
{
	(void)state;
	backend_finds_the_race("value", false);
}

static void a_command_that_is_not_there_is_named(void **state)
{
	struct frontend *frontend = frontend_start("/nonexistent", "value");

	(void)state;
	assert_true(frontend->failed);
	assert_int_equal(frontend->failure.kind, ERROR_NOT_FOUND);
	assert_non_null(strstr(frontend->failure.message, "/nonexistent"));
	frontend_end(frontend);
	frontend = frontend_start("/dev/null", "value");
	assert_true(frontend->failed);
	assert_int_equal(frontend->failure.kind, ERROR_CANNOT_RUN);
	frontend_end(frontend);
}

static void an_unknown_backend_is_an_error(void **state)
{
	struct frontend *frontend = frontend_start("/proc/self/exe", "magic");

	(void)state;
	assert_true(frontend->failed);
	assert_int_equal(frontend->failure.kind, ERROR_USAGE);
	frontend_end(frontend);
}

static void the_program_ends_by_itself(void **state)
{
	struct frontend *frontend = frontend_start("/proc/self/exe", "value");

	(void)state;
	frontend_send_sites(frontend);
	frontend_until(frontend, frontend->sample_count > 0);
	tracee_tell(&arena->over, 1);
	frontend_until(frontend, frontend->exited);
	assert_int_equal(WEXITSTATUS(frontend->exit.status), STATUS);
	frontend_end(frontend);
}

static void a_signal_is_passed_to_the_program(void **state)
{
	struct wire_signal message = { .signal = SIGTERM };
	struct frontend *frontend = frontend_start("/proc/self/exe", "value");

	(void)state;
	frontend_send_sites(frontend);
	channel_send(&frontend->channel, WIRE_SIGNAL, &message,
		     sizeof(message));
	frontend_until(frontend, frontend->exited);
	assert_true(WIFSIGNALED(frontend->exit.status));
	assert_int_equal(WTERMSIG(frontend->exit.status), SIGTERM);
	frontend_end(frontend);
}

static void pausing_body(void *arg)
{
	tracee_tell(arg, 1);
	for (;;)
		pause();
}

/* A process that has ended and was waited for: nobody has its id. */
static pid_t ended_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

static void one_of_several_that_has_ended_is_left_out(void **state)
{
	uint32_t *ready = tracee_share(sizeof(*ready));
	int pids[] = { ended_process(), tracee_fork(pausing_body, ready),
		       ended_process() };
	struct frontend *frontend;
	char number[16];

	(void)state;
	tracee_await(ready, 1);
	frontend = frontend_attach(pids, 3);
	assert_true(frontend->started);
	assert_int_equal(frontend->start.pid, pids[1]);
	snprintf(number, sizeof(number), " %d ", pids[2]);
	assert_non_null(strstr(frontend->note, number));
	channel_send(&frontend->channel, WIRE_STOP, NULL, 0);
	frontend_until(frontend, frontend->detached);
	assert_true(frontend->detached);
	frontend_end(frontend);
	tracee_kill(pids[1]);
	munmap(ready, sizeof(*ready));
}

static void where_all_have_ended_it_fails(void **state)
{
	int pids[] = { ended_process(), ended_process() };
	struct frontend *frontend = frontend_attach(pids, 2);

	(void)state;
	assert_false(frontend->started);
	assert_true(frontend->failed);
	assert_int_equal(frontend->failure.kind, ERROR_GONE);
	frontend_end(frontend);
}

/* In the middle of stalls, with breakpoints armed, the channel closes. */
static void the_front_end_dies(const char *backend)
{
	struct frontend *frontend = frontend_start("/proc/self/exe", backend);
	pid_t tracer = frontend->tracer.pid;
	int status;

	if (frontend->failed) {
		struct error *err = error_create(ERROR_OTHER, "%s",
						 frontend->failure.message);

		frontend_end(frontend);
		tracee_skip(err);
	}
	frontend_send_sites(frontend);
	frontend_until(frontend, frontend->sample_count > 3);
	channel_deinit(&frontend->channel);
	assert_int_equal(waitpid(tracer, &status, 0), tracer);
	assert_true(WIFEXITED(status));
	tracee_tell(&arena->over, 1);
	tracee_await(&arena->ended, 1);
	assert_true(arena->pristine);
	munmap(arena, sizeof(*arena));
	close(memory_fd);
	free(frontend);
}

static void the_front_end_dies_and_the_program_runs_on(void **state)
{
	(void)state;
	the_front_end_dies("value");
	the_front_end_dies("ptrace");
	the_front_end_dies("perf");
}

/*
 * A front end that somebody else has got hold of: it says what it likes, and
 * neither the tracer nor the program is worse off. RACEWATCH_TEST_MESSAGES: how
 * many it makes up.
 */
enum { HOSTILE_MESSAGES = 20000, HOSTILE_TYPES = 72, HOSTILE_SIZE = 8192 };

static bool hostile_is_over(const struct frontend *frontend)
{
	return frontend->exited || frontend->channel.closed;
}

/* Its own sites are not to come back while it speaks. */
static void hostile_listen(struct frontend *frontend)
{
	struct channel *channel = &frontend->channel;
	enum wire_type type;
	const void *payload;
	size_t size;

	channel_flush(channel);
	channel_fill(channel);
	while (channel_next(channel, &type, &payload, &size)) {
		if (type == WIRE_NOTE || type == WIRE_EXITED)
			frontend_message(frontend, type, payload, size);
	}
}

static void hostile_say(struct frontend *frontend, uint32_t type,
			const void *payload, size_t size)
{
	struct channel *channel = &frontend->channel;
	struct pollfd poller = { .fd = channel->fd,
				 .events = POLLIN | POLLOUT };

	hostile_listen(frontend);
	while (!hostile_is_over(frontend) &&
	       !channel_send(channel, type, payload, size)) {
		poll(&poller, 1, 1000);
		hostile_listen(frontend);
	}
	assert_false(hostile_is_over(frontend));
}

/* Where no breakpoint is to be, and of what length or kind none can be. */
static void hostile_sites(struct frontend *frontend, uint32_t type)
{
	const struct wire_site good = frontend->sites[0];
	const uint64_t addresses[] = {
		0,
		1,
		arena->data_site,
		arena->unnamed_site,
		arena->write_site + 1,
		(arena->write_site & ~UINT64_C(4095)) - 1,
		(uintptr_t)&arena->data,
		UINT64_C(0x7fffffffe000),
		UINT64_C(0x800000000000),
		UINT64_C(0xffffffff81000000),
		UINT64_MAX,
	};
	const uint8_t lengths[] = { 0, 1, 2, 15, 16, 17, 128, 255 };
	struct wire_site site;

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		site = good;
		site.address = addresses[i];
		hostile_say(frontend, type, &site, sizeof(site));
	}
	for (size_t i = 0; i < sizeof(lengths); i++) {
		site = good;
		site.insn.length = lengths[i];
		hostile_say(frontend, type, &site, sizeof(site));
	}
	for (size_t i = 0; i < sizeof(site.bytes); i++) {
		site = good;
		site.bytes[i] = X86_INT3;
		hostile_say(frontend, type, &site, sizeof(site));
	}
	site = good;
	site.insn.operand_count = 255;
	hostile_say(frontend, type, &site, sizeof(site));
	site = good;
	site.program = UINT32_MAX;
	hostile_say(frontend, type, &site, sizeof(site));
	hostile_say(frontend, type, &good, sizeof(good) - 1);
	hostile_say(frontend, type, &good, 1);
}

static void hostile_signals(struct frontend *frontend)
{
	const int32_t signals[] = { 0,	     -1,	SIGSEGV,  SIGILL,
				    SIGBUS,  SIGFPE,	SIGTRAP,  SIGABRT,
				    SIGSTOP, SIGTSTP,	SIGTTIN,  SIGTTOU,
				    SIGPIPE, 32,	33,	  65,
				    9999,    INT32_MIN, INT32_MAX };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		hostile_say(frontend, WIRE_SIGNAL, &signals[i],
			    sizeof(signals[i]));
}

static void hostile_rest(struct frontend *frontend)
{
	const struct wire_range backward = { .start = 2, .end = 1 };
	const struct {
		struct wire_shared_head head;
		struct wire_shared ranges[2];
	} shared = { .head = { .pid = frontend->start.pid,
			       .count = UINT32_MAX },
		     .ranges = { { .start = 9, .end = 8 } } };
	struct wire_hunt hunt = { .hold_ns = UINT64_MAX,
				  .ordinal = UINT64_MAX,
				  .site = frontend->sites[0] };
	struct wire_judged judged = { .freeze = UINT32_MAX, .stop = true };
	struct wire_replay replay = { .count = UINT32_MAX };

	hostile_say(frontend, WIRE_FORGET, &backward, sizeof(backward));
	hostile_say(frontend, WIRE_SHARED, &shared, sizeof(shared));
	hostile_say(frontend, WIRE_JUDGED, &judged, sizeof(judged));
	hostile_say(frontend, WIRE_REPLAY, &replay, sizeof(replay));
	for (size_t at = offsetof(struct wire_hunt, path_length);
	     at < offsetof(struct wire_hunt, site); at += 4) {
		struct wire_hunt other = hunt;

		memset((uint8_t *)&other + at, 0xff, 4);
		hostile_say(frontend, WIRE_HUNT, &other, sizeof(other));
	}
	for (uint32_t type = 0; type < HOSTILE_TYPES; type++) {
		if (type != WIRE_STOP)
			hostile_say(frontend, type, NULL, 0);
	}
	hostile_say(frontend, UINT32_MAX, &hunt, sizeof(hunt));
}

/* A message that could be, with some bits that are others. */
static size_t hostile_make(struct frontend *frontend, struct rng *rng,
			   uint32_t type, uint8_t *message)
{
	static const size_t sizes[HOSTILE_TYPES] = {
		[WIRE_SITES] = sizeof(struct wire_site),
		[WIRE_RECORD] = sizeof(struct wire_site),
		[WIRE_HUNT] = sizeof(struct wire_hunt),
		[WIRE_SUPPLY] = sizeof(struct wire_supply),
		[WIRE_FORGET] = sizeof(struct wire_range),
		[WIRE_SIGNAL] = sizeof(struct wire_signal),
		[WIRE_JUDGED] = sizeof(struct wire_judged),
		[WIRE_STARTUP_SENT] = sizeof(struct wire_startup),
		[WIRE_REPLAY] = sizeof(struct wire_replay),
		[WIRE_SHARED] = sizeof(struct wire_shared_head) +
				2 * sizeof(struct wire_shared),
	};
	size_t size = sizes[type];

	memset(message, 0, size);
	if (type == WIRE_SITES || type == WIRE_RECORD) {
		memcpy(message, &frontend->sites[rng_below(rng, 2)], size);
	} else if (type == WIRE_HUNT) {
		struct wire_hunt hunt = { .site = frontend->sites[0],
					  .any = true,
					  .hold_ns = 1000000 };

		memcpy(message, &hunt, size);
	}
	for (uint64_t n = rng_below(rng, 8); n > 0 && size > 0; n--)
		message[rng_below(rng, size)] ^=
			(uint8_t)(1u << rng_below(rng, 8));
	/* to end the program, or to leave it stopped, is nothing that it may not */
	if (type == WIRE_SIGNAL)
		message[3] |= 0x80;
	if (type == WIRE_JUDGED)
		message[offsetof(struct wire_judged, stop)] &= 0xfe;
	return size;
}

static void hostile_random(struct frontend *frontend, struct rng *rng)
{
	static _Alignas(8) uint8_t message[HOSTILE_SIZE];
	uint32_t type = (uint32_t)rng_below(rng, HOSTILE_TYPES);
	size_t size;

	if (rng_below(rng, 4) != 0)
		type %= WIRE_RECORD + 1;
	if (rng_below(rng, 2) != 0) {
		size = hostile_make(frontend, rng, type, message);
	} else {
		size = rng_below(rng,
				 rng_below(rng, 64) == 0 ? HOSTILE_SIZE : 512);
		for (size_t i = 0; i < size; i++)
			message[i] = (uint8_t)rng_next(rng);
	}
	if (type != WIRE_STOP)
		hostile_say(frontend, type, message, size);
}

static void hostile_front_end(const struct tracer_config *wanted)
{
	const char *number = getenv("RACEWATCH_TEST_MESSAGES");
	long messages = number ? atol(number) : HOSTILE_MESSAGES;
	struct frontend *frontend = frontend_start_as("/proc/self/exe", wanted);
	struct rng rng;

	if (number)
		alarm(0);
	if (frontend->failed)
		fail_msg("%s", frontend->failure.message);
	frontend_send_sites(frontend);
	frontend->site_count = 0;
	hostile_sites(frontend, WIRE_SITES);
	hostile_sites(frontend, WIRE_RECORD);
	hostile_signals(frontend);
	hostile_rest(frontend);
	rng_init(&rng, 1);
	for (long i = 0; i < messages; i++)
		hostile_random(frontend, &rng);
	assert_non_null(strstr(frontend->note, "makes no sense"));
	/* no data became a breakpoint */
	assert_memory_equal(arena->copy, site_write, sizeof(arena->copy));
	/* and it serves whoever speaks sense */
	finish(frontend);
}

static void a_hostile_front_end_harms_nobody(void **state)
{
	static const struct wire_provoke provoke = { .hold_ns = 1000000 };
	const struct tracer_config configs[] = {
		{ .tracing.backend = "value" },
		{ .tracing.backend = "ptrace", .hunts = true },
		{ .tracing.backend = "ptrace", .record_executions = 10 },
		{ .tracing.backend = "ptrace", .provoke = &provoke },
		{ .tracing.backend = "value", .hold_conflicts = true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
		if (strcmp(configs[i].tracing.backend, "value") == 0 ||
		    !machine_lacks_registers())
			hostile_front_end(&configs[i]);
	}
}

void *__real_realloc(void *pointer, size_t size);
void *__wrap_realloc(void *pointer, size_t size);

void *__wrap_realloc(void *pointer, size_t size)
{
	if (arena && !tracee_is_child && size > WIRE_STACK_MAX &&
	    __atomic_load_n(&arena->starve, __ATOMIC_ACQUIRE))
		return NULL;
	return __real_realloc(pointer, size);
}

/* It would be told at once, over and over, that there is something to read. */
static void without_memory_for_messages_the_program_runs_on(void **state)
{
	struct frontend *frontend = frontend_start("/proc/self/exe", "value");
	static struct wire_site sites[2000];

	(void)state;
	frontend_send_sites(frontend);
	frontend->site_count = 0;
	for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++)
		sites[i] = frontend->sites[0];
	assert_true(channel_send(&frontend->channel, WIRE_SITES, sites,
				 sizeof(sites)));
	tracee_tell(&arena->starve, 1);
	frontend_until(frontend, frontend->detached);
	assert_true(frontend->detached);
	assert_non_null(strstr(frontend->note, "memory"));
	finish(frontend);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perf_finds_the_race),
		cmocka_unit_test(ptrace_finds_the_race),
		cmocka_unit_test(perf_cpu_finds_the_race),
		cmocka_unit_test(value_finds_the_race),
		cmocka_unit_test(a_command_that_is_not_there_is_named),
		cmocka_unit_test(one_of_several_that_has_ended_is_left_out),
		cmocka_unit_test(where_all_have_ended_it_fails),
		cmocka_unit_test(an_unknown_backend_is_an_error),
		cmocka_unit_test(the_program_ends_by_itself),
		cmocka_unit_test(a_signal_is_passed_to_the_program),
		cmocka_unit_test(the_front_end_dies_and_the_program_runs_on),
		cmocka_unit_test(a_hostile_front_end_harms_nobody),
		cmocka_unit_test(
			without_memory_for_messages_the_program_runs_on),
	};

	if (argc > 3 && strcmp(argv[1], "--child") == 0)
		return child_main(atoi(argv[2]), atoi(argv[3]));
	tracee_lock_registers();
	return cmocka_run_group_tests_name("tracer", tests, NULL, NULL);
}
