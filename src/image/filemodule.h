/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One module of a process and its file: finding, opening and identifying it.
 * Private to src/image; image.c has the set of modules.
 */
#ifndef IMAGE_FILEMODULE_H
#define IMAGE_FILEMODULE_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct file_access;
struct map_entry;
struct maps;
struct module;
struct stat;

/* A module with its path and nothing else. */
struct error *file_module_create(const char *path, struct module **ret);
void file_module_destroy(struct module *module);

/*
 * Open the file behind entry, an executable mapping (or the vDSO) of the
 * process whose maps these are, and place the module. It is not an error, but
 * the module's `problem', if nothing can be read, or if the mapping is only a
 * part of the file at another place. twin: a module of the same file that has
 * text; or NULL. access outlives the module.
 */
struct error *file_module_open(struct file_access *access,
			       const struct maps *maps,
			       const struct map_entry *entry,
			       const struct module *twin,
			       struct module *module);

/* Is entry a mapping of the module's file? */
bool file_module_is_of(struct module *module, const struct map_entry *entry);

/* Is entry a mapping of module, at the place where the module is? */
bool file_module_has_mapping(struct module *module,
			     const struct map_entry *entry);

/* Where a module is in a process; struct module says what these are. */
struct module_place {
	uint64_t bias, start, end;
};

/*
 * The same file, mapped by another process as entry and the mappings around it
 * are, maybe elsewhere: the module is there from now on. False: it is not mapped
 * as its segments say, or has no text. *ret_before is where it was.
 */
bool file_module_move(const struct maps *maps, const struct map_entry *entry,
		      struct module *module, struct module_place *ret_before);

/* It is there again. */
void file_module_put(struct module *module, const struct module_place *place);

/* Is that the file, unchanged since it was opened? */
bool file_module_is_file(struct module *module, const struct stat *status);

/* Has the file been written since it was opened? (Unlinked is fine.) */
bool file_module_is_rewritten(struct file_access *access,
			      struct module *module);

#endif
