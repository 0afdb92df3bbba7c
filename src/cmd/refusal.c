/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reasons of a refusal; see refusal.h.
 */
#include "cmd/refusal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

/* The number behind a field of /proc/PID/status; -1 if it is not there. */
static long status_field(int pid, const char *field)
{
	char path[48];
	char line[256];
	cleanup_fclose FILE *file = NULL;
	size_t length = strlen(field);

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, field, length) == 0 && line[length] == ':')
			return strtol(line + length + 1, NULL, 10);
	}
	return -1;
}

static long yama_scope(void)
{
	cleanup_fclose FILE *file =
		fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	char line[32];

	return file && fgets(line, sizeof(line), file) ? strtol(line, NULL, 10)
						       : 0;
}

static struct error *refusal_traced(struct error *err, long tracer)
{
	return error_wrap(
		err,
		"process %ld traces it already (a debugger, strace?), "
		"and ptrace(2) allows one tracer",
		tracer);
}

static struct error *refusal_attach(struct error *err, int pid)
{
	long tracer = status_field(pid, "TracerPid");
	long owner = status_field(pid, "Uid");
	long scope = yama_scope();

	if (tracer > 0)
		return refusal_traced(err, tracer);
	if (geteuid() != 0 && owner != (long)geteuid())
		return error_wrap(err,
				  "ptrace(2) is refused: process %d belongs to "
				  "another user; run racewatch as root",
				  pid);
	if (scope > 0 && geteuid() != 0)
		return error_wrap(
			err,
			"ptrace(2) is refused: "
			"kernel.yama.ptrace_scope is %ld; set it to 0 "
			"with sysctl(8), or run racewatch as root",
			scope);
	return error_wrap(err,
			  "ptrace(2) is refused: process %d may have "
			  "privileges that racewatch has not, or a container "
			  "forbids it (docker run --cap-add=SYS_PTRACE)",
			  pid);
}

static struct error *refusal_run(struct error *err)
{
	long tracer = status_field(getpid(), "TracerPid");
	long scope = yama_scope();

	if (tracer > 0)
		return error_wrap(err,
				  "ptrace(2) is refused: process %ld traces "
				  "racewatch and what it starts; a program has "
				  "one tracer",
				  tracer);
	if (scope >= 2)
		return error_wrap(err,
				  "ptrace(2) is refused: "
				  "kernel.yama.ptrace_scope is %ld; %s",
				  scope,
				  scope == 2
					  ? "set it to 1 with sysctl(8), or "
					    "run racewatch as root"
					  : "nothing may be traced until the "
					    "next boot");
	if (status_field(getpid(), "Seccomp") > 0)
		return error_wrap(err,
				  "ptrace(2) is refused, perhaps by the "
				  "seccomp filter of a container; start it "
				  "with --cap-add=SYS_PTRACE");
	return error_wrap(err, "ptrace(2) is refused");
}

struct error *refusal_explain(struct error *err, int pid)
{
	if (!err || (err->code != EPERM && err->code != EACCES))
		return err;
	return pid ? refusal_attach(err, pid) : refusal_run(err);
}
