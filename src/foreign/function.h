/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of functions as racewatch has them. */
#ifndef FOREIGN_FUNCTION_H
#define FOREIGN_FUNCTION_H

struct scan;

/*
 * "cache::put" for "void cache::put<int>(int) const", "_ZN5cache3putEi" and
 * "cache::put::h0123456789abcdef": without parameters, qualifiers, return type
 * and Rust's hash, and without what a compiler adds to its copies
 * (".constprop.0", " [clone .isra.0]"). To be freed; NULL when out of memory.
 */
char *function_name(const struct scan *text);

#endif
