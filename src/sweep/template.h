/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command of a run: "{seed}" and "{run}" in it are replaced by that run's
 * numbers, so that a test with a seed of its own varies too.
 */
#ifndef SWEEP_TEMPLATE_H
#define SWEEP_TEMPLATE_H

#include <stdint.h>

struct error;
struct strbuf;

/* Append the word with both replaced. */
void template_add(struct strbuf *out, const char *word, uint64_t seed,
		  uint64_t run);

/*
 * The command with all its words filled in: an array that ends in NULL, in one
 * piece of memory, which the caller frees.
 */
struct error *template_fill(char *const *command, uint64_t seed, uint64_t run,
			    char ***ret);

#endif
