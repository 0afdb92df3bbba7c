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
bool __wrap_channel_send(struct channel *channel, enum wire_type type,
			 const void *payload, size_t size);
bool __wrap_channel_next(struct channel *channel, enum wire_type *ret_type,
			 const void **ret_payload, size_t *ret_size);

uint64_t __wrap_clock_now_ns(void)
{
	return machine->now_ns + machine->spent_ns;
}

/* --- messages --- */

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

bool __wrap_channel_send(struct channel *channel, enum wire_type type,
			 const void *payload, size_t size)
{
	struct actor *actor = machine_actor(channel, true);
	struct message message = { .type = type,
				   .size = size,
				   .at_ns = machine->now_ns +
					    machine->spent_ns +
					    MACHINE_MESSAGE_NS,
				   .bytes = malloc(size + 1) };

	memcpy(message.bytes, payload, size);
	if (type == WIRE_SAMPLE)
		machine_sampled(payload);
	return vec_push(&actor->in, &message);
}

bool __wrap_channel_next(struct channel *channel, enum wire_type *ret_type,
			 const void **ret_payload, size_t *ret_size)
{
	struct actor *actor = machine_actor(channel, false);
	const struct message *message = vec_at(&actor->in, actor->next);

	free(actor->payload);
	actor->payload = NULL;
	if (actor->next == actor->in.count ||
	    message->at_ns > machine->now_ns) {
		vec_remove_first(&actor->in, actor->next);
		actor->next = 0;
		return false;
	}
	actor->next++;
	*ret_type = message->type;
	*ret_payload = actor->payload = message->bytes;
	*ret_size = message->size;
	return true;
}

static void actor_deinit(struct actor *actor)
{
	for (size_t i = actor->next; i < actor->in.count; i++)
		free(((struct message *)vec_at(&actor->in, i))->bytes);
	free(actor->payload);
	vec_deinit(&actor->in);
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

static uint32_t machine_threads(void)
{
	return machine->program.plan->processes *
	       machine->program.plan->threads;
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
	return uses < 2 ? uses : 2;
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
		if (machine->text[i * PROGRAM_SLOT] == 0xcc)
			machine_plan(i);
	}
}

/* What a clock of the program's CPU time would show; all of it at first. */
static void machine_profile(uint64_t *due)
{
	const struct program *program = &machine->program;
	double hz = 1000 * machine_uses(tracer_held());
	bool learning = machine->now_ns < 2 * CLOCK_NS_PER_S;
	struct wire_running running = { .program = MACHINE_PROGRAM,
					.count = 1 };
	size_t site = program_draw(&machine->program);

	if (program->plan->effort == 0)
		hz /= 5;
	*due += (uint64_t)(1e9 / (learning ? hz : hz / 20) + 1);
	running.address = MACHINE_TEXT + machine_slot(site) * PROGRAM_SLOT;
	__wrap_channel_send(machine->tracer.channel, WIRE_RUNNING, &running,
			    sizeof(running));
}

static void machine_trap(void)
{
	tracer_trap();
	tracer_turn();
}

static void machine_next(uint64_t *profile_due)
{
	uint64_t tracer = actor_due(&machine->tracer, tracer_due());
	uint64_t front = actor_due(&machine->front, front_due());
	uint64_t trap = tracer_trap_due(), at = *profile_due;
	double reach = machine->reaches.count > 0 ? reach_at(0)->at_ns : 1e18;
	uint64_t reached = (uint64_t)reach;

	at = tracer < at ? tracer : at;
	at = front < at ? front : at;
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
	else if (at == front)
		actor_run(&machine->front, front_turn);
	else
		machine_profile(profile_due);
}

static void machine_init(const struct simulate_plan *plan, uint64_t seed)
{
	program_init(&machine->program, plan, seed);
	machine->score.program = &machine->program;
	machine->now_ns = machine->cpu_at_ns = 1;
	machine->slots = machine_slot(machine->program.count) + 1;
	machine->text = malloc(machine->slots * PROGRAM_SLOT);
	memset(machine->text, 0x90, machine->slots * PROGRAM_SLOT);
	machine->stamps = calloc(machine->slots, sizeof(*machine->stamps));
	machine->reaches = (struct vec)VEC_INIT(struct reach);
	machine->tracer.in = machine->front.in =
		(struct vec)VEC_INIT(struct message);
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
	uint64_t end = (uint64_t)(plan->seconds * 1e9), profile_due = 1000000;

	machine_init(plan, seed);
	tracer_begin();
	front_begin();
	while (machine->now_ns < end)
		machine_next(&profile_due);
	score_end(&machine->score);
	machine->score.result.true_lost =
		(machine->free_cpu_ns - machine->program_cpu_ns +
		 machine->stopped_ns * plan->busy) /
		machine->free_cpu_ns;
	front_end();
	tracer_end();
}

void simulate(const struct simulate_plan *plan, enum simulate_policy policy,
	      uint64_t seed, struct simulate_result *ret)
{
	struct machine one = { .policy = policy };

	if (policy == SIMULATE_IDEAL || policy == SIMULATE_ORACLE) {
		simulate_ideal(plan, policy == SIMULATE_ORACLE, seed, ret);
		return;
	}
	machine = &one;
	machine_run(plan, seed);
	*ret = one.score.result;
	machine_deinit();
	machine = NULL;
}
