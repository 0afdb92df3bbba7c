/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of uses.h share: the thread that is executed. Only for
 * src/dataflow/uses*.c and their test.
 */
#ifndef DATAFLOW_USES_PARTS_H
#define DATAFLOW_USES_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dataflow/uses-number.h"
#include "dataflow/uses.h"
#include "x86/decode-parts.h"

struct cs_insn;

/* Bytes, and sets of their bits. */
struct vector {
	uint8_t value[X86_VECTOR_BYTES];
	uint8_t asked[X86_VECTOR_BYTES], unknown[X86_VECTOR_BYTES];
};

enum { USES_CELLS = 256 };

/* A byte that was stored since. */
struct stored {
	uint64_t address;
	uint8_t value, asked, unknown;
};

struct uses_state {
	struct number gpr[16];
	struct vector vectors[X86_VECTORS];
	struct number masks[X86_MASKS];
	struct flags flags;
	uint64_t rip;
	struct stored stored[USES_CELLS];
	unsigned int stored_count;
	/* a branch was decided by the other bits of a value with asked bits */
	bool examined;
	bool narrowed; /* of a vector with asked bits, those were left out */
	bool searched; /* elements were compared all at once */
	bool returned; /* to a caller, with a vector that has asked bits */
};

struct uses_run {
	const struct uses_thread *thread;
	const struct uses_question *question;
	struct uses_state state;
	bool first; /* at the instruction in question */
	uint64_t at; /* the instruction that is executed */
	bool ended;
	enum uses_answer answer; /* when ended */
	uint64_t where; /* and the instruction at which it was */
	unsigned int *steps; /* of all ways */
	uint32_t origins; /* given so far */
	unsigned int forks;
	/*
	 * paths that the bytes asked about select: do they have the same
	 * result?
	 */
	bool compared;
	/* registers that the instruction wrote */
	uint32_t wrote_gpr, wrote_vectors, wrote_masks;
};

/* The run ends with an answer. */
void uses_end(struct uses_run *run, enum uses_answer answer);
/* It cannot be told. */
void uses_give_up(struct uses_run *run);
/* Start with the thread's state, and simulate the instruction in question. */
void uses_begin(struct uses_run *run);
void uses_execute(struct uses_run *run);
/* uses-before.c: these registers are not known any more; bits by number. */
void uses_forget(struct uses_state *state, uint32_t gpr, uint32_t vectors,
		 uint32_t masks);
/* What the registers that the trial wrote held before the instruction. */
void uses_recover(struct uses_run *run, const struct uses_run *trial);
/* Simulate the following instructions, until there is an answer. */
void uses_walk(struct uses_run *run);
bool uses_are_asked(const struct uses_state *state);
/* uses-ways.c: has the caller taken the vector? Ends the run if so. */
void uses_find_taken(struct uses_run *run);
/* The instruction at `at' that does not just fall through. */
void uses_flow(struct uses_run *run, const struct cs_insn *insn,
	       const struct insn_access *access, uint64_t at);
/* The number is used: ends the run if any bit of it is asked. */
void uses_of_number(struct uses_run *run, const struct number *number);

/* uses-memory.c */
/* At most 64 bytes. Ends the run if the address has asked bits. */
void uses_load(struct uses_run *run, const struct number *address,
	       unsigned int size, struct vector *ret);
void uses_store(struct uses_run *run, const struct number *address,
		const struct vector *bytes, unsigned int size);
struct number uses_load_number(struct uses_run *run,
			       const struct number *address, unsigned int size);
void uses_store_number(struct uses_run *run, const struct number *address,
		       const struct number *number, unsigned int size);
/* Is it the thread's own stack? Others see nothing of it. */
bool uses_is_own(const struct uses_run *run, uint64_t address);
bool uses_stored_asked(const struct uses_state *state);
/* The address of the operand, as far as it is known. */
struct number uses_address(const struct uses_run *run,
			   const struct insn_access *insn,
			   const struct mem_operand *operand);

/* uses-integer.c: false if the instruction is not known there. */
bool uses_integer(struct uses_run *run, const struct cs_insn *insn,
		  const struct insn_access *access);
void uses_set_gpr(struct uses_run *run, uint8_t reg,
		  const struct number *number, unsigned int size);

/* uses-vector.c: the same; rip is on the next instruction if true. */
bool uses_vector(struct uses_run *run, const uint8_t *bytes, size_t size);

/* An instruction on vectors, all fields set; false: it is none. */
bool vector_insn_decode(struct decoder *decoder, const uint8_t *bytes,
			size_t size, uint64_t address, struct vector_insn *ret);

/* uses-moves.c: false if it is no such; and how results are put in place. */
bool vector_move(struct uses_run *run, const struct vector_insn *insn);
bool vector_transfer(struct uses_run *run, const struct vector_insn *insn);
bool vector_half(struct uses_run *run, const struct vector_insn *insn);
bool vector_broadcast(struct uses_run *run, const struct vector_insn *insn);
/* What the mask leaves out becomes zero, or stays as it was. */
void vector_apply_mask(const struct uses_run *run,
		       const struct vector_insn *insn, unsigned int element,
		       struct vector *vector);
/* To the register; legacy instructions leave what is above 16 bytes. */
void vector_set_result(struct uses_run *run, const struct vector_insn *insn,
		       uint8_t reg, const struct vector *result);
/* The operand that may be memory. */
void uses_source(struct uses_run *run, const struct vector_insn *insn,
		 unsigned int size, struct vector *ret);

/* uses-elements.c */
/* One of the operations that make a vector of two; false: none such. */
bool vector_combine(const struct vector_insn *insn, const struct vector *a,
		    const struct vector *b, struct vector *ret);
/* Compare elements; the result a bit for each. False: no such operation. */
bool vector_compare(const struct vector_insn *insn, const struct vector *a,
		    const struct vector *b, struct number *ret);
struct number vector_element(const struct vector *vector, unsigned int i,
			     unsigned int size);
void vector_set_element(struct vector *vector, unsigned int i,
			unsigned int size, const struct number *number);

/* uses-arrange.c: elements in another order; false: none such. */
bool vector_arrange(struct uses_run *run, const struct vector_insn *insn);

/* uses-lookup.c: the same */
bool vector_look_up(struct uses_run *run, const struct vector_insn *insn);

/* uses-arithmetic.c: the same */
bool vector_shift(struct uses_run *run, const struct vector_insn *insn);
bool vector_pack(struct uses_run *run, const struct vector_insn *insn);
bool vector_resize(struct uses_run *run, const struct vector_insn *insn);
bool vector_blend(struct uses_run *run, const struct vector_insn *insn);
bool vector_opaque(struct uses_run *run, const struct vector_insn *insn);
/* Is any bit of those bytes asked about, or not known? */
void vector_add_marks(const struct vector *from, unsigned int at,
		      unsigned int size, bool *asked, bool *unknown);

/* uses-single.c: the same */
bool vector_single(struct uses_run *run, const struct vector_insn *insn);
bool vector_scalar(struct uses_run *run, const struct vector_insn *insn);

/* uses-mask.c: kmov and its like; false: none such. */
bool uses_mask(struct uses_run *run, const struct vector_insn *insn);

/* uses-text.c: pcmpistri and pcmpistrm; false: none such. */
bool uses_text(struct uses_run *run, const struct vector_insn *insn);

/* uses-vector.c, for the others. */
bool vector_is_asked(const struct vector *vector);
/* Some bytes, to others. */
void vector_copy(struct vector *to, unsigned int at, const struct vector *from,
		 unsigned int from_at, unsigned int size);
void uses_set_vector(struct uses_run *run, uint8_t reg,
		     const struct vector *vector);
void uses_set_mask(struct uses_run *run, uint8_t reg,
		   const struct number *number);

#endif
