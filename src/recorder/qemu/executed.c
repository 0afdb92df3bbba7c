/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Notes for a thread; see executed.h and vcpu.h.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hunt/trace-format.h"
#include "recorder/emit.h"
#include "recorder/qemu/api.h"
#include "recorder/qemu/executed.h"
#include "recorder/qemu/syscalls.h"
#include "recorder/qemu/vcpu.h"
#include "recorder/watched.h"

/* Places of registers in QEMU's structure: the encoding's order. */
enum {
	REGISTER_RAX = 0,
	REGISTER_RDX = 2,
	REGISTER_RSP = 4,
	REGISTER_RSI = 6,
	REGISTER_RDI = 7,
	REGISTERS = 8,
	GIVEN_UP = 125, /* exit status */
};

/* Called with the address of the registers behind their other arguments. */
void executed_return_at(unsigned int number, void *data, const uint64_t *env);
void executed_enter_at(unsigned int number, void *data, const uint64_t *env);
void executed_first_at(unsigned int number, void *data, const uint64_t *env);

#define WITH_REGISTERS(name_)                                \
	__asm__(".text\n"                                    \
		".globl " #name_ "\n"                        \
		".hidden " #name_ "\n"                       \
		".type " #name_ ", @function\n" #name_ ":\n" \
		"	movq %rbp, %rdx\n"                         \
		"	jmp " #name_ "_at\n"                 \
		".size " #name_ ", . - " #name_ "\n")

WITH_REGISTERS(executed_return);
WITH_REGISTERS(executed_enter);
WITH_REGISTERS(executed_first);

static bool is_checked;

bool executed_is_checked(void)
{
	return is_checked;
}

/*
 * Whether the site's accesses are not to be noted now: where they are not recorded,
 * its executions still count (recorder_range()).
 */
static inline bool is_left_out(const struct vcpu *vcpu, const struct site *site)
{
	return !vcpu || (vcpu->muted && site->function == 0);
}

/* The addresses of the program are those of this process. */
static inline uint64_t value_at(uint64_t address)
{
	return *(const volatile uint64_t *)(uintptr_t)address;
}

static inline void note_access(struct vcpu *vcpu, const struct site *site,
			       uint64_t address)
{
	uint64_t granule = address & ~(uint64_t)7, *note = vcpu_note(vcpu);
	uint32_t count = vcpu_granules(address, site->size);

	note[0] = (uint64_t)(uintptr_t)site | NOTE_ACCESS;
	note[1] = address;
	for (uint32_t i = 0; i < count; i++)
		note[2 + i] = value_at(granule + (uint64_t)i * 8);
	vcpu_noted(vcpu, 2 + count);
}

void executed_access(unsigned int number, uint32_t info, uint64_t address,
		     void *data)
{
	struct vcpu *vcpu = vcpu_at(number);
	const struct site *site = data;

	(void)info;
	if (!is_left_out(vcpu, site))
		note_access(vcpu, site, address);
}

void executed_load(unsigned int number, uint32_t info, uint64_t address,
		   void *data)
{
	if (!qemu_plugin_mem_is_store(info))
		executed_access(number, info, address, data);
}

void executed_store(unsigned int number, uint32_t info, uint64_t address,
		    void *data)
{
	if (qemu_plugin_mem_is_store(info))
		executed_access(number, info, address, data);
}

void executed_target(unsigned int number, uint32_t info, uint64_t address,
		     void *data)
{
	struct vcpu *vcpu = vcpu_at(number);
	const struct site *site = data;

	if (!qemu_plugin_mem_is_store(info) &&
	    1u << qemu_plugin_mem_size_shift(info) == site->size &&
	    !is_left_out(vcpu, site))
		note_access(vcpu, site, address);
}

void executed_wide(unsigned int number, uint32_t info, uint64_t address,
		   void *data)
{
	struct vcpu *vcpu = vcpu_at(number);
	const struct site *site = data;
	uint32_t size = 1u << qemu_plugin_mem_size_shift(info);
	struct wide *wide;

	if (is_left_out(vcpu, site) ||
	    qemu_plugin_mem_is_store(info) !=
		    ((site->flags & TRACE_WRITES) != 0))
		return;
	wide = &vcpu->wide;
	if (wide->site != site || address != wide->address + wide->done)
		*wide = (struct wide){ .site = site, .address = address };
	wide->done += size;
	if (wide->done < site->size)
		return;
	wide->site = NULL;
	note_access(vcpu, site, wide->address);
}

void executed_sized(unsigned int number, uint32_t info, uint64_t address,
		    void *data)
{
	const struct sized_sites *sites = data;
	unsigned int shift = qemu_plugin_mem_size_shift(info);

	if (shift < 4)
		executed_access(number, info, address,
				qemu_plugin_mem_is_store(info)
					? sites->writes[shift]
					: sites->reads[shift]);
}

void executed_nothing(unsigned int number, uint32_t info, uint64_t address,
		      void *data)
{
	(void)number, (void)info, (void)address, (void)data;
}

void executed_call(unsigned int number, uint32_t info, uint64_t address,
		   void *data)
{
	struct vcpu *vcpu = vcpu_at(number);
	uint64_t back = (uint64_t)(uintptr_t)data, *note;

	if (!vcpu || qemu_plugin_mem_size_shift(info) != 3 ||
	    value_at(address) != back)
		return;
	if (vcpu->limit == 0 && vcpu->stack_pointer == 0)
		vcpu->stack_pointer = address;
	note = vcpu_note(vcpu);
	note[0] = NOTE_CALL;
	note[1] = address;
	note[2] = back;
	vcpu_noted(vcpu, 3);
	vcpu->called_sp = address;
}

static void note_return(struct vcpu *vcpu, uint64_t sp, uint64_t result)
{
	uint64_t *note = vcpu_note(vcpu);

	note[0] = NOTE_RETURN;
	note[1] = sp;
	note[2] = result;
	vcpu_noted(vcpu, 3);
}

/* A watched function of the thread has been left. */
static void leave_watched(struct vcpu *vcpu, uint64_t sp, uint64_t result)
{
	vcpus_lock();
	vcpu_give(vcpu);
	if (vcpu->thread && !vcpus.over) {
		recorder_return(&vcpus.recorder, sp, result);
		vcpu_note_watched(vcpu);
	}
	vcpus_unlock();
}

void executed_return_at(unsigned int number, void *data, const uint64_t *env)
{
	struct vcpu *vcpu = vcpu_at(number);
	uint64_t sp = env[REGISTER_RSP];

	(void)data;
	if (!vcpu || !is_checked)
		return;
	if (sp > vcpu->watched_sp)
		leave_watched(vcpu, sp, env[REGISTER_RAX]);
	else
		note_return(vcpu, sp, env[REGISTER_RAX]);
}

/* Whether a block is gone then: all that accessed it did so before. */
static bool ends_block(uint32_t function)
{
	uint8_t kind = function_at(&vcpus.recorder.modules, function)->kind;

	return kind == WATCH_FREE || kind == WATCH_REALLOC;
}

void executed_enter_at(unsigned int number, void *data, const uint64_t *env)
{
	struct vcpu *vcpu = vcpu_at(number);
	uint32_t function = (uint32_t)(uintptr_t)data;
	const uint64_t arguments[3] = { env[REGISTER_RDI], env[REGISTER_RSI],
					env[REGISTER_RDX] };

	if (!vcpu || !is_checked)
		return;
	vcpus_lock();
	if (ends_block(function))
		vcpus_give();
	vcpu_give(vcpu);
	if (vcpu->thread && !vcpus.over) {
		watched_enter(&vcpus.recorder, function, env[REGISTER_RSP],
			      arguments);
		vcpu_note_watched(vcpu);
	}
	vcpus_unlock();
}

/* What lies there, if anything does. */
static bool peek(const uint64_t *from, uint64_t *to, size_t count)
{
	struct iovec here = { to, count * sizeof(*to) };
	struct iovec there = { (void *)(uintptr_t)from, here.iov_len };

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) ==
	       (ssize_t)here.iov_len;
}

/* Nothing can be recorded: the trace says why. */
static void give_up(void)
{
	static const char text[] = "QEMU: its registers are not where they are "
				   "looked for; version 7.2 is needed";

	vcpus_lock();
	emit_unable(&vcpus.recorder, text);
	vcpus_unlock();
	syscalls_end(GIVEN_UP);
	fprintf(stderr, "racewatch: %s\n", text);
	/* exit-allowed: the process is the recorded one, not ours */
	_exit(GIVEN_UP);
}

/* The block behind the first call, in the loader. */
void executed_first_at(unsigned int number, void *data, const uint64_t *env)
{
	struct vcpu *vcpu = vcpu_at(number);
	uint64_t registers[REGISTERS];

	(void)data;
	if (is_checked || !vcpu || vcpu->called_sp == 0)
		return;
	if (!peek(env, registers, REGISTERS) ||
	    registers[REGISTER_RSP] != vcpu->called_sp)
		give_up();
	is_checked = true;
}

void executed_syscall(unsigned int number, void *data)
{
	struct vcpu *vcpu = vcpu_at(number);

	if (vcpu)
		vcpu->syscall_ip = (uint64_t)(uintptr_t)data;
}

void executed_evex(unsigned int number, void *data)
{
	struct vcpu *vcpu = vcpu_at(number);

	(void)data;
	vcpus_lock();
	if (vcpu && !vcpus.over) {
		vcpu_give(vcpu);
		emit_unable(&vcpus.recorder,
			    "AVX-512: QEMU does not run its instructions");
	}
	vcpus_unlock();
}
