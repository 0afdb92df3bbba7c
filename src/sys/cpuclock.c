/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where threads compute; see cpuclock.h.
 */
#include "sys/cpuclock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

/* What the kernel writes of PERF_SAMPLE_IP and, of a processor, of _TID. */
struct cpuclock_record {
	struct perf_event_header header;
	uint64_t address;
	uint32_t pid, tid;
};
enum { CPUCLOCK_RECORD_MIN = offsetof(struct cpuclock_record, pid) };

static struct error *cpuclock_error(int code, const char *what, int number)
{
	const char *why = NULL;

	if (code == EACCES || code == EPERM)
		why = "permission denied (needs CAP_PERFMON or a lower "
		      "kernel.perf_event_paranoid, no seccomp filter against "
		      "perf_event_open, and room by ulimit -l and "
		      "kernel.perf_event_mlock_kb)";
	if (why)
		return error_create(ERROR_REFUSED, "%s %d: %s", what, number,
				    why);
	if (code == ENOSYS || code == ENOENT || code == EOPNOTSUPP)
		return error_create(ERROR_UNSUPPORTED,
				    "%s %d: this kernel has no perf", what,
				    number);
	return error_os(code, "%s %d", what, number);
}

static void cpuclock_attr(uint64_t period_ns, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.sample_type = PERF_SAMPLE_IP,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

static struct error *cpuclock_map(int fd, const char *what, pid_t tid,
				  struct cpuclock *ret)
{
	size_t size = 2 * (size_t)getpagesize();
	void *pages;

	pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pages == MAP_FAILED) {
		struct error *err = cpuclock_error(errno, what, tid);

		close(fd);
		return err;
	}
	*ret = (struct cpuclock){
		.fd = fd, .pages = pages, .size = size, .tid = tid
	};
	return NULL;
}

struct error *cpuclock_open(pid_t tid, uint64_t period_ns, struct cpuclock *ret)
{
	struct perf_event_attr attr;
	int fd;

	cpuclock_attr(period_ns, &attr);
	fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1,
			  PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return cpuclock_error(errno, "open the CPU clock of thread",
				      tid);
	return cpuclock_map(fd, "map the CPU clock of thread", tid, ret);
}

struct error *cpuclock_open_cpu(int cpu, uint64_t period_ns,
				struct cpuclock *ret)
{
	struct perf_event_attr attr;
	struct error *err;
	int fd;

	cpuclock_attr(period_ns, &attr);
	attr.sample_type |= PERF_SAMPLE_TID;
	attr.exclude_idle = 1;
	attr.disabled = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return cpuclock_error(errno, "open a clock of processor", cpu);
	err = cpuclock_map(fd, "map a clock of processor", cpu, ret);
	if (!err)
		ret->tid = 0;
	return err;
}

void cpuclock_run(const struct cpuclock *clock, bool runs)
{
	ioctl(clock->fd, runs ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
	      0);
}

void cpuclock_close(struct cpuclock *clock)
{
	munmap(clock->pages, clock->size);
	close(clock->fd);
	*clock = (struct cpuclock){ .fd = -1 };
}

/* Bytes of the ring, which may go on at its beginning. */
static void cpuclock_copy(const struct cpuclock *clock, uint64_t at, void *to,
			  size_t size)
{
	const struct perf_event_mmap_page *page = clock->pages;
	const uint8_t *data = (const uint8_t *)clock->pages + page->data_offset;

	for (size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = data[(at + i) % page->data_size];
}

static bool cpuclock_record(struct cpuclock *clock, struct cpuclock_record *ret)
{
	struct perf_event_mmap_page *page = clock->pages;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	size_t least = clock->tid > 0 ? (size_t)CPUCLOCK_RECORD_MIN
				      : sizeof(*ret);

	while (page->data_tail != head) {
		uint64_t tail = page->data_tail;

		cpuclock_copy(clock, tail, ret, least);
		if (ret->header.size < sizeof(ret->header))
			return false;
		__atomic_store_n(&page->data_tail, tail + ret->header.size,
				 __ATOMIC_RELEASE);
		if (ret->header.type == PERF_RECORD_SAMPLE &&
		    ret->header.size >= least)
			return true;
	}
	return false;
}

bool cpuclock_next(struct cpuclock *clock, uint64_t *ret_address)
{
	struct cpuclock_record record;

	if (!cpuclock_record(clock, &record))
		return false;
	*ret_address = record.address;
	return true;
}

bool cpuclock_next_of(struct cpuclock *clock, uint64_t *ret_address,
		      pid_t *ret_pid)
{
	struct cpuclock_record record;

	if (!cpuclock_record(clock, &record))
		return false;
	*ret_address = record.address;
	*ret_pid = (pid_t)record.pid;
	return true;
}

/*
 * The kernel updates the page each time it puts the event on a processor, which
 * it does with the thread (cpu_clock_event_add() in kernel/events/core.c); the
 * sequence lock of an update is taken and given back.
 */
uint32_t cpuclock_switches(const struct cpuclock *clock)
{
	const struct perf_event_mmap_page *page = clock->pages;

	return __atomic_load_n(&page->lock, __ATOMIC_RELAXED) / 2;
}
