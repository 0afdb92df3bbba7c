/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of pattern.h share: the value that is followed, the path it is
 * followed on, and one step of it. Only for src/dataflow/pattern*.c.
 */
#ifndef DATAFLOW_PATTERN_PARTS_H
#define DATAFLOW_PATTERN_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dataflow/pattern.h"
#include "x86/access.h"

struct cs_insn;

/* What a register holds of the value. */
struct form {
	bool live;
	uint8_t change; /* enum pattern_change; PATTERN_UNKNOWN: the value itself */
	int64_t delta;
	bool constant; /* delta is */
	uint64_t kept; /* bits of the value that are still in it */
	uint64_t changed;
	uint8_t shift; /* bits by which it was shifted right */
};

/* A variable in the frame: its size, and its offset from rbp. */
struct slot {
	int64_t disp;
	uint8_t size;
};

struct kept_form {
	struct slot slot;
	struct form form;
};

enum { PATH_SLOTS = 4 };

/* One path. */
struct path {
	struct form forms[16];
	struct kept_form kept[PATH_SLOTS]; /* those that are live */
	/* registers that hold what the place's base register did: a bit set */
	uint32_t bases;
	bool slot_lost; /* the slot of the base has another value */
	uint64_t address;
	unsigned int branches;
	bool place_lost; /* the index of the operand's address has changed */
	bool flags; /* they are of the value as it was last changed */
	uint64_t flag_bits; /* of these bits of it; 0 for a sum */
};

struct follow {
	struct decoder *decoder;
	const uint8_t *bytes;
	size_t size;
	uint64_t start;
	struct mem_operand place;
	bool framed; /* rbp is the frame pointer */
	int64_t shown; /* slots from there up may be used by others */
	bool has_slot; /* the place's base was loaded from `slot' */
	struct slot slot;
	uint64_t store; /* only this store counts; 0: any to the place */
	unsigned int steps;
	bool stored; /* a store that counts was met */
	struct code_pattern *pattern;
};

/* A mask of that number of bytes; at most 8. */
uint64_t pattern_mask(unsigned int bytes);
/* The number in the lowest `bytes' bytes, sign-extended. */
int64_t pattern_signed(int64_t number, unsigned int bytes);

/*
 * Decode with details, which last until the next call; NULL past the function,
 * or if it cannot be.
 */
struct cs_insn *pattern_decode(const struct follow *follow, uint64_t address);
/* Decode what it does to memory. The details of another one are lost. */
void pattern_access(const struct follow *follow, uint64_t address,
		    struct insn_access *ret);
/* The address of the instruction after it. */
uint64_t pattern_next(const struct cs_insn *insn);

/* Operand i, if it is a general register; X86_REG_NONE if not. */
uint8_t pattern_register(const struct cs_insn *insn, int i);
/* Is it ah, bh, ch or dh: bits 8 to 15, which are not followed? */
bool pattern_high_byte(const struct cs_insn *insn, int i);
/* Operand i, if it is an immediate. */
bool pattern_immediate(const struct cs_insn *insn, int i, int64_t *ret);
/* The address of a RIP-relative operand, else its displacement. */
int64_t pattern_place(const struct mem_operand *operand, uint64_t next);
/*
 * Is it the place? Its own displacement is what pattern_place() made of it
 * already; the other's instruction ends at a_next.
 */
bool pattern_same_place(const struct mem_operand *a,
			const struct mem_operand *place, uint64_t a_next);

/* The same, with registers as they are on the path. */
bool pattern_is_place(const struct follow *follow, const struct path *path,
		      const struct mem_operand *operand, uint64_t next);

/* Set framed and shown. */
void pattern_find_frame(struct follow *follow);
/*
 * The slot that the register was loaded from just before the instruction at
 * the address.
 */
bool pattern_find_slot(const struct follow *follow, uint64_t address,
		       uint8_t reg, struct slot *ret);
bool pattern_same_slot(const struct slot *a, const struct slot *b);
/* An instruction with a slot; false: as another one, what is left of it. */
bool pattern_step_slot(struct follow *follow, struct path *path,
		       const struct cs_insn *insn);

/* Some bits of the value are used. */
void pattern_use(struct follow *follow, uint64_t bits);
/* A register's value is used as it is. */
void pattern_use_form(struct follow *follow, const struct form *form);
/* It is written back: its change, joined with that of other stores. */
void pattern_note_store(struct follow *follow, const struct form *form);
/* The registers of the set have other values now. */
void pattern_kill(struct path *path, uint32_t written,
		  const struct mem_operand *place);

/*
 * Change a form as arithmetic with a constant does; false if the instruction
 * is no such, or the form not one that it can be applied to.
 */
bool pattern_step_constant(struct path *path, const struct cs_insn *insn,
			   struct form *form, unsigned int size, int64_t imm);

/*
 * The registers an instruction reads, addresses included, and those it writes.
 * What is partly written goes on in its other bits: *byte has those of whose
 * lowest byte that is so, the rest count as read.
 */
uint32_t pattern_registers(const struct follow *follow,
			   const struct cs_insn *insn, uint32_t *written,
			   uint32_t *byte);

/*
 * Does what a load has read come back to the place, in whatever form? The load
 * is the instruction at the address; of stores counts follow->store, or any.
 * Registers are followed until a call, memory is not.
 */
bool pattern_comes_back(const struct follow *follow, uint64_t load);

/* What an instruction that falls through does to the registers' values. */
void pattern_step(struct follow *follow, struct path *path,
		  const struct cs_insn *insn);

#endif
