/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The search of pointers.h: a breadth-first search of objects that follows each
 * pointer in them to another object. Private to src/image.
 */
#ifndef IMAGE_REACH_H
#define IMAGE_REACH_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "image/location.h"

struct pointer_query;

/* An object with its type and the expression that names it. */
struct reach_object {
	char *name; /* as an operand: "node", "(*table)" */
	bool arrow; /* the name is of a pointer to it */
	Dwarf_Die type;
	struct location place;
	unsigned int rank; /* of what is found in it */
	unsigned int depth; /* pointers followed from the variable */
};

/* The best name so far. */
struct reach_found {
	char *name; /* NULL: none */
	unsigned int rank;
	Dwarf_Die type; /* of the object that holds the bytes */
	uint64_t offset; /* of the bytes in it */
	/* the variable, if they are its own and not pointed to */
	bool is_variable;
	Dwarf_Die variable;
};

struct reach {
	const struct pointer_query *query;
	struct frame_view view; /* for reading memory */
	struct vec objects; /* of struct reach_object; a queue */
	struct map seen; /* addresses of objects in the queue */
	struct reach_found found;
	unsigned int pointers; /* looked at so far */
	bool own_only; /* take variables only for their own bytes */
	bool failed; /* out of memory */
};

void reach_init(struct reach *reach, const struct pointer_query *query);
void reach_deinit(struct reach *reach);

/*
 * Begin with a variable; name is handed over (NULL: out of memory). If the
 * bytes are its own, that is found at once, and no name is better.
 */
void reach_add_variable(struct reach *reach, Dwarf_Die *variable, char *name,
			const struct location *place, unsigned int rank);

/* Follow pointers until something is found or nothing is left. */
void reach_search(struct reach *reach);

#endif
