/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a recorder reads of an ELF file (elf(5)): where it is loaded, its build
 * id, its functions. It does not use libelf, since it may run without a C
 * library. A file that contradicts itself has none of them.
 */
#ifndef RECORDER_ELF_H
#define RECORDER_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file {
	uint64_t bias; /* of addresses, as one part of the file is mapped */
	uint64_t low, high; /* addresses of the file's: [low, high) */
	uint32_t build_id_size;
	uint8_t build_id[32];
};

struct elf_function {
	const char *name; /* ends at '@' or zero; valid during the call */
	size_t length;
	uint64_t value; /* the file's own address */
	uint64_t size;
	bool resolver; /* STT_GNU_IFUNC: value is of what chooses one */
};

/*
 * The file at path, of which what is at `offset' is mapped as code at address.
 * False: it cannot be read, or is no ELF file with that part.
 */
bool elf_read(const char *path, uint64_t address, uint64_t offset,
	      struct elf_file *ret);

/* Call found() for each function that the file's symbol tables define. */
void elf_each_function(const char *path,
		       void (*found)(void *data,
				     const struct elf_function *function),
		       void *data);

#endif
