/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names for memory that is not a global variable: expressions such as
 * "node->used", "server->queue->length" or "entries[9]", or the local variable
 * that it is. An expression begins at a variable in scope in a frame of the
 * access, or at a global that a function of these frames refers to, and follows
 * pointers. Types come from DWARF, values from the registers and memory at the
 * access: a name is found only if an object with a type holds the bytes.
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
 * Fill in name, symbol (of a variable, else the type of the struct pointed to),
 * offset, inner, type, container, file and line (where these were declared) of
 * *ret, leaving the rest. The best of several names is that with the fewest
 * steps from the innermost function; *ret_rank is its rank (less is better), to
 * choose between the names of two threads. *ret_found: false, and nothing
 * filled in, when there is none. ERROR_NOMEM only.
 */
struct error *pointers_name(struct image *image,
			    const struct pointer_query *query,
			    struct data_name *ret, unsigned int *ret_rank,
			    bool *ret_found);

#endif
