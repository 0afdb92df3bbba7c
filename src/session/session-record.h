/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording by breakpoints (tracer/record.h): the instructions of each program
 * that access memory are found before its first one is executed, and sent to the
 * tracer; what it tells of them goes on to the sink, with the stack unwound. A
 * part of session-state.h, which includes it; not for others.
 */
#ifndef SESSION_SESSION_RECORD_H
#define SESSION_SESSION_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

struct error;
struct session;
struct watched_program;

struct session_recorder {
	struct vec sent; /* of struct session_sent */
	/* where the return addresses were when a stack was unwound, by pc */
	struct vec shapes; /* of struct session_shape */
	struct map shape_of; /* pc to its last one, from 1 on */
};

void session_record_init(struct session *session);
void session_record_deinit(struct session *session);

/* watched_program.recorded: the user does not want it. */
#define SESSION_UNRECORDED UINT64_MAX

/*
 * The program is at its entry, or has loaded libraries. False: it is not to be
 * recorded.
 */
bool session_record_wants(const struct session *session,
			  struct watched_program *program);

/* Send the sites of modules that are new, and let programs go that wait. */
struct error *session_record(struct session *session);

/* WIRE_RECORDED. */
struct error *session_recorded(struct session *session, const void *payload,
			       size_t size);

#endif
