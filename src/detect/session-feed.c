/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The session's supply of sites: the image kept up to date, the tracer's queue
 * kept filled, functions decoded in the background; see session-state.h.
 */
#include "detect/session-state.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "image/image.h"

/* When the maps are read again, and how much work is done at a time. */
static const uint64_t REFRESH_FIRST_NS = 10 * CLOCK_NS_PER_MS;
static const uint64_t REFRESH_LAST_NS = 500 * CLOCK_NS_PER_MS;
static const uint64_t FEED_SLICE_NS = 4 * CLOCK_NS_PER_MS;
static const uint64_t WORK_SLICE_NS = 2 * CLOCK_NS_PER_MS;
/* half of one CPU at first, so that short programs are covered soon, ... */
static const uint64_t WORK_PERIOD_FIRST_NS = 4 * CLOCK_NS_PER_MS;
static const uint64_t WORK_FIRST_NS = CLOCK_NS_PER_S / 2;
/* ... and a tenth later */
static const uint64_t WORK_PERIOD_NS = 20 * CLOCK_NS_PER_MS;

enum {
	FEED_BATCH = 256,
	/* sites queued beyond the pool: hits of this part of a second */
	FEED_AHEAD_PART = 20,
	FEED_AHEAD_MIN = 16,
	/* the tracer takes so many at most */
	FEED_QUEUE_MAX = 4096,
	/* about so many bytes of text hold one site */
	FEED_BYTES_PER_SITE = 16,
};

static void session_forget(struct session *session, const struct vec *gone)
{
	for (size_t i = 0; i < gone->count; i++)
		channel_send(&session->channel, WIRE_FORGET, vec_at(gone, i),
			     sizeof(struct wire_range));
}

void session_hurry_refresh(struct session *session, bool changed)
{
	uint64_t soon = session->refreshed_ns + REFRESH_FIRST_NS;

	if (changed)
		session->refresh_step_ns = REFRESH_FIRST_NS;
	if (soon < session->refresh_ns)
		session->refresh_ns = soon;
}

static void session_schedule_refresh(struct session *session, bool changed)
{
	session->refreshed_ns = clock_now_ns();
	session->refresh_step_ns += session->refresh_step_ns / 2;
	if (changed || session->refresh_step_ns < REFRESH_FIRST_NS)
		session->refresh_step_ns = REFRESH_FIRST_NS;
	if (session->refresh_step_ns > REFRESH_LAST_NS)
		session->refresh_step_ns = REFRESH_LAST_NS;
	session->refresh_ns = session->refreshed_ns + session->refresh_step_ns;
}

struct error *session_refresh(struct session *session, bool reset)
{
	struct vec gone = VEC_INIT(struct wire_range);
	struct error *err = NULL;
	bool changed = false;
	size_t parts = session->set.parts.count;

	if (reset) {
		image_reset(session->image);
		err = sampleset_sync(&session->set, &gone);
	}
	if (!err)
		err = image_refresh(session->image, &changed);
	/* a process that has just ended has no maps; the tracer will say so */
	if (err)
		err = session_tolerate(session, err);
	else
		err = sampleset_sync(&session->set, &gone);
	session_forget(session, &gone);
	vec_deinit(&gone);
	if (session->set.parts.count != parts) {
		session->dry = false;
		changed = true;
	}
	session_schedule_refresh(session, changed || reset);
	return err;
}

void session_send_params(struct session *session)
{
	struct wire_params params = {
		.pool = session->governor.pool,
		.rate = session->config->rate,
		.stall_max_ns = session->config->stall_max_ns,
	};

	if (params.pool == session->sent.pool)
		return;
	log_debug(LOG_DETECT, "pool %u, %.0f hits/s, %u armed", params.pool,
		  session->governor.hits_per_s, session->counts.stats.armed);
	if (channel_send(&session->channel, WIRE_PARAMS, &params,
			 sizeof(params)))
		session->sent = params;
}

/* Sites that should be with the tracer, armed or queued. */
static uint64_t session_wanted(const struct session *session)
{
	uint64_t ahead =
		session->config->rate / FEED_AHEAD_PART + FEED_AHEAD_MIN;
	uint64_t lacking =
		session->governor.pool > session->counts.stats.armed
			? session->governor.pool - session->counts.stats.armed
			: 0;

	ahead += lacking;
	if (ahead > FEED_QUEUE_MAX)
		ahead = FEED_QUEUE_MAX;
	return session->counts.stats.armed + ahead;
}

static void session_send_sites(struct session *session,
			       const struct wire_site *sites, size_t count)
{
	if (count == 0 || channel_send(&session->channel, WIRE_SITES, sites,
				       count * sizeof(*sites)))
		return;
	for (size_t i = 0; i < count; i++)
		sampler_return(&session->set.sampler, sites[i].id,
			       SAMPLER_FREE);
}

static struct error *session_fill_queue(struct session *session, uint64_t until)
{
	struct wire_site sites[FEED_BATCH];
	uint64_t wanted = session_wanted(session);
	struct error *err = NULL;
	size_t count = 0;

	while (!err && !session->dry && session->set.sampler.out < wanted &&
	       clock_now_ns() < until) {
		err = sampleset_draw(&session->set, &sites[count]);
		if (err)
			break;
		if (sites[count].id == 0)
			session->dry = true;
		else
			count++;
		if (count == FEED_BATCH) {
			session_send_sites(session, sites, count);
			count = 0;
		}
	}
	session_send_sites(session, sites, count);
	return err;
}

static struct error *session_decode_ahead(struct session *session, uint64_t now)
{
	struct error *err;
	bool done;

	if (now < session->work_ns || sampler_complete(&session->set.sampler))
		return NULL;
	err = sampler_work(&session->set.sampler, now + WORK_SLICE_NS, &done);
	session->dry = false;
	session->work_ns = now + (now - session->started_ns < WORK_FIRST_NS
					  ? WORK_PERIOD_FIRST_NS
					  : WORK_PERIOD_NS);
	if (!err && done)
		log_debug(LOG_DETECT, "all decoded: %llu sites",
			  (unsigned long long)session->set.sampler.known);
	return err;
}

struct error *session_feed(struct session *session)
{
	uint64_t now = clock_now_ns();
	struct error *err = NULL;

	if (!session_watches(session) || session->config->rate == 0)
		return NULL;
	if (now >= session->refresh_ns)
		err = session_refresh(session, false);
	if (!err)
		err = session_fill_queue(session, now + FEED_SLICE_NS);
	if (!err)
		err = session_decode_ahead(session, clock_now_ns());
	return err;
}

void session_update_counts(struct session *session)
{
	struct session_counts *counts = &session->counts;
	uint64_t end = session->stopped_ns ? session->stopped_ns
					   : clock_now_ns();
	double elapsed;

	counts->elapsed_ns = session->started_ns ? end - session->started_ns
						 : 0;
	counts->sites_sampled = session->set.sampler.sampled;
	counts->sites_known = session->set.sampler.known;
	counts->sites_complete = sampler_complete(&session->set.sampler);
	counts->pool = session->governor.pool;
	counts->hits_per_s = session->governor.hits_per_s;
	elapsed = (double)counts->elapsed_ns;
	counts->overhead_pct =
		elapsed > 0 ? 100 *
				      ((double)counts->stats.stalled_ns +
				       (double)counts->stats.busy_ns) /
				      elapsed
			    : 0;
}
