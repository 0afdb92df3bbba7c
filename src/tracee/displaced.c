/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copies of instructions that threads execute instead of them; see displaced.h.
 */
#include "tracee/displaced.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/signals.h"
#include "sys/identity.h"
#include "sys/mapping.h"
#include "sys/remote.h"
#include "sys/trace.h"
#include "sys/wait.h"
#include "tracee/breakpoint.h"
#include "tracee/process.h"
#include "tracee/thread.h"
#include "tracee/tracees.h"
#include "x86/effective.h"
#include "x86/relocate.h"

enum {
	PAGE = 4096,
	PLACE_SIZE = 32, /* bytes of a copy; a power of two */
	AREA_SIZE = 64 * PAGE,
	/* nothing else is so near to an area */
	AREA_GAP = 16 * PAGE,
	/* nor a stack that the kernel enlarges: its stack_guard_gap */
	AREA_GUARD = 256 * PAGE,
	/* no address below it can be mapped (mmap_min_addr) */
	AREA_LOWEST = 16 * PAGE,
	/* an area is no farther from an instruction: half of what rip reaches */
	AREA_REACH = 1 << 30,
	/* mappings that are looked at for a gap between them */
	AREA_TRIES = 1024,
	/* handlers that run instead of an instruction before it is stepped over */
	INTERRUPTS_MAX = 4,
};

_Static_assert((int)PLACE_SIZE >= (int)RELOCATE_SIZE, "a place holds a copy");

/* --- memory for copies --- */

/*
 * How far below the mapping an area is. One that may be a stack (MAP_GROWSDOWN)
 * grows up to the limit, and never so near to something else as AREA_GUARD.
 */
static uint64_t area_distance(const struct mapping *above, uint64_t stack_max)
{
	bool may_grow = above->inode == 0 && (above->access & MAPPING_WRITE) &&
			!(above->access & MAPPING_SHARED);

	return may_grow ? stack_max + AREA_GUARD : AREA_GAP;
}

/* Free memory below the address. */
static struct error *area_find_gap(struct mappings *mappings, uint64_t address,
				   uint64_t stack_max, uint64_t *ret)
{
	uint64_t end = address & ~(uint64_t)(PAGE - 1);
	uint64_t size = AREA_GAP + AREA_SIZE + AREA_GAP;

	for (int i = 0; i < AREA_TRIES && end > AREA_LOWEST + size &&
			address - end + size < AREA_REACH;
	     i++) {
		struct mapping mapping;
		bool found = false;
		struct error *err =
			mappings_find(mappings, end - size, &mapping, &found);

		if (err)
			return err;
		if (!found || mapping.start >= end) {
			*ret = end - size + AREA_GAP;
			return NULL;
		}
		end = mapping.start;
		size = AREA_GAP + AREA_SIZE +
		       area_distance(&mapping, stack_max);
	}
	return error_create(ERROR_OTHER, "there is no room near it");
}

static struct error *area_map(struct thread *thread, uint64_t start)
{
	struct process *process = thread->process;
	struct error *err = NULL;

	if (process->syscall_address == 0)
		err = remote_syscall_address(&process->space->memory,
					     &process->syscall_address);
	return err ? err
		   : remote_map_text(thread->tid, process->syscall_address,
				     start, AREA_SIZE);
}

static struct error *area_limit(const struct thread *thread, int resource,
				uint64_t *ret)
{
	struct rlimit limit;

	if (prlimit(thread->process->pid, resource, NULL, &limit) == 0) {
		*ret = limit.rlim_cur;
		return NULL;
	}
	return errno == ESRCH ? error_gone
			      : error_os(errno, "its limits cannot be read");
}

/* What an area takes of its address space the program might need later. */
static struct error *area_limits(const struct thread *thread,
				 uint64_t *ret_stack_max)
{
	uint64_t most = 0, stack = 0;
	struct error *err = area_limit(thread, RLIMIT_AS, &most);

	if (!err)
		err = area_limit(thread, RLIMIT_STACK, &stack);
	if (!err && most != RLIM_INFINITY)
		err = error_create(ERROR_REFUSED,
				   "its address space has a limit");
	if (!err)
		*ret_stack_max = stack < AREA_REACH ? stack : AREA_REACH;
	return err;
}

static struct error *area_create(struct thread *thread, uint64_t near)
{
	struct addrspace *space = thread->process->space;
	struct displaced_area area = { 0 };
	uint64_t stack_max = 0;
	struct error *err;

	if (!identity_has_no_filter(thread->tid) ||
	    trace_dispatches(thread->tid))
		return error_create(ERROR_REFUSED,
				    "it has a filter of system calls");
	err = area_limits(thread, &stack_max);
	if (!err)
		err = area_find_gap(&space->mappings, near, stack_max,
				    &area.start);
	if (err)
		return err;
	/* room for it first: what is mapped is known */
	if (!vec_reserve(&space->displaced.areas,
			 space->displaced.areas.count + 1))
		return error_nomem;
	err = area_map(thread, area.start);
	if (!err)
		vec_push(&space->displaced.areas, &area);
	return err;
}

static bool area_is_near(const struct displaced_area *area, uint64_t address)
{
	uint64_t distance = area->start > address ? area->start - address
						  : address - area->start;

	return distance < AREA_REACH;
}

/* One near the address that has room; NULL: there is none. */
static struct displaced_area *area_find(const struct displaced_places *places,
					uint64_t address)
{
	for (size_t i = places->areas.count; i-- > 0;) {
		struct displaced_area *area = vec_at(&places->areas, i);

		if (area->used < AREA_SIZE / PLACE_SIZE &&
		    area_is_near(area, address))
			return area;
	}
	return NULL;
}

/* The one that the place is in; NULL: the program has it now. */
static const struct displaced_area *
area_of(const struct displaced_places *places, uint64_t place)
{
	for (size_t i = 0; i < places->areas.count; i++) {
		const struct displaced_area *area = vec_at(&places->areas, i);

		if (place - area->start < AREA_SIZE)
			return area;
	}
	return NULL;
}

/* Is the memory what was mapped? The program may have mapped something else. */
static struct error *area_is_ours(struct addrspace *space,
				  const struct displaced_area *area, bool *ret)
{
	struct mapping mapping;
	bool found = false;
	struct error *err =
		mappings_find(&space->mappings, area->start, &mapping, &found);

	if (err)
		return err;
	*ret = found && mapping.start <= area->start &&
	       mapping.end >= area->start + AREA_SIZE && mapping.inode == 0 &&
	       mapping.access == (MAPPING_READ | MAPPING_EXECUTE);
	return NULL;
}

/* Told once: there may be many processes of the kind. */
static void area_note(struct tracees *tracees, struct thread *thread,
		      struct error *err)
{
	if (err == error_gone) {
		thread_ok(thread, err);
		return;
	}
	thread->process->space->displaced.refused = true;
	if (tracees->displaced_told) {
		error_free(err);
		return;
	}
	tracees->displaced_told = true;
	tracees_note(tracees,
		     error_create(ERROR_OTHER,
				  "the recording may miss accesses, while "
				  "another thread executes the same "
				  "instruction: process %d has no memory for "
				  "copies of instructions: %s",
				  (int)thread->process->pid,
				  error_message(err)));
	error_free(err);
}

static struct displaced_area *area_for(struct tracees *tracees,
				       struct thread *thread, uint64_t address)
{
	struct displaced_places *places = &thread->process->space->displaced;
	struct displaced_area *area = area_find(places, address);
	struct error *err;

	if (area || places->refused)
		return area;
	err = area_create(thread, address);
	/* another thread has mapped something there just now: the next time */
	if (err && err->code == EEXIST) {
		error_free(err);
		return NULL;
	}
	if (!err)
		return area_find(places, address);
	area_note(tracees, thread, err);
	return NULL;
}

/* --- copies --- */

static bool copy_make(const struct wire_site *site, uint64_t place,
		      uint8_t bytes[RELOCATE_SIZE])
{
	return relocate(&site->insn, site->bytes, site->address, place, bytes);
}

/* Is the copy there still, and one of what the site is now? */
static bool copy_is_good(const struct addrspace *space,
			 const struct wire_site *site, uint64_t place)
{
	uint8_t wanted[RELOCATE_SIZE], bytes[RELOCATE_SIZE];
	size_t size = 0;

	if (!copy_make(site, place, wanted))
		return false;
	error_free(memory_read(&space->memory, place, bytes, sizeof(bytes),
			       &size));
	return size == sizeof(bytes) && memcmp(wanted, bytes, size) == 0;
}

/* It cannot be used any more, and no other is mapped. */
static void area_lose(struct tracees *tracees, struct thread *thread,
		      const struct displaced_area *area, struct error *err)
{
	struct vec *areas = &thread->process->space->displaced.areas;
	size_t i = (size_t)(area - (const struct displaced_area *)areas->items);

	if (err != error_gone)
		vec_remove_swap(areas, i);
	area_note(tracees, thread, err);
}

static bool copy_write(struct tracees *tracees, struct thread *thread,
		       const struct displaced_area *area,
		       const struct wire_site *site, uint64_t place)
{
	struct addrspace *space = thread->process->space;
	uint8_t bytes[RELOCATE_SIZE];
	struct error *err;
	bool ours = false;

	if (!copy_make(site, place, bytes))
		return false;
	err = area_is_ours(space, area, &ours);
	if (err) {
		area_note(tracees, thread, err);
		return false;
	}
	if (ours)
		err = memory_write_text(&space->memory, thread->tid, place,
					bytes, sizeof(bytes));
	else
		err = error_create(ERROR_OTHER,
				   "it has mapped something else there");
	if (err)
		area_lose(tracees, thread, area, err);
	return !err;
}

/* Is a thread on its way over the copy there? */
static bool copy_is_used(const struct tracees *tracees,
			 const struct addrspace *space, uint64_t place)
{
	for (size_t i = 0; i < tracees->processes.count; i++) {
		const struct process *process = tracees_process_at(tracees, i);

		for (size_t j = 0;
		     process->space == space && j < process->threads.count;
		     j++) {
			const struct thread_displaced *displaced =
				&process_thread(process, j)->displaced;

			if (displaced->state == DISPLACED_AWAY &&
			    displaced->copy == place)
				return true;
		}
	}
	return false;
}

/* Where a new copy of the site's instruction is; 0: there is none. */
static uint64_t copy_add(struct tracees *tracees, struct thread *thread,
			 const struct wire_site *site)
{
	struct displaced_places *places = &thread->process->space->displaced;
	struct displaced_area *area = area_for(tracees, thread, site->address);
	uint64_t place;

	if (!area)
		return 0;
	place = area->start + (uint64_t)area->used * PLACE_SIZE;
	if (!copy_write(tracees, thread, area, site, place) ||
	    !map_set(&places->copies, site->address, place))
		return 0;
	area->used++;
	return place;
}

/*
 * Where the copy of the site's instruction is; 0: there is none. One of what was
 * there before, as when another library is loaded there, is written anew, and
 * elsewhere while a thread may be executing it.
 */
static uint64_t copy_find(struct tracees *tracees, struct thread *thread,
			  const struct wire_site *site)
{
	struct addrspace *space = thread->process->space;
	const uint64_t *known =
		map_get(&space->displaced.copies, site->address);
	const struct displaced_area *area;
	uint8_t bytes[RELOCATE_SIZE];
	uint64_t place;

	if (known && copy_is_good(space, site, *known))
		return *known;
	/* can it be copied at all? */
	if (!copy_make(site, site->address, bytes))
		return 0;
	area = known ? area_of(&space->displaced, *known) : NULL;
	if (!area || copy_is_used(tracees, space, *known))
		return copy_add(tracees, thread, site);
	place = *known;
	return copy_write(tracees, thread, area, site, place) ? place : 0;
}

/* --- threads --- */

/* As the kernel has it (linux/rseq.h). */
enum {
	RSEQ_SEQUENCE = 8, /* in struct rseq: the address of a struct rseq_cs */
	RSEQ_SIZE = 32,
};

struct rseq_sequence {
	uint32_t version, flags;
	uint64_t start, size, abort;
};

/* Read all or nothing. */
static bool displaced_read(const struct memory *memory, uint64_t address,
			   void *bytes, size_t size)
{
	size_t got = 0;
	struct error *err = memory_read(memory, address, bytes, size, &got);

	error_free(err);
	return !err && got == size;
}

/*
 * Does the instruction write to the thread's struct rseq? The kernel forgets a
 * sequence that is begun at the copy if it interrupts the thread there.
 */
static bool displaced_begins_sequence(const struct wire_site *site,
				      const struct x86_registers *regs,
				      uint64_t rseq)
{
	struct mem_access accesses[X86_OPERANDS_MAX];
	int count = effective_accesses(&site->insn, regs, accesses);

	for (int i = 0; i < count; i++) {
		if ((accesses[i].kind & ACCESS_WRITE) &&
		    accesses[i].address < rseq + RSEQ_SIZE &&
		    rseq < accesses[i].address + accesses[i].size)
			return true;
	}
	return false;
}

/*
 * Is the instruction of a sequence that the kernel begins anew when the thread is
 * interrupted there? At the copy it would not know. Not to be told: as if it were.
 */
static bool displaced_in_sequence(struct tracees *tracees,
				  struct thread *thread,
				  const struct wire_site *site,
				  const struct x86_registers *regs)
{
	const struct memory *memory = &thread->process->space->memory;
	struct rseq_sequence sequence;
	uint64_t rseq = 0, place = 0;
	struct error *err = trace_rseq(thread->tid, &rseq);

	if (err) {
		area_note(tracees, thread, err);
		return true;
	}
	if (rseq == 0)
		return false;
	if (displaced_begins_sequence(site, regs, rseq) ||
	    !displaced_read(memory, rseq + RSEQ_SEQUENCE, &place,
			    sizeof(place)))
		return true;
	/* it may stay set when the thread has left it */
	return place != 0 &&
	       (!displaced_read(memory, place, &sequence, sizeof(sequence)) ||
		site->address - sequence.start < sequence.size);
}

bool displaced_begin(struct tracees *tracees, struct thread *thread,
		     const struct breakpoint *breakpoint,
		     const struct x86_registers *regs)
{
	const struct wire_site *site = &breakpoint->site;
	struct addrspace *space = thread->process->space;
	uint64_t copy;

	if (tracees->restoring || thread->in_call || thread->step ||
	    (space->displaced.refused && space->displaced.areas.count == 0))
		return false;
	/* its signals are blocked there, and it gets on */
	if (thread->displaced.interrupts >= INTERRUPTS_MAX) {
		thread->displaced.interrupts = 0;
		return false;
	}
	/* first: a system call of ours would leave it, too */
	if (displaced_in_sequence(tracees, thread, site, regs))
		return false;
	copy = copy_find(tracees, thread, site);
	if (copy == 0)
		return false;
	thread->displaced.state = DISPLACED_DUE;
	thread->displaced.address = site->address;
	thread->displaced.copy = copy;
	thread->displaced.length = site->insn.length;
	return true;
}

/*
 * A handler is about to run instead, and returns to the original. One of a signal
 * that the instruction has raised may do what it likes: the next execution counts.
 */
static void displaced_interrupt(struct thread *thread)
{
	struct thread_displaced *displaced = &thread->displaced;

	displaced->state = DISPLACED_NOT;
	displaced->interrupts++;
	displaced->interrupted =
		!signal_is_raised(thread->deliver) &&
		thread_ok(thread,
			  trace_registers(thread->tid, &displaced->regs));
}

void displaced_resuming(struct thread *thread)
{
	struct thread_displaced *displaced = &thread->displaced;

	/* a stop has no handler, and the instruction comes after it */
	if (displaced->state != DISPLACED_DUE || thread->deliver == SIGSTOP)
		return;
	if (thread->deliver != 0)
		displaced_interrupt(thread);
	else if (thread_ok(thread, trace_set_rip(thread->tid, displaced->copy)))
		displaced->state = DISPLACED_AWAY;
}

/* At the copy or behind it, to where it would be without. */
static void displaced_return(struct thread *thread, bool signalled)
{
	struct thread_displaced *displaced = &thread->displaced;
	uint64_t end = displaced->copy + displaced->length;
	struct x86_registers regs;

	displaced->state = DISPLACED_NOT;
	if (!thread_ok(thread, trace_registers(thread->tid, &regs)))
		return;
	if (regs.rip == end)
		thread_ok(thread, trace_set_rip(thread->tid,
						displaced->address +
							displaced->length));
	if (regs.rip != displaced->copy)
		displaced->interrupts = 0;
	if (regs.rip != displaced->copy ||
	    !thread_ok(thread, trace_set_rip(thread->tid, displaced->address)))
		return;
	displaced->state = DISPLACED_DUE;
	if (signalled)
		thread_ok(thread, trace_move_fault(thread->tid, displaced->copy,
						   displaced->address));
}

void displaced_stopped(struct thread *thread, const struct stop_reason *stop)
{
	struct thread_displaced *displaced = &thread->displaced;

	/* the program that had the copy has gone */
	if (stop->kind == STOP_EXEC)
		*displaced = (struct thread_displaced){ 0 };
	if (displaced->state == DISPLACED_AWAY && stop->kind != STOP_EXITED &&
	    stop->kind != STOP_KILLED)
		displaced_return(thread, stop->kind == STOP_SIGNAL);
}

void displaced_end(struct thread *thread)
{
	thread->displaced.state = DISPLACED_NOT;
}

bool displaced_again(struct thread *thread, const struct x86_registers *regs)
{
	struct thread_displaced *displaced = &thread->displaced;
	bool again =
		displaced->interrupted && displaced->regs.rip == regs->rip &&
		memcmp(displaced->regs.gpr, regs->gpr, sizeof(regs->gpr)) == 0;

	if (again)
		displaced->interrupted = false;
	return again;
}
