/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Repeating a run of a sweep: a shell script in its folder that starts
 * racewatch run with the same options, working directory and environment
 * variables, and with what had been learned before the run.
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
	/* in argv, behind the options that only the sweep has */
	int first;
	uint64_t run, seed;
};

/*
 * Write FOLDER/again, and keep a copy of the file that --state names as
 * FOLDER/learned.jsonl.
 */
struct error *again_write(const struct again *again);

/* Append the word, quoted for the shell if necessary. */
void again_add_word(struct strbuf *out, const char *word);

/*
 * The run showed nothing: delete the copy, which may be large, and the script.
 */
void again_forget(const char *folder);

#endif
