/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process whose trace is being written, with its threads. Only for
 * src/hunt/stops.c.
 */
#ifndef HUNT_STOPS_PROCESS_H
#define HUNT_STOPS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "recorder/recorder.h"

struct error;
struct maps;
struct session_recorded;
struct stops_options;
struct x86_registers;

struct stops_thread {
	uint32_t id; /* of the recorder's thread */
	int32_t tid;
	bool ended;
	uint64_t pointer; /* its pthread_t (its fs base); 0: not known */
	uint64_t last; /* sequence number of its last access */
	struct stops_thread *joins; /* that it is about to join; NULL: none */
	uint64_t joins_sp; /* at the entry of pthread_join(3) */
	uint64_t joins_return; /* where that returns to; 0: not known */
	uint64_t joined; /* when `joiner' had joined it; */
	uint32_t joiner; /* 0: nobody has */
};

struct stops_process {
	int32_t pid;
	uint32_t program;
	struct recorder recorder;
	struct vec threads; /* of struct stops_thread *, by id */
	struct map by_tid; /* to the id of the last one with it */
};

/* It begins its trace. ERROR_OTHER: the file cannot be created. */
struct error *stops_process_create(const struct stops_options *options,
				   const struct session_recorded *news,
				   struct stops_process **ret);
/* Complete the trace, and free it. */
void stops_process_end(struct stops_process *process, int status);

/* Take the modules from the maps (NULL: none) if none has the address of code. */
void stops_process_map(struct stops_process *process, uint64_t address,
		       const struct maps *maps);

/* NULL: nothing is known of it. */
struct stops_thread *stops_thread_find(const struct stops_process *process,
				       int32_t tid);
/* The thread; of one that nobody announced, the first is the initial one. */
struct error *stops_thread_of(struct stops_process *process, int32_t tid,
			      struct stops_thread **ret);
/* creator: NULL if it is not known. */
struct error *stops_thread_add(struct stops_process *process, int32_t tid,
			       const struct stops_thread *creator,
			       struct stops_thread **ret);
/* With its first registers. */
void stops_thread_begin(struct stops_process *process,
			struct stops_thread *thread,
			const struct x86_registers *regs);
void stops_thread_end(struct stops_process *process,
		      struct stops_thread *thread);

/* The last other thread with that pthread_t; NULL: none. */
struct stops_thread *
stops_thread_by_pointer(const struct stops_process *process, uint64_t pointer,
			const struct stops_thread *other);

/* As the recorder has it. */
struct thread *stops_host(const struct stops_process *process,
			  const struct stops_thread *thread);

#endif
