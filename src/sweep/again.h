/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run of a sweep once more: a shell script in its folder that starts
 * racewatch run with the same options, in the same directory and environment
 * variables of the sweep, and with what had been learned before the run.
 */
#ifndef SWEEP_AGAIN_H
#define SWEEP_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct strbuf;

struct again {
	const char *folder; /* of the run */
	char *const *argv; /* of racewatch run, ended by NULL */
	/* in argv, where the options that are of the sweep alone end */
	int first;
	uint64_t run, seed;
};

/*
 * Write FOLDER/again, and keep a copy of the file that --state names as
 * FOLDER/learned.jsonl.
 */
struct error *again_write(const struct again *again);

/* Append the word, in quotes where the shell would not take it as it is. */
void again_add_word(struct strbuf *out, const char *word);

/* The run showed nothing: drop the copy, which may be large, and the script. */
void again_forget(const char *folder);

#endif
