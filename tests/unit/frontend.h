/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The whole tracer process with a scripted front end, for tests: a program, which
 * is the test itself, is started and watched. Include once, after tracee.h; main()
 * calls child_main() for "--child".
 */
#ifndef TESTS_UNIT_FRONTEND_H
#define TESTS_UNIT_FRONTEND_H

#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "machine.h"
#include "sites.h"
#include "tracer/tracer.h"
#include "wire/channel.h"

enum { TEXT = 2 * 4096, OUT_LIMIT = 1 << 20, STATUS = 42 };

/* What the program tells, in a file that it inherits. */
struct arena {
	uint32_t ready, over, ended;
	uint32_t starve; /* the tracer gets no large memory (test_tracer) */
	pid_t tids[2];
	uint64_t write_site, read_site;
	uint64_t data[16];
	/* the bytes of site_write, as data and as code that belongs to no file */
	uint64_t data_site, unnamed_site;
	uint8_t copy[16];
	bool pristine;
};

static struct arena *arena;

/* --- the program, which is this one --- */

static void *child_write(void *arg)
{
	arena->tids[0] = gettid();
	__atomic_add_fetch(&arena->ready, 1, __ATOMIC_RELEASE);
	for (uint64_t i = 0; !__atomic_load_n(&arena->over, __ATOMIC_RELAXED);
	     i++) {
		do_write(&arena->data[0], i);
		for (int spin = 0; spin < 100; spin++)
			__asm__ volatile("pause");
	}
	return arg;
}

static void child_read(void)
{
	arena->tids[1] = gettid();
	__atomic_add_fetch(&arena->ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&arena->over, __ATOMIC_RELAXED)) {
		do_read(&arena->data[0]);
		for (int spin = 0; spin < 100; spin++)
			__asm__ volatile("pause");
	}
}

/* Copies of the code, where no breakpoint may be set. */
static uint8_t *child_copies(void)
{
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(code, site_write, sizeof(arena->copy));
	memcpy(arena->copy, site_write, sizeof(arena->copy));
	arena->data_site = (uintptr_t)arena->copy;
	arena->unnamed_site = (uintptr_t)code;
	return code;
}

static int child_main(int fd, int lifeline)
{
	const char *text =
		(const char *)((uintptr_t)site_write & ~(uintptr_t)4095);
	static char before[TEXT];
	const uint8_t *code;
	pthread_t thread;

	tracee_is_child = true;
	tracee_hold(lifeline);
	/* executable, but what is written there goes to the file */
	arena = mmap(NULL, sizeof(*arena), PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_SHARED, fd, 0);
	memcpy(before, text, TEXT);
	code = child_copies();
	arena->write_site = (uintptr_t)site_write;
	arena->read_site = (uintptr_t)site_read;
	pthread_create(&thread, NULL, child_write, NULL);
	child_read();
	pthread_join(thread, NULL);
	arena->pristine =
		memcmp(before, text, TEXT) == 0 &&
		memcmp(code, site_write, sizeof(arena->copy)) == 0 &&
		memcmp(arena->copy, site_write, sizeof(arena->copy)) == 0;
	tracee_tell(&arena->ended, 1);
	return STATUS;
}

/* --- the front end --- */

struct frontend {
	struct tracer tracer;
	struct channel channel;
	struct wire_site sites[2];
	int site_count;
	bool started, detached, exited, failed;
	char note[256]; /* the last one */
	struct wire_started start;
	struct wire_failed failure;
	struct wire_exited exit;
	int conflict_count, sample_count;
	struct wire_conflict conflict;
	uint64_t returns[2]; /* the words at the stack pointers */
};

/* A thread born while watched knows its creator; the first one has none. */
static void check_birth(const struct wire_side *side)
{
	const struct wire_birth *birth = &side->birth;

	if (!side->present || side->tid == side->pid) {
		assert_false(birth->present);
		return;
	}
	assert_true(birth->present);
	assert_int_equal(birth->tid, side->pid);
	assert_int_equal(birth->stack_address, birth->regs.gpr[X86_RSP]);
	assert_in_range(birth->stack_size, 64, WIRE_BIRTH_STACK_MAX);
	assert_int_not_equal(birth->name[0], '\0');
}

static void frontend_conflict(struct frontend *frontend, const uint8_t *payload,
			      size_t size)
{
	struct wire_conflict *wire = &frontend->conflict;
	size_t at = sizeof(*wire);

	memcpy(wire, payload, sizeof(*wire));
	assert_int_equal(size, at + wire->sides[0].stack_size +
				       wire->sides[1].stack_size +
				       wire->sides[0].birth.stack_size +
				       wire->sides[1].birth.stack_size +
				       machine_size(&wire->sides[0]) +
				       machine_size(&wire->sides[1]));
	for (int i = 0; i < 2; i++) {
		const struct wire_side *side = &wire->sides[i];
		uint64_t top = side->regs.gpr[X86_RSP] - side->stack_address;

		if (side->present && top + 8 <= side->stack_size)
			memcpy(&frontend->returns[i], payload + at + top, 8);
		at += side->stack_size;
		check_birth(side);
	}
	frontend->conflict_count++;
}

/* What was armed and met is sent again, as another site. */
static void frontend_returned(struct frontend *frontend)
{
	for (int i = 0; i < frontend->site_count; i++)
		frontend->sites[i].id += 2;
	channel_send(&frontend->channel, WIRE_SITES, frontend->sites,
		     sizeof(frontend->sites[0]) * (size_t)frontend->site_count);
}

static void frontend_message(struct frontend *frontend, enum wire_type type,
			     const void *payload, size_t size)
{
	switch ((int)type) {
	case WIRE_STARTED:
		frontend->started = true;
		memcpy(&frontend->start, payload, sizeof(frontend->start));
		break;
	case WIRE_FAILED:
		frontend->failed = true;
		memcpy(&frontend->failure, payload, sizeof(frontend->failure));
		break;
	case WIRE_RETURNED:
		frontend_returned(frontend);
		break;
	case WIRE_SAMPLE:
		frontend->sample_count++;
		break;
	case WIRE_CONFLICT:
		/* where the other is known, one may still have come too late */
		if (frontend->conflict_count == 0 ||
		    !frontend->conflict.sides[1].present)
			frontend_conflict(frontend, payload, size);
		break;
	case WIRE_NOTE:
		snprintf(frontend->note, sizeof(frontend->note), "%.*s",
			 (int)size, (const char *)payload);
		break;
	case WIRE_DETACHED:
		frontend->detached = true;
		break;
	case WIRE_EXITED:
		frontend->exited = true;
		memcpy(&frontend->exit, payload, sizeof(frontend->exit));
		break;
	default:
		break;
	}
}

static void frontend_turn(struct frontend *frontend)
{
	struct channel *channel = &frontend->channel;
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	enum wire_type type;
	const void *payload;
	size_t size;

	channel_flush(channel);
	poll(&fd, 1, 10);
	channel_fill(channel);
	while (channel_next(channel, &type, &payload, &size))
		frontend_message(frontend, type, payload, size);
}

#define frontend_until(frontend, condition) \
	do {                                \
		frontend_turn(frontend);    \
	} while (!(condition) && !(frontend)->channel.closed)

static int memory_fd;

static void frontend_share_arena(void)
{
	memory_fd = (int)syscall(SYS_memfd_create, "arena", 0);
	assert_true(memory_fd >= 0);
	assert_int_equal(ftruncate(memory_fd, sizeof(*arena)), 0);
	arena = mmap(NULL, sizeof(*arena), PROT_READ | PROT_WRITE, MAP_SHARED,
		     memory_fd, 0);
}

static struct frontend *frontend_spawn(const struct tracer_config *config)
{
	struct frontend *frontend = calloc(1, sizeof(*frontend));

	alarm(TRACEE_TEST_SECONDS);
	assert_ok(tracer_spawn(config, &frontend->tracer));
	assert_ok(channel_init(&frontend->channel, frontend->tracer.fd,
			       OUT_LIMIT));
	frontend_until(frontend, frontend->started || frontend->failed);
	return frontend;
}

/* With what the configuration says of how it is watched. */
static inline struct frontend *
frontend_start_as(const char *command, const struct tracer_config *wanted)
{
	char number[16], lifeline[16];
	char *argv[] = { (char *)command, (char *)"--child", number, lifeline,
			 NULL };
	struct tracer_config config = *wanted;

	config.argv = argv;
	config.seed = 1;
	config.params = (struct wire_params){
		.rate = 2000,
		.stall_max_ns = 20 * 1000 * 1000,
		.stretch_max = 1,
	};

	frontend_share_arena();
	snprintf(number, sizeof(number), "%d", memory_fd);
	snprintf(lifeline, sizeof(lifeline), "%d", tracee_lifeline());
	return frontend_spawn(&config);
}

static inline struct frontend *frontend_start(const char *command,
					      const char *backend)
{
	const struct tracer_config config = { .tracing.backend = backend };

	return frontend_start_as(command, &config);
}

static inline struct frontend *frontend_attach(const int *pids, size_t count)
{
	const struct tracer_config config = { .pids = pids,
					      .pid_count = count,
					      .tracing.backend = "value",
					      .seed = 1,
					      .params = { .rate = 10 } };

	frontend_share_arena();
	return frontend_spawn(&config);
}

static inline void frontend_send_sites(struct frontend *frontend)
{
	tracee_await(&arena->ready, 2);
	frontend->sites[0] = site_at(site_write, 1);
	frontend->sites[0].address = arena->write_site;
	frontend->sites[1] = site_at(site_read, 2);
	frontend->sites[1].address = arena->read_site;
	frontend->site_count = 2;
	frontend_returned(frontend);
}

static void frontend_end(struct frontend *frontend)
{
	int status;

	channel_deinit(&frontend->channel);
	assert_int_equal(waitpid(frontend->tracer.pid, &status, 0),
			 frontend->tracer.pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	munmap(arena, sizeof(*arena));
	close(memory_fd);
	free(frontend);
}

static inline void finish(struct frontend *frontend)
{
	channel_send(&frontend->channel, WIRE_STOP, NULL, 0);
	frontend_until(frontend, frontend->detached);
	assert_true(frontend->detached);
	tracee_tell(&arena->over, 1);
	frontend_until(frontend, frontend->exited);
	assert_true(frontend->exited);
	assert_true(WIFEXITED(frontend->exit.status));
	assert_int_equal(WEXITSTATUS(frontend->exit.status), STATUS);
	assert_true(arena->pristine);
	frontend_end(frontend);
}

#endif
