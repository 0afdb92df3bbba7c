/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The end of the watching and of the program; see session-state.h.
 */
#include "session/session-state.h"

#include <signal.h>

#include "base/clock.h"

/* between SIGTERM and SIGKILL */
static const uint64_t KILL_DELAY_NS = 2 * CLOCK_NS_PER_S;

void session_stop(struct session *session)
{
	if (session->stopping || session->done)
		return;
	session->stopping = true;
	channel_send(&session->channel, WIRE_STOP, NULL, 0);
}

void session_signal(struct session *session, int number)
{
	struct wire_signal signal = { .signal = number };

	channel_send(&session->channel, WIRE_SIGNAL, &signal, sizeof(signal));
}

/* One that is stopped at a race gets no other signal but SIGKILL. */
void session_continue(struct session *session)
{
	if (session->result.stopped)
		session_signal(session, SIGCONT);
}

void session_end_program(struct session *session)
{
	if (session->kill_ns)
		return;
	/* first, since what is not watched any more is not signalled */
	session_signal(session, SIGTERM);
	session_stop(session);
	session_continue(session);
	session->kill_ns = clock_now_ns() + KILL_DELAY_NS;
}

void session_kill(struct session *session, uint64_t now)
{
	if (!session->kill_ns || now < session->kill_ns)
		return;
	session->kill_ns = now + KILL_DELAY_NS;
	session_signal(session, SIGKILL);
}
