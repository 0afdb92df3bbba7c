/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes that one thread sent by a system call and another one received: from the
 * receiving call to the sending one, by channel and position (TRACE_MOVED of
 * hunt/trace-stream.h).
 */
#ifndef HUNT_EXECUTED_MOVES_H
#define HUNT_EXECUTED_MOVES_H

#include <stdint.h>

#include "hunt/executed.h"
#include "hunt/trace-events.h"

enum executed_sent_by {
	/*
	 * no sender is known: it is in another process, its steps are not in the
	 * trace, the channel is not known, or several may be it
	 */
	EXECUTED_SENT_UNKNOWN = 0,
	/*
	 * calls of the channel overlapped, and this is the only one nearby that
	 * sent the same first bytes
	 */
	EXECUTED_SENT_BY_VALUE,
	/* it is at that place of the channel, and no value contradicts */
	EXECUTED_SENT_BY_POSITION,
};

struct executed_sent {
	enum executed_sent_by by;
	uint32_t thread;
	/*
	 * executed_seek() to it finds the step that made the system call. It may be
	 * above the receiver's: the sender may have run on later.
	 */
	uint64_t number;
	/*
	 * the bytes in the sender's memory, the first of those that were asked for;
	 * address 0: not in memory, or not known (sendfile(2) of a file)
	 */
	uint64_t address, size;
	uint32_t system_call;
	int descriptor; /* msgsnd(2): the queue's id; -1: none */
	const struct trace_channel *channel; /* NULL: not known */
};

/*
 * Who sent the bytes [address, address + size), which executed_last_write() says
 * were received (EXECUTED_MOVED). Of a file, the last write to that part of it that
 * the trace has. splice(2) and its like are followed to what they received. ret->by
 * says if there is one; channel is set if it is known, also without a sender.
 */
struct error *executed_sender(struct executed *executed,
			      const struct executed_write *received,
			      uint64_t address, uint64_t size,
			      struct executed_sent *ret);

/* NULL: there is none with that id. */
const struct trace_channel *executed_channel(const struct executed *executed,
					     uint64_t id);

#endif
