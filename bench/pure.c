/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pure PART N: one of the parts of racewatch that compute and nothing else,
 * done N times over on the same input, so that its instructions can be counted
 * (bench/counts). Without arguments: what it was built by, then the parts, each
 * with a good N and what is counted once. The input is in files of tests/fuzz/corpus, below $CORPUS, and
 * in numbers drawn with fixed seeds; what is made goes below $TMPDIR.
 */
#include "pure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gnu/libc-version.h>
#include <jansson.h>

#include "base/error.h"

void pure_require(bool fact, const char *what)
{
	if (fact)
		return;
	fprintf(stderr, "pure: %s\n", what);
	exit(1);
}

void pure_must(struct error *err)
{
	pure_require(!err, err ? error_message(err) : "");
}

const char *pure_path(const char *variable, const char *name,
		      char path[PURE_PATH_MAX])
{
	const char *folder = getenv(variable);

	snprintf(path, PURE_PATH_MAX, "%s/%s", folder ? folder : ".", name);
	return path;
}

size_t pure_corpus(const char *name, void *ret, size_t room)
{
	char path[PURE_PATH_MAX];
	FILE *file = fopen(pure_path("CORPUS", name, path), "re");
	size_t size;

	pure_require(file != NULL, path);
	size = fread(ret, 1, room, file);
	fclose(file);
	pure_require(size > 0 && size < room, path);
	return size;
}

#define PARTS (sizeof(parts) / sizeof(parts[0]))

static const struct part {
	const char *name;
	void (*run)(unsigned long n);
	unsigned long n;
	const char *one;
} parts[] = {
	{ "decode", pure_decode, 10000, "an instruction to its accesses" },
	{ "capstone", pure_capstone, 10000, "the same by Capstone alone" },
	{ "trapped", pure_trapped, 20, "who trapped, in a function of 1 KB" },
	{ "address", pure_address, 50000,
	  "effective addresses of an instruction" },
	{ "draw", pure_draw, 10000, "a site drawn and returned" },
	{ "draw-first", pure_draw_first, 10, "2048 functions, 16 first draws" },
	{ "table", pure_table, 20000,
	  "a hit, in the table of who touched what" },
	{ "learn", pure_learn, 5000, "a hit learned of, a location drawn" },
	{ "lengths", pure_lengths, 20000,
	  "a stall's end noted, a length asked" },
	{ "map", pure_map, 20000, "a key set, another removed" },
	{ "state", pure_state, 1, "a state file of 256 locations read" },
	{ "elf", pure_elf, 50, "the functions of an ELF file of 6 KB" },
	{ "parse", pure_parse, 30, "a race of a saved report read" },
	{ "fingerprint", pure_fingerprint, 300, "a race's fingerprints" },
	{ "dedupe", pure_dedupe, 30, "the same, and a twin looked for" },
	{ "json", pure_json, 30, "a race written as JSON" },
	{ "text", pure_text, 60, "a race written as text" },
	{ "merge", pure_merge, 64, "a race written, read and merged" },
};

/* Counts of another compiler are others, and without optimization too. */
static void list(void)
{
#ifdef __clang__
	const char *compiler = __VERSION__;
#else
	const char *compiler = "gcc " __VERSION__;
#endif
#ifdef __OPTIMIZE__
	const char *optimized = "optimized";
#else
	const char *optimized = "unoptimized";
#endif

	printf("%s, %s, libc %s\n", compiler, optimized,
	       gnu_get_libc_version());
	for (size_t i = 0; i < PARTS; i++)
		printf("%s %lu %s\n", parts[i].name, parts[i].n, parts[i].one);
}

int main(int argc, char **argv)
{
	size_t i = 0;

	if (argc < 3) {
		list();
		return 0;
	}
	/* else of chance, and so are the ways through its tables */
	json_object_seed(1);
	while (i < PARTS && strcmp(parts[i].name, argv[1]) != 0)
		i++;
	pure_require(i < PARTS, "no such part");
	parts[i].run(strtoul(argv[2], NULL, 10));
	return 0;
}
