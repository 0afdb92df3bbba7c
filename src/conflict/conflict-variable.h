/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the bytes of a conflict are called: a global by its address, other
 * memory by the pointers through which the two threads came to it, with the
 * owner of a stack. Part of conflict_describe().
 */
#ifndef CONFLICT_CONFLICT_VARIABLE_H
#define CONFLICT_CONFLICT_VARIABLE_H

struct conflict;
struct conflict_context;
struct error;
struct race_variable;

/*
 * Fill in *variable, which is empty. The process may run on meanwhile: of its
 * memory, the stacks are as they were, the rest as it is now. ERROR_NOMEM only.
 */
struct error *conflict_variable(const struct conflict_context *context,
				const struct conflict *conflict,
				struct race_variable *variable);

#endif
