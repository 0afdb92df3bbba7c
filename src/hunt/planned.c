/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The runs that are left; see planned.h.
 */
#include "hunt/planned.h"

void planned_tried(struct planned *planned, bool was_alone, bool over,
		   bool is_alone)
{
	struct planned_kind *kind = was_alone ? &planned->alone
					      : &planned->together;

	if (over || (!was_alone && is_alone))
		kind->left++;
	if (!over && !was_alone && is_alone)
		planned->to_alone++;
}

void planned_ran(struct planned *planned, bool alone, uint64_t elapsed_ns)
{
	struct planned_kind *kind = alone ? &planned->alone
					  : &planned->together;

	kind->runs++;
	kind->ns += elapsed_ns;
}

/* Runs for each side that leaves its kind; as given while that is not known. */
static double runs_a_side(const struct planned_kind *kind, double otherwise)
{
	return kind->left > 0 ? (double)kind->runs / (double)kind->left
			      : otherwise;
}

/* Of a kind that has not been run, what the other takes. */
static double run_ns(const struct planned_kind *kind,
		     const struct planned_kind *other)
{
	const struct planned_kind *known = kind->runs > 0 ? kind : other;

	return known->runs > 0 ? (double)known->ns / (double)known->runs : -1;
}

struct planned_rest planned_rest(const struct planned *planned,
				 const struct planned_sides *sides)
{
	uint64_t taken = sides->alone + sides->busy;
	double fresh = sides->pending > taken ? (double)(sides->pending - taken)
					      : 0;
	double batch = sides->batch > 0 ? (double)sides->batch : 1;
	double share = planned->together.left > 0
			       ? (double)planned->to_alone /
					 (double)planned->together.left
			       : 0;
	double together = fresh * runs_a_side(&planned->together, 1 / batch);
	double alone = ((double)sides->alone + fresh * share) *
		       runs_a_side(&planned->alone, 1);
	double ns = run_ns(&planned->together, &planned->alone);
	struct planned_rest rest = { .runs = together + alone, .ns = -1 };

	if (ns >= 0)
		rest.ns = (together + (double)sides->running / 2) * ns +
			  alone * run_ns(&planned->alone, &planned->together);
	return rest;
}
