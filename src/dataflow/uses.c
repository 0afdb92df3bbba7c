/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Simulates from a load on, until no value depends on the bytes asked about any
 * more, or one of them is used; see uses.h.
 */
#include "dataflow/uses-parts.h"

#include <string.h>

#include "x86/decode-capstone.h"
#include "x86/decode-parts.h"
#include "x86/decode.h"

enum { STEPS = 3000 }; /* instructions, on all ways */

uint64_t uses_range(const struct mem_access *access, uint64_t start,
		    uint64_t size)
{
	uint64_t ret = 0;

	for (uint32_t i = 0; i < access->size && i < X86_ACCESS_MAX; i++) {
		if (access->address + i - start < size)
			ret |= UINT64_C(1) << i;
	}
	return ret;
}

bool uses_are_asked(const struct uses_state *state)
{
	for (int i = 0; i < 16; i++) {
		if (state->gpr[i].asked)
			return true;
	}
	for (int i = 0; i < X86_MASKS; i++) {
		if (state->masks[i].asked)
			return true;
	}
	for (int i = 0; i < X86_VECTORS; i++) {
		if (vector_is_asked(&state->vectors[i]))
			return true;
	}
	return flags_have_asked(&state->flags) || uses_stored_asked(state);
}

void uses_execute(struct uses_run *run)
{
	uint8_t bytes[X86_INSN_MAX];
	size_t size = run->thread->code(run->thread->context, run->state.rip,
					bytes, sizeof(bytes));
	struct decoder *decoder = run->thread->decoder;
	struct insn_access access;
	const uint8_t *code = bytes;
	uint64_t at = run->state.rip, next = at;
	size_t left = size;

	run->at = at;
	if (size == 0) {
		uses_give_up(run);
		return;
	}
	decoder_decode(decoder, bytes, size, at, &access);
	if (access.refusal == X86_REFUSED_UNDECODABLE) {
		uses_give_up(run);
		return;
	}
	if (access.flow == X86_FLOW_NEXT && uses_vector(run, bytes, size)) {
		run->state.rip = at + access.length;
		return;
	}
	if (!cs_disasm_iter(decoder->capstone, &code, &left, &next,
			    decoder->insn)) {
		uses_give_up(run);
		return;
	}
	if (access.flow != X86_FLOW_NEXT) {
		run->state.rip = at + access.length;
		uses_flow(run, decoder->insn, &access, at);
		return;
	}
	if (!uses_integer(run, decoder->insn, &access))
		uses_give_up(run);
	run->state.rip = at + access.length;
}

void uses_walk(struct uses_run *run)
{
	while (!run->ended) {
		if (!run->compared && !uses_are_asked(&run->state)) {
			uses_end(run, USES_NONE);
			return;
		}
		if ((*run->steps)++ > STEPS) {
			uses_give_up(run);
			return;
		}
		uses_execute(run);
		if (run->state.returned)
			uses_find_taken(run);
	}
}

void uses_begin(struct uses_run *run)
{
	const struct x86_vectors *vectors = run->thread->vectors;
	struct uses_state *state = &run->state;

	memset(state, 0, sizeof(*state));
	for (int i = 0; i < 16; i++)
		state->gpr[i] = number_known(run->thread->regs->gpr[i]);
	flags_read(&state->flags, run->thread->regs->rflags);
	for (int i = 0; i < X86_VECTORS; i++) {
		if (vectors && vectors->known)
			memcpy(state->vectors[i].value, vectors->reg[i],
			       X86_VECTOR_BYTES);
		else
			memset(state->vectors[i].unknown, 0xff,
			       X86_VECTOR_BYTES);
	}
	for (int i = 0; i < X86_MASKS; i++)
		state->masks[i] = vectors && vectors->known
					  ? number_known(vectors->mask[i])
					  : number_lost(8, false, true);
	state->rip = run->question->address;
}

/* The register is as it was after, but for the bits asked about. */
static struct number seen_number(const struct number *after,
				 const struct number *made)
{
	return number_of_bits(after->value & ~made->asked, made->asked,
			      after->unknown);
}

/* The same of a byte; what is not known of it is as it was made. */
static void see_byte(const struct vector *after, struct vector *made, int i)
{
	uint8_t known = (uint8_t)~after->unknown[i];

	made->value[i] = (uint8_t)((made->value[i] & after->unknown[i]) |
				   (after->value[i] & known));
	made->unknown[i] &= after->unknown[i];
	made->value[i] &= (uint8_t) ~(made->asked[i] | made->unknown[i]);
}

/* The same of all registers. */
static void see_registers(struct uses_run *run, const struct uses_state *after)
{
	for (int i = 0; i < 16; i++)
		run->state.gpr[i] =
			seen_number(&after->gpr[i], &run->state.gpr[i]);
	for (int i = 0; i < X86_MASKS; i++)
		run->state.masks[i] =
			seen_number(&after->masks[i], &run->state.masks[i]);
	for (int i = 0; i < X86_VECTORS; i++) {
		for (int j = 0; j < X86_VECTOR_BYTES; j++)
			see_byte(&after->vectors[i], &run->state.vectors[i], j);
	}
	run->state.flags.asked |= flags_have_asked(&run->state.flags);
	if (!run->state.flags.asked)
		run->state.flags = after->flags;
}

/* Is what was made, as far as it is known, what is seen? */
static bool made_as_seen(const struct uses_state *made,
			 const struct uses_state *after)
{
	uint64_t wrong = 0;

	for (int i = 0; i < 16; i++)
		wrong |= (made->gpr[i].value ^ after->gpr[i].value) &
			 ~(made->gpr[i].asked | made->gpr[i].unknown);
	for (int i = 0; i < X86_VECTORS; i++) {
		const struct vector *a = &made->vectors[i];
		const struct vector *b = &after->vectors[i];

		for (int j = 0; j < X86_VECTOR_BYTES; j++)
			wrong |= (a->value[j] ^ b->value[j]) &
				 (uint8_t) ~(a->asked[j] | a->unknown[j] |
					     b->unknown[j]);
	}
	return wrong == 0;
}

/*
 * The instruction has been executed. Which of the bits that it made depend on
 * those asked about is found by executing it again, with the registers that it
 * has overwritten as the code before it tells them, or not known; their values
 * are seen.
 */
static void execute_done(struct uses_run *run)
{
	struct uses_state after = run->state;
	struct uses_run trial = *run, recovered;

	uses_execute(&trial);
	uses_forget(&run->state, trial.wrote_gpr, trial.wrote_vectors,
		    trial.wrote_masks);
	recovered = *run;
	uses_recover(&recovered, &trial);
	uses_execute(&recovered);
	if (!recovered.ended && made_as_seen(&recovered.state, &after))
		*run = recovered;
	else
		uses_execute(run);
	see_registers(run, &after);
	run->state.searched |= trial.state.searched;
}

enum uses_answer uses_find(const struct uses_thread *thread,
			   const struct uses_question *question,
			   uint64_t *ret_where)
{
	unsigned int steps = 0;
	struct uses_run run = { .thread = thread,
				.question = question,
				.first = true,
				.steps = &steps };

	if (question->asked == 0)
		return USES_NONE;
	uses_begin(&run);
	if (question->done)
		execute_done(&run);
	else
		uses_execute(&run);
	run.first = false;
	uses_walk(&run);
	if (ret_where)
		*ret_where = run.where;
	return run.answer;
}
