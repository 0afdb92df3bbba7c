/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Translation; see translate.h. Under the lock of vcpu.h, as the decoder and the
 * recording's tables need it.
 */
#include "recorder/qemu/translate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "hunt/trace-format.h"
#include "recorder/os.h"
#include "recorder/qemu/executed.h"
#include "recorder/qemu/maps.h"
#include "recorder/qemu/vcpu.h"
#include "x86/decode.h"

enum { SYSCALL_LENGTH = 2, EVEX = 0x62, SIMPLE_MAX = 8 };

/* What is known of the program's code. */
static struct {
	struct decoder *decoder;
	struct records returns; /* of uint64_t: where calls return to */
	struct table by_return;
	uint64_t low, high; /* code that is of no file */
} code;

/* The instruction that is translated. */
struct work {
	struct qemu_plugin_insn *insn;
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
	uint32_t function; /* WATCH_STRING; or 0 */
	bool recorded; /* its accesses are */
	bool called; /* a call after its accesses was asked for */
	struct insn_access access;
};

bool translate_init(void)
{
	struct error *err = decoder_create(&code.decoder);

	records_init(&code.returns, sizeof(uint64_t));
	table_init(&code.by_return);
	if (!err)
		return true;
	fprintf(stderr, "racewatch: %s\n", error_message(err));
	error_free(err);
	return false;
}

void translate_forget(void)
{
	code.low = code.high = 0;
}

/* The file that has the code at the address becomes a module. */
static void find_module(uint64_t address)
{
	struct modules *modules = &vcpus.recorder.modules;
	uint64_t page = address & ~(uint64_t)4095;
	uint32_t id = modules_find(modules, address);
	struct map map;

	if ((id != 0 && !module_at(modules, id)->unloaded) ||
	    (address >= code.low && address < code.high))
		return;
	if (!maps_find(address, &map))
		return;
	if (map.path[0] != '\0')
		recorder_map(&vcpus.recorder, map.path, page,
			     map.offset + (page - map.low));
	id = modules_find(modules, address);
	if (id != 0 && !module_at(modules, id)->unloaded)
		return;
	code.low = map.low;
	code.high = map.high;
}

static bool is_return(uint64_t address)
{
	uint32_t hash = table_hash(address, 0), at = 0, id;

	while ((id = table_next(&code.by_return, hash, &at)) != 0) {
		if (*(uint64_t *)records_at(&code.returns, id) == address)
			return true;
	}
	return false;
}

static void add_return(uint64_t address)
{
	uint32_t id;

	if (is_return(address))
		return;
	id = records_add(&code.returns);
	if (id == 0)
		return;
	*(uint64_t *)records_at(&code.returns, id) = address;
	table_add(&code.by_return, table_hash(address, 0), id);
}

static void after(struct work *work, qemu_plugin_vcpu_mem_cb_t call, void *data)
{
	qemu_plugin_register_vcpu_mem_cb(work->insn, call,
					 QEMU_PLUGIN_CB_NO_REGS,
					 QEMU_PLUGIN_MEM_RW, data);
	work->called = true;
}

static struct site *get_site(const struct work *work, uint32_t size,
			     uint32_t flags)
{
	return uses_site_in(&vcpus.recorder.uses, work->address, work->function,
			    size, flags);
}

/* The addresses of its own stack and thread-local variables are no one else's. */
static bool is_wanted(const struct mem_operand *operand)
{
	return operand->kind != ACCESS_NONE && !operand->stack &&
	       operand->segment == X86_SEG_NONE;
}

/* What is called after the accesses of the operand. */
static qemu_plugin_vcpu_mem_cb_t call_for(const struct work *work,
					  const struct mem_operand *operand)
{
	if (work->access.flow != X86_FLOW_NEXT)
		return executed_target;
	if (operand->size > SIMPLE_MAX)
		return executed_wide;
	if (operand->kind == ACCESS_READ)
		return work->access.operand_count == 1 ? executed_access
						       : executed_load;
	/* a locked one makes one access, which is a store */
	return work->access.operand_count == 1 && operand->kind == ACCESS_WRITE
		       ? executed_access
		       : executed_store;
}

static void add_operand(struct work *work, const struct mem_operand *operand)
{
	uint32_t flags = 0;
	struct site *site;

	if (!is_wanted(operand))
		return;
	if (operand->kind & ACCESS_READ)
		flags |= TRACE_READS;
	if (operand->kind & ACCESS_WRITE)
		flags |= TRACE_WRITES;
	if (work->access.synchronizes)
		flags |= TRACE_ATOMIC;
	site = get_site(work, operand->size, flags);
	if (site)
		after(work, call_for(work, operand), site);
}

/* An instruction whose accesses differ, such as a gather. */
static void add_sized(struct work *work)
{
	struct sized_sites *sites;

	if (work->access.refusal == X86_REFUSED_UNDECODABLE)
		return;
	sites = os_alloc(sizeof(*sites));
	for (uint32_t i = 0; i < 4; i++) {
		sites->reads[i] = get_site(work, 1u << i, TRACE_READS);
		sites->writes[i] = get_site(work, 1u << i, TRACE_WRITES);
		if (!sites->reads[i] || !sites->writes[i])
			return;
	}
	after(work, executed_sized, sites);
}

/*
 * Whether QEMU may access memory for it in a function of its own: locked ones, x87
 * (opcodes 0xd8 to 0xdf), vectors, and what is seldom.
 */
static bool is_helped(const struct work *work)
{
	const struct insn_access *access = &work->access;
	size_t i = 0;

	while (i < work->size &&
	       (work->bytes[i] == 0x66 || (work->bytes[i] & 0xf0) == 0x40))
		i++;
	return access->synchronizes || access->vector ||
	       access->refusal != X86_OK ||
	       (i < work->size &&
		((work->bytes[i] & 0xf8) == 0xd8 || work->bytes[i] == 0x0f));
}

static void add_flow(struct work *work)
{
	uint64_t next = work->address + work->size;

	if (work->access.flow == X86_FLOW_CALL) {
		after(work, executed_call, (void *)(uintptr_t)next);
		add_return(next);
	}
	if (work->size >= SYSCALL_LENGTH && work->bytes[0] == 0x0f &&
	    work->bytes[1] == 0x05)
		qemu_plugin_register_vcpu_insn_exec_cb(
			work->insn, executed_syscall, QEMU_PLUGIN_CB_NO_REGS,
			(void *)(uintptr_t)work->address);
	if (work->bytes[0] == EVEX)
		qemu_plugin_register_vcpu_insn_exec_cb(work->insn,
						       executed_evex,
						       QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
}

static void translate_insn(struct qemu_plugin_insn *insn)
{
	struct work work = {
		.insn = insn,
		.bytes = qemu_plugin_insn_data(insn),
		.size = qemu_plugin_insn_size(insn),
		.address = qemu_plugin_insn_vaddr(insn),
	};

	work.recorded = modules_recorded(&vcpus.recorder.modules, work.address,
					 &work.function);
	decoder_decode(code.decoder, work.bytes, work.size, work.address,
		       &work.access);
	add_flow(&work);
	for (int i = 0; work.recorded && i < work.access.operand_count; i++)
		add_operand(&work, &work.access.operands[i]);
	if (work.recorded && work.access.refusal != X86_OK)
		add_sized(&work);
	if (!work.called && is_helped(&work))
		after(&work, executed_nothing, NULL);
}

static void when_begun(struct qemu_plugin_tb *block,
		       qemu_plugin_vcpu_udata_cb_t call, uint64_t data)
{
	qemu_plugin_register_vcpu_tb_exec_cb(
		block, call, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)data);
}

/* A watched function may begin with the block. */
static void add_entry(struct qemu_plugin_tb *block, uint64_t address)
{
	struct modules *modules = &vcpus.recorder.modules;
	uint32_t id = modules_entry(modules, address);
	const struct function *function;

	if (id == 0)
		return;
	function = function_at(modules, id);
	if (function->kind == WATCH_NONE ||
	    (function->kind == WATCH_STRING && !function->resolver))
		return;
	when_begun(block, executed_enter, id);
}

void translate_block(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	uint64_t address = qemu_plugin_tb_vaddr(block);
	size_t count = qemu_plugin_tb_n_insns(block);

	(void)id;
	vcpus_lock();
	find_module(address);
	if (!executed_is_checked())
		when_begun(block, executed_first, 0);
	if (is_return(address))
		when_begun(block, executed_return, 0);
	add_entry(block, address);
	for (size_t i = 0; i < count; i++)
		translate_insn(qemu_plugin_tb_get_insn(block, i));
	vcpus_unlock();
}
