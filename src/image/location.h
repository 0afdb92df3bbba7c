/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a variable is in a frame: DWARF location expressions and lists (DWARF
 * 5, sections 2.5 and 2.6) evaluated over the registers and the memory there
 * are. A variable that needs the caller's registers (DW_OP_entry_value) or was
 * optimized away is not found. Private to src/image.
 */
#ifndef IMAGE_LOCATION_H
#define IMAGE_LOCATION_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame_memory;
struct frame_registers;

/* A frame of the function whose variables are read. */
struct frame_view {
	Dwarf_Die function; /* has the frame base */
	uint64_t pc; /* as in the DWARF */
	uint64_t bias; /* run-time address = DWARF address + bias */
	const struct frame_registers *registers;
	const struct frame_memory *memory;
};

enum { LOCATION_BYTES_MAX = 64 };

struct location {
	bool in_memory;
	uint64_t address; /* in memory: run-time */
	/* else its bytes, in registers or computed; bit n of known: byte n is */
	uint8_t bytes[LOCATION_BYTES_MAX];
	uint64_t known;
};

/* Evaluate the DW_AT_location of the variable's DIE at the frame's pc. */
bool location_find(const struct frame_view *frame, Dwarf_Die *variable,
		   struct location *ret);

/*
 * Read bytes of the variable, from its offset on; false if they are not known.
 */
bool location_read(const struct frame_view *frame,
		   const struct location *location, uint64_t offset,
		   void *bytes, size_t size);

#endif
