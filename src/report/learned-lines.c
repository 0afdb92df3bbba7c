/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * States in the format of earlier versions; see learned-lines.h. Modules, sites
 * and pairs are numbered, and each line refers to lines above it.
 */
#include "report/learned-lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "report/learned.h"
#include "report/members.h"
#include "x86/access.h"

enum {
	STATE_VERSION = 1,
	STATE_LINE_MAX = 1 << 16, /* a path and a little */
};

/* What one file says, and how far it has been read. */
struct state_file {
	struct learned says;
	bool begun; /* the first line was seen */
};

static struct error *wrong(const char *what)
{
	return error_create(ERROR_FORMAT, "%s", what);
}

#define READ(name) row->name = read_count(in, line, #name);

static uint64_t read_count(struct members *in, const json_t *line,
			   const char *key)
{
	return members_uint(in, line, key, LEARNED_COUNT_MAX);
}

static void read_state(struct members *in, const json_t *line,
		       struct state_file *state)
{
	uint64_t version = members_uint(in, line, "version", UINT32_MAX);

	if (!in->err && version != STATE_VERSION)
		members_fail(in,
			     error_create(ERROR_FORMAT,
					  "version %" PRIu64 " of the state is "
					  "not known to this racewatch",
					  version));
	state->says.runs = read_count(in, line, "runs");
	state->begun = true;
}

/* Numbers are given in order, so that they are indices. */
static void check_id(struct members *in, const json_t *line, size_t expected)
{
	if (members_uint(in, line, "id", UINT32_MAX) != expected)
		members_fail(in, wrong("'id' is not the next number"));
}

/* Numbers are given out in order: this one must be the next, below the limit. */
static void check_new(struct members *in, const char *what, uint32_t number,
		      size_t next, size_t most)
{
	if (number == next)
		return;
	if (number == UINT32_MAX && next < most)
		members_fail(in, error_nomem);
	else
		members_fail(in, error_create(ERROR_FORMAT,
					      "the %s is not a new one", what));
}

static void read_module(struct members *in, const json_t *line,
			struct state_file *state)
{
	const char *path = members_string(in, line, "path");
	const char *build_id = members_string(in, line, "build_id");
	size_t count = state->says.modules.count;

	check_id(in, line, count);
	if (!in->err && !path)
		members_fail(in, wrong("there is no 'path'"));
	if (!in->err)
		check_new(in, "module",
			  learned_module(&state->says, path, build_id), count,
			  LEARNED_MODULES_MAX);
}

static const char *const access_words[] = {
	[ACCESS_NONE] = "none",
	[ACCESS_READ] = "read",
	[ACCESS_WRITE] = "write",
	[ACCESS_RMW] = "read-modify-write",
};

static void read_site(struct members *in, const json_t *line,
		      struct state_file *state)
{
	uint32_t module =
		(uint32_t)members_uint(in, line, "module", UINT32_MAX);
	uint64_t offset = members_address(in, line, "offset");
	size_t count = state->says.sites.count;
	struct learned_site *row;

	check_id(in, line, count);
	if (!in->err && module >= state->says.modules.count)
		members_fail(in, wrong("'module' is not one of those above"));
	if (!in->err && offset >= LEARNED_OFFSET_MAX)
		members_fail(in, wrong("'offset' is out of range"));
	if (!in->err)
		check_new(in, "site",
			  learned_site(&state->says, module, offset), count,
			  LEARNED_SITES_MAX);
	if (in->err)
		return;
	row = learned_site_at(&state->says, count);
	row->kind = (uint8_t)members_word(in, line, "access", access_words,
					  ACCESS_RMW + 1);
	LEARNED_SITE_COUNTS(READ)
}

static uint32_t read_index(struct members *in, const json_t *array, size_t i)
{
	const json_t *value = json_array_get(array, i);

	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    json_integer_value(value) >= UINT32_MAX) {
		members_fail(in, wrong("'sites' are not two numbers"));
		return UINT32_MAX;
	}
	return (uint32_t)json_integer_value(value);
}

static void read_pair(struct members *in, const json_t *line,
		      struct state_file *state)
{
	const json_t *sites = members_array(in, line, "sites");
	size_t count = state->says.pairs.count;
	uint32_t one = read_index(in, sites, 0), two = read_index(in, sites, 1);
	struct learned_pair *row;

	if (!in->err &&
	    (one >= state->says.sites.count || two >= state->says.sites.count))
		members_fail(in, wrong("'sites' are not of those above"));
	if (!in->err)
		check_new(in, "pair", learned_pair(&state->says, one, two),
			  count, LEARNED_PAIRS_MAX);
	if (in->err)
		return;
	row = learned_pair_at(&state->says, count);
	LEARNED_PAIR_COUNTS(READ)
}

/* Types that are not known here are passed over, but for the first line's. */
static void read_line(struct members *in, const json_t *line,
		      struct state_file *state)
{
	static const struct {
		const char *type;
		void (*read)(struct members *, const json_t *,
			     struct state_file *);
	} types[] = {
		{ "module", read_module },
		{ "site", read_site },
		{ "pair", read_pair },
	};
	const char *type = members_string(in, line, "type");

	if (in->err)
		return;
	if (!state->begun && (!type || strcmp(type, "state") != 0)) {
		members_fail(in, wrong("this is no state of racewatch"));
		return;
	}
	if (!state->begun) {
		read_state(in, line, state);
		return;
	}
	for (size_t i = 0; type && i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(type, types[i].type) == 0)
			types[i].read(in, line, state);
	}
}

static struct error *parse_line(const char *text, size_t length,
				struct state_file *state)
{
	struct members in = { .err = NULL };
	json_error_t error;
	json_t *line = json_loadb(
		text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);

	if (!line)
		return json_error_code(&error) == json_error_out_of_memory
			       ? error_nomem
			       : error_create(ERROR_FORMAT,
					      "column %d: this is not JSON",
					      error.position);
	if (json_is_object(line))
		read_line(&in, line, state);
	else
		in.err = wrong("this is no JSON object");
	json_decref(line);
	return in.err;
}

/*
 * The next line without its end, or what the file ends with; STATE_LINE_MAX + 1
 * bytes at most. False: there is none.
 */
static bool next_line(FILE *file, char *text, size_t *ret_length)
{
	size_t length = 0;
	int byte = EOF;

	while (length <= STATE_LINE_MAX && (byte = getc(file)) != EOF &&
	       byte != '\n')
		text[length++] = (char)byte;
	*ret_length = length;
	return length > 0 || byte != EOF;
}

static struct error *read_lines(FILE *file, const char *path,
				struct state_file *state)
{
	cleanup_free char *text = malloc(STATE_LINE_MAX + 1);
	struct error *err = text ? NULL : error_nomem;
	size_t length;

	for (uint64_t n = 1; !err && next_line(file, text, &length); n++) {
		if (length > STATE_LINE_MAX)
			err = wrong("this line is longer than any of a state");
		else
			err = parse_line(text, length, state);
		err = error_wrap(err, "%s:%" PRIu64, path, n);
	}
	if (!err && ferror(file))
		err = error_os(errno, "%s", path);
	return err;
}

struct error *learned_read_lines(struct learned *learned, const char *path)
{
	cleanup_fclose FILE *file = fopen(path, "re");
	struct state_file state = { .begun = false };
	struct error *err;

	if (!file)
		return error_os(errno, "%s", path);
	learned_init(&state.says);
	err = read_lines(file, path, &state);
	if (!err)
		err = learned_add(learned, &state.says);
	learned_deinit(&state.says);
	return err;
}
