/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Slots of a module's dynamic section: which function a slot is for, and
 * through which slots the C library's mem* and str* functions are called. glibc
 * chooses a variant of these for the processor (an IFUNC). A stripped libc does
 * not have the variants' names, but the resolved addresses are in the
 * IRELATIVE, JUMP_SLOT and GLOB_DAT slots of the live process (ELF gABI, x86-64
 * psABI section 4.4).
 */
#ifndef SAMPLING_DYNAMIC_H
#define SAMPLING_DYNAMIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct module;

/*
 * Append the run-time addresses (uint64_t) of the module's slots that will
 * hold a mem*, str* or wcs* function. False when out of memory.
 */
bool dynamic_string_slots(const struct module *module, struct vec *ret);

/*
 * Append the run-time addresses (uint64_t) of libc's own IRELATIVE slots for those
 * mem*, str* and wcs* functions that the module calls and for which libc chooses
 * a variant. They hold it from the start of the program, the module's slots
 * only after the first call. One may be there twice. False when out of memory.
 */
bool dynamic_chosen_slots(const struct module *module,
			  const struct module *libc, struct vec *ret);

/*
 * Append the file addresses (uint64_t) of the slots that will hold the address
 * of a symbol of whose name wanted() is true. False when out of memory.
 */
bool dynamic_slots(const struct module *module,
		   bool (*wanted)(const char *name), struct vec *ret);

/*
 * The name of the symbol whose address the loader puts into the slot at a file
 * address (JUMP_SLOT, GLOB_DAT), or NULL. Valid while the module is.
 */
const char *dynamic_slot_name(const struct module *module, uint64_t slot);

/*
 * The file address that the 8 bytes at a file address point to when the program
 * begins, by a RELATIVE relocation or, in a file that is not relocated, by its
 * contents. 0: not known.
 */
uint64_t dynamic_initial(const struct module *module, uint64_t address);

#endif
