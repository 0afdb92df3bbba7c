/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many sites there are in each module, and how many of them were sampled:
 * a list with an entry for each path.
 */
#ifndef SAMPLING_COVERAGE_H
#define SAMPLING_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "report/run.h"

/*
 * For vectors of struct run_coverage, whose paths they own: add to the entry of the path. False when out
 * of memory.
 */
bool coverage_add(struct vec *list, const char *path, uint64_t known,
		  uint64_t sampled);

/* All of another list. */
bool coverage_add_all(struct vec *list, const struct vec *other);

/* Free it with its paths. */
void coverage_deinit(struct vec *list);

#endif
