/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Options from a table; see options.h. getopt_long(3) parses argv; we make our
 * own error messages, since it only prints its own.
 */
#include "base/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/spelling.h"
#include "base/strbuf.h"
#include "base/vec.h"

/* getopt_long's value of the n-th long option; below are the letters. */
enum { OPTIONS_LONG = 256 };

/* A row, and where the structure is that it sets a member of. */
struct option_row {
	const struct option_def *def;
	size_t offset; /* in the command's structure */
};

/* The rows of all groups, from 0; false: there are no more. */
static bool option_row(const struct option_table *table, size_t index,
		       struct option_row *ret)
{
	const struct option_part *part = table->parts;

	for (; part->group && index >= part->group->count; part++)
		index -= part->group->count;
	if (!part->group)
		return false;
	ret->def = &part->group->defs[index];
	ret->offset = part->offset + ret->def->offset;
	return true;
}

static bool option_is_list(const struct option_def *def)
{
	return def->type == OPTION_LIST || def->type == OPTION_WORDS;
}

static struct error *check_value(const struct option_def *def,
				 const char *value)
{
	struct error *err = def->check ? def->check(value) : NULL;

	return error_wrap(err, "%s: '%s'", def->name, value);
}

static struct error *add_word(const struct option_def *def, const char *value,
			      struct vec *list)
{
	const struct option_word word = { .def = def, .value = value };

	return vec_push(list, &word) ? NULL : error_nomem;
}

static bool in_range(const struct option_def *def, uint64_t n)
{
	return n >= def->min && (def->max == 0 || n <= def->max);
}

/* The value is understood and is outside of the range. */
static struct error *out_of_range(const struct option_def *def,
				  const char *value, const char *range)
{
	return error_create(ERROR_USAGE, "%s: %s is out of range: %s",
			    def->name, value, range);
}

static struct error *set_uint64(const struct option_def *def, const char *value,
				uint64_t *member)
{
	uint64_t n, max = def->max ? def->max : UINT64_MAX;
	char range[64];

	/* strtoull would take white space and a sign */
	if (!value[0] || value[strspn(value, "0123456789")] != '\0')
		return error_create(ERROR_USAGE, "%s: '%s' is not a number",
				    def->name, value);
	errno = 0;
	n = strtoull(value, NULL, 10);
	if (errno == 0 && in_range(def, n)) {
		*member = n;
		return NULL;
	}
	snprintf(range, sizeof(range), "%" PRIu64 " to %" PRIu64, def->min,
		 max);
	return out_of_range(def, value, range);
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
		return error_wrap(err, "%s", def->name);
	if (in_range(def, ns)) {
		*member = ns;
		return NULL;
	}
	if (def->max == 0)
		strbuf_add(&range, "at least ");
	add_duration(&range, def->min);
	if (def->max) {
		strbuf_add(&range, " to ");
		add_duration(&range, def->max);
	}
	err = out_of_range(def, value, strbuf_text(&range));
	strbuf_deinit(&range);
	return err;
}

static struct error *find_choice(const struct option_def *def,
				 const char *value, int *ret)
{
	struct strbuf words = { 0 };
	struct error *err;

	for (int i = 0; def->choices[i]; i++) {
		if (strcmp(def->choices[i], value) == 0) {
			*ret = i;
			strbuf_deinit(&words);
			return NULL;
		}
		strbuf_addf(&words, "%s%s", i ? ", " : "", def->choices[i]);
	}
	err = error_create(ERROR_USAGE, "%s: '%s' is not one of %s", def->name,
			   value, strbuf_text(&words));
	strbuf_deinit(&words);
	return err;
}

static struct error *set_name(const struct option_def *def, const char *value,
			      const char **member)
{
	int index;
	struct error *err = find_choice(def, value, &index);

	if (!err)
		*member = def->choices[index];
	return err;
}

static struct error *set_percent(const struct option_def *def,
				 const char *value, double *member)
{
	size_t length = strspn(value, "0123456789.");
	char *end;
	double n = strtod(value, &end);

	/* strtod would take white space, signs, "nan" and hexadecimals */
	if (end == value || end != value + length ||
	    (*end != '\0' && strcmp(end, "%") != 0))
		return error_create(ERROR_USAGE, "%s: '%s' is not a number",
				    def->name, value);
	if (n > 100)
		return out_of_range(def, value, "0 to 100");
	*member = n;
	return NULL;
}

static void set_default(const struct option_def *def, void *member)
{
	bool none = def->preset == OPTION_NONE;

	switch (def->type) {
	case OPTION_FLAG:
		*(bool *)member = false;
		break;
	case OPTION_STRING:
		*(const char **)member = NULL;
		break;
	case OPTION_LIST:
		*(struct vec *)member = (struct vec)VEC_INIT(const char *);
		break;
	case OPTION_WORDS:
		*(struct vec *)member =
			(struct vec)VEC_INIT(struct option_word);
		break;
	case OPTION_UINT64:
	case OPTION_DURATION:
		*(uint64_t *)member = def->preset;
		break;
	case OPTION_CHOICE:
		*(int *)member = none ? -1 : (int)def->preset;
		break;
	case OPTION_NAME:
		*(const char **)member = none ? NULL
					      : def->choices[def->preset];
		break;
	case OPTION_PERCENT:
		*(double *)member = none ? -1 : (double)def->preset;
		break;
	}
}

static struct error *option_set(const struct option_def *def, const char *value,
				void *member)
{
	struct error *err = check_value(def, value);

	if (err)
		return err;
	switch (def->type) {
	case OPTION_FLAG:
		*(bool *)member = true;
		break;
	case OPTION_STRING:
		*(const char **)member = value;
		break;
	case OPTION_LIST:
		return vec_push(member, &value) ? NULL : error_nomem;
	case OPTION_WORDS:
		return add_word(def, value, member);
	case OPTION_UINT64:
		return set_uint64(def, value, member);
	case OPTION_DURATION:
		return set_duration(def, value, member);
	case OPTION_CHOICE:
		return find_choice(def, value, member);
	case OPTION_NAME:
		return set_name(def, value, member);
	case OPTION_PERCENT:
		return set_percent(def, value, member);
	}
	return NULL;
}

/* The option that getopt_long means by `c'; false: none. */
static bool option_find(const struct option_table *table, int c,
			struct option_row *ret)
{
	if (c >= OPTIONS_LONG)
		return option_row(table, (size_t)(c - OPTIONS_LONG), ret);
	for (size_t i = 0; c != 0 && option_row(table, i, ret); i++) {
		if (ret->def->letter == c)
			return true;
	}
	return false;
}

/* A long name that is none. */
static struct error *unknown_name(const struct option_table *table,
				  const char *word, size_t length)
{
	struct spelling spelling = { 0 };
	struct option_row row;
	char *name = strndup(word, length);

	for (size_t i = 0; name && option_row(table, i, &row); i++)
		spelling_offer(&spelling, name + 2, row.def->name + 2);
	free(name);
	if (!spelling.word)
		return error_create(ERROR_USAGE, "unknown option: %.*s",
				    (int)length, word);
	return error_create(ERROR_USAGE,
			    "unknown option: %.*s; did you mean --%s?",
			    (int)length, word, spelling.word);
}

/* A long name that is none, or short for several. */
static struct error *bad_name(const struct option_table *table,
			      const char *word)
{
	size_t length = strcspn(word, "=");
	struct strbuf names = { 0 };
	struct option_row row;
	struct error *err;
	int matches = 0;

	for (size_t i = 0; length > 2 && option_row(table, i, &row); i++) {
		if (strncmp(row.def->name, word, length) == 0)
			strbuf_addf(&names, "%s%s", matches++ ? ", " : "",
				    row.def->name);
	}
	if (matches > 1)
		err = error_create(ERROR_USAGE, "%.*s is ambiguous: %s",
				   (int)length, word, strbuf_text(&names));
	else
		err = unknown_name(table, word, length);
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
	struct option_row row;

	if (!option_find(table, optopt, &row))
		return optopt == 0 ? bad_name(table, word)
				   : error_create(ERROR_USAGE,
						  "unknown option: -%c",
						  (char)optopt);
	if (c == ':')
		return error_create(ERROR_USAGE, "%s needs an argument: %s",
				    row.def->name, row.def->arg);
	return error_create(ERROR_USAGE, "%s takes no argument: %s",
			    row.def->name, word);
}

/* The table as getopt_long wants it; NULL when out of memory. */
static struct option *long_options(const struct option_table *table)
{
	struct option_row row;
	struct option *list;
	size_t count = 0;

	while (option_row(table, count, &row))
		count++;
	list = calloc(count + 1, sizeof(*list));
	for (size_t i = 0; list && option_row(table, i, &row); i++) {
		list[i].name = row.def->name + 2;
		list[i].has_arg = row.def->arg ? required_argument
					       : no_argument;
		list[i].val = OPTIONS_LONG + (int)i;
	}
	return list;
}

static char *short_options(const struct option_table *table)
{
	struct strbuf letters = { 0 };
	struct option_row row;

	strbuf_add(&letters, table->leading ? "+:" : ":");
	for (size_t i = 0; option_row(table, i, &row); i++) {
		if (row.def->letter)
			strbuf_addf(&letters, "%c%s", row.def->letter,
				    row.def->arg ? ":" : "");
	}
	return strbuf_steal(&letters);
}

/* One option, that getopt_long means by `c'. */
static struct error *take_option(const struct option_table *table, int c,
				 char *options, struct vec *of_runs)
{
	struct option_row row;
	struct error *err;

	if (!option_find(table, c, &row))
		return NULL;
	err = option_set(row.def, optarg, options + row.offset);
	if (!err && of_runs && row.def->of_runs)
		err = add_word(row.def, optarg, of_runs);
	return err;
}

struct error *options_parse(const struct option_table *table, int argc,
			    char **argv, void *options, struct vec *of_runs,
			    int *ret_first)
{
	cleanup_free struct option *longs = long_options(table);
	cleanup_free char *shorts = short_options(table);
	struct option_row row;

	for (size_t i = 0; option_row(table, i, &row); i++)
		set_default(row.def, (char *)options + row.offset);
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
		err = take_option(table, c, options, of_runs);
		if (err)
			return err;
	}
	*ret_first = optind;
	return NULL;
}

const struct option_def *options_find(const struct option_table *table,
				      const char *word)
{
	size_t length = strcspn(word, "=");
	struct option_row row;

	for (size_t i = 0; option_row(table, i, &row); i++) {
		if ((strncmp(row.def->name, word, length) == 0 &&
		     !row.def->name[length]) ||
		    (row.def->letter && word[0] == '-' &&
		     word[1] == row.def->letter))
			return row.def;
	}
	return NULL;
}

void options_release(const struct option_table *table, void *options)
{
	struct option_row row;

	for (size_t i = 0; option_row(table, i, &row); i++) {
		if (option_is_list(row.def))
			vec_deinit((void *)((char *)options + row.offset));
	}
}

enum { HELP_COLUMNS = 80, HELP_TEXT_MAX = 30 };

/* " -o, --output FILE"; the number of columns. */
static int help_name(const struct option_def *def, char *out, size_t size)
{
	char letter[8] = "    ";

	if (def->letter)
		snprintf(letter, sizeof(letter), "-%c, ", def->letter);
	return snprintf(out, size, " %s%s%s%s", letter, def->name,
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
	struct option_row row;
	int column = 0;

	fprintf(out, "Usage:\n racewatch%s%s %s\n\n%s\n\nOptions:\n",
		program ? "" : " ", program ? "" : table->command,
		table->synopsis, table->summary);
	for (size_t i = 0; option_row(table, i, &row); i++) {
		int length = help_name(row.def, name, sizeof(name));

		if (length > column && length + 2 <= HELP_TEXT_MAX)
			column = length;
	}
	column += 2;
	for (size_t i = 0; option_row(table, i, &row); i++) {
		int length = help_name(row.def, name, sizeof(name));

		fputs(name, out);
		if (length + 2 > column)
			fprintf(out, "\n%*s", column, "");
		else
			fprintf(out, "%*s", column - length, "");
		help_wrap(out, row.def->help, column);
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
	struct option_row row;

	for (size_t i = 0; option_row(table, i, &row); i++) {
		const struct option_def *def = row.def;
		char letter[3] = "-";

		if (def->letter)
			letter[1] = def->letter;
		fprintf(out, "%s\t%s\t%s\t%s\t%s\t", table->command, def->name,
			letter, def->arg ? def->arg : "-", def->help);
		dump_choices(def->choices, out);
	}
}
