/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The supplementary file that dwz(1) makes, named by .gnu_debugaltlink. libdw
 * searches for it by itself, once, unless it was given one. Private to
 * src/image.
 */
#ifndef IMAGE_ALTFILE_H
#define IMAGE_ALTFILE_H

#include <elfutils/libdw.h>

struct file_access;

/*
 * Open the file: name is absolute or relative to the folder of the file that
 * refers to it. -1: there is none.
 */
int altfile_open(struct file_access *access, const char *referring_path,
		 const char *name);

/*
 * From now on libdw opens nothing for the supplementary file of dwarf, whether
 * it has one or not, and nothing that this one names.
 */
void altfile_settle(Dwarf *dwarf);

#endif
