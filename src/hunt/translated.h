/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A superblock of a recording (TRACE_SUPERBLOCK), and the accesses of a step
 * that executed it.
 */
#ifndef HUNT_TRANSLATED_H
#define HUNT_TRANSLATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hunt/trace-file.h"
#include "hunt/trace-stream.h"

/* Its arrays are the file's. */
struct translated {
	const struct trace_superblock *head;
	const struct trace_slot *slots;
	const struct trace_exit *exits;
	const uint8_t *lengths;
	const unsigned char *code;
};

/* False: the chunk contradicts itself. */
bool translated_read(const struct trace_item *item, struct translated *ret);

struct translated_access {
	uint64_t address, value;
	uint32_t instruction; /* of the superblock, from 0 */
	uint16_t size;
	uint8_t flags; /* bits of enum trace_access */
	bool has_value;
	bool done; /* else nothing was accessed: a failed compare-and-swap wrote */
};

/*
 * The accesses of a step that was left by that exit, in order, by its words;
 * room for translated_count() of them.
 */
size_t translated_count(const struct translated *translated, uint32_t exit);
void translated_accesses(const struct translated *translated, uint32_t exit,
			 const uint64_t *words, struct translated_access *ret);

/* The address of an instruction, from 0, in the recording. */
uint64_t translated_address(const struct translated *translated,
			    uint32_t instruction);

#endif
