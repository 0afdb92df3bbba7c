/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzz target: any bytes as the text of /proc/PID/maps. What is taken has its
 * entries in order, and each is found by its addresses.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "image/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int fact)
{
	if (!fact)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error *err;
	struct maps maps;
	uint64_t end = 0;

	maps_init(&maps);
	err = maps_parse("input", (const char *)data, size, &maps);
	if (err) {
		require(err->kind == ERROR_FORMAT && err->message[0]);
		require(maps.entries.count == 0);
		error_free(err);
		return 0;
	}
	for (size_t i = 0; i < maps.entries.count; i++) {
		const struct map_entry *entry = vec_at(&maps.entries, i);

		require(entry->start >= end && entry->end > entry->start);
		require(maps_find(&maps, entry->start) == entry);
		require(maps_find(&maps, entry->end - 1) == entry);
		require(entry->path != NULL);
		end = entry->end;
	}
	maps_deinit(&maps);
	return 0;
}
