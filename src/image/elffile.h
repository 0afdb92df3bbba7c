/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One x86-64 ELF file. Private to src/image. libelf reads the file, its headers,
 * sections, notes and dynamic entries, and checks them against the size of the
 * file. Our own code does what libelf does not:
 * - it drops segments that overflow and cuts off what lies outside the file, so
 *   a truncated file has less in it and nothing worse;
 * - it finds contents by their address, which libelf does only by section;
 * - it notices that a file changed or shrank after it was opened.
 *
 * libelf reads small files into memory and maps large ones, also those of a
 * megabyte in the system's folders. A mapped file that somebody truncates has
 * zeros from there on (base/truncated.h), or else kills us with SIGBUS, so
 * elffile_intact() is asked before a use that comes long after opening, and
 * after one whose results are kept. Of a small file only the headers are read
 * at first, until elffile_read() is called: it has segments and sections
 * without contents. It stays open till then, unless descriptors are scarce.
 */
#ifndef IMAGE_ELFFILE_H
#define IMAGE_ELFFILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct stat;

enum { ELFFILE_PAGE = 4096 };

/*
 * Identifies a file and its contents: no user can give another file, or other
 * contents, the same stamp. All zero if it is not a file on a disk.
 */
struct file_stamp {
	uint64_t device, inode, size;
	int64_t written_s, written_ns;
	int64_t changed_s, changed_ns;
};

struct file_stamp file_stamp_of(const struct stat *status);
bool file_stamp_same(const struct file_stamp *one,
		     const struct file_stamp *two);

struct elffile {
	Elf *elf;
	bool fixed; /* ET_EXEC, else ET_DYN */
	const uint8_t *bytes; /* NULL: still to be read */
	size_t size;
	struct file_stamp stamp; /* as it was opened */
	/*
	 * of a debug file, what its path led to: where the file system might not
	 * answer, a copy in memory was opened
	 */
	struct file_stamp named;
	/*
	 * it was not changed shortly before: what changes it later changes the
	 * stamp, however coarse the times of its file system are
	 */
	bool settled;
	int fd; /* -1 unless mapped, or still to be read */
	uint64_t intact_ns; /* clock_now_ns() when it was last seen to be */
	unsigned int fills; /* truncated_fills() of which none was for it */
	void *copy; /* the bytes, where they were copied */
	size_t names; /* the section of names; 0: none that is sound */
	Elf64_Phdr *segments;
	size_t segment_count;
};

/* A piece of the file that is loaded at address. */
struct elf_span {
	const uint8_t *bytes;
	uint64_t address;
	uint64_t size;
};

/*
 * Read the headers of an open file; name is for messages. fd is taken over,
 * also on failure.
 */
struct error *elffile_open(int fd, const char *name, struct elffile **ret);
/*
 * Read the contents, unless that has been done. It is an error if the file was
 * written to since it was opened: its headers may be of other contents. It has
 * no contents then, and the next call does not try again; it does after
 * ERROR_NOMEM.
 */
struct error *elffile_read(struct elffile *file, const char *name);
/* Of bytes in memory, which are copied. */
struct error *elffile_create_copy(const void *bytes, size_t size,
				  const char *name, struct elffile **ret);
void elffile_close(struct elffile *file);

/*
 * False when the file has become shorter than what was mapped, or was for a
 * time and something was read then. It is checked at most once in a
 * millisecond, since a walk over all functions calls this for each of them. The
 * file may be truncated between check and use in any case.
 */
bool elffile_intact(struct elffile *file);

/* File contents from a loaded address to the end of its segment. */
bool elffile_at(const struct elffile *file, uint64_t address,
		struct elf_span *ret);

/* The end of the executable file contents that hold address, or 0. */
uint64_t elffile_exec_end(const struct elffile *file, uint64_t address);

/* NULL: it has none, or the contents have not been read. */
const char *elffile_section_name(const struct elffile *file, Elf_Scn *section);
/* The next section of that name after another one; NULL: the first. */
Elf_Scn *elffile_section(const struct elffile *file, const char *name,
			 Elf_Scn *after);
/* The first of that type. */
Elf_Scn *elffile_section_type(const struct elffile *file, uint32_t type);
/*
 * Its contents, at least one byte; false for NULL, SHT_NOBITS, compressed, or
 * outside the file.
 */
bool elffile_contents(const struct elffile *file, Elf_Scn *section,
		      struct elf_span *ret);

const Elf64_Phdr *elffile_segment_type(const struct elffile *file,
				       uint32_t type);

/* The first entry of .dynamic with that tag; false if there is none. */
bool elffile_dynamic(const struct elffile *file, int64_t tag, uint64_t *ret);

/* A NUL-terminated string that lies wholly in the table, or NULL. */
const char *elf_string(const struct elf_span *table, uint64_t offset);

/* The GNU build id, in the file's notes; NULL if there is none. */
const uint8_t *elffile_build_id(const struct elffile *file, size_t *ret_size);

#endif
