/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the separate debug file of an ELF file is: by build id below
 * /usr/lib/debug/.build-id, else by .gnu_debuglink next to the file, in its
 * .debug folder, and below /usr/lib/debug (the GDB manual, "Debugging
 * Information in Separate Files"). Never the network. Private to src/image.
 *
 * libdwfl has such a search, too. It is not used: it asks debuginfod servers
 * when the environment names some, and opens files with our rights, not with
 * those of the program that names them.
 */
#ifndef IMAGE_DEBUGFILE_H
#define IMAGE_DEBUGFILE_H

struct elffile;
struct error;
struct file_access;

/*
 * Open the debug file that belongs to file, whose own path is path, by access.
 * *ret and *ret_path (malloc'ed) are NULL when there is none; one that does not
 * match (another build id or checksum) is passed over.
 */
struct error *debugfile_open(const struct elffile *file, const char *path,
			     struct file_access *access, struct elffile **ret,
			     char **ret_path);

#endif
