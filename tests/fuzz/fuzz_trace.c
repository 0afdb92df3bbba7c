/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzz target: any bytes as the trace of a recorded run. What is taken makes
 * sides that are whole and in the order of their ranks.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "hunt/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int fact)
{
	if (!fact)
		abort();
}

static void write_trace(const char *path, const uint8_t *data, size_t size)
{
	FILE *file = fopen(path, "we");

	require(file != NULL);
	require(fwrite(data, 1, size, file) == size);
	require(fclose(file) == 0);
}

static void check_sides(struct vec *sides)
{
	double rank = 2;

	for (size_t i = 0; i < sides->count; i++) {
		struct hunt_side *side = vec_at(sides, i);

		require(side->id == i + 1 && side->rank <= rank);
		require(side->partners.count > 0 && side->hold_ns > 0);
		require(strlen(side->fingerprint) == 32);
		rank = side->rank;
		hunt_side_deinit(side);
	}
	vec_deinit(sides);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hunt_pairing options = { .quiet = true };
	struct vec sides = VEC_INIT(struct hunt_side);
	char folder[] = "/tmp/racewatch-fuzz.XXXXXX", path[64];
	struct hunt_totals totals;
	struct error *err;

	require(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/trace.1", folder);
	write_trace(path, data, size);
	err = hunt_targets_from_traces(folder, &options, &sides, &totals);
	if (err) {
		require(err->kind == ERROR_FORMAT && err->message[0]);
		require(strstr(err->message, path) != NULL);
		error_free(err);
	}
	check_sides(&sides);
	unlink(path);
	rmdir(folder);
	return 0;
}
