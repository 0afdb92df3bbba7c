/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzz target: any bytes as the report of another tool. Each parser refuses them
 * with the file's name, or gives candidates that are complete.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "foreign/foreign.h"
#include "report/race.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int fact)
{
	if (!fact)
		abort();
}

static void check(const struct foreign_report *report)
{
	for (size_t i = 0; i < report->races.count; i++) {
		const struct race *race =
			*(struct race **)vec_at(&report->races, i);

		require(race->evidence == EVIDENCE_REPORTED);
		require(race->id == i + 1 && race->count > 0);
		require(race->backend && race->fingerprint[0]);
		require(race->sides[0].frames.count > 0);
		require(race->size == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int tool = FOREIGN_TSAN; tool <= FOREIGN_XML; tool++) {
		struct foreign_report report;
		struct error *err = foreign_parse((enum foreign_tool)tool,
						  "input", (const char *)data,
						  size, &report);

		if (!err) {
			check(&report);
			foreign_report_deinit(&report);
			continue;
		}
		require(tool == FOREIGN_XML && err->kind == ERROR_FORMAT);
		require(strncmp(err->message, "input:", 6) == 0);
		error_free(err);
	}
	return 0;
}
