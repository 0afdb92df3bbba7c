/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races on the same variable tell of one another. Two threads that count up
 * look like statistics until a third is seen that waits for the number.
 */
#ifndef REPORT_KIN_H
#define REPORT_KIN_H

#include <stdbool.h>

struct insn_idiom;
struct race;

/* The same bytes of the same process, or of the same named variable. */
bool kin_of_one_variable(const struct race *a, const struct race *b);

/*
 * If they are of one variable, and one side of `teller' decides by its value
 * (compares it, follows it, counts it down), set race->decides. True if that
 * is news.
 */
bool kin_tell(struct race *race, const struct race *teller);

/* Does code that does this with a value decide something by it? */
bool kin_idiom_decides(const struct insn_idiom *idiom);

/*
 * Is a side of one race the same code as a side of the other? By names where
 * both have some, by module and offset elsewhere, as in the fingerprints
 * (fingerprint.c).
 */
bool race_same_code(const struct race *a, int side, const struct race *b,
		    int other);

#endif
