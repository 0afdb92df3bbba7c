/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An element of a global std::vector, through operator[]: at -O0 the index
 * operator is a call, at -O2 it is inlined into the access.
 */
#include "target.h"
#include <thread>
#include <vector>

namespace ledger
{
static std::vector<int> entries(16);

NOINLINE static void post(unsigned i, int value)
{
	entries[i] = value; /* RACE: post */
}

NOINLINE static int audit(unsigned i)
{
	return entries[i]; /* RACE: audit */
}
} /* namespace ledger */

static void post_loop()
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		ledger::post(9, int(x));
		LEAVE();
		x = target_work(x, 40);
	}
}

static void audit_loop()
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		x += unsigned(ledger::audit(9));
		LEAVE();
		x = target_work(x, 30);
	}
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	std::thread poster(post_loop), auditor(audit_loop);

	poster.join();
	auditor.join();
	return target_done("cpp_vector");
}
