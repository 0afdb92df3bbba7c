/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is a conflict about the owner of a recursive lock? dataflow/recursive.h finds what
 * the code does with it; the registers of the two threads show that what they
 * compare and store is their own identity.
 */
#ifndef CONFLICT_RECURSIVE_H
#define CONFLICT_RECURSIVE_H

#include <stdbool.h>

struct conflict;

/*
 * One side reads the owner only to compare it with its own identity. The other
 * side stores its own under the same lock, or clears the owner just before it
 * releases that lock. False as well when the value seen was the identity of the
 * reader: then the owner was changed while the reader held the lock.
 *
 * An identity is the thread's number, or an address among its thread-local
 * variables, which pthread_self(3) is too.
 */
bool recursive_owner(const struct conflict *conflict);

#endif
