/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a thread computes; see cpuclock.h.
 */
#include "sys/cpuclock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

/* What the kernel writes, PERF_SAMPLE_IP alone being asked for. */
struct cpuclock_record {
	struct perf_event_header header;
	uint64_t address;
};

static struct error *cpuclock_error(int code, const char *what, pid_t tid)
{
	const char *why = NULL;

	if (code == EACCES || code == EPERM)
		why = "permission denied (needs CAP_PERFMON or a lower "
		      "kernel.perf_event_paranoid, no seccomp filter against "
		      "perf_event_open, and room by ulimit -l and "
		      "kernel.perf_event_mlock_kb)";
	if (why)
		return error_create(ERROR_REFUSED, "%s of thread %d: %s", what,
				    (int)tid, why);
	if (code == ENOSYS || code == ENOENT || code == EOPNOTSUPP)
		return error_create(ERROR_UNSUPPORTED,
				    "%s of thread %d: this kernel has no perf",
				    what, (int)tid);
	return error_os(code, "%s of thread %d", what, (int)tid);
}

struct error *cpuclock_open(pid_t tid, uint64_t period_ns, struct cpuclock *ret)
{
	size_t size = 2 * (size_t)getpagesize();
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.sample_type = PERF_SAMPLE_IP,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1,
			      PERF_FLAG_FD_CLOEXEC);
	void *pages;

	if (fd < 0)
		return cpuclock_error(errno, "open the CPU clock", tid);
	pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pages == MAP_FAILED) {
		struct error *err =
			cpuclock_error(errno, "map the CPU clock", tid);

		close(fd);
		return err;
	}
	*ret = (struct cpuclock){
		.fd = fd, .pages = pages, .size = size, .tid = tid
	};
	return NULL;
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

bool cpuclock_next(struct cpuclock *clock, uint64_t *ret_address)
{
	struct perf_event_mmap_page *page = clock->pages;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);

	while (page->data_tail != head) {
		uint64_t tail = page->data_tail;
		struct cpuclock_record record;

		cpuclock_copy(clock, tail, &record, sizeof(record));
		if (record.header.size < sizeof(record.header))
			return false;
		__atomic_store_n(&page->data_tail, tail + record.header.size,
				 __ATOMIC_RELEASE);
		if (record.header.type != PERF_RECORD_SAMPLE ||
		    record.header.size < sizeof(record))
			continue;
		*ret_address = record.address;
		return true;
	}
	return false;
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
