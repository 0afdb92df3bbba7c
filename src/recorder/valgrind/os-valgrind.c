/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorder/os.h by what Valgrind's core offers its tools. Files of the trace
 * have descriptors that the program does not see.
 */
#include "recorder/os.h"

#include <pub_tool_basics.h>

#include <pub_tool_aspacemgr.h>
#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_mallocfree.h>
#include <pub_tool_vki.h>
#include <pub_tool_vkiscnums.h>

/*
 * Of the core, which does not declare it for tools: moves a descriptor above
 * those that the program can have.
 */
extern Int VG_(safe_fd)(Int oldfd);
/* Likewise; `float': anywhere. */
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt prot,
						      Int fd, Off64T offset);

/* Likewise: any system call. */
extern SysRes VG_(do_syscall)(UWord number, UWord a, UWord b, UWord c, UWord d,
			      UWord e, UWord f, UWord g, UWord h);

void *os_map(size_t size)
{
	/* It is zeroed, and ends the process when there is none. */
	return VG_(am_shadow_alloc)(VG_PGROUNDUP(size));
}

void os_unmap(void *bytes, size_t size)
{
	VG_(am_munmap_valgrind)((Addr)bytes, VG_PGROUNDUP(size));
}

/* A file has no other size than what is written there: its last byte is. */
void *os_map_file(const char *path, size_t size)
{
	SysRes result = VG_(open)(path, VKI_O_RDWR | VKI_O_CREAT, 0600);
	SysRes mapped;
	Int fd;

	if (sr_isError(result))
		return NULL;
	fd = (Int)sr_Res(result);
	if (os_size(fd) < size &&
	    (VG_(lseek)(fd, (Off64T)size - 1, VKI_SEEK_SET) < 0 ||
	     VG_(write)(fd, "", 1) != 1)) {
		VG_(close)(fd);
		return NULL;
	}
	mapped = VG_(am_shared_mmap_file_float_valgrind)(
		size, VKI_PROT_READ | VKI_PROT_WRITE, fd, 0);
	VG_(close)(fd);
	return sr_isError(mapped) ? NULL : (void *)sr_Res(mapped);
}

void *os_alloc(size_t size)
{
	return VG_(calloc)("racewatch", 1, size);
}

void os_free(void *block)
{
	VG_(free)(block);
}

int os_create(const char *path)
{
	SysRes result = VG_(open)(
		path, VKI_O_WRONLY | VKI_O_CREAT | VKI_O_EXCL | VKI_O_APPEND,
		0600);

	if (sr_isError(result))
		return sr_Err(result) == VKI_EEXIST ? -1 : -2;
	return VG_(safe_fd)((Int)sr_Res(result));
}

int os_open(const char *path)
{
	return VG_(fd_open)(path, VKI_O_RDONLY, 0);
}

void os_close(int fd)
{
	VG_(close)(fd);
}

bool os_write(int fd, const void *bytes, size_t size)
{
	const char *from = bytes;

	while (size > 0) {
		Int n = VG_(write)(fd, from, (Int)size);

		if (n == -VKI_EINTR)
			continue;
		if (n <= 0)
			return false;
		from += n;
		size -= (size_t)n;
	}
	return true;
}

bool os_read_at(int fd, uint64_t offset, void *bytes, size_t size)
{
	char *to = bytes;

	if (VG_(lseek)(fd, (Off64T)offset, VKI_SEEK_SET) < 0)
		return false;
	while (size > 0) {
		Int n = VG_(read)(fd, to, size > 1 << 30 ? 1 << 30 : (Int)size);

		if (n == -VKI_EINTR)
			continue;
		if (n <= 0)
			return false;
		to += n;
		size -= (size_t)n;
	}
	return true;
}

bool os_truncate(int fd, uint64_t size)
{
	return !sr_isError(VG_(do_syscall)(__NR_ftruncate, (UWord)fd, size, 0,
					   0, 0, 0, 0, 0));
}

uint64_t os_size(int fd)
{
	struct vg_stat status;

	return VG_(fstat)(fd, &status) == 0 ? (uint64_t)status.size : 0;
}

void os_copy(void *to, const void *from, size_t size)
{
	VG_(memcpy)(to, from, size);
}

int os_compare(const void *a, const void *b, size_t size)
{
	return VG_(memcmp)(a, b, size);
}

size_t os_length(const char *text)
{
	return VG_(strlen)(text);
}

static uint64_t read_clock(vki_clockid_t clock)
{
	struct vki_timespec now;

	VG_(clock_gettime)(&now, clock);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t os_ns(void)
{
	return read_clock(VKI_CLOCK_MONOTONIC);
}

uint64_t os_realtime(void)
{
	return read_clock(VKI_CLOCK_REALTIME);
}

int os_pid(void)
{
	return VG_(getpid)();
}

int os_parent_pid(void)
{
	return VG_(getppid)();
}
