/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records of a file of JSON, chosen by conditions: the other job of
 * check-report. The file has JSON values after one another, as JSON lines or
 * laid out over lines; lines that are no JSON are passed over, as the last one
 * of a report that is being written.
 *
 *	PATH=GLOB      a value at PATH matches
 *	PATH!=GLOB     none does, or there is none
 *
 * A path is keys and indexes joined by dots; * stands for every member, as in
 * sides.*.frames.0.function. A string is compared as it is, anything else as
 * compact JSON. The record must meet every condition.
 */
#ifndef HELPERS_SELECT_H
#define HELPERS_SELECT_H

#include <stdbool.h>

/*
 * Print the records of the file at path that meet the conditions: their values
 * at the paths in print, which are separated by blanks, a line for each record;
 * with print NULL nothing. Several values of one path are joined by commas, and
 * "-" stands for none. Returns how many records were met; a file that cannot be
 * read has none, and says so on stderr unless quiet. Exits with 2 when a
 * condition is none or memory is short.
 */
unsigned long select_records(const char *path, char *const *conditions,
			     const char *print, bool quiet);

#endif
