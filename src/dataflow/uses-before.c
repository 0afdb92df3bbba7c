/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What registers an instruction has overwritten held before it: `pand (%rdi),
 * %xmm0' leaves nothing of its mask. The code that always runs before it, from
 * the last place to which a branch leads, is executed again, with what it
 * writes not known at its beginning; so constants and copies are found. A few
 * instructions over which one branch leads may have run or not: what they write
 * is not known behind them.
 */
#include "dataflow/uses-parts.h"

#include <string.h>

#include "x86/decode-capstone.h"
#include "x86/decode-parts.h"
#include "x86/decode.h"

enum {
	WINDOW = 200, /* instructions */
	SKIPPED = 8, /* of them, over which one branch leads */
};

/* Instructions that run one after the other, up to the one in question. */
struct window {
	uint64_t at[WINDOW]; /* the last one first */
	bool maybe[WINDOW]; /* a branch may have led over it */
	unsigned int count;
	uint32_t gpr, vectors, masks; /* registers that they write */
};

static void decode_at(const struct uses_thread *thread, size_t at,
		      struct insn_access *ret)
{
	decoder_decode(thread->decoder, thread->body + at,
		       thread->body_size - at, thread->body_start + at, ret);
}

/* loop, loope or loopne: a branch that changes rcx. */
static bool counts(const struct uses_thread *thread, size_t at)
{
	return thread->body[at] >= 0xe0 && thread->body[at] <= 0xe2;
}

/*
 * The start of the one instruction that ends at `end' and goes on there, in such
 * a way.
 */
static size_t start_before(const struct uses_thread *thread, size_t end,
			   enum x86_flow flow)
{
	const uint8_t *marks = thread->decoder->marks;
	size_t found = end;

	for (size_t i = 1; i <= X86_INSN_MAX && i <= end; i++) {
		struct insn_access insn;
		size_t at = end - i;

		if (!(marks[at] & DECODE_START))
			continue;
		decode_at(thread, at, &insn);
		if (insn.length != i || insn.flow != flow || counts(thread, at))
			continue;
		if (found != end)
			return end;
		found = at;
	}
	return found;
}

/* How many branches of the function lead there. */
static unsigned int branches_to(const struct uses_thread *thread, size_t target)
{
	unsigned int count = 0;

	for (size_t at = 0; at < thread->body_size; at++) {
		struct insn_access insn;

		if (!(thread->decoder->marks[at] & DECODE_START))
			continue;
		decode_at(thread, at, &insn);
		count += (insn.flow == X86_FLOW_BRANCH ||
			  insn.flow == X86_FLOW_JUMP) &&
			 insn.target == thread->body_start + target;
	}
	return count;
}

/*
 * A branch leads to `end', from just before, and nothing else does: what is
 * between the two joins the window. The start of the branch, or `end'.
 */
static size_t skip_before(const struct uses_thread *thread, size_t end,
			  struct window *window)
{
	unsigned int count = window->count;
	size_t at = end;

	for (int i = 0; i < SKIPPED && count < WINDOW; i++) {
		size_t branch = start_before(thread, at, X86_FLOW_BRANCH);
		size_t before = start_before(thread, at, X86_FLOW_NEXT);
		struct insn_access insn;

		if (at != end && (thread->decoder->marks[at] & DECODE_TARGET))
			return end;
		if (branch != at) {
			decode_at(thread, branch, &insn);
			if (before != at || at == end ||
			    insn.target != thread->body_start + end ||
			    branches_to(thread, end) != 1)
				return end;
			window->count = count;
			return branch;
		}
		if (before == at)
			return end;
		at = before;
		window->maybe[count] = true;
		window->at[count++] = thread->body_start + at;
	}
	return end;
}

static void find_window(const struct uses_thread *thread, uint64_t address,
			struct window *ret)
{
	size_t at = address - thread->body_start, before;

	if (!thread->body || at >= thread->body_size ||
	    !decode_marks(thread->decoder, thread->body, thread->body_size,
			  thread->body_start))
		return;
	while (ret->count < WINDOW) {
		/* nothing is added, or was by skip_before() */
		bool over = thread->decoder->marks[at] & DECODE_TARGET;

		before = over ? skip_before(thread, at, ret)
			      : start_before(thread, at, X86_FLOW_NEXT);
		/* a branch that was not taken writes nothing */
		if (before == at && !over) {
			before = start_before(thread, at, X86_FLOW_BRANCH);
			over = true;
		}
		if (before == at)
			return;
		at = before;
		if (over)
			continue;
		ret->maybe[ret->count] = false;
		ret->at[ret->count++] = thread->body_start + at;
	}
}

/* Execute one instruction; false if it is not known here. */
static bool execute_at(struct uses_run *run, uint64_t address)
{
	run->state.rip = address;
	run->wrote_gpr = run->wrote_vectors = run->wrote_masks = 0;
	uses_execute(run);
	return !run->ended;
}

/* What is not known here may write anything: the window begins behind it. */
static void find_written(const struct uses_run *run, struct window *window)
{
	for (unsigned int i = 0; i < window->count; i++) {
		struct uses_run trial = *run;

		/* so may what has perhaps written to memory */
		if (!execute_at(&trial, window->at[i]) ||
		    (window->maybe[i] && trial.state.stored_count > 0)) {
			window->count = i;
			return;
		}
		window->gpr |= trial.wrote_gpr;
		window->vectors |= trial.wrote_vectors;
		window->masks |= trial.wrote_masks;
	}
}

static void forget_vector(struct vector *vector)
{
	memset(vector, 0, sizeof(*vector));
	memset(vector->unknown, 0xff, sizeof(vector->unknown));
}

void uses_forget(struct uses_state *state, uint32_t gpr, uint32_t vectors,
		 uint32_t masks)
{
	for (int i = 0; i < 16; i++) {
		if (gpr >> i & 1)
			state->gpr[i] = number_lost(8, false, true);
	}
	for (int i = 0; i < X86_VECTORS; i++) {
		if (vectors >> i & 1)
			forget_vector(&state->vectors[i]);
	}
	for (int i = 0; i < X86_MASKS; i++) {
		if (masks >> i & 1)
			state->masks[i] = number_lost(8, false, true);
	}
}

/* It has run, or not. */
static bool perhaps_execute_at(struct uses_run *run, uint64_t address)
{
	struct uses_run trial = *run;

	if (!execute_at(&trial, address))
		return false;
	uses_forget(&run->state, trial.wrote_gpr, trial.wrote_vectors,
		    trial.wrote_masks);
	run->state.flags = (struct flags){ .carry = TRI_UNKNOWN,
					   .zero = TRI_UNKNOWN,
					   .sign = TRI_UNKNOWN,
					   .overflow = TRI_UNKNOWN,
					   .parity = TRI_UNKNOWN };
	return true;
}

static bool vectors_known(const struct uses_run *run)
{
	return run->thread->vectors && run->thread->vectors->known;
}

/*
 * The instruction is done; the trial has executed it once more to see what it
 * writes. Of vectors all are found where nothing is known of any.
 */
void uses_recover(struct uses_run *run, const struct uses_run *trial)
{
	static const struct uses_question nothing;
	struct window window = { .count = 0 };
	struct uses_run before = *run;

	find_window(run->thread, run->question->address, &window);
	before.question = &nothing;
	before.first = false;
	find_written(&before, &window);
	uses_forget(&before.state, window.gpr, window.vectors, window.masks);
	for (unsigned int i = window.count; i-- > 0;) {
		if (!(window.maybe[i] ? perhaps_execute_at
				      : execute_at)(&before, window.at[i]))
			return;
	}
	for (int i = 0; i < 16; i++) {
		if (trial->wrote_gpr >> i & 1)
			run->state.gpr[i] = before.state.gpr[i];
	}
	for (int i = 0; i < X86_VECTORS; i++) {
		if (trial->wrote_vectors >> i & 1 || !vectors_known(run))
			run->state.vectors[i] = before.state.vectors[i];
	}
	for (int i = 0; i < X86_MASKS; i++) {
		if (trial->wrote_masks >> i & 1 || !vectors_known(run))
			run->state.masks[i] = before.state.masks[i];
	}
}
