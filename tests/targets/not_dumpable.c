/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process that is not dumpable, as one that keeps keys: its /proc belongs to
 * root. It stays so.
 */
#include "special.h"
#include <sys/prctl.h>

int main(int argc, char **argv)
{
	target_check(!prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl");
	target_init(argc, argv, 1);
	target_race(special_loop, special_loop);
	target_check(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0, "dumpable now");
	return target_done("not_dumpable");
}
