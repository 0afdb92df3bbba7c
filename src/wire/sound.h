/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Does a message of the front end say something that can be? The front end reads
 * files and memory of programs that nobody trusts; the tracer can write to any of
 * them. So the tracer believes nothing: a message that is not as its structure
 * says (wire/message.h) is dropped before anything looks at it. Whether an address
 * is that of code, breakpoint_arm() checks.
 */
#ifndef WIRE_SOUND_H
#define WIRE_SOUND_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/message.h"

/*
 * Is it a message that a front end may send, of the right size, with each number in
 * its range? The payload is aligned to 8 bytes, as channel_next() has it.
 */
bool wire_is_sound(enum wire_type type, const void *payload, size_t size);

/* The same of a site by itself. */
bool wire_site_is_sound(const struct wire_site *site);

#endif
