/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call instructions, recognized by their bytes without decoding those before
 * (Intel SDM volume 2A, "CALL", "JMP"): the return address that one leaves on
 * the stack, and the functions that a direct one leads to. Also those whose
 * address is loaded, as for a thread that begins there ("LEA", "MOV").
 */
#ifndef X86_CALL_H
#define X86_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No form of a near call without needless prefixes is longer. */
enum { X86_CALL_MAX = 7 };

/*
 * May the instruction that ends with these bytes be a near call? They are the
 * last X86_CALL_MAX before an address, or fewer at the beginning of the text.
 * True for every return address, and for few other addresses.
 */
bool x86_ends_in_call(const uint8_t *bytes, size_t size);

/*
 * The target of the next direct call, or jump with 32 bits, or the next address
 * that is loaded; `address' is that of bytes[0]. Searches from bytes[*at] on, and sets *at to where the next
 * search begins. False: there are no more. Other bytes may look like such an
 * instruction: the caller accepts only targets at which a function begins.
 */
bool x86_next_callee(const uint8_t *bytes, size_t size, uint64_t address,
		     size_t *at, uint64_t *ret_target);

#endif
