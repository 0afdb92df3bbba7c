/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of an ELF file about its text and data: functions, PLT,
 * restartable sequences, data symbols; with those of its separate debug file.
 * Reading large tables takes long, so they are read when one is first needed,
 * and those of text are cached for later runs (tablecache.h). libelf reads
 * sections and relocations, but not their meaning for code. This module finds
 * which sections are a PLT, and which code __rseq_cs describes after
 * relocation. Private to src/image.
 */
#ifndef IMAGE_ELFTABLES_H
#define IMAGE_ELFTABLES_H

#include <stdbool.h>

#include "base/vec.h"

struct elffile;
struct error;
struct file_access;

struct elftables {
	struct elffile *file; /* borrowed */
	char *name; /* its path, which messages have too */
	bool has_contents; /* they have been read, or cannot be */
	char *build_id; /* then, if it has one */
	struct file_access *access; /* borrowed; for the debug file */
	bool has_debug; /* the debug file was looked for */
	struct elffile *debug; /* owns some of the names; may be NULL */
	char *debug_path;
	bool read; /* what follows is there */
	bool kept; /* by an earlier run; for tests */
	struct vec functions; /* of struct elf_function, by start */
	struct vec plt; /* of struct code_range */
	struct vec rseq; /* of struct code_range */
	bool has_data; /* what follows is there */
	struct vec data; /* of struct elf_symbol, by start */
};

/* Nothing is read. The file and access must outlive the tables. */
struct error *elftables_create(struct elffile *file, const char *name,
			       struct file_access *access,
			       struct elftables **ret);
void elftables_destroy(struct elftables *tables);

/*
 * Read the file's contents, and its build id, unless that has been done. Only
 * ERROR_NOMEM is tried again by the next call.
 */
struct error *elftables_contents(struct elftables *tables);

/*
 * Find the separate debug file, unless that has been done; nothing of it is
 * read but its headers and its build id.
 */
struct error *elftables_debug(struct elftables *tables);

/*
 * Read the tables of text, unless that has been done. On failure there is nothing
 * in them, and the next call tries again.
 */
struct error *elftables_read(struct elftables *tables);
/* The same of data symbols. */
struct error *elftables_data(struct elftables *tables);

#endif
