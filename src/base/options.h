/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Command-line options. A group is a structure and a table of rows, one for
 * each of its members; a command embeds the groups that it has. A row says how
 * the option is parsed and checked, its default, and what --help and
 * --dump-options print.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct error;
struct vec;

/* The kind of option, and the type of the member it sets. */
enum option_type {
	OPTION_FLAG, /* bool: set to true */
	OPTION_STRING, /* const char *: borrowed from argv */
	OPTION_LIST, /* struct vec of const char *: one more each time */
	OPTION_WORDS, /* struct vec of struct option_word: the same */
	OPTION_UINT64, /* uint64_t */
	OPTION_DURATION, /* uint64_t: nanoseconds */
	OPTION_CHOICE, /* int: index of the word in choices */
	OPTION_NAME, /* const char *: the word in choices */
	OPTION_PERCENT, /* double: 0 to 100, with a fraction or not; 40, 40% */
};

/*
 * A default: of a number or time UINT64_MAX, of a choice or percentage a
 * negative number, and of a name NULL.
 */
#define OPTION_NONE UINT64_MAX

struct option_def {
	const char *name; /* as it is given: "--stall" */
	char letter; /* short; 0: none */
	const char *arg; /* what --help calls the argument; NULL: takes none */
	const char *help; /* one sentence, without capital or full stop */
	enum option_type type;
	size_t offset; /* of the member in the group's structure */
	/*
	 * The default of a number, a time or a percentage, the index of that of
	 * a choice or name, or OPTION_NONE. Flags are false, strings NULL, lists
	 * empty.
	 */
	uint64_t preset;
	/* of OPTION_UINT64 and OPTION_DURATION; max 0: no upper limit */
	uint64_t min, max;
	/*
	 * Of OPTION_CHOICE and OPTION_NAME; of strings and lists how values may
	 * begin, for completions. Ends in NULL.
	 */
	const char *const *choices;
	/* of strings and lists: what is wrong with the value; NULL: nothing is */
	struct error *(*check)(const char *value);
	bool of_runs; /* a sweep passes it on to its runs */
};

/* An option as it was given; several options may share a list, in order. */
struct option_word {
	const struct option_def *def;
	const char *value; /* NULL: a flag */
};

struct option_group {
	const struct option_def *defs;
	size_t count;
};

#define OPTION_GROUP(defs_)                                                  \
	{                                                                    \
		.defs = (defs_), .count = sizeof(defs_) / sizeof((defs_)[0]) \
	}

/* A group in a command's structure. */
struct option_part {
	const struct option_group *group;
	size_t offset; /* of the group's structure */
};

struct option_table {
	const char *command; /* "run"; "racewatch": options of the program */
	const char *synopsis; /* "[options] [--] CMD [ARG...]" */
	const char *summary; /* a sentence, for --help */
	const struct option_part *parts; /* the last has no group */
	/* options end at the first operand: the rest is another's command */
	bool leading;
};

/*
 * Set the members in *options (as the offsets say) to the defaults, and parse
 * argv[1..argc-1]; "--" ends the options. *ret_first is the index of the first
 * operand; unless table->leading, operands are moved behind the options for
 * this. Long names may be abbreviated while they are unique; if an option is
 * given twice, the last one counts. If of_runs is not NULL, options of that
 * kind are also appended to it (struct option_word, borrowed from argv).
 *
 * Errors: ERROR_USAGE, naming the option and its value; the options before it
 * have been set. Not thread-safe, because getopt(3) is not.
 */
struct error *options_parse(const struct option_table *table, int argc,
			    char **argv, void *options, struct vec *of_runs,
			    int *ret_first);

/*
 * The option that a word like "--stall", "--stall=1ms" or "-v" is of; its name is not
 * abbreviated. NULL: the table has none.
 */
const struct option_def *options_find(const struct option_table *table,
				      const char *word);

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
