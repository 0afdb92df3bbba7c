/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names for memory that has none of its own: by the variables in scope of the
 * frames of the access, and the globals their functions refer to, that point
 * to it or to what points to it ("node->used", "server->queue->length",
 * "entries[9]"); or by the local variable that it is. Types come from DWARF,
 * values from the registers and memory as they were: a name is given only
 * where a typed object holds the bytes.
 */
#ifndef IMAGE_POINTERS_H
#define IMAGE_POINTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct data_name;
struct error;
struct image;
struct unwind_frame;

/* The memory of a process; false when not all the bytes can be read. */
struct frame_memory {
	bool (*read)(void *context, uint64_t address, void *bytes, size_t size);
	void *context;
};

struct pointer_query {
	/* of the thread; [0] is the access */
	const struct unwind_frame *frames;
	size_t frame_count;
	const struct frame_memory *memory;
	/* the bytes */
	uint64_t address;
	uint32_t size;
	/* of the access: the value of its base register; 0: not known */
	uint64_t base;
};

/*
 * Fill in name, symbol (of a variable, else the type of the struct pointed
 * to), offset, inner, type, container, file and line (where these were
 * declared) of *ret, leaving the rest. The best of several names is that with
 * the fewest steps from the innermost function; *ret_rank tells how good it is
 * (less is better), for choosing between two threads'. *ret_found: false, and
 * nothing filled in, when there is none. ERROR_NOMEM only.
 */
struct error *pointers_name(struct image *image,
			    const struct pointer_query *query,
			    struct data_name *ret, unsigned int *ret_rank,
			    bool *ret_found);

#endif
