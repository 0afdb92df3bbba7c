/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An access that was made already is made again; see trial-parts.h.
 */
#include "replay/trial-parts.h"

#include <string.h>

#include "base/error.h"
#include "replay/instance-parts.h"
#include "replay/processor-parts.h"
#include "replay/redo.h"
#include "x86/decode-parts.h"

/* What is being put back. */
struct redo {
	struct instance *instance;
	const struct replay_side *side;
	int thread;
	struct replay_context captured;
	/* the bytes of the access */
	uint8_t before[X86_ACCESS_MAX], after[X86_ACCESS_MAX];
	struct replay_outcome outcome;
};

/* Of the access, what is known of the time before it. */
static void redo_find_before(struct redo *redo)
{
	const struct replay_question *question = redo->instance->question;
	uint64_t raced = question->address;
	const struct mem_access *access = &redo->side->access;

	memcpy(redo->before, redo->after, sizeof(redo->before));
	if (!(access->kind & ACCESS_WRITE))
		return;
	if (redo->thread == 1)
		raced += redo->instance->processor->instance.shift;
	for (uint32_t i = 0; i < access->size; i++) {
		uint64_t offset = access->address + i - raced;

		if (offset < question->size)
			redo->before[i] = question->before[offset];
	}
}

/* The general registers that the instruction writes. */
static uint32_t redo_written(const struct redo *redo)
{
	struct processor *processor = redo->instance->processor;
	uint8_t bytes[X86_INSN_MAX];
	uint32_t set;

	if (processor_read_text(
		    processor_space(processor, redo->thread), redo->side->rip,
		    bytes, redo->side->insn.length) < redo->side->insn.length)
		return 0;
	set = decode_written(processor->decoder, bytes, redo->side->insn.length,
			     redo->side->rip);
	return set == UINT32_MAX ? 0 : set;
}

static bool redo_has_led(const struct redo *redo)
{
	const struct processor *processor = redo->instance->processor;
	const struct mem_access *access = &redo->side->access;
	uint8_t now[X86_ACCESS_MAX];

	return redo->outcome.complete &&
	       outcome_read(&redo->outcome, processor,
			    processor_space_of(processor, redo->thread),
			    access->address, now, access->size) &&
	       memcmp(now, redo->after, access->size) == 0 &&
	       trial_same_registers(&redo->outcome.contexts[redo->thread],
				    &redo->captured);
}

/* A comparison and its branch may have been one step. */
static struct error *redo_try(struct redo *redo,
			      const struct replay_context *from, bool *ret)
{
	struct error *err = NULL;

	*ret = false;
	for (unsigned int count = 1; count <= 2 && !*ret && !err; count++) {
		err = trial_run(redo->instance->processor, redo->thread, from,
				count, &redo->outcome);
		*ret = !err && redo_has_led(redo);
	}
	return err;
}

static struct error *redo_try_all(struct redo *redo, bool *ret)
{
	const struct redo_access access = {
		.insn = &redo->side->insn,
		.rip = redo->side->rip,
		.access = &redo->side->access,
		.written = redo_written(redo),
		.before = redo->before,
		.after = redo->after,
	};
	struct x86_registers guesses[REDO_MAX];
	size_t count = redo_guess(&access, &redo->captured.regs, guesses);
	struct replay_context from = redo->captured;
	struct error *err = NULL;

	for (size_t i = 0; i < count && !*ret && !err; i++) {
		from.regs = guesses[i];
		err = redo_try(redo, &from, ret);
	}
	if (*ret)
		redo->instance->processor->starts[redo->thread] = from;
	return err;
}

static struct error *redo_run(struct redo *redo, bool *ret)
{
	struct processor *processor = redo->instance->processor;
	const struct mem_access *access = &redo->side->access;
	struct error *err;

	if (access->size > X86_ACCESS_MAX ||
	    !pagecache_read(processor_pages(processor, redo->thread),
			    access->address, redo->after, access->size))
		return NULL;
	redo_find_before(redo);
	trial_set_memory(processor, redo->thread, access->address, redo->before,
			 access->size, &err);
	if (!err)
		err = redo_try_all(redo, ret);
	if (!err && !*ret)
		trial_set_memory(processor, redo->thread, access->address,
				 redo->after, access->size, &err);
	return err;
}

struct error *trial_redo(struct instance *instance, int thread, bool *ret)
{
	struct redo redo = {
		.instance = instance,
		.side = &instance->question->sides[thread],
		.thread = thread,
		.captured = instance->processor->starts[thread],
	};
	struct error *err;

	*ret = false;
	outcome_init(&redo.outcome);
	err = redo_run(&redo, ret);
	outcome_deinit(&redo.outcome);
	return err;
}
