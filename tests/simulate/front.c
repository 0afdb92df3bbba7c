/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The front end of the simulated program: a real session, whose files are
 * here; see simulate.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "image/elftext.h"
#include "image/image.h"
#include "machine.h"
#include "sampling/sampler-runs.h"
#include "sampling/sampleset.h"
#include "session/session-state.h"
#include "session/stacks.h"
#include "tracer/engine.h"
#include "tracer/govern.h"

/* What it is made of. */
struct front {
	struct session session;
	struct session_config config;
	struct session_sink sink;
	struct watched_program program;
	struct module module;
	uint64_t look_ns; /* at stacks */
};

static struct front *front(void)
{
	return (struct front *)machine->session;
}

/* --- in place of ELF files: two parts, the program's own and libraries' --- */

struct error *__wrap_sampleset_draw(struct sampleset *set,
				    struct wire_site *ret);
bool __wrap_sampleset_describe(struct sampleset *set, uint64_t id,
			       struct wire_site *ret);
bool __wrap_sampleset_place(const struct sampleset *set, uint64_t id,
			    struct sampleset_place *ret);
struct error *__wrap_sampleset_find_site(struct sampleset *set,
					 const char *path, const char *build_id,
					 uint64_t offset, uint64_t *ret_id);
struct error *__wrap_sampleset_take_unrun(struct sampleset *set,
					  uint64_t until_ns,
					  struct sampleset_walk *walk,
					  struct wire_site *ret);
bool __wrap_sampleset_take_entry(struct sampleset *set,
				 struct sampleset_walk *walk,
				 struct wire_site *ret);
bool __wrap_sampleset_take_news(struct sampleset *set, struct wire_site *ret);
struct error *__wrap_sampleset_runs(struct sampleset *set, uint64_t address);
uint64_t __wrap_sampleset_own_text(const struct sampleset *set);
bool __wrap_sampleset_complete(const struct sampleset *set);
bool __wrap_sampleset_own_complete(const struct sampleset *set);
bool __wrap_sampleset_site_is_own(const struct sampleset *set, uint64_t id);
const char *__wrap_elftext_build_id(const struct elftext *text);
struct module *__wrap_image_module_at(const struct image *image,
				      uint64_t address);
struct error *__real_sampler_runs(struct sampler *sampler, uint32_t part,
				  uint32_t function);
struct error *__wrap_sampler_runs(struct sampler *sampler, uint32_t part,
				  uint32_t function);
struct error *__wrap_stacks_look(struct stacks *stacks,
				 const struct watched *watched,
				 stacks_found *found, void *data);

/* How often session.c looks at stacks. */
static const uint64_t FRONT_LOOK_NS = 200 * CLOCK_NS_PER_MS;

enum { FRONT_DEPTH = 16 /* calls that a stack's top holds */ };

/* Is what runs to be found out? */
static bool front_finds(void)
{
	return machine->policy >= SIMULATE_UNIFORM;
}

/* The first function of each part. */
static uint32_t front_first(uint32_t part)
{
	return part == 0 ? 0 : machine->program.plan->own / PROGRAM_FUNCTION;
}

static size_t front_located(const struct sampler *sampler, uint64_t id)
{
	uint32_t part, function, offset;

	if (!sampler_locate(sampler, id, &part, &function, &offset))
		return 0;
	return (size_t)(front_first(part) + function) * PROGRAM_FUNCTION +
	       offset / PROGRAM_SLOT - 1;
}

size_t front_site(uint64_t id)
{
	return front_located(&front()->program.set.sampler, id);
}

static void front_describe(size_t slot, uint64_t id, struct wire_site *ret)
{
	size_t function = slot / (PROGRAM_FUNCTION + 1);

	*ret = (struct wire_site){
		.id = id,
		.address = MACHINE_TEXT + slot * PROGRAM_SLOT,
		.function = MACHINE_TEXT +
			    function * (PROGRAM_FUNCTION + 1) * PROGRAM_SLOT,
		.program = MACHINE_PROGRAM,
		.insn = { .length = 4 },
	};
}

bool __wrap_sampleset_describe(struct sampleset *set, uint64_t id,
			       struct wire_site *ret)
{
	size_t site = front_located(&set->sampler, id);
	bool writes = machine->program.sites[site].writes;

	front_describe(machine_slot(site), id, ret);
	ret->insn.operand_count = 1;
	ret->insn.operands[0] = (struct mem_operand){
		.kind = writes ? ACCESS_WRITE : ACCESS_READ,
		.base = X86_RDI,
		.index = X86_REG_NONE,
		.bit_reg = X86_REG_NONE,
		.scale = 1,
		.size = 8,
	};
	return true;
}

struct error *__wrap_sampleset_draw(struct sampleset *set,
				    struct wire_site *ret)
{
	uint64_t id;
	struct error *err;

	set->sampler.repeats &= !machine_without(SIMULATE_REPEATS);
	err = sampler_draw(&set->sampler, &id);
	ret->id = 0;
	if (!err && id != 0)
		__wrap_sampleset_describe(set, id, ret);
	return err;
}

bool __wrap_sampleset_place(const struct sampleset *set, uint64_t id,
			    struct sampleset_place *ret)
{
	ret->module = &front()->module;
	ret->offset = front_located(&set->sampler, id);
	return true;
}

/* Of a location: the part, the function in it, and the offset. */
static uint32_t front_part(size_t site, uint32_t *ret_function,
			   uint32_t *ret_offset)
{
	uint32_t part = program_is_own(&machine->program, site) ? 0 : 1;

	*ret_function = (uint32_t)(site / PROGRAM_FUNCTION) - front_first(part);
	*ret_offset = (uint32_t)(site % PROGRAM_FUNCTION + 1) * PROGRAM_SLOT;
	return part;
}

struct error *__wrap_sampleset_find_site(struct sampleset *set,
					 const char *path, const char *build_id,
					 uint64_t offset, uint64_t *ret_id)
{
	uint32_t function, at,
		part = front_part((size_t)offset, &function, &at);

	(void)path;
	(void)build_id;
	return sampler_find(&set->sampler, part, function, at, ret_id);
}

struct error *__wrap_sampleset_take_unrun(struct sampleset *set,
					  uint64_t until_ns,
					  struct sampleset_walk *walk,
					  struct wire_site *ret)
{
	uint64_t id = 0;
	struct error *err = NULL;

	if (!machine_without(SIMULATE_ONCE))
		err = sampler_take_unrun(&set->sampler, 0, until_ns, &walk->at,
					 &id);
	ret->id = 0;
	if (!err && id != 0)
		__wrap_sampleset_describe(set, id, ret);
	return err;
}

bool __wrap_sampleset_take_entry(struct sampleset *set,
				 struct sampleset_walk *walk,
				 struct wire_site *ret)
{
	uint32_t part = 0, function;

	if (machine_without(SIMULATE_ENTRIES) ||
	    (!sampler_take_callee(&set->sampler, &part, &function) &&
	     !sampler_take_entry(&set->sampler, part, &walk->at.site,
				 &function)))
		return false;
	front_describe((size_t)(front_first(part) + function) *
			       (PROGRAM_FUNCTION + 1),
		       WIRE_ENTRY | sampler_entry(part, function), ret);
	return true;
}

bool __wrap_sampleset_take_news(struct sampleset *set, struct wire_site *ret)
{
	uint64_t id = machine_without(SIMULATE_NEWS)
			      ? 0
			      : sampler_take_news(&set->sampler);

	return id != 0 && __wrap_sampleset_describe(set, id, ret);
}

struct error *__wrap_sampleset_runs(struct sampleset *set, uint64_t address)
{
	size_t slot = (size_t)(address - MACHINE_TEXT) / PROGRAM_SLOT;
	size_t site = slot / (PROGRAM_FUNCTION + 1) * PROGRAM_FUNCTION;
	uint32_t function, offset, part = front_part(site, &function, &offset);

	return sampler_runs(&set->sampler, part, function);
}

/* Of hits too. */
struct error *__wrap_sampler_runs(struct sampler *sampler, uint32_t part,
				  uint32_t function)
{
	return front_finds() ? __real_sampler_runs(sampler, part, function)
			     : NULL;
}

uint64_t __wrap_sampleset_own_text(const struct sampleset *set)
{
	return sampler_part_size(&set->sampler, 0);
}

bool __wrap_sampleset_complete(const struct sampleset *set)
{
	return sampler_complete(&set->sampler);
}

bool __wrap_sampleset_own_complete(const struct sampleset *set)
{
	return sampler_part_complete(&set->sampler, 0);
}

bool __wrap_sampleset_site_is_own(const struct sampleset *set, uint64_t id)
{
	return program_is_own(&machine->program,
			      front_located(&set->sampler, id));
}

struct module *__wrap_image_module_at(const struct image *image,
				      uint64_t address)
{
	(void)image;
	(void)address;
	return &front()->module;
}

const char *__wrap_elftext_build_id(const struct elftext *text)
{
	(void)text;
	return NULL;
}

/* All locations of a function, which takes time to be decoded. */
static struct error *front_decode(void *context, uint32_t part,
				  uint32_t function, struct vec *offsets)
{
	size_t first =
		(size_t)(front_first(part) + function) * PROGRAM_FUNCTION;

	(void)context;
	for (uint32_t i = 0;
	     i < PROGRAM_FUNCTION && first + i < machine->program.count; i++) {
		uint32_t offset = (i + 1) * PROGRAM_SLOT;

		vec_push(offsets, &offset);
		machine->spent_ns += MACHINE_DECODE_NS;
	}
	return NULL;
}

/*
 * Functions that one calls: those that run, and as many again that do not, as
 * where errors are handled.
 */
static struct error *front_callees(void *context, uint32_t part,
				   uint32_t function, struct vec *functions)
{
	const struct program *program = &machine->program;
	uint32_t first = front_first(part);
	uint32_t count = part == 0 ? program->plan->own : program->plan->others;
	uint32_t next = program->callees[first + function];

	(void)context;
	count = (count + PROGRAM_FUNCTION - 1) / PROGRAM_FUNCTION;
	for (; next != 0; next = program->nexts[next - 1]) {
		uint32_t callee = next - 1 - first;
		uint32_t other = (callee + function + 1) % count;

		/* of the other part */
		if (next - 1 < first || callee >= count)
			continue;
		if (!vec_push(functions, &callee) ||
		    !vec_push(functions, &other))
			return error_nomem;
	}
	return NULL;
}

/* --- stacks of threads that sleep --- */

/* Who called the function in which it sleeps, and who called that. */
static struct error *front_look_at_stack(stacks_found *found, void *data)
{
	const struct program *program = &machine->program;
	size_t site = program_draw(&machine->program);
	uint32_t function = (uint32_t)(site / PROGRAM_FUNCTION);
	struct error *err = NULL;

	for (int depth = 0;
	     !err && depth < FRONT_DEPTH && program->callers[function] != 0;
	     depth++) {
		function = program->callers[function] - 1;
		err = found(data, NULL,
			    MACHINE_TEXT + (uint64_t)function *
						   (PROGRAM_FUNCTION + 1) *
						   PROGRAM_SLOT);
	}
	return err;
}

struct error *__wrap_stacks_look(struct stacks *stacks,
				 const struct watched *watched,
				 stacks_found *found, void *data)
{
	uint32_t threads = machine_threads();
	struct error *err = NULL;

	(void)stacks;
	(void)watched;
	if (threads > STACKS_THREADS)
		threads = STACKS_THREADS;
	for (uint32_t i = 0; !err && i < threads; i++) {
		if (program_random(&machine->program) <
		    machine->program.plan->busy)
			continue;
		machine->spent_ns += MACHINE_STACK_NS;
		err = front_look_at_stack(found, data);
	}
	return err;
}

/* --- the session --- */

uint64_t front_due(void)
{
	uint64_t due = session_feed_due(machine->session);

	return due < front()->look_ns ? due : front()->look_ns;
}

static void front_look(void)
{
	uint64_t now = clock_now_ns();

	if (now < front()->look_ns)
		return;
	front()->look_ns = now + FRONT_LOOK_NS;
	if (!machine_without(SIMULATE_STACKS))
		error_free(session_look_at_stacks(machine->session, now));
}

void front_turn(void)
{
	error_free(session_messages(machine->session));
	error_free(session_feed(machine->session));
	front_look();
}

void front_raced(size_t site, size_t other)
{
	struct conflict *conflict = calloc(1, sizeof(*conflict));
	const size_t sites[2] = { site, other };

	for (int i = 0; i < 2; i++) {
		conflict->sides[i].module = &front()->module;
		conflict->sides[i].insn_address = sites[i];
	}
	/* the first location would be no address */
	if (site != 0 && other != 0)
		error_free(session_learn_race(machine->session, conflict));
	free(conflict);
}

static void front_configure(struct front *it)
{
	it->config = (struct session_config){
		.seed = rng_next(&machine->program.rng),
		.effort = simulate_effort(machine->program.plan),
		.guided = machine->policy == SIMULATE_GUIDED,
	};
	if (machine_without(SIMULATE_LONG))
		it->config.effort.params.stall_long_ns = 0;
	if (machine_without(SIMULATE_STRETCH))
		it->config.effort.params.stretch_max = 1;
}

static void front_add_part(struct sampler *sampler, uint32_t sites, bool own)
{
	size_t count = (sites + PROGRAM_FUNCTION - 1) / PROGRAM_FUNCTION;
	uint32_t *sizes = calloc(count + 1, sizeof(*sizes)), part;

	for (size_t i = 0; i < count; i++)
		sizes[i] = (PROGRAM_FUNCTION + 1) * PROGRAM_SLOT;
	error_free(sampler_add(sampler, sizes, count, own, &part));
	free(sizes);
}

static void front_add_program(struct front *it)
{
	const struct sampler_text text = {
		.decode = front_decode,
		.callees = machine_without(SIMULATE_CALLEES) ? NULL
							     : front_callees,
	};
	struct watched_program *program = &it->program;

	program->id = MACHINE_PROGRAM;
	program->pid = MACHINE_PID;
	program->awake = program->threaded = true;
	program->maps.due_ns = UINT64_MAX;
	program->begun_ns = machine->now_ns;
	sampler_init(&program->set.sampler, &text, it->config.seed);
	front_add_part(&program->set.sampler, machine->program.plan->own, true);
	front_add_part(&program->set.sampler, machine->program.plan->others,
		       false);
	vec_push(&it->session.watched.programs, &program);
}

void front_begin(void)
{
	struct front *it = calloc(1, sizeof(*it));
	struct session *session = &it->session;
	const struct wire_started started = { .pid = MACHINE_PID,
					      .begun_ns = machine->now_ns };
	struct wire_params params;

	machine->session = session;
	machine->front.channel = &session->channel;
	front_configure(it);
	session->config = &it->config;
	session->sink = &it->sink;
	it->module = (struct module){ .path = (char *)"simulated",
				      .text = (struct elftext *)it };
	watched_init(&session->watched, NULL, it->config.seed);
	session_aim_init(session);
	stacks_init(&session->stacks);
	session_learn_init(session);
	front_add_program(it);
	params = session_params(&it->config);
	govern_begin(&machine->engine->govern, &params);
	channel_send(machine->tracer.channel, WIRE_STARTED, &started,
		     sizeof(started));
	engine_send_stats(machine->engine);
}

void front_end(void)
{
	struct front *it = front();
	struct session *session = &it->session;

	machine->score.result.found = (double)it->program.set.sampler.running /
				      (double)machine->program.functions.count;
	sampler_deinit(&it->program.set.sampler);
	session_learn_deinit(session);
	session_aim_deinit(session);
	vec_deinit(&session->watched.programs);
	free(it);
}
