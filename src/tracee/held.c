/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locks that a thread holds; see held.h.
 */
#include "tracee/held.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sys/memory.h"
#include "sys/procfs.h"
#include "tracee/addrspace.h"
#include "tracee/held-parts.h"
#include "tracee/lockwords.h"
#include "tracee/process.h"
#include "tracee/thread.h"

enum {
	STACK_LOCKS = 16 << 10, /* of the stack: what is looked at for locks */
	/* how far before and behind what is pointed to a lock is looked for */
	REACH_BEFORE = 512,
	REACH_BEHIND = 1024,
	/* words that have the thread's number: of more it is too long to tell */
	JUDGED_MAX = 2048,
	LOOKS_AT_ONCE = 32,
	LOOKS_OF_ONE = 3, /* a mask, too */
};

static const uint64_t look_costs_ns = 20 * CLOCK_NS_PER_MS;

void held_deinit(struct held *held)
{
	free(held->room);
	*held = (struct held){ 0 };
}

/* Keys that fall on one place drive each other out; the count is below them. */
static bool known_well(struct held *held, uint64_t key)
{
	uint64_t *known = &held->known[(key >> 32) % HELD_KNOWN];

	if ((*known | LOOKS_OF_ONE) != (key | LOOKS_OF_ONE))
		*known = key & ~(uint64_t)LOOKS_OF_ONE;
	if ((*known & LOOKS_OF_ONE) == LOOKS_OF_ONE)
		return true;
	++*known;
	return false;
}

bool held_may_look(struct held *held, uint64_t key, uint64_t now)
{
	if (known_well(held, key))
		return false;
	if (held->paid_ns < now)
		held->paid_ns = now;
	if (held->paid_ns - now > (LOOKS_AT_ONCE - 1) * look_costs_ns)
		return false;
	held->paid_ns += look_costs_ns;
	return true;
}

/* Bytes of a page, or of the stack. A lock at the end may go on in the next page. */
struct held_bytes {
	uint64_t address;
	const uint8_t *bytes;
	size_t size;
};

static void found(struct held_scan *scan, uint64_t address,
		  enum wire_lock_kind kind)
{
	struct wire_locks *locks = &scan->side->locks;

	for (uint32_t i = 0; i < locks->count; i++) {
		if (locks->locks[i].address == address)
			return;
	}
	if (locks->count < WIRE_LOCKS_MAX)
		locks->locks[locks->count++] =
			(struct wire_lock){ .address = address, .kind = kind };
}

static bool is_near(const struct held_room *room, uint64_t address)
{
	for (size_t i = 0; i < room->pointer_count; i++) {
		if (address - (room->pointers[i] - REACH_BEFORE) <
		    REACH_BEFORE + REACH_BEHIND)
			return true;
	}
	return false;
}

/* The bytes of what would be a lock at the offset; NULL: they were not read. */
static const uint8_t *lock_bytes(const struct held_scan *scan,
				 const struct held_bytes *in, size_t offset,
				 uint8_t room[LOCKWORDS_RWLOCK_SIZE],
				 size_t size)
{
	if (offset < in->size && size <= in->size - offset)
		return in->bytes + offset;
	/* (an offset below 0 is one above all) */
	return held_copy(scan->room, in->address + offset, room, size) ? room
								       : NULL;
}

/* The thread's number is at the offset: of a lock? */
static enum wire_lock_kind judge(const struct held_scan *scan,
				 const struct held_bytes *in, size_t offset)
{
	uint8_t room[LOCKWORDS_RWLOCK_SIZE];
	const uint8_t *bytes = lock_bytes(scan, in,
					  offset - LOCKWORDS_MUTEX_OWNER, room,
					  LOCKWORDS_MUTEX_SIZE);

	if (bytes && lockwords_is_held_mutex(bytes, scan->own))
		return WIRE_LOCK_MUTEX;
	bytes = lock_bytes(scan, in, offset - LOCKWORDS_RWLOCK_OWNER, room,
			   LOCKWORDS_RWLOCK_SIZE);
	if (bytes && lockwords_is_held_rwlock(bytes, scan->own))
		return WIRE_LOCK_RWLOCK;
	return WIRE_LOCK_NONE;
}

/* From an address that is a multiple of 8 on. */
static void find(struct held_scan *scan, const struct held_bytes *in,
		 bool anywhere)
{
	for (size_t i = 0; i + sizeof(uint32_t) <= in->size;
	     i += sizeof(uint64_t)) {
		enum wire_lock_kind kind;
		uint64_t address = in->address + i;
		uint32_t word;

		memcpy(&word, in->bytes + i, sizeof(word));
		if (word != (uint32_t)scan->own || ++scan->judged > JUDGED_MAX)
			continue;
		kind = judge(scan, in, i);
		if (kind == WIRE_LOCK_NONE)
			continue;
		address -= kind == WIRE_LOCK_MUTEX ? LOCKWORDS_MUTEX_OWNER
						   : LOCKWORDS_RWLOCK_OWNER;
		if (anywhere || is_near(scan->room, address))
			found(scan, address, kind);
	}
}

static void find_in_pages(struct held_scan *scan)
{
	for (size_t i = 0; i < scan->room->pages_read; i++) {
		const struct memory_page *page = &scan->room->pages[i];
		const struct held_bytes in = { page->address, page->bytes,
					       HELD_PAGE };

		if (page->read)
			find(scan, &in, false);
	}
}

static void find_in_stack(struct held_scan *scan)
{
	uint64_t address = scan->side->regs.gpr[X86_RSP];
	size_t skip = -address % sizeof(uint64_t);
	struct held_bytes in;

	in.bytes = held_stack(scan, STACK_LOCKS, &in.size);
	if (in.size <= skip)
		return;
	in.bytes += skip;
	in.size -= skip;
	in.address = address + skip;
	find(scan, &in, true);
}

static pid_t own_tid(struct thread *thread)
{
	if (thread->own_tid == 0)
		thread->own_tid =
			procfs_own_tid(thread->process->pid, thread->tid);
	return thread->own_tid;
}

void held_look(struct held *held, struct thread *thread, uint64_t address,
	       struct wire_side *side, const uint8_t *stack,
	       const uint8_t *machine)
{
	struct held_scan scan = {
		.thread = thread,
		.memory = &thread->process->space->memory,
		.side = side,
		.stack = stack,
		.own = own_tid(thread),
	};

	if (!held->room)
		held->room = malloc(sizeof(*held->room));
	/* which pages are in memory must be known */
	if (!held->room || scan.own <= 0 || scan.memory->pages < 0)
		return;
	scan.room = held->room;
	held_gather(&scan, address, machine);
	find_in_stack(&scan);
	find_in_pages(&scan);
	held_find_chunks(&scan, address);
	if (scan.judged > JUDGED_MAX)
		side->locks.count = 0;
	else
		side->locks.looked = true;
}
