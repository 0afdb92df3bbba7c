/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Filters: a table of keys, each with the function that tries a pattern on all
 * that the key stands for; see filter.h.
 */
#include "report/filter.h"

#include <fnmatch.h>
#include <string.h>

#include "base/error.h"
#include "report/race.h"

/* try: whether anything of the race that the key stands for matches. */
struct filter_key {
	const char *name;
	bool (*try)(const struct race *race, const char *glob);
	/* of a word: which there are; NULL at the end */
	const char *const *words;
};

struct filter {
	const struct filter_key *key;
	const char *glob;
	bool negated;
};

/* Names of array elements look like patterns: they match as they are, too. */
static bool glob_matches(const char *glob, const char *text)
{
	return text && (strcmp(glob, text) == 0 || fnmatch(glob, text, 0) == 0);
}

/* The path, or the last part of it. */
static bool glob_matches_path(const char *glob, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return glob_matches(glob, path) ||
	       (slash && glob_matches(glob, slash + 1));
}

/* The name, or what is before its parameters: "f" for "f(int)". */
static bool glob_matches_function(const char *glob, const char *name)
{
	const char *end = name ? strchr(name, '(') : NULL;
	char stem[256];

	if (glob_matches(glob, name))
		return true;
	if (!end || end == name || (size_t)(end - name) >= sizeof(stem))
		return false;
	memcpy(stem, name, (size_t)(end - name));
	stem[end - name] = '\0';
	return glob_matches(glob, stem);
}

static bool frame_function(const struct race_frame *frame, const char *glob)
{
	return glob_matches_function(glob, frame->function);
}

static bool frame_module(const struct race_frame *frame, const char *glob)
{
	return glob_matches_path(glob, frame->module);
}

static bool frame_file(const struct race_frame *frame, const char *glob)
{
	return glob_matches_path(glob, frame->file);
}

static bool any_frame(const struct race *race, const char *glob,
		      bool (*try)(const struct race_frame *, const char *))
{
	for (int side = 0; side < 2; side++) {
		const struct vec *frames = &race->sides[side].frames;

		for (size_t i = 0; i < frames->count; i++) {
			if (try(vec_at(frames, i), glob))
				return true;
		}
	}
	return false;
}

static bool try_verdict(const struct race *race, const char *glob)
{
	return glob_matches(glob, race_verdict_name(race->verdict));
}

static bool try_status(const struct race *race, const char *glob)
{
	const char *name = race_status_name(race->status);

	return glob_matches(glob, name ? name : "none");
}

static bool try_kind(const struct race *race, const char *glob)
{
	return glob_matches(glob, race_kind(race));
}

static bool try_evidence(const struct race *race, const char *glob)
{
	return glob_matches(glob, race_evidence_name(race->evidence));
}

static bool try_region(const struct race *race, const char *glob)
{
	return glob_matches(glob, race_region_name(race->variable.region));
}

static bool try_module(const struct race *race, const char *glob)
{
	return any_frame(race, glob, frame_module) ||
	       glob_matches_path(glob, race->variable.module);
}

static bool try_function(const struct race *race, const char *glob)
{
	return any_frame(race, glob, frame_function);
}

static bool try_variable(const struct race *race, const char *glob)
{
	return glob_matches(glob, race->variable.name) ||
	       glob_matches(glob, race->variable.symbol);
}

static bool try_file(const struct race *race, const char *glob)
{
	return any_frame(race, glob, frame_file) ||
	       glob_matches_path(glob, race->variable.file);
}

static bool try_thread(const struct race *race, const char *glob)
{
	return glob_matches(glob, race->sides[0].thread) ||
	       glob_matches(glob, race->sides[1].thread);
}

static bool try_host(const struct race *race, const char *glob)
{
	for (size_t i = 0; i < race->hosts.count; i++) {
		if (glob_matches(glob, *(char **)vec_at(&race->hosts, i)))
			return true;
	}
	return false;
}

static bool try_fingerprint(const struct race *race, const char *glob)
{
	return glob_matches(glob, race->fingerprint) ||
	       glob_matches(glob, race->fingerprint_code);
}

static const char *const verdict_words[] = { "harmful", "suspect", "unlikely",
					     "sync", NULL };
static const char *const status_words[] = { "new", "known", "gone", "none",
					    NULL };
static const char *const kind_words[] = { "write-write", "read-write",
					  "write-read", NULL };
static const char *const evidence_words[] = { "watchpoint", "collision",
					      "value-change", NULL };
static const char *const region_words[] = { "global", "heap",	 "stack",
					    "tls",    "mapping", "unknown",
					    NULL };

static const struct filter_key filter_keys[] = {
	{ "verdict", try_verdict, verdict_words },
	{ "status", try_status, status_words },
	{ "kind", try_kind, kind_words },
	{ "evidence", try_evidence, evidence_words },
	{ "region", try_region, region_words },
	{ "module", try_module, NULL },
	{ "function", try_function, NULL },
	{ "variable", try_variable, NULL },
	{ "file", try_file, NULL },
	{ "thread", try_thread, NULL },
	{ "host", try_host, NULL },
	{ "fingerprint", try_fingerprint, NULL },
};

enum { FILTER_KEYS = sizeof(filter_keys) / sizeof(filter_keys[0]) };

void filters_init(struct filters *filters)
{
	filters->items = (struct vec)VEC_INIT(struct filter);
}

void filters_deinit(struct filters *filters)
{
	vec_deinit(&filters->items);
}

static const struct filter_key *find_key(const char *name, size_t length)
{
	for (size_t i = 0; i < FILTER_KEYS; i++) {
		if (strlen(filter_keys[i].name) == length &&
		    memcmp(filter_keys[i].name, name, length) == 0)
			return &filter_keys[i];
	}
	return NULL;
}

/* A pattern that no word of the key matches is a mistake. */
static bool some_word_matches(const struct filter_key *key, const char *glob)
{
	for (size_t i = 0; key->words[i]; i++) {
		if (glob_matches(glob, key->words[i]))
			return true;
	}
	return false;
}

struct error *filters_add(struct filters *filters, const char *text)
{
	struct filter filter = { .negated = text[0] == '!' };
	const char *name = text + filter.negated;
	const char *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : 0;

	if (!equals)
		return error_create(ERROR_USAGE, "filter '%s' is not KEY=GLOB",
				    text);
	if (length && name[length - 1] == '!') {
		filter.negated = !filter.negated;
		length--;
	}
	filter.key = find_key(name, length);
	filter.glob = equals + 1;
	if (!filter.key)
		return error_create(ERROR_USAGE,
				    "filter '%s': there is no key '%.*s'", text,
				    (int)length, name);
	if (!filter.glob[0])
		return error_create(ERROR_USAGE,
				    "filter '%s' has nothing to match", text);
	if (filter.key->words && !some_word_matches(filter.key, filter.glob))
		return error_create(ERROR_USAGE,
				    "filter '%s': no %s is called that", text,
				    filter.key->name);
	return vec_push(&filters->items, &filter) ? NULL : error_nomem;
}

bool filters_match(const struct filters *filters, const struct race *race)
{
	bool asked[FILTER_KEYS] = { false }, matched[FILTER_KEYS] = { false };

	for (size_t i = 0; i < filters->items.count; i++) {
		const struct filter *filter = vec_at(&filters->items, i);
		size_t key = (size_t)(filter->key - filter_keys);
		bool match = filter->key->try(race, filter->glob);

		if (filter->negated && match)
			return false;
		asked[key] = asked[key] || !filter->negated;
		matched[key] = matched[key] || (!filter->negated && match);
	}
	return memcmp(asked, matched, sizeof(asked)) == 0;
}
