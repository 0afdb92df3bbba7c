/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long a program's first threads wait for breakpoints; see
 * session-startup.h.
 */
#include "session/session-state.h"

#include "base/clock.h"
#include "schedule/budget.h"

/* a program's first threads wait for what is armed, but not for long */
static const uint64_t STARTUP_ONCE_NS = 50 * CLOCK_NS_PER_MS;
/*
 * what a large program is likely to run first is armed sooner; it is no short
 * test, and the rest comes while it runs
 */
static const uint64_t STARTUP_LARGE_NS = 10 * CLOCK_NS_PER_MS;
/* the same where the user has said where to look, maybe in a library */
static const uint64_t STARTUP_AIMED_NS = 200 * CLOCK_NS_PER_MS;
/*
 * a short test is over after so long: until then it has the processors, and no
 * library is read
 */
static const uint64_t STARTUP_QUIET_NS = 20 * CLOCK_NS_PER_MS;
/* what is to be provoked may happen at once, and once */
static const uint64_t STARTUP_PROVOKED_NS = 5 * CLOCK_NS_PER_S;
/* each instruction of the program is armed */
static const uint64_t STARTUP_RECORDED_NS = 60 * CLOCK_NS_PER_S;
/* a program without a second thread after so long is not likely to get one */
static const uint64_t STARTUP_ALONE_NS = 200 * CLOCK_NS_PER_MS;

/* what need not be at once may wait so long, to be done with other things */
static const uint64_t LATENESS_NS = 20 * CLOCK_NS_PER_MS;

uint64_t session_lateness(const struct session *session)
{
	const struct session_config *config = session->config;

	if (!budget_share_is_small(config->effort.params.share) ||
	    session_startup_ns(config) != 0 || !session->armed_told)
		return 0;
	return LATENESS_NS;
}

uint64_t session_startup_ns(const struct session_config *config)
{
	if (!config->argv || config->effort.params.rate == 0)
		return 0;
	if (session_records(config))
		return STARTUP_RECORDED_NS;
	if (config->provoke || session_is_planned(config))
		return STARTUP_PROVOKED_NS;
	if (session_aims(config))
		return STARTUP_AIMED_NS;
	return session_arms_once(config) ? STARTUP_ONCE_NS : 0;
}

bool session_own_first(const struct session *session,
		       const struct watched_program *program, uint64_t now)
{
	if (session_startup_ns(session->config) == 0 ||
	    session_aims(session->config) ||
	    session_is_planned(session->config))
		return false;
	if (!program->threaded)
		return now < program->begun_ns + STARTUP_ALONE_NS;
	return now < program->startup_ns || now < program->quiet_ns;
}

bool session_draws(const struct session *session,
		   const struct watched_program *program)
{
	if (!session_arms_once(session->config) ||
	    session_startup_ns(session->config) == 0 ||
	    session_aims(session->config))
		return true;
	return program->awake && program->startup_ns == 0;
}

bool session_startup_suffices(const struct watched_program *program,
			      uint64_t now)
{
	const struct sampler *sampler = &program->set.sampler;

	return program->startup_ns != 0 && !program->set.own_behind &&
	       sampler->callees_at >= sampler->callees.count &&
	       now >= program->startup_begun_ns + STARTUP_LARGE_NS;
}

/*
 * All there is was sent, or as much as may be armed: what waits for it need not
 * wait any more.
 */
void session_end_startup(struct session *session,
			 struct watched_program *program)
{
	const struct wire_startup message = { .program = program->id };

	if (program->startup_ns == 0)
		return;
	program->startup_ns = 0;
	program->quiet_ns = clock_now_ns() + STARTUP_QUIET_NS;
	if (program->work_ns < program->quiet_ns)
		program->work_ns = program->quiet_ns;
	channel_send(&session->channel, WIRE_STARTUP_SENT, &message,
		     sizeof(message));
}
