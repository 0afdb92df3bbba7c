/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One end of the stream between front end and tracer: framing, buffering, no
 * blocking. Sending never waits: what the socket does not take is kept, up to
 * a limit; beyond it a message is refused, and the caller counts it as lost.
 */
#ifndef WIRE_CHANNEL_H
#define WIRE_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/message.h"

struct error;

struct channel_buffer {
	uint8_t *bytes;
	size_t start, end, capacity;
};

struct channel {
	int fd; /* owned */
	bool closed; /* the other side has gone, all it sent has come */
	bool starved; /* no memory for what has come: it was not read */
	bool deaf; /* it takes no more messages; its last ones may still come */
	struct channel_buffer in, out;
	bool urgent; /* something waits to be sent that cannot wait for long */
	size_t out_limit; /* bytes kept for sending at most */
};

/* Take over a connected stream socket and make it non-blocking. */
struct error *channel_init(struct channel *channel, int fd, size_t out_limit);
void channel_deinit(struct channel *channel);

struct channel_part {
	const void *bytes;
	size_t size;
};

/*
 * Queue a message made of parts. False: it would exceed the limit, there is no
 * memory, or the channel is closed; then nothing was queued. There is room
 * beyond the limit for those that tell of the beginning and the end.
 */
bool channel_send_parts(struct channel *channel, enum wire_type type,
			const struct channel_part *parts, size_t count);
bool channel_send(struct channel *channel, enum wire_type type,
		  const void *payload, size_t size);

/* Write what the socket takes. Sets deaf when the other side has gone. */
void channel_flush(struct channel *channel);
bool channel_pending(const struct channel *channel);
/*
 * Does anything wait to be sent that is not to be kept until there is more? So
 * it is with all but counts, samples, what was seen to run, and sites that came
 * back, as far as there are few of these and channel_hurry() did not say it.
 */
bool channel_is_urgent(const struct channel *channel);
/* Somebody waits for what was sent last. */
void channel_hurry(struct channel *channel);

/*
 * Read what there is. Sets closed at end of file or on a framing error, and
 * starved while there is no memory to read it into: then the socket stays
 * readable. Both sides end the session on that, and do not wait for it to be.
 */
void channel_fill(struct channel *channel);

/*
 * The next whole message, or false. *ret_payload is aligned to 8 bytes and
 * valid until the next call on the channel.
 */
bool channel_next(struct channel *channel, enum wire_type *ret_type,
		  const void **ret_payload, size_t *ret_size);

#endif
