/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From where an instruction takes the addresses that it hands on: what is copied,
 * or an address plus or minus something. This is one step of tracking an address
 * backwards (ATDetector, MICRO 2011, section 3.2). Other results, as of a
 * multiplication or of fewer than 8 bytes, are no addresses.
 *
 * Registers are bit sets: bit i is the general register i of enum x86_reg,
 * ORIGINS_VECTORS + i the vector register i.
 */
#ifndef DATAFLOW_ORIGINS_H
#define DATAFLOW_ORIGINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decoder;

enum { ORIGINS_VECTORS = 16, ORIGINS_RESULTS = 3 };

/* What is written to some registers, to memory, or both. */
struct origins_result {
	uint64_t to;
	bool stored;
	/* it is made of the values that these registers had before */
	uint64_t from;
	bool loaded; /* and of what the instruction reads from memory */
	/*
	 * of a vector: each 8 bytes of it are those at the same place of the one
	 * register, or of the bytes that are loaded
	 */
	bool in_place;
};

struct origins {
	/*
	 * All registers that are written. Those that are in no result have no
	 * address, or it is not known of what.
	 */
	uint64_t written;
	struct origins_result results[ORIGINS_RESULTS];
	uint8_t count;
	/* the registers in the address of what it reads, and of what it writes */
	uint64_t read_at, written_at;
};

/*
 * The instruction with these bytes. One that cannot be decoded writes all
 * registers.
 */
void origins_find(struct decoder *decoder, const uint8_t *bytes, size_t size,
		  uint64_t address, struct origins *ret);

#endif
