/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A ring of sites; see queue.h.
 */
#include "schedule/queue.h"

#include <stdlib.h>
#include <string.h>

void queue_deinit(struct queue *queue)
{
	free(queue->sites);
	memset(queue, 0, sizeof(*queue));
}

/* Is there room for one more? */
static bool queue_has_room(struct queue *queue)
{
	if (!queue->sites) {
		queue->sites = calloc(QUEUE_MAX, sizeof(*queue->sites));
		if (!queue->sites)
			return false;
		queue->capacity = QUEUE_MAX;
	}
	return queue->count < queue->capacity;
}

bool queue_push_first(struct queue *queue, const struct wire_site *site)
{
	if (!queue_has_room(queue))
		return false;
	queue->head = (queue->head + queue->capacity - 1) % queue->capacity;
	queue->sites[queue->head] = *site;
	queue->count++;
	return true;
}

bool queue_push(struct queue *queue, const struct wire_site *site)
{
	if (!queue_has_room(queue))
		return false;
	queue->sites[(queue->head + queue->count++) % queue->capacity] = *site;
	return true;
}

struct wire_site queue_pop(struct queue *queue)
{
	struct wire_site site = queue->sites[queue->head];

	queue->head = (queue->head + 1) % queue->capacity;
	queue->count--;
	return site;
}

bool queue_in_range(const struct wire_site *site,
		    const struct wire_range *range)
{
	return site->program == range->program &&
	       site->address >= range->start && site->address < range->end;
}

void queue_forget(struct queue *queue, const struct wire_range *range)
{
	for (size_t n = queue->count; n > 0; n--) {
		struct wire_site site = queue_pop(queue);

		if (!queue_in_range(&site, range))
			queue_push(queue, &site);
	}
}

bool queue_take(struct queue *queue, uint64_t id, struct wire_site *ret)
{
	bool found = false;

	for (size_t n = queue->count; n > 0; n--) {
		struct wire_site site = queue_pop(queue);

		if (!found && site.id == id) {
			*ret = site;
			found = true;
		} else {
			queue_push(queue, &site);
		}
	}
	return found;
}

bool queue_has_program(const struct queue *queue, uint32_t program)
{
	for (size_t i = 0; i < queue->count; i++) {
		size_t at = (queue->head + i) % queue->capacity;

		if (queue->sites[at].program == program)
			return true;
	}
	return false;
}
