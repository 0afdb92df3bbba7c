/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracer as the session's child; see session-tracer.h.
 */
#include "session/session-state.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "session/recording.h"
#include "tracer/tracer.h"

const uint64_t SESSION_GIVE_UP_NS = 5 * CLOCK_NS_PER_S;

enum { SESSION_OUT_LIMIT = 8 << 20 };

struct error *session_spawn(struct session *session)
{
	const struct session_config *config = session->config;
	struct tracer_config tracer_config = {
		.argv = config->argv,
		.pids = config->pids,
		.pid_count = config->pid_count,
		.held = config->held,
		.tracing = config->tracing,
		.rest_ns = config->rest_ns,
		.hold_conflicts = config->stop_at_race,
		.provoke = config->provoke,
		.hunts = session_hunts(config),
		.record_executions = config->record ? config->record->executions
						    : 0,
		.silent = config->silent,
		.seed = config->seed,
		.params = session_params(config),
	};
	struct tracer tracer;
	struct error *err = tracer_spawn(&tracer_config, &tracer);

	if (err)
		return err;
	session->tracer.pid = tracer.pid;
	session->tracer.heartbeat = tracer.heartbeat;
	return channel_init(&session->channel, tracer.fd, SESSION_OUT_LIMIT);
}

void session_reap(struct session *session)
{
	if (!session->tracer.reaped &&
	    waitpid(session->tracer.pid, &session->tracer.status, WNOHANG) ==
		    session->tracer.pid)
		session->tracer.reaped = true;
}

/*
 * A stuck tracer (heartbeat.h) of a program that was attached to is the
 * guardian's affair. There is none where the program is ours: it ends with the
 * tracer.
 */
void session_check_tracer(struct session *session, uint64_t now)
{
	if (session->tracer.reaped || !session->config->argv)
		return;
	switch (heartbeat_look(&session->tracer.watch,
			       session->tracer.heartbeat, session->tracer.pid,
			       now)) {
	case HEARTBEAT_CONTINUE:
		kill(session->tracer.pid, SIGCONT);
		break;
	case HEARTBEAT_STUCK:
		session->tracer.heartbeat->killed = 1;
		kill(session->tracer.pid, SIGKILL);
		break;
	case HEARTBEAT_WELL:
	default:
		break;
	}
}

/* It was found stuck, and ended for that. */
static struct error *session_tracer_stuck(const struct session *session)
{
	return error_create(
		ERROR_OTHER,
		session->config->argv
			? "the tracer process hung and was killed, and the "
			  "program with it"
			: "the tracer process hung and was killed; the "
			  "program was restored and runs on");
}

struct error *session_tracer_died(struct session *session)
{
	uint64_t give_up = clock_now_ns() + SESSION_GIVE_UP_NS;
	int status;

	/* its end of the channel is closed some time before it has ended */
	while (!session->tracer.reaped && clock_now_ns() < give_up) {
		struct timespec ms = { .tv_nsec = 1000000 };

		nanosleep(&ms, NULL);
		session_reap(session);
	}
	status = session->tracer.status;
	if (__atomic_load_n(&session->tracer.heartbeat->killed,
			    __ATOMIC_ACQUIRE))
		return session_tracer_stuck(session);
	if (session->tracer.reaped && WIFSIGNALED(status))
		return error_create(
			ERROR_OTHER,
			"the tracer process was killed by signal %d (%s)",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	return error_create(ERROR_OTHER,
			    "the tracer process ended unexpectedly");
}
