/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scratch process runs: the program's code until a stop, or one system call
 * of ours; see scratch.h.
 */
#include "replay/scratch-parts.h"

#include <signal.h>
#include <string.h>

#include "base/error.h"
#include "sys/procfs.h"
#include "sys/trace.h"
#include "sys/wait.h"

enum {
	/* signals that others send, and stops, in one system call of ours */
	CALL_TRIES = 64,
	/* syscall; int3: bytes to behind the int3 */
	STUB_END = 3,
	/* of rflags: always set, and interrupts enabled */
	CALL_FLAGS = 0x202,
};

static struct error *scratch_wait(const struct scratch *scratch,
				  struct stop_reason *ret)
{
	struct error *err = wait_thread(scratch->pid, ret);

	if (!err && (ret->kind == STOP_EXITED || ret->kind == STOP_KILLED))
		err = error_gone;
	return err;
}

static struct error *scratch_run_stub(const struct scratch *scratch,
				      int64_t *ret)
{
	struct x86_registers regs;
	struct stop_reason stop;

	for (int i = 0; i < CALL_TRIES; i++) {
		struct error *err = trace_continue(scratch->pid, 0);

		if (!err)
			err = scratch_wait(scratch, &stop);
		if (!err)
			err = trace_registers(scratch->pid, &regs);
		if (err)
			return err;
		if (stop.kind == STOP_SIGNAL && stop.signal == SIGTRAP &&
		    regs.rip == SCRATCH_STUB + STUB_END) {
			*ret = (int64_t)regs.gpr[X86_RAX];
			return NULL;
		}
	}
	return error_create(ERROR_OTHER,
			    "the scratch process does not execute a call");
}

/* *ret is what the kernel returned, -errno for a failure. */
static struct error *execute_call(const struct scratch *scratch, int number,
				  const uint64_t arguments[6], int64_t *ret)
{
	static const uint8_t order[] = { X86_RDI, X86_RSI, X86_RDX,
					 X86_R10, X86_R8,  X86_R9 };
	struct x86_registers saved, regs = { .rip = SCRATCH_STUB,
					     .rflags = CALL_FLAGS,
					     .orig_rax = ~UINT64_C(0) };
	struct error *err = trace_registers(scratch->pid, &saved);

	if (err)
		return err;
	regs.gpr[X86_RAX] = (uint64_t)number;
	for (size_t i = 0; i < sizeof(order); i++)
		regs.gpr[order[i]] = arguments[i];
	err = trace_set_registers(scratch->pid, &regs);
	if (!err)
		err = scratch_run_stub(scratch, ret);
	saved.orig_rax = ~UINT64_C(0);
	return err ? err : trace_set_registers(scratch->pid, &saved);
}

struct error *scratch_must_call(const struct scratch *scratch, int number,
				const uint64_t arguments[6], const char *what)
{
	int64_t result = 0;
	struct error *err = execute_call(scratch, number, arguments, &result);

	if (!err && result < 0 && result > -SCRATCH_PAGE)
		err = error_os((int)-result, "%s in the scratch process", what);
	return err;
}

struct error *scratch_cpu(const struct scratch *scratch, uint64_t *ret_ns)
{
	if (procfs_process_cpu(scratch->pid, ret_ns))
		return NULL;
	return error_create(ERROR_OTHER,
			    "the scratch process has no clock of CPU time");
}

/* SIGTRAP: ours, a step, or an instruction of the program. *ret_done: it is. */
static struct error *scratch_trapped(const struct scratch *scratch,
				     struct scratch_stop *ret, bool *ret_done)
{
	struct trap_info info;
	struct error *err = trace_trap_info(scratch->pid, &info);

	if (err)
		return err;
	*ret_done = true;
	if (info.code == TRAP_CODE_BREAKPOINT)
		ret->kind = SCRATCH_BREAKPOINT;
	else if (info.code == TRAP_CODE_STEP)
		ret->kind = SCRATCH_STEPPED;
	else
		*ret_done = false;
	return NULL;
}

/* The same of an access that was refused. */
static struct error *scratch_faulted(const struct scratch *scratch,
				     struct scratch_stop *ret, bool *ret_done)
{
	struct error *err =
		trace_fault_address(scratch->pid, ret_done, &ret->address);

	if (*ret_done)
		ret->kind = SCRATCH_FAULT;
	return err;
}

static struct error *scratch_called(const struct scratch *scratch,
				    struct scratch_stop *ret)
{
	struct x86_registers regs;
	struct error *err = trace_registers(scratch->pid, &regs);

	ret->kind = SCRATCH_CALL;
	ret->number = err ? 0 : regs.orig_rax;
	return err;
}

static struct error *scratch_timed(const struct scratch *scratch,
				   uint64_t until_cpu_ns, bool *ret_spent)
{
	uint64_t now = 0;
	struct error *err = scratch_cpu(scratch, &now);

	*ret_spent = now >= until_cpu_ns;
	return err;
}

/* *ret_done: it is a stop of the code. What others send is for nobody. */
static struct error *scratch_signaled(const struct scratch *scratch, int signal,
				      uint64_t until_cpu_ns,
				      struct scratch_stop *ret, bool *ret_done)
{
	bool sent = false;
	struct error *err;

	*ret = (struct scratch_stop){ .kind = SCRATCH_SIGNAL,
				      .signal = signal };
	*ret_done = true;
	if (signal == TRACE_SYSCALL_SIGNAL)
		return scratch_called(scratch, ret);
	if (signal == SIGPROF) {
		ret->kind = SCRATCH_SPENT;
		return scratch_timed(scratch, until_cpu_ns, ret_done);
	}
	*ret_done = false;
	err = signal == SIGTRAP ? scratch_trapped(scratch, ret, ret_done)
				: scratch_faulted(scratch, ret, ret_done);
	if (err || *ret_done)
		return err;
	err = trace_signal_sent(scratch->pid, &sent);
	*ret_done = !sent;
	return err;
}

struct error *scratch_run(struct scratch *scratch, bool step,
			  uint64_t until_cpu_ns, struct scratch_stop *ret)
{
	struct stop_reason stop;
	bool done = false;

	while (!done) {
		struct error *err = trace_emulate(scratch->pid, step);

		if (!err)
			err = scratch_wait(scratch, &stop);
		if (!err && stop.kind == STOP_SIGNAL)
			err = scratch_signaled(scratch, stop.signal,
					       until_cpu_ns, ret, &done);
		if (err)
			return err;
	}
	return NULL;
}
