/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the tracer asks of the kernel, answered for the simulated program; see
 * simulate.h.
 */
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "sys/memory.h"
#include "sys/procfs.h"
#include "tracee/code.h"
#include "tracee/parking.h"
#include "tracee/resume.h"
#include "tracee/sigstate.h"
#include "tracee/thread.h"
#include "tracer/conflict.h"
#include "tracer/engine.h"
#include "tracer/stall.h"

uint64_t __wrap_clock_process_cpu_ns(void);
void __wrap_memory_init(struct memory *memory, pid_t pid);
void __wrap_memory_deinit(struct memory *memory);
struct error *__wrap_memory_read(const struct memory *memory, uint64_t address,
				 void *bytes, size_t size, size_t *ret_size);
struct error *__wrap_memory_write_text(const struct memory *memory,
				       pid_t stopped_tid, uint64_t address,
				       const void *bytes, size_t size);
bool __wrap_memory_is_served(const struct memory *memory, uint64_t address,
			     size_t size);
bool __wrap_code_is_mapped(struct addrspace *space, uint64_t address,
			   size_t size);
bool __wrap_sigstate_ready(struct tracees *tracees, struct process *process,
			   bool little, uint64_t now);
bool __wrap_sigstate_in_handler(const struct process *process,
				const struct wire_site *site);
void __wrap_thread_resume(struct tracees *tracees, struct thread *thread);
void __wrap_thread_park(struct thread *thread, uint64_t address,
			const struct x86_registers *regs);
bool __wrap_procfs_waits_for_threads(pid_t tid);
int __wrap_procfs_open_call(pid_t tid);
bool __wrap_procfs_call_waits_for_threads(int fd);
bool __wrap_procfs_process_calls(pid_t pid, int *fd, uint64_t *ret_calls);
bool __wrap_procfs_process_cpu(pid_t pid, uint64_t *ret_ns);
bool __wrap_procfs_processors(int *ret_processors, uint64_t *ret_busy,
			      uint64_t *ret_idle);
struct conflict_message *__wrap_conflict_create(const struct stall *stall,
						int i,
						enum wire_evidence evidence,
						const uint8_t *changed);
void __wrap_conflict_finish(struct core *core, struct replays *replays,
			    struct conflict_message *conflict);

uint64_t __wrap_clock_process_cpu_ns(void)
{
	return machine->tracer_cpu_ns + machine->spent_ns;
}

void __wrap_memory_init(struct memory *memory, pid_t pid)
{
	*memory = (struct memory){ .pid = pid, .fd = -1, .pages = -1 };
}

void __wrap_memory_deinit(struct memory *memory)
{
	memory->pid = 0;
}

static bool kernel_in_text(uint64_t address)
{
	return address >= MACHINE_TEXT &&
	       address < MACHINE_TEXT + machine->slots * PROGRAM_SLOT;
}

struct error *__wrap_memory_read(const struct memory *memory, uint64_t address,
				 void *bytes, size_t size, size_t *ret_size)
{
	(void)memory;
	if (kernel_in_text(address))
		memcpy(bytes, machine->text + (address - MACHINE_TEXT), size);
	else
		memset(bytes, 0, size);
	*ret_size = size;
	return NULL;
}

/* Each process has its own text, but what is in them is the same. */
struct error *__wrap_memory_write_text(const struct memory *memory,
				       pid_t stopped_tid, uint64_t address,
				       const void *bytes, size_t size)
{
	size_t at = (size_t)(address - MACHINE_TEXT);
	const uint8_t *new = bytes;

	(void)stopped_tid;
	machine->spent_ns += MACHINE_WRITE_NS;
	if (memory->pid != MACHINE_PID)
		return NULL;
	for (size_t i = 0; i < size; i++) {
		uint8_t old = machine->text[at + i];

		machine->text[at + i] = new[i];
		if ((at + i) % PROGRAM_SLOT == 0 && old != new[i])
			machine_armed((at + i) / PROGRAM_SLOT,
				      new[i] == MACHINE_INT3);
	}
	return NULL;
}

bool __wrap_memory_is_served(const struct memory *memory, uint64_t address,
			     size_t size)
{
	(void)memory;
	(void)address;
	(void)size;
	return false;
}

bool __wrap_code_is_mapped(struct addrspace *space, uint64_t address,
			   size_t size)
{
	(void)space;
	(void)address;
	(void)size;
	return true;
}

bool __wrap_sigstate_ready(struct tracees *tracees, struct process *process,
			   bool little, uint64_t now)
{
	(void)tracees;
	(void)process;
	(void)little;
	(void)now;
	return true;
}

bool __wrap_sigstate_in_handler(const struct process *process,
				const struct wire_site *site)
{
	(void)process;
	(void)site;
	return false;
}

void __wrap_thread_resume(struct tracees *tracees, struct thread *thread)
{
	(void)tracees;
	thread->state = THREAD_RUNNING;
}

void __wrap_thread_park(struct thread *thread, uint64_t address,
			const struct x86_registers *regs)
{
	(void)thread;
	(void)address;
	(void)regs;
}

bool __wrap_procfs_waits_for_threads(pid_t tid)
{
	(void)tid;
	return false;
}

int __wrap_procfs_open_call(pid_t tid)
{
	(void)tid;
	return -1;
}

bool __wrap_procfs_call_waits_for_threads(int fd)
{
	(void)fd;
	return false;
}

/* It computes. */
bool __wrap_procfs_process_calls(pid_t pid, int *fd, uint64_t *ret_calls)
{
	(void)pid;
	(void)fd;
	*ret_calls = 0;
	return true;
}

bool __wrap_procfs_process_cpu(pid_t pid, uint64_t *ret_ns)
{
	(void)pid;
	*ret_ns = (uint64_t)(machine->program_cpu_ns /
			     machine->program.plan->processes);
	return true;
}

/* Two processors, with nobody else on them. */
bool __wrap_procfs_processors(int *ret_processors, uint64_t *ret_busy,
			      uint64_t *ret_idle)
{
	*ret_processors = MACHINE_PROCESSORS;
	*ret_busy = (uint64_t)machine->program_cpu_ns + machine->tracer_cpu_ns;
	*ret_idle = MACHINE_PROCESSORS * machine->now_ns > *ret_busy
			    ? MACHINE_PROCESSORS * machine->now_ns - *ret_busy
			    : 0;
	return true;
}

/* Two have met: that is all that is to be known. */
struct conflict_message *__wrap_conflict_create(const struct stall *stall,
						int i,
						enum wire_evidence evidence,
						const uint8_t *changed)
{
	size_t site = machine_site(
		(size_t)(stall->site.address - MACHINE_TEXT) / PROGRAM_SLOT);

	(void)i;
	(void)evidence;
	(void)changed;
	score_race(&machine->score, site, (double)machine->now_ns / 1e9);
	front_raced(site, machine->arrival);
	return NULL;
}

void __wrap_conflict_finish(struct core *core, struct replays *replays,
			    struct conflict_message *conflict)
{
	(void)core;
	(void)replays;
	(void)conflict;
}
