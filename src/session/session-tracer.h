/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracer as the session's child: started, looked after, reaped. A part of
 * session-state.h, which includes it; not for others.
 */
#ifndef SESSION_SESSION_TRACER_H
#define SESSION_SESSION_TRACER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "guardian/heartbeat.h"

struct error;
struct session;

struct session_tracer {
	pid_t pid;
	bool reaped;
	int status; /* as of wait(2), when it was reaped */
	struct heartbeat *heartbeat;
	struct heartbeat_watch watch;
};

/* The tracer may take so long to restore the target when all else failed. */
extern const uint64_t SESSION_GIVE_UP_NS;

/* Start it, and open the session's channel to it. */
struct error *session_spawn(struct session *session);
/* Reap it, if it has ended. */
void session_reap(struct session *session);
/* End it if it is stuck and the program is ours. */
void session_check_tracer(struct session *session, uint64_t now);
/* Its end of the channel was closed: wait for its end, and say how it came. */
struct error *session_tracer_died(struct session *session);

#endif
