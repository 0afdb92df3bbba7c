/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Internal functions of locks. A library's locks are recognized by the names it
 * exports. Functions that these call within the library have no name if the
 * symbol table is stripped.
 */
#ifndef CONFLICT_HELPER_H
#define CONFLICT_HELPER_H

#include <stdbool.h>

struct decoder;
struct elf_function;
struct elftext;

/*
 * Does a function of the file that synchronizes, by its name, call or jump to
 * this one, which has none?
 */
bool helper_synchronizes(struct decoder *decoder, const struct elftext *text,
			 const struct elf_function *function);

#endif
