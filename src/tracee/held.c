/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locks that a thread holds; see held.h. Memory is read in rounds: the text that
 * may name locks, the pages that pointers lead to, and the pages that pointers in
 * memory named by text lead to.
 */
#include "tracee/held.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "sys/mapping.h"
#include "sys/memory.h"
#include "sys/procfs.h"
#include "tracee/addrspace.h"
#include "tracee/lockwords.h"
#include "tracee/process.h"
#include "tracee/thread.h"

enum {
	PAGE = 4096,
	PAGES_MAX = 64,
	TEXTS_MAX = 8, /* places in code */
	POINTERS_MAX = 1024,
	SLOTS_MAX = 64, /* pointers in memory that text names */
	/* of a stack: words that are pointers, bytes that are locks */
	STACK_POINTERS = 4096,
	STACK_LOCKS = 16 << 10,
	/* text before and behind a place in it */
	TEXT_BEFORE = 768,
	TEXT_BEHIND = 256,
	/* how far before and behind what is pointed to a lock is looked for */
	REACH_BEFORE = 512,
	REACH_BEHIND = 1024,
	/* of the page before or behind it, what is read for that */
	OBJECT_BEFORE = 128,
	OBJECT_BEHIND = 256,
	/* the shortest instruction that names memory: 48 8d 3d and four bytes */
	NAMES_SIZE = 7,
	/* a place in memory of a pointer that has none of these is none */
	ADDRESS_MIN = 1 << 16,
	LOOKS_AT_ONCE = 32,
	LOOKS_OF_ONE = 3, /* a mask, too */
};

static const uint64_t look_costs_ns = 20 * CLOCK_NS_PER_MS;

/* Pages, a set; a page that could not be read is in it too. */
struct held_room {
	struct memory_page pages[PAGES_MAX];
	size_t page_count, pages_read;
	uint64_t pointers[POINTERS_MAX];
	size_t pointer_count;
	uint64_t slots[SLOTS_MAX];
	size_t slot_count;
	uint8_t bytes[PAGES_MAX][PAGE];
};

/* One look at one thread. */
struct held_scan {
	struct held_room *room;
	const struct thread *thread;
	const struct memory *memory;
	struct wire_side *side;
	const uint8_t *stack;
	pid_t own;
};

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

/* --- pages --- */

static void room_add_page(struct held_room *room, uint64_t address)
{
	uint64_t start = address & ~(uint64_t)(PAGE - 1);

	for (size_t i = 0; i < room->page_count; i++) {
		if (room->pages[i].address == start)
			return;
	}
	if (room->page_count < PAGES_MAX)
		room->pages[room->page_count++] =
			(struct memory_page){ .address = start };
}

static int compare_pages(const void *a, const void *b)
{
	const struct memory_page *one = a, *two = b;

	return (one->address > two->address) - (one->address < two->address);
}

/* Those that were added since the last time. */
static void room_read(struct held_room *room, const struct memory *memory)
{
	struct memory_page *pages = room->pages + room->pages_read;
	size_t count = room->page_count - room->pages_read;

	/* neighbours are read at once */
	qsort(pages, count, sizeof(*pages), compare_pages);
	for (size_t i = 0; i < count; i++)
		pages[i].bytes = room->bytes[room->pages_read + i];
	memory_read_pages(memory, pages, count);
	room->pages_read = room->page_count;
}

/* The bytes at the address, and how many there are in its page. */
static const uint8_t *room_bytes(const struct held_room *room, uint64_t address,
				 size_t *ret_size)
{
	for (size_t i = 0; i < room->pages_read; i++) {
		const struct memory_page *page = &room->pages[i];

		if (page->read && address - page->address < PAGE) {
			*ret_size = PAGE - (address - page->address);
			return page->bytes + (address - page->address);
		}
	}
	return NULL;
}

/* --- pointers --- */

static bool in_stack(const struct held_scan *scan, uint64_t address)
{
	return address - scan->side->stack_address < scan->side->stack_size;
}

/* As far as breakpoints were set there, code is known without asking. */
static bool in_code(const struct held_scan *scan, uint64_t address)
{
	const struct vec *code = &scan->thread->process->space->text->code;

	for (size_t i = 0; i < code->count; i++) {
		const struct mapping *mapping = vec_at(code, i);

		if (address >= mapping->start && address < mapping->end)
			return true;
	}
	return false;
}

static bool may_be_pointer(uint64_t word)
{
	return word >= ADDRESS_MIN && word >> 47 == 0;
}

/* The page of a lock there, and of the object that it may be a part of. */
static void add_pointer(struct held_scan *scan, uint64_t word)
{
	struct held_room *room = scan->room;

	if (!may_be_pointer(word) || in_stack(scan, word) ||
	    in_code(scan, word) || room->pointer_count == POINTERS_MAX)
		return;
	room->pointers[room->pointer_count++] = word;
	room_add_page(room, word + LOCKWORDS_MUTEX_OWNER);
}

static void add_words(struct held_scan *scan, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i + sizeof(uint64_t) <= size;
	     i += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, bytes + i, sizeof(word));
		add_pointer(scan, word);
	}
}

/* The object around it may be on two pages. */
static void add_object(struct held_scan *scan, uint64_t word)
{
	struct held_room *room = scan->room;
	size_t before = room->pointer_count;

	add_pointer(scan, word);
	if (room->pointer_count == before)
		return;
	room_add_page(room, word - OBJECT_BEFORE);
	room_add_page(room, word + OBJECT_BEHIND);
}

/* The bytes of the stack from its pointer on. */
static const uint8_t *stack_top(const struct held_scan *scan, size_t max,
				size_t *ret_size)
{
	uint64_t skip =
		scan->side->regs.gpr[X86_RSP] - scan->side->stack_address;

	if (skip > scan->side->stack_size) {
		*ret_size = 0;
		return scan->stack;
	}
	*ret_size = scan->side->stack_size - skip;
	if (*ret_size > max)
		*ret_size = max;
	return scan->stack + skip;
}

/* --- what text names --- */

/*
 * lea or mov of what is relative to the next instruction, to a register: the lock
 * itself, or a pointer to it (also one of the GOT). Other bytes that look the
 * same lead to no lock.
 */
static void text_names(struct held_scan *scan, const uint8_t *bytes,
		       uint64_t address)
{
	struct held_room *room = scan->room;
	int32_t displacement;
	uint64_t named;

	if ((bytes[0] & 0xfb) != 0x48 || (bytes[2] & 0xc7) != 0x05)
		return;
	memcpy(&displacement, bytes + 3, sizeof(displacement));
	named = address + NAMES_SIZE + (uint64_t)(int64_t)displacement;
	if (bytes[1] == 0x8d)
		add_pointer(scan, named);
	if (bytes[1] != 0x8b || !may_be_pointer(named) ||
	    room->slot_count == SLOTS_MAX)
		return;
	room->slots[room->slot_count++] = named;
	room_add_page(room, named);
}

/* mov $address, %edi or the like, in a program that is not moved. */
static void text_has(struct held_scan *scan, const uint8_t *bytes,
		     uint64_t address)
{
	uint32_t named;

	memcpy(&named, bytes + 1, sizeof(named));
	if ((bytes[0] & 0xf8) == 0xb8 && address >> 31 == 0 &&
	    named - address < UINT64_C(1) << 28)
		add_pointer(scan, named);
}

static void text_scan(struct held_scan *scan, uint64_t from, uint64_t to)
{
	while (from < to) {
		size_t size = 0;
		const uint8_t *bytes = room_bytes(scan->room, from, &size);

		if (!bytes)
			return;
		if (size > to - from)
			size = to - from;
		for (size_t i = 0; i + NAMES_SIZE <= size; i++) {
			text_names(scan, bytes + i, from + i);
			text_has(scan, bytes + i, from + i);
		}
		from += size;
	}
}

/* Where the thread is, and where it may return to. */
static size_t text_places(const struct held_scan *scan,
			  uint64_t places[TEXTS_MAX])
{
	size_t count = 0, size;
	const uint8_t *top = stack_top(scan, STACK_POINTERS, &size);

	places[count++] = scan->side->regs.rip;
	for (size_t i = 0; i + sizeof(uint64_t) <= size && count < TEXTS_MAX;
	     i += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, top + i, sizeof(word));
		if (in_code(scan, word))
			places[count++] = word;
	}
	return count;
}

static void add_text(struct held_scan *scan)
{
	uint64_t places[TEXTS_MAX];
	size_t count = text_places(scan, places);

	for (size_t i = 0; i < count; i++) {
		room_add_page(scan->room, places[i] - TEXT_BEFORE);
		room_add_page(scan->room, places[i] + TEXT_BEHIND - 1);
	}
	room_read(scan->room, scan->memory);
	for (size_t i = 0; i < count; i++)
		text_scan(scan, places[i] - TEXT_BEFORE,
			  places[i] + TEXT_BEHIND);
}

static void add_slots(struct held_scan *scan)
{
	for (size_t i = 0; i < scan->room->slot_count; i++) {
		size_t size;
		const uint8_t *bytes =
			room_bytes(scan->room, scan->room->slots[i], &size);

		if (bytes && size >= sizeof(uint64_t))
			add_words(scan, bytes, sizeof(uint64_t));
	}
}

/* --- locks --- */

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

static bool is_held(const struct held_scan *scan, uint64_t address, size_t size,
		    bool (*judge)(const uint8_t *bytes, pid_t own))
{
	uint8_t bytes[LOCKWORDS_RWLOCK_SIZE];
	size_t got = 0;

	error_free(memory_read(scan->memory, address, bytes, size, &got));
	return got == size && judge(bytes, scan->own);
}

/* The thread's number is there: in a lock? */
static void try_owner(struct held_scan *scan, uint64_t address)
{
	uint64_t mutex = address - LOCKWORDS_MUTEX_OWNER;
	uint64_t rwlock = address - LOCKWORDS_RWLOCK_OWNER;

	if (is_held(scan, mutex, LOCKWORDS_MUTEX_SIZE, lockwords_is_held_mutex))
		found(scan, mutex, WIRE_LOCK_MUTEX);
	else if (is_held(scan, rwlock, LOCKWORDS_RWLOCK_SIZE,
			 lockwords_is_held_rwlock))
		found(scan, rwlock, WIRE_LOCK_RWLOCK);
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

/* The bytes, from an address that is a multiple of 8 on. */
static void find_owners(struct held_scan *scan, uint64_t address,
			const uint8_t *bytes, size_t size, bool anywhere)
{
	for (size_t i = 0; i + sizeof(uint32_t) <= size;
	     i += sizeof(uint64_t)) {
		uint32_t word;

		memcpy(&word, bytes + i, sizeof(word));
		if (word == (uint32_t)scan->own &&
		    (anywhere || is_near(scan->room, address + i)))
			try_owner(scan, address + i);
	}
}

static void find_in_pages(struct held_scan *scan)
{
	for (size_t i = 0; i < scan->room->pages_read; i++) {
		const struct memory_page *page = &scan->room->pages[i];

		if (page->read)
			find_owners(scan, page->address, page->bytes, PAGE,
				    false);
	}
}

static void find_in_stack(struct held_scan *scan)
{
	size_t size;
	const uint8_t *top = stack_top(scan, STACK_LOCKS, &size);
	uint64_t address = scan->side->regs.gpr[X86_RSP];
	size_t skip = -address % sizeof(uint64_t);

	if (size > skip)
		find_owners(scan, address + skip, top + skip, size - skip,
			    true);
}

/* Of a thread that is not in the middle of things, rsp is a multiple of 8. */
static void scan_thread(struct held_scan *scan, uint64_t address,
			const uint8_t *machine)
{
	const struct wire_machine *copied = &scan->side->machine;
	struct held_room *room = scan->room;
	size_t size;
	const uint8_t *top = stack_top(scan, STACK_POINTERS, &size);

	room->page_count = room->pages_read = 0;
	room->pointer_count = room->slot_count = 0;
	add_text(scan);
	add_object(scan, address);
	for (int i = 0; i < 16; i++)
		add_object(scan, scan->side->regs.gpr[i]);
	machine += copied->vectors_size;
	/* the first window is around the raced bytes */
	if (copied->window_count > 0)
		add_words(scan, machine, copied->windows[0].size);
	add_words(scan, top, size);
	room_read(room, scan->memory);
	add_slots(scan);
	room_read(room, scan->memory);
	find_in_stack(scan);
	find_in_pages(scan);
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
	if (!held->room || scan.own <= 0)
		return;
	scan.room = held->room;
	scan_thread(&scan, address, machine);
	side->locks.looked = true;
}
