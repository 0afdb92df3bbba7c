/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races that happen once: every location of the program's own modules that has
 * not run yet is armed, beside the pool that the governor keeps, and gets a
 * longer stall when it runs for the first time. Each costs a stop, once.
 */
#include "detect/session-state.h"

#include "base/clock.h"
#include "base/error.h"

static const uint64_t ONCE_SLICE_NS = 4 * CLOCK_NS_PER_MS;
/* a program's first threads wait for what is armed, but not for long */
static const uint64_t ONCE_ONSET_NS = 50 * CLOCK_NS_PER_MS;
/* the same where the user has said where to look, maybe in a library */
static const uint64_t ONCE_AIMED_NS = 200 * CLOCK_NS_PER_MS;
/* a program without a second thread after so long is not likely to get one */
static const uint64_t ONCE_ALONE_NS = 200 * CLOCK_NS_PER_MS;
/* until the tracer has said what it has armed; sooner where that is waited for */
static const uint64_t ONCE_WAIT_NS = 20 * CLOCK_NS_PER_MS;
static const uint64_t ONCE_SOON_NS = CLOCK_NS_PER_MS;
/* what was lifted without a hit is armed again after so long */
static const uint64_t ONCE_WALK_NS = CLOCK_NS_PER_S / 2;

enum {
	ONCE_BATCH = 256,
	/* the tracer has room for twice as many */
	ONCE_QUEUE_MAX = 4096,
};

/* How many are armed at a time; the pool needs room beside them (governor.h). */
static uint64_t once_max(const struct session_config *config)
{
	uint64_t most = GOVERNOR_POOL_MAX / 2;

	return config->once_max < most ? config->once_max : most;
}

static void once_send(struct session *session, struct watched_program *program,
		      struct wire_site *sites, size_t count)
{
	/* longer than others, as far as those may be (governor.h) */
	double stall_us = session->config->stretch_max *
			  (double)session->config->stall_max_ns /
			  CLOCK_NS_PER_US;

	for (size_t i = 0; i < count; i++) {
		sites[i].once = true;
		sites[i].stall_us = stall_us < UINT32_MAX ? (uint32_t)stall_us
							  : UINT32_MAX;
	}
	session_send_sites(session, program, sites, count);
}

/* How many more may be with the tracer now. */
static size_t once_room(const struct session *session,
			const struct watched_program *program)
{
	const struct wire_stats *stats = &session->counts.stats;
	uint64_t out = program->set.sampler.out_once;
	uint64_t queued = out > stats->armed_once ? out - stats->armed_once : 0;

	size_t room, left;

	if (out >= once_max(session->config) || queued >= ONCE_QUEUE_MAX)
		return 0;
	room = (size_t)(ONCE_QUEUE_MAX - queued);
	left = (size_t)(once_max(session->config) - out);
	return room < left ? room : left;
}

uint64_t session_onset_ns(const struct session_config *config)
{
	if (!config->argv || config->rate == 0)
		return 0;
	if (session_aims(config))
		return ONCE_AIMED_NS;
	return session_arms_once(config) ? ONCE_ONSET_NS : 0;
}

bool session_own_first(const struct session *session,
		       const struct watched_program *program, uint64_t now)
{
	if (session_onset_ns(session->config) == 0 ||
	    session_aims(session->config))
		return false;
	return program->threaded ? now < program->onset_ns
				 : now < program->begun_ns + ONCE_ALONE_NS;
}

/*
 * All there is was sent, or as much as may be armed: what waits for it need not
 * wait any more.
 */
void session_end_onset(struct session *session, struct watched_program *program)
{
	if (program->onset_ns == 0)
		return;
	program->onset_ns = 0;
	channel_send(&session->channel, WIRE_ONSET_SENT, NULL, 0);
}

/* Send what there is room for; *ret_end: the walk has come to its end. */
static struct error *once_walk(struct session *session,
			       struct watched_program *program, uint64_t now,
			       bool *ret_end)
{
	struct wire_site sites[ONCE_BATCH];
	size_t room = once_room(session, program), count = 0;
	struct error *err = NULL;

	while (!err && room > 0) {
		err = sampleset_take_unrun(&program->set, now + ONCE_SLICE_NS,
					   &program->walk, &sites[count]);
		if (err || sites[count].id == 0)
			break;
		room--;
		if (++count == ONCE_BATCH) {
			once_send(session, program, sites, count);
			count = 0;
		}
	}
	once_send(session, program, sites, count);
	*ret_end = room > 0;
	return err;
}

struct error *session_feed_once(struct session *session,
				struct watched_program *program, uint64_t now)
{
	struct error *err;
	bool end;

	if (!session_arms_once(session->config) || now < program->walk_ns)
		return NULL;
	if (now >= program->onset_ns)
		program->onset_ns = 0;
	err = once_walk(session, program, now, &end);
	program->walk_ns =
		now + (program->onset_ns ? ONCE_SOON_NS : ONCE_WAIT_NS);
	if (err)
		return err;
	if (((end && sampleset_own_complete(&program->set)) ||
	     program->set.sampler.out_once >= once_max(session->config)) &&
	    (program->aimed || !session_aims(session->config)))
		session_end_onset(session, program);
	/* at the end, another begins: soon, while more is being decoded */
	if (end) {
		program->walk = (struct sampleset_walk){ .part = 0 };
		if (sampleset_complete(&program->set))
			program->walk_ns = now + ONCE_WALK_NS;
	}
	return NULL;
}
