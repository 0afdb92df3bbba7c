/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The main of a fuzz target that is not linked with a fuzzer: it gives the
 * target every file of its corpus, whole, cut short in many places and with
 * bytes changed, and prints a TAP line for each file. The changes are the same
 * in every run, so a crash comes back with the same file as the argument:
 *
 *	fuzz_NAME [FILE...]
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

enum { INPUT_MAX = 1 << 16, CUTS = 64, CHANGES = 400, PATH_SIZE = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t input[INPUT_MAX];

/* A copy of its own for each call, so that ASan sees reads past the end. */
static void give(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		exit(99);
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void give_cut(size_t size)
{
	for (size_t i = 0; i < CUTS && i < size; i++)
		give(input, i * size / CUTS);
}

/* Each time up to four bytes are other ones, most of them extreme. */
static void give_changed(size_t size)
{
	static const uint8_t extremes[] = { 0, 1, 0x7f, 0x80, 0xfe, 0xff };
	uint8_t *changed = malloc(size);
	struct rng rng;

	if (!changed)
		exit(99);
	rng_init(&rng, size);
	for (int n = 0; n < CHANGES; n++) {
		memcpy(changed, input, size);
		for (uint64_t i = rng_below(&rng, 4) + 1; i > 0; i--) {
			uint64_t pick = rng_below(&rng, 8);

			changed[rng_below(&rng, size)] =
				pick < sizeof(extremes)
					? extremes[pick]
					: (uint8_t)rng_next(&rng);
		}
		give(changed, size);
	}
	free(changed);
}

static bool replay(const char *path)
{
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!file)
		return false;
	size = fread(input, 1, sizeof(input), file);
	fclose(file);
	give(input, size);
	if (size == 0)
		return true;
	give_cut(size);
	give_changed(size);
	return true;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int report(const char *path, int number)
{
	bool fine;

	/* Before, so that a crash leaves the name behind. */
	printf("# %s\n", path);
	fflush(stdout);
	fine = replay(path);
	printf("%sok %d - %s\n", fine ? "" : "not ", number, path);
	return !fine;
}

static int replay_corpus(const char *program)
{
	const char *top = getenv("top_srcdir");
	const char *name = strrchr(program, '_');
	char folder[PATH_SIZE / 2], path[PATH_SIZE];
	struct dirent **entries;
	int count, failed = 0;

	snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/%s",
		 top ? top : ".", name ? name + 1 : program);
	count = scandir(folder, &entries, visible, alphasort);
	if (count <= 0) {
		printf("Bail out! no corpus: %s\n", folder);
		return 99;
	}
	printf("1..%d\n", count);
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder,
			 entries[i]->d_name);
		failed += report(path, i + 1);
		free(entries[i]);
	}
	free(entries);
	return failed != 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc == 1)
		return replay_corpus(argv[0]);
	printf("1..%d\n", argc - 1);
	for (int i = 1; i < argc; i++)
		failed += report(argv[i], i);
	return failed != 0;
}
