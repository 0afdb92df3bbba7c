/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks by libunwind; see unwindunw.h. It is given the FDE of each pc, once
 * that has been looked at (cficheck.h), and reads the rest word by word through
 * read_memory().
 *
 * An FDE is given as a search table of one entry, which is at an address where
 * no process has anything. Its start is the lowest there is, so that it is
 * taken for each pc; libunwind compares pc with the FDE's own range afterwards.
 */
#include "image/unwindunw.h"

#include <libunwind.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "image/cficheck.h"
#include "image/ehframe.h"
#include "image/ehsearch.h"
#include "image/elftext.h"
#include "image/image.h"
#include "image/unwindwalk.h"

/* Exported for those who find the table by themselves, but in no header. */
#define search_unwind_table UNW_OBJ(dwarf_search_unwind_table)
int search_unwind_table(unw_addr_space_t space, unw_word_t ip,
			unw_dyn_info_t *table, unw_proc_info_t *ret,
			int need_unwind_info, void *arg);

/* A table of one entry: {INT32_MIN, 0}, relative to the FDE. */
#define TABLE_ADDRESS (UINT64_C(1) << 63)
#define TABLE_ENTRY UINT64_C(0x80000000)

/*
 * Words read for one stack, at most. A frame takes some 300, so this is reached
 * by damaged files only, whose numbers and expressions may never end.
 */
enum { READS_MAX = 1 << 20 };

struct unw_space {
	unw_addr_space_t space;
	struct map searches; /* module id -> struct eh_search * */
	/* of the stack that is being unwound */
	struct unwind_walk *walk;
	unsigned int reads;
	bool in_tables; /* libunwind reads an FDE and its CIE */
	bool no_memory;
	bool beyond; /* it wanted more of the stack than there is */
	bool refused;
	/* where it read last: file contents that are never written */
	uint64_t file_start, file_size;
	const uint8_t *file;
};

/* A word of which the first `size' bytes are there. */
static int take_word(const uint8_t *bytes, uint64_t size, unw_word_t *ret)
{
	*ret = 0;
	memcpy(ret, bytes, size < sizeof(*ret) ? size : sizeof(*ret));
	return 0;
}

/*
 * The personality routine's address, in data that the loader changes, is part
 * of a CIE; libunwind reads it and does not use it. So in tables all that the
 * file has will do.
 */
static int read_file(struct unw_space *space, uint64_t address, unw_word_t *ret)
{
	const struct module *module =
		image_module_at(space->walk->image, address);
	const uint8_t *bytes;
	uint64_t at;
	size_t size;

	if (!module || !module->text)
		return -UNW_EINVAL;
	at = address - module->bias;
	bytes = elftext_bytes(module->text, at, &size);
	if (!bytes)
		return -UNW_EINVAL;
	if (elftext_readonly(module->text, at, size)) {
		space->file_start = address;
		space->file_size = size;
		space->file = bytes;
	} else if (!space->in_tables &&
		   !elftext_readonly(module->text, at, sizeof(*ret))) {
		return -UNW_EINVAL;
	}
	return take_word(bytes, size, ret);
}

static int read_memory(unw_addr_space_t addr_space, unw_word_t address,
		       unw_word_t *value, int write, void *arg)
{
	struct unw_space *space = arg;
	uint64_t skip = address - space->file_start;

	(void)addr_space;
	*value = 0;
	if (write || ++space->reads > READS_MAX)
		return -UNW_EINVAL;
	if (address == TABLE_ADDRESS) {
		*value = TABLE_ENTRY;
		return 0;
	}
	if (skip < space->file_size)
		return take_word(space->file + skip, space->file_size - skip,
				 value);
	if (unwind_walk_stack(space->walk, address, value))
		return 0;
	if (unwind_walk_beyond(space->walk, address)) {
		space->beyond = true;
		return -UNW_EINVAL;
	}
	return read_file(space, address, value);
}

static int read_register(unw_addr_space_t addr_space, unw_regnum_t number,
			 unw_word_t *value, int write, void *arg)
{
	const struct unw_space *space = arg;
	const struct x86_registers *regs = &space->walk->input->regs;

	(void)addr_space;
	if (write)
		return -UNW_EREADONLYREG;
	if (number == UNW_X86_64_RIP)
		*value = regs->rip;
	else if (number >= UNW_X86_64_RAX && number <= UNW_X86_64_R15)
		*value = regs->gpr[unwind_register((unsigned int)number)];
	else
		return -UNW_EBADREG;
	return 0;
}

static int read_float(unw_addr_space_t addr_space, unw_regnum_t number,
		      unw_fpreg_t *value, int write, void *arg)
{
	(void)addr_space;
	(void)number;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

static struct eh_search *module_search(struct unw_space *space,
				       const struct module *module)
{
	const uint64_t *known = map_get(&space->searches, module->id);
	struct eh_search *search;

	if (known)
		return (struct eh_search *)(uintptr_t)*known;
	search = eh_search_create(elftext_file(module->text));
	if (search &&
	    map_set(&space->searches, module->id, (uint64_t)(uintptr_t)search))
		return search;
	eh_search_destroy(search);
	space->no_memory = true;
	return NULL;
}

/* The FDE of the module for that address, if libunwind may have it. */
static bool usable_fde(struct unw_space *space, const struct module *module,
		       uint64_t address, uint64_t *ret)
{
	const struct eh_search *search;
	struct eh_program program;
	enum cfi_verdict verdict;
	size_t size;

	/* also for whether the file is still as long as it was */
	if (!elftext_bytes(module->text, address, &size))
		return false;
	search = module_search(space, module);
	if (!search || !eh_search_find(search, address, ret) ||
	    !ehframe_program(elftext_file(module->text), *ret, &program))
		return false;
	verdict = cfi_check(&program);
	if (verdict == CFI_HARMFUL)
		space->refused = true;
	return verdict == CFI_PLAIN;
}

/*
 * Without an FDE libunwind would guess, if this said so (UNW_ENOINFO). libdwfl
 * guesses better: its guess of a caller's stack pointer is right.
 */
static int find_proc_info(unw_addr_space_t addr_space, unw_word_t ip,
			  unw_proc_info_t *ret, int need_unwind_info, void *arg)
{
	struct unw_space *space = arg;
	const struct module *module = image_module_at(space->walk->image, ip);
	unw_dyn_info_t table = { .format = UNW_INFO_FORMAT_REMOTE_TABLE };
	uint64_t fde;
	int code;

	if (!module || !module->text ||
	    !usable_fde(space, module, ip - module->bias, &fde))
		return -UNW_EINVALIDIP;
	table.start_ip = module->start;
	table.end_ip = module->end;
	table.u.rti.segbase = fde + module->bias;
	table.u.rti.table_data = TABLE_ADDRESS;
	table.u.rti.table_len = 1;
	space->in_tables = true;
	code = search_unwind_table(addr_space, ip, &table, ret,
				   need_unwind_info, arg);
	space->in_tables = false;
	return code < 0 ? -UNW_EINVALIDIP : 0;
}

static void put_unwind_info(unw_addr_space_t addr_space, unw_proc_info_t *info,
			    void *arg)
{
	(void)addr_space;
	(void)info;
	(void)arg;
}

/* Code that a program has announced to a libunwind of its own. */
static int find_announced(unw_addr_space_t addr_space, unw_word_t *ret,
			  void *arg)
{
	(void)addr_space;
	(void)ret;
	(void)arg;
	return -UNW_ENOINFO;
}

static int refuse_resume(unw_addr_space_t addr_space, unw_cursor_t *cursor,
			 void *arg)
{
	(void)addr_space;
	(void)cursor;
	(void)arg;
	return -UNW_EINVAL;
}

static struct error *space_create(struct unw_space **ret)
{
	unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = find_announced,
		.access_mem = read_memory,
		.access_reg = read_register,
		.access_fpreg = read_float,
		.resume = refuse_resume,
	};
	struct unw_space *space = calloc(1, sizeof(*space));

	if (!space)
		return error_nomem;
	space->space = unw_create_addr_space(&accessors, 0);
	if (!space->space) {
		free(space);
		return error_nomem;
	}
	*ret = space;
	return NULL;
}

static void space_destroy(void *data)
{
	struct unw_space *space = data;
	uint64_t value;
	size_t at = 0;
	uint64_t id;

	while (map_next(&space->searches, &at, &id, &value))
		eh_search_destroy((struct eh_search *)(uintptr_t)value);
	map_deinit(&space->searches);
	unw_destroy_addr_space(space->space);
	free(space);
}

/* Registers that a function must keep (x86-64 psABI, figure 3.4). */
static void collect_registers(unw_cursor_t *cursor, struct frame_registers *ret)
{
	static const uint8_t kept[] = {
		UNW_X86_64_RBX, UNW_X86_64_RBP, UNW_X86_64_RSP, UNW_X86_64_R12,
		UNW_X86_64_R13, UNW_X86_64_R14, UNW_X86_64_R15,
	};

	for (size_t i = 0; i < sizeof(kept); i++) {
		unsigned int reg = unwind_register(kept[i]);
		unw_word_t value;

		if (unw_get_reg(cursor, kept[i], &value) != 0)
			continue;
		ret->gpr[reg] = value;
		ret->known |= UINT32_C(1) << reg;
	}
}

/* Of the frame that the cursor has come to; its callee may be a signal's. */
static bool add_frame(struct unwind_walk *walk, unw_cursor_t *cursor)
{
	struct unwind_frame frame = { 0 };
	unw_word_t pc;

	if (unw_get_reg(cursor, UNW_REG_IP, &pc) != 0)
		return false;
	frame.pc = pc;
	frame.is_return = unw_is_signal_frame(cursor) == 0;
	collect_registers(cursor, &frame.registers);
	return unwind_walk_add(walk, &frame);
}

static void step_all(struct unw_space *space, struct unwind_walk *walk)
{
	unw_cursor_t cursor;
	unw_word_t rbp;
	int code;

	if (unw_init_remote(&cursor, space->space, space) != 0)
		return;
	do {
		space->beyond = false;
		code = unw_step(&cursor);
		/* a signal's trampoline has not been called from anywhere */
		if (unw_is_signal_frame(&cursor) > 0)
			walk->frames[walk->count - 1].is_return = false;
	} while (code > 0 && add_frame(walk, &cursor));
	/* it also ends where rbp is lost, whatever the return address is */
	if (code == 0 && unw_get_reg(&cursor, UNW_X86_64_RBP, &rbp) == 0)
		walk->end = UNWIND_OUTERMOST;
	else if (code < 0 && space->refused)
		walk->end = UNWIND_REFUSED;
	else if (code < 0 && space->beyond)
		walk->end = UNWIND_NO_BYTES;
}

struct error *unwind_by_unw(struct unwind_walk *walk)
{
	struct image_kept *kept = image_unw_space(walk->image);
	struct unw_space *space = kept->data;
	struct error *err;

	unwind_walk_start(walk);
	if (!space) {
		err = space_create(&space);
		if (err)
			return err;
		*kept = (struct image_kept){ .data = space,
					     .destroy = space_destroy };
	}
	space->walk = walk;
	space->reads = 0;
	space->file_size = 0;
	space->no_memory = false;
	space->refused = false;
	if (walk->max > 1)
		step_all(space, walk);
	space->walk = NULL;
	return space->no_memory ? error_nomem : NULL;
}

void unwindunw_add_version(struct strbuf *out)
{
	strbuf_addf(out, "libunwind %d.%d.%d", UNW_VERSION_MAJOR,
		    UNW_VERSION_MINOR, UNW_VERSION_EXTRA);
}
