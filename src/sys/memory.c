/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracee's memory; see memory.h.
 */
#include "sys/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/error.h"
#include "sys/backing.h"
#include "sys/identity.h"
#include "sys/pagemap.h"
#include "sys/trace.h"

enum {
	/* pages whose states are asked for at once */
	MEMORY_BATCH = 8,
};

static int memory_open_of(pid_t tid, const char *name, int mode)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, name);
	fd = open(path, mode | O_CLOEXEC);
	/* so it is for the front end (sandbox.h), which only reads */
	if (fd < 0 && errno == EROFS)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd;
}

/*
 * A thread that has exited has no memory, though its process may. Then the
 * file does not open, or (before Linux 6.16) it is empty at any address.
 * *tid is made one that has.
 */
static int memory_open(pid_t *tid)
{
	int fd = memory_open_of(*tid, "mem", O_RDWR);
	char byte;
	pid_t live;

	if (fd >= 0 && pread(fd, &byte, 1, 0) != 0)
		return fd;
	live = identity_live_thread(*tid);
	if (live == *tid || live == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	*tid = live;
	return memory_open_of(live, "mem", O_RDWR);
}

void memory_init(struct memory *memory, pid_t pid)
{
	pid_t tid = pid;

	memory->pid = pid;
	memory->fd = memory_open(&tid);
	memory->pages = memory_open_of(tid, "pagemap", O_RDONLY);
	memory->backing = backing_create(tid);
	memory->refused = false;
}

void memory_share(struct memory *memory, const struct memory *other)
{
	backing_share(memory->backing, other->backing);
}

void memory_close_file(struct memory *memory)
{
	if (memory->fd >= 0)
		close(memory->fd);
	memory->fd = -1;
}

void memory_deinit(struct memory *memory)
{
	memory_close_file(memory);
	if (memory->pages >= 0)
		close(memory->pages);
	memory->pages = -1;
	backing_destroy(memory->backing);
	memory->backing = NULL;
}

void memory_reopen(struct memory *memory, pid_t pid)
{
	memory_deinit(memory);
	memory_init(memory, pid);
}

/*
 * How a page is read. Through /proc/PID/mem, nobody waits for userfaultfd(2):
 * the kernel fails the access, since the caller holds a lock that it cannot
 * give back (handle_userfault() without FAULT_FLAG_ALLOW_RETRY). Nor can
 * SIGKILL end the wait for the page of a file there; it does in
 * process_vm_readv(2), which on the other hand waits for userfaultfd.
 */
enum memory_way {
	MEMORY_BY_FILE, /* /proc/PID/mem */
	MEMORY_BY_CALL, /* process_vm_readv(2) */
	MEMORY_SERVED, /* not to be touched */
};

static enum memory_way memory_way(const struct memory *memory, uint64_t address,
				  enum page_state state)
{
	if (state == PAGE_PRIVATE)
		return MEMORY_BY_FILE;
	switch (backing_of(memory->backing, address)) {
	case BACKING_MEMORY:
		/* shared memory too may be served by userfaultfd */
		return MEMORY_BY_FILE;
	case BACKING_NONE:
	case BACKING_DISK:
		return MEMORY_BY_CALL;
	case BACKING_SERVED:
	default:
		return state == PAGE_OF_FILE ? MEMORY_BY_CALL : MEMORY_SERVED;
	}
}

/* Bytes that have been read, or -1 with errno. */
static ssize_t memory_read_by(const struct memory *memory, enum memory_way way,
			      uint64_t address, void *bytes, size_t size)
{
	struct iovec local = { bytes, size };
	struct iovec remote = { (void *)(uintptr_t)address, size };
	ssize_t n = -1;

	if (way == MEMORY_SERVED) {
		errno = EFAULT;
		return -1;
	}
	if (way == MEMORY_BY_CALL || memory->fd < 0)
		n = process_vm_readv(memory->pid, &local, 1, &remote, 1, 0);
	if (n < 0 && memory->fd >= 0)
		n = pread(memory->fd, bytes, size, (off_t)address);
	return n;
}

/*
 * What is behind a mapping tells how all of its pages are read, but where they are
 * served. False: their states are to be asked for. That is a system call too, and
 * takes twice as long as to ask what is behind them; so if nobody has asked yet.
 * Whoever serves a file below an overlay is not seen, whether a page of it is in
 * memory or not.
 */
static bool memory_next_mapped(const struct memory *memory, uint64_t address,
			       enum memory_way *ret_way, uint64_t *ret_room)
{
	enum backing_kind kind;
	uint64_t end;

	if (!backing_is_quick(memory->backing))
		return false;
	kind = backing_until(memory->backing, address, &end);
	if (kind == BACKING_SERVED)
		return false;
	*ret_way = kind == BACKING_MEMORY ? MEMORY_BY_FILE : MEMORY_BY_CALL;
	*ret_room = end - address;
	return true;
}

/* By the states of the pages from there on, at most MEMORY_BATCH. */
static enum memory_way memory_next_pages(const struct memory *memory,
					 uint64_t address, size_t size,
					 uint64_t *ret_room)
{
	enum page_state states[MEMORY_BATCH];
	uint64_t room = PAGEMAP_PAGE - address % PAGEMAP_PAGE;
	size_t pages = 1 + (size > room ? (size - room + PAGEMAP_PAGE - 1) /
						  PAGEMAP_PAGE
					: 0);
	enum memory_way way;
	size_t i;

	if (pages > MEMORY_BATCH)
		pages = MEMORY_BATCH;
	pagemap_states(memory->pages, address, states, pages);
	way = memory_way(memory, address, states[0]);
	for (i = 1; i < pages; i++) {
		if (memory_way(memory, address + i * PAGEMAP_PAGE, states[i]) !=
		    way)
			break;
	}
	*ret_room = room + (i - 1) * PAGEMAP_PAGE;
	return way;
}

/* The next bytes that are read in the same way: *ret_size of `size'. */
static enum memory_way memory_next(const struct memory *memory,
				   uint64_t address, size_t size,
				   size_t *ret_size)
{
	enum memory_way way;
	uint64_t room;

	if (!memory_next_mapped(memory, address, &way, &room))
		way = memory_next_pages(memory, address, size, &room);
	*ret_size = size < room ? size : room;
	return way;
}

struct error *memory_read(const struct memory *memory, uint64_t address,
			  void *bytes, size_t size, size_t *ret_size)
{
	size_t done = 0;
	ssize_t n = 0;

	while (done < size) {
		size_t chunk;
		enum memory_way way = memory_next(memory, address + done,
						  size - done, &chunk);

		n = memory_read_by(memory, way, address + done,
				   (char *)bytes + done, chunk);
		if (n > 0)
			done += (size_t)n;
		if (n < (ssize_t)chunk)
			break;
	}
	if (done == 0)
		return error_os(n < 0 ? errno : EFAULT,
				"read memory of %d at 0x%llx", (int)memory->pid,
				(unsigned long long)address);
	*ret_size = done;
	return NULL;
}

bool memory_holds_nothing(const struct memory *memory, uint64_t address)
{
	enum page_state state;

	if (memory->pages >= 0) {
		pagemap_states(memory->pages, address, &state, 1);
		return state != PAGE_PRIVATE;
	}
	return backing_of(memory->backing, address) == BACKING_NONE;
}

bool memory_is_served(const struct memory *memory, uint64_t address,
		      size_t size)
{
	for (size_t done = 0, chunk; done < size; done += chunk) {
		if (memory_next(memory, address + done, size - done, &chunk) ==
		    MEMORY_SERVED)
			return true;
	}
	return false;
}

/* Only what differs: each byte is two requests, and a page is written whole. */
static struct error *memory_poke(const struct memory *memory, pid_t tid,
				 uint64_t address, const uint8_t *bytes,
				 size_t size)
{
	uint8_t had[256];
	size_t known = 0;

	for (size_t i = 0; i < size; i++) {
		struct error *err = NULL;
		size_t at = i % sizeof(had);

		if (at == 0) {
			known = size - i < sizeof(had) ? size - i : sizeof(had);
			err = memory_read(memory, address + i, had, known,
					  &known);
			if (err)
				known = 0;
			error_free(err);
		}
		if (at < known && had[at] == bytes[i])
			continue;
		err = trace_poke_byte(tid, address + i, bytes[i]);
		if (err)
			return err;
	}
	return NULL;
}

/* What is readable and does not take writes is refused, not unmapped. */
static struct error *memory_unwritten(const struct memory *memory,
				      uint64_t address, size_t size, int code)
{
	uint8_t first, last;
	size_t n;
	struct error *err = memory_read(memory, address, &first, 1, &n);

	if (!err)
		err = memory_read(memory, address + size - 1, &last, 1, &n);
	if (err) {
		error_free(err);
		return error_os(code, "write text of %d at 0x%llx",
				(int)memory->pid, (unsigned long long)address);
	}
	return error_create(ERROR_REFUSED,
			    "write text of %d at 0x%llx: /proc/%d/mem takes no "
			    "writes (proc_mem.force_override?)",
			    (int)memory->pid, (unsigned long long)address,
			    (int)memory->pid);
}

struct error *memory_write_text(const struct memory *memory, pid_t stopped_tid,
				uint64_t address, const void *bytes,
				size_t size)
{
	ssize_t n = -1;

	errno = EBADF;
	if (memory->fd >= 0)
		n = pwrite(memory->fd, bytes, size, (off_t)address);
	if (n == (ssize_t)size)
		return NULL;
	if (stopped_tid > 0)
		return memory_poke(memory, stopped_tid, address, bytes, size);
	return memory_unwritten(memory, address, size, n < 0 ? errno : EIO);
}
