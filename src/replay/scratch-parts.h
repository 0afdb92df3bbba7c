/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the sources of the scratch process share; private to them.
 */
#ifndef REPLAY_SCRATCH_PARTS_H
#define REPLAY_SCRATCH_PARTS_H

#include <sys/types.h>

#include "base/map.h"
#include "base/vec.h"
#include "replay/scratch.h"
#include "sys/memory.h"

enum {
	SCRATCH_PAGE = 4096,
	/* executable ranges that are kept from one instance to the next */
	SCRATCH_PERMITTED_MAX = 64,
};

/*
 * What user code can reach begins where the kernel lets anybody map
 * (vm.mmap_min_addr) and ends with 47 bits. In between is one page of ours, with
 * the instructions that make a system call. Nothing is mapped near it: it is
 * above heaps, sanitizers' shadows and the arenas of language runtimes, and below
 * programs and libraries.
 */
static const uint64_t SCRATCH_LOWEST = 0x10000;
static const uint64_t SCRATCH_STUB = 0x3a5c7e1f0000;
static const uint64_t SCRATCH_TOP = 0x7ffffffff000;

struct scratch_range {
	uint64_t start, end;
};

struct scratch {
	pid_t pid; /* 0: none */
	int faultfd; /* -1: by mappings */
	char *why; /* not by userfaultfd */
	struct memory memory; /* of the scratch process */
	struct map pages; /* installed; to enum mapping_access */
	struct vec permitted; /* struct scratch_range; by userfaultfd only */
};

/* What the child tells when it is ready. */
struct scratch_report {
	int code; /* errno of what failed, 0 */
	int faultfd; /* the parent's own, or -1 */
	int faultfd_code; /* why it has none */
};

/*
 * Fork the child, and wait until it is ready: it has told what it has, and
 * sleeps. The caller kills and reaps it, also after an error with *ret_pid set.
 */
struct error *scratch_fork(bool faultfd, pid_t *ret_pid,
			   struct scratch_report *ret);

/*
 * Have the stopped process execute one system call, which must not fail; `what' is
 * for the message. Its registers are as before afterwards.
 */
struct error *scratch_must_call(const struct scratch *scratch, int number,
				const uint64_t arguments[6], const char *what);

#endif
