/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where threads were created. The creator stops whenever it creates a thread;
 * then its registers and the top of its stack are copied, which is enough to
 * unwind a few frames if the thread is ever part of a conflict. The copy is
 * freed with the thread. To limit the memory, there are at most CREATIONS_MAX
 * copies.
 */
#ifndef TRACER_CREATION_H
#define TRACER_CREATION_H

#include <stdint.h>

#include "wire/message.h"

struct thread;

/* Kept at once; about 2.3 KiB each. */
enum { CREATIONS_MAX = 1024 };

/* All zero: there are none. */
struct creations {
	uint32_t count; /* kept now */
};

/* The creator is stopped in the call that made the child. */
void creation_record(struct creations *creations, struct thread *child,
		     const struct thread *creator);

/* Free it, if there is one. */
void creation_forget(struct creations *creations, struct thread *thread);

/* Fill in ret; the return value is the stack's bytes, NULL for none. */
const uint8_t *creation_tell(const struct thread *thread,
			     struct wire_birth *ret);

#endif
