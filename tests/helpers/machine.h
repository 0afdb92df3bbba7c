/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What tests/helpers/machine says, for test programs: HELPERS_DIR, which the
 * makefile sets, has that program.
 */
#ifndef HELPERS_MACHINE_H
#define HELPERS_MACHINE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

/* Do debug registers not trap on this machine? It says so on standard output. */
static inline bool machine_lacks_registers(void)
{
	const char *helpers = getenv("HELPERS_DIR");
	char command[4096];
	int status;

	snprintf(command, sizeof(command), "'%s/machine' registers",
		 helpers ? helpers : "tests/helpers");
	status = system(command);
	return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

#endif
