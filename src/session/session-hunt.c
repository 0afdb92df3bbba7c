/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sides of a hunt; see session-hunt.h.
 */
#include "session/session-state.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "image/elftext.h"
#include "image/image.h"
#include "image/unwind.h"
#include "image/variables.h"
#include "report/frame.h"
#include "report/race.h"
#include "sampling/aim.h"
#include "sampling/where.h"
#include "session/waits.h"

/* Of one that waits: to see in what, and who called that. */
enum { WAIT_FRAMES = 12 };

void session_hunt_init(struct session *session)
{
	session->hunting = (struct session_hunting){
		.quarries = VEC_INIT(struct session_quarry),
		.waits = VEC_INIT(struct session_wait),
	};
}

static void session_wait_deinit(struct session_wait *wait)
{
	free(wait->variable);
	race_frames_clear(&wait->frames);
	vec_deinit(&wait->frames);
}

/* It has been told. */
static void session_waits_forget(struct session *session, uint32_t side)
{
	struct vec *waits = &session->hunting.waits;

	for (size_t i = waits->count; i-- > 0;) {
		struct session_wait *wait = vec_at(waits, i);

		if (wait->side != side)
			continue;
		session_wait_deinit(wait);
		vec_remove(waits, i);
	}
}

void session_hunt_deinit(struct session *session)
{
	vec_deinit(&session->hunting.quarries);
	for (size_t i = 0; i < session->hunting.waits.count; i++)
		session_wait_deinit(vec_at(&session->hunting.waits, i));
	vec_deinit(&session->hunting.waits);
}

static const struct session_side *session_side_at(const struct session *session,
						  size_t i)
{
	return vec_at(session->config->hunt, i);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The executable, by its name; "": it cannot be told. */
static void session_executable_of(const struct watched_program *program,
				  char *ret, size_t size)
{
	char link[32];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/%d/exe", program->pid);
	length = readlink(link, ret, size - 1);
	ret[length < 0 ? 0 : length] = '\0';
}

bool session_hunt_wants(const struct session *session,
			const struct watched_program *program)
{
	char path[PATH_MAX];

	session_executable_of(program, path, sizeof(path));
	for (size_t i = 0; i < session->config->hunt->count; i++) {
		const struct session_side *side = session_side_at(session, i);

		if (session->hunting.settled & UINT64_C(1) << i)
			continue;
		if (!side->program || !path[0] ||
		    strcmp(last_part(path), last_part(side->program)) == 0)
			return true;
	}
	return false;
}

/* NULL: out of memory. */
static struct session_quarry *session_quarry_of(struct session *session,
						uint32_t program)
{
	struct vec *quarries = &session->hunting.quarries;
	struct session_quarry *quarry;

	for (size_t i = 0; i < quarries->count; i++) {
		quarry = vec_at(quarries, i);
		if (quarry->program == program)
			return quarry;
	}
	quarry = vec_append(quarries);
	if (quarry)
		*quarry = (struct session_quarry){ .program = program };
	return quarry;
}

static bool module_is_of(const struct module *module, const struct where *where)
{
	const char *build = module->text ? elftext_build_id(module->text)
					 : NULL;

	if (!module->text || module->vdso ||
	    !where_is_module(where, module->path, elftext_soname(module->text),
			     module->main))
		return false;
	return !where->build_id ||
	       (build && strcmp(build, where->build_id) == 0);
}

/* NULL: no module that is there has it. */
static struct module *session_module_of(const struct watched_program *program,
					const struct where *where)
{
	const struct vec *modules = image_modules(program->image);

	for (size_t i = 0; i < modules->count; i++) {
		struct module *module = *(struct module **)vec_at(modules, i);

		if (module_is_of(module, where))
			return module;
	}
	return NULL;
}

/* The instruction, as the tracer wants it; *ret_found: it is there. */
static struct error *session_hunt_site(struct watched_program *program,
				       const struct where *where,
				       struct wire_site *ret, bool *ret_found)
{
	struct module *module = session_module_of(program, where);
	struct vec ids = VEC_INIT(uint64_t);
	struct aim aim;
	struct error *err;

	*ret_found = false;
	if (!module)
		return NULL;
	err = aim_module(&program->set, module, where, &ids, &aim);
	if (err)
		return err;
	if (ids.count > 0)
		*ret_found = sampleset_describe(
			&program->set, *(uint64_t *)vec_at(&ids, 0), ret);
	if (*ret_found) {
		ret->id |= WIRE_AIMED;
		ret->program = program->id;
	}
	aim_deinit(&aim);
	vec_deinit(&ids);
	return NULL;
}

/* Those that are not there have no breakpoint: the watch sees them too. */
static struct error *session_hunt_partners(struct watched_program *program,
					   const struct vec *partners,
					   struct wire_hunt *wire)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < partners->count &&
			   wire->partner_count < WIRE_HUNT_PARTNERS;
	     i++) {
		bool found;

		err = session_hunt_site(program, vec_at(partners, i),
					&wire->partners[wire->partner_count],
					&found);
		wire->partner_count += !err && found;
	}
	return err;
}

/* False: the module of a frame is not there yet, so that nothing was executed. */
static bool session_hunt_stack(const struct watched_program *program,
			       const struct session_side *side,
			       struct wire_hunt *wire)
{
	for (size_t i = 0;
	     i < side->stack->count && wire->stack_count < WIRE_HUNT_STACK;
	     i++) {
		const struct where *where = vec_at(side->stack, i);
		const struct module *module = session_module_of(program, where);

		if (!module)
			return false;
		wire->stack[wire->stack_count++] = module->bias + where->offset;
	}
	return true;
}

/* Of what may differ between two times that the side is found: where it all is. */
static uint64_t session_hunt_digest(const struct wire_hunt *wire)
{
	uint64_t places[3 + WIRE_HUNT_STACK + WIRE_HUNT_PARTNERS] = {
		wire->site.address, wire->partner_count, wire->early_count
	};
	size_t n = 3;

	for (uint32_t i = 0; i < wire->stack_count; i++)
		places[n++] = wire->stack[i];
	for (uint32_t i = 0; i < wire->partner_count; i++)
		places[n++] = wire->partners[i].address;
	return hash_blocks(places, sizeof(places)) | 1;
}

/* What was sent of the side before, if it is as it was then, need not be again. */
static void session_hunt_tell(struct session *session,
			      struct session_quarry *quarry,
			      const struct wire_hunt *wire)
{
	uint64_t digest = session_hunt_digest(wire);

	if (digest == quarry->digests[wire->side] ||
	    !channel_send(&session->channel, WIRE_HUNT, wire, sizeof(*wire)))
		return;
	quarry->sent |= UINT64_C(1) << wire->side;
	quarry->digests[wire->side] = digest;
	log_debug(LOG_DETECT, "side %u is at 0x%llx, with %u partners",
		  wire->side, (unsigned long long)wire->site.address,
		  wire->partner_count);
}

/* If the program has it. */
static struct error *session_hunt_send(struct session *session,
				       struct watched_program *program,
				       struct session_quarry *quarry,
				       size_t number)
{
	bool found;
	const struct session_side *side = session_side_at(session, number);
	struct wire_hunt wire = side->wire;
	struct error *err;

	wire.side = (uint32_t)number;
	err = session_hunt_site(program, &side->where, &wire.site, &found);
	if (err || !found || !session_hunt_stack(program, side, &wire))
		return err;
	err = session_hunt_partners(program, side->partners, &wire);
	wire.early_count = wire.partner_count;
	if (!err)
		err = session_hunt_partners(program, side->busy, &wire);
	wire.unlisted |= wire.partner_count <
			 side->partners->count + side->busy->count;
	if (!err)
		session_hunt_tell(session, quarry, &wire);
	return err;
}

void session_hunt_forget(struct session *session, uint32_t program)
{
	struct vec *quarries = &session->hunting.quarries;

	for (size_t i = 0; i < quarries->count; i++) {
		struct session_quarry *quarry = vec_at(quarries, i);

		if (quarry->program == program)
			memset(quarry->digests, 0, sizeof(quarry->digests));
	}
}

static struct error *session_hunt_program(struct session *session,
					  struct watched_program *program)
{
	struct session_quarry *quarry = session_quarry_of(session, program->id);
	struct error *err = NULL;

	if (!quarry)
		return error_nomem;
	for (size_t i = 0; !err && i < session->config->hunt->count; i++) {
		uint64_t over = session->hunting.settled |
				(quarry->sent & session->hunting.told);

		if (!(over & UINT64_C(1) << i))
			err = session_tolerate(
				session,
				session_hunt_send(session, program, quarry, i));
	}
	return err;
}

/* All that is loaded is there, since the program waits for it. */
static struct error *session_hunt_join(struct session *session,
				       struct watched_program *program)
{
	struct vec gone = VEC_INIT(struct wire_range);
	struct error *err = sampleset_sync(&program->set, UINT64_MAX, &gone);

	session_forget(session, program->id, &gone);
	if (gone.count > 0)
		session_hunt_forget(session, program->id);
	vec_deinit(&gone);
	return err;
}

struct error *session_hunt(struct session *session)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < session->watched.programs.count; i++) {
		struct watched_program *program =
			watched_at(&session->watched, i);
		bool waits = program->startup_ns != 0;

		if (!watched_is_mapped(program) || !program->threaded)
			continue;
		if (waits)
			err = session_hunt_join(session, program);
		/* later, libraries may have been loaded */
		if (!err && (waits || sampleset_take_module(&program->set)))
			err = session_hunt_program(session, program);
		if (waits)
			session_end_startup(session, program);
	}
	return err;
}

/* The variable of a futex; *ret stays NULL if it has none with a name. */
static struct error *session_wait_variable(struct image *image,
					   const struct wire_hunt_wait *wire,
					   char **ret)
{
	struct data_name name;
	struct error *err;

	if (wire->call != SYS_futex)
		return NULL;
	err = variables_name(image, wire->pid, wire->argument, sizeof(uint32_t),
			     &name);
	if (err)
		return err;
	*ret = name.name;
	name.name = NULL;
	data_name_deinit(&name);
	return NULL;
}

/* Its registers but these two are not known: it is not stopped. */
static struct error *session_wait_frames(struct image *image,
					 const struct wire_hunt_wait *wire,
					 struct vec *frames)
{
	struct unwind_input input = {
		.tid = wire->tid,
		.regs = { .rip = wire->pc },
		.stack_address = wire->sp,
		.stack = wire->stack,
		.stack_size = wire->stack_size,
	};
	struct unwind_frame found[WAIT_FRAMES];
	struct error *err;
	size_t count;

	input.regs.gpr[X86_RSP] = wire->sp;
	err = unwind_frames(image, &input, found, WAIT_FRAMES, &count);
	return err ? err : conflict_describe_stack(image, found, count, frames);
}

struct error *session_hunt_wait(struct session *session,
				const struct wire_hunt_wait *wire)
{
	struct watched_program *program =
		watched_program(&session->watched, wire->program);
	struct session_wait *wait = vec_append(&session->hunting.waits);
	struct error *err;

	if (!wait)
		return error_nomem;
	*wait = (struct session_wait){
		.side = wire->side,
		.other = wire->other,
		.state = wire->state,
		.call = wire->call,
		.frames = VEC_INIT(struct race_frame),
	};
	if (wire->state != WIRE_OTHER_WAITS || wire->call < 0 || !program)
		return NULL;
	err = session_wait_variable(program->image, wire, &wait->variable);
	return err ? err
		   : session_wait_frames(program->image, wire, &wait->frames);
}

/* What another program of the command cannot make good. */
static bool hunt_is_settled(const struct wire_hunted *news)
{
	return news->end == WIRE_HUNT_MET || news->end == WIRE_HUNT_QUIET ||
	       news->end == WIRE_HUNT_ALONE;
}

/* The hold is over. */
static void session_side_over(struct session *session,
			      const struct wire_hunted *news)
{
	uint64_t bit = UINT64_C(1) << news->side;

	session->hunting.told |= bit;
	if (hunt_is_settled(news))
		session->hunting.settled |= bit;
}

void session_hunted(struct session *session, const struct wire_hunted *news)
{
	size_t count = session->config->hunt->count;
	uint64_t all = count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
	struct race *race = NULL;

	if (news->side >= count)
		return;
	/* the conflict came right before */
	if (news->end == WIRE_HUNT_MET)
		race = session->races.met;
	/* what is met next, there or at another side, is told apart from it */
	if (race) {
		race->target = session_side_at(session, news->side)->id;
		session_races_forget(session);
	}
	if (!news->more)
		session_side_over(session, news);
	if (session->sink->hunted)
		session->sink->hunted(session->sink->context, news, race,
				      &session->hunting.waits);
	session_waits_forget(session, news->side);
	if (session->hunting.settled == all)
		session_stop(session);
}
