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
		return error_os(errno, "open the CPU clock of thread %d",
				(int)tid);
	pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pages == MAP_FAILED) {
		struct error *err = error_os(errno, "map a perf ring");

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
