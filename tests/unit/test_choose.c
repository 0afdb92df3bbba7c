/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/doctor/choose.c: units and control groups in the text of /proc/PID/cgroup.
 * Processes are chosen in tests/run/attach-choose.sh.
 */
#include "doctor/choose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define UNIFIED "0::/system.slice/redis.service\n"
#define BELOW "0::/system.slice/postgresql@15-main.service/worker.scope\n"
#define HYBRID                                        \
	"9:name=systemd:/system.slice/cron.service\n" \
	"4:memory:/pods/a:b/c\n"                      \
	"0::/\n"

static void units_and_groups(void **state)
{
	static const struct {
		const char *unit, *cgroup, *text;
		bool expected;
	} rows[] = {
		{ "redis", NULL, UNIFIED, true },
		{ "redis.service", NULL, UNIFIED, true },
		{ "redi", NULL, UNIFIED, false },
		{ "redis.serv", NULL, UNIFIED, false },
		{ "edis", NULL, UNIFIED, false },
		{ "system.slice", NULL, UNIFIED, true },
		{ "system", NULL, UNIFIED, false },
		{ "postgresql@15-main", NULL, BELOW, true },
		{ "worker.scope", NULL, BELOW, true },
		{ "cron", NULL, HYBRID, true },
		{ "redis", NULL, HYBRID, false },
		{ "redis", NULL, "", false },
		{ "", NULL, UNIFIED, false },
		{ "redis", NULL, "redis", false },
		{ NULL, "/system.slice", UNIFIED, true },
		{ NULL, "system.slice/", UNIFIED, true },
		{ NULL, "/sys/fs/cgroup/system.slice", UNIFIED, true },
		{ NULL, "/system.slic", UNIFIED, false },
		{ NULL, "/system.slice/redis.service", UNIFIED, true },
		{ NULL, "/system.slice/redis.service/x", UNIFIED, false },
		{ NULL, "/", UNIFIED, true },
		{ NULL, "/pods/a:b", HYBRID, true },
		{ NULL, "/pods/a", HYBRID, false },
		{ NULL, "/x", "0::", false },
		{ "redis", "/system.slice", UNIFIED, true },
		{ "redis", "/user.slice", UNIFIED, false },
		{ "cron", "/pods", HYBRID, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct choice choice = { .unit = rows[i].unit,
					       .cgroup = rows[i].cgroup };

		if (choice_has_cgroup(&choice, rows[i].text) !=
		    rows[i].expected)
			fail_msg("row %zu", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_and_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
