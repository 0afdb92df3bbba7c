/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracer's whole state: the parts, each in the header of the file that owns
 * it. For files that use most of them; others get the parts that they use. One
 * per tracer process; single-threaded.
 */
#ifndef TRACER_ENGINE_H
#define TRACER_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "schedule/lengths.h"
#include "schedule/pool.h"
#include "sys/wait.h"
#include "tracer/core.h"
#include "tracer/creation.h"
#include "tracer/freeze.h"
#include "tracer/govern.h"
#include "tracer/hunt.h"
#include "tracer/load.h"
#include "tracer/orphans.h"
#include "tracer/priority.h"
#include "tracer/privileged.h"
#include "tracer/profile.h"
#include "tracer/provoke.h"
#include "tracer/record.h"
#include "tracer/replays.h"
#include "tracer/stall.h"
#include "tracer/startup.h"
#include "tracer/underway.h"
#include "wire/message.h"

struct error;
struct heartbeat;
struct pidref;
struct thread;

struct engine {
	struct core core;
	pid_t pid; /* of the first watched process */
	struct heartbeat *heartbeat;
	bool child; /* we started it, and report its end */
	const struct pidref *attached; /* the first, if not ours; or NULL */
	bool exit_kill;
	bool first_ended; /* the first process has, with this status: */
	int first_status;
	bool ended; /* all watched processes have, and that was told */
	size_t left; /* threads that are for our exit to detach */
	enum wire_follow follow;
	uint64_t rest_ns; /* see struct session_config */
	uint64_t rest_until_ns; /* the first process has ended; 0: not */
	struct creations creations;
	struct privileged privileged;
	struct orphans orphans;
	struct underway underway;
	struct stalls stalls;
	struct load load;
	struct freeze freeze;
	struct provoke provoke;
	struct hunt hunt;
	struct record record;
	struct replays replays;
	struct startups startups;
	struct pool pool;
	struct govern govern;
	struct lengths lengths; /* of stalls, by wire_site_key() */
	struct profile profile;
	uint32_t thread_count_sent;
	bool unrestored; /* breakpoints are left in text (release.h) */
	bool disbelieved; /* a message made no sense (wire/sound.h), and it was said */
	uint64_t next_tick_ns;
	struct priority priority;
	uint64_t release_ns; /* when letting go began */
	uint32_t release_looks; /* at all threads since then */
};

/* An engine without processes; the channel takes fd over. */
struct error *engine_init(struct engine *engine, int fd, uint64_t seed);
/* Free everything; nothing may be traced any more. */
void engine_deinit(struct engine *engine);

/*
 * The process no longer uses its address space (it ended, or exec): return what
 * is armed there to the front end, unless another process uses it.
 */
void engine_leave_space(struct engine *engine, struct process *process);

/*
 * The thread is not left to our exit any more (release.h): it has stopped, or is
 * being forgotten.
 */
void engine_take_back(struct engine *engine, struct thread *thread);

/* Send the counters as they stand. */
void engine_send_stats(struct engine *engine);

/* Report the end of the first process, which ends the session. */
void engine_tell_end(struct engine *engine);

/* Resume a stopped thread, or detach it when releasing. */
void engine_go_on(struct engine *engine, struct thread *thread);

/* Handle one stop or end of a tracee. */
void engine_event(struct engine *engine, const struct stop_reason *stop);

/* Handle those that were waited for out of turn. */
void engine_early_events(struct engine *engine);

/* Begin to restore and detach everything; engine_event() carries it on. */
void engine_release(struct engine *engine);

#endif
