/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One ELF file: its executable bytes, its functions, and where data can be
 * written. All addresses are the file's own (before relocation).
 *
 * Function bounds come from .symtab, .dynsym (also where only DT_GNU_HASH
 * tells its size), .eh_frame and .eh_frame_hdr, and the separate debug file
 * (build-id, debug-link), whatever of these there is, merged. Program headers
 * and .dynamic serve when there are no sections.
 *
 * Files are untrusted: corrupt, truncated and section-less ones give
 * ERROR_FORMAT naming the file, or fewer functions, never a crash.
 */
#ifndef IMAGE_ELFTEXT_H
#define IMAGE_ELFTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elffile;
struct elftext;
struct error;
struct file_access;

struct elf_function {
	uint64_t start;
	/* mangled; owned by the elftext; NULL when only CFI knows it */
	const char *name;
	uint32_t size; /* one that is larger is cut */
	/* an STT_GNU_IFUNC resolver's symbol or one of its kind */
	bool ifunc;
	/*
	 * of its name, or 0: to read the names themselves, which have another
	 * order in memory, takes longer than everything else for a function
	 */
	char initial;
};

/*
 * Open path and read the headers; name is for messages. Contents, functions and
 * data symbols are read when they are first needed. A small file that was
 * written to meanwhile has none.
 */
struct error *elftext_open(const char *path, const char *name,
			   struct elftext **ret);
/*
 * The same of an open file, which is taken over, also on failure; access is how
 * its debug file is opened, and must outlive it; NULL is fine.
 */
struct error *elftext_open_file(int fd, const char *name,
				struct file_access *access,
				struct elftext **ret);
void elftext_close(struct elftext *text);

/* False: it is a mapped file that was truncated since it was opened. */
bool elftext_is_whole(const struct elftext *text);

/*
 * Read the functions now, unless that has been done, and return errors. Without
 * this call, an error means that there are no functions.
 */
struct error *elftext_read(const struct elftext *text);
/* Has that been done? For tests. */
bool elftext_is_read(const struct elftext *text);

/*
 * By start, not overlapping, all within executable bytes; the PLT is not
 * among them. A symbol without a size that CFI does not bound is left out:
 * where its code ends is not known.
 */
const struct elf_function *elftext_functions(const struct elftext *text,
					     size_t *ret_count);

/* The function that holds address, or NULL. */
const struct elf_function *elftext_function_at(const struct elftext *text,
					       uint64_t address);

/*
 * Bytes of the file at address (from a PT_LOAD segment's file contents) and
 * how many follow in *ret_size; NULL when there are none, or when the file has
 * been truncated since. Valid until elftext_close().
 */
const uint8_t *elftext_bytes(const struct elftext *text, uint64_t address,
			     size_t *ret_size);

/* Is [address, +size) in memory that stays read-only (R-X, R--, RELRO)? */
bool elftext_readonly(const struct elftext *text, uint64_t address,
		      uint64_t size);

/* Is it in .plt, .plt.got, .plt.sec (or what looks so without sections)? */
bool elftext_in_plt(const struct elftext *text, uint64_t address);

/* Is it in a restartable sequence that a __rseq_cs section describes? */
bool elftext_in_rseq(const struct elftext *text, uint64_t address);

/*
 * The mangled name of the data symbol that holds address (.symtab, .dynsym),
 * with its bounds, or NULL.
 */
const char *elftext_data_symbol(const struct elftext *text, uint64_t address,
				uint64_t *ret_start, uint64_t *ret_size);

/* Lower-case hex of the build id, or NULL. */
const char *elftext_build_id(const struct elftext *text);

/*
 * The difference between run-time and file addresses, from an executable
 * mapping of `offset` at `start`; false if no executable segment matches.
 * (Others do not tell: two segments may share a page of the file.)
 */
bool elftext_bias(const struct elftext *text, uint64_t start, uint64_t offset,
		  uint64_t *ret_bias);

/* The bytes of its thread-local variables, with alignment; 0: none. */
uint64_t elftext_tls_size(const struct elftext *text);

/* The first entry of .dynamic with that tag; false if there is none. */
bool elftext_dynamic(const struct elftext *text, int64_t tag, uint64_t *ret);

/* Is it linked for its place, so that it is not relocated? */
bool elftext_is_fixed(const struct elftext *text);

/* Is it a program without an interpreter (static or static-pie)? */
bool elftext_is_static(const struct elftext *text);

/* DT_SONAME or NULL. */
const char *elftext_soname(const struct elftext *text);

/* The pages the PT_LOAD segments cover, from the lowest to the highest. */
void elftext_extent(const struct elftext *text, uint64_t *ret_start,
		    uint64_t *ret_end);

/* Neither symbol table nor DWARF, in the file or a separate debug file. */
bool elftext_is_stripped(const struct elftext *text);

/* The path of the separate debug file, or NULL. */
const char *elftext_debug_path(const struct elftext *text);

/* The file itself, and its debug file or NULL; for the rest of src/image only. */
const struct elffile *elftext_file(const struct elftext *text);
const struct elffile *elftext_debug_file(const struct elftext *text);

/* As elftext_open, of bytes in memory (a vDSO), which are copied. */
struct error *elftext_create_copy(const void *bytes, size_t size,
				  const char *name, struct elftext **ret);

#endif
