/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Framed messages over a stream socket; see channel.h.
 */
#include "wire/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

enum {
	CHANNEL_READ = 64 << 10,
	/* payloads are padded so that each header starts aligned */
	CHANNEL_ALIGN = 8,
	/* more than that is not kept for later */
	CHANNEL_KEPT = 16 << 10,
	/* beyond the limit, for what must be heard; a few of the largest */
	CHANNEL_LAST_WORDS = 16 << 10,
};

static size_t channel_padded(size_t size)
{
	return (size + CHANNEL_ALIGN - 1) & ~(size_t)(CHANNEL_ALIGN - 1);
}

static size_t buffer_used(const struct channel_buffer *buffer)
{
	return buffer->end - buffer->start;
}

/* Room for n bytes at the end; moves the contents to the front first. */
static bool buffer_reserve(struct channel_buffer *buffer, size_t n)
{
	size_t used = buffer_used(buffer);
	size_t capacity;
	uint8_t *bytes;

	if (buffer->capacity - buffer->end >= n)
		return true;
	if (buffer->start > 0) {
		memmove(buffer->bytes, buffer->bytes + buffer->start, used);
		buffer->start = 0;
		buffer->end = used;
	}
	if (buffer->capacity - buffer->end >= n)
		return true;
	capacity = buffer->capacity ? buffer->capacity : CHANNEL_READ;
	while (capacity < used + n)
		capacity *= 2;
	bytes = realloc(buffer->bytes, capacity);
	if (!bytes)
		return false;
	buffer->bytes = bytes;
	buffer->capacity = capacity;
	return true;
}

static void buffer_append(struct channel_buffer *buffer, const void *bytes,
			  size_t n)
{
	if (n > 0)
		memcpy(buffer->bytes + buffer->end, bytes, n);
	buffer->end += n;
}

struct error *channel_init(struct channel *channel, int fd, size_t out_limit)
{
	int flags = fcntl(fd, F_GETFL);

	memset(channel, 0, sizeof(*channel));
	channel->fd = fd;
	channel->out_limit = out_limit;
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return error_os(errno, "make the channel non-blocking");
	/* so that the first and the last words can always be said */
	if (!buffer_reserve(&channel->out, CHANNEL_READ))
		return error_nomem;
	return NULL;
}

void channel_deinit(struct channel *channel)
{
	free(channel->in.bytes);
	free(channel->out.bytes);
	if (channel->fd >= 0)
		close(channel->fd);
	memset(channel, 0, sizeof(*channel));
	channel->fd = -1;
	channel->closed = true;
}

/*
 * Without these the other side could not tell an end from an accident. Few of
 * them are ever sent.
 */
static bool channel_must_pass(enum wire_type type)
{
	return type == WIRE_STARTED || type == WIRE_FAILED ||
	       type == WIRE_STOPPED || type == WIRE_DETACHED ||
	       type == WIRE_EXITED || type == WIRE_STOP;
}

static bool channel_can_wait(enum wire_type type)
{
	return type == WIRE_STATS || type == WIRE_SAMPLE ||
	       type == WIRE_RETURNED || type == WIRE_RUNNING ||
	       type == WIRE_CALLERS;
}

bool channel_send_parts(struct channel *channel, enum wire_type type,
			const struct channel_part *parts, size_t count)
{
	static const uint8_t zeros[CHANNEL_ALIGN];
	struct wire_header header = { .type = type };
	size_t limit = channel->out_limit;
	size_t size = 0;
	size_t whole;

	if (channel_must_pass(type))
		limit += CHANNEL_LAST_WORDS;
	for (size_t i = 0; i < count; i++)
		size += parts[i].size;
	header.size = (uint32_t)size;
	whole = sizeof(header) + channel_padded(size);
	if (channel->closed || channel->deaf || size > WIRE_SIZE_MAX ||
	    buffer_used(&channel->out) + whole > limit ||
	    !buffer_reserve(&channel->out, whole))
		return false;
	buffer_append(&channel->out, &header, sizeof(header));
	for (size_t i = 0; i < count; i++)
		buffer_append(&channel->out, parts[i].bytes, parts[i].size);
	buffer_append(&channel->out, zeros, channel_padded(size) - size);
	channel->urgent |= !channel_can_wait(type);
	return true;
}

bool channel_send(struct channel *channel, enum wire_type type,
		  const void *payload, size_t size)
{
	struct channel_part part = { payload, size };

	return channel_send_parts(channel, type, &part, 1);
}

bool channel_pending(const struct channel *channel)
{
	return !channel->closed && !channel->deaf &&
	       buffer_used(&channel->out) > 0;
}

bool channel_is_urgent(const struct channel *channel)
{
	return channel_pending(channel) &&
	       (channel->urgent || buffer_used(&channel->out) >= CHANNEL_KEPT);
}

void channel_hurry(struct channel *channel)
{
	channel->urgent = true;
}

void channel_flush(struct channel *channel)
{
	struct channel_buffer *out = &channel->out;

	while (channel_pending(channel)) {
		ssize_t n = send(channel->fd, out->bytes + out->start,
				 buffer_used(out), MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n < 0) {
			/* what it sent before it went is still to be read */
			channel->deaf = true;
			break;
		}
		out->start += (size_t)n;
	}
	out->start = 0;
	out->end = 0;
	channel->urgent = false;
}

void channel_fill(struct channel *channel)
{
	struct channel_buffer *in = &channel->in;

	while (!channel->closed &&
	       buffer_used(in) <= 2 * (size_t)WIRE_SIZE_MAX) {
		ssize_t n;

		channel->starved = !buffer_reserve(in, CHANNEL_READ);
		if (channel->starved)
			return;
		n = recv(channel->fd, in->bytes + in->end,
			 in->capacity - in->end, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n <= 0)
			channel->closed = true;
		else
			in->end += (size_t)n;
	}
}

bool channel_next(struct channel *channel, enum wire_type *ret_type,
		  const void **ret_payload, size_t *ret_size)
{
	struct channel_buffer *in = &channel->in;
	struct wire_header header;
	size_t whole;

	if (buffer_used(in) < sizeof(header))
		return false;
	memcpy(&header, in->bytes + in->start, sizeof(header));
	if (header.size > WIRE_SIZE_MAX) {
		channel->closed = true;
		return false;
	}
	whole = sizeof(header) + channel_padded(header.size);
	if (buffer_used(in) < whole)
		return false;
	*ret_type = header.type;
	*ret_payload = in->bytes + in->start + sizeof(header);
	*ret_size = header.size;
	in->start += whole;
	return true;
}
