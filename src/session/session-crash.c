/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a death by signal that the tracer reports to a crash record with the
 * races that came before; see session-state.h.
 */
#include "session/session-state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/error.h"
#include "image/image.h"
#include "image/unwind.h"
#include "report/crash.h"
#include "report/race.h"

/* Where the thread was when it got the signal. */
static struct error *crash_place(struct session *session,
				 const struct wire_crash *wire,
				 const uint8_t *stack, struct crash *crash)
{
	const struct wire_side *side = &wire->side;
	const struct watched_program *program =
		watched_program(&session->watched, side->program);
	const struct unwind_input input = {
		.tid = side->tid,
		.regs = side->regs,
		.stack_address = side->stack_address,
		.stack = stack,
		.stack_size = side->stack_size,
	};
	struct unwind_frame frames[CONFLICT_FRAMES];
	struct error *err;
	size_t count;

	crash->tid = side->tid;
	crash->thread = strndup(side->name, WIRE_NAME);
	if (!crash->thread)
		return error_nomem;
	if (!program)
		return NULL;
	err = unwind_frames(program->image, &input, frames, CONFLICT_FRAMES,
			    &count);
	if (err)
		return err;
	return conflict_describe_stack(program->image, frames, count,
				       &crash->frames);
}

/* The crash names the races by their numbers. */
static struct error *crash_relate(struct session *session, struct crash *crash)
{
	const struct vec *races = &session->races.all.races;

	for (size_t i = 0; i < races->count; i++) {
		struct race *race = *(struct race **)vec_at(races, i);

		if (race->verdict == VERDICT_SYNC || race->suppressed.rule)
			continue;
		dedupe_number(&session->races.all, race);
		if (!crash_add_race(crash, race))
			return error_nomem;
	}
	crash_sort_races(crash);
	return NULL;
}

static void crash_tell(struct session *session, struct crash *crash,
		       struct error *err)
{
	/* report what is known, if a part of it failed too */
	error_free(err);
	error_free(crash_relate(session, crash));
	if (session->sink->crash)
		session->sink->crash(session->sink->context, crash);
}

/* Was the signal racewatch's own, or asked for? Then it is no crash. */
static bool crash_was_asked(const struct session *session)
{
	return session->kill_ns != 0 || session->signals.interrupts > 0;
}

/*
 * Of its children, a program may end many by signals, and mean it: theirs are
 * crashes only where they made them themselves, in a program that can race.
 */
static bool crash_matters(const struct session *session,
			  const struct wire_crash *wire)
{
	const struct watched_program *program;

	if (wire->pid == session->counts.pid)
		return wire->side.present || !crash_was_asked(session);
	program = watched_program(&session->watched, wire->side.program);
	return wire->side.present && program && program->awake;
}

void session_crash(struct session *session, const void *payload, size_t size)
{
	struct wire_crash wire;
	struct crash crash;

	if (size < sizeof(wire))
		return;
	memcpy(&wire, payload, sizeof(wire));
	if (wire.side.stack_size > size - sizeof(wire))
		return;
	if (wire.pid == session->counts.pid)
		session->crash_told = true;
	if (!crash_matters(session, &wire))
		return;
	crash_init(&crash);
	crash.time = wire.wall_ns;
	crash.signal = wire.signal;
	crash.pid = wire.pid;
	crash.has_address = wire.has_address;
	crash.address = wire.address;
	crash_tell(session, &crash,
		   wire.side.present ? crash_place(session, &wire,
						   (const uint8_t *)payload +
							   sizeof(wire),
						   &crash)
				     : NULL);
	crash_deinit(&crash);
}

void session_crash_unseen(struct session *session, int status)
{
	struct crash crash;

	if (!WIFSIGNALED(status) || session->crash_told ||
	    crash_was_asked(session))
		return;
	crash_init(&crash);
	crash.time = clock_wall_ns();
	crash.signal = WTERMSIG(status);
	crash.pid = session->counts.pid;
	crash_tell(session, &crash, NULL);
	crash_deinit(&crash);
}
