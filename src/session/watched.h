/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The front end's records of watched programs, each with its image and sampling
 * set, and of the processes that run them (wire/message.h says what a program
 * is). One process stands for all that run the same program: its maps are read.
 * A library that only another one loads is not sampled.
 *
 * When all processes of a program have ended, it may be executed again, as by a
 * script; for the tracer that is another program. So these data of the last
 * WATCHED_RESTING programs are kept: what was read of the modules, which sites
 * had a sample, which functions run. Two executions at the same time do not
 * share them.
 */
#ifndef SESSION_WATCHED_H
#define SESSION_WATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "sampling/sampleset.h"
#include "session/tally.h"
#include "wire/message.h"

struct error;
struct image;
struct map_entry;
struct opener;
struct rules;

/*
 * When /proc/PID/maps is checked again: soon after a change, then rarely, and at
 * the same time for all processes. The file is large if there are many mappings,
 * so it is read only when the number of mapped pages has changed, and otherwise
 * rarely.
 */
struct watched_timer {
	uint64_t due_ns;
	uint64_t last_ns; /* when it was looked at last */
	uint64_t step_ns;
	uint64_t read_ns; /* when it was read last; 0: it must be read */
	uint64_t mapped; /* procfs_mapped() before that */
};

/* Must it be read, of that process? To be asked when the timer is due. */
bool watched_timer_reads(struct watched_timer *timer, int pid);

/* It has just been looked at. */
void watched_timer_set(struct watched_timer *timer, bool changed);
/* Read it soon, as it is; changed: a burst of changes may follow. */
void watched_timer_hurry(struct watched_timer *timer, bool changed);

enum { WATCHED_RESTING = 16 };

struct watched_program {
	uint32_t id; /* the tracer's, of its last execution */
	uint32_t key; /* its first id: the same in all its executions */
	int pid; /* the process that stands for it; 0: all have ended */
	uint64_t ended; /* watched.ends then */
	struct image *image;
	struct sampleset set;
	struct watched_timer maps;
	/*
	 * of uint64_t: addresses of code that runs, where no module is known yet
	 * or the module has not joined; see session-once.c
	 */
	struct vec unplaced;
	uint64_t unplaced_ns; /* the maps are not read for these before */
	uint64_t begun_ns;
	uint64_t work_ns; /* when background decoding goes on */
	bool decoded; /* all of it, when it was last looked at */
	bool dry; /* no site was left at the last draw */
	uint64_t idle_ns; /* no thread can race with it: no sites until then */
	bool aimed; /* --at was looked for in all modules that are there */
	/* over those that have not run yet; see session-once.c */
	struct sampleset_walk walk;
	uint64_t walk_ns; /* when the next one begins */
	/* the same over functions that are not known to run */
	struct sampleset_walk entries;
	/*
	 * Another thread can access the same memory: it has a second thread, or
	 * memory that another process has too. Until then nothing is armed in
	 * it, and its files are read only if the user named it.
	 */
	bool awake;
	struct run_program seen; /* its path and races are not kept here */
	bool asked; /* a process that runs it was asked for by name */
	bool threaded; /* its second thread has begun */
	/* until then its first threads wait for the end of one; 0: no */
	uint64_t startup_ns;
	uint64_t startup_begun_ns; /* they have waited since then */
	uint64_t recorded; /* sites that were sent to be recorded */
	/* when they have gone on, its libraries wait until then */
	uint64_t quiet_ns;
};

struct watched_process {
	int pid;
	uint32_t program;
	struct watched_timer shared; /* its shared memory */
	uint64_t told; /* a digest of what was sent to the tracer */
	bool shares; /* there was some */
};

/* What is mapped shared. */
struct shared_file {
	uint64_t device, inode;
};

struct watched {
	const struct rules *rules; /* borrowed */
	uint64_t seed;
	bool debuginfod; /* ask servers for debug files */
	struct opener *opener; /* borrowed; NULL: base/opener.h */
	/*
	 * of struct watched_program *; the first one stays, whatever ends
	 */
	struct vec programs;
	struct vec processes; /* of struct watched_process */
	bool woken; /* a program became awake (watched_wake()) */
	uint64_t ends; /* of programs, so far */
	struct vec writable; /* of struct shared_file: mapped so by someone */
	/* of programs that were dropped */
	uint64_t sites_sampled, sites_known;
	uint64_t sites_sampled_own, sites_known_own;
	bool own_incomplete; /* not all functions of one's own were decoded */
	struct vec coverage; /* of struct run_coverage */
	struct vec tallies; /* of struct run_program, of those and of others */
};

void watched_init(struct watched *watched, const struct rules *rules,
		  uint64_t seed);
void watched_deinit(struct watched *watched);

static inline struct watched_program *watched_at(const struct watched *watched,
						 size_t i)
{
	return *(struct watched_program **)vec_at(&watched->programs, i);
}

/* NULL: it is not known (any more). */
struct watched_program *watched_program(const struct watched *watched,
					uint32_t id);

/* Add the sites of all programs, by module. False when out of memory. */
bool watched_coverage(const struct watched *watched, struct vec *coverage);

/* The path of the program's executable, or NULL if it was never read. */
const char *watched_path(const struct watched_program *program);

/* At the end, once: add what was seen of those that were not dropped. */
void watched_add_up(struct watched *watched);

/*
 * A process is watched, or runs another program now. *ret is its program, and
 * *ret_new whether it was not watched before. If its key is not its id, it was
 * watched in an earlier execution.
 */
struct error *watched_began(struct watched *watched,
			    const struct wire_process *message,
			    struct watched_program **ret, bool *ret_new);

void watched_ended(struct watched *watched, const struct wire_process *message);

/* Another thread can reach its memory: it is to be read now. */
void watched_wake(struct watched *watched, struct watched_program *program);

/*
 * Read the shared memory of the process, as a WIRE_SHARED message (of bytes) in
 * *ret, which stays empty if it is as it was. Memory that no process has mapped
 * for writing does not count, such as files that a library maps for reading. A
 * process that has just ended shares nothing.
 */
struct error *watched_shared(struct watched *watched,
			     struct watched_process *process, struct vec *ret);

/*
 * Have two processes the same memory at these addresses, by their maps as they
 * are now? Yes, if either has ended: it was so when the tracer looked.
 */
bool watched_same_memory(int pid, uint64_t address, int other_pid,
			 uint64_t other_address);

/* Does a process run it, and is it known where its modules are now? */
static inline bool watched_is_mapped(const struct watched_program *program)
{
	return program->pid != 0 && !program->set.rests;
}

#endif
