/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copies of threads at a conflict; see snapshot.h.
 */
#include "tracee/snapshot.h"

#include <string.h>

#include "base/error.h"
#include "sys/memory.h"
#include "sys/perfwatch.h"
#include "sys/procfs.h"
#include "sys/trace.h"
#include "tracee/breakpoint.h"
#include "tracee/process.h"
#include "tracee/thread.h"
#include "tracee/tracees.h"

enum {
	/* bytes below rsp that functions may use (x86-64 psABI 3.2.2) */
	RED_ZONE = 128,
	PAGE = 4096,
};

static void snapshot_identity(const struct thread *thread,
			      struct wire_side *ret)
{
	ret->present = true;
	ret->pid = thread->process->pid;
	ret->tid = thread->tid;
	ret->program = thread->process->space->text->program;
	ret->syscall = -1;
	ret->path_length = thread->path_length;
	memcpy(ret->path, thread->path, sizeof(ret->path));
	procfs_name(ret->pid, ret->tid, ret->name, sizeof(ret->name));
}

void snapshot_thread(struct thread *thread, const struct x86_registers *regs,
		     struct wire_side *ret, uint8_t *stack)
{
	struct error *err;
	const struct memory *memory = &thread->process->space->memory;
	size_t size = 0;

	snapshot_identity(thread, ret);
	ret->regs = *regs;
	ret->stack_address = regs->gpr[X86_RSP] - RED_ZONE;
	err = memory_read(memory, ret->stack_address, stack, WIRE_STACK_MAX,
			  &size);
	if (err) {
		/* it may have overflowed into the page below it */
		error_free(err);
		ret->stack_address = (ret->stack_address | (PAGE - 1)) + 1;
		err = memory_read(memory, ret->stack_address, stack,
				  WIRE_STACK_MAX, &size);
	}
	/* a thread without a stack still has its innermost frame */
	error_free(err);
	ret->stack_size = (uint32_t)size;
}

static bool machine_has(const struct wire_machine *machine, uint64_t address)
{
	for (uint32_t i = 0; i < machine->window_count; i++) {
		const struct wire_window *window = &machine->windows[i];
		uint64_t offset = address - window->address;

		/* a vector at the address is there as well */
		if (offset < window->size &&
		    window->size - offset >= X86_ACCESS_MAX)
			return true;
	}
	return false;
}

/* Memory around the address: from some bytes before it, if there are any. */
static void machine_add(const struct memory *memory,
			struct wire_machine *machine, uint64_t address,
			uint8_t *bytes)
{
	struct wire_window *window = &machine->windows[machine->window_count];
	size_t size = 0;

	if (address < PAGE || address >> 47 != 0 ||
	    machine->window_count == WIRE_WINDOWS_MAX ||
	    machine_has(machine, address))
		return;
	window->address = (address & ~UINT64_C(63)) - 64;
	error_free(memory_read(memory, window->address, bytes, WIRE_WINDOW,
			       &size));
	if (size <= 64) {
		window->address += 64;
		error_free(memory_read(memory, window->address, bytes,
				       WIRE_WINDOW, &size));
	}
	window->size = (uint32_t)size;
	machine->window_count += size > 0;
}

void snapshot_machine(const struct memory *memory, const struct thread *thread,
		      uint64_t address, struct wire_side *ret, uint8_t *bytes)
{
	struct wire_machine *machine = &ret->machine;
	size_t size = 0;

	*machine = (struct wire_machine){ 0 };
	if (thread)
		error_free(trace_vectors(thread->tid, bytes, WIRE_VECTORS_MAX,
					 &size));
	machine->vectors_size = (uint32_t)size;
	for (int i = -1; i < 16; i++)
		machine_add(memory, machine, i < 0 ? address : ret->regs.gpr[i],
			    bytes + snapshot_machine_size(ret));
}

size_t snapshot_machine_size(const struct wire_side *side)
{
	size_t size = side->machine.vectors_size;

	for (uint32_t i = 0; i < side->machine.window_count; i++)
		size += side->machine.windows[i].size;
	return size;
}

void snapshot_sample(const struct tracees *tracees,
		     const struct perfring_sample *sample,
		     struct wire_side *ret, uint8_t *stack)
{
	const struct thread *thread = tracees_thread(tracees, sample->tid);
	const struct process *process = tracees_process(tracees, sample->pid);

	if (thread)
		snapshot_identity(thread, ret);
	if (process)
		ret->program = process->space->text->program;
	ret->present = true;
	ret->pid = sample->pid;
	ret->tid = sample->tid;
	ret->syscall = -1;
	ret->regs = sample->regs;
	ret->stack_address = sample->regs.gpr[X86_RSP];
	ret->stack_size = sample->stack_size < WIRE_STACK_MAX
				  ? (uint32_t)sample->stack_size
				  : WIRE_STACK_MAX;
	memcpy(stack, sample->stack, ret->stack_size);
}
