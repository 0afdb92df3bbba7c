/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pipes, sockets and queues that system calls move bytes through
 * (struct trace_channel of hunt/trace-events.h), and how much has gone through each.
 *
 * All processes of a recording count together, also after fork(2) and execve(2): the
 * counts are in a file `channels' of the trace's folder that they map. A channel is
 * found there by a hash of 64 bits of its key; of n channels, two share a place
 * with a probability of n^2 / 2^65. What processes that are not recorded move is
 * not counted.
 */
#ifndef RECORDER_CHANNELS_H
#define RECORDER_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "hunt/trace-events.h"
#include "recorder/table.h"

struct writer;

enum { CHANNELS_SHARED = 16384 }; /* for all processes */

/* The detail of a queue itself, whose messages are of channels of their own. */
#define CHANNEL_ALL UINT64_MAX

/* Of both directions: sent, received. */
struct channel_counts {
	uint64_t key; /* 0: unused */
	uint64_t moved[2]; /* bytes, or messages */
	uint32_t inside[2]; /* calls that are in the kernel */
	uint32_t met[2]; /* counts calls that began while another was inside */
	uint64_t other; /* of a socket: the inode that it is connected to */
	uint64_t detail; /* of a queue: 1 + what all its messages have;
			    UINT64_MAX: they differ */
};

struct channel {
	struct trace_channel raw;
	struct channel_counts *counts; /* NULL: no room */
	bool written;
};

struct channels {
	struct channel_counts *shared; /* CHANNELS_SHARED of them */
	struct records all; /* of struct channel */
	struct table by_key;
};

/* Zeroed memory becomes one. Without the file, a process counts by itself. */
void channels_init(struct channels *channels, const char *folder);
void channels_deinit(struct channels *channels);
/* The trace is another one. */
void channels_forget_written(struct channels *channels);

/* key->id does not count. 0: there are too many. */
uint32_t channels_find(struct channels *channels,
		       const struct trace_channel *key);

static inline struct channel *channel_at(const struct channels *channels,
					 uint32_t id)
{
	return records_at(&channels->all, id);
}

/*
 * A call that moves bytes begins, and ends. What channel_enter() returns is for
 * channel_leave(), which says whether another one was in the kernel meanwhile.
 */
uint32_t channel_enter(struct channel *channel, bool receives);
bool channel_leave(struct channel *channel, bool receives, uint32_t entered);

/* So much has gone through; what had before is returned. */
uint64_t channel_move(struct channel *channel, bool receives, uint64_t amount);

/* A message with this detail is about to be sent to the queue. */
void channel_note_detail(struct channel *queue, uint64_t detail);
/* What all messages so far have; false: it differs, or there was none. */
bool channel_detail(const struct channel *queue, uint64_t *ret);

/* Two sockets (inodes) are connected. */
void channels_connect(struct channels *channels, uint64_t a, uint64_t b);
/* What it is connected to; 0: not known. */
uint64_t channels_connected(struct channels *channels, uint64_t inode);

/* To the trace, unless it has it. */
void channel_write(struct channel *channel, struct writer *writer);

static inline bool channel_has_messages(uint32_t kind)
{
	return kind >= TRACE_PACKET_UNIX;
}

#endif
