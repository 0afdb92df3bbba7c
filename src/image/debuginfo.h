/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The debug information of an image's modules, read when first asked for: two
 * libdwfl sessions over the modules (for stacks and symbols) and, for each
 * module, its DWARF with an index of its compilation units by address.
 * Private to src/image. Nothing is fetched from the network
 * unless image_ask_servers() has been called.
 */
#ifndef IMAGE_DEBUGINFO_H
#define IMAGE_DEBUGINFO_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct debuginfo;
struct elf_function;
struct error;
struct image;
struct macros;
struct module;
struct name_cache;
struct source_texts;
struct unit_scopes;
struct unwind_walk;
struct variable_index;

/* What libdwfl's calls back to unwinddwfl.c are about. */
struct unwinder {
	struct unwind_walk *walk; /* the one that runs */
	bool started; /* its innermost frame has come */
	bool attached;
};

/* A compilation unit. */
struct debug_unit {
	Dwarf_Die die; /* of the split unit, where there is one */
	Dwarf_Die skeleton; /* or the same as die; has the line table */
	bool split; /* die is of another file, which may be missing */
	struct unit_scopes *scopes; /* NULL until needed; see scopes.h */
};

struct debug_module {
	struct image *image;
	struct module *module;
	bool asked; /* servers, for its debug file */
	char *fetched; /* what came: a path in their cache, or NULL */
	Dwfl_Module *dwfl;
	uint64_t
		bias; /* the module's, when the module was reported to libdwfl */
	bool names_tried; /* is names what there is? */
	struct name_cache *names; /* of earlier runs; NULL: none are kept */
	bool loaded; /* what follows is read */
	Dwarf *dwarf; /* NULL: the module has none */
	/* DWARF address = file address + dwarf_shift */
	uint64_t dwarf_shift;
	struct vec units; /* of struct debug_unit; in DWARF order */
	struct vec unit_ranges; /* by address; see debuginfo.c */
	struct variable_index *variables; /* NULL until needed */
	struct source_texts *sources; /* NULL until needed */
	struct macros *macros; /* NULL until needed */
	/* the last function without a name that one was looked for, and what
	 * the symbols say of its start; NULL: nothing */
	const struct elf_function *unnamed;
	const char *unnamed_symbol;
};

/*
 * The libdwfl session for stacks, with all modules of the image reported. It
 * reads a debug file only where that has unwind information: those of libraries
 * have none as a rule, and take long.
 */
struct error *debuginfo_stacks(struct image *image, Dwfl **ret);

/* What unwinddwfl.c keeps with that session, which must be there. */
struct unwinder *debuginfo_unwinder(struct image *image);

/* What is known of module, which has a text, without reading more. */
struct error *debuginfo_unread(struct image *image, struct module *module,
			       struct debug_module **ret);

/*
 * The debug information of module, which has a text; valid until a module is
 * dropped from the image.
 */
struct error *debuginfo_module(struct image *image, struct module *module,
			       struct debug_module **ret);

/* The unit with code at that file address, or NULL. */
struct debug_unit *debug_module_unit(struct debug_module *module,
				     uint64_t address);

#endif
