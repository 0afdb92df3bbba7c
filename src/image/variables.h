/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names for data addresses: globals, statics and static locals with their
 * field path by DWARF type ("shards[3].used"), symbol+offset without DWARF,
 * and the region otherwise.
 */
#ifndef IMAGE_VARIABLES_H
#define IMAGE_VARIABLES_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct image;

enum data_region {
	DATA_UNKNOWN,
	DATA_GLOBAL,
	/* [heap], thread arenas, and large anonymous mappings */
	DATA_HEAP,
	/* the first thread's; only registers tell others' from mappings */
	DATA_STACK,
	DATA_TLS,
	DATA_MAPPING,
};

struct data_name {
	/*
	 * Field path or symbol+offset; NULL: none. Members touched together
	 * are "state.{busy,level}", elements "table[2..3]".
	 */
	char *name;
	char *symbol; /* demangled */
	uint64_t offset; /* in the symbol */
	uint64_t inner; /* bytes of the access within the named field */
	char *type; /* of the named field, or NULL */
	char *container; /* innermost struct/class/union, "struct shard" */
	char *file; /* declaration; NULL: unknown */
	int line;
	enum data_region region;
	char *module; /* path of module or mapping; NULL: anonymous */
	/* file address in the module; else in the mapping */
	uint64_t module_offset;
};

/*
 * Name the bytes [address, address + size) of pid, which has the image's
 * modules but may have mappings of its own; 0: the image's process. Always fills *ret (a region at
 * least) unless out of memory. End with data_name_deinit().
 */
struct error *variables_name(struct image *image, int pid, uint64_t address,
			     uint32_t size, struct data_name *ret);

/*
 * Name bytes of the thread-local variables of the executable, by their offset
 * in its segment of them; fills in name, symbol, offset, inner, type,
 * container, file, line, region and module of *ret, if there is such a
 * variable.
 */
struct error *variables_name_local(struct image *image, uint64_t offset,
				   uint32_t size, struct data_name *ret);

/*
 * Have all variables of the module at that address ready, however long it
 * takes; what atomics.h says of them is certain only then.
 */
struct error *variables_prepare(struct image *image, uint64_t address);
void data_name_deinit(struct data_name *name);

#endif
