/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machine that the simulated program, the tracer and the front end run on:
 * the clock, the messages, and who is to run when. Only for tests/simulate.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include "program.h"
#include "wire/message.h"

struct channel;
struct engine;
struct session;

struct message {
	enum wire_type type;
	size_t size;
	uint64_t at_ns; /* when it is there */
	uint64_t at; /* of all bytes ever sent to the actor */
};

enum {
	MACHINE_PROGRAM = 1, /* its number */
	MACHINE_PID = 1000, /* of the first process; threads have the next */
	MACHINE_INT3 = 0xcc,
	MACHINE_PROCESSORS = 2,
	MACHINE_CLOCKS = 16, /* PROFILE_CLOCKS */
};

/* One of the two processes of racewatch. */
struct actor {
	struct channel *channel;
	struct vec in; /* of struct message */
	struct vec bytes; /* of theirs */
	size_t next; /* in `in` */
	uint64_t gone; /* bytes that are in `bytes` no more */
	uint64_t free_ns; /* it is busy until then */
};

/* A clock of a thread's CPU time. */
struct machine_clock {
	bool open;
	double period_ns;
	double left_ns; /* until the next sample */
	double cpu_ns; /* of the thread, and the time, when it was last read */
	uint64_t read_ns;
	double switches; /* since it was opened */
	uint32_t samples; /* that were not taken yet */
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
	uint32_t without; /* rules */
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
	double interrupted_ns; /* of threads, for samples of what runs */
	struct machine_clock clocks[MACHINE_CLOCKS];
	uint64_t cpu_at_ns; /* as of then */
	size_t arrival; /* the location of the thread that meets another's stall */
};

/* The one that runs: those that are asked in place of the kernel need it. */
extern struct machine *machine;

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
static const uint64_t MACHINE_STACK_NS = 10000; /* to read one */
static const uint64_t MACHINE_OPEN_NS = 50000; /* a clock */
static const double MACHINE_SAMPLE_NS = 4000; /* of the thread */
static const double MACHINE_SWITCH_NS = 5500; /* one with a clock */

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

/* Is the rule left out? Those of what runs are, where it is not looked for. */
static inline bool machine_without(enum simulate_rule rule)
{
	return machine->without >> rule & 1;
}

static inline uint32_t machine_threads(void)
{
	return machine->program.plan->processes *
	       machine->program.plan->threads;
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
