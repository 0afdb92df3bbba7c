/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzz target: any bytes as a file of suppressions. It is refused with a line,
 * or gives rules that can be matched with a race.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "judge/suppress.h"
#include "report/race.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int fact)
{
	if (!fact)
		abort();
}

static void make_race(struct race *race)
{
	race_init(race);
	race->address = 0x10;
	race->size = 8;
	race->variable.region = REGION_GLOBAL;
	race->variable.symbol = strdup("v");
	race->variable.module = strdup("/bin/mod");
	require(race->variable.symbol && race->variable.module);
	for (int i = 0; i < 2; i++) {
		struct race_frame *frame = vec_append(&race->sides[i].frames);

		require(frame != NULL);
		frame->function = strdup(i ? "a" : "b");
		frame->module = strdup("/lib/libc.so.6");
		frame->offset = 0x12;
		require(frame->function && frame->module);
	}
	race_fingerprint(race);
}

static void judge(struct suppressions *suppressions)
{
	struct race race;
	bool settled = false;

	make_race(&race);
	require(!suppressions_judge(suppressions, &race, &settled));
	require(!settled || race.suppressed.rule);
	require(!race.suppressed.rule || race.suppressed.line > 0);
	require(!suppressions_judge_again(suppressions, &race));
	race_deinit(&race);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct suppressions suppressions;
	struct error *err;

	suppressions_init(&suppressions);
	err = suppressions_parse(&suppressions, "input", (const char *)data,
				 size);
	if (err) {
		require(err->kind == ERROR_FORMAT);
		require(strncmp(err->message, "input:", 6) == 0);
		require(suppressions.rules.count == 0);
		error_free(err);
	}
	for (size_t i = 0; i < suppressions.rules.count; i++) {
		const struct suppress_rule *rule =
			vec_at(&suppressions.rules, i);

		require(rule->text && rule->line > 0 &&
			rule->alternatives.count > 0);
	}
	judge(&suppressions);
	suppressions_deinit(&suppressions);
	return 0;
}
