/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes of an access as a readable value. */
#ifndef REPORT_VALUE_H
#define REPORT_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

/*
 * Append 1, 2, 4 or 8 bytes as a little-endian number: signed, floating-point
 * or a pointer in hexadecimal where type (NULL: unknown) is such a type of just
 * this size, else unsigned. Where the type does not tell whether there is a
 * sign, a number just below 2^32 or 2^64 is told in both ways:
 * "18446744073709533478 (-18138)". Other sizes: two hexadecimal digits a byte,
 * in the order of addresses.
 */
void value_add(struct strbuf *buf, const uint8_t *bytes, uint32_t size,
	       const char *type);

/* Whether value_add() writes a number. */
bool value_is_number(uint32_t size);

#endif
