/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ptrace(2) by verbs. Every function returns error_gone when the thread has
 * ended or is not in a ptrace-stop (the kernel returns ESRCH for both, and
 * SIGKILL may end a stopped thread at any time).
 */
#ifndef SYS_TRACE_H
#define SYS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "x86/access.h"

struct error;

/*
 * Seize the thread without stopping it, with all events the engine follows. Its
 * stops at system calls are reported as the signal TRACE_SYSCALL_SIGNAL
 * (PTRACE_O_TRACESYSGOOD).
 * exit_kill: the kernel kills it when the tracer dies (never for attach).
 */
struct error *trace_seize(pid_t tid, bool exit_kill);
/* Without events: its children and threads born later are not traced. */
struct error *trace_seize_alone(pid_t tid);
/*
 * A child that runs by trace_emulate() only: it offers itself to its parent, which
 * stops it by SIGTRAP, and the parent, when it has waited for that, takes it. It
 * is killed when the parent dies, and its stops at system calls are reported
 * likewise. So no process is traced by this that did not ask for it.
 */
bool trace_offer(void);
struct error *trace_take_scratch(pid_t pid);
/* End it while it is stopped, where kill(2) is refused. */
struct error *trace_kill_scratch(pid_t pid);
enum { TRACE_SYSCALL_SIGNAL = 5 | 0x80 };
struct error *trace_interrupt(pid_t tid);
struct error *trace_continue(pid_t tid, int signal);
struct error *trace_step(pid_t tid, int signal);
/* Continue to the next entry to or exit from a system call. */
struct error *trace_to_syscall(pid_t tid, int signal);
/*
 * Run without executing system calls: the thread stops before each call, which
 * is skipped in any case (PTRACE_SYSEMU). step: for one instruction.
 */
struct error *trace_emulate(pid_t tid, bool step);
/* Stay in group-stop, listening for events. */
struct error *trace_listen(pid_t tid);
struct error *trace_detach(pid_t tid, int signal);

struct error *trace_registers(pid_t tid, struct x86_registers *ret);
/* All general registers are written; fs/gs bases and orig_rax too. */
struct error *trace_set_registers(pid_t tid, const struct x86_registers *regs);
struct error *trace_set_rip(pid_t tid, uint64_t rip);
/*
 * The thread is stopped in a system call that would end with EINTR: restart the
 * call, unless a signal handler runs first (ERESTARTNOHAND of the kernel).
 */
struct error *trace_restart_call(pid_t tid);

/*
 * The vector registers: as much of the area that XSAVE writes, in its standard
 * format, as fits into `most' bytes.
 */
struct error *trace_vectors(pid_t tid, uint8_t *area, size_t most,
			    size_t *ret_size);

/*
 * Write them back; all of the area that this kernel has, in its size: of a
 * thread of this machine with the same vector registers permitted.
 */
struct error *trace_set_vectors(pid_t tid, const uint8_t *area, size_t size);

struct error *trace_event_message(pid_t tid, unsigned long *ret);

/* DR0-DR3, DR6, DR7 by number. */
struct error *trace_set_debug(pid_t tid, int number, uint64_t value);
struct error *trace_debug(pid_t tid, int number, uint64_t *ret);

/* Why a SIGTRAP came (sigaction(2), si_code). */
enum trap_code {
	TRAP_CODE_BREAKPOINT, /* int3: SI_KERNEL */
	TRAP_CODE_STEP,
	TRAP_CODE_WATCH, /* debug register */
	TRAP_CODE_PERF, /* perf event with sigtrap */
	/* a step has led to the first instruction of a handler: no signal */
	TRAP_CODE_HANDLER,
	TRAP_CODE_OTHER, /* sent by kill(2) and the like */
};

struct trap_info {
	enum trap_code code;
	uint64_t address; /* TRAP_CODE_PERF: of the event */
	uint64_t perf_data; /* TRAP_CODE_PERF: the event's sig_data */
};

struct error *trace_trap_info(pid_t tid, struct trap_info *ret);

/*
 * In a signal-delivery-stop: did the processor refuse an access, and to which
 * address? False for signals sent by kill(2) and where the kernel does not
 * know the address (SI_KERNEL: not canonical).
 */
struct error *trace_fault_address(pid_t tid, bool *ret_fault,
				  uint64_t *ret_address);

/*
 * In a signal-delivery-stop: if the signal tells that an instruction or access at
 * the address `from' has raised it, it tells of `to' from now on.
 */
struct error *trace_move_fault(pid_t tid, uint64_t from, uint64_t to);

/* In a signal-delivery-stop: was the signal sent, by kill(2) and the like? */
struct error *trace_signal_sent(pid_t tid, bool *ret);

/* Is a SIGTRAP of the kind we cause queued for the thread, undelivered? */
struct error *trace_trap_pending(pid_t tid, bool *ret);

/* The thread's blocked signals, bit n-1 for signal n. */
struct error *trace_signal_mask(pid_t tid, uint64_t *ret);
struct error *trace_set_signal_mask(pid_t tid, uint64_t mask);

/*
 * The address of the thread's struct rseq; 0: it has registered none (rseq(2)).
 * Linux 5.13 and later tell it.
 */
struct error *trace_rseq(pid_t tid, uint64_t *ret);

/*
 * Has the thread its system calls sent to itself as SIGSYS (prctl(2),
 * PR_SET_SYSCALL_USER_DISPATCH)? Linux 6.4 and later tell it; false: or not told.
 */
bool trace_dispatches(pid_t tid);

/* Write through the word-wise request, for when /proc/PID/mem is refused. */
struct error *trace_poke_byte(pid_t tid, uint64_t address, uint8_t byte);

#endif
