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
#include "sys/identity.h"
#include "sys/trace.h"

static int memory_open_of(pid_t tid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	return open(path, O_RDWR | O_CLOEXEC);
}

/*
 * A thread that has exited has no memory, though its process may. Then the
 * file does not open, or (before Linux 6.16) it is empty at any address.
 */
static int memory_open(pid_t pid)
{
	int fd = memory_open_of(pid);
	char byte;
	pid_t tid;

	if (fd >= 0 && pread(fd, &byte, 1, 0) != 0)
		return fd;
	tid = identity_live_thread(pid);
	if (tid == pid || tid == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return memory_open_of(tid);
}

void memory_init(struct memory *memory, pid_t pid)
{
	memory->pid = pid;
	memory->fd = memory_open(pid);
	memory->refused = false;
}

void memory_deinit(struct memory *memory)
{
	if (memory->fd >= 0)
		close(memory->fd);
	memory->fd = -1;
}

void memory_reopen(struct memory *memory, pid_t pid)
{
	memory_deinit(memory);
	memory_init(memory, pid);
}

struct error *memory_read(const struct memory *memory, uint64_t address,
			  void *bytes, size_t size, size_t *ret_size)
{
	struct iovec local = { bytes, size };
	struct iovec remote = { (void *)(uintptr_t)address, size };
	ssize_t n = process_vm_readv(memory->pid, &local, 1, &remote, 1, 0);

	if (n < 0 && memory->fd >= 0)
		n = pread(memory->fd, bytes, size, (off_t)address);
	if (n < 0)
		return error_os(errno, "read memory of %d at 0x%llx",
				(int)memory->pid, (unsigned long long)address);
	if (n == 0)
		return error_os(EFAULT, "read memory of %d at 0x%llx",
				(int)memory->pid, (unsigned long long)address);
	*ret_size = (size_t)n;
	return NULL;
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
