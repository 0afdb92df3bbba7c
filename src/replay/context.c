/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Registers of a thread; see context.h.
 */
#include "replay/context.h"

#include "base/error.h"
#include "sys/trace.h"

/* of rflags: a trap after each instruction */
static const uint64_t CONTEXT_TRAP_FLAG = 0x100;

struct error *replay_context_read(pid_t tid, struct replay_context *ret)
{
	struct error *err = trace_registers(tid, &ret->regs);

	if (!err)
		err = trace_vectors(tid, ret->vectors, sizeof(ret->vectors),
				    &ret->vectors_size);
	/* a full area may have been cut off */
	if (!err && ret->vectors_size == sizeof(ret->vectors))
		err = error_create(ERROR_UNSUPPORTED,
				   "thread %d has more vector registers than "
				   "can be replayed (AMX)",
				   (int)tid);
	return err;
}

struct error *replay_context_write(pid_t tid,
				   const struct replay_context *context)
{
	struct x86_registers regs = context->regs;
	struct error *err;

	regs.rflags &= ~CONTEXT_TRAP_FLAG;
	/* the kernel would make a system call anew that is none of ours */
	regs.orig_rax = ~UINT64_C(0);
	err = trace_set_registers(tid, &regs);
	if (err)
		return err;
	return trace_set_vectors(tid, context->vectors, context->vectors_size);
}
