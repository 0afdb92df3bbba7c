/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A bounded queue of sites of any program, first in, first out, but for those
 * that go before all others.
 */
#ifndef SCHEDULE_QUEUE_H
#define SCHEDULE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/message.h"
#include "wire/site.h"

enum { QUEUE_MAX = 8192 };

/* All zeros: empty. It takes its memory at the first push. */
struct queue {
	struct wire_site *sites; /* owned */
	size_t head, count, capacity;
};

void queue_deinit(struct queue *queue);

/* False: it is full, or there is no memory. */
bool queue_push(struct queue *queue, const struct wire_site *site);
/*
 * The same, before all that are in it: the last that was pushed so is the first
 * to go. It is what was seen running last.
 */
bool queue_push_first(struct queue *queue, const struct wire_site *site);

/* Take out the first, of one that is not empty. */
struct wire_site queue_pop(struct queue *queue);

/* Is the site the program's at one of these addresses? */
bool queue_in_range(const struct wire_site *site,
		    const struct wire_range *range);

/* Drop the sites of the program at these addresses. */
void queue_forget(struct queue *queue, const struct wire_range *range);

/* Take the first with that id out. False: there is none. */
bool queue_take(struct queue *queue, uint64_t id, struct wire_site *ret);

/* Is a site of the program in it? */
bool queue_has_program(const struct queue *queue, uint32_t program);

#endif
