/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Capturing instances of races; see replays.h.
 */
#include "tracer/replays.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "replay/seeds.h"
#include "tracee/addrspace.h"
#include "tracee/breakpoint.h"
#include "tracee/process.h"
#include "tracee/thread.h"
#include "tracer/core.h"
#include "tracer/load.h"
#include "tracer/stall.h"
#include "wire/params.h"

/* Pairs of one run; half a megabyte of hints. */
enum { REPLAYS_PAIRS_MAX = 1024 };

static_assert((int)WIRE_THREADS_RACING == (int)REPLAY_THREADS, "threads");
static_assert((int)WIRE_INSTANCE_VECTORS_MAX == (int)REPLAY_VECTORS_MAX,
	      "vectors");
static_assert((int)WIRE_PAGE == (int)REPLAY_PAGE, "page");
static_assert((int)WIRE_PAGES_MAX == (int)LIKELY_MAX, "pages");
static_assert((int)WIRE_HINTS_MAX == (int)REPLAY_HINTS_MAX, "hints");

struct replays_pair {
	struct replay_hints hints;
	bool learned; /* its last instance had a result */
	struct pace_pair pace;
};

void replays_init(struct replays *replays, struct core *core, struct load *load,
		  const struct wire_params *params)
{
	*replays = (struct replays){
		.core = core,
		.load = load,
		.params = params,
		.pairs = VEC_INIT(struct replays_pair),
	};
}

void replays_deinit(struct replays *replays)
{
	map_deinit(&replays->index);
	vec_deinit(&replays->pairs);
	free(replays->capture);
}

/* What replays.seeded is for the space's program. */
static uint64_t replays_seed_of(const struct addrspace *space)
{
	return (uint64_t)space->text->program + 1;
}

void replays_begun(struct replays *replays, struct addrspace *space)
{
	if (!replays->seeding || !replays->params->replays ||
	    replays->seeded == replays_seed_of(space))
		return;
	replays->seeded = replays_seed_of(space);
	seeds_find(&space->mappings, &replays->seeds);
}

static struct replays_pair *replays_find(const struct replays *replays,
					 uint64_t pair)
{
	const uint64_t *i = map_get(&replays->index, pair);

	return i ? vec_at(&replays->pairs, (size_t)*i) : NULL;
}

/* NULL: there is no room. */
static struct replays_pair *replays_add(struct replays *replays, uint64_t pair)
{
	struct replays_pair *it;

	if (replays->pairs.count == REPLAYS_PAIRS_MAX ||
	    !map_set(&replays->index, pair, replays->pairs.count))
		return NULL;
	it = vec_append(&replays->pairs);
	if (it)
		memset(it, 0, sizeof(*it));
	else
		map_remove(&replays->index, pair);
	return it;
}

/*
 * By where the threads stand, and whether they are of two processes: the front end
 * may tell more of them apart, or fewer.
 */
static uint64_t replays_pair_of(const struct wire_conflict *wire, bool two)
{
	const uint64_t places[] = { wire->sides[0].program,
				    wire->sides[0].regs.rip,
				    wire->sides[1].regs.rip, two };

	return hash_bytes(places, sizeof(places));
}

/* Are they of two address spaces? */
static bool replays_are_two(const struct thread *one,
			    const struct thread *other)
{
	return one->process->space != other->process->space;
}

/* Are both threads in user code? */
static bool replays_may(const struct thread *one, const struct thread *other,
			const struct wire_conflict *wire)
{
	return one && other && one != other && one->process && other->process &&
	       wire->sides[1].syscall == -1;
}

static bool replays_due(struct replays *replays, uint64_t now)
{
	return replays->params->replays &&
	       replays->core->phase == PHASE_WATCHING &&
	       pace_is_open(&replays->pace, &replays->load->budget, now);
}

/*
 * Has the other thread stored what was there already? It has stored if this one
 * only loads.
 */
static bool replays_is_same(const struct wire_conflict *wire)
{
	return wire->evidence == WIRE_WATCHPOINT &&
	       wire->sides[0].access.kind == ACCESS_READ &&
	       memcmp(wire->before, wire->after, sizeof(wire->before)) == 0;
}

/* The pair, if it may be captured; NULL otherwise. */
static const struct replays_pair *
replays_admit(struct replays *replays, const struct wire_conflict *wire,
	      uint64_t now)
{
	struct replays_pair *it = replays_find(replays, replays->pair);
	bool same = replays_is_same(wire);

	if (!it)
		it = replays_add(replays, replays->pair);
	return it && pace_takes(&replays->pace, &it->pace, same, now) ? it
								      : NULL;
}

/*
 * The hints of the pair, and as far as there is room, of one that has something to
 * learn, also what other pairs have missed: many use the same data of the program.
 */
static void replays_add_hints(const struct replays *replays,
			      const struct replays_pair *pair,
			      struct replay_hints *ret)
{
	const struct replay_hints *common = &replays->common;

	*ret = pair->hints;
	if (pair->learned)
		return;
	for (size_t i = 0; i < common->count && i < REPLAY_HINTS_MAX &&
			   ret->count < REPLAY_HINTS_MAX;
	     i++)
		replay_hints_add(ret, common->pages[i]);
}

/* The data of modules, for a pair that has something to learn. */
static void replays_add_seeds(const struct replays *replays,
			      const struct replays_pair *pair,
			      const struct addrspace *space)
{
	if (!pair->learned && !replays->two &&
	    replays->seeded == replays_seed_of(space))
		replay_capture_add(&space->memory, &replays->seeds,
				   replays->capture);
}

/* The raced bytes, which no register needs to point to. */
static void replays_add_raced(const struct replays *replays,
			      const struct wire_conflict *wire,
			      struct replay_hints *ret)
{
	ret->count = 0;
	for (int i = 0; i < REPLAY_THREADS; i++) {
		const struct mem_access *access = &wire->sides[i].access;
		uint64_t end = access->address + access->size;
		int space = replays->two ? i : 0;

		if (access->size == 0)
			continue;
		replay_hints_add(ret,
				 replay_hint(space,
					     replay_page_of(access->address)));
		replay_hints_add(ret,
				 replay_hint(space, replay_page_of(end - 1)));
	}
}

/*
 * A thread that was stopped by int3, or is about to be let go elsewhere than
 * where the kernel has it, has the registers that the conflict says.
 */
static bool replays_take(struct replays *replays,
			 const struct replays_pair *pair,
			 const struct thread *one, const struct thread *other,
			 const struct wire_conflict *wire)
{
	const pid_t tids[REPLAY_THREADS] = { one->tid, other->tid };
	const struct memory *const memories[REPLAY_THREADS] = {
		&one->process->space->memory,
		&other->process->space->memory,
	};
	struct replay_hints hints, raced;
	struct error *err;

	if (!replays->capture)
		replays->capture = calloc(1, sizeof(*replays->capture));
	if (!replays->capture)
		return false;
	replays->two = replays_are_two(one, other);
	replays_add_hints(replays, pair, &hints);
	replays_add_raced(replays, wire, &raced);
	err = replay_capture_take(tids, memories, &raced, &hints,
				  replays->capture);
	if (!err)
		replays_add_seeds(replays, pair, one->process->space);
	for (int i = 0; i < REPLAY_THREADS && !err; i++)
		replays->capture->threads[i].regs = wire->sides[i].regs;
	error_free(err);
	return !err;
}

void replays_capture(struct replays *replays, const struct stall *stall,
		     const struct thread *other, struct wire_conflict *wire)
{
	const struct thread *one = stall->hold.thread;
	const struct replays_pair *pair;
	uint64_t begun = clock_now_ns();

	budget_earn(&replays->load->budget, begun);
	if (!replays_due(replays, begun) || !replays_may(one, other, wire))
		return;
	replays->pair = replays_pair_of(wire, replays_are_two(one, other));
	pair = replays_admit(replays, wire, begun);
	if (!pair || !replays_take(replays, pair, one, other, wire))
		return;
	replays->held_ns = clock_now_ns() - begun;
	wire->instance = true;
}

static struct channel_part replays_vectors(const struct replay_context *context)
{
	return (struct channel_part){ context->vectors, context->vectors_size };
}

static void replays_sent(struct replays *replays)
{
	const struct pace_instance instance = {
		.pair = replays->pair,
		.held_ns = replays->held_ns,
		.sent_ns = clock_now_ns(),
	};

	pace_sent(&replays->pace, &replays_find(replays, replays->pair)->pace,
		  &instance);
}

void replays_send(struct replays *replays)
{
	const struct replay_capture *capture = replays->capture;
	struct wire_instance message = {
		.pair = replays->pair,
		.held_ns = replays->held_ns,
		.pages = (uint32_t)capture->count,
		.of_first = (uint32_t)capture->of_first,
		.absent = (uint32_t)capture->absent_count,
		.two = replays->two
	};
	const struct channel_part parts[] = {
		{ &message, sizeof(message) },
		replays_vectors(&capture->threads[0]),
		replays_vectors(&capture->threads[1]),
		{ capture->addresses, capture->count * sizeof(uint64_t) },
		{ capture->pages, capture->count * REPLAY_PAGE },
		{ capture->absent, capture->absent_count * sizeof(uint64_t) },
	};

	for (int i = 0; i < REPLAY_THREADS; i++) {
		const struct replay_context *context = &capture->threads[i];

		message.threads[i] = (struct wire_instance_thread){
			.regs = context->regs,
			.vectors_size = (uint32_t)context->vectors_size,
			.area_size = (uint32_t)context->area_size,
		};
	}
	if (channel_send_parts(&replays->core->channel, WIRE_INSTANCE, parts,
			       sizeof(parts) / sizeof(parts[0])))
		replays_sent(replays);
	else
		replays->core->stats.dropped++;
}

/* sent: since when it was replayed. */
static void replays_charge(struct replays *replays,
			   const struct wire_replay *answer,
			   const struct pace_instance *sent, uint64_t now)
{
	const struct load_replay replay = {
		.since_ns = sent->sent_ns,
		.held_ns = sent->held_ns,
		.cpu_ns = answer->cpu_ns,
		.scratch_ns = answer->scratch_ns,
	};

	load_replayed(replays->load, &replay, now);
}

/* Pages are at the same addresses for other pairs; trails are not. */
static void replays_share(struct replays *replays,
			  const struct replay_hints *hints)
{
	for (size_t i = 0; i < hints->count && i < REPLAY_HINTS_MAX; i++) {
		if (replay_hint_is_page(hints->pages[i]))
			replay_hints_add(&replays->common, hints->pages[i]);
	}
}

void replays_answered(struct replays *replays, const void *payload, size_t size)
{
	const struct wire_replay *answer = payload;
	uint64_t now = clock_now_ns();
	struct pace_answer outcome;
	struct pace_instance sent;
	struct replays_pair *pair;

	if (size != sizeof(*answer) || answer->count > WIRE_HINTS_MAX)
		return;
	outcome = (struct pace_answer){ .counts = answer->counts,
					.still = answer->still,
					.enough = answer->enough,
					.cpu_ns = answer->cpu_ns };
	pair = replays_find(replays, answer->pair);
	if (!pace_answered(&replays->pace, pair ? &pair->pace : NULL,
			   answer->pair, &outcome, now, &sent))
		return;
	replays_charge(replays, answer, &sent, now);
	if (!pair)
		return;
	pair->learned = answer->counts;
	pair->hints.count = answer->count;
	memcpy(pair->hints.pages, answer->hints, sizeof(pair->hints.pages));
	replays_share(replays, &pair->hints);
}
