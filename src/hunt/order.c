/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Vector clocks of creations and joins; see order.h. A row is the clock of a
 * thread from one of its accesses on: for each thread, how many of its epochs are
 * over for it. A row begins with the thread and with each of its joins.
 */
#include "hunt/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hunt/recording.h"

/* All of a thread's epochs: it was joined. */
static const uint32_t ALL = UINT32_MAX;

struct edge {
	uint64_t sequence;
	size_t at; /* place in the file */
	uint32_t from, to; /* places of threads */
	bool joins;
};

struct order_row {
	uint64_t after; /* accesses with greater numbers */
	uint32_t *clock; /* by place of the thread */
};

struct order_thread {
	struct vec rows; /* of struct order_row */
	struct vec creations; /* of uint64_t: numbers at which an epoch ends */
};

struct order {
	const struct recording *recording;
	struct order_thread *threads;
	size_t count;
	bool limited;
};

static uint32_t place_of(const struct recording *recording, uint32_t id)
{
	return (uint32_t)*map_get(&recording->thread_ids, id);
}

static int compare_edges(const void *one, const void *two)
{
	const struct edge *a = one, *b = two;

	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static bool add_edges(const struct recording *recording, uint32_t place,
		      struct vec *edges)
{
	const struct recording_thread *thread =
		vec_at(&recording->threads, place);
	const struct trace_thread *raw = &thread->raw;
	struct edge edge = {
		.sequence = raw->created,
		.at = thread->born_at,
		.to = place,
	};

	if (raw->parent && raw->created != TRACE_NEVER) {
		edge.from = place_of(recording, raw->parent);
		if (!vec_push(edges, &edge))
			return false;
	}
	if (!raw->joiner || raw->joined == TRACE_NEVER ||
	    raw->joiner == raw->id)
		return true;
	edge = (struct edge){
		.sequence = raw->joined,
		.at = thread->joined_at,
		.from = place,
		.to = place_of(recording, raw->joiner),
		.joins = true,
	};
	return vec_push(edges, &edge);
}

static const struct order_row *last_row(const struct order_thread *thread)
{
	return vec_at(&thread->rows, thread->rows.count - 1);
}

/* A new row of the thread: its last one, if any, and what is of the other's. */
static bool add_row(struct order *order, const struct edge *edge)
{
	struct order_thread *to = &order->threads[edge->to];
	struct order_thread *from = &order->threads[edge->from];
	struct order_row row = { .after = edge->joins ? edge->sequence : 0 };
	const uint32_t *own, *other;

	row.clock = calloc(order->count, sizeof(*row.clock));
	if (!row.clock)
		return false;
	own = to->rows.count ? last_row(to)->clock : row.clock;
	other = from->rows.count ? last_row(from)->clock : row.clock;
	for (size_t i = 0; i < order->count; i++)
		row.clock[i] = own[i] > other[i] ? own[i] : other[i];
	row.clock[edge->from] = edge->joins ? ALL
					    : (uint32_t)from->creations.count;
	if (vec_push(&to->rows, &row))
		return true;
	free(row.clock);
	return false;
}

static bool follow(struct order *order, const struct edge *edge)
{
	if (!edge->joins &&
	    !vec_push(&order->threads[edge->from].creations, &edge->sequence))
		return false;
	return add_row(order, edge);
}

static bool fill(struct order *order)
{
	struct vec edges = VEC_INIT(struct edge);
	bool fine = true;

	for (size_t i = 0; fine && i < order->count; i++)
		fine = add_edges(order->recording, (uint32_t)i, &edges);
	if (fine && edges.count)
		qsort(edges.items, edges.count, edges.size, compare_edges);
	for (size_t i = 0; fine && i < edges.count; i++)
		fine = follow(order, vec_at(&edges, i));
	vec_deinit(&edges);
	return fine;
}

struct error *order_create(const struct recording *recording,
			   struct order **ret)
{
	struct order *order = calloc(1, sizeof(*order));

	if (!order)
		return error_nomem;
	order->recording = recording;
	order->count = recording->threads.count;
	order->limited = order->count > ORDER_THREADS_MAX;
	order->threads = calloc(order->count + 1, sizeof(*order->threads));
	for (size_t i = 0; order->threads && i < order->count; i++) {
		order->threads[i].rows.size = sizeof(struct order_row);
		order->threads[i].creations.size = sizeof(uint64_t);
	}
	if (!order->threads || (!order->limited && !fill(order))) {
		order_destroy(order);
		return error_nomem;
	}
	*ret = order;
	return NULL;
}

void order_destroy(struct order *order)
{
	if (!order)
		return;
	for (size_t i = 0; order->threads && i < order->count; i++) {
		struct order_thread *thread = &order->threads[i];

		for (size_t n = 0; n < thread->rows.count; n++)
			free(((struct order_row *)vec_at(&thread->rows, n))
				     ->clock);
		vec_deinit(&thread->rows);
		vec_deinit(&thread->creations);
	}
	free(order->threads);
	free(order);
}

bool order_is_limited(const struct order *order)
{
	return order->limited;
}

/* The epoch of an access: how many creations came before it. */
static uint32_t epoch_of(const struct order_thread *thread, uint64_t sequence)
{
	const struct vec *creations = &thread->creations;
	size_t low = 0, high = creations->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (*(const uint64_t *)vec_at(creations, middle) < sequence)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t)low;
}

/* The last row that began before the access; NULL: there is none. */
static const struct order_row *row_of(const struct order_thread *thread,
				      uint64_t sequence)
{
	const struct order_row *row = NULL;

	for (size_t i = 0; i < thread->rows.count; i++) {
		const struct order_row *next = vec_at(&thread->rows, i);

		if (next->after >= sequence && i > 0)
			break;
		row = next;
	}
	return row && row->after < sequence ? row : NULL;
}

bool order_before(const struct order *order, uint32_t thread, uint64_t sequence,
		  uint32_t other, uint64_t from)
{
	const struct order_row *row;
	uint32_t place;

	if (thread == other)
		return sequence < from;
	if (order->limited)
		return false;
	place = place_of(order->recording, thread);
	row = row_of(&order->threads[place_of(order->recording, other)], from);
	return row &&
	       row->clock[place] > epoch_of(&order->threads[place], sequence);
}
