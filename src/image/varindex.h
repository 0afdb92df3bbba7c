/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The variables of one module that have a fixed address, by address, from its
 * DWARF: globals, static members, statics of files and of functions. Private
 * to src/image. Built once per module, at the first question or before it in
 * small steps.
 */
#ifndef IMAGE_VARINDEX_H
#define IMAGE_VARINDEX_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct debug_module;
struct error;
struct strbuf;
struct variable_index;

struct indexed_variable {
	uint64_t address; /* in the DWARF */
	Dwarf_Die die; /* has the location, maybe not the name */
};

/*
 * Build it further, by that number of bytes of DWARF or a little more (UINT64_MAX:
 * all); *ret_complete when nothing is left.
 */
struct error *variable_index_work(struct debug_module *module, uint64_t size,
				  bool *ret_complete);

/*
 * The variable that holds the DWARF address: its DIE and where it starts.
 * *ret_found is false if there is none; the others are then untouched.
 */
struct error *variable_index_find(struct debug_module *module, uint64_t address,
				  Dwarf_Die *ret_die, uint64_t *ret_start,
				  bool *ret_found);
/* The same for thread-local ones, by their offset in the module's segment. */
struct error *variable_index_find_local(struct debug_module *module,
					uint64_t offset, Dwarf_Die *ret_die,
					uint64_t *ret_start, bool *ret_found);
void variable_index_destroy(struct variable_index *index);

/*
 * Append the variable's name with the names around it: as it is mangled if it
 * is, else by the scopes of its declaration. (In variables.c.)
 */
void variables_add_name(Dwarf_Die *die, struct strbuf *name);

#endif
