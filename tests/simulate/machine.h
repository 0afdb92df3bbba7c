/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machine that the simulated program, the tracer and the front end run on:
 * the clock, the messages, and who is to run when. Only for tests/simulate.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include "simulate.h"
#include "wire/message.h"

struct channel;
struct engine;
struct session;

struct message {
	enum wire_type type;
	size_t size;
	uint64_t at_ns; /* when it is there */
	void *bytes;
};

/* One of the two processes of racewatch. */
struct actor {
	struct channel *channel;
	struct vec in; /* of struct message */
	size_t next; /* in `in` */
	uint64_t free_ns; /* it is busy until then */
	void *payload; /* of the message last taken */
};

/* An armed location is reached then. */
struct reach {
	double at_ns;
	uint32_t slot, stamp;
};

struct machine {
	struct program program;
	struct score score;
	enum simulate_policy policy;
	uint64_t now_ns, spent_ns; /* by the actor that runs */
	struct actor tracer, front;
	struct engine *engine;
	struct session *session;
	uint8_t *text; /* as it is in memory, PROGRAM_SLOT bytes each */
	uint32_t *stamps; /* of slots: how often they were armed or lifted */
	size_t slots;
	struct vec reaches; /* of struct reach, a heap */
	uint64_t tracer_cpu_ns;
	double program_cpu_ns; /* that it used, ... */
	double free_cpu_ns; /* and that it would have used unwatched */
	double stopped_ns; /* of threads at breakpoints */
	uint64_t cpu_at_ns; /* as of then */
	size_t arrival; /* the location of the thread that meets another's stall */
};

/* The one that runs: those that are asked in place of the kernel need it. */
extern struct machine *machine;

enum {
	MACHINE_PROGRAM = 1, /* its number */
	MACHINE_PID = 1000, /* of the first process; threads have the next */
};
static const uint64_t MACHINE_TEXT = 0x400000;
static const uint64_t MACHINE_SHARED = 0x10000000;
static const uint64_t MACHINE_PRIVATE = 0x7f0000000000;
/* what things cost, as measured; see the list in bench/simulate */
static const uint64_t MACHINE_HIT_NS = 20000; /* of the tracer */
static const uint64_t MACHINE_STOP_NS = 50000; /* of the thread */
static const uint64_t MACHINE_WRITE_NS = 1200;
static const uint64_t MACHINE_WATCH_NS = 6000;
static const uint64_t MACHINE_TURN_NS = 3000;
static const uint64_t MACHINE_DECODE_NS = 1200; /* of one location */
static const uint64_t MACHINE_MESSAGE_NS = 50000;

/* Slots: each function has one for its entry before those of its locations. */
static inline size_t machine_slot(size_t site)
{
	return site + site / PROGRAM_FUNCTION + 1;
}

/* The location of a slot; SIZE_MAX: it is an entry. */
static inline size_t machine_site(size_t slot)
{
	size_t at = slot % (PROGRAM_FUNCTION + 1);

	return at == 0 ? SIZE_MAX
		       : slot / (PROGRAM_FUNCTION + 1) * PROGRAM_FUNCTION + at -
				 1;
}

/* The bytes of a slot changed from or to a breakpoint. */
void machine_armed(size_t slot, bool armed);

/* tracer.c: an engine that watches the program; what it does when. */
void tracer_begin(void);
void tracer_end(void);
uint64_t tracer_due(void);
void tracer_turn(void);
/* A thread reaches an armed slot; a stalled one's bytes are touched. */
void tracer_reach(size_t slot);
uint64_t tracer_trap_due(void);
void tracer_trap(void);
uint32_t tracer_held(void); /* threads */

/* front.c: the same of a session. */
void front_begin(void);
void front_end(void);
uint64_t front_due(void);
void front_turn(void);
void front_raced(size_t site, size_t other);
size_t front_site(uint64_t id); /* of the sampler */

#endif
