/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check-report [options] EXPECT REPORT: whether a saved report (JSON lines)
 * says what a target's .expect file says it must.
 *
 *	--source FILE   the target's source, where the marks are
 *	--symbols FILE  output of `nm', to name the frames of a stripped program
 *	--backend NAME  the back-end used: see "one-sided" below
 *	--schema        only check that the records have the right shape
 *
 * check-report --select [--print PATHS|--count] [--quiet] FILE CONDITION...:
 * whether a record of the file meets all conditions (select.h has them). Prints
 * the values at PATHS, a line for each such record, or their number. Exit status
 * 0: there is one; 1: there is none; 2: usage.
 *
 * EXPECT has a line for each race:
 *
 *	race KEY=VALUE...     must be reported
 *	may KEY=VALUE...      may be reported
 *	one-sided BACKEND: WHY   this back-end cannot name both sides
 *
 * Keys: kind (write-write, or read-write with `a' the writer); a and b, each
 * FUNCTION or FUNCTION@MARK; a.in and b.in, the same in any frame; name,
 * symbol, region, owner, module (of the variable; owner: the name of a stack's
 * thread begins so), size (of the variable's access by
 * side a or b). name may list alternatives: x|y. The line of a mark is the
 * line of the source with the comment "RACE: MARK".
 *
 * Every reported race must be one of these; anything else is a false report.
 * Exit status 0: as expected; 1: not, with reasons on stderr; 2: usage.
 */
#include "select.h"

#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RULES_MAX = 32, KEYS_MAX = 12, SYMBOLS_MAX = 4096 };

struct rule {
	bool must;
	char *text;
	int keys;
	char *key[KEYS_MAX], *value[KEYS_MAX];
	unsigned int matched;
};

struct symbol {
	uint64_t start, size;
	char name[128];
};

static struct rule rules[RULES_MAX];
static int rule_count;
static struct symbol symbols[SYMBOLS_MAX];
static int symbol_count;
static char *source_path;
static const char *backend = "";
static bool one_sided;
static int failures;

__attribute__((format(printf, 1, 2))) static void complain(const char *format,
							   ...)
{
	va_list ap;

	va_start(ap, format);
	fputs("check-report: ", stderr);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
	va_end(ap);
	failures++;
}

__attribute__((noreturn)) static void give_up(const char *what)
{
	fprintf(stderr, "check-report: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void *must_have(void *pointer)
{
	if (!pointer)
		give_up("memory");
	return pointer;
}

static FILE *open_file(const char *path)
{
	FILE *file = fopen(path, "re");

	if (!file)
		give_up(path);
	return file;
}

/* The line of the source that carries MARK; 0 when none does. */
static int mark_line(const char *mark)
{
	char *line = NULL, wanted[128];
	size_t room = 0;
	int number = 0, found = 0;
	FILE *file = open_file(source_path);

	snprintf(wanted, sizeof(wanted), "/* RACE: %s */", mark);
	while (!found && getline(&line, &room, file) > 0) {
		number++;
		if (strstr(line, wanted))
			found = number;
	}
	free(line);
	fclose(file);
	if (!found)
		complain("%s: no mark \"%s\"", source_path, mark);
	return found;
}

static void add_rule(const char *line, bool must)
{
	struct rule *rule = &rules[rule_count];
	char *copy = must_have(strdup(line)), *save = NULL;

	if (rule_count++ == RULES_MAX)
		give_up("too many rules");
	rule->must = must;
	rule->text = must_have(strdup(line));
	strtok_r(copy, " \t\n", &save);
	for (char *word; (word = strtok_r(NULL, " \t\n", &save));) {
		char *equals = strchr(word, '=');

		if (!equals || rule->keys == KEYS_MAX) {
			errno = EINVAL;
			give_up(line);
		}
		*equals = '\0';
		rule->key[rule->keys] = word;
		rule->value[rule->keys++] = equals + 1;
	}
	/* the words point into copy, which lives as long as the program */
}

static void read_expect(const char *path)
{
	FILE *file = open_file(path);
	char *line = NULL, name[32], source[128];
	size_t room = 0;

	while (getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "race ", 5)) {
			add_rule(line, true);
		} else if (!strncmp(line, "may ", 4)) {
			add_rule(line, false);
		} else if (sscanf(line, "one-sided %31[^:]", name) == 1) {
			if (!strcmp(name, backend))
				one_sided = true;
		} else if (sscanf(line, "source %127s", source) == 1) {
			const char *slash = strrchr(path, '/');
			int length = slash ? (int)(slash - path) + 1 : 0;

			free(source_path);
			if (asprintf(&source_path, "%.*s%s", length, path,
				     source) < 0)
				give_up(path);
		}
	}
	free(line);
	fclose(file);
}

static void read_symbols(const char *path)
{
	FILE *file = open_file(path);
	char *line = NULL;
	size_t room = 0;

	while (symbol_count < SYMBOLS_MAX && getline(&line, &room, file) > 0) {
		struct symbol *symbol = &symbols[symbol_count];
		char type;

		if (sscanf(line, "%lx %lx %c %127s", &symbol->start,
			   &symbol->size, &type, symbol->name) == 4 &&
		    strchr("tTwW", type))
			symbol_count++;
	}
	free(line);
	fclose(file);
}

static const char *string_at(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

/* "ns::put(int)" is put and is ns::put; "put.constprop.0" is put. */
static bool function_is(const char *reported, const char *wanted)
{
	size_t length = strlen(wanted);

	for (const char *at = reported; (at = strstr(at, wanted)); at++)
		if ((at == reported || strchr(": ", at[-1])) &&
		    strchr("(<[ .", at[length]))
			return true;
	return false;
}

static const char *frame_function(const json_t *frame)
{
	uint64_t offset = strtoull(string_at(frame, "offset"), NULL, 16);
	const char *name = string_at(frame, "function");

	if (*name)
		return name;
	for (int i = 0; i < symbol_count; i++)
		if (offset >= symbols[i].start &&
		    offset <= symbols[i].start + symbols[i].size)
			return symbols[i].name;
	return "";
}

/* VALUE is FUNCTION or FUNCTION@MARK. */
static bool frame_is(const json_t *frame, const char *value)
{
	const char *at = strchr(value, '@');
	char function[128];

	snprintf(function, sizeof(function), "%.*s",
		 at ? (int)(at - value) : (int)strlen(value), value);
	if (!function_is(frame_function(frame), function))
		return false;
	return !at || json_integer_value(json_object_get(frame, "line")) ==
			      mark_line(at + 1);
}

/* DEEP: in any frame; else at the top, below none but inlined ones. */
static bool side_is(const json_t *side, const char *value, bool deep)
{
	json_t *frames = json_object_get(side, "frames"), *frame;
	size_t i;

	json_array_foreach(frames, i, frame)
	{
		if (frame_is(frame, value))
			return true;
		if (!deep && !json_is_true(json_object_get(frame, "inlined")))
			break;
	}
	return false;
}

static bool side_accesses(const json_t *side, const char *access)
{
	const char *reported = string_at(side, "access");

	return !strcmp(reported, access) || !strcmp(reported, "rmw");
}

static bool one_of(const char *value, const char *alternatives)
{
	size_t length = strlen(value);

	for (const char *at = alternatives; *at;) {
		size_t next = strcspn(at, "|");

		if (next == length && !strncmp(at, value, length))
			return true;
		at += next + (at[next] == '|');
	}
	return false;
}

static bool kind_is(const char *reported, const char *wanted)
{
	if (!strcmp(reported, wanted))
		return true;
	return !strcmp(wanted, "read-write") && !strcmp(reported, "write-read");
}

/* A side of the record is known when it has frames. */
static bool side_known(const json_t *side)
{
	return json_array_size(json_object_get(side, "frames")) > 0;
}

/* One key of a rule that speaks of a side: whether SIDE fits it. */
static bool side_key_fits(const json_t *side, const char *key,
			  const char *value, const struct rule *rule)
{
	if (!side_is(side, value, key[1] == '.'))
		return false;
	for (int i = 0; i < rule->keys; i++)
		if (!strcmp(rule->key[i], "kind") &&
		    !strcmp(rule->value[i], "read-write"))
			return side_accesses(side,
					     key[0] == 'a' ? "write" : "read");
	return true;
}

/* Whether the sides fit, SIDES[0] being the rule's a when not SWAPPED. */
static bool sides_fit(const struct rule *rule, json_t *const sides[2],
		      bool swapped)
{
	bool any = false;

	for (int i = 0; i < rule->keys; i++) {
		const char *key = rule->key[i];
		const json_t *side;

		if ((key[0] != 'a' && key[0] != 'b') ||
		    (key[1] != '\0' && key[1] != '.'))
			continue;
		side = sides[(key[0] == 'b') != swapped];
		if (!side_known(side))
			continue;
		if (!side_key_fits(side, key, rule->value[i], rule))
			return false;
		any = true;
	}
	return any;
}

static bool size_fits(const json_t *race, const char *value)
{
	long long wanted = strtoll(value, NULL, 10);
	json_t *sides = json_object_get(race, "sides"), *side;
	size_t i;

	if (json_integer_value(json_object_get(race, "size")) != wanted)
		return false;
	json_array_foreach(sides, i, side)
	{
		if (side_known(side) &&
		    json_integer_value(json_object_get(side, "size")) == wanted)
			return true;
	}
	return false;
}

static bool key_fits(const json_t *race, bool both, const char *key,
		     const char *value)
{
	const json_t *variable = json_object_get(race, "variable");

	if (!strcmp(key, "kind"))
		return !both || kind_is(string_at(race, "kind"), value);
	if (!strcmp(key, "size"))
		return size_fits(race, value);
	if (!strcmp(key, "module")) {
		const char *path = string_at(variable, key);
		const char *slash = strrchr(path, '/');

		return !strcmp(slash ? slash + 1 : path, value);
	}
	if (!strcmp(key, "owner"))
		return !strncmp(string_at(variable, "owner_thread"), value,
				strlen(value));
	if (!strcmp(key, "name") || !strcmp(key, "symbol") ||
	    !strcmp(key, "region"))
		return one_of(string_at(variable, key), value);
	return true; /* a key about the sides */
}

static bool rule_fits(struct rule *rule, const json_t *race)
{
	json_t *array = json_object_get(race, "sides");
	json_t *sides[2] = { json_array_get(array, 0),
			     json_array_get(array, 1) };
	bool both = side_known(sides[0]) && side_known(sides[1]);

	for (int i = 0; i < rule->keys; i++)
		if (!key_fits(race, both, rule->key[i], rule->value[i]))
			return false;
	if (!sides_fit(rule, sides, false) && !sides_fit(rule, sides, true))
		return false;
	if (both || one_sided)
		rule->matched++;
	return true;
}

static void want(const json_t *record, const char *key, json_type type)
{
	const json_t *value = json_object_get(record, key);

	if (!value || json_typeof(value) != type)
		complain("%s record: \"%s\" is missing or of the wrong type",
			 string_at(record, "type"), key);
}

static void check_race_shape(const json_t *race)
{
	static const char *const strings[] = {
		"time",	    "fingerprint", "fingerprint_code", "kind",
		"evidence", "address",	   "verdict",
	};
	json_t *sides = json_object_get(race, "sides"), *side, *frame;
	size_t i, k;

	for (i = 0; i < sizeof(strings) / sizeof(*strings); i++)
		want(race, strings[i], JSON_STRING);
	want(race, "id", JSON_INTEGER);
	want(race, "size", JSON_INTEGER);
	want(race, "count", JSON_INTEGER);
	want(race, "variable", JSON_OBJECT);
	if (json_array_size(sides) != 2)
		complain("race record: not two sides");
	if (json_integer_value(json_object_get(race, "elapsed_us")) >
	    json_integer_value(json_object_get(race, "stall_us")))
		complain(
			"race record: it is said to have been after the stall");
	json_array_foreach(sides, i, side)
	{
		want(side, "role", JSON_STRING);
		json_array_foreach(json_object_get(side, "frames"), k, frame)
		{
			want(frame, "offset", JSON_STRING);
			want(frame, "module", JSON_STRING);
		}
	}
}

static void check_shape(const json_t *record, int number, bool last)
{
	static const char *const counters[] = {
		"races",
		"new",
		"suppressed",
		"samples",
		"sites_sampled",
		"sites_eligible",
		"watchpoint_traps",
		"exit",
	};
	const char *type = string_at(record, "type");

	if ((number == 1) != !strcmp(type, "run"))
		complain("record %d is \"%s\"", number, type);
	if (last != !strcmp(type, "summary"))
		complain("the last record is not the summary");
	if (!strcmp(type, "run")) {
		want(record, "schema", JSON_INTEGER);
		want(record, "pid", JSON_INTEGER);
		want(record, "backend", JSON_STRING);
		/* null for attach */
		if (!json_is_null(json_object_get(record, "command")))
			want(record, "command", JSON_ARRAY);
		want(record, "modules", JSON_ARRAY);
	} else if (!strcmp(type, "race")) {
		check_race_shape(record);
	} else if (last) {
		for (size_t i = 0; i < sizeof(counters) / sizeof(*counters);
		     i++)
			want(record, counters[i], JSON_INTEGER);
	}
}

static void check_race(const json_t *race)
{
	char *text;

	for (int i = 0; i < rule_count; i++)
		if (rule_fits(&rules[i], race))
			return;
	text = must_have(json_dumps(race, JSON_COMPACT));
	complain("a race that is not expected: %s", text);
	free(text);
}

static void check_report(const char *path, bool schema_only)
{
	FILE *file = open_file(path);
	char *line = NULL;
	size_t room = 0;
	json_t *record = NULL, *next;
	json_error_t error;
	int number = 0;

	for (bool more = true; more;) {
		more = getline(&line, &room, file) > 0;
		next = more ? json_loads(line, 0, &error) : NULL;
		if (more && !next)
			complain("line %d is not JSON: %s", number + 1,
				 error.text);
		if (record)
			check_shape(record, number, !more);
		if (record && !schema_only &&
		    !strcmp(string_at(record, "type"), "race"))
			check_race(record);
		json_decref(record);
		record = next;
		number++;
	}
	if (number < 2)
		complain("%s is empty", path);
	free(line);
	fclose(file);
}

/* The job of --select, with the arguments after the options. */
static int selected(char *const *args, const char *print, bool count,
		    bool quiet)
{
	unsigned long met;

	if (!args[0] || !args[1]) {
		fputs("usage: check-report --select FILE CONDITION...\n",
		      stderr);
		return 2;
	}
	met = select_records(args[0], args + 1, print, quiet);
	if (count)
		printf("%lu\n", met);
	return met == 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "source", required_argument, NULL, 's' },
		{ "symbols", required_argument, NULL, 'y' },
		{ "backend", required_argument, NULL, 'b' },
		{ "schema", no_argument, NULL, 'c' },
		{ "select", no_argument, NULL, 'e' },
		{ "print", required_argument, NULL, 'p' },
		{ "count", no_argument, NULL, 'n' },
		{ "quiet", no_argument, NULL, 'q' },
		{ NULL, 0, NULL, 0 },
	};
	bool schema_only = false, select = false, count = false, quiet = false;
	const char *print = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			source_path = must_have(strdup(optarg));
		else if (option == 'y')
			read_symbols(optarg);
		else if (option == 'b')
			backend = optarg;
		else if (option == 'c')
			schema_only = true;
		else if (option == 'e')
			select = true;
		else if (option == 'p')
			print = optarg;
		else if (option == 'n')
			count = true;
		else if (option == 'q')
			quiet = true;
		else
			return 2;
	}
	if (select)
		return selected(argv + optind, print, count, quiet);
	if (argc - optind != 2) {
		fputs("usage: check-report [options] EXPECT REPORT\n", stderr);
		return 2;
	}
	/* two sides are more than the value alone can tell */
	one_sided = !strcmp(backend, "value");
	if (!schema_only)
		read_expect(argv[optind]);
	check_report(argv[optind + 1], schema_only);
	for (int i = 0; i < rule_count && !schema_only; i++)
		if (rules[i].must && !rules[i].matched)
			complain("not reported: %s", rules[i].text);
	free(source_path);
	return failures > 0;
}
