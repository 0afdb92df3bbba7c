/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bytes that another tool reports, and those of a race that was met. Where the
 * report names a variable, its name tells. DRD names none without --read-var-info, and
 * Helgrind none in a stripped program; but they map a program at a known place, so
 * that the address tells the offset in its file, and the file the variable.
 */
#ifndef HUNT_REPORTED_H
#define HUNT_REPORTED_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct race;
struct symbolizer;

/*
 * The offset of these bytes in the program, which is the one that was reported; 0:
 * they are not the program's, or another tool has reported them.
 */
uint64_t reported_offset(const struct race *reported);

/*
 * Are the bytes that a race was met on others than the reported ones, and in no
 * variable that is the same but for its indices? Two threads that race on elements of
 * an array may meet on others than they were reported for. Nor is a variable in the
 * heap, nor are two members of a block. False: that is not known.
 * by_line: the lines of both accesses are those that were reported, so that an address
 * tells only of the build that was reported. An address of 0: the report has several
 * of the variable that it names.
 * That it was met on bytes of the program, and not of a library, is for the caller to
 * see.
 */
struct error *reported_elsewhere(struct symbolizer *symbolizer,
				 const struct race *reported,
				 const struct race *met, bool by_line,
				 bool *ret);

/*
 * Is "heat[1][7]" what "heat[0][2048]" is, "ring[0]" what "ring[3].text[0..15]" is
 * in? Not "ring[0].serial". Where types are not known, "ring+8" and "ring+16" are of
 * one variable. Only exposed for tests.
 */
bool reported_same_name(const char *one, const char *two);

#endif
