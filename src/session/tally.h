/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was seen of each program, by the path of its executable: a script may
 * run one of them many times.
 */
#ifndef SESSION_TALLY_H
#define SESSION_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "report/run.h"

/*
 * The position in a vec of struct run_program, which owns their paths, of that
 * path, which is added if need
 * be. SIZE_MAX: out of memory.
 */
size_t tally_find(struct vec *tallies, const char *path);

/* Add what one program came to. False: out of memory. */
bool tally_add(struct vec *tallies, const char *path,
	       const struct run_program *figures);

/* Is there something to say of it: had it a second thread, or samples? */
bool tally_is_told(const struct run_program *tally);

/* Those with the most samples first, of several as many by their paths. */
void tally_sort(struct vec *tallies);

void tally_deinit(struct vec *tallies);

#endif
