/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * System calls in a stopped thread; see remote.h.
 */
#include "sys/remote.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "sys/identity.h"
#include "sys/memory.h"
#include "sys/trace.h"
#include "sys/wait.h"

enum {
	VDSO_SIZE = 8192,
	SIGACTION_SIZE = 32,
	SIGSET_SIZE = 8,
	/* below rsp: the red zone and room for two structures */
	SCRATCH_BELOW = 512,
	SCRATCH_SIZE = 2 * SIGACTION_SIZE,
	/* stops other than ours that may come in between */
	RUN_TRIES = 64,
};

static struct error *auxiliary_value(pid_t pid, uint64_t type, uint64_t *ret)
{
	cleanup_close int fd = -1;
	Elf64_auxv_t entries[64];
	char path[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/auxv",
		 (int)identity_live_thread(pid));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_os(errno, "open %s", path);
	n = read(fd, entries, sizeof(entries));
	for (ssize_t i = 0; i < n / (ssize_t)sizeof(entries[0]); i++) {
		if (entries[i].a_type == type) {
			*ret = entries[i].a_un.a_val;
			return NULL;
		}
	}
	return error_create(ERROR_UNSUPPORTED, "%s has no entry %u", path,
			    (unsigned int)type);
}

struct error *remote_entry(pid_t pid, uint64_t *ret)
{
	return auxiliary_value(pid, AT_ENTRY, ret);
}

struct error *remote_headers(pid_t pid, uint64_t *ret, uint64_t *ret_count)
{
	struct error *err = auxiliary_value(pid, AT_PHDR, ret);

	return err ? err : auxiliary_value(pid, AT_PHNUM, ret_count);
}

struct error *remote_syscall_address(const struct memory *memory, uint64_t *ret)
{
	static const uint8_t instruction[] = { 0x0f, 0x05 };
	uint8_t bytes[VDSO_SIZE];
	const uint8_t *found;
	struct error *err;
	uint64_t vdso = 0;
	size_t size;

	err = auxiliary_value(memory->pid, AT_SYSINFO_EHDR, &vdso);
	if (!err)
		err = memory_read(memory, vdso, bytes, sizeof(bytes), &size);
	if (err)
		return err;
	found = memmem(bytes, size, instruction, sizeof(instruction));
	if (!found)
		return error_create(ERROR_UNSUPPORTED,
				    "the vDSO of %d has no syscall instruction",
				    (int)memory->pid);
	*ret = vdso + (uint64_t)(found - bytes);
	return NULL;
}

/*
 * Run to the entry and then to the exit of the system call. All signals are
 * blocked, so that what comes in between can only be an interrupt of ours, or
 * a stop of the whole process. That takes effect, but for this thread:
 * *ret_stopping. (To send its signal again later would be to stop a process
 * that was told to go on meanwhile.)
 * Not by single steps: their trap is forced, and would itself reset what we
 * are here to put back.
 */
static struct error *remote_run(pid_t tid, bool *ret_stopping)
{
	int signal = 0;
	int seen = 0;

	for (int i = 0; i < RUN_TRIES && seen < 2; i++) {
		struct stop_reason stop;
		struct error *err;

		err = trace_to_syscall(tid, signal);
		if (!err)
			err = wait_thread_stop(tid, &stop);
		if (err)
			return err;
		signal = 0;
		if (stop.kind == STOP_SIGNAL &&
		    (stop.signal == TRACE_SYSCALL_SIGNAL ||
		     stop.signal == SIGTRAP))
			seen++;
		else if (stop.kind == STOP_SIGNAL)
			signal = stop.signal;
		*ret_stopping |= stop.kind == STOP_GROUP;
	}
	if (seen == 2)
		return NULL;
	return error_create(ERROR_OTHER, "thread %d made no system call",
			    (int)tid);
}

static struct error *remote_call(pid_t tid, struct x86_registers regs,
				 uint64_t *ret)
{
	struct x86_registers after;
	bool stopping = false;
	uint64_t mask;
	struct error *err;
	struct error *restored;

	err = trace_signal_mask(tid, &mask);
	if (!err)
		err = trace_set_signal_mask(tid, ~UINT64_C(0));
	if (err)
		return err;
	err = trace_set_registers(tid, &regs);
	if (!err)
		err = remote_run(tid, &stopping);
	if (!err)
		err = trace_registers(tid, &after);
	if (!err)
		*ret = after.gpr[X86_RAX];
	/* another process may have its id now: leave that alone */
	if (err == error_gone)
		return err;
	restored = trace_set_signal_mask(tid, mask);
	/* resumed, it is told at once whether the process is stopped still */
	if (stopping)
		error_free(trace_interrupt(tid));
	if (!err)
		return restored;
	error_free(restored);
	return err;
}

/* The call itself, the scratch bytes being ours. */
static struct error *remote_sigaction_at(pid_t tid, const struct memory *memory,
					 struct x86_registers regs,
					 uint64_t scratch, int signal,
					 const uint8_t *set, uint8_t *old)
{
	struct error *err = NULL;
	uint64_t result = 0;
	size_t size;

	if (set)
		err = memory_write_text(memory, tid, scratch, set,
					SIGACTION_SIZE);
	if (err)
		return err;
	regs.gpr[X86_RAX] = SYS_rt_sigaction;
	regs.gpr[X86_RDI] = (uint64_t)signal;
	regs.gpr[X86_RSI] = set ? scratch : 0;
	regs.gpr[X86_RDX] = old ? scratch + SIGACTION_SIZE : 0;
	regs.gpr[X86_R10] = SIGSET_SIZE;
	err = remote_call(tid, regs, &result);
	if (!err && result != 0)
		err = error_os((int)-(int64_t)result,
			       "rt_sigaction in thread %d", (int)tid);
	if (!err && old)
		err = memory_read(memory, scratch + SIGACTION_SIZE, old,
				  SIGACTION_SIZE, &size);
	return err;
}

/*
 * A thread that was stopped in a system call which the kernel is to restart
 * has one of its internal error numbers in rax (include/linux/errno.h). The
 * kernel acts on it on the way from a signal, and not from a system call, as
 * the thread will be: so the restart is made here, as it would make it
 * (arch/x86/kernel/signal.c).
 */
enum {
	KERNEL_ERESTARTSYS = 512,
	KERNEL_ERESTARTNOINTR = 513,
	KERNEL_ERESTARTNOHAND = 514,
	KERNEL_ERESTART_RESTARTBLOCK = 516,
	SYSCALL_INSTRUCTION = 2, /* bytes */
};

static void remote_plan_restart(struct x86_registers *regs)
{
	int64_t result = (int64_t)regs->gpr[X86_RAX];
	uint64_t number = regs->orig_rax;

	if ((int64_t)regs->orig_rax < 0)
		return;
	/* nor is one to be made: the thread may stand at the entry of ours */
	regs->orig_rax = ~UINT64_C(0);
	if (result == -KERNEL_ERESTARTSYS || result == -KERNEL_ERESTARTNOINTR ||
	    result == -KERNEL_ERESTARTNOHAND)
		regs->gpr[X86_RAX] = number;
	else if (result == -KERNEL_ERESTART_RESTARTBLOCK)
		regs->gpr[X86_RAX] = SYS_restart_syscall;
	else
		return;
	regs->rip -= SYSCALL_INSTRUCTION;
}

struct error *remote_sigaction(pid_t tid, const struct memory *memory,
			       uint64_t syscall_address, int signal,
			       const uint8_t *set, uint8_t *old)
{
	struct x86_registers saved, regs;
	uint8_t scratch_saved[SCRATCH_SIZE];
	struct error *restored;
	struct error *err;
	uint64_t scratch;
	size_t size;

	err = trace_registers(tid, &saved);
	if (err)
		return err;
	scratch = (saved.gpr[X86_RSP] - SCRATCH_BELOW) & ~UINT64_C(15);
	err = memory_read(memory, scratch, scratch_saved, SCRATCH_SIZE, &size);
	if (err)
		return err;
	regs = saved;
	regs.rip = syscall_address;
	/* not in a system call: nothing is to be restarted */
	regs.orig_rax = ~UINT64_C(0);
	err = remote_sigaction_at(tid, memory, regs, scratch, signal, set, old);
	if (err == error_gone)
		return err;
	/* free bytes of its stack: that they can be written is no condition */
	error_free(
		memory_write_text(memory, tid, scratch, scratch_saved, size));
	remote_plan_restart(&saved);
	restored = trace_set_registers(tid, &saved);
	if (!err)
		return restored;
	error_free(restored);
	return err;
}

/* A call whose arguments are numbers: it takes no memory. */
struct call {
	const char *name;
	uint64_t number;
	uint64_t arguments[6];
};

static void remote_set_call(struct x86_registers *regs,
			    uint64_t syscall_address, const struct call *call)
{
	static const uint8_t order[] = { X86_RDI, X86_RSI, X86_RDX,
					 X86_R10, X86_R8,  X86_R9 };

	regs->rip = syscall_address;
	regs->orig_rax = ~UINT64_C(0);
	regs->gpr[X86_RAX] = call->number;
	for (size_t i = 0; i < sizeof(order); i++)
		regs->gpr[order[i]] = call->arguments[i];
}

static struct error *remote_numbers(pid_t tid, uint64_t syscall_address,
				    const struct call *call, uint64_t *ret)
{
	struct x86_registers saved, regs;
	struct error *restored;
	uint64_t result = 0;
	struct error *err;

	err = trace_registers(tid, &saved);
	if (err)
		return err;
	regs = saved;
	remote_set_call(&regs, syscall_address, call);
	err = remote_call(tid, regs, &result);
	if (err == error_gone)
		return err;
	if (!err && (int64_t)result < 0)
		err = error_os((int)-(int64_t)result, "%s in thread %d",
			       call->name, (int)tid);
	remote_plan_restart(&saved);
	restored = trace_set_registers(tid, &saved);
	if (!err && !restored)
		*ret = result;
	if (!err)
		return restored;
	error_free(restored);
	return err;
}

static struct error *remote_prctl(pid_t tid, uint64_t syscall_address,
				  uint64_t option, uint64_t argument, int *ret)
{
	const struct call call = {
		.name = "prctl",
		.number = SYS_prctl,
		.arguments = { option, argument },
	};
	uint64_t result = 0;
	struct error *err =
		remote_numbers(tid, syscall_address, &call, &result);

	if (!err)
		*ret = (int)result;
	return err;
}

struct error *remote_dumpable(pid_t tid, uint64_t syscall_address, int *ret)
{
	return remote_prctl(tid, syscall_address, PR_GET_DUMPABLE, 0, ret);
}

struct error *remote_set_dumpable(pid_t tid, uint64_t syscall_address,
				  int dumpable)
{
	int result;

	return remote_prctl(tid, syscall_address, PR_SET_DUMPABLE,
			    (uint64_t)dumpable, &result);
}

struct error *remote_map_text(pid_t tid, uint64_t syscall_address,
			      uint64_t address, uint64_t size)
{
	const struct call call = {
		.name = "mmap",
		.number = SYS_mmap,
		.arguments = { address, size, PROT_READ | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				       MAP_FIXED_NOREPLACE,
			       ~UINT64_C(0) },
	};
	uint64_t result = 0;
	struct error *err =
		remote_numbers(tid, syscall_address, &call, &result);

	if (!err && result != address)
		return error_create(ERROR_UNSUPPORTED,
				    "mmap in thread %d mapped elsewhere",
				    (int)tid);
	return err;
}
