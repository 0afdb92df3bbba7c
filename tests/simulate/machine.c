/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machine: clock, messages, and whose turn it is; see machine.h.
 */
#include "machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "wire/channel.h"
#include "wire/running.h"

struct machine *machine;

uint64_t __wrap_clock_now_ns(void);
struct error *__wrap_channel_init(struct channel *channel, int fd,
				  size_t out_limit);
bool __wrap_channel_send(struct channel *channel, enum wire_type type,
			 const void *payload, size_t size);
bool __wrap_channel_next(struct channel *channel, enum wire_type *ret_type,
			 const void **ret_payload, size_t *ret_size);

uint64_t __wrap_clock_now_ns(void)
{
	return machine->now_ns + machine->spent_ns;
}

/* --- messages --- */

struct error *__wrap_channel_init(struct channel *channel, int fd,
				  size_t out_limit)
{
	(void)fd;
	(void)out_limit;
	memset(channel, 0, sizeof(*channel));
	return NULL;
}

static struct actor *machine_actor(const struct channel *channel, bool other)
{
	bool tracer = channel == machine->tracer.channel;

	return tracer != other ? &machine->tracer : &machine->front;
}

static void machine_sampled(const struct wire_sample *sample)
{
	if (!sample->stalled)
		machine->score.result.passed++;
	/* the arrival at another's stall has none of its own */
	else if (sample->stalled_ns > 0)
		score_stall(&machine->score, front_site(WIRE_ID(sample->id)),
			    sample->id & WIRE_GUIDED);
}

/* They begin where any structure may. */
static size_t actor_aligned(size_t size)
{
	return (size + 15) / 16 * 16;
}

bool __wrap_channel_send(struct channel *channel, enum wire_type type,
			 const void *payload, size_t size)
{
	struct actor *actor = machine_actor(channel, true);
	struct message message = { .type = type,
				   .size = size,
				   .at_ns = machine->now_ns +
					    machine->spent_ns +
					    MACHINE_MESSAGE_NS,
				   .at = actor->gone + actor->bytes.count };

	vec_reserve(&actor->bytes, actor->bytes.count + actor_aligned(size));
	memcpy((uint8_t *)actor->bytes.items + actor->bytes.count, payload,
	       size);
	actor->bytes.count += actor_aligned(size);
	if (type == WIRE_SAMPLE)
		machine_sampled(payload);
	return vec_push(&actor->in, &message);
}

/* What was taken, when there is no more for now. */
static void actor_forget(struct actor *actor)
{
	uint64_t end = actor->gone + actor->bytes.count;

	if (actor->next < actor->in.count)
		end = ((struct message *)vec_at(&actor->in, actor->next))->at;
	vec_remove_first(&actor->bytes, (size_t)(end - actor->gone));
	vec_remove_first(&actor->in, actor->next);
	actor->gone = end;
	actor->next = 0;
}

bool __wrap_channel_next(struct channel *channel, enum wire_type *ret_type,
			 const void **ret_payload, size_t *ret_size)
{
	struct actor *actor = machine_actor(channel, false);
	const struct message *message =
		actor->next < actor->in.count ? vec_at(&actor->in, actor->next)
					      : NULL;

	if (!message || message->at_ns > machine->now_ns) {
		if (actor->next > 0)
			actor_forget(actor);
		return false;
	}
	actor->next++;
	*ret_type = message->type;
	*ret_payload =
		(uint8_t *)actor->bytes.items + (message->at - actor->gone);
	*ret_size = message->size;
	return true;
}

static void actor_init(struct actor *actor)
{
	actor->in = (struct vec)VEC_INIT(struct message);
	actor->bytes = (struct vec)VEC_INIT(uint8_t);
}

static void actor_deinit(struct actor *actor)
{
	vec_deinit(&actor->in);
	vec_deinit(&actor->bytes);
}

static uint64_t actor_due(const struct actor *actor, uint64_t due)
{
	if (actor->in.count > actor->next) {
		const struct message *message = vec_at(&actor->in, actor->next);

		if (message->at_ns < due)
			due = message->at_ns;
	}
	return due > actor->free_ns ? due : actor->free_ns;
}

/* What it computes takes time. */
static void actor_run(struct actor *actor, void (*turn)(void))
{
	if (machine->now_ns < actor->free_ns)
		machine->now_ns = actor->free_ns;
	machine->spent_ns = MACHINE_TURN_NS;
	turn();
	actor->free_ns = machine->now_ns + machine->spent_ns;
	if (actor == &machine->tracer)
		machine->tracer_cpu_ns += machine->spent_ns;
	machine->spent_ns = 0;
}

/* --- what is reached when --- */

static struct reach *reach_at(size_t i)
{
	return vec_at(&machine->reaches, i);
}

static void reach_swap(size_t i, size_t j)
{
	struct reach kept = *reach_at(i);

	*reach_at(i) = *reach_at(j);
	*reach_at(j) = kept;
}

static void reach_push(const struct reach *reach)
{
	size_t i = machine->reaches.count;

	vec_push(&machine->reaches, reach);
	for (; i > 0 && reach_at(i)->at_ns < reach_at((i - 1) / 2)->at_ns;
	     i = (i - 1) / 2)
		reach_swap(i, (i - 1) / 2);
}

static struct reach reach_pop(void)
{
	struct reach first = *reach_at(0);
	size_t i = 0;

	vec_remove_swap(&machine->reaches, 0);
	for (;;) {
		size_t child = 2 * i + 1, count = machine->reaches.count;

		if (child + 1 < count &&
		    reach_at(child + 1)->at_ns < reach_at(child)->at_ns)
			child++;
		if (child >= count ||
		    reach_at(child)->at_ns >= reach_at(i)->at_ns)
			return first;
		reach_swap(i, child);
		i = child;
	}
}

/* A function is entered as often as its hottest location runs. */
static double machine_rate(size_t slot)
{
	size_t site = machine_site(slot), first;
	double most = 0;

	if (site != SIZE_MAX)
		return program_rate(&machine->program, site);
	first = slot / (PROGRAM_FUNCTION + 1) * PROGRAM_FUNCTION;
	for (size_t i = first;
	     i < first + PROGRAM_FUNCTION && i < machine->program.count; i++)
		most = fmax(most, program_rate(&machine->program, i));
	return most;
}

static void machine_plan(size_t slot)
{
	double wait = program_wait(&machine->program,
				   machine_rate(slot) * machine_threads());
	struct reach reach = { .at_ns = (double)machine->now_ns +
					(double)machine->spent_ns + wait,
			       .slot = (uint32_t)slot,
			       .stamp = machine->stamps[slot] };

	if (wait < machine->program.plan->seconds * 2e9)
		reach_push(&reach);
}

void machine_armed(size_t slot, bool armed)
{
	machine->stamps[slot]++;
	machine->score.result.left_armed += armed ? 1 : -1;
	if (armed)
		machine_plan(slot);
}

/* Does what runs wait for the one that is held? */
static bool machine_waits(void)
{
	return tracer_held() > 0 && program_random(&machine->program) <
					    machine->program.plan->coupling;
}

static void machine_hit(void)
{
	struct reach reach = reach_pop();

	if (reach.stamp != machine->stamps[reach.slot])
		return;
	machine->spent_ns += MACHINE_HIT_NS;
	if (!machine_waits())
		tracer_reach(reach.slot);
	/* it was not hit: the one that came is held, or would have to wait */
	if (reach.stamp == machine->stamps[reach.slot])
		machine_plan(reach.slot);
	tracer_turn();
}

/* --- time --- */

static double machine_uses(uint32_t held)
{
	const struct simulate_plan *plan = machine->program.plan;
	double uses = (machine_threads() - held) * plan->busy;

	if (held > 0)
		uses *= 1 - plan->coupling;
	return uses < MACHINE_PROCESSORS ? uses : MACHINE_PROCESSORS;
}

static void machine_pass(uint64_t now)
{
	double passed = (double)(now - machine->cpu_at_ns);

	machine->program_cpu_ns += passed * machine_uses(tracer_held());
	machine->free_cpu_ns += passed * machine_uses(0);
	machine->cpu_at_ns = now;
}

/* Another phase: all that is armed is reached at other times. */
static void machine_phase(void)
{
	struct program *program = &machine->program;
	uint32_t phase;

	if (program->plan->phases == 0)
		return;
	phase = 1 + (uint32_t)((double)machine->now_ns / 1e9 /
			       program->plan->phase_s) %
			    program->plan->phases;
	if (phase == program->phase)
		return;
	program->phase = phase;
	vec_clear(&machine->reaches);
	for (size_t i = 0; i < machine->slots; i++) {
		if (machine->text[i * PROGRAM_SLOT] == MACHINE_INT3)
			machine_plan(i);
	}
}

static void machine_trap(void)
{
	tracer_trap();
	tracer_turn();
}

static void machine_next(void)
{
	uint64_t tracer = actor_due(&machine->tracer, tracer_due());
	uint64_t front = actor_due(&machine->front, front_due());
	uint64_t trap = tracer_trap_due(), at = tracer < front ? tracer : front;
	double reach = machine->reaches.count > 0 ? reach_at(0)->at_ns : 1e18;
	uint64_t reached = (uint64_t)reach;

	at = trap < at ? trap : at;
	at = reached < at ? reached : at;
	if (at > machine->now_ns)
		machine->now_ns = at;
	machine_pass(machine->now_ns);
	machine_phase();
	score_time(&machine->score, (double)machine->now_ns / 1e9);
	if (at == trap)
		actor_run(&machine->tracer, machine_trap);
	else if (at == reached)
		actor_run(&machine->tracer, machine_hit);
	else if (at == tracer)
		actor_run(&machine->tracer, tracer_turn);
	else
		actor_run(&machine->front, front_turn);
}

static void machine_init(const struct simulate_plan *plan, uint64_t seed)
{
	program_init(&machine->program, plan, seed);
	machine->score.program = &machine->program;
	machine->now_ns = machine->cpu_at_ns = 1;
	machine->slots = machine_slot(machine->program.count) + 1;
	machine->text = calloc(machine->slots, PROGRAM_SLOT);
	machine->stamps = calloc(machine->slots, sizeof(*machine->stamps));
	machine->reaches = (struct vec)VEC_INIT(struct reach);
	actor_init(&machine->tracer);
	actor_init(&machine->front);
}

static void machine_deinit(void)
{
	free(machine->text);
	free(machine->stamps);
	vec_deinit(&machine->reaches);
	actor_deinit(&machine->tracer);
	actor_deinit(&machine->front);
	program_deinit(&machine->program);
}

static void machine_run(const struct simulate_plan *plan, uint64_t seed)
{
	uint64_t end = (uint64_t)(plan->seconds * 1e9);

	machine_init(plan, seed);
	tracer_begin();
	front_begin();
	while (machine->now_ns < end)
		machine_next();
	score_end(&machine->score);
	machine->score.result.true_lost =
		(machine->free_cpu_ns - machine->program_cpu_ns +
		 machine->stopped_ns * plan->busy + machine->interrupted_ns) /
		machine->free_cpu_ns;
	front_end();
	tracer_end();
}

/* Rules that a policy does without. */
static uint32_t machine_lacks(enum simulate_policy policy)
{
	const uint32_t runs = 1u << SIMULATE_CLOCKS | 1u << SIMULATE_STACKS |
			      1u << SIMULATE_ENTRIES | 1u << SIMULATE_CALLEES |
			      1u << SIMULATE_NEWS;
	const uint32_t later = 1u << SIMULATE_LONG | 1u << SIMULATE_PRIVATE |
			       1u << SIMULATE_MISSED | 1u << SIMULATE_REPEATS |
			       1u << SIMULATE_ROTATION |
			       1u << SIMULATE_GIVE_BACK;

	if (policy == SIMULATE_BEFORE)
		return runs | later;
	return policy == SIMULATE_EVERYTHING ? runs | 1u << SIMULATE_ONCE : 0;
}

void simulate_without(const struct simulate_plan *plan,
		      enum simulate_policy policy, uint32_t without,
		      uint64_t seed, struct simulate_result *ret)
{
	struct machine one = { .policy = policy,
			       .without = without | machine_lacks(policy) };

	if (policy >= SIMULATE_IDEAL) {
		simulate_ideal(plan, policy, seed, ret);
		return;
	}
	machine = &one;
	machine_run(plan, seed);
	*ret = one.score.result;
	machine_deinit();
	machine = NULL;
}
