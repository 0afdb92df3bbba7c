/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races that happen once: every location of the program's own modules that has
 * not run yet is armed, beside the pool that the governor keeps, and gets a
 * longer stall when it runs for the first time. Each costs a stop, once.
 *
 * Where the program has more locations than may be armed so, the entry of each
 * of its functions is armed instead, and the locations of those that turn out to
 * run. A hit at an entry is a stop without a stall, once.
 */
#include "session/session-state.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "image/image.h"
#include "sampling/sampler-runs.h"
#include "schedule/governor.h"
#include "sys/memory.h"
#include "wire/running.h"

static const uint64_t ONCE_SLICE_NS = 4 * CLOCK_NS_PER_MS;
/* until the tracer has said what it has armed; sooner where that is waited for */
static const uint64_t ONCE_WAIT_NS = 20 * CLOCK_NS_PER_MS;
static const uint64_t ONCE_SOON_NS = CLOCK_NS_PER_MS;
/* later where arming is slow, as the tracer's word comes then */
static const uint64_t ONCE_SLOW_NS = 2 * CLOCK_BEAT_NS;
/* what was lifted without a hit is armed again after so long */
static const uint64_t ONCE_WALK_NS = 5 * CLOCK_BEAT_NS;
/* the maps are read for code that is in no module, as of a library just loaded */
static const uint64_t ONCE_UNPLACED_NS = CLOCK_NS_PER_S / 4;

enum {
	ONCE_BATCH = 256,
	/* the tracer has room for twice as many */
	ONCE_QUEUE_MAX = 4096,
	/* while first threads wait for those that are likely to run */
	ONCE_QUEUE_START = 512,
	/* functions that the first threads may come to */
	ONCE_REACHED = 1024,
	/* locations of the nearest of them, armed before these are seen to run */
	ONCE_EXPECTED = 512,
	/* of functions that run, beside them */
	ONCE_QUEUE_RUNS = 2048,
	/* where arming is slow: what is armed in this part of a second */
	ONCE_QUEUE_PART = 4,
	/* bytes of text for each site, on the average */
	ONCE_BYTES_PER_SITE = 16,
	/* locations of functions that run, for each that may be armed at once */
	ONCE_RUNNING = 4,
	/* code in no module is as a rule made at run time, and there may be much */
	ONCE_UNPLACED = 256,
};

/* How many are armed at a time; the pool needs room beside them (governor.h). */
static uint64_t once_max(const struct session_config *config)
{
	uint64_t most = GOVERNOR_ONCE_MAX;

	return config->effort.once_max < most ? config->effort.once_max : most;
}

/* The same of those in functions that run. */
static uint64_t once_running_max(const struct session_config *config)
{
	uint64_t most = GOVERNOR_ONCE_MAX,
		 wanted = once_max(config) * ONCE_RUNNING;

	return wanted < most ? wanted : most;
}

/* The same of entries of functions. */
static uint64_t once_entries_max(const struct session_config *config)
{
	uint64_t most = GOVERNOR_ENTRIES_MAX;

	return config->effort.entries_max < most ? config->effort.entries_max
						 : most;
}

/* Has the program more locations than may be armed all at once? */
static bool once_is_large(const struct session *session,
			  const struct watched_program *program)
{
	return sampleset_own_text(&program->set) / ONCE_BYTES_PER_SITE >
	       once_max(session->config);
}

/* Do the first threads of such a program wait? */
static bool once_starts_large(const struct session *session,
			      const struct watched_program *program)
{
	return program->startup_ns != 0 && once_is_large(session, program);
}

/* runs: they are of functions that run. */
static void once_send(struct session *session, struct watched_program *program,
		      struct wire_site *sites, size_t count, bool runs)
{
	for (size_t i = 0; i < count; i++) {
		sites[i].once = sites[i].seldom = true;
		sites[i].runs = runs;
	}
	session_send_sites(session, program, sites, count);
}

/*
 * How many more may wait to be armed. Where that is slow, few: what is found to
 * be likelier to run is not to wait for them.
 */
static uint64_t once_queue_room(const struct session_config *config,
				uint64_t most, uint64_t queued)
{
	if (config->effort.params.arm_rate > 0 &&
	    config->effort.params.arm_rate / ONCE_QUEUE_PART < ONCE_QUEUE_MAX) {
		most = config->effort.params.arm_rate / ONCE_QUEUE_PART + 1;
		/* they do not go one by one */
		if (queued > most / 2)
			return 0;
	}
	return queued < most ? most - queued : 0;
}

/*
 * How many sites may still be sent: `out` of at most `most` are out. runs: those
 * of functions that run, for which there is room beside the others.
 */
static size_t once_room(const struct session *session, uint64_t out,
			uint64_t most, bool runs)
{
	uint64_t armed = session->counts.sum.stats.armed_once, all = 0;
	uint64_t queue = ONCE_QUEUE_MAX, queued;
	size_t room, left;

	for (size_t i = 0; i < session->watched.programs.count; i++) {
		const struct sampler *sampler =
			&watched_at(&session->watched, i)->set.sampler;

		all += sampler->out_once + sampler->entries_out;
		if (once_starts_large(session,
				      watched_at(&session->watched, i)))
			queue = ONCE_QUEUE_START;
	}
	queued = all > armed ? all - armed : 0;
	if (out >= most)
		return 0;
	if (runs)
		queued = queued > ONCE_QUEUE_RUNS ? queued - ONCE_QUEUE_RUNS
						  : 0;
	room = (size_t)once_queue_room(session->config, queue, queued);
	left = (size_t)(most - out);
	return room < left ? room : left;
}

/* Entries were sent to the tracer, or could not be. */
static void once_send_entries(struct session *session,
			      struct watched_program *program,
			      struct wire_site *sites, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		sites[i].once = true;
		sites[i].program = program->id;
	}
	if (count == 0 || channel_send(&session->channel, WIRE_SITES, sites,
				       count * sizeof(*sites)))
		return;
	for (size_t i = 0; i < count; i++)
		sampler_return_entry(&program->set.sampler,
				     WIRE_ID(sites[i].id));
}

/*
 * Of a large program; *ret_end: the walk has come to its end. First threads that
 * have waited for long enough wait for one round of functions of which nothing says
 * that they run, and not for more: each is a write to the text.
 */
static void once_walk_entries(struct session *session,
			      struct watched_program *program, uint64_t now,
			      bool *ret_end)
{
	struct wire_site sites[ONCE_BATCH];
	size_t room = once_room(session, program->set.sampler.entries_out,
				once_entries_max(session->config), false);
	bool suffices = session_startup_suffices(program, now) &&
			program->set.sampler.entries_out > 0;
	size_t count = 0;

	while (!suffices && room > 0 &&
	       sampleset_take_entry(&program->set, &program->entries,
				    &sites[count])) {
		room--;
		if (++count == ONCE_BATCH) {
			once_send_entries(session, program, sites, count);
			count = 0;
		}
	}
	once_send_entries(session, program, sites, count);
	*ret_end = room > 0 && !suffices;
}

/* The locations of functions that have been found to run. */
static void once_send_news(struct session *session,
			   struct watched_program *program)
{
	struct wire_site sites[ONCE_BATCH];
	size_t room = once_room(session, program->set.sampler.out_once,
				once_running_max(session->config), true);
	size_t count = 0;

	if (!watched_is_mapped(program))
		return;
	for (; room > 0 && sampleset_take_news(&program->set, &sites[count]);
	     room--) {
		if (++count == ONCE_BATCH) {
			once_send(session, program, sites, count, true);
			count = 0;
		}
	}
	once_send(session, program, sites, count, true);
}

/* Code at the address runs: it is sampled first. */
static struct error *session_runs(struct session *session,
				  struct watched_program *program,
				  uint64_t address)
{
	uint64_t before = program->set.sampler.running;
	struct error *err = sampleset_runs(&program->set, address);

	if (program->set.sampler.running != before) {
		program->dry = false;
		if (!err && session_arms_once(session->config))
			once_send_news(session, program);
	}
	return err;
}

/* Is the code of a module that has still to join? */
static bool once_joins(const struct watched_program *program, uint64_t address)
{
	return (program->set.behind || program->set.own_behind) &&
	       !sampleset_holds(&program->set, address);
}

struct error *session_ran(struct session *session,
			  struct watched_program *program, uint64_t address)
{
	uint64_t now = clock_now_ns();
	bool known = image_module_at(program->image, address) != NULL;

	if (known && !once_joins(program, address))
		return session_runs(session, program, address);
	if (program->unplaced.count < ONCE_UNPLACED &&
	    !vec_push(&program->unplaced, &address))
		return error_nomem;
	if (known || now < program->unplaced_ns)
		return NULL;
	program->unplaced_ns = now + ONCE_UNPLACED_NS;
	watched_timer_hurry(&program->maps, false);
	return NULL;
}

struct error *session_place_ran(struct session *session,
				struct watched_program *program, bool read)
{
	struct vec *unplaced = &program->unplaced;
	struct error *err = NULL;

	for (size_t i = unplaced->count; !err && i-- > 0;) {
		uint64_t address = *(uint64_t *)vec_at(unplaced, i);
		bool known = image_module_at(program->image, address) != NULL;

		if (known ? once_joins(program, address) : !read)
			continue;
		vec_remove_swap(unplaced, i);
		if (known)
			err = session_runs(session, program, address);
	}
	return err;
}

struct error *session_callers(struct session *session, const void *payload,
			      size_t size)
{
	struct wire_callers callers;
	struct watched_program *program;
	struct error *err = NULL;
	uint64_t word;

	if (size < sizeof(callers))
		return NULL;
	memcpy(&callers, payload, sizeof(callers));
	program = watched_program(&session->watched, callers.program);
	if (!program || !watched_is_mapped(program))
		return NULL;
	for (size_t at = sizeof(callers); !err && at + sizeof(word) <= size;
	     at += sizeof(word)) {
		memcpy(&word, (const uint8_t *)payload + at, sizeof(word));
		/* the call itself, which may be the last of its function */
		if (stacks_is_return(program->image, word))
			err = session_runs(session, program, word - 1);
	}
	return err;
}

/* A look at stacks. */
struct once_look {
	struct session *session;
	bool news; /* a function that was not known to run */
};

static struct error *once_found(void *data, const struct image *image,
				uint64_t address)
{
	struct once_look *look = data;
	const struct watched *watched = &look->session->watched;

	for (size_t i = 0; i < watched->programs.count; i++) {
		struct watched_program *program = watched_at(watched, i);
		uint64_t before = program->set.sampler.running;
		struct error *err;

		if (program->image != image)
			continue;
		err = session_runs(look->session, program, address);
		look->news |= program->set.sampler.running != before;
		return err;
	}
	return NULL;
}

struct error *session_look_at_stacks(struct session *session, uint64_t now)
{
	struct once_look look = { .session = session };
	struct stacks *stacks = &session->stacks;
	struct error *err;

	if (now < stacks->due_ns)
		return NULL;
	err = stacks_look(stacks, &session->watched, once_found, &look);
	stacks_looked(stacks, now, look.news);
	return err;
}

/*
 * The first threads wait: where the first one stands, and what can be reached from
 * there by direct calls and by addresses that are loaded, is likely to run next.
 */
struct error *session_reach(struct session *session,
			    struct watched_program *program)
{
	struct once_look look = { .session = session };
	struct sampler *sampler = &program->set.sampler;
	struct memory memory;
	struct error *err;

	if (!session_arms_once(session->config) ||
	    !once_starts_large(session, program))
		return NULL;
	memory_init(&memory, program->pid);
	err = stacks_look_at(program->image, &memory, program->pid, once_found,
			     &look);
	memory_deinit(&memory);
	if (!err)
		err = sampler_follow_callees(sampler, ONCE_REACHED);
	if (!err)
		err = sampler_expect_callees(sampler, ONCE_EXPECTED);
	return err;
}

void session_entry_returned(struct session *session,
			    struct watched_program *program,
			    const struct wire_returned *returned)
{
	struct sampler *sampler = &program->set.sampler;
	uint64_t entry = WIRE_ID(returned->id);

	if (returned->why == WIRE_REFUSED)
		sampler_retire_entry(sampler, entry);
	else
		sampler_return_entry(sampler, entry);
	if (!wire_was_hit(returned->why))
		return;
	program->dry = false;
	/* without memory nothing is learned */
	error_free(sampler_entered(sampler, entry));
	once_send_news(session, program);
}

/* Of a small program: send what there is room for. */
static struct error *once_walk_sites(struct session *session,
				     struct watched_program *program,
				     uint64_t now, bool *ret_end)
{
	struct wire_site sites[ONCE_BATCH];
	size_t room = once_room(session, program->set.sampler.out_once,
				once_max(session->config), false);
	struct error *err = NULL;
	size_t count = 0;

	while (!err && room > 0) {
		err = sampleset_take_unrun(&program->set, now + ONCE_SLICE_NS,
					   &program->walk, &sites[count]);
		if (err || sites[count].id == 0)
			break;
		room--;
		if (++count == ONCE_BATCH) {
			once_send(session, program, sites, count, false);
			count = 0;
		}
	}
	once_send(session, program, sites, count, false);
	*ret_end = room > 0;
	return err;
}

/*
 * *ret_end: the walk has come to its end. *ret_all: and all is with the tracer
 * that may be.
 */
static struct error *once_walk(struct session *session,
			       struct watched_program *program, uint64_t now,
			       bool *ret_end, bool *ret_all)
{
	const struct sampler *sampler = &program->set.sampler;
	struct error *err;

	once_send_news(session, program);
	if (once_is_large(session, program)) {
		/* then it is known where to begin */
		if (!program->threaded &&
		    session_own_first(session, program, now)) {
			*ret_end = *ret_all = false;
			return NULL;
		}
		once_walk_entries(session, program, now, ret_end);
		*ret_all = (*ret_end && !program->set.own_behind) ||
			   sampler->entries_out >=
				   once_entries_max(session->config) ||
			   session_startup_suffices(program, now);
		return NULL;
	}
	err = once_walk_sites(session, program, now, ret_end);
	*ret_all = (*ret_end && sampleset_own_complete(&program->set)) ||
		   sampler->out_once >= once_max(session->config);
	return err;
}

/* When there may be room for more. */
static uint64_t once_next_ns(const struct session_config *config,
			     const struct watched_program *program,
			     uint64_t now)
{
	if (program->startup_ns)
		return now + ONCE_SOON_NS;
	return config->effort.params.arm_rate > 0
		       ? clock_align(now + ONCE_SLOW_NS, ONCE_SLOW_NS)
		       : now + ONCE_WAIT_NS;
}

struct error *session_feed_once(struct session *session,
				struct watched_program *program, uint64_t now)
{
	struct error *err;
	bool end, all;

	if (!session_arms_unrun(session->config) || now < program->walk_ns)
		return NULL;
	if (now >= program->startup_ns)
		program->startup_ns = 0;
	err = once_walk(session, program, now, &end, &all);
	if (!err && all && (program->aimed || !session_aims(session->config)))
		session_end_startup(session, program);
	program->walk_ns = once_next_ns(session->config, program, now);
	if (err)
		return err;
	/* at the end, another begins: soon, while more is being decoded */
	if (end) {
		program->walk = (struct sampleset_walk){ .part = 0 };
		program->entries = (struct sampleset_walk){ .part = 0 };
		if (all)
			program->walk_ns =
				clock_align(now + ONCE_WALK_NS, ONCE_WALK_NS);
	}
	return NULL;
}
