/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The image of a live process: its maps and the ELF modules in them, updated as
 * libraries are loaded and unloaded, with the names of code and data in them.
 * Reads files and /proc only; never stops the process.
 */
#ifndef IMAGE_IMAGE_H
#define IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "image/maps.h"

struct elftext;
struct error;
struct file_access;
struct image;
struct opener;
struct rights;
struct stat;

/* A file that is mapped executable, or the vDSO. */
struct module {
	char *path; /* as in maps; "[vdso]" for the vDSO */
	const char *name; /* the last part of path */
	uint64_t bias; /* run-time address = file address + bias */
	/* run-time; all of the module's pages, .bss included */
	uint64_t start, end;
	struct elftext *text; /* NULL when unreadable; see problem */
	char *problem; /* why text is NULL */
	uint64_t id; /* never used again for another module */
	bool main; /* the executable */
	bool vdso;
	bool loader; /* the program interpreter */
};

/* The image of pid, empty until image_refresh(). */
struct error *image_create(int pid, struct image **ret);

/*
 * The image of a single ELF file at bias 0 (for `sites ELF`): one module and
 * no maps. Refreshing it does nothing.
 */
struct error *image_create_file(const char *path, struct image **ret);
void image_destroy(struct image *image);

/*
 * The process has ended; from now on it is the image of this one, which has the
 * same modules at the same addresses (fork(2)).
 */
void image_follow(struct image *image, int pid);

/* Does its executable have that status (stat(2)), as when it was opened? */
bool image_runs_file(const struct image *image, const struct stat *status);

/*
 * Its process has ended. From now on it is the image of this process, which has
 * executed the same file (image_runs_file()). Old modules that the next
 * image_refresh() finds, at whatever address, keep their ids and what was read
 * of them.
 */
void image_take_over(struct image *image, int pid);

/*
 * From now on, ask the debuginfod servers of DEBUGINFOD_URLS for the debug
 * files that are not on this machine. Waits for each at most limit_ns; if one
 * takes longer, no more are requested. Without this call the network is never
 * used.
 */
void image_ask_servers(struct image *image, uint64_t limit_ns);
/* How long to wait; 0: do not ask. */
uint64_t image_servers_limit(const struct image *image);

/*
 * From now on, the opener, which must outlive the image, opens the files.
 * Without one, this process opens them, and may wait without a limit. Files
 * that the process has mapped are opened with our rights; files that these
 * name, with those of the process.
 */
void image_use_opener(struct image *image, struct opener *opener);
/* How the rest of src/image opens files. */
struct file_access *image_access(struct image *image);

/* What its files name may be opened with; NULL: our own rights. */
const struct rights *image_rights(struct image *image);

/* The process that it is of; 0: none, a file. */
int image_pid(const struct image *image);

/*
 * Read the maps again. Modules no longer mapped where they were are dropped,
 * new ones opened; pointers to modules that stayed remain valid. What is in a
 * module (elftext_read()) is read when that is first asked for. *ret_changed:
 * did the set change? error_gone when the process has exited; the image then
 * stays as it was.
 */
struct error *image_refresh(struct image *image, bool *ret_changed);

/* struct module *, by address. */
const struct vec *image_modules(const struct image *image);
const struct maps *image_maps(const struct image *image);
struct module *image_module_at(const struct image *image, uint64_t address);

/*
 * Data of another file of src/image that belongs to an image. It is destroyed
 * with the image, before any module's elftext is closed.
 */
struct image_kept {
	void *data; /* NULL: nothing yet, and the functions need not be set */
	void (*destroy)(void *data);
	/*
	 * Modules are at other addresses now (image_take_over()). False: it is to
	 * be destroyed. NULL: so it always is.
	 */
	bool (*move)(void *data);
};

/* Debug information: debuginfo.c. */
struct image_kept *image_debuginfo(struct image *image);
/* What unwinding by libunwind needs: unwindunw.c. */
struct image_kept *image_unw_space(struct image *image);

#endif
