/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The chunks of a trace that are no accesses: locks, the heap, events, time,
 * and what the recorder says of itself. hunt/trace-format.h has the rules.
 */
#ifndef HUNT_TRACE_EVENTS_H
#define HUNT_TRACE_EVENTS_H

#include <stdint.h>

enum trace_lock_kind {
	TRACE_MUTEX = 1,
	TRACE_RWLOCK,
	TRACE_SPIN,
	TRACE_CONDITION,
	TRACE_BARRIER,
	TRACE_SEMAPHORE,
	TRACE_THREAD_END, /* an event's: pthread_join */
};

struct trace_lock {
	uint64_t address;
	uint8_t kind; /* enum trace_lock_kind */
	uint8_t shared; /* 1: for reading */
	uint8_t reserved[2];
	/* of the call that took it: its stack; 0: not known, or an event's */
	uint32_t descriptor;
};

/*
 * Behind it are `count' struct trace_lock. Id 0 is no lock. Where locks have a
 * descriptor, they are in the order in which they were taken.
 */
struct trace_lockset {
	uint32_t id, count;
};

/* A heap block that has a cell; descriptor: of the allocating call. */
struct trace_block {
	uint32_t id, thread;
	uint64_t address, size;
	uint64_t sequence;
	uint32_t descriptor, reserved;
};

/* It was freed (or reallocated elsewhere). */
struct trace_free {
	uint32_t block, thread;
	uint64_t sequence;
	uint32_t descriptor, reserved;
};

enum trace_event_kind {
	TRACE_ACQUIRED = 1, /* a lock, or a semaphore's unit */
	TRACE_RELEASED,
	TRACE_WAITED, /* returned from a wait for a condition or barrier */
	TRACE_SIGNALLED, /* a condition, semaphore, or a barrier reached */
};

/* Synchronization, in order; bounded: counted in trace_end when left out. */
struct trace_event {
	uint32_t kind; /* enum trace_event_kind */
	uint32_t thread;
	struct trace_lock lock;
	uint64_t sequence;
};

/* A system call that moved bytes to or from memory. Bounded likewise. */
struct trace_transfer {
	uint32_t thread, descriptor;
	uint64_t address, size;
	uint64_t sequence;
	int32_t number, fd; /* the system call; its file descriptor, or -1 */
	uint32_t writes, reserved; /* 1: memory was written, as by read(2) */
};

enum trace_channel_kind {
	TRACE_PIPE = 1, /* or FIFO: device, inode */
	TRACE_STREAM_UNIX, /* the inode of the sending socket, 0 */
	TRACE_STREAM_TCP, /* the sender's address, the receiver's: 48 bits of IPv4
			     address and port, or a hash */
	TRACE_FILE, /* device, inode; not in order: it has positions */
	/* of messages, which are counted, from here on */
	TRACE_PACKET_UNIX, /* as TRACE_STREAM_UNIX: not a stream */
	TRACE_QUEUE_SYSV, /* its id, 0; detail: the type of the messages */
	TRACE_QUEUE_POSIX, /* device, inode; detail: their priority */
};

/*
 * What bytes go through, in one direction and in order (hunt/trace-stream.h). All
 * processes of a recording count them together.
 */
struct trace_channel {
	uint32_t id;
	uint32_t kind; /* enum trace_channel_kind */
	uint64_t where[2];
	uint64_t detail;
};

/*
 * From `sequence' on, `thread' runs; 0: none does. What lies between
 * two of them is of that thread alone. Bounded: some may be left out.
 */
struct trace_clock {
	uint64_t sequence;
	uint64_t ns; /* since the start, of the recorder's wall clock */
	uint64_t busy_ns; /* of them, some thread's code ran: no sleeps */
	uint32_t thread, reserved;
};

/* The recorder met something it cannot record; behind it a text and zero. */
struct trace_unable {
	uint64_t sequence;
	uint32_t thread, reserved;
};

struct trace_end {
	uint64_t sequence; /* the last one: accesses recorded */
	uint64_t ns, busy_ns; /* as in trace_clock */
	uint64_t granules; /* accessed */
	uint64_t shared; /* of them, by two threads or more */
	uint64_t cells; /* chunks of them, replaced ones included */
	uint64_t memory; /* most bytes that the recording's tables took */
	uint64_t dropped_cells; /* accesses that were not kept */
	uint64_t starved_cells; /* of them, for want of memory, not of slots */
	uint64_t dropped_stacks; /* executions whose stack was not kept */
	uint64_t dropped_locksets; /* accesses whose lockset was not kept */
	uint64_t dropped_events; /* events, transfers, clocks not written */
	int32_t status; /* exit status; 128 + signal */
	uint32_t reason; /* enum trace_reason */
};

enum trace_reason {
	TRACE_ENDED,
	TRACE_EXECUTES, /* execve(2): TRACE_UNABLE says if it fails */
	TRACE_KILLED, /* another process has ended the trace: recorder/heir.h */
};

#endif
