/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Process ids on the command line; see pid.h.
 */
#include "doctor/pid.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "sys/identity.h"

struct error *pid_parse(const char *text, int *ret)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	if (strspn(text, "0123456789") != strlen(text) || errno != 0 ||
	    pid <= 0 || pid > INT_MAX)
		return error_create(ERROR_USAGE, "'%s' is not a process id",
				    text);
	*ret = (int)pid;
	return NULL;
}

int pid_resolve(int pid)
{
	struct identity identity;
	struct error *err = identity_read(pid, &identity);

	if (err) {
		error_free(err);
		return pid;
	}
	if (identity.process == pid || identity.process <= 0)
		return pid;
	log_note("%d is a thread of process %d, which is watched", pid,
		 (int)identity.process);
	return identity.process;
}
