/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call instructions, told from the bytes without decoding what is before them
 * (Intel SDM volume 2A, "CALL", "JMP"): the return address that one leaves on the
 * stack, and the functions that a direct one leads to.
 */
#ifndef X86_CALL_H
#define X86_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No form of a near call without needless prefixes is longer. */
enum { X86_CALL_MAX = 7 };

/*
 * Can a near call end right behind these bytes? They are the last X86_CALL_MAX
 * before an address, or fewer where the text begins there. True of every return
 * address, and of few other addresses.
 */
bool x86_ends_in_call(const uint8_t *bytes, size_t size);

/*
 * Where the next direct call, or jump with 32 bits, leads to; `address' is that
 * of bytes[0]. Looks from bytes[*at] on, and leaves in *at where to go on. False:
 * there is no more. Other bytes may look like such an instruction: the caller
 * takes the targets at which a function begins.
 */
bool x86_next_callee(const uint8_t *bytes, size_t size, uint64_t address,
		     size_t *at, uint64_t *ret_target);

#endif
