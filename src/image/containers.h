/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Elements of the containers of GNU's C++ library whose memory has no pointer of
 * their type to it: of std::map, set, unordered_map, unordered_set, list,
 * forward_list and deque. An element is told only if the container's own pointers
 * lead to it, or its pointers to the container. Private to src/image.
 */
#ifndef IMAGE_CONTAINERS_H
#define IMAGE_CONTAINERS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame_memory;

/* The part of a container that has the pointers, and what it is a part of. */
struct container {
	Dwarf_Die type; /* plain: "_Rb_tree<...>" */
	uint64_t address;
	const struct frame_memory *memory;
};

struct element_found {
	Dwarf_Die type;
	uint64_t
		start; /* its address; of a pair, that of the value, if it has the bytes */
	char key[40]; /* "7", "\"name\"", or "?": not known, or there is none */
};

/*
 * The member that has such a part and adds nothing to the container's name:
 * "._M_t", or "" if it is a base class; NULL: it is of no container.
 */
const char *container_member(Dwarf_Die *type);

/*
 * The element that has the bytes. *steps is how many reads of memory it may take,
 * and how many are left; each takes a microsecond or two.
 */
bool container_find(const struct container *container, uint64_t address,
		    uint64_t size, unsigned int *steps,
		    struct element_found *ret);

/* Is a type the links of a node? What is behind them is the element. */
bool container_is_links(Dwarf_Die *type);

#endif
