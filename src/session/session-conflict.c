/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a conflict that the tracer reports to one that is known or new; see
 * session-state.h.
 */
#include "session/session-state.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "image/image.h"

/* The executable's name, or "". */
static const char *session_executable(const struct image *image)
{
	const struct vec *modules = image_modules(image);

	for (size_t i = 0; i < modules->count; i++) {
		const struct module *module =
			*(struct module **)vec_at(modules, i);

		if (module->main)
			return module->name;
	}
	return "";
}

/*
 * The name the program goes by, as ps(1) shows it; the executable's may be
 * that of a link's target. It is asked for anew: a program may change it. One
 * that has ended goes by its executable's.
 */
static void session_name_program(struct session *session, int pid,
				 const struct image *image)
{
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (file) {
		if (fgets(session->program, sizeof(session->program), file))
			session->program[strcspn(session->program, "\n")] =
				'\0';
		fclose(file);
	}
	if (session->program[0] == '\0')
		snprintf(session->program, sizeof(session->program), "%s",
			 session_executable(image));
}

/*
 * What the two sides' programs are: each has its own image. One that has just
 * ended is looked up in the other's, which is right where they were forked.
 */
static struct conflict_home session_home(const struct session *session,
					 const struct wire_side *side,
					 const struct wire_side *other)
{
	const struct watched *watched = &session->watched;
	struct watched_program *program =
		watched_program(watched, side->program);

	if (!program)
		program = watched_program(watched, other->program);
	if (!program)
		program = watched_at(watched, 0);
	return (struct conflict_home){ .program = program->key,
				       .image = program->image,
				       .scanner = &program->set.scanner };
}

/* Read the maps of the sides' programs again, unless that was done just now. */
static struct error *session_refresh_sides(struct session *session,
					   const struct wire_conflict *wire)
{
	struct error *err = NULL;

	for (int i = 0; !err && i < 2; i++) {
		struct watched_program *program = watched_program(
			&session->watched, wire->sides[i].program);

		if (program &&
		    clock_now_ns() >= program->maps.last_ns + CLOCK_NS_PER_MS)
			err = session_refresh(session, program);
	}
	return err;
}

/* What the tracer knew of shared memory may have been out of date. */
static bool session_is_shared(const struct conflict *conflict)
{
	const struct wire_side *sides = conflict->wire.sides;
	uint64_t address = conflict->overlap.address;

	return !sides[1].present || sides[0].pid == sides[1].pid ||
	       watched_same_memory(sides[0].pid, address, sides[1].pid,
				   address + conflict->wire.shift);
}

/* A message as it came. */
struct conflict_bytes {
	const void *bytes;
	size_t size;
};

/* Read it, and count it if it is nothing new (*ret_done). */
static struct error *session_read(struct session *session,
				  const struct conflict_context *context,
				  const struct conflict_bytes *message,
				  struct conflict *conflict, bool *ret_done)
{
	struct error *err =
		conflict_read(context, message->bytes, message->size, conflict);

	if (err)
		return err;
	if (conflict->race)
		return session_known_conflict(session, context, conflict,
					      ret_done);
	*ret_done = true;
	session->counts.unused += conflict->unused;
	log_debug(LOG_DETECT, "no race at 0x%llx: %s",
		  (unsigned long long)conflict->overlap.address,
		  conflict->unused ? "the bytes are loaded, but not used"
				   : "two reads, or nothing shown");
	return NULL;
}

/*
 * A library may have been loaded since the maps were read last; its frames
 * would be missing. So they are read again before anything new is described.
 */
static struct error *session_understand(struct session *session,
					const struct conflict_context *context,
					const struct conflict_bytes *message,
					struct conflict *conflict)
{
	struct error *err;
	bool done;

	err = session_read(session, context, message, conflict, &done);
	if (err || done)
		return err;
	err = session_refresh_sides(session, &conflict->wire);
	if (!err)
		err = session_read(session, context, message, conflict, &done);
	if (err || done || !session_is_shared(conflict))
		return err;
	return session_new_conflict(session, context, conflict);
}

/* The threads of the conflict wait for this. */
static void session_answer(struct session *session, uint32_t freeze)
{
	struct wire_judged judged = { .freeze = freeze,
				      .stop = session->races.worth_stopping };

	if (freeze == 0)
		return;
	channel_send(&session->channel, WIRE_JUDGED, &judged, sizeof(judged));
	channel_flush(&session->channel);
}

struct error *session_conflict(struct session *session, const void *payload,
			       size_t size)
{
	struct conflict_context context = {
		.rules = session->config->rules,
		.backend = session->counts.backend,
		.program = session->program,
		.provoked = session_hunts(session->config),
	};
	const struct conflict_bytes message = { payload, size };
	struct wire_conflict wire;
	struct conflict conflict;
	struct error *err;

	if (session->watched.programs.count == 0 || size < sizeof(wire))
		return NULL;
	memcpy(&wire, payload, sizeof(wire));
	for (int i = 0; i < 2; i++)
		context.homes[i] = session_home(session, &wire.sides[i],
						&wire.sides[1 - i]);
	session_name_program(session, wire.sides[0].pid,
			     context.homes[0].image);
	session->races.worth_stopping = false;
	session->races.met = NULL;
	session->replays.next.race = NULL;
	err = session_understand(session, &context, &message, &conflict);
	session_answer(session, wire.freeze);
	if (!err && session->races.met)
		err = session_replay_expect(session, &conflict,
					    session->races.met);
	return err;
}
