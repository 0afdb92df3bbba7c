/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scratch process: a child of our own in which nothing is mapped but what
 * it is given, page by page, and which runs code natively without ever
 * executing a system call of it. It is the processor of the virtual processor
 * (PLDI'07, section 4.2); the program that is watched is not touched.
 *
 * A page that is missing is a stop. By userfaultfd(2) the whole user space is
 * one reserved mapping; where that cannot be had, each page is a mapping of its
 * own, which costs some 60 000 pages (vm.max_map_count) and time. Both behave
 * alike.
 *
 * One thread of the caller, its tracer, makes all calls, and they wait for the
 * scratch process, which never sleeps. It is killed when that thread ends. The
 * caller's own waiting for any child may see its end, and nothing else.
 *
 * After an error the process is of no use any more: scratch_destroy(), and
 * create another. error_gone: it was killed.
 */
#ifndef REPLAY_SCRATCH_H
#define REPLAY_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct memory;
struct scratch;

enum scratch_way {
	SCRATCH_BY_FAULTFD, /* or by mappings, if that cannot be had */
	SCRATCH_BY_MAPPINGS,
};

/*
 * ERROR_REFUSED or ERROR_OTHER, with the reason: there is no scratch process on
 * this machine. End it with scratch_destroy().
 */
struct error *scratch_create(enum scratch_way way, struct scratch **ret);
/* NULL is fine. Waits for its end: no zombie is left. */
void scratch_destroy(struct scratch *scratch);

/* Which way it is; *ret_why is why not by userfaultfd, or NULL; until destroyed. */
enum scratch_way scratch_way(const struct scratch *scratch,
			     const char **ret_why);
pid_t scratch_pid(const struct scratch *scratch);
/* Its memory, to read pages that are installed. */
const struct memory *scratch_memory(const struct scratch *scratch);

/* Can a page at this address be installed at all? */
bool scratch_has_room(uint64_t page);

/*
 * Install a page, which is not installed: its address, its 4096 bytes, and what
 * the code may do with it (enum mapping_access).
 */
struct error *scratch_install(struct scratch *scratch, uint64_t page,
			      const uint8_t *bytes, unsigned int access);
bool scratch_is_installed(const struct scratch *scratch, uint64_t page);

/*
 * Change bytes of one installed page, text or not. They are seen when the
 * process runs again.
 */
struct error *scratch_poke(struct scratch *scratch, uint64_t address,
			   const void *bytes, size_t size);

/*
 * Let code run in the range, which an executable mapping of the program covers.
 * A page which is then installed in it and is not executable ends that.
 * Nothing has to be done for pages that are mappings of their own:
 * *ret_changed is then false, as it is when the range was permitted before.
 */
struct error *scratch_permit(struct scratch *scratch, uint64_t start,
			     uint64_t end, bool *ret_changed);

/* Drop all pages. */
struct error *scratch_reset(struct scratch *scratch);

/* Why it stopped. Addresses and registers are those of the program's code. */
enum scratch_stop_kind {
	SCRATCH_BREAKPOINT, /* int3; rip is behind it */
	SCRATCH_STEPPED,
	SCRATCH_CALL, /* before a system call; number: which */
	/* SIGSEGV or SIGBUS with an address: a page is missing, or forbids it */
	SCRATCH_FAULT,
	/* by an instruction, which has not been executed; of SIGSEGV: #GP */
	SCRATCH_SIGNAL,
	SCRATCH_SPENT, /* the CPU time was over */
};

struct scratch_stop {
	enum scratch_stop_kind kind;
	int signal; /* SCRATCH_FAULT, SCRATCH_SIGNAL */
	uint64_t address; /* SCRATCH_FAULT */
	uint64_t number; /* SCRATCH_CALL */
};

/* Nanoseconds of CPU time it has used. */
struct error *scratch_cpu(const struct scratch *scratch, uint64_t *ret_ns);

/*
 * Run it from its registers, or one instruction of it, until a stop. The CPU
 * time, by scratch_cpu(), ends it some 4 ms (or one tick of the clock) late.
 */
struct error *scratch_run(struct scratch *scratch, bool step,
			  uint64_t until_cpu_ns, struct scratch_stop *ret);

#endif
