/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SIGTRAP is ignored: the program's own raise(SIGTRAP) must stay without
 * effect, its children ignore it too, and the disposition be as it was when
 * nobody watches any more.
 */
#include "special.h"

static void *worker(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		special_hot((unsigned)i);
		if (i % 65536 == 0)
			special_check_child(SIGTRAP, SIG_IGN);
		if (i % 1024)
			continue;
		raise(SIGTRAP);
	}
	special_check_mask(SIGTRAP, 0);
	return arg;
}

int main(int argc, char **argv)
{
	signal(SIGTRAP, SIG_IGN);
	target_init(argc, argv, 2);
	target_race(worker, worker);
	raise(SIGTRAP);
	if (!special_status("TracerPid:"))
		special_check_handler(SIGTRAP, SIG_IGN);
	return target_done("trap_ignored");
}
