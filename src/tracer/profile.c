/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which code of the watched program runs; see profile.h.
 */
#include "tracer/profile.h"

#include <stddef.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "schedule/pool.h"
#include "sys/perfwatch.h"
#include "sys/policy.h"
#include "tracee/breakpoint.h"
#include "tracee/thread.h"
#include "tracer/core.h"
#include "tracer/load.h"
#include "tracer/profile-parts.h"
#include "tracer/profile-stops.h"
#include "tracer/stall.h"
#include "tracer/startup.h"

enum {
	/* no multiple of any timer's period */
	PROFILE_PERIOD_NS = 997 * 1000,
	/*
	 * with less time to lose: longer than the kernel's tick takes, as a rule,
	 * so that a timer need not be set at each switch
	 */
	PROFILE_LOW_PERIOD_NS = 4987 * 1000,
	/* costs in the target, where timers are those of a virtual machine */
	PROFILE_SAMPLE_NS = 4000,
	PROFILE_SWITCH_NS = 5500,
	PROFILE_LOW_SWITCH_NS = 2500,
	/* and of the tracer: to open a clock and to close it */
	PROFILE_OPEN_NS = 100 * 1000,
	/* between reads where there is little time to lose: at first, at most */
	PROFILE_LOW_READ_NS = 10 * 1000 * 1000,
	PROFILE_LOW_READ_MAX_NS = 200 * 1000 * 1000,
	/* if the clocks have cost that much since the last one */
	PROFILE_LOW_COST_NS = 100 * 1000,
	/* how long a thread is sampled while others wait */
	PROFILE_SLICE_NS = 250 * 1000 * 1000,
	PROFILE_SLEEPER_SLICE_NS = 100 * 1000 * 1000,
	/* samples of which none is new when learning ends */
	PROFILE_LEARNED = 50,
	/* samples in a look of which one is new when it begins again */
	PROFILE_NEW_PHASE = 10,
	/* files that others have open, and those of each process */
	PROFILE_FILES_OWN = 64,
	PROFILE_FILES_PROCESS = 5,
};

static const uint64_t PROFILE_LEARN_NS = 2 * CLOCK_NS_PER_S;
/* threads that switch often use up what may be spent before many are taken */
static const uint64_t PROFILE_LEARN_MAX_NS = 20 * CLOCK_NS_PER_S;
/* with a look, less than a second from one look to the next */
static const uint64_t PROFILE_REST_NS = 850 * CLOCK_NS_PER_MS;
/* a thread that only slept, or that cannot be sampled, is left alone so long */
static const uint64_t PROFILE_SLEEPER_NS = CLOCK_NS_PER_S;
/* what is allowed where the share is not bounded */
static const double PROFILE_ANY_SHARE = 0.4;

void profile_init(struct profile *profile)
{
	*profile = (struct profile){ .open = 0 };
	running_init(&profile->running);
}

static void profile_close(struct profile *profile, struct profile_clock *clock)
{
	cpuclock_close(&clock->clock);
	clock->thread->profiled = false;
	clock->thread = NULL;
	profile->open--;
}

void profile_deinit(struct profile *profile)
{
	for (int i = 0; i < PROFILE_CLOCKS; i++) {
		if (profile->clocks[i].thread)
			profile_close(profile, &profile->clocks[i]);
	}
	running_deinit(&profile->running);
}

static double profile_share(const struct profile *profile)
{
	double share = profile->pool->params.share;

	return share > 0 ? share : PROFILE_ANY_SHARE;
}

/* --- what it costs --- */

static void profile_earn(struct profile *profile, uint64_t now)
{
	double part = profile_share(profile) / PROFILE_PART;
	double most = part * (double)CLOCK_NS_PER_S;

	if (profile->earned_ns == 0)
		profile->credit_ns = most;
	else if (now > profile->earned_ns)
		profile->credit_ns += part * (double)(now - profile->earned_ns);
	if (profile->credit_ns > most)
		profile->credit_ns = most;
	profile->earned_ns = now;
	/* not opened and closed again at once */
	if (profile->credit_ns <= 0)
		profile->broke = true;
	else if (profile->credit_ns > most / 4)
		profile->broke = false;
}

static void profile_read(struct profile *profile, struct profile_clock *clock,
			 uint64_t now)
{
	uint32_t switches = cpuclock_switches(&clock->clock);
	/* modulo 2^31 */
	uint32_t more = (switches - clock->switches) & (UINT32_MAX / 2);
	uint32_t samples = 0;
	uint64_t address, cost;

	while (cpuclock_next(&clock->clock, &address)) {
		profile_note(profile, clock->program, address, now);
		samples++;
	}
	clock->switches = switches;
	clock->ran = clock->ran || samples > 0 || more > 0;
	cost = (uint64_t)samples * PROFILE_SAMPLE_NS +
	       (uint64_t)more * (profile_is_low(profile) ? PROFILE_LOW_SWITCH_NS
							 : PROFILE_SWITCH_NS);
	profile->credit_ns -= (double)cost;
	budget_spend_interrupts(&profile->load->budget, cost);
}

static void profile_read_all(struct profile *profile, uint64_t now)
{
	double credit_ns = profile->credit_ns;

	for (int i = 0; i < PROFILE_CLOCKS; i++) {
		if (profile->clocks[i].thread)
			profile_read(profile, &profile->clocks[i], now);
	}
	/* what switches often is to be noticed before it has cost much */
	if (credit_ns - profile->credit_ns > PROFILE_LOW_COST_NS)
		profile->read_gap_ns = PROFILE_LOW_READ_NS;
	else if (profile->read_gap_ns <= PROFILE_LOW_READ_MAX_NS / 2)
		profile->read_gap_ns *= 2;
	profile->read_ns = now;
}

/* Its samples have been read. A thread that slept has less to tell. */
static void profile_leave(struct profile *profile, struct profile_clock *clock,
			  uint64_t now)
{
	clock->thread->profile_due_ns =
		now + (clock->ran ? 0 : PROFILE_SLEEPER_NS);
	profile_close(profile, clock);
}

static void profile_leave_all(struct profile *profile, uint64_t now)
{
	for (int i = 0; i < PROFILE_CLOCKS; i++) {
		if (profile->clocks[i].thread)
			profile_leave(profile, &profile->clocks[i], now);
	}
}

/* --- when to sample --- */

static void profile_begin_phase(struct profile *profile, uint64_t now)
{
	profile->phase_ns = now;
	profile->samples = profile->fresh = 0;
}

static void profile_say(const struct profile *profile)
{
	log_debug(LOG_TARGET,
		  "profile: %u samples, %u in new code, %zu blocks known, %s",
		  profile->samples, profile->fresh,
		  profile->running.blocks.count,
		  profile->resting ? "resting" : "learning");
}

static void profile_end_learning(struct profile *profile, uint64_t now)
{
	profile->resting = (uint64_t)profile->fresh * PROFILE_LEARNED <=
			   profile->samples;
	profile->looking = false;
	profile_say(profile);
	profile_begin_phase(profile, now);
}

/* Few samples do not tell that nothing is new: more are waited for. */
static bool profile_has_learned(const struct profile *profile, uint64_t since)
{
	return since >= PROFILE_LEARN_MAX_NS ||
	       (since >= PROFILE_LEARN_NS &&
		profile->samples >= PROFILE_LEARNED);
}

static void profile_end_look(struct profile *profile)
{
	profile->looking = false;
	profile->resting = profile->fresh == 0 ||
			   (uint64_t)profile->fresh * PROFILE_NEW_PHASE <
				   profile->samples;
	profile_say(profile);
}

/* A process of which nothing is known yet is worth to be looked at. */
static void profile_count_racing(struct profile *profile, uint64_t now)
{
	uint32_t racing = 0;

	for (size_t i = 0; i < profile->core->tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&profile->core->tracees, i);

		racing += process->role == PROCESS_WATCHED &&
			  core_may_race(profile->core, process);
	}
	if (racing > profile->racing) {
		profile->resting = false;
		profile->fill_ns = 0;
		profile_begin_phase(profile, now);
	}
	profile->racing = racing;
}

static void profile_pace(struct profile *profile, uint64_t now)
{
	uint64_t since;

	if (profile->phase_ns == 0)
		profile_begin_phase(profile, now);
	profile_count_racing(profile, now);
	since = now - profile->phase_ns;
	if (!profile->resting && profile_has_learned(profile, since)) {
		profile_end_learning(profile, now);
	} else if (profile->looking && since >= PROFILE_LOOK_NS) {
		profile_end_look(profile);
		if (!profile->resting)
			profile_begin_phase(profile, now);
	} else if (profile->resting && !profile->looking &&
		   since >= PROFILE_REST_NS) {
		profile->looking = true;
		profile->fill_ns = 0;
		profile_begin_phase(profile, now);
	}
}

/* --- whom to sample --- */

/* Clocks that may be in use: files are left for the watches. */
static unsigned int profile_room(const struct profile *profile)
{
	uint64_t used =
		PROFILE_FILES_OWN +
		PROFILE_FILES_PROCESS * profile->core->tracees.processes.count;
	unsigned int most = profile_is_low(profile) ? PROFILE_LOW_CLOCKS
						    : PROFILE_CLOCKS;
	struct rlimit files;

	if (profile->core->tracees.watch.ops == &watch_by_perf)
		used += (uint64_t)DREGS_SLOTS *
			profile->core->tracees.threads.count;
	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur <= used)
		return 0;
	return files.rlim_cur - used < most
		       ? (unsigned int)(files.rlim_cur - used)
		       : most;
}

static bool profile_is_refused(struct error *err)
{
	if (!err)
		return false;
	log_debug(LOG_TARGET, "profile: %s", error_message(err));
	error_free(err);
	return true;
}

/*
 * An older kernel waits, in perf_event_open(2) of a thread that is about to
 * become another program, for us to take note of the ends of its others.
 */
static bool profile_may_wait(void)
{
	int major, minor;

	policy_linux(&major, &minor);
	return major < 5 || (major == 5 && minor < 7);
}

/* The first clock: see perfwatch_keep_ready(). */
static bool profile_prepare(struct profile *profile)
{
	if (profile->worked)
		return true;
	profile->refused = profile_may_wait() ||
			   (profile->core->perf_ready < 0 &&
			    profile_is_refused(perfwatch_keep_ready(
				    &profile->core->perf_ready)));
	return !profile->refused;
}

static struct profile_clock *profile_free_clock(struct profile *profile)
{
	for (int i = 0; i < PROFILE_CLOCKS; i++) {
		if (!profile->clocks[i].thread)
			return &profile->clocks[i];
	}
	return NULL;
}

static void profile_open(struct profile *profile, struct thread *thread,
			 uint64_t now)
{
	struct profile_clock *clock = profile_free_clock(profile);
	uint64_t period = profile_is_low(profile) ? PROFILE_LOW_PERIOD_NS
						  : PROFILE_PERIOD_NS;
	struct error *err;

	if (!clock || !profile_prepare(profile))
		return;
	err = cpuclock_open(thread->tid, period, &clock->clock);
	if (err) {
		bool gone = err == error_gone || err == error_nomem;

		profile_is_refused(err);
		thread->profile_due_ns = now + PROFILE_SLEEPER_NS;
		profile->refused = !profile->worked && !gone;
		return;
	}
	clock->thread = thread;
	clock->program = thread->process->space->text->program;
	clock->opened_ns = now;
	clock->switches = 0;
	clock->ran = false;
	thread->profiled = true;
	profile->worked = true;
	profile->open++;
	profile->credit_ns -= PROFILE_OPEN_NS;
	profile->read_gap_ns = PROFILE_LOW_READ_NS;
}

/* Make room for `wanted' threads that wait. */
static void profile_rotate(struct profile *profile, unsigned int wanted,
			   uint64_t now)
{
	for (int i = 0; i < PROFILE_CLOCKS && wanted > 0; i++) {
		struct profile_clock *clock = &profile->clocks[i];
		uint64_t slice = clock->ran ? PROFILE_SLICE_NS
					    : PROFILE_SLEEPER_SLICE_NS;

		if (!clock->thread || now - clock->opened_ns < slice)
			continue;
		profile_leave(profile, clock, now);
		wanted--;
	}
}

static void profile_fill(struct profile *profile, uint64_t now)
{
	unsigned int room = profile_room(profile);
	unsigned int left = room > profile->open ? room - profile->open : 0;
	struct profile_queue queue;

	if (!profile_fill_is_due(profile, now))
		return;
	profile_queue_fill(profile, &queue, now);
	/* the end of a stall is not to wait for more than one */
	if (profile->stalls->list.count > 0 && queue.count > 1)
		queue.count = 1;
	if (queue.count > left) {
		profile_rotate(profile, queue.count - left, now);
		left = room > profile->open ? room - profile->open : 0;
	}
	for (unsigned int i = 0; i < queue.count && i < left; i++) {
		if (profile->credit_ns <= 0 || profile->refused)
			return;
		profile_open(profile, queue.threads[i], now);
	}
}

/*
 * A small program that has just begun has all its sites armed: opening clocks
 * would only keep it from going on.
 */
static bool profile_pays(const struct profile *profile, uint64_t now)
{
	return profile->racing > 0 &&
	       (profile->pool->large ||
		startup_all_until(profile->startups, now) == 0);
}

void profile_tick(struct profile *profile, uint64_t now)
{
	if (profile->core->phase != PHASE_WATCHING ||
	    profile->pool->params.rate == 0) {
		profile_end(profile);
		return;
	}
	profile_read_all(profile, now);
	profile_earn(profile, now);
	profile_pace(profile, now);
	if (profile->broke || (profile->resting && !profile->looking))
		profile_leave_all(profile, now);
	else if (profile_pays(profile, now) && profile->refused)
		profile_stops_fill(profile, now);
	else if (profile_pays(profile, now))
		profile_fill(profile, now);
	running_tell(&profile->running, &profile->core->channel, now);
	/* code that begins to run is not to wait for the tracer's tick too */
	if (profile->looking && profile->fresh > 0)
		channel_hurry(&profile->core->channel);
}

uint64_t profile_next_ns(const struct profile *profile)
{
	if (profile->open == 0 || !profile_is_low(profile))
		return UINT64_MAX;
	return profile->read_ns + profile->read_gap_ns;
}

/* --- what happens to threads --- */

static struct profile_clock *profile_clock_of(struct profile *profile,
					      const struct thread *thread)
{
	for (int i = 0; i < PROFILE_CLOCKS && thread->profiled; i++) {
		if (profile->clocks[i].thread == thread)
			return &profile->clocks[i];
	}
	return NULL;
}

void profile_forget(struct profile *profile, struct thread *thread)
{
	struct profile_clock *clock = profile_clock_of(profile, thread);

	if (!clock)
		return;
	profile_read(profile, clock, clock_now_ns());
	profile_close(profile, clock);
}

void profile_exec(struct profile *profile, struct thread *thread)
{
	struct profile_clock *clock = profile_clock_of(profile, thread);

	if (clock)
		profile_close(profile, clock);
	thread->profile_due_ns = 0;
}

void profile_end(struct profile *profile)
{
	if (profile->open > 0)
		profile_leave_all(profile, clock_now_ns());
}
