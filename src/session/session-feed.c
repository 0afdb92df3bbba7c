/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The session's supply of sites: the image kept up to date, the tracer's queue
 * kept filled, functions decoded in the background; see session-state.h.
 */
#include "session/session-state.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "image/image.h"
#include "schedule/pool.h"

/* How much work is done at a time. */
static const uint64_t FEED_SLICE_NS = 4 * CLOCK_NS_PER_MS;
static const uint64_t WORK_SLICE_NS = 2 * CLOCK_NS_PER_MS;
/* half of one CPU at first, so that short programs are covered soon, ... */
static const uint64_t WORK_PERIOD_FIRST_NS = 4 * CLOCK_NS_PER_MS;
static const uint64_t WORK_FIRST_NS = CLOCK_NS_PER_S / 2;
/* ... and a tenth later */
static const uint64_t WORK_PERIOD_NS = 20 * CLOCK_NS_PER_MS;
/*
 * A fiftieth where there is much text and it is known what of it runs: what is
 * drawn is decoded anyway, and the rest is seldom drawn.
 */
static const uint64_t WORK_PERIOD_LARGE_NS = 100 * CLOCK_NS_PER_MS;
static const uint64_t WORK_LARGE_BYTES = 2 << 20;
/*
 * Where the program wants every processor and may lose less than so much, an
 * eighth of that is for decoding, a little at a time: what is drawn is decoded
 * anyway, and a server's slowest requests wait for this. When it is known what
 * runs, a quarter of that: the rest of the text is seldom drawn.
 */
static const double WORK_SCARCE_SHARE = 0.2;
static const double WORK_SCARCE_PART = 0.125;
static const double WORK_SCARCE_PART_LATER = 0.03125;
static const uint64_t WORK_SCARCE_SLICE_NS = CLOCK_NS_PER_MS / 2;

enum {
	FEED_BATCH = 256,
	/* sites queued beyond the pool: hits of this part of a second */
	FEED_AHEAD_PART = 20,
	FEED_AHEAD_MIN = 16,
	/* the most that the tracer takes */
	FEED_QUEUE_MAX = 4096,
	/* bytes of text that hold one site, about */
	FEED_BYTES_PER_SITE = 16,
};

void session_hurry_refresh(struct session *session)
{
	for (size_t i = 0; i < session->watched.programs.count; i++) {
		struct watched_program *program =
			watched_at(&session->watched, i);

		if (program->awake)
			watched_timer_hurry(&program->maps, false);
	}
}

/*
 * Are the program's sites to be sent? What was asked for by name is made ready
 * before its second thread comes, until another program is awake: what would be
 * armed then is the other's.
 */
static bool session_feeds(const struct session *session,
			  const struct watched_program *program)
{
	return program->pid != 0 &&
	       (program->awake || (program->asked && !session->watched.woken));
}

/* Modules join the sampling set, as many as take a slice of time. */
static struct error *session_join(struct session *session,
				  struct watched_program *program)
{
	struct vec gone = VEC_INIT(struct wire_range);
	size_t parts = program->set.parts.count;
	uint64_t now = clock_now_ns();
	struct error *err;

	program->set.libraries_wait = session_own_first(session, program, now);
	err = sampleset_sync(&program->set, now + FEED_SLICE_NS, &gone);
	session_forget(session, program->id, &gone);
	if (gone.count > 0 && session_hunts(session->config))
		session_hunt_forget(session, program->id);
	vec_deinit(&gone);
	program->aimed = false;
	if (program->set.parts.count != parts)
		program->dry = false;
	return err;
}

/* Are there modules that may join now? */
static bool session_joins(const struct session *session,
			  const struct watched_program *program, uint64_t now)
{
	return program->set.own_behind ||
	       (program->set.behind &&
		!session_own_first(session, program, now));
}

/* reads: the maps too, not only what is known to be mapped */
static struct error *session_look_at_maps(struct session *session,
					  struct watched_program *program,
					  bool reads)
{
	size_t parts = program->set.parts.count;
	bool changed = false;
	struct error *err = NULL;

	if (program->pid == 0)
		return NULL;
	if (reads || program->set.rests)
		err = image_refresh(program->image, &changed);
	/* a process that has just ended has no maps; the tracer will say so */
	if (err)
		err = session_tolerate(session, err);
	else
		err = session_join(session, program);
	changed |= program->set.parts.count != parts;
	watched_timer_set(&program->maps, changed);
	return err ? err : session_place_ran(session, program, reads);
}

struct error *session_refresh(struct session *session,
			      struct watched_program *program)
{
	return session_look_at_maps(session, program, true);
}

/* Only where there are two processes can anything be shared. */
static struct error *session_share(struct session *session, uint64_t now)
{
	struct vec *processes = &session->watched.processes;
	struct vec bytes = VEC_INIT(uint8_t);
	struct error *err = NULL;

	for (size_t i = 0; !err && processes->count > 1 && i < processes->count;
	     i++) {
		struct watched_process *process = vec_at(processes, i);
		struct watched_program *program;

		if (now < process->shared.due_ns)
			continue;
		vec_clear(&bytes);
		err = session_tolerate(session,
				       watched_shared(&session->watched,
						      process, &bytes));
		if (bytes.count > 0)
			channel_send(&session->channel, WIRE_SHARED,
				     bytes.items, bytes.count);
		program = watched_program(&session->watched, process->program);
		if (program && process->shares)
			watched_wake(&session->watched, program);
	}
	vec_deinit(&bytes);
	return err;
}

struct wire_params session_params(const struct session_config *config)
{
	struct wire_params params = config->effort.params;

	/* nothing is sampled: only what is to be provoked is armed */
	if (config->provoke || session_is_planned(config))
		params.rate = 0;
	params.probes = session_probes(config);
	params.learns = session_learns(config);
	params.startup_ns = session_startup_ns(config);
	params.replays = config->replay_instances > 0;
	return params;
}

/*
 * Sites that should be with the tracer, armed or queued, of each program.
 */
static uint64_t session_wanted(const struct session *session)
{
	const struct wire_stats *stats = &session->counts.sum.stats;
	uint64_t ahead =
		(uint64_t)stats->wanted / FEED_AHEAD_PART + FEED_AHEAD_MIN;
	uint64_t hungry = 0, now = clock_now_ns();

	for (size_t i = 0; i < session->watched.programs.count; i++) {
		const struct watched_program *program =
			watched_at(&session->watched, i);

		hungry += session_feeds(session, program) && !program->dry &&
			  now >= program->idle_ns;
	}
	ahead += pool_lacks(&session->config->effort.params, stats->pool,
			    stats->armed);
	if (ahead > FEED_QUEUE_MAX)
		ahead = FEED_QUEUE_MAX;
	ahead += stats->armed;
	return hungry > 1 ? ahead / hungry + 1 : ahead;
}

/* Sites with the tracer, for the pool. */
static uint64_t session_out(const struct watched_program *program)
{
	const struct sampler *sampler = &program->set.sampler;

	return sampler->out - sampler->out_once;
}

/* In time of its own: what has joined is drawn from before more of it joins. */
static struct error *session_fill_queue(struct session *session,
					struct watched_program *program)
{
	uint64_t until = clock_now_ns() + FEED_SLICE_NS;
	struct wire_site sites[FEED_BATCH];
	uint64_t wanted = session_wanted(session);
	struct error *err = NULL;
	size_t count = 0;

	if (!session_draws(session, program))
		return NULL;
	while (!err && !program->dry && session_out(program) < wanted &&
	       clock_now_ns() < until) {
		err = sampleset_draw(&program->set, &sites[count]);
		if (err)
			break;
		if (sites[count].id == 0)
			program->dry = true;
		else
			count++;
		if (count == FEED_BATCH) {
			session_send_sites(session, program, sites, count);
			count = 0;
		}
	}
	session_send_sites(session, program, sites, count);
	return err;
}

/* How long to decode, and how often. */
struct work_pace {
	uint64_t slice_ns, period_ns;
};

static struct work_pace session_work_pace(const struct session *session,
					  const struct watched_program *program,
					  uint64_t now)
{
	const struct sampler *sampler = &program->set.sampler;
	double share = session->config->effort.params.share;
	bool scarce = share > 0 && share < WORK_SCARCE_SHARE;

	if (scarce && session->counts.sum.stats.competition > 0) {
		double part = sampler->running > 0 ? WORK_SCARCE_PART_LATER
						   : WORK_SCARCE_PART;
		double period = (double)WORK_SCARCE_SLICE_NS / (share * part);

		return (struct work_pace){ WORK_SCARCE_SLICE_NS,
					   (uint64_t)period };
	}
	if (sampler->running > 0 && sampler->text_size > WORK_LARGE_BYTES)
		return (struct work_pace){ WORK_SLICE_NS,
					   WORK_PERIOD_LARGE_NS };
	if (!scarce && now - program->begun_ns < WORK_FIRST_NS)
		return (struct work_pace){ WORK_SLICE_NS,
					   WORK_PERIOD_FIRST_NS };
	return (struct work_pace){ WORK_SLICE_NS, WORK_PERIOD_NS };
}

/* The last function may have been decoded because it was drawn. */
static void session_note_decoded(struct watched_program *program)
{
	const struct sampler *sampler = &program->set.sampler;
	bool decoded = sampler_complete(sampler);

	if (decoded && !program->decoded)
		log_debug(LOG_DETECT, "all decoded: %llu sites",
			  (unsigned long long)sampler->known);
	program->decoded = decoded;
}

static struct error *session_decode_ahead(struct session *session,
					  struct watched_program *program,
					  uint64_t now)
{
	struct sampler *sampler = &program->set.sampler;
	struct work_pace pace;
	struct error *err;

	session_note_decoded(program);
	if (program->decoded || now < program->work_ns)
		return NULL;
	pace = session_work_pace(session, program, now);
	err = sampler_work(sampler, now + pace.slice_ns, NULL);
	program->dry = false;
	program->work_ns = now + pace.period_ns;
	session_note_decoded(program);
	return err;
}

/*
 * Has nothing been drawn yet of what has joined? The first breakpoints do not wait
 * for more modules, which may be large.
 */
static bool session_draws_first(const struct watched_program *program,
				uint64_t now)
{
	return program->set.parts.count > 0 && !program->dry &&
	       program->set.sampler.out == 0 && now >= program->idle_ns;
}

/* The modules that are mapped, and those that are still to join. */
static struct error *session_follow(struct session *session,
				    struct watched_program *program,
				    uint64_t now)
{
	if (now >= program->maps.due_ns)
		return session_look_at_maps(session, program,
					    watched_timer_reads(&program->maps,
								program->pid));
	return session_joins(session, program, now)
		       ? session_join(session, program)
		       : NULL;
}

static struct error *session_feed_program(struct session *session,
					  struct watched_program *program,
					  uint64_t now)
{
	struct error *err = NULL;

	if (!session_feeds(session, program))
		return NULL;
	/* one that was taken over has no modules before it is followed */
	if (program->set.rests || !session_draws_first(program, now))
		err = session_follow(session, program, now);
	if (err || program->set.rests || session->config->provoke ||
	    session_is_planned(session->config))
		return err;
	if (program->unplaced.count > 0)
		err = session_place_ran(session, program, false);
	if (!err && now >= program->idle_ns)
		err = session_feed_once(session, program, now);
	if (!err && now >= program->idle_ns)
		err = session_fill_queue(session, program);
	if (!err)
		err = session_decode_ahead(session, program, clock_now_ns());
	return err;
}

struct error *session_feed(struct session *session)
{
	uint64_t now = clock_now_ns();
	struct error *err;

	if (!session_watches(session) ||
	    session->config->effort.params.rate == 0)
		return NULL;
	err = session_share(session, now);
	if (!err)
		err = session_aim(session);
	if (!err && session_hunts(session->config))
		err = session_hunt(session);
	if (!err && session_records(session->config))
		err = session_record(session);
	for (size_t i = 0; !err && i < session->watched.programs.count; i++)
		err = session_feed_program(
			session, watched_at(&session->watched, i), now);
	return err ? err : session_guide(session, now);
}

/* When the next walk over its sites begins, or goes on. */
static uint64_t session_walk_due(const struct watched_program *program)
{
	return program->walk_ns > program->idle_ns ? program->walk_ns
						   : program->idle_ns;
}

uint64_t session_feed_due(const struct session *session)
{
	const struct vec *processes = &session->watched.processes;
	uint64_t due = UINT64_MAX;

	if (!session_watches(session) ||
	    session->config->effort.params.rate == 0)
		return due;
	for (size_t i = 0; i < session->watched.programs.count; i++) {
		const struct watched_program *program =
			watched_at(&session->watched, i);

		if (!session_feeds(session, program))
			continue;
		if (program->maps.due_ns < due)
			due = program->maps.due_ns;
		if (program->set.rests)
			continue;
		if (session_joins(session, program, clock_now_ns()))
			return 0;
		/* when it does so */
		if (program->set.behind && program->quiet_ns < due &&
		    program->quiet_ns > clock_now_ns())
			due = program->quiet_ns;
		if (session_arms_unrun(session->config) &&
		    session_walk_due(program) < due)
			due = session_walk_due(program);
		if (!sampler_complete(&program->set.sampler) &&
		    program->work_ns < due)
			due = program->work_ns;
	}
	for (size_t i = 0; processes->count > 1 && i < processes->count; i++) {
		const struct watched_process *process = vec_at(processes, i);

		if (process->shared.due_ns < due)
			due = process->shared.due_ns;
	}
	if (session_guide_due(session) < due)
		due = session_guide_due(session);
	return session_aim_due(session) < due ? session_aim_due(session) : due;
}

/* The sums over all programs. */
static void session_count_sites(const struct watched *watched,
				struct session_counts *counts)
{
	counts->sum.sites_sampled = watched->sites_sampled;
	counts->sum.sites_eligible = watched->sites_known;
	counts->sites_complete = true;
	for (size_t i = 0; i < watched->programs.count; i++) {
		const struct sampleset *set = &watched_at(watched, i)->set;

		counts->sum.sites_sampled += set->sampler.sampled;
		counts->sum.sites_eligible += set->sampler.known;
		counts->sites_complete &= sampleset_complete(set);
	}
}

void session_count_own_sites(struct session *session)
{
	const struct watched *watched = &session->watched;
	struct session_counts *counts = &session->counts;

	counts->sum.sampling.sites_sampled_own = watched->sites_sampled_own;
	counts->sum.sampling.sites_eligible_own = watched->sites_known_own;
	counts->modules_read = true;
	counts->own_complete = !watched->own_incomplete;
	for (size_t i = 0; i < watched->programs.count; i++) {
		const struct sampleset *set = &watched_at(watched, i)->set;
		uint64_t known, sampled;

		sampleset_count_own(set, &known, &sampled);
		counts->sum.sampling.sites_eligible_own += known;
		counts->sum.sampling.sites_sampled_own += sampled;
		counts->modules_read &= !set->behind;
		counts->own_complete &= sampleset_own_complete(set);
		counts->own_functions += set->own_functions;
		if (set->excluded_by)
			counts->excluded_by = set->excluded_by;
	}
}

/* In percent of the time that was watched. */
static double share_pct(const struct run_summary *sum, uint64_t ns)
{
	double elapsed = (double)sum->elapsed_ns;

	return elapsed > 0 ? 100 * (double)ns / elapsed : 0;
}

void session_update_counts(struct session *session)
{
	struct session_counts *counts = &session->counts;
	uint64_t end = session->stopped_ns ? session->stopped_ns
					   : clock_now_ns();
	struct run_summary *sum = &counts->sum;

	session_count_sites(&session->watched, counts);
	counts->generated_seen = session->generated.seen;
	sum->elapsed_ns = session->started_ns ? end - session->started_ns : 0;
	sum->overhead_pct = share_pct(sum, sum->stats.lost_ns);
	sum->start_pct = share_pct(sum, sum->stats.startup_ns);
	sum->stops_pct = share_pct(sum, sum->stats.lost_stop_ns);
	sum->computing_pct = share_pct(sum, sum->stats.lost_cpu_ns);
	sum->sampling.known = true;
	sum->sampling.looks = session->generated.looks;
	sum->sampling.generated = session->generated.inside;
	sum->budget_pct = 100 * session->config->effort.params.share;
	sum->replay_pct = share_pct(sum, sum->stats.lost_replay_ns);
	sum->cpu_ns = sum->stats.busy_ns + clock_cpu_ns() +
		      session_replay_cpu_ns(&session->replays);
}
