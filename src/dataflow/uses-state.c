/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state of an execution: how it ends, and what is put into its registers.
 * See uses-parts.h.
 */
#include "dataflow/uses-parts.h"

#include <string.h>

void uses_end(struct uses_run *run, enum uses_answer answer)
{
	if (!run->ended) {
		run->answer = answer;
		run->where = run->at;
	}
	run->ended = true;
}

void uses_give_up(struct uses_run *run)
{
	uses_end(run, run->state.searched ? USES_UNKNOWN_SEARCH : USES_UNKNOWN);
}

void uses_of_number(struct uses_run *run, const struct number *number)
{
	if (number->asked == 0)
		return;
	if (number->unknown != 0)
		uses_give_up(run);
	else
		uses_end(run, USES_SOME);
}

bool vector_is_asked(const struct vector *vector)
{
	static const uint8_t zeros[X86_VECTOR_BYTES];

	return memcmp(vector->asked, zeros, sizeof(zeros)) != 0;
}

void vector_copy(struct vector *to, unsigned int at, const struct vector *from,
		 unsigned int from_at, unsigned int size)
{
	memcpy(to->value + at, from->value + from_at, size);
	memcpy(to->asked + at, from->asked + from_at, size);
	memcpy(to->unknown + at, from->unknown + from_at, size);
}

void uses_set_vector(struct uses_run *run, uint8_t reg,
		     const struct vector *vector)
{
	run->state.vectors[reg] = *vector;
	run->wrote_vectors |= UINT32_C(1) << reg;
}

void uses_set_mask(struct uses_run *run, uint8_t reg,
		   const struct number *number)
{
	run->state.masks[reg & 7] = *number;
	run->wrote_masks |= UINT32_C(1) << (reg & 7);
}
