/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scratch process and its pages; see scratch.h.
 */
#include "replay/scratch-parts.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "sys/faultfd.h"
#include "sys/mapping.h"
#include "sys/trace.h"
#include "sys/wait.h"

/* The parts of user space that are the program's. */
enum { SCRATCH_PARTS = 2 };
static struct scratch_range scratch_part(int number)
{
	if (number == 0)
		return (struct scratch_range){ SCRATCH_LOWEST, SCRATCH_STUB };
	return (struct scratch_range){ SCRATCH_STUB + SCRATCH_PAGE,
				       SCRATCH_TOP };
}

bool scratch_has_room(uint64_t page)
{
	return page >= SCRATCH_LOWEST && page < SCRATCH_TOP &&
	       page != SCRATCH_STUB;
}

static struct error *scratch_unmap_all(const struct scratch *scratch)
{
	struct error *err = NULL;

	for (int i = 0; i < SCRATCH_PARTS && !err; i++) {
		struct scratch_range part = scratch_part(i);
		const uint64_t arguments[6] = { part.start,
						part.end - part.start };

		err = scratch_must_call(scratch, SYS_munmap, arguments,
					"unmap memory");
	}
	return err;
}

/*
 * Not executable: code runs only where the program's may, scratch_permit().
 */
static struct error *scratch_reserve(struct scratch *scratch)
{
	struct error *err = NULL;

	for (int i = 0; i < SCRATCH_PARTS && !err; i++) {
		struct scratch_range part = scratch_part(i);
		const uint64_t arguments[6] = {
			part.start,
			part.end - part.start,
			PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
			~UINT64_C(0),
			0,
		};

		err = scratch_must_call(scratch, SYS_mmap, arguments,
					"reserve the address space");
		if (!err)
			err = faultfd_register(scratch->faultfd, part.start,
					       part.end);
	}
	return err;
}

/* Reason: consumed. */
static struct error *scratch_without_faultfd(struct scratch *scratch,
					     struct error *reason)
{
	scratch->why = strdup(error_message(reason));
	error_free(reason);
	if (scratch->faultfd >= 0)
		close(scratch->faultfd);
	scratch->faultfd = -1;
	if (!scratch->why)
		return error_nomem;
	return scratch_unmap_all(scratch);
}

static struct error *scratch_choose(struct scratch *scratch,
				    enum scratch_way way,
				    const struct scratch_report *report)
{
	struct error *err;

	if (way == SCRATCH_BY_MAPPINGS)
		return NULL;
	err = report->faultfd < 0
		      ? error_os(report->faultfd_code, "userfaultfd")
		      : scratch_reserve(scratch);
	return err ? scratch_without_faultfd(scratch, err) : NULL;
}

static struct error *scratch_take(const struct scratch *scratch)
{
	struct stop_reason stop;
	struct error *err = wait_thread(scratch->pid, &stop);

	if (!err && (stop.kind != STOP_SIGNAL || stop.signal != SIGTRAP))
		return error_create(ERROR_OTHER,
				    "the scratch process does not stop");
	return err ? err : trace_take_scratch(scratch->pid);
}

static struct error *scratch_start(struct scratch *scratch,
				   enum scratch_way way)
{
	struct scratch_report report = { .faultfd = -1 };
	struct error *err =
		scratch_fork(way == SCRATCH_BY_FAULTFD, &scratch->pid, &report);

	scratch->faultfd = report.faultfd;
	if (!err)
		err = scratch_take(scratch);
	if (!err)
		err = scratch_unmap_all(scratch);
	if (!err)
		err = scratch_choose(scratch, way, &report);
	if (err)
		return err;
	memory_init(&scratch->memory, scratch->pid);
	return NULL;
}

struct error *scratch_create(enum scratch_way way, struct scratch **ret)
{
	struct scratch *scratch = calloc(1, sizeof(*scratch));
	struct error *err;

	if (!scratch)
		return error_nomem;
	scratch->faultfd = -1;
	scratch->memory.fd = scratch->memory.pages = -1;
	scratch->permitted.size = sizeof(struct scratch_range);
	err = scratch_start(scratch, way);
	if (!err) {
		*ret = scratch;
		return NULL;
	}
	scratch_destroy(scratch);
	/* that it vanished is no news of the program */
	if (err == error_gone)
		err = error_create(ERROR_OTHER, "it ended early");
	return error_wrap(err, "start the scratch process");
}

/* Its end may have been waited for, and its number be another's now. */
static bool scratch_is_child(const struct scratch *scratch)
{
	siginfo_t info;

	return scratch->pid > 0 &&
	       waitid(P_PID, (id_t)scratch->pid, &info,
		      WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

void scratch_destroy(struct scratch *scratch)
{
	if (!scratch)
		return;
	if (scratch_is_child(scratch)) {
		if (kill(scratch->pid, SIGKILL) < 0)
			error_free(trace_kill_scratch(scratch->pid));
		while (waitpid(scratch->pid, NULL, __WALL) < 0 &&
		       errno == EINTR)
			;
	}
	memory_deinit(&scratch->memory);
	if (scratch->faultfd >= 0)
		close(scratch->faultfd);
	map_deinit(&scratch->pages);
	vec_deinit(&scratch->permitted);
	free(scratch->why);
	free(scratch);
}

enum scratch_way scratch_way(const struct scratch *scratch,
			     const char **ret_why)
{
	*ret_why = scratch->why;
	return scratch->faultfd >= 0 ? SCRATCH_BY_FAULTFD : SCRATCH_BY_MAPPINGS;
}

pid_t scratch_pid(const struct scratch *scratch)
{
	return scratch->pid;
}

const struct memory *scratch_memory(const struct scratch *scratch)
{
	return &scratch->memory;
}

bool scratch_is_installed(const struct scratch *scratch, uint64_t page)
{
	return map_get(&scratch->pages, page) != NULL;
}

static struct error *scratch_protect(const struct scratch *scratch,
				     struct scratch_range range, int protection)
{
	const uint64_t arguments[6] = { range.start, range.end - range.start,
					(uint64_t)protection };

	return scratch_must_call(scratch, SYS_mprotect, arguments,
				 "protect memory");
}

/* The program has something else now where it had text. */
static struct error *scratch_forbid(struct scratch *scratch, uint64_t page)
{
	for (size_t i = 0; i < scratch->permitted.count; i++) {
		struct scratch_range *range = vec_at(&scratch->permitted, i);
		struct error *err;

		if (page < range->start || page >= range->end)
			continue;
		err = scratch_protect(scratch, *range, PROT_READ | PROT_WRITE);
		if (err)
			return err;
		vec_remove_swap(&scratch->permitted, i);
		i--;
	}
	return NULL;
}

struct error *scratch_permit(struct scratch *scratch, uint64_t start,
			     uint64_t end, bool *ret_changed)
{
	struct scratch_range wanted = { start, end };
	struct error *err;

	*ret_changed = false;
	/* code could write to our own instructions there */
	if (start < SCRATCH_STUB + SCRATCH_PAGE && end > SCRATCH_STUB)
		return error_create(ERROR_OTHER,
				    "the program has code where the scratch "
				    "process has its own");
	if (scratch->faultfd < 0)
		return NULL;
	for (size_t i = 0; i < scratch->permitted.count; i++) {
		const struct scratch_range *range =
			vec_at(&scratch->permitted, i);

		if (start >= range->start && end <= range->end)
			return NULL;
	}
	if (!vec_push(&scratch->permitted, &wanted))
		return error_nomem;
	err = scratch_protect(scratch, wanted,
			      PROT_READ | PROT_WRITE | PROT_EXEC);
	*ret_changed = !err;
	return err;
}

static struct error *scratch_install_served(struct scratch *scratch,
					    uint64_t page, const uint8_t *bytes,
					    unsigned int access)
{
	struct error *err = NULL;

	if (!(access & MAPPING_EXECUTE))
		err = scratch_forbid(scratch, page);
	if (err)
		return err;
	return faultfd_copy(scratch->faultfd, page, bytes,
			    !(access & MAPPING_WRITE));
}

static int scratch_protection(unsigned int access)
{
	return PROT_READ | (access & MAPPING_WRITE ? PROT_WRITE : 0) |
	       (access & MAPPING_EXECUTE ? PROT_EXEC : 0);
}

static struct error *scratch_install_mapped(struct scratch *scratch,
					    uint64_t page, const uint8_t *bytes,
					    unsigned int access)
{
	const uint64_t arguments[6] = {
		page,
		SCRATCH_PAGE,
		PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		~UINT64_C(0),
		0,
	};
	int protection = scratch_protection(access);
	struct error *err =
		scratch_must_call(scratch, SYS_mmap, arguments, "map a page");

	if (!err)
		err = memory_write_text(&scratch->memory, scratch->pid, page,
					bytes, SCRATCH_PAGE);
	if (err || protection == (PROT_READ | PROT_WRITE))
		return err;
	return scratch_protect(
		scratch, (struct scratch_range){ page, page + SCRATCH_PAGE },
		protection);
}

struct error *scratch_install(struct scratch *scratch, uint64_t page,
			      const uint8_t *bytes, unsigned int access)
{
	if (!map_set(&scratch->pages, page, access))
		return error_nomem;
	if (scratch->faultfd >= 0)
		return scratch_install_served(scratch, page, bytes, access);
	return scratch_install_mapped(scratch, page, bytes, access);
}

struct error *scratch_poke(struct scratch *scratch, uint64_t address,
			   const void *bytes, size_t size)
{
	uint64_t page = address & ~(uint64_t)(SCRATCH_PAGE - 1);
	const uint64_t *access = map_get(&scratch->pages, page);
	bool protected = scratch->faultfd >= 0 && access &&
			 !(*access & MAPPING_WRITE);
	struct error *err = NULL;

	if (protected)
		err = faultfd_protect(scratch->faultfd, page, false);
	if (!err)
		err = memory_write_text(&scratch->memory, scratch->pid, address,
					bytes, size);
	if (!err && protected)
		err = faultfd_protect(scratch->faultfd, page, true);
	return err;
}

/* The reserved parts stay; what the code may execute too. */
static struct error *scratch_drop(const struct scratch *scratch)
{
	struct error *err = NULL;

	for (int i = 0; i < SCRATCH_PARTS && !err; i++) {
		struct scratch_range part = scratch_part(i);
		const uint64_t arguments[6] = { part.start,
						part.end - part.start,
						MADV_DONTNEED };

		err = scratch_must_call(scratch, SYS_madvise, arguments,
					"drop pages");
	}
	return err;
}

/* Else they would be more with each program and library. */
static struct error *scratch_forbid_all(struct scratch *scratch)
{
	struct error *err = NULL;

	for (int i = 0; i < SCRATCH_PARTS && !err; i++)
		err = scratch_protect(scratch, scratch_part(i),
				      PROT_READ | PROT_WRITE);
	vec_clear(&scratch->permitted);
	return err;
}

struct error *scratch_reset(struct scratch *scratch)
{
	map_deinit(&scratch->pages);
	if (scratch->permitted.count > SCRATCH_PERMITTED_MAX) {
		struct error *err = scratch_forbid_all(scratch);

		if (err)
			return err;
	}
	if (scratch->faultfd >= 0)
		return scratch_drop(scratch);
	return scratch_unmap_all(scratch);
}
