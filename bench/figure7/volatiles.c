/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is written with volatile: a flag, a progress that one thread tells,
 * and a count that two threads change, which volatile does not help.
 */
#include "figure7.h"

volatile int paused;
volatile unsigned long progress;
volatile int users;

NOINLINE static void pause_set(int on)
{
	paused = on; /* RACE: paused */
}

NOINLINE static int pause_get(void)
{
	return paused; /* RACE: paused */
}

NOINLINE static void progress_set(unsigned long to)
{
	progress = to; /* RACE: progress */
}

NOINLINE static unsigned long progress_get(void)
{
	return progress; /* RACE: progress */
}

NOINLINE static void user_enter(void)
{
	users++; /* RACE: users */
}

NOINLINE static int user_leave(void)
{
	return --users == 0; /* RACE: users */
}

static void worker(unsigned long i)
{
	if (!pause_get())
		progress_set(i);
	user_enter();
	use((unsigned long)user_leave());
}

static void screen(unsigned long i)
{
	pause_set((int)(i / 8 % 2));
	use(progress_get());
	user_enter();
	use((unsigned long)user_leave());
}

int main(int argc, char **argv)
{
	struct role roles[] = { { worker, 40 }, { screen, 30 }, { NULL, 0 } };

	return roles_run(argc, argv, "volatiles", roles);
}
