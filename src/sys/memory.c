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
#include "sys/trace.h"

static int memory_open(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	return open(path, O_RDWR | O_CLOEXEC);
}

void memory_init(struct memory *memory, pid_t pid)
{
	memory->pid = pid;
	memory->fd = memory_open(pid);
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

static struct error *memory_poke(pid_t tid, uint64_t address,
				 const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		struct error *err = trace_poke_byte(tid, address + i, bytes[i]);

		if (err)
			return err;
	}
	return NULL;
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
		return memory_poke(stopped_tid, address, bytes, size);
	return error_os(n < 0 ? errno : EIO, "write text of %d at 0x%llx",
			(int)memory->pid, (unsigned long long)address);
}
