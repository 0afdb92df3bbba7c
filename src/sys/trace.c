/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ptrace(2) by verbs; see trace.h. The only file that names it.
 */
#include "sys/trace.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "base/error.h"

/* of the kernel, include/linux/errno.h: begun anew unless a handler runs */
enum { TRACE_RESTARTNOHAND = 514 };

/* Linux 5.13; glibc 2.36 does not name it */
#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

static struct error *trace_error(pid_t tid, const char *what)
{
	return error_os(errno, "%s thread %d", what, (int)tid);
}

/*
 * A request to a thread in a ptrace-stop fails only when the thread was
 * killed, or by somebody's doing (a filter, a fault injected). What the thread
 * stands or falls with is then tried again, and by other requests.
 */
enum { TRACE_TRIES = 3 };

static bool trace_do(enum __ptrace_request request, pid_t tid,
		     uintptr_t address, uintptr_t data)
{
	for (int i = 0; i < TRACE_TRIES; i++) {
		if (ptrace(request, tid, address, data) >= 0)
			return true;
		if (errno == ESRCH)
			break;
	}
	return false;
}

struct error *trace_seize(pid_t tid, bool exit_kill)
{
	unsigned long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
				PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE |
				PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;

	if (exit_kill)
		options |= PTRACE_O_EXITKILL;
	if (ptrace(PTRACE_SEIZE, tid, 0L, options) < 0)
		return trace_error(tid, "seize");
	return NULL;
}

struct error *trace_seize_alone(pid_t tid)
{
	if (ptrace(PTRACE_SEIZE, tid, 0L, 0L) < 0)
		return trace_error(tid, "seize");
	return NULL;
}

bool trace_offer(void)
{
	if (ptrace(PTRACE_TRACEME, 0, 0L, 0L) < 0)
		return false;
	/* no signal need be sent, which a filter may refuse */
	__asm__ volatile("int3");
	return true;
}

struct error *trace_take_scratch(pid_t pid)
{
	unsigned long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD;

	if (ptrace(PTRACE_SETOPTIONS, pid, 0L, options) < 0)
		return trace_error(pid, "set options of");
	return NULL;
}

struct error *trace_kill_scratch(pid_t pid)
{
	if (ptrace(PTRACE_KILL, pid, 0L, 0L) < 0)
		return trace_error(pid, "kill");
	return NULL;
}

/* One of the requests whose data is a signal, or 0. */
static struct error *trace_request(enum __ptrace_request request, pid_t tid,
				   int signal, const char *what)
{
	if (!trace_do(request, tid, 0, (uintptr_t)signal))
		return trace_error(tid, what);
	return NULL;
}

struct error *trace_interrupt(pid_t tid)
{
	return trace_request(PTRACE_INTERRUPT, tid, 0, "interrupt");
}

struct error *trace_continue(pid_t tid, int signal)
{
	return trace_request(PTRACE_CONT, tid, signal, "continue");
}

struct error *trace_step(pid_t tid, int signal)
{
	return trace_request(PTRACE_SINGLESTEP, tid, signal, "step");
}

struct error *trace_to_syscall(pid_t tid, int signal)
{
	return trace_request(PTRACE_SYSCALL, tid, signal, "continue");
}

struct error *trace_emulate(pid_t tid, bool step)
{
	return trace_request(step ? PTRACE_SYSEMU_SINGLESTEP : PTRACE_SYSEMU,
			     tid, 0, "continue");
}

struct error *trace_listen(pid_t tid)
{
	return trace_request(PTRACE_LISTEN, tid, 0, "listen to");
}

struct error *trace_detach(pid_t tid, int signal)
{
	return trace_request(PTRACE_DETACH, tid, signal, "detach from");
}

/* Where enum x86_reg keeps each register of struct user_regs_struct. */
static const size_t gpr_offsets[16] = {
	[X86_RAX] = offsetof(struct user_regs_struct, rax),
	[X86_RCX] = offsetof(struct user_regs_struct, rcx),
	[X86_RDX] = offsetof(struct user_regs_struct, rdx),
	[X86_RBX] = offsetof(struct user_regs_struct, rbx),
	[X86_RSP] = offsetof(struct user_regs_struct, rsp),
	[X86_RBP] = offsetof(struct user_regs_struct, rbp),
	[X86_RSI] = offsetof(struct user_regs_struct, rsi),
	[X86_RDI] = offsetof(struct user_regs_struct, rdi),
	[X86_R8] = offsetof(struct user_regs_struct, r8),
	[X86_R9] = offsetof(struct user_regs_struct, r9),
	[X86_R10] = offsetof(struct user_regs_struct, r10),
	[X86_R11] = offsetof(struct user_regs_struct, r11),
	[X86_R12] = offsetof(struct user_regs_struct, r12),
	[X86_R13] = offsetof(struct user_regs_struct, r13),
	[X86_R14] = offsetof(struct user_regs_struct, r14),
	[X86_R15] = offsetof(struct user_regs_struct, r15),
};

/* Word by word, where the whole is refused. */
static bool trace_peek_registers(pid_t tid, struct user_regs_struct *ret)
{
	unsigned long *words = (unsigned long *)ret;

	for (size_t i = 0; i < sizeof(*ret) / sizeof(*words); i++) {
		long word;

		errno = 0;
		word = ptrace(PTRACE_PEEKUSER, tid, i * sizeof(*words), 0L);
		if (word == -1 && errno != 0)
			return false;
		words[i] = (unsigned long)word;
	}
	return true;
}

static bool trace_get_registers(pid_t tid, struct user_regs_struct *ret)
{
	return trace_do(PTRACE_GETREGS, tid, 0, (uintptr_t)ret) ||
	       (errno != ESRCH && trace_peek_registers(tid, ret));
}

static bool trace_poke_registers(pid_t tid, const struct user_regs_struct *user)
{
	const unsigned long *words = (const unsigned long *)user;

	for (size_t i = 0; i < sizeof(*user) / sizeof(*words); i++) {
		if (!trace_do(PTRACE_POKEUSER, tid, i * sizeof(*words),
			      words[i]))
			return false;
	}
	return true;
}

struct error *trace_registers(pid_t tid, struct x86_registers *ret)
{
	struct user_regs_struct user;

	if (!trace_get_registers(tid, &user))
		return trace_error(tid, "read registers of");
	for (int i = 0; i < 16; i++)
		memcpy(&ret->gpr[i], (char *)&user + gpr_offsets[i],
		       sizeof(ret->gpr[i]));
	ret->rip = user.rip;
	ret->rflags = user.eflags;
	ret->fs_base = user.fs_base;
	ret->gs_base = user.gs_base;
	ret->orig_rax = user.orig_rax;
	return NULL;
}

struct error *trace_set_registers(pid_t tid, const struct x86_registers *regs)
{
	struct user_regs_struct user;

	if (!trace_get_registers(tid, &user))
		return trace_error(tid, "read registers of");
	for (int i = 0; i < 16; i++)
		memcpy((char *)&user + gpr_offsets[i], &regs->gpr[i],
		       sizeof(regs->gpr[i]));
	user.rip = regs->rip;
	user.eflags = regs->rflags;
	user.fs_base = regs->fs_base;
	user.gs_base = regs->gs_base;
	user.orig_rax = regs->orig_rax;
	if (!trace_do(PTRACE_SETREGS, tid, 0, (uintptr_t)&user) &&
	    (errno == ESRCH || !trace_poke_registers(tid, &user)))
		return trace_error(tid, "write registers of");
	return NULL;
}

static struct error *trace_poke_user(pid_t tid, size_t offset, uint64_t value)
{
	if (!trace_do(PTRACE_POKEUSER, tid, offset, value))
		return trace_error(tid, "write a register of");
	return NULL;
}

struct error *trace_set_rip(pid_t tid, uint64_t rip)
{
	struct x86_registers regs;
	struct error *err;

	err = trace_poke_user(tid, offsetof(struct user, regs.rip), rip);
	if (!err || err == error_gone)
		return err;
	/* a filter that refuses the one request may know the other */
	error_free(err);
	err = trace_registers(tid, &regs);
	if (err)
		return err;
	regs.rip = rip;
	return trace_set_registers(tid, &regs);
}

struct error *trace_restart_call(pid_t tid)
{
	return trace_poke_user(tid, offsetof(struct user, regs.rax),
			       (uint64_t)-TRACE_RESTARTNOHAND);
}

struct error *trace_vectors(pid_t tid, uint8_t *area, size_t most,
			    size_t *ret_size)
{
	struct iovec iov = { .iov_base = area, .iov_len = most };

	if (!trace_do(PTRACE_GETREGSET, tid, NT_X86_XSTATE, (uintptr_t)&iov))
		return trace_error(tid, "read vector registers of");
	*ret_size = iov.iov_len;
	return NULL;
}

struct error *trace_set_vectors(pid_t tid, const uint8_t *area, size_t size)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)area,
			     .iov_len = size };

	if (!trace_do(PTRACE_SETREGSET, tid, NT_X86_XSTATE, (uintptr_t)&iov))
		return trace_error(tid, "write vector registers of");
	return NULL;
}

struct error *trace_event_message(pid_t tid, unsigned long *ret)
{
	unsigned long message;

	if (!trace_do(PTRACE_GETEVENTMSG, tid, 0, (uintptr_t)&message))
		return trace_error(tid, "read the event of");
	*ret = message;
	return NULL;
}

static size_t debug_offset(int number)
{
	return offsetof(struct user, u_debugreg) +
	       (size_t)number * sizeof(((struct user *)0)->u_debugreg[0]);
}

struct error *trace_set_debug(pid_t tid, int number, uint64_t value)
{
	if (ptrace(PTRACE_POKEUSER, tid, debug_offset(number), value) < 0)
		return error_os(errno, "write DR%d of thread %d", number,
				(int)tid);
	return NULL;
}

struct error *trace_debug(pid_t tid, int number, uint64_t *ret)
{
	long value;

	errno = 0;
	value = ptrace(PTRACE_PEEKUSER, tid, debug_offset(number), 0L);
	if (value == -1 && errno != 0)
		return error_os(errno, "read DR%d of thread %d", number,
				(int)tid);
	*ret = (uint64_t)value;
	return NULL;
}

/* Is a queued SIGTRAP one of the traps that the processor raised? */
static bool trap_is_raised(enum trap_code code)
{
	return code != TRAP_CODE_HANDLER && code != TRAP_CODE_OTHER;
}

static enum trap_code trap_code_of(const siginfo_t *info)
{
	switch (info->si_code) {
	case SI_KERNEL:
		return TRAP_CODE_BREAKPOINT;
	case TRAP_TRACE:
	/* a step over a system call (user_single_step_report), or icebp */
	case TRAP_BRKPT:
		return TRAP_CODE_STEP;
	case TRAP_HWBKPT:
		return TRAP_CODE_WATCH;
	case TRAP_PERF:
		return TRAP_CODE_PERF;
	/* signal_setup_done() in kernel/signal.c: ptrace_notify(SIGTRAP) */
	case SIGTRAP:
		return TRAP_CODE_HANDLER;
	default:
		return TRAP_CODE_OTHER;
	}
}

/*
 * The perf fields of siginfo, which glibc 2.36 does not name: si_perf_data,
 * si_perf_type and si_perf_flags follow si_addr (asm-generic/siginfo.h).
 */
struct perf_siginfo {
	int fields[3];
	int padding;
	uint64_t address;
	uint64_t data;
};

struct error *trace_trap_info(pid_t tid, struct trap_info *ret)
{
	struct perf_siginfo perf;
	siginfo_t info;

	if (!trace_do(PTRACE_GETSIGINFO, tid, 0, (uintptr_t)&info))
		return trace_error(tid, "read the signal of");
	memcpy(&perf, &info, sizeof(perf));
	ret->code = trap_code_of(&info);
	ret->address = ret->code == TRAP_CODE_PERF ? perf.address : 0;
	ret->perf_data = ret->code == TRAP_CODE_PERF ? perf.data : 0;
	return NULL;
}

struct error *trace_fault_address(pid_t tid, bool *ret_fault,
				  uint64_t *ret_address)
{
	siginfo_t info;

	if (!trace_do(PTRACE_GETSIGINFO, tid, 0, (uintptr_t)&info))
		return trace_error(tid, "read the signal of");
	*ret_fault = (info.si_signo == SIGSEGV || info.si_signo == SIGBUS) &&
		     info.si_code > 0 && info.si_code != SI_KERNEL;
	*ret_address = *ret_fault ? (uint64_t)(uintptr_t)info.si_addr : 0;
	return NULL;
}

struct error *trace_move_fault(pid_t tid, uint64_t from, uint64_t to)
{
	siginfo_t info;

	if (!trace_do(PTRACE_GETSIGINFO, tid, 0, (uintptr_t)&info))
		return trace_error(tid, "read the signal of");
	if (info.si_code <= 0 || (uintptr_t)info.si_addr != from)
		return NULL;
	memcpy(&info.si_addr, &to, sizeof(info.si_addr));
	if (!trace_do(PTRACE_SETSIGINFO, tid, 0, (uintptr_t)&info))
		return trace_error(tid, "write the signal of");
	return NULL;
}

struct error *trace_signal_sent(pid_t tid, bool *ret)
{
	siginfo_t info;

	if (!trace_do(PTRACE_GETSIGINFO, tid, 0, (uintptr_t)&info))
		return trace_error(tid, "read the signal of");
	*ret = info.si_code <= 0;
	return NULL;
}

enum { PEEK_BATCH = 16 };

struct error *trace_trap_pending(pid_t tid, bool *ret)
{
	struct __ptrace_peeksiginfo_args args = { .off = 0, .nr = PEEK_BATCH };
	siginfo_t infos[PEEK_BATCH];
	long n;

	*ret = false;
	do {
		n = ptrace(PTRACE_PEEKSIGINFO, tid, &args, infos);
		if (n < 0)
			return trace_error(tid, "read pending signals of");
		for (long i = 0; i < n; i++) {
			if (infos[i].si_signo == SIGTRAP &&
			    trap_is_raised(trap_code_of(&infos[i])))
				*ret = true;
		}
		args.off += (uint64_t)n;
	} while (n == PEEK_BATCH && !*ret);
	return NULL;
}

struct error *trace_signal_mask(pid_t tid, uint64_t *ret)
{
	uint64_t mask;

	if (!trace_do(PTRACE_GETSIGMASK, tid, sizeof(mask), (uintptr_t)&mask))
		return trace_error(tid, "read the signal mask of");
	*ret = mask;
	return NULL;
}

struct error *trace_set_signal_mask(pid_t tid, uint64_t mask)
{
	if (!trace_do(PTRACE_SETSIGMASK, tid, sizeof(mask), (uintptr_t)&mask))
		return trace_error(tid, "write the signal mask of");
	return NULL;
}

/* Linux 5.13: PTRACE_GET_RSEQ_CONFIGURATION */
enum { TRACE_RSEQ_CONFIGURATION = 0x420f };

/* The kernel's struct ptrace_rseq_configuration. */
struct rseq_configuration {
	uint64_t address;
	uint32_t size, signature, flags, padding;
};

struct error *trace_rseq(pid_t tid, uint64_t *ret)
{
	struct rseq_configuration configuration = { 0 };

	if (!trace_do((enum __ptrace_request)TRACE_RSEQ_CONFIGURATION, tid,
		      sizeof(configuration), (uintptr_t)&configuration))
		return trace_error(tid, "read the rseq of");
	*ret = configuration.address;
	return NULL;
}

/* Linux 6.4: PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG */
enum { TRACE_DISPATCH_CONFIGURATION = 0x4211 };

/* The kernel's struct ptrace_sud_config. */
struct dispatch_configuration {
	uint64_t mode, selector, offset, length;
};

bool trace_dispatches(pid_t tid)
{
	struct dispatch_configuration configuration = { 0 };

	return trace_do((enum __ptrace_request)TRACE_DISPATCH_CONFIGURATION,
			tid, sizeof(configuration),
			(uintptr_t)&configuration) &&
	       configuration.mode != 0;
}

struct error *trace_poke_byte(pid_t tid, uint64_t address, uint8_t byte)
{
	uint64_t word_address = address & ~(uint64_t)7;
	long word = -1;

	for (int i = 0; i < TRACE_TRIES; i++) {
		errno = 0;
		word = ptrace(PTRACE_PEEKTEXT, tid, word_address, 0L);
		if (errno == 0)
			break;
	}
	if (word == -1 && errno != 0)
		return trace_error(tid, "read text of");
	((uint8_t *)&word)[address - word_address] = byte;
	if (!trace_do(PTRACE_POKETEXT, tid, word_address, (uintptr_t)word))
		return trace_error(tid, "write text of");
	return NULL;
}
