/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Command-line options: one table per command is what parses them, what
 * --help prints and what --dump-options lists. What an option sets is a
 * member of the command's own structure, which holds the defaults before.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct error;

/* The kind of option, and the type of the member it sets. */
enum option_type {
	OPTION_FLAG, /* bool: set to true */
	OPTION_STRING, /* const char *: borrowed from argv */
	OPTION_LIST, /* struct vec of const char *: one more each time */
	OPTION_UINT64, /* uint64_t */
	OPTION_DURATION, /* uint64_t: nanoseconds */
	OPTION_CHOICE, /* int: index of the word in choices */
	OPTION_PERCENT, /* double: 0 to 100, with or without a fraction */
};

struct option_def {
	const char *name; /* long, without the dashes */
	char letter; /* short; 0: none */
	const char *arg; /* what --help calls the argument; NULL: takes none */
	const char *help; /* one sentence, without capital or full stop */
	enum option_type type;
	size_t offset; /* of the member */
	/* of OPTION_UINT64 and OPTION_DURATION; max 0: no upper limit */
	uint64_t min, max;
	/*
	 * Of OPTION_CHOICE; of OPTION_STRING and OPTION_LIST how values may
	 * begin, for completions. Ends in NULL.
	 */
	const char *const *choices;
};

struct option_table {
	const char *command; /* "run"; "racewatch": options of the program */
	const char *synopsis; /* "[options] [--] CMD [ARG...]" */
	const char *summary; /* a sentence, for --help */
	const struct option_def *defs;
	size_t count;
	/* options end at the first operand: the rest is another's command */
	bool leading;
};

/*
 * Parse argv[1..argc-1] into *options (as the offsets say); "--" ends the
 * options. *ret_first is the index of the first operand; unless table->leading,
 * operands are moved behind the options for this. Long names may be cut short
 * while they are unique; of an option given twice the last counts.
 *
 * Errors: ERROR_USAGE, naming the option and its value; what came before it has
 * been set. Not for several threads at once: getopt(3) has its state.
 */
struct error *options_parse(const struct option_table *table, int argc,
			    char **argv, void *options, int *ret_first);

/* Free the lists in *options, which are empty and usable afterwards. */
void options_release(const struct option_table *table, void *options);

/* Print usage, summary and the options. */
void options_help(const struct option_table *table, FILE *out);

/*
 * Print a line for each option: COMMAND, --long, -s, ARGUMENT, help and the
 * choices, with blanks, between tabs; "-" stands for nothing.
 */
void options_dump(const struct option_table *table, FILE *out);

#endif
