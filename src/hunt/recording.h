/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The trace of one process in memory, by ids, with every reference checked: what
 * a cell, thread or descriptor names is there. Of what the recorder wrote again,
 * the last one counts.
 */
#ifndef HUNT_RECORDING_H
#define HUNT_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "hunt/trace-events.h"
#include "hunt/trace-file.h"

struct error;

struct recording_module {
	uint32_t id;
	const char *path;
	char build_id[2 * 32 + 1]; /* digits; "": none */
	uint64_t bias, low, high;
};

struct recording_thread {
	struct trace_thread raw;
	/* places of its chunks in the file, which break ties of numbers */
	size_t born_at, joined_at;
	char *path; /* "0.1.2" */
};

struct recording_descriptor {
	const struct trace_descriptor *raw;
	const struct trace_place *stack; /* raw->depth of them */
};

struct recording_lockset {
	const struct trace_lockset *raw;
	const struct trace_lock *locks; /* raw->count of them */
};

struct recording {
	struct trace_file file;
	/*
	 * Path of its executable, as /proc/PID/exe has it: the interpreter of a
	 * script, and not a symbolic link to it. Without modules, what was
	 * executed; "" if the trace does not say.
	 */
	const char *program;
	struct vec modules; /* of struct recording_module */
	struct vec threads; /* of struct recording_thread */
	struct vec descriptors; /* of struct recording_descriptor */
	struct vec locksets; /* of struct recording_lockset */
	struct vec blocks; /* of const struct trace_block * */
	struct vec uses; /* of struct trace_uses */
	struct vec cells; /* of struct trace_cell, by address */
	struct vec whole; /* of TRACE_WHOLE_CELL, likewise */
	struct vec clocks; /* of struct trace_clock, by sequence */
	struct vec unable; /* of const char *: what could not be recorded */
	struct map module_ids, thread_ids, descriptor_ids, lockset_ids,
		block_ids; /* to places in the above */
	struct trace_end end; /* zero if it was cut */
	bool cut; /* the process or its recorder was killed */
};

/*
 * Read the file. A trace that was cut short is no error. ERROR_FORMAT, with the
 * file and the place in it: this is no trace, or a chunk names what is not there.
 */
struct error *recording_open(const char *path, struct recording *ret);
/* One that is all zero is fine. */
void recording_close(struct recording *recording);

/* Each is there if a cell, thread or descriptor of the recording has its id. */
const struct recording_thread *
recording_thread(const struct recording *recording, uint32_t id);
const struct recording_descriptor *
recording_descriptor(const struct recording *recording, uint32_t id);
/* NULL: 0, no module. */
const struct recording_module *
recording_module(const struct recording *recording, uint32_t id);
/* Is the address in a module, as code or as a variable? */
bool recording_has_module(const struct recording *recording, uint64_t address);
/* NULL: 0, no locks. */
const struct recording_lockset *
recording_lockset(const struct recording *recording, uint32_t id);
/*
 * Is it known which locks a lockset has? Not of 0 where the recorder records no
 * locks, or had no room for some.
 */
bool recording_knows_locks(const struct recording *recording, uint32_t lockset);
/* NULL: 0, no block. */
const struct trace_block *recording_block(const struct recording *recording,
					  uint32_t id);

/* Time of the recorder, in ns since the start; busy: less sleeps and waits. */
struct recording_time {
	uint64_t ns, busy_ns;
};

/* When the access of that number was made, as far as the clocks tell. */
struct recording_time recording_time(const struct recording *recording,
				     uint64_t sequence);

#endif
