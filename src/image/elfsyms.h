/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The symbols of an ELF file that name code or data. Private to src/image.
 * From .symtab and .dynsym by section, and from .dynamic (DT_SYMTAB, its
 * size by DT_HASH or DT_GNU_HASH) where there are no sections: libelf knows
 * symbols by section only. It finds the tables, but the symbols in them are read
 * here, as it would copy each of a hundred thousand by a call.
 */
#ifndef IMAGE_ELFSYMS_H
#define IMAGE_ELFSYMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct elffile;

struct elf_symbol {
	uint64_t start;
	uint64_t size; /* 0: unknown */
	const char *name; /* in the file's bytes */
	uint8_t type; /* STT_FUNC, STT_GNU_IFUNC, STT_OBJECT */
	uint8_t rank; /* the higher of two names for one thing is better */
	char initial; /* the first letter of its name */
};

/*
 * Append to code and to data (of struct elf_symbol); one of them may be NULL:
 * those are passed over. False: no memory.
 */
bool elfsyms_collect(const struct elffile *file, struct vec *code,
		     struct vec *data);

#endif
