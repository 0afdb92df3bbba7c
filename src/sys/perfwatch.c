/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hardware breakpoints by perf events; see perfwatch.h.
 */
#include "sys/perfwatch.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

/* The breakpoint's type; *ret_length as the kernel wants it for that. */
static uint32_t perfwatch_type(const struct perfwatch_spec *spec,
			       uint64_t *ret_length)
{
	*ret_length = spec->execute ? sizeof(long) : spec->length;
	if (spec->execute)
		return HW_BREAKPOINT_X;
	return spec->write_only ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW;
}

static void perfwatch_attr(const struct perfwatch_spec *spec,
			   struct perf_event_attr *attr)
{
	uint64_t length;

	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_BREAKPOINT;
	attr->bp_type = perfwatch_type(spec, &length);
	attr->bp_addr = spec->address;
	attr->bp_len = length;
	attr->sample_period = spec->period > 0 ? spec->period : 1;
	attr->exclude_kernel = !spec->kernel;
	attr->exclude_hv = 1;
	attr->disabled = spec->disabled;
}

static void perfwatch_thread_attr(const struct perfwatch_spec *spec,
				  struct perf_event_attr *attr)
{
	perfwatch_attr(spec, attr);
	attr->sigtrap = 1;
	attr->remove_on_exec = 1;
	attr->sig_data = spec->cookie;
}

static int perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

static struct error *perfwatch_error(const char *what)
{
	struct error *err;

	if (errno == EACCES || errno == EPERM)
		return error_create(
			ERROR_REFUSED,
			"%s: permission denied (needs CAP_PERFMON or a lower kernel.perf_event_paranoid, and no seccomp filter against perf_event_open)",
			what);
	if (errno != ENOSPC)
		return error_os(errno, "%s", what);
	err = error_create(ERROR_UNSUPPORTED,
			   "%s: no debug register is free: others have them",
			   what);
	if (err != error_nomem)
		err->code = ENOSPC;
	return err;
}

struct error *perfwatch_open(pid_t tid, const struct perfwatch_spec *spec,
			     int *ret_fd)
{
	struct perf_event_attr attr;
	int fd;

	perfwatch_thread_attr(spec, &attr);
	fd = perf_event_open(&attr, tid, -1);
	if (fd < 0)
		return perfwatch_error("open a perf breakpoint");
	*ret_fd = fd;
	return NULL;
}

struct error *perfwatch_keep_ready(int *ret_fd)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = perf_event_open(&attr, 0, -1);

	if (fd < 0)
		return perfwatch_error("open a perf event");
	*ret_fd = fd;
	return NULL;
}

/* As attr->disabled is 0, it is enabled too (perf_event_modify_breakpoint). */
static struct error *perfwatch_modify(int fd, struct perf_event_attr *attr)
{
	if (ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, attr) < 0)
		return perfwatch_error("move a perf breakpoint");
	return NULL;
}

struct error *perfwatch_move(int fd, const struct perfwatch_spec *spec)
{
	struct perf_event_attr attr;

	perfwatch_thread_attr(spec, &attr);
	return perfwatch_modify(fd, &attr);
}

struct error *perfwatch_disable(int fd)
{
	if (ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) < 0)
		return perfwatch_error("disable a perf breakpoint");
	return NULL;
}

struct error *perfwatch_count(int fd, uint64_t *ret)
{
	uint64_t count;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		return perfwatch_error("read a perf breakpoint");
	*ret = count;
	return NULL;
}

/* A power of two, and room for several samples with their stacks. */
enum { RING_PAGES = 64 };

/* User registers in the order of enum perf_event_x86_regs. */
static const uint64_t ring_registers =
	(UINT64_C(1) << PERF_REG_X86_AX) | (UINT64_C(1) << PERF_REG_X86_BX) |
	(UINT64_C(1) << PERF_REG_X86_CX) | (UINT64_C(1) << PERF_REG_X86_DX) |
	(UINT64_C(1) << PERF_REG_X86_SI) | (UINT64_C(1) << PERF_REG_X86_DI) |
	(UINT64_C(1) << PERF_REG_X86_BP) | (UINT64_C(1) << PERF_REG_X86_SP) |
	(UINT64_C(1) << PERF_REG_X86_IP) | (UINT64_C(1) << PERF_REG_X86_FLAGS) |
	(UINT64_C(1) << PERF_REG_X86_R8) | (UINT64_C(1) << PERF_REG_X86_R9) |
	(UINT64_C(1) << PERF_REG_X86_R10) | (UINT64_C(1) << PERF_REG_X86_R11) |
	(UINT64_C(1) << PERF_REG_X86_R12) | (UINT64_C(1) << PERF_REG_X86_R13) |
	(UINT64_C(1) << PERF_REG_X86_R14) | (UINT64_C(1) << PERF_REG_X86_R15);

/* Where each of them goes, in the order of its bit. */
static const struct {
	int bit;
	int gpr; /* -1: rip, -2: rflags */
} ring_order[] = {
	{ PERF_REG_X86_AX, X86_RAX },  { PERF_REG_X86_BX, X86_RBX },
	{ PERF_REG_X86_CX, X86_RCX },  { PERF_REG_X86_DX, X86_RDX },
	{ PERF_REG_X86_SI, X86_RSI },  { PERF_REG_X86_DI, X86_RDI },
	{ PERF_REG_X86_BP, X86_RBP },  { PERF_REG_X86_SP, X86_RSP },
	{ PERF_REG_X86_IP, -1 },       { PERF_REG_X86_FLAGS, -2 },
	{ PERF_REG_X86_R8, X86_R8 },   { PERF_REG_X86_R9, X86_R9 },
	{ PERF_REG_X86_R10, X86_R10 }, { PERF_REG_X86_R11, X86_R11 },
	{ PERF_REG_X86_R12, X86_R12 }, { PERF_REG_X86_R13, X86_R13 },
	{ PERF_REG_X86_R14, X86_R14 }, { PERF_REG_X86_R15, X86_R15 },
};

enum { RING_REGISTERS = sizeof(ring_order) / sizeof(ring_order[0]) };

static void ring_attr(const struct perfwatch_spec *spec, uint32_t stack_size,
		      struct perf_event_attr *attr)
{
	perfwatch_attr(spec, attr);
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			    PERF_SAMPLE_ADDR | PERF_SAMPLE_REGS_USER |
			    PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = ring_registers;
	attr->sample_stack_user = stack_size;
	attr->wakeup_events = 1;
}

struct error *perfring_open(int cpu, const struct perfwatch_spec *spec,
			    uint32_t stack_size, struct perfring *ret)
{
	size_t size = (size_t)(RING_PAGES + 1) * (size_t)getpagesize();
	struct perf_event_attr attr;
	void *pages;
	int fd;

	ring_attr(spec, stack_size, &attr);
	fd = perf_event_open(&attr, -1, cpu);
	if (fd < 0)
		return perfwatch_error("open a CPU-wide perf breakpoint");
	pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pages == MAP_FAILED) {
		struct error *err = perfwatch_error("map a perf ring");

		close(fd);
		return err;
	}
	ret->fd = fd;
	ret->pages = pages;
	ret->size = size;
	ret->stack_size = stack_size;
	return NULL;
}

struct error *perfring_move(struct perfring *ring,
			    const struct perfwatch_spec *spec)
{
	struct perf_event_mmap_page *page = ring->pages;
	struct perf_event_attr attr;
	struct error *err;

	/* before it is enabled: what comes after is of the new place */
	err = perfwatch_disable(ring->fd);
	if (err)
		return err;
	__atomic_store_n(&page->data_tail,
			 __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
	ring_attr(spec, ring->stack_size, &attr);
	return perfwatch_modify(ring->fd, &attr);
}

void perfring_close(struct perfring *ring)
{
	munmap(ring->pages, ring->size);
	close(ring->fd);
	memset(ring, 0, sizeof(*ring));
	ring->fd = -1;
}

/*
 * The ring's data, in the order of the sample_type bits: ip, pid and tid,
 * addr, user registers (an ABI word, then the registers), user stack (size,
 * bytes, size that is valid). See perf_event_open(2), PERF_RECORD_SAMPLE.
 */
static bool ring_parse(const uint8_t *record, size_t size,
		       struct perfring_sample *ret)
{
	const struct perf_event_header *header = (const void *)record;
	const uint64_t *words = (const void *)(record + sizeof(*header));
	size_t count = (size - sizeof(*header)) / sizeof(*words);
	uint64_t stack;

	/* ip, tids, addr, ABI, stack size */
	if (header->type != PERF_RECORD_SAMPLE || count < 5)
		return false;
	ret->pid = (pid_t)(words[1] & 0xffffffff);
	ret->tid = (pid_t)(words[1] >> 32);
	ret->address = words[2];
	ret->from_kernel = (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
			   PERF_RECORD_MISC_KERNEL;
	memset(&ret->regs, 0, sizeof(ret->regs));
	ret->regs.orig_rax = ~UINT64_C(0);
	if (words[3] != PERF_SAMPLE_REGS_ABI_64 || count < 5 + RING_REGISTERS)
		return false;
	words += 4;
	count -= 4 + RING_REGISTERS;
	for (int i = 0; i < RING_REGISTERS; i++) {
		int gpr = ring_order[i].gpr;

		*(gpr == -1   ? &ret->regs.rip
		  : gpr == -2 ? &ret->regs.rflags
			      : &ret->regs.gpr[gpr]) = words[i];
	}
	words += RING_REGISTERS;
	stack = words[0];
	ret->stack = (const uint8_t *)(words + 1);
	ret->stack_size = 0;
	/* size, bytes, valid size */
	if (stack > 0 && count >= 2 + stack / sizeof(*words))
		ret->stack_size = words[1 + stack / sizeof(*words)];
	return true;
}

/* Copy a record that may wrap round the end of the ring. */
static void ring_copy(const struct perfring *ring, uint64_t tail,
		      uint8_t *record, size_t size)
{
	const struct perf_event_mmap_page *page = ring->pages;
	const uint8_t *data = (const uint8_t *)ring->pages + page->data_offset;
	size_t at = (size_t)(tail % page->data_size);
	size_t first = (size_t)page->data_size - at;

	if (first > size)
		first = size;
	memcpy(record, data + at, first);
	memcpy(record + first, data, size - first);
}

bool perfring_next(struct perfring *ring, struct perfring_sample *ret)
{
	struct perf_event_mmap_page *page = ring->pages;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	struct perf_event_header header;

	while (page->data_tail != head) {
		uint64_t tail = page->data_tail;

		ring_copy(ring, tail, (uint8_t *)&header, sizeof(header));
		if (header.size < sizeof(header))
			return false;
		ring_copy(ring, tail, ret->record, header.size);
		__atomic_store_n(&page->data_tail, tail + header.size,
				 __ATOMIC_RELEASE);
		if (ring_parse(ret->record, header.size, ret))
			return true;
	}
	return false;
}
