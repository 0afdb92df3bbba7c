/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Options from a table; see options.h. getopt_long(3) takes argv apart; what
 * it finds wrong is told in our own words, since it only prints.
 */
#include "base/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"

/* getopt_long's value of the n-th long option; below are the letters. */
enum { OPTIONS_LONG = 256 };

static void *option_member(const struct option_def *def, void *options)
{
	return (char *)options + def->offset;
}

static struct error *set_list(const char *value, struct vec *list)
{
	/* a structure set to zero is an empty list too */
	list->size = sizeof(value);
	return vec_push(list, &value) ? NULL : error_nomem;
}

static bool in_range(const struct option_def *def, uint64_t n)
{
	return n >= def->min && (def->max == 0 || n <= def->max);
}

static struct error *set_uint64(const struct option_def *def, const char *value,
				uint64_t *member)
{
	uint64_t n;
	char *end;

	errno = 0;
	n = strtoull(value, &end, 10);
	/* strtoull would take white space and a sign */
	if (isdigit((unsigned char)value[0]) && *end == '\0' && errno == 0 &&
	    in_range(def, n)) {
		*member = n;
		return NULL;
	}
	if (def->max == 0)
		return error_create(ERROR_USAGE,
				    "option '--%s': '%s' is not a number of "
				    "at least %" PRIu64,
				    def->name, value, def->min);
	return error_create(ERROR_USAGE,
			    "option '--%s': '%s' is not a number from %" PRIu64
			    " to %" PRIu64,
			    def->name, value, def->min, def->max);
}

/* "1500us": in the largest unit that needs no fraction. */
static void add_duration(struct strbuf *text, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {
		{ 3600 * CLOCK_NS_PER_S, "h" }, { 60 * CLOCK_NS_PER_S, "m" },
		{ CLOCK_NS_PER_S, "s" },	{ CLOCK_NS_PER_MS, "ms" },
		{ CLOCK_NS_PER_US, "us" },	{ 1, "ns" },
	};
	size_t i = 0;

	while (ns % units[i].ns != 0)
		i++;
	if (ns == 0)
		strbuf_add(text, "0");
	else
		strbuf_addf(text, "%" PRIu64 "%s", ns / units[i].ns,
			    units[i].name);
}

static struct error *set_duration(const struct option_def *def,
				  const char *value, uint64_t *member)
{
	struct strbuf range = { 0 };
	struct error *err;
	uint64_t ns;

	err = clock_parse_duration(value, &ns);
	if (err)
		return error_wrap(err, "option '--%s'", def->name);
	if (in_range(def, ns)) {
		*member = ns;
		return NULL;
	}
	strbuf_add(&range, "at least ");
	add_duration(&range, def->min);
	if (def->max) {
		strbuf_add(&range, " and at most ");
		add_duration(&range, def->max);
	}
	err = error_create(ERROR_USAGE, "option '--%s': '%s' is not %s",
			   def->name, value, strbuf_text(&range));
	strbuf_deinit(&range);
	return err;
}

static struct error *set_choice(const struct option_def *def, const char *value,
				int *member)
{
	struct strbuf words = { 0 };
	struct error *err;

	for (int i = 0; def->choices[i]; i++) {
		if (strcmp(def->choices[i], value) == 0) {
			*member = i;
			strbuf_deinit(&words);
			return NULL;
		}
		strbuf_addf(&words, "%s%s", i ? ", " : "", def->choices[i]);
	}
	err = error_create(ERROR_USAGE, "option '--%s': '%s' is none of %s",
			   def->name, value, strbuf_text(&words));
	strbuf_deinit(&words);
	return err;
}

static struct error *set_percent(const struct option_def *def,
				 const char *value, double *member)
{
	char *end;
	double n = strtod(value, &end);

	/* strtod would take white space, signs, "nan" and hexadecimals */
	if (value[strspn(value, "0123456789.")] == '\0' && end != value &&
	    *end == '\0' && n <= 100) {
		*member = n;
		return NULL;
	}
	return error_create(ERROR_USAGE,
			    "option '--%s': '%s' is not a number from 0 to 100",
			    def->name, value);
}

static struct error *option_set(const struct option_def *def, const char *value,
				void *options)
{
	void *member = option_member(def, options);

	switch (def->type) {
	case OPTION_FLAG:
		*(bool *)member = true;
		break;
	case OPTION_STRING:
		*(const char **)member = value;
		break;
	case OPTION_LIST:
		return set_list(value, member);
	case OPTION_UINT64:
		return set_uint64(def, value, member);
	case OPTION_DURATION:
		return set_duration(def, value, member);
	case OPTION_CHOICE:
		return set_choice(def, value, member);
	case OPTION_PERCENT:
		return set_percent(def, value, member);
	}
	return NULL;
}

/* The option that getopt_long means by `c'; NULL: none. */
static const struct option_def *option_find(const struct option_table *table,
					    int c)
{
	if (c >= OPTIONS_LONG && (size_t)(c - OPTIONS_LONG) < table->count)
		return &table->defs[c - OPTIONS_LONG];
	for (size_t i = 0; i < table->count; i++) {
		if (c != 0 && table->defs[i].letter == c)
			return &table->defs[i];
	}
	return NULL;
}

/* A long name that is none, or short for several. */
static struct error *bad_name(const struct option_table *table,
			      const char *word)
{
	size_t length = strcspn(word, "=");
	struct strbuf names = { 0 };
	struct error *err;
	int matches = 0;

	for (size_t i = 0; length > 2 && i < table->count; i++) {
		const char *name = table->defs[i].name;

		if (strncmp(name, word + 2, length - 2) == 0)
			strbuf_addf(&names, "%s--%s", matches++ ? ", " : "",
				    name);
	}
	if (matches > 1)
		err = error_create(ERROR_USAGE,
				   "option '%.*s' is ambiguous: %s",
				   (int)length, word, strbuf_text(&names));
	else
		err = error_create(ERROR_USAGE, "unknown option '%.*s'",
				   (int)length, word);
	strbuf_deinit(&names);
	return err;
}

/*
 * What is wrong, after getopt_long has returned `c', which is ':' or '?'; word
 * is the one it has just been through.
 */
static struct error *bad_option(const struct option_table *table, int c,
				const char *word)
{
	const struct option_def *def = option_find(table, optopt);

	if (c == ':' && def)
		return error_create(ERROR_USAGE,
				    "option '--%s' needs an argument: %s",
				    def->name, def->arg);
	if (def)
		return error_create(ERROR_USAGE,
				    "option '--%s' takes no argument: '%s'",
				    def->name, word);
	if (optopt == 0)
		return bad_name(table, word);
	return error_create(ERROR_USAGE, "unknown option '-%c'", (char)optopt);
}

/* The table as getopt_long wants it; NULL when out of memory. */
static struct option *long_options(const struct option_table *table)
{
	struct option *list = calloc(table->count + 1, sizeof(*list));

	for (size_t i = 0; list && i < table->count; i++) {
		list[i].name = table->defs[i].name;
		list[i].has_arg = table->defs[i].arg ? required_argument
						     : no_argument;
		list[i].val = OPTIONS_LONG + (int)i;
	}
	return list;
}

static char *short_options(const struct option_table *table)
{
	struct strbuf letters = { 0 };

	strbuf_add(&letters, table->leading ? "+:" : ":");
	for (size_t i = 0; i < table->count; i++) {
		const struct option_def *def = &table->defs[i];

		if (def->letter)
			strbuf_addf(&letters, "%c%s", def->letter,
				    def->arg ? ":" : "");
	}
	return strbuf_steal(&letters);
}

struct error *options_parse(const struct option_table *table, int argc,
			    char **argv, void *options, int *ret_first)
{
	cleanup_free struct option *longs = long_options(table);
	cleanup_free char *shorts = short_options(table);

	if (!longs || !shorts)
		return error_nomem;
	optind = 0; /* glibc: start anew */
	for (;;) {
		int c = getopt_long(argc, argv, shorts, longs, NULL);
		struct error *err;

		if (c == -1)
			break;
		if (c == ':' || c == '?')
			return bad_option(table, c, argv[optind - 1]);
		err = option_set(option_find(table, c), optarg, options);
		if (err)
			return err;
	}
	*ret_first = optind;
	return NULL;
}

void options_release(const struct option_table *table, void *options)
{
	for (size_t i = 0; i < table->count; i++) {
		if (table->defs[i].type == OPTION_LIST)
			vec_deinit(option_member(&table->defs[i], options));
	}
}

enum { HELP_COLUMNS = 80, HELP_TEXT_MAX = 30 };

/* " -o, --output FILE"; the number of columns. */
static int help_name(const struct option_def *def, char *out, size_t size)
{
	char letter[8] = "    ";

	if (def->letter)
		snprintf(letter, sizeof(letter), "-%c, ", def->letter);
	return snprintf(out, size, " %s--%s%s%s", letter, def->name,
			def->arg ? " " : "", def->arg ? def->arg : "");
}

/* Print text from the column on, broken at spaces. */
static void help_wrap(FILE *out, const char *text, int column)
{
	int room = HELP_COLUMNS - column;

	while ((int)strlen(text) > room) {
		int cut = room;

		while (cut > 0 && text[cut] != ' ')
			cut--;
		if (cut == 0)
			cut = (int)strcspn(text, " ");
		fprintf(out, "%.*s\n%*s", cut, text, column, "");
		text += cut;
		text += *text == ' ';
	}
	fprintf(out, "%s\n", text);
}

void options_help(const struct option_table *table, FILE *out)
{
	bool program = strcmp(table->command, "racewatch") == 0;
	char name[128];
	int column = 0;

	fprintf(out, "Usage:\n racewatch%s%s %s\n\n%s\n\nOptions:\n",
		program ? "" : " ", program ? "" : table->command,
		table->synopsis, table->summary);
	for (size_t i = 0; i < table->count; i++) {
		int length = help_name(&table->defs[i], name, sizeof(name));

		if (length > column && length + 2 <= HELP_TEXT_MAX)
			column = length;
	}
	column += 2;
	for (size_t i = 0; i < table->count; i++) {
		int length = help_name(&table->defs[i], name, sizeof(name));

		fputs(name, out);
		if (length + 2 > column)
			fprintf(out, "\n%*s", column, "");
		else
			fprintf(out, "%*s", column - length, "");
		help_wrap(out, table->defs[i].help, column);
	}
}

static void dump_choices(const char *const *choices, FILE *out)
{
	if (!choices)
		fputs("-", out);
	for (size_t i = 0; choices && choices[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", choices[i]);
	fputs("\n", out);
}

void options_dump(const struct option_table *table, FILE *out)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct option_def *def = &table->defs[i];
		char letter[3] = "-";

		if (def->letter)
			letter[1] = def->letter;
		fprintf(out, "%s\t--%s\t%s\t%s\t%s\t", table->command,
			def->name, letter, def->arg ? def->arg : "-",
			def->help);
		dump_choices(def->choices, out);
	}
}
