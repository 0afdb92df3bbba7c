/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Return addresses: what a call instruction leaves on the stack (Intel SDM
 * volume 2A, "CALL").
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

#endif
