/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks by libdwfl; see unwinddwfl.h. It is attached to the snapshot as if it
 * were a process: its one thread is the snapshot's, its memory the stack bytes
 * and the read-only parts of the ELF files.
 */
#include "image/unwinddwfl.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/strbuf.h"
#include "image/debuginfo.h"
#include "image/elftext.h"
#include "image/image.h"
#include "image/unwindwalk.h"

enum { RETURN_ADDRESS = 16 }; /* in DWARF's numbers of registers */

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	const struct unwinder *unwinder = arg;

	(void)dwfl;
	if (*thread)
		return 0;
	*thread = arg;
	return unwinder->walk->input->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	(void)dwfl;
	(void)tid;
	*thread = arg;
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
	return unwind_walk_stack(unwinder->walk, address, result) ||
	       read_file(unwinder->walk->image, address, result);
}

static bool set_initial_registers(Dwfl_Thread *thread, void *arg)
{
	const struct unwinder *unwinder = arg;
	const struct x86_registers *regs = &unwinder->walk->input->regs;
	Dwarf_Word values[17];

	for (int i = 0; i < 16; i++)
		values[i] = regs->gpr[unwind_register((unsigned int)i)];
	values[16] = regs->rip;
	return dwfl_thread_state_registers(thread, 0, 17, values);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_initial_registers,
};

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
		unsigned int reg = unwind_register(kept[i]);
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

static bool has_division(const Dwarf_Op *operations, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (operations[i].atom == DW_OP_div)
			return true;
	}
	return false;
}

static bool frame_divides(Dwarf_Frame *frame)
{
	Dwarf_Op *operations, room[3];
	size_t count;

	if (dwarf_frame_cfa(frame, &operations, &count) == 0 &&
	    has_division(operations, count))
		return true;
	for (int reg = 0; reg <= RETURN_ADDRESS; reg++) {
		if (dwarf_frame_register(frame, reg, room, &operations,
					 &count) == 0 &&
		    has_division(operations, count))
			return true;
	}
	return false;
}

/* False if the table does not describe the address. */
static bool table_divides(Dwarf_CFI *table, Dwarf_Addr address, bool *ret)
{
	Dwarf_Frame *frame;

	if (!table || dwarf_cfi_addrframe(table, address, &frame) != 0)
		return false;
	*ret = frame_divides(frame);
	free(frame);
	return true;
}

/*
 * libdwfl up to 0.188 dies of SIGFPE when an expression divides the smallest
 * number by -1. No compiler writes one that divides.
 */
static bool is_harmful(Dwfl *dwfl, Dwarf_Addr address)
{
	Dwfl_Module *module = dwfl_addrmodule(dwfl, address);
	bool divides = false;
	Dwarf_CFI *table;
	Dwarf_Addr bias;

	if (!module)
		return false;
	table = dwfl_module_eh_cfi(module, &bias);
	if (table_divides(table, address - bias, &divides))
		return divides;
	table = dwfl_module_dwarf_cfi(module, &bias);
	table_divides(table, address - bias, &divides);
	return divides;
}

/* To be asked before libdwfl goes on from there, which it may do any time. */
static bool may_go_on(Dwfl_Frame *state, struct unwind_walk *walk)
{
	Dwfl *dwfl = dwfl_thread_dwfl(dwfl_frame_thread(state));
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(state, &pc, NULL))
		return false;
	/* the call before a return address, or the instruction itself */
	if (!is_harmful(dwfl, pc) && !is_harmful(dwfl, pc - 1))
		return true;
	walk->end = UNWIND_REFUSED;
	return false;
}

static int collect(Dwfl_Frame *state, void *arg)
{
	struct unwinder *unwinder = arg;
	struct unwind_walk *walk = unwinder->walk;
	struct unwind_frame frame = { 0 };
	bool is_activation;
	Dwarf_Addr pc;

	/* the innermost is there already */
	if (!unwinder->started) {
		unwinder->started = true;
		return walk->max > 1 && may_go_on(state, walk) ? DWARF_CB_OK
							       : DWARF_CB_ABORT;
	}
	if (!may_go_on(state, walk))
		return DWARF_CB_ABORT;
	if (!dwfl_frame_pc(state, &pc, &is_activation))
		return DWARF_CB_ABORT;
	frame.pc = pc;
	frame.is_return = !is_activation;
	collect_registers(state, &walk->frames[walk->count - 1].registers,
			  &frame.registers);
	return unwind_walk_add(walk, &frame) ? DWARF_CB_OK : DWARF_CB_ABORT;
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

struct error *unwind_by_dwfl(struct unwind_walk *walk)
{
	struct unwinder *unwinder;
	struct error *err;
	Dwfl *dwfl;

	unwind_walk_start(walk);
	err = debuginfo_stacks(walk->image, &dwfl);
	if (err)
		return err;
	unwinder = debuginfo_unwinder(walk->image);
	unwinder->walk = walk;
	unwinder->started = false;
	if (attach(unwinder, dwfl) &&
	    dwfl_getthread_frames(dwfl, walk->input->tid, collect, unwinder) ==
		    0)
		walk->end = UNWIND_OUTERMOST;
	unwinder->walk = NULL;
	return NULL;
}

void unwinddwfl_add_version(struct strbuf *out)
{
	strbuf_addf(out, "elfutils %s", dwfl_version(NULL));
}
