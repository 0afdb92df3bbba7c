/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The name of the bytes of a conflict: of a global by its address, of other
 * memory by the pointers that the two threads used, of a stack with its owner.
 * Part of conflict_describe().
 */
#ifndef CONFLICT_CONFLICT_VARIABLE_H
#define CONFLICT_CONFLICT_VARIABLE_H

#include <stdint.h>

struct conflict;
struct conflict_context;
struct data_name;
struct error;
struct race_variable;

/*
 * Fill in *variable, which is empty. The process may run on meanwhile: its
 * stacks are read as they were at the conflict, other memory as it is now.
 * ERROR_NOMEM only.
 */
struct error *conflict_variable(const struct conflict_context *context,
				const struct conflict *conflict,
				struct race_variable *variable);

/*
 * The same of other bytes, by the pointers of side i alone, in whose memory they
 * are; end *ret, which is empty, with data_name_deinit(). What is not known of
 * them is NULL. ERROR_NOMEM only.
 */
struct error *conflict_name_object(const struct conflict *conflict, int i,
				   uint64_t address, uint32_t size,
				   struct data_name *ret);

#endif
