/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The heap block that has the bytes of a conflict, by the headers of the GNU C
 * library's malloc(3). What was seen of it while the threads were held (struct
 * wire_chunks) may be left from an earlier block, or be data that looks the same.
 * So it counts only if it is one of the blocks that follow each other from the
 * start of the heap, as it is now, or mapped alone. A heap that is too large to be
 * walked through names no block, nor does another allocator.
 */
#ifndef CONFLICT_BLOCK_H
#define CONFLICT_BLOCK_H

struct conflict;
struct error;
struct race_block;

/*
 * Fill in *ret, which is empty and stays so if no block is known. The process may
 * run on meanwhile: a block that it has freed since may be unknown. ERROR_NOMEM only.
 */
struct error *block_find(const struct conflict *conflict,
			 struct race_block *ret);

#endif
