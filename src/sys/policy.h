/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the machine's configuration says about tracing and perf: sysctls, the
 * kernel's command line, mounts, security modules. tracee/selftest.h tests what
 * works; this module says why something does not.
 */
#ifndef SYS_POLICY_H
#define SYS_POLICY_H

#include <stdbool.h>
#include <stddef.h>

/* A number in a file of /proc/sys; missing when there is no such file. */
long policy_number(const char *path, long missing);

#define POLICY_YAMA "/proc/sys/kernel/yama/ptrace_scope"
#define POLICY_PERF "/proc/sys/kernel/perf_event_paranoid"

/* SELinux's boolean that forbids ptrace(2), as it is now. */
bool policy_deny_ptrace(void);

/* The names of the security modules, "" when they cannot be read. */
void policy_modules(char *names, size_t size);

/*
 * The hidepid of the /proc we see: "0" when it hides nothing, else "1", "2",
 * "invisible", "ptraceable" and the like (proc(5)).
 */
void policy_hidepid(char *value, size_t size);
/* The same from the text of /proc/PID/mountinfo. */
void policy_parse_hidepid(const char *mounts, char *value, size_t size);

/*
 * The value of a parameter on the kernel's command line, "" without it; the
 * last one counts.
 */
void policy_parameter(const char *command_line, const char *name, char *value,
		      size_t size);

/* proc_mem.force_override on the kernel's command line, "" without it. */
void policy_force_override(char *value, size_t size);

/* Is this the initial user namespace, going by its map of user ids? */
bool policy_initial_users(void);

/* The running kernel's version; 0.0 if it cannot be told. */
void policy_linux(int *ret_major, int *ret_minor);

#endif
