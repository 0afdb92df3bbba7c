/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What samples and conflicts teach about locations; see session-state.h.
 */
#include "session/session-state.h"

#include "base/clock.h"
#include "base/error.h"
#include "image/elftext.h"
#include "image/image.h"

enum {
	/* hits to learn from before each stall, at most; one takes so long */
	PROBES_MAX = 8,
	PROBE_NS = 100 * 1000,
	/* draws in one go */
	GUIDE_TRIES = 16,
};

/* After one that could not be armed now: another time. */
static const uint64_t GUIDE_PAUSE_NS = 5 * CLOCK_NS_PER_MS;
/* A site that no module has may be of one that is loaded later. */
static const uint64_t GUIDE_MISSING_NS = CLOCK_NS_PER_S;

bool session_learn_init(struct session *session)
{
	const struct session_config *config = session->config;
	struct session_learning *learning = &session->learning;

	learning->guides = (struct vec)VEC_INIT(struct session_guide);
	learning->revisits = REVISITS_INIT;
	learned_init(&learning->own);
	return learn_init(&learning->learn,
			  config->learned ? config->learned : &learning->own,
			  config->seed);
}

void session_learn_deinit(struct session *session)
{
	learn_deinit(&session->learning.learn);
	learned_deinit(&session->learning.own);
	revisits_deinit(&session->learning.revisits);
	vec_deinit(&session->learning.guides);
}

static struct session_guide *session_guide_of(struct session *session,
					      uint32_t number)
{
	while (session->learning.guides.count <= number) {
		if (!vec_append(&session->learning.guides))
			return NULL;
	}
	return vec_at(&session->learning.guides, number);
}

/* The number of a place in what is learned; UINT32_MAX: it has none. */
static uint32_t session_place(struct session *session,
			      const struct module *module, uint64_t offset)
{
	struct learned *learned = session->learning.learn.learned;
	uint32_t number;

	if (!module || !module->text)
		return UINT32_MAX;
	number = learned_module(learned, module->path,
				elftext_build_id(module->text));
	return number == UINT32_MAX ? UINT32_MAX
				    : learned_site(learned, number, offset);
}

bool session_learns(const struct session_config *config)
{
	return config->guided || config->learned;
}

struct error *session_learn_sample(struct session *session,
				   const struct watched_program *program,
				   const struct wire_sample *sample)
{
	struct learn_hit hit = {
		.event = { .pid = sample->pid,
			   .tid = sample->tid,
			   .access = sample->access },
		.stalled = sample->outcome == WIRE_QUIET ||
			   sample->outcome == WIRE_RACED,
		.raced = sample->outcome == WIRE_RACED,
	};
	struct sampleset_place place;
	struct session_guide *guide;

	if (!session_learns(session->config) ||
	    !sampleset_place(&program->set, sample->id, &place))
		return NULL;
	hit.event.site = session_place(session, place.module, place.offset);
	if (hit.event.site == UINT32_MAX)
		return NULL;
	guide = session_guide_of(session, hit.event.site);
	if (!guide)
		return error_nomem;
	if (!guide->out) {
		guide->id = sample->id;
		guide->program = program->id;
	}
	return learn_hit(&session->learning.learn, &hit) ? NULL : error_nomem;
}

bool session_learn_places(struct session *session,
			  const struct conflict *conflict, uint32_t ret[2])
{
	for (int i = 0; i < 2; i++) {
		const struct conflict_side *side = &conflict->sides[i];

		if (!side->module || side->insn_address == 0 || side->kernel)
			return false;
		ret[i] = session_place(session, side->module,
				       side->insn_address - side->module->bias);
		if (ret[i] == UINT32_MAX)
			return false;
	}
	return true;
}

struct error *session_learn_race(struct session *session,
				 const struct conflict *conflict)
{
	uint32_t sites[2];

	if (!session_learns(session->config) ||
	    !session_learn_places(session, conflict, sites))
		return NULL;
	return learn_race(&session->learning.learn, sites[0], sites[1])
		       ? NULL
		       : error_nomem;
}

/* Look for the place in all programs. */
static struct error *session_guide_find(struct session *session,
					uint32_t number,
					struct session_guide *guide)
{
	const struct learned *learned = session->learning.learn.learned;
	const struct learned_site *site = learned_site_at(learned, number);
	const struct learned_module *module =
		learned_module_at(learned, site->module);
	struct error *err = NULL;

	for (size_t i = 0;
	     !err && guide->id == 0 && i < session->watched.programs.count;
	     i++) {
		struct watched_program *program =
			watched_at(&session->watched, i);

		guide->program = program->id;
		if (watched_is_mapped(program))
			err = sampleset_find_site(&program->set, module->path,
						  module->build_id,
						  site->offset, &guide->id);
	}
	return err;
}

/*
 * The site as the tracer wants it, and counted as being there; id 0: there is
 * none to be armed now.
 */
static struct error *session_guide_site(struct session *session,
					uint32_t number, uint64_t now,
					struct wire_site *ret)
{
	struct session_guide *guide = session_guide_of(session, number);
	struct watched_program *program;
	struct error *err = NULL;

	ret->id = 0;
	if (!guide)
		return error_nomem;
	if (guide->out || now < guide->look_ns)
		return NULL;
	if (guide->id == 0)
		err = session_guide_find(session, number, guide);
	if (err)
		return err;
	program = watched_program(&session->watched, guide->program);
	if (guide->id == 0 || !program || !watched_is_mapped(program) ||
	    session_is_aimed(session, program->id, guide->id) ||
	    !sampler_lives(&program->set.sampler, guide->id) ||
	    !sampleset_describe(&program->set, guide->id, ret)) {
		ret->id = 0;
		guide->id = 0;
		guide->look_ns = now + GUIDE_MISSING_NS;
		return NULL;
	}
	ret->id = guide->id | WIRE_GUIDED;
	ret->program = guide->program;
	guide->out = true;
	session->learning.guided[session->learning.out++] = number;
	return NULL;
}

/* What was armed in text that has gone, or a process that has, never returns. */
static void session_guides_check(struct session *session, uint64_t now)
{
	uint32_t kept = 0;

	if (session->learning.out < SESSION_GUIDED ||
	    now < session->learning.check_ns)
		return;
	session->learning.check_ns = now + GUIDE_MISSING_NS;
	for (uint32_t i = 0; i < session->learning.out; i++) {
		uint32_t number = session->learning.guided[i];
		struct session_guide *guide =
			vec_at(&session->learning.guides, number);
		const struct watched_program *program =
			watched_program(&session->watched, guide->program);

		guide->out = program && watched_is_mapped(program) &&
			     sampler_lives(&program->set.sampler, guide->id);
		if (guide->out)
			session->learning.guided[kept++] = number;
	}
	session->learning.out = kept;
}

/* They could not be sent. */
static void session_guides_take_back(struct session *session,
				     const struct wire_site *sites,
				     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct wire_returned returned = { .id = sites[i].id,
						  .program = sites[i].program,
						  .why = WIRE_LIFTED };

		session_guide_returned(session, &returned);
	}
}

/* Where the next stall beside those that are drawn from all is; UINT32_MAX: none. */
static uint32_t session_guide_draw(struct session *session)
{
	uint32_t number = session_revisit_draw(session);

	if (number == UINT32_MAX && session->config->guided)
		number = learn_draw(&session->learning.learn);
	return number;
}

/* Does the tracer get sites beside those that are drawn from all? */
static bool session_guides(const struct session_config *config)
{
	return (config->guided && !config->tracing.text_untouched) ||
	       session_revisits(config);
}

struct error *session_guide(struct session *session, uint64_t now)
{
	struct wire_site sites[GUIDE_TRIES];
	struct error *err = NULL;
	bool drawn = session->config->guided;
	size_t count = 0;

	if (!session_guides(session->config) || now < session->learning.next_ns)
		return NULL;
	session_guides_check(session, now);
	for (int i = 0;
	     !err && i < GUIDE_TRIES && session->learning.out < SESSION_GUIDED;
	     i++) {
		uint32_t number = session_guide_draw(session);

		if (number == UINT32_MAX)
			break;
		drawn = true;
		err = session_guide_site(session, number, now, &sites[count]);
		count += !err && sites[count].id != 0;
	}
	if (count == 0 && drawn)
		session->learning.next_ns = now + GUIDE_PAUSE_NS;
	if (count > 0 && !channel_send(&session->channel, WIRE_SITES, sites,
				       count * sizeof(*sites)))
		session_guides_take_back(session, sites, count);
	return err;
}

uint64_t session_guide_due(const struct session *session)
{
	if (!session->config->guided ||
	    session->config->tracing.text_untouched ||
	    learn_promising(&session->learning.learn) <= session->learning.out)
		return UINT64_MAX;
	return session->learning.out < SESSION_GUIDED
		       ? session->learning.next_ns
		       : session->learning.check_ns;
}

void session_guide_returned(struct session *session,
			    const struct wire_returned *returned)
{
	uint64_t id = WIRE_ID(returned->id);

	for (uint32_t i = 0; i < session->learning.out; i++) {
		struct session_guide *guide = vec_at(
			&session->learning.guides, session->learning.guided[i]);

		if (guide->id == id && guide->program == returned->program) {
			guide->out = false;
			session->learning.guided[i] =
				session->learning
					.guided[--session->learning.out];
			break;
		}
	}
	session->learning.next_ns = clock_now_ns();
	if (!wire_was_hit(returned->why))
		session->learning.next_ns += GUIDE_PAUSE_NS;
}

/* The longer stalls are, the less hits cost beside them. */
uint32_t session_probes(const struct session_config *config)
{
	uint64_t probes = config->effort.params.stall_max_ns / PROBE_NS;

	if (!config->guided || config->tracing.text_untouched)
		return 0;
	return probes < PROBES_MAX ? (uint32_t)probes : PROBES_MAX;
}
