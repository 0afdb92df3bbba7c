/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two threads have a bit each, in the same word; they set them at different times.
 * Correct: a word each.
 */
#include "hunted.h"

struct state {
#ifdef TWIN
	unsigned open, dirty;
#else
	unsigned open : 1, dirty : 1;
#endif
} state;

static void *opener(void *arg)
{
	state.open = 1; /* RACE a */
	return arg;
}

static void *dirtier(void *arg)
{
	pause_ms(15);
	state.dirty = 1; /* RACE a */
	return arg;
}

int main(void)
{
	both(opener, dirtier);
	printf("%u %u\n", state.open, state.dirty);
	return 0;
}
