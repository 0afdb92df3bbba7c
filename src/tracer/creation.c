/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where threads were created; see creation.h.
 */
#include "tracer/creation.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sys/memory.h"
#include "sys/procfs.h"
#include "sys/trace.h"
#include "tracee/breakpoint.h"
#include "tracee/process.h"
#include "tracee/thread.h"

struct creation {
	struct wire_birth wire;
	uint8_t stack[WIRE_BIRTH_STACK_MAX];
};

/*
 * No two are alike (the stack holds the new thread's descriptor), so they are
 * not shared; only the number is bounded.
 */
void creation_record(struct creations *creations, struct thread *child,
		     const struct thread *creator)
{
	struct creation *creation;
	struct wire_birth *wire;
	struct error *err;
	size_t size = 0;

	if (creations->count >= CREATIONS_MAX)
		return;
	creation = malloc(sizeof(*creation));
	if (!creation)
		return;
	wire = &creation->wire;
	memset(wire, 0, sizeof(*wire));
	err = trace_registers(creator->tid, &wire->regs);
	if (err) {
		error_free(err);
		free(creation);
		return;
	}
	wire->present = true;
	wire->tid = creator->tid;
	procfs_name(creator->process->pid, creator->tid, wire->name,
		    sizeof(wire->name));
	wire->stack_address = wire->regs.gpr[X86_RSP];
	error_free(memory_read(&creator->process->space->memory,
			       wire->stack_address, creation->stack,
			       sizeof(creation->stack), &size));
	wire->stack_size = (uint32_t)size;
	child->creation = creation;
	creations->count++;
}

void creation_forget(struct creations *creations, struct thread *thread)
{
	if (!thread->creation)
		return;
	free(thread->creation);
	thread->creation = NULL;
	creations->count--;
}

const uint8_t *creation_tell(const struct thread *thread,
			     struct wire_birth *ret)
{
	if (!thread->creation)
		return NULL;
	*ret = thread->creation->wire;
	return thread->creation->stack;
}
