/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is a conflict about a pointer to a function that is chosen at the first call?
 * Libraries choose so among variants for the processor.
 */
#ifndef CONFLICT_DISPATCH_H
#define CONFLICT_DISPATCH_H

#include <stdbool.h>

struct conflict;

/*
 * The pointer is a variable of a module that holds the address of one of the
 * module's functions when the program begins. Of the two sides each that reads
 * it does nothing with it but call it, and each that writes it is in that very
 * function and stores the address of another one. So a thread that reads calls
 * either; both do what the pointer is for. What the chosen function needs
 * besides is other memory, with conflicts of its own.
 */
bool dispatch_pointer(const struct conflict *conflict);

#endif
