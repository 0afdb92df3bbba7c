/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A conflict in names; see conflict.h.
 */
#include "conflict/conflict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/syscalls.h"
#include "conflict/conflict-variable.h"
#include "conflict/dispatch.h"
#include "conflict/evidence.h"
#include "conflict/locks.h"
#include "conflict/own-locks.h"
#include "conflict/recursive.h"
#include "image/elftext.h"
#include "image/image.h"
#include "image/symbols.h"
#include "report/doubt.h"
#include "report/race.h"
#include "sampling/scan.h"
#include "x86/decode.h"

/* strdup() that keeps NULL; *failed is set when out of memory. */
static char *copy_string(const char *text, bool *failed)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		*failed = true;
	return copy;
}

/* One frame of names; takes over the strings of `from`. */
static bool describe_frame(struct vec *to, struct code_frame *from)
{
	struct race_frame *frame = vec_append(to);
	bool failed = false;

	if (!frame)
		return false;
	frame->function = take_string(&from->function);
	frame->file = take_string(&from->file);
	frame->folder = take_string(&from->folder);
	frame->line = from->line;
	frame->column = from->column;
	frame->inlined = from->inlined;
	frame->offset = from->offset;
	if (from->module) {
		frame->module = copy_string(from->module->path, &failed);
		if (from->module->text)
			frame->build_id = copy_string(
				elftext_build_id(from->module->text), &failed);
	}
	return !failed;
}

struct error *conflict_describe_stack(struct image *image,
				      const struct unwind_frame *stack,
				      size_t count, struct vec *ret)
{
	struct vec frames = VEC_INIT(struct code_frame);
	struct error *err = NULL;

	for (size_t i = 0; !err && i < count; i++) {
		err = symbols_frames(image, stack[i].pc, stack[i].is_return,
				     &frames);
		for (size_t f = 0; !err && f < frames.count; f++) {
			if (!describe_frame(ret, vec_at(&frames, f)))
				err = error_nomem;
		}
		code_frames_clear(&frames);
	}
	vec_deinit(&frames);
	return err;
}

static char *describe_insn(const struct conflict_side *from, bool *failed)
{
	const uint8_t *bytes;
	size_t size = 0;
	char text[96];

	if (from->kernel)
		return copy_string("syscall", failed);
	if (!from->module || from->insn_address == 0)
		return NULL;
	bytes = elftext_bytes(from->module->text,
			      from->insn_address - from->module->bias, &size);
	if (!bytes)
		return NULL;
	decoder_text(from->home->scanner->decoder, bytes, size,
		     from->insn_address - from->module->bias, text,
		     sizeof(text));
	return copy_string(text, failed);
}

static char *describe_syscall(int number, bool *failed)
{
	char text[24];
	const char *name = syscall_name(number);

	if (name)
		return copy_string(name, failed);
	if (number < 0)
		return copy_string("unknown", failed);
	snprintf(text, sizeof(text), "syscall_%d", number);
	return copy_string(text, failed);
}

static bool describe_thread(const struct wire_side *wire,
			    struct race_side *side)
{
	size_t length = wire->path_length < WIRE_PATH_MAX ? wire->path_length
							  : WIRE_PATH_MAX;

	side->pid = wire->pid;
	side->tid = wire->tid;
	side->thread = strndup(wire->name, WIRE_NAME);
	side->thread_path = calloc(length + 1, sizeof(*side->thread_path));
	if (!side->thread || !side->thread_path)
		return false;
	memcpy(side->thread_path, wire->path,
	       length * sizeof(*side->thread_path));
	side->thread_path_length = length;
	return true;
}

/*
 * glibc's clone3 and clone have no CFI behind the system call, since it would
 * be wrong in the child. In the creator they have pushed nothing.
 */
static struct error *creation_callers(struct image *image,
				      struct unwind_input *input,
				      struct unwind_frame *frames,
				      size_t *count)
{
	struct error *err;
	uint64_t caller;
	size_t more;

	if (*count > 1 || input->stack_size < sizeof(caller))
		return NULL;
	memcpy(&caller, input->stack, sizeof(caller));
	if (!image_module_at(image, caller))
		return NULL;
	input->regs.rip = caller;
	input->regs.gpr[X86_RSP] += sizeof(caller);
	err = unwind_frames(image, input, frames + 1,
			    CONFLICT_CREATION_FRAMES - 1, &more);
	if (err)
		return err;
	frames[1].is_return = true;
	*count = 1 + more;
	return NULL;
}

/* What pthread_create(3) does inside is not what one wants to know. */
static bool creation_is_inside(const struct race_frame *frame)
{
	static const char *const names[] = {
		"clone3",	 "__clone3",
		"__GI___clone3", "clone",
		"__clone",	 "__clone_internal",
		"create_thread", "__GI___clone_internal",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (frame->function && strcmp(frame->function, names[i]) == 0)
			return true;
	}
	return false;
}

static void creation_trim(struct vec *frames)
{
	while (frames->count > 1 && creation_is_inside(vec_at(frames, 0)))
		race_frames_drop_first(frames);
}

/* Where the thread was created, and by whom, as far as it was kept. */
static struct error *describe_creation(const struct conflict_side *from,
				       struct race_side *side)
{
	const struct wire_birth *birth = &from->wire->birth;
	struct unwind_input input = {
		.tid = birth->tid,
		.regs = birth->regs,
		.stack_address = birth->stack_address,
		.stack = from->birth_stack,
		.stack_size = birth->stack_size,
	};
	struct unwind_frame frames[CONFLICT_CREATION_FRAMES];
	struct error *err;
	size_t count;

	if (!birth->present)
		return NULL;
	side->creator = birth->tid;
	side->creator_thread = strndup(birth->name, WIRE_NAME);
	if (!side->creator_thread)
		return error_nomem;
	err = unwind_frames(from->home->image, &input, frames,
			    CONFLICT_CREATION_FRAMES, &count);
	if (!err)
		err = creation_callers(from->home->image, &input, frames,
				       &count);
	if (err)
		return err;
	/* rip is after the system call */
	frames[0].is_return = true;
	err = conflict_describe_stack(from->home->image, frames, count,
				      &side->created);
	creation_trim(&side->created);
	return err;
}

static enum race_missing describe_missing(enum atomics_missing missing)
{
	switch (missing) {
	case ATOMICS_MISS_MACRO:
		return RACE_MISSES_MACRO;
	case ATOMICS_MISS_SOURCE:
		return RACE_MISSES_SOURCE;
	case ATOMICS_MISS_DEBUG:
		return RACE_MISSES_DEBUG;
	case ATOMICS_MISS_NOTHING:
		break;
	}
	return RACE_MISSES_NOTHING;
}

/* No line is known of the access, nor of a function inlined there. */
static bool side_has_no_lines(const struct race_side *side)
{
	const struct race_frame *frame;

	if (side->frames.count == 0)
		return true;
	frame = vec_at(&side->frames, 0);
	return !frame->file && frame->line == 0;
}

/* Evidence that takes a look at all of a module, once for a race. */
static bool describe_sync(const struct conflict_side *from,
			  struct race_side *side)
{
	bool no_lines = side_has_no_lines(side);

	if (side->sync || (!no_lines && side->missing != RACE_MISSES_SOURCE &&
			   side->missing != RACE_MISSES_MACRO))
		return true;
	if (no_lines && evidence_helper(from))
		side->sync = strdup("function");
	else if (evidence_locked_elsewhere(from, &side->pattern, !no_lines))
		side->sync = strdup("locked-elsewhere");
	else
		return true;
	return side->sync;
}

static struct error *describe_side(const struct conflict_side *from,
				   struct race_side *side)
{
	bool failed = false;
	struct error *err;

	side->access = from->access.kind;
	side->size = from->access.size;
	side->pattern.used = UINT64_MAX;
	if (!from->wire->present) {
		side->role = RACE_UNKNOWN;
		return NULL;
	}
	side->atomic = from->insn.synchronizes;
	side->address = from->access.address;
	evidence_pattern(from, &side->pattern);
	locks_nearby(from, &side->pattern);
	side->sync = copy_string(from->sync, &failed);
	side->missing = describe_missing(evidence_missing(from));
	if (!describe_thread(from->wire, side))
		return error_nomem;
	side->insn = describe_insn(from, &failed);
	if (from->kernel)
		side->syscall = describe_syscall(from->wire->syscall, &failed);
	if (failed)
		return error_nomem;
	err = conflict_describe_stack(from->home->image, from->frames,
				      from->frame_count, &side->frames);
	if (!err && !describe_sync(from, side))
		err = error_nomem;
	return err ? err : describe_creation(from, side);
}

static bool describe_sync_both(struct race *race, const char *evidence)
{
	for (int i = 0; i < 2; i++) {
		struct race_side *side = &race->sides[i];

		if (!side->sync)
			side->sync = strdup(evidence);
		if (!side->sync)
			return false;
	}
	return true;
}

/* Nothing tells of either side that it is no atomic operation. */
static bool both_may_be_atomic(const struct race *race)
{
	return race->sides[0].missing != RACE_MISSES_NOTHING &&
	       (race->sides[1].missing != RACE_MISSES_NOTHING ||
		race->sides[1].role == RACE_UNKNOWN);
}

/* Evidence that both sides give together. */
static bool describe_both(const struct conflict *conflict, struct race *race)
{
	if (race->sides[0].sync && race->sides[1].sync)
		return true;
	if (dispatch_pointer(conflict))
		race->sides[0].pattern.dispatch =
			race->sides[1].pattern.dispatch = true;
	if (recursive_owner(conflict))
		return describe_sync_both(race, "lock-owner");
	if (both_may_be_atomic(race) && evidence_processor(conflict))
		return describe_sync_both(race, "processor");
	return true;
}

static enum race_evidence describe_evidence(uint32_t evidence, bool provoked)
{
	if (provoked && evidence != WIRE_VALUE_CHANGE)
		return EVIDENCE_PROVOKED;
	switch (evidence) {
	case WIRE_COLLISION:
		return EVIDENCE_COLLISION;
	case WIRE_VALUE_CHANGE:
		return EVIDENCE_VALUE_CHANGE;
	default:
		return EVIDENCE_WATCHPOINT;
	}
}

/*
 * The overlap's bytes of those the stalled access was going to touch; both
 * arrays, of X86_ACCESS_MAX bytes, are zero beyond them.
 */
static void describe_values(const struct conflict *conflict, uint8_t *before,
			    uint8_t *after)
{
	uint64_t skip =
		conflict->overlap.address - conflict->sides[0].access.address;

	memset(before, 0, X86_ACCESS_MAX);
	memset(after, 0, X86_ACCESS_MAX);
	if (skip >= X86_ACCESS_MAX ||
	    conflict->overlap.size > X86_ACCESS_MAX - skip)
		return;
	memcpy(before, conflict->wire.before + skip, conflict->overlap.size);
	memcpy(after, conflict->wire.after + skip, conflict->overlap.size);
}

bool conflict_count(const struct conflict *conflict, struct race *race)
{
	struct race again = { .size = conflict->overlap.size,
			      .last_time = conflict->wire.wall_ns };

	describe_values(conflict, again.before, again.after);
	return race_see_again(race, &again);
}

/*
 * Of a number that both sides only add to: whether anything depends on it, which
 * another race shows only if that is met too.
 */
static bool describe_decides(const struct conflict *conflict,
			     const struct race *race)
{
	return race->sides[0].pattern.change == PATTERN_ADD &&
	       race->sides[1].pattern.change == PATTERN_ADD &&
	       evidence_decided_elsewhere(&conflict->sides[0]);
}

static struct error *describe_all(const struct conflict_context *context,
				  const struct conflict *conflict,
				  struct race *race)
{
	bool failed = false;
	struct error *err = NULL;

	race->time = conflict->wire.wall_ns;
	race->last_time = race->time;
	race->pid = conflict->wire.sides[0].pid;
	race->address = conflict->overlap.address;
	race->size = conflict->overlap.size < X86_ACCESS_MAX
			     ? conflict->overlap.size
			     : X86_ACCESS_MAX;
	race->evidence =
		describe_evidence(conflict->wire.evidence, context->provoked);
	race->stall_ns = conflict->wire.stall_ns;
	race->elapsed_ns = conflict->wire.elapsed_ns;
	race->verdict = VERDICT_SUSPECT; /* until it is judged */
	race->program = copy_string(context->program, &failed);
	race->backend = copy_string(context->backend, &failed);
	describe_values(conflict, race->before, race->after);
	if (!race_add_values(race, race->before, race->after, 1))
		failed = true;
	race->sides[0].role = RACE_STALLED;
	/* what `provoked' does not tell: both stand before their accesses */
	race->sides[1].role = context->provoked && conflict->wire.evidence ==
							   WIRE_COLLISION
				      ? RACE_STALLED
				      : RACE_RACING;
	for (int i = 0; !failed && !err && i < 2; i++)
		err = describe_side(&conflict->sides[i], &race->sides[i]);
	for (int i = 0; !failed && !err && i < 2; i++)
		err = own_locks_describe(conflict, i, &race->sides[i]);
	locks_of_sides(conflict,
		       (struct code_pattern *[]){ &race->sides[0].pattern,
						  &race->sides[1].pattern });
	race->decides = describe_decides(conflict, race);
	if (!err && !failed && !describe_both(conflict, race))
		failed = true;
	/* as the stalled side's process has it */
	race->sides[1].address -= conflict->wire.shift;
	if (!failed && !err)
		err = conflict_variable(context, conflict, &race->variable);
	if (!err && (failed || !race_fingerprint(race)))
		err = error_nomem;
	return err;
}

struct error *conflict_describe(const struct conflict_context *context,
				const struct conflict *conflict,
				struct race **ret)
{
	struct race *race = calloc(1, sizeof(*race));
	struct error *err;

	if (!race)
		return error_nomem;
	race_init(race);
	err = describe_all(context, conflict, race);
	if (err) {
		race_free(race);
		return err;
	}
	*ret = race;
	return NULL;
}
