/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two sections write one variable. */
#include "short.h"

enum { N = 60000 };

unsigned progress[2];

static NOINLINE void progress_note(int section, unsigned value)
{
	progress[section ONLY_RACY(*0)] = value; /* RACE */
}

static void steps(int section)
{
	for (unsigned i = 0; i < N; i++)
		progress_note(section, work(i, 40));
}

int main(void)
{
#pragma omp parallel sections
	{
#pragma omp section
		steps(0);
#pragma omp section
		steps(1);
	}
	return 0;
}
