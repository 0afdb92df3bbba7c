/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks from a snapshot; see unwind.h. libdwfl is attached to the snapshot
 * as if it were a process: its one thread is the snapshot's, its memory the
 * stack bytes and what the ELF files say is never written.
 */
#include "image/unwind.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "image/debuginfo.h"
#include "image/elftext.h"
#include "image/image.h"

/* The order of the registers in DWARF (System V ABI x86-64, figure 3.36). */
static const uint8_t dwarf_order[16] = {
	X86_RAX, X86_RDX, X86_RCX, X86_RBX, X86_RSI, X86_RDI, X86_RBP, X86_RSP,
	X86_R8,	 X86_R9,  X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15,
};

struct collector {
	const struct image *image;
	const struct x86_registers *innermost;
	struct unwind_frame *frames;
	size_t count;
	size_t max;
};

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	const struct unwinder *unwinder = arg;

	(void)dwfl;
	if (*thread)
		return 0;
	*thread = arg;
	return unwinder->input->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	(void)dwfl;
	(void)tid;
	*thread = arg;
	return true;
}

static bool read_stack(const struct unwind_input *input, uint64_t address,
		       Dwarf_Word *result)
{
	uint64_t skip = address - input->stack_address;

	if (skip >= input->stack_size ||
	    input->stack_size - skip < sizeof(*result))
		return false;
	memcpy(result, input->stack + skip, sizeof(*result));
	return true;
}

static bool read_file(const struct image *image, uint64_t address,
		      Dwarf_Word *result)
{
	const struct module *module = image_module_at(image, address);
	const uint8_t *bytes;
	uint64_t at;
	size_t size;

	if (!module || !module->text)
		return false;
	at = address - module->bias;
	if (!elftext_readonly(module->text, at, sizeof(*result)))
		return false;
	bytes = elftext_bytes(module->text, at, &size);
	if (!bytes || size < sizeof(*result))
		return false;
	memcpy(result, bytes, sizeof(*result));
	return true;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result,
			void *arg)
{
	const struct unwinder *unwinder = arg;

	(void)dwfl;
	return read_stack(unwinder->input, address, result) ||
	       read_file(unwinder->image, address, result);
}

static bool set_initial_registers(Dwfl_Thread *thread, void *arg)
{
	const struct unwinder *unwinder = arg;
	const struct x86_registers *regs = &unwinder->input->regs;
	Dwarf_Word values[17];

	for (int i = 0; i < 16; i++)
		values[i] = regs->gpr[dwarf_order[i]];
	values[16] = regs->rip;
	return dwfl_thread_state_registers(thread, 0, 17, values);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_initial_registers,
};

/* May code be there? Without maps nothing is known against it. */
static bool is_code(const struct image *image, uint64_t pc)
{
	const struct maps *maps = image_maps(image);
	const struct map_entry *entry;

	if (image_module_at(image, pc) || maps->entries.count == 0)
		return true;
	entry = maps_find(maps, pc);
	return entry && entry->exec;
}

/*
 * Registers that a function must keep (x86-64 psABI, figure 3.4): those of its
 * caller are known, whatever libdwfl thinks of the others.
 */
static void collect_registers(Dwfl_Frame *state,
			      const struct frame_registers *callee,
			      struct frame_registers *ret)
{
	/* in DWARF's numbers */
	static const uint8_t kept[] = { 3, 6, 7, 12, 13, 14, 15 };

	for (size_t i = 0; i < sizeof(kept); i++) {
		unsigned int reg = dwarf_order[kept[i]];
		Dwarf_Word value;

		if (dwfl_frame_reg(state, kept[i], &value) == 0)
			ret->gpr[reg] = value;
		/* libdw up to 0.188 takes rbx, if not saved, for undefined */
		else if (reg == X86_RBX && callee->known & 1 << X86_RBX)
			ret->gpr[reg] = callee->gpr[reg];
		else
			continue;
		ret->known |= UINT32_C(1) << reg;
	}
}

static int collect(Dwfl_Frame *state, void *arg)
{
	struct collector *collector = arg;
	struct unwind_frame *frame = &collector->frames[collector->count];
	bool is_activation;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(state, &pc, &is_activation))
		return DWARF_CB_ABORT;
	if (collector->count > 0 && (pc == 0 || !is_code(collector->image, pc)))
		return DWARF_CB_ABORT;
	frame->pc = pc;
	frame->is_return = !is_activation;
	memset(&frame->registers, 0, sizeof(frame->registers));
	if (collector->count > 0) {
		collect_registers(state, &frame[-1].registers,
				  &frame->registers);
		if (frame->registers.known & UINT32_C(1) << X86_RSP)
			frame[-1].registers.cfa = frame->registers.gpr[X86_RSP];
	} else {
		memcpy(frame->registers.gpr, collector->innermost->gpr,
		       sizeof(frame->registers.gpr));
		frame->registers.known = 0xffff;
	}
	collector->count++;
	return collector->count < collector->max ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static bool attach(struct unwinder *unwinder, Dwfl *dwfl)
{
	if (!unwinder->attached)
		unwinder->attached = dwfl_attach_state(
			dwfl, NULL, 1, &thread_callbacks, unwinder);
	if (!unwinder->attached)
		log_debug(LOG_IMAGE, "cannot unwind: %s", dwfl_errmsg(-1));
	return unwinder->attached;
}

struct error *unwind_frames(struct image *image,
			    const struct unwind_input *input,
			    struct unwind_frame *frames, size_t max,
			    size_t *ret_count)
{
	struct collector collector = { .image = image,
				       .innermost = &input->regs,
				       .frames = frames,
				       .max = max };
	struct unwinder *unwinder;
	struct error *err;
	Dwfl *dwfl;

	err = debuginfo_stacks(image, &dwfl);
	if (err)
		return err;
	unwinder = debuginfo_unwinder(image);
	unwinder->image = image;
	unwinder->input = input;
	if (attach(unwinder, dwfl))
		dwfl_getthread_frames(dwfl, input->tid, collect, &collector);
	unwinder->input = NULL;
	if (collector.count == 0) {
		memset(&frames[0], 0, sizeof(frames[0]));
		frames[0].pc = input->regs.rip;
		memcpy(frames[0].registers.gpr, input->regs.gpr,
		       sizeof(input->regs.gpr));
		frames[0].registers.known = 0xffff;
		collector.count = 1;
	}
	*ret_count = collector.count;
	return NULL;
}

struct error *unwind_stack(struct image *image,
			   const struct unwind_input *input, uint64_t *pcs,
			   size_t max, size_t *ret_count)
{
	struct unwind_frame *frames = calloc(max, sizeof(*frames));
	struct error *err;

	if (!frames)
		return error_nomem;
	err = unwind_frames(image, input, frames, max, ret_count);
	for (size_t i = 0; !err && i < *ret_count; i++)
		pcs[i] = frames[i].pc;
	free(frames);
	return err;
}
