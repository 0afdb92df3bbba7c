/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A byte in a pipe says that the answer is there, but comes before it. Correct: it
 * comes after it.
 */
#include <unistd.h>

#include "hunted.h"

static int ends[2];
long answer;

static void tell(void)
{
	if (write(ends[1], "x", 1) != 1)
		abort();
}

static void *teller(void *arg)
{
	ONLY_RACY(tell());
	answer = 42; /* RACE a */
	ONLY_TWIN(tell());
	return arg;
}

static void *asker(void *arg)
{
	char byte;

	if (read(ends[0], &byte, 1) != 1)
		abort();
	pause_ms(20);
	printf("%ld\n", answer); /* RACE a */
	return arg;
}

int main(void)
{
	if (pipe(ends) < 0)
		return 1;
	both(teller, asker);
	return 0;
}
