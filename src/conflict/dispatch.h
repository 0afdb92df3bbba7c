/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is a conflict about a pointer to a function that is chosen at the first call?
 * Libraries choose variants for the processor in this way.
 */
#ifndef CONFLICT_DISPATCH_H
#define CONFLICT_DISPATCH_H

#include <stdbool.h>

struct conflict;

/*
 * The pointer is a variable of a module. When the program begins, it holds the
 * address of one of the module's functions, F. Each side that reads the pointer
 * only calls it; each side that writes it is in F and stores the address of
 * another function. So a reader calls F or the other function, and both are
 * correct. Other memory that the chosen function needs has conflicts of its
 * own.
 */
bool dispatch_pointer(const struct conflict *conflict);

#endif
