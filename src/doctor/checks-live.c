/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What works on this machine when it is tried; see checks.h. Policies
 * (checks-machine.c) tell why something does not.
 */
#include "base/error.h"
#include "doctor/checks-list.h"
#include "sys/identity.h"
#include "sys/policy.h"
#include "tracee/selftest.h"

void check_look_ptrace(struct check_context *context, struct check *ret)
{
	struct error *err = selftest_trace();

	context->untraceable = err != NULL;
	if (!err) {
		check_find(ret, CHECK_OK, "a child can be traced");
		return;
	}
	check_find(ret, CHECK_FAILED, "ptrace(2) is refused%s: %s",
		   context->identity->seccomp ? " (seccomp filter)" : "",
		   error_message(err));
	check_advise(ret, context->identity->seccomp
				  ? "in a container: " CHECK_CONTAINER
				    ", or --security-opt seccomp=unconfined"
				  : "see what failed before this");
	error_free(err);
}

void check_look_memory(struct check_context *context, struct check *ret)
{
	struct selftest_memory found;
	struct error *err = selftest_memory(&found);
	char mode[32];

	(void)context;
	policy_force_override(mode, sizeof(mode));
	if (err) {
		check_find(ret, CHECK_FAILED, "%s", error_message(err));
		check_advise(ret, "in a container: " CHECK_CONTAINER);
	} else if (!found.writes_file) {
		check_find(ret, CHECK_WARNING,
			   "/proc/PID/mem takes no writes to text%s%s: a "
			   "thread is stopped for each breakpoint",
			   mode[0] ? ", proc_mem.force_override=" : "", mode);
		check_advise(ret, "boot with proc_mem.force_override=ptrace");
	} else if (!found.reads_directly) {
		check_find(ret, CHECK_NOTE,
			   "process_vm_readv(2) is refused; /proc/PID/mem is "
			   "read instead");
	} else {
		check_find(ret, CHECK_OK, "text can be read and written");
	}
	error_free(err);
}

static void check_advise_busy(struct check *ret)
{
	check_advise(ret, "end the debuggers and perf that use watchpoints");
}

void check_look_watch_perf(struct check_context *context, struct check *ret)
{
	bool kernel;
	struct error *err = selftest_perf(&kernel);

	context->perf_works = !err;
	if (err) {
		check_find(ret, CHECK_WARNING, "%s", error_message(err));
		/* of other reasons the finding says all */
		if (err->kind == ERROR_REFUSED)
			check_advise(ret,
				     "slower watchpoints are used; see "
				     "perf-policy, and in a container allow "
				     "perf_event_open with --cap-add=PERFMON "
				     "--security-opt seccomp=PROFILE or "
				     "unconfined");
		else if (selftest_is_busy(err))
			check_advise_busy(ret);
	} else if (!kernel) {
		check_find(ret, CHECK_WARNING,
			   "a watchpoint stopped a child, but accesses by the "
			   "kernel (read(2) and the like) are not seen");
		check_advise_capability(
			ret, "sysctl -w kernel.perf_event_paranoid=1, or ",
			CHECK_PERFMON, "");
	} else {
		check_find(ret, CHECK_OK,
			   "a watchpoint stopped a child, and saw the "
			   "kernel's access");
	}
	error_free(err);
}

void check_look_watch_ptrace(struct check_context *context, struct check *ret)
{
	struct error *err = selftest_registers();

	if (!err) {
		check_find(ret, CHECK_OK, "a watchpoint stopped a child");
		return;
	}
	check_find(ret, context->perf_works ? CHECK_NOTE : CHECK_WARNING, "%s",
		   error_message(err));
	if (selftest_is_busy(err))
		check_advise_busy(ret);
	else if (!context->perf_works)
		check_advise(ret, "a racing access is known only where both "
				  "threads are held, else by the changed "
				  "value; use a machine with working debug "
				  "registers");
	error_free(err);
}

void check_look_watch_cpu(struct check_context *context, struct check *ret)
{
	struct error *err = selftest_cpu();

	(void)context;
	if (!err) {
		check_find(ret, CHECK_OK,
			   "a CPU-wide watchpoint recorded a child's access");
		return;
	}
	check_find(ret, CHECK_NOTE, "%s", error_message(err));
	/* of other reasons the finding says all */
	if (err->kind == ERROR_REFUSED)
		check_advise_capability(ret,
					"for --backend perf-cpu: sysctl -w "
					"kernel.perf_event_paranoid=0, or ",
					CHECK_PERFMON, "");
	error_free(err);
}

void check_look_execution(struct check_context *context, struct check *ret)
{
	struct error *err = selftest_execution();

	(void)context;
	if (!err) {
		check_find(ret, CHECK_OK,
			   "a breakpoint on execution stopped a child: "
			   "--text-untouched works");
		return;
	}
	check_find(ret, CHECK_NOTE, "%s", error_message(err));
	if (selftest_is_busy(err))
		check_advise_busy(ret);
	else
		check_advise(ret, "for --text-untouched: see watch-perf");
	error_free(err);
}

void check_look_watch_value(struct check_context *context, struct check *ret)
{
	(void)context;
	check_find(ret, CHECK_OK, "values are compared; needs nothing");
}

void check_look_registers(struct check_context *context, struct check *ret)
{
	int count;
	struct error *err = selftest_free_registers(&count);

	(void)context;
	if (!err && count == 4) {
		check_find(ret, CHECK_OK, "all four are free");
	} else if (!err) {
		check_find(ret, CHECK_WARNING,
			   "%d of 4 are free: others watch memory too", count);
		check_advise_busy(ret);
	} else {
		check_find(ret, CHECK_NOTE, "%s", error_message(err));
	}
	error_free(err);
}
