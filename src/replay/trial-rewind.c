/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Back to the load of a value that is about to be stored; see trial-parts.h. Which
 * instructions those are is guessed from the bytes before the store, and then
 * tried: they count if they lead from the load to the very registers and memory
 * that were captured, or would with another number loaded.
 */
#include "replay/trial-parts.h"

#include <string.h>

#include "base/error.h"
#include "replay/instance-parts.h"
#include "replay/liveout.h"
#include "replay/processor-parts.h"
#include "x86/decode.h"
#include "x86/effective.h"

enum {
	REWIND_BYTES = 96, /* before the store */
	REWIND_INSNS = 24,
	REWIND_TRIES = 16,
	/* numbers that could have been loaded, if not what is there */
	REWIND_NUMBERS = 3,
	REWIND_WORD = 8,
};

/*
 * Instructions that end before the store: straight-line, or with branches that are
 * not taken, as where a bit is set unless it is set already. A trial in which one is
 * taken does not lead to the store.
 */
struct chain {
	struct insn_access insns[REWIND_INSNS];
	uint64_t addresses[REWIND_INSNS];
	unsigned int count;
};

struct rewind {
	struct instance *instance;
	struct processor *processor;
	const struct mem_access *access; /* of the store */
	uint64_t store; /* its instruction */
	int thread;
	struct replay_context captured;
	uint64_t before; /* the bytes there */
	uint8_t text[REWIND_BYTES];
	size_t size; /* of the text, which ends before the store */
	unsigned int tries;
	struct replay_outcome alone; /* of the store by itself */
	struct replay_outcome slice;
};

static bool rewind_is_plain(const struct insn_access *insn)
{
	bool goes_on = insn->flow == X86_FLOW_NEXT ||
		       (insn->flow == X86_FLOW_BRANCH && !insn->indirect);

	return goes_on && insn->refusal == X86_OK && !insn->synchronizes &&
	       insn->rep == X86_REP_NONE;
}

/* Decode from this distance before the store; false: it is not met. */
static bool rewind_decode(const struct rewind *rewind, size_t back,
			  struct chain *ret)
{
	size_t at = rewind->size - back;

	for (ret->count = 0; at < rewind->size; ret->count++) {
		struct insn_access *insn = &ret->insns[ret->count];

		if (ret->count == REWIND_INSNS)
			return false;
		ret->addresses[ret->count] =
			rewind->store - (rewind->size - at);
		decoder_decode(rewind->processor->decoder, rewind->text + at,
			       rewind->size - at, ret->addresses[ret->count],
			       insn);
		if (!rewind_is_plain(insn))
			return false;
		at += insn->length;
	}
	return at == rewind->size;
}

/* With these registers, before the instruction, does it load what is stored? */
static bool rewind_loads(const struct rewind *rewind,
			 const struct insn_access *insn,
			 const struct x86_registers *regs)
{
	struct mem_access accesses[X86_OPERANDS_MAX];

	return effective_accesses(insn, regs, accesses) == 1 &&
	       accesses[0].address == rewind->access->address;
}

/* May it be the load, whatever is in its registers? The stack is the same. */
static bool rewind_may_load(const struct rewind *rewind,
			    const struct chain *chain, unsigned int i)
{
	const struct insn_access *insn = &chain->insns[i];
	const struct mem_operand *operand = &insn->operands[0];
	struct x86_registers regs = rewind->captured.regs;

	if (insn->operand_count != 1 || operand->stack ||
	    operand->kind != ACCESS_READ ||
	    operand->size != rewind->access->size)
		return false;
	if (operand->index != X86_REG_NONE ||
	    (operand->base < X86_RIP && operand->base != X86_RSP &&
	     operand->base != X86_RBP))
		return true;
	regs.rip = chain->addresses[i];
	return rewind_loads(rewind, insn, &regs);
}

/* Do the store by itself and the instructions from the load lead to the same? */
static struct error *rewind_same(struct rewind *rewind, bool *ret)
{
	struct vec differing = VEC_INIT(struct liveout);
	struct error *err = liveout_compare(rewind->processor, &rewind->alone,
					    &rewind->slice, &differing);

	*ret = !err && rewind->alone.complete && rewind->slice.complete &&
	       differing.count == 0 &&
	       trial_same_registers(&rewind->alone.contexts[rewind->thread],
				    &rewind->slice.contexts[rewind->thread]);
	vec_deinit(&differing);
	return err;
}

static uint64_t rewind_stored(const struct rewind *rewind,
			      const struct replay_outcome *outcome)
{
	uint64_t number = 0;

	outcome_read(outcome, rewind->processor,
		     processor_space_of(rewind->processor, rewind->thread),
		     rewind->access->address, &number, rewind->access->size);
	return number;
}

/* With this number in memory. */
static struct error *rewind_run_with(struct rewind *rewind, uint64_t number,
				     const struct replay_context *load,
				     unsigned int count)
{
	struct error *err;

	trial_set_memory(rewind->processor, rewind->thread,
			 rewind->access->address, &number, rewind->access->size,
			 &err);
	if (!err)
		err = trial_run(rewind->processor, rewind->thread,
				&rewind->captured, 1, &rewind->alone);
	if (!err)
		err = trial_run(rewind->processor, rewind->thread, load, count,
				&rewind->slice);
	return err;
}

/*
 * What others have stored since is there now: the number that was loaded is one
 * with which the pending store comes about.
 */
static struct error *rewind_try_numbers(struct rewind *rewind,
					const struct replay_context *load,
					unsigned int count, bool *ret)
{
	uint64_t made = rewind_stored(rewind, &rewind->slice);
	uint64_t pending = rewind_stored(rewind, &rewind->alone);
	const uint64_t numbers[REWIND_NUMBERS] = {
		rewind->before + (pending - made),
		rewind->before ^ (pending ^ made),
		pending,
	};
	struct error *err = NULL;

	for (int i = 0; i < REWIND_NUMBERS && !*ret && !err; i++) {
		err = rewind_run_with(rewind, numbers[i], load, count);
		if (!err)
			err = rewind_same(rewind, ret);
	}
	return err;
}

/* Is what is stored made of what is loaded? */
static struct error *rewind_depends(struct rewind *rewind,
				    const struct replay_context *load,
				    unsigned int count, bool *ret)
{
	uint64_t pending = rewind_stored(rewind, &rewind->alone);
	const uint64_t others[] = { ~rewind->before, rewind->before + 1,
				    pending - 1 };
	struct error *err = NULL;

	*ret = false;
	for (size_t i = 0;
	     i < sizeof(others) / sizeof(others[0]) && !*ret && !err; i++) {
		err = rewind_run_with(rewind, others[i], load, count);
		*ret = !err && rewind->slice.complete &&
		       rewind_stored(rewind, &rewind->slice) != pending;
	}
	return err;
}

/* From the load with these registers, by `count' instructions to the store. */
static struct error *rewind_try_load(struct rewind *rewind,
				     const struct replay_context *load,
				     unsigned int count, bool *ret)
{
	struct error *err =
		rewind_run_with(rewind, rewind->before, load, count);

	if (!err)
		err = rewind_same(rewind, ret);
	if (!err && !*ret && rewind->alone.complete && rewind->slice.complete)
		err = rewind_try_numbers(rewind, load, count, ret);
	if (!err && *ret)
		err = rewind_depends(rewind, load, count, ret);
	if (err)
		return err;
	trial_set_memory(rewind->processor, rewind->thread,
			 rewind->access->address, &rewind->before,
			 rewind->access->size, &err);
	return err;
}

/* The chain up to its load, to have the registers there; and on. */
static struct error *rewind_try(struct rewind *rewind,
				const struct chain *chain, unsigned int load,
				bool *ret)
{
	struct replay_context from = rewind->captured;
	struct error *err = NULL;

	from.regs.rip = chain->addresses[0];
	if (load > 0) {
		err = trial_run(rewind->processor, rewind->thread, &from, load,
				&rewind->slice);
		if (err || !rewind->slice.complete)
			return err;
		from = rewind->slice.contexts[rewind->thread];
	}
	if (!rewind_loads(rewind, &chain->insns[load], &from.regs))
		return NULL;
	err = rewind_try_load(rewind, &from, chain->count - load + 1, ret);
	if (err || !*ret)
		return err;
	rewind->processor->starts[rewind->thread] = from;
	rewind->processor->accesses[rewind->thread] = (struct thread_access){
		.length = chain->count - load + 1,
	};
	return NULL;
}

static struct error *rewind_try_chain(struct rewind *rewind,
				      const struct chain *chain, bool *ret)
{
	struct error *err = NULL;

	for (unsigned int i = 0; i < chain->count && !*ret && !err; i++) {
		if (rewind->tries < REWIND_TRIES &&
		    rewind_may_load(rewind, chain, i)) {
			rewind->tries++;
			err = rewind_try(rewind, chain, i, ret);
		}
	}
	return err;
}

static struct error *rewind_try_all(struct rewind *rewind, bool *ret)
{
	struct error *err = NULL;

	for (size_t back = 1; back <= rewind->size && !*ret && !err; back++) {
		struct chain chain;

		if (rewind_decode(rewind, back, &chain))
			err = rewind_try_chain(rewind, &chain, ret);
	}
	return err;
}

/* The bytes before the store, as far as they are there. */
static void rewind_read_text(struct rewind *rewind)
{
	struct space *space =
		processor_space(rewind->processor, rewind->thread);

	for (rewind->size = REWIND_BYTES; rewind->size > 0; rewind->size--) {
		if (processor_read_text(space, rewind->store - rewind->size,
					rewind->text,
					rewind->size) == rewind->size)
			return;
	}
}

struct error *trial_rewind(struct instance *instance, int thread, bool *ret)
{
	struct processor *processor = instance->processor;
	const struct replay_side *side = &instance->question->sides[thread];
	struct rewind rewind = {
		.instance = instance,
		.processor = processor,
		.access = &side->access,
		.store = side->rip,
		.thread = thread,
		.captured = processor->starts[thread],
	};
	struct error *err;

	*ret = false;
	if (side->access.size > REWIND_WORD ||
	    !pagecache_read(processor_pages(processor, thread),
			    side->access.address, &rewind.before,
			    side->access.size))
		return NULL;
	rewind_read_text(&rewind);
	outcome_init(&rewind.alone);
	outcome_init(&rewind.slice);
	err = rewind_try_all(&rewind, ret);
	outcome_deinit(&rewind.alone);
	outcome_deinit(&rewind.slice);
	return err;
}
