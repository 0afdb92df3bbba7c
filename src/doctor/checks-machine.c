/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What machine and user allow; see checks.h. Policies are read and then what
 * they are about is tried: a finding is about the policy, a failure about the
 * attempt.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "doctor/checks-list.h"
#include "sys/identity.h"
#include "sys/policy.h"
#include "sys/sandbox.h"

enum {
	/* one for each of a thread's four watchpoints, and our own */
	FILES_PER_THREAD = 4,
	FILES_FEW = 1024,
	FILES_OWN = 64,
};

static void look_linux(struct check_context *context, struct check *ret)
{
	int major, minor;

	(void)context;
	policy_linux(&major, &minor);
	if (major > 5 || (major == 5 && minor >= 13)) {
		check_find(ret, CHECK_OK, "Linux %d.%d", major, minor);
		return;
	}
	check_find(ret, CHECK_WARNING,
		   "Linux %d.%d has no perf watchpoints that stop a thread",
		   major, minor);
	check_advise(ret, "use Linux 5.13 or later");
}

static void look_traced(struct check_context *context, struct check *ret)
{
	pid_t tracer = context->identity->tracer;
	struct identity who;
	struct error *err;

	if (tracer == 0) {
		check_find(ret, CHECK_OK, "nobody traces racewatch itself");
		return;
	}
	err = identity_read(tracer, &who);
	check_find(ret, CHECK_FAILED,
		   "ptrace(2) is refused: process %d (%s) traces racewatch and "
		   "what it starts, and a program has one tracer",
		   (int)tracer, err ? "?" : who.name);
	check_advise(ret, "run racewatch outside of that tracer");
	error_free(err);
}

static void look_scope(struct check_context *context, struct check *ret)
{
	long scope = policy_number(POLICY_YAMA, 0);
	bool capable = check_capable(context->identity, CAP_SYS_PTRACE);

	if (scope <= 0 || (scope < 3 && capable)) {
		check_find(ret, CHECK_OK, "kernel.yama.ptrace_scope is %ld%s",
			   scope, scope > 0 ? ", with CAP_SYS_PTRACE" : "");
	} else if (scope == 1) {
		check_find(ret, CHECK_WARNING,
			   "kernel.yama.ptrace_scope is 1: only what racewatch "
			   "starts can be watched");
		check_advise_capability(
			ret,
			"to attach: sysctl -w kernel.yama.ptrace_scope=0, or ",
			CHECK_PTRACE, "");
	} else if (scope == 2) {
		check_find(ret, CHECK_FAILED,
			   "kernel.yama.ptrace_scope is 2: ptrace(2) takes "
			   "CAP_SYS_PTRACE");
		check_advise_capability(
			ret, "sysctl -w kernel.yama.ptrace_scope=1, or ",
			CHECK_PTRACE, "");
	} else {
		check_find(ret, CHECK_FAILED,
			   "kernel.yama.ptrace_scope is %ld: nothing may be "
			   "traced until the next boot",
			   scope);
		check_advise(ret, "take it out of /etc/sysctl.d and boot "
				  "again");
	}
}

static void look_capabilities(struct check_context *context, struct check *ret)
{
	static const struct {
		int number;
		const char *name;
	} wanted[] = {
		{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE" },
		{ 38, "CAP_PERFMON" }, /* since Linux 5.8 */
		{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
		{ CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE" },
	};
	struct strbuf names = { 0 };

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (check_capable(context->identity, wanted[i].number))
			strbuf_addf(&names, "%s%s", names.length ? ", " : "",
				    wanted[i].name);
	}
	if (check_capable(context->identity, CAP_SYS_PTRACE)) {
		check_find(ret, CHECK_OK, "user %u, with %s",
			   (unsigned int)geteuid(), strbuf_text(&names));
	} else {
		check_find(ret, CHECK_NOTE,
			   "user %u, %s%s: only processes of the same user, "
			   "with no more capabilities, can be watched",
			   (unsigned int)geteuid(),
			   names.length ? "with " : "without capabilities",
			   strbuf_text(&names));
		check_advise_capability(ret, "for others: ", CHECK_OTHERS, "");
	}
	strbuf_deinit(&names);
}

static void look_seccomp(struct check_context *context, struct check *ret)
{
	if (context->identity->seccomp == 0)
		check_find(ret, CHECK_OK, "no filter of system calls");
	else
		check_find(ret, CHECK_NOTE,
			   "system calls are filtered, as in a container; what "
			   "is refused follows");
}

/* In a child: there is no way back. */
static bool sandbox_works(void)
{
	const struct sandbox sandbox = { .writes = false };
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct error *err = sandbox_enter(&sandbox);

		/* exit-allowed: a forked child */
		_exit(err || syscall(SYS_unshare, 0) == 0);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void look_sandbox(struct check_context *context, struct check *ret)
{
	(void)context;
	if (sandbox_works()) {
		check_find(ret, CHECK_OK,
			   "run and attach give up privileges and system "
			   "calls");
		return;
	}
	check_find(ret, CHECK_NOTE,
		   "the kernel filters no system calls for us: what reads a "
		   "program's files keeps them");
	check_advise(ret, "a kernel with CONFIG_SECCOMP_FILTER");
}

static void look_users(struct check_context *context, struct check *ret)
{
	(void)context;
	if (policy_initial_users()) {
		check_find(ret, CHECK_OK, "the initial one");
		return;
	}
	check_find(ret, CHECK_NOTE,
		   "not the initial one: capabilities count for processes in "
		   "it only, and not for perf");
	check_advise(ret, "to watch others: run racewatch outside of it");
}

static void look_modules(struct check_context *context, struct check *ret)
{
	char names[256];

	(void)context;
	policy_modules(names, sizeof(names));
	if (policy_deny_ptrace()) {
		check_find(ret, CHECK_FAILED,
			   "SELinux's boolean deny_ptrace is on");
		check_advise(ret, "setsebool deny_ptrace 0");
		return;
	}
	check_find(ret, CHECK_OK, "%s",
		   names[0] ? names : "none that can be seen");
}

static void look_proc(struct check_context *context, struct check *ret)
{
	char value[32];

	policy_hidepid(value, sizeof(value));
	if (value[0] == '0') {
		check_find(ret, CHECK_OK, "/proc shows all processes");
		return;
	}
	check_find(ret,
		   check_capable(context->identity, CAP_SYS_PTRACE)
			   ? CHECK_OK
			   : CHECK_NOTE,
		   "/proc is mounted with hidepid=%s", value);
	if (!check_capable(context->identity, CAP_SYS_PTRACE))
		check_advise_capability(
			ret, "to see other users' processes: ", CHECK_PTRACE,
			", or mount -o remount,hidepid=0 /proc");
}

static void look_perf_policy(struct check_context *context, struct check *ret)
{
	const long missing = -100;
	long level = policy_number(POLICY_PERF, missing);
	bool perfmon = check_capable(context->identity, 38);
	bool capable =
		policy_initial_users() &&
		(perfmon || check_capable(context->identity, CAP_SYS_ADMIN));

	if (level == missing) {
		check_find(ret, CHECK_WARNING, "this kernel has no perf");
		return;
	}
	if (capable || level <= 1) {
		check_find(ret, CHECK_OK, "kernel.perf_event_paranoid is %ld%s",
			   level,
			   !capable  ? ""
			   : perfmon ? ", with CAP_PERFMON"
				     : ", with CAP_SYS_ADMIN");
		return;
	}
	check_find(ret, CHECK_WARNING, "kernel.perf_event_paranoid is %ld: %s",
		   level,
		   level == 2 ? "accesses by the kernel are not seen"
			      : "perf is refused");
	check_advise_capability(ret,
				"sysctl -w kernel.perf_event_paranoid=1, or ",
				CHECK_PERFMON, "");
}

static void look_files(struct check_context *context, struct check *ret)
{
	struct rlimit limit;

	(void)context;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	if (limit.rlim_max >= FILES_FEW) {
		check_find(ret, CHECK_OK, "up to %ju, enough for %ju threads",
			   (uintmax_t)limit.rlim_max,
			   (uintmax_t)(limit.rlim_max - FILES_OWN) /
				   FILES_PER_THREAD);
		return;
	}
	check_find(ret, CHECK_WARNING,
		   "no more than %ju: too few for perf on many threads",
		   (uintmax_t)limit.rlim_max);
	check_advise(ret, "raise the hard limit: ulimit -Hn 65536, "
			  "LimitNOFILE= or --ulimit nofile=65536");
}

static void look_locked(struct check_context *context, struct check *ret)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return;
	if (limit.rlim_max == RLIM_INFINITY ||
	    check_capable(context->identity, CAP_IPC_LOCK))
		check_find(ret, CHECK_OK, "no limit");
	else
		check_find(ret, CHECK_OK, "up to %ju KiB",
			   (uintmax_t)limit.rlim_max / 1024);
}

static const struct check_entry machine_table[] = {
	{ "linux", look_linux, false, false },
	{ "traced", look_traced, true, false },
	{ "ptrace-scope", look_scope, true, false },
	{ "capabilities", look_capabilities, false, false },
	{ "seccomp", look_seccomp, false, false },
	{ "sandbox", look_sandbox, false, false },
	{ "user-namespace", look_users, false, false },
	{ "security-modules", look_modules, true, false },
	{ "proc", look_proc, false, false },
	{ "ptrace", check_look_ptrace, true, false },
	{ "memory", check_look_memory, false, true },
	{ "perf-policy", look_perf_policy, false, false },
	{ "watch-perf", check_look_watch_perf, false, true },
	{ "watch-ptrace", check_look_watch_ptrace, false, true },
	{ "watch-perf-cpu", check_look_watch_cpu, false, true },
	{ "execution", check_look_execution, false, true },
	{ "watch-value", check_look_watch_value, false, true },
	{ "debug-registers", check_look_registers, false, true },
	{ "open-files", look_files, false, false },
	{ "locked-memory", look_locked, false, false },
};

enum { MACHINE_CHECKS = sizeof(machine_table) / sizeof(machine_table[0]) };

struct error *checks_machine(struct checks *checks)
{
	struct identity identity;
	struct check_context context = { .identity = &identity };
	struct error *err = identity_read(getpid(), &identity);

	if (!err)
		err = checks_run(machine_table, MACHINE_CHECKS, &context,
				 checks);
	return err;
}

struct error *checks_refuse_machine(void)
{
	struct identity identity;
	struct check_context context = { .identity = &identity };
	struct error *err = identity_read(getpid(), &identity);

	if (!err)
		err = checks_refuse(machine_table, MACHINE_CHECKS, &context,
				    "");
	return err;
}
