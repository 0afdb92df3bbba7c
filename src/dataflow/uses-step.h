/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One instruction on general registers, and its operands as numbers. Only for
 * src/dataflow/uses-integer.c, uses-operand.c and uses-bits.c.
 */
#ifndef DATAFLOW_USES_STEP_H
#define DATAFLOW_USES_STEP_H

#include "dataflow/uses-parts.h"
#include "x86/decode-capstone.h"
#include "x86/decode-parts.h"

/* One instruction and its operands. */
struct step {
	struct uses_run *run;
	const cs_x86 *x86;
	const struct insn_access *access;
	unsigned int id;
	unsigned int size; /* bytes of the first operand */
};

/* uses-operand.c */
struct number step_get(const struct step *step, int i);
void step_set(const struct step *step, int i, const struct number *number);
/* Are the first two operands one register? */
bool step_same_registers(const struct step *step);

/* uses-bits.c: shifts, bit scans and the like. */
void step_shift(const struct step *step);
void step_scan(const struct step *step);
void step_lowest(const struct step *step);
void step_bits(const struct step *step);
void step_bit_test(const struct step *step);

#endif
