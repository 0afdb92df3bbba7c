/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracer as the session's child: started, monitored, reaped. A part of
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

/* How long the tracer may take to restore the target after a failure. */
extern const uint64_t SESSION_GIVE_UP_NS;

/* Start it, and open the session's channel to it. */
struct error *session_spawn(struct session *session);
/* Reap it, if it has ended. */
void session_reap(struct session *session);
/* End it if it is stuck and the program is ours. */
void session_check_tracer(struct session *session, uint64_t now);
/* The tracer closed the channel: wait for its end, and report the cause. */
struct error *session_tracer_died(struct session *session);

#endif
