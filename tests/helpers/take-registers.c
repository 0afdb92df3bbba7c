/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * take-registers COUNT: take so many of the debug registers of every processor, as
 * perf does, say "taken", and give them back at the end of standard input. What
 * others have for a moment is waited for.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "sys/perfwatch.h"

enum { GAP_US = 1000 };

static uint64_t nowhere[64];

static void take(int cpu, int i)
{
	const struct perfwatch_spec spec = {
		.address = (uint64_t)(uintptr_t)&nowhere[i],
		.length = sizeof(nowhere[i]),
		.write_only = true,
	};
	/* it is closed at the end */
	struct perfring ring;
	struct error *err = perfring_open(cpu, &spec, 0, &ring);

	while (err && err->kind == ERROR_UNSUPPORTED) {
		error_free(err);
		usleep(GAP_US);
		err = perfring_open(cpu, &spec, 0, &ring);
	}
	if (!err)
		return;
	fprintf(stderr, "take-registers: %s\n", error_message(err));
	error_free(err);
	exit(1);
}

int main(int argc, char **argv)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	int count = argc == 2 ? atoi(argv[1]) : 0;

	if (count < 1 || count > 4) {
		fprintf(stderr, "usage: take-registers 1-4\n");
		return 2;
	}
	for (int i = 0; i < count; i++) {
		for (int cpu = 0; cpu < processors; cpu++)
			take(cpu, i);
	}
	puts("taken");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
