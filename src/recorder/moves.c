/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the memory is follows from the arguments of the call. They are read when
 * it begins; what is sent, too, since other threads may change it later.
 */
#include "recorder/moves.h"

#include <sys/syscall.h>

#include "hunt/trace-stream.h"
#include "recorder/channels.h"
#include "recorder/os.h"
#include "recorder/recorder.h"
#include "recorder/stream.h"

enum memory {
	BUFFER, /* arguments 1 and 2: address and bytes */
	VECTORS, /* 1 and 2: struct iovec, how many */
	MESSAGE, /* 1: struct msghdr */
	MESSAGES, /* 1 and 2: struct mmsghdr, how many */
	TYPED, /* 1 and 2: struct msgbuf, bytes behind its type */
	FIRST, /* 0 and 1: getrandom(2) */
	NOWHERE, /* from descriptor to descriptor */
};

enum { NO_ARGUMENT = 7 };

struct move_call {
	uint16_t number;
	uint8_t receives;
	uint8_t memory; /* enum memory */
	uint8_t offset; /* the argument that is the file's offset */
	uint8_t flags; /* that is the flags of recv(2) and send(2) */
};

#define CALL(name, receives, memory)                                   \
	{                                                              \
		SYS_##name, receives, memory, NO_ARGUMENT, NO_ARGUMENT \
	}
#define CALL_AT(name, receives, memory)                      \
	{                                                    \
		SYS_##name, receives, memory, 3, NO_ARGUMENT \
	}
#define CALL_FLAGS(name, receives, memory, flags)                \
	{                                                        \
		SYS_##name, receives, memory, NO_ARGUMENT, flags \
	}

static const struct move_call calls[] = {
	CALL(read, 1, BUFFER),
	CALL(write, 0, BUFFER),
	CALL_AT(pread64, 1, BUFFER),
	CALL_AT(pwrite64, 0, BUFFER),
	CALL(readv, 1, VECTORS),
	CALL(writev, 0, VECTORS),
	CALL_AT(preadv, 1, VECTORS),
	CALL_AT(pwritev, 0, VECTORS),
	CALL_AT(preadv2, 1, VECTORS),
	CALL_AT(pwritev2, 0, VECTORS),
	CALL(vmsplice, 0, VECTORS),
	CALL_FLAGS(recvfrom, 1, BUFFER, 3),
	CALL_FLAGS(sendto, 0, BUFFER, 3),
	CALL_FLAGS(recvmsg, 1, MESSAGE, 2),
	CALL_FLAGS(sendmsg, 0, MESSAGE, 2),
	CALL_FLAGS(recvmmsg, 1, MESSAGES, 3),
	CALL_FLAGS(sendmmsg, 0, MESSAGES, 3),
	CALL(msgrcv, 1, TYPED),
	CALL(msgsnd, 0, TYPED),
	CALL(mq_timedreceive, 1, BUFFER),
	CALL(mq_timedsend, 0, BUFFER),
	CALL(getrandom, 1, FIRST),
	CALL(splice, 1, NOWHERE),
	CALL(tee, 1, NOWHERE),
	CALL(sendfile, 1, NOWHERE),
	CALL(copy_file_range, 1, NOWHERE),
};

/* recv(2)'s, and what it receives then is not the next bytes of the channel. */
enum { FLAG_OUT_OF_BAND = 1, FLAG_PEEK = 2, FLAG_ERRORS = 0x2000 };
/* msgrcv(2)'s: any message, which stays in the queue. */
enum { FLAG_COPY = 040000 };

/* As the kernel has them (struct user_msghdr and mmsghdr of <linux/socket.h>). */
struct vector {
	uint64_t address, size;
};

struct message {
	uint64_t name, name_size;
	uint64_t vectors, count;
	uint64_t control, control_size;
	uint64_t flags;
};

struct counted_message {
	struct message message;
	uint32_t size, reserved;
};

static const struct move_call *find_call(uint32_t number)
{
	for (uint32_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (calls[i].number == number)
			return &calls[i];
	}
	return NULL;
}

static const void *at(uint64_t address)
{
	return (const void *)(uintptr_t)address;
}

static bool get(const struct moves_host *host, uint64_t address, void *to,
		uint64_t size)
{
	if (!host->readable(address, size))
		return false;
	os_copy(to, at(address), size);
	return true;
}

/* The part's first bytes, now. */
static void fill(const struct moves_host *host, struct stream_part *part)
{
	part->value = 0;
	get(host, part->address, &part->value,
	    part->size < sizeof(part->value) ? part->size
					     : sizeof(part->value));
}

static bool has_room(struct move *move)
{
	struct stream_part *parts;

	if (move->count < move->room)
		return true;
	if (move->room >= MOVE_PARTS_ALL)
		return false;
	move->room = move->room ? 2 * move->room : 8;
	parts = os_alloc(move->room * sizeof(*parts));
	if (move->parts) {
		os_copy(parts, move->parts, move->count * sizeof(*parts));
		os_free(move->parts);
	}
	move->parts = parts;
	return true;
}

static void add_part(struct move *move, uint64_t address, uint64_t size)
{
	if (size > 0 && has_room(move))
		move->parts[move->count++] =
			(struct stream_part){ .address = address,
					      .size = size,
					      .message = move->messages };
}

static void add_vectors(struct move *move, const struct moves_host *host,
			uint64_t address, uint64_t count)
{
	struct vector vector;

	for (uint64_t i = 0; i < count && i < STREAM_PARTS_MAX; i++) {
		if (!get(host, address + i * sizeof(vector), &vector,
			 sizeof(vector)))
			return;
		add_part(move, vector.address, vector.size);
	}
}

static void add_message(struct move *move, const struct moves_host *host,
			uint64_t address)
{
	struct message message;

	if (get(host, address, &message, sizeof(message)))
		add_vectors(move, host, message.vectors, message.count);
	move->messages++;
}

static void add_parts(struct move *move, const struct moves_host *host)
{
	const uint64_t *arguments = move->arguments;

	switch ((enum memory)move->call->memory) {
	case BUFFER:
		add_part(move, arguments[1], arguments[2]);
		break;
	case VECTORS:
		add_vectors(move, host, arguments[1], arguments[2]);
		break;
	case MESSAGE:
		add_message(move, host, arguments[1]);
		break;
	case MESSAGES:
		for (uint64_t i = 0;
		     i < (uint32_t)arguments[2] && i < STREAM_PARTS_MAX; i++)
			add_message(move, host,
				    arguments[1] +
					    i * sizeof(struct counted_message));
		break;
	case TYPED:
		add_part(move, arguments[1] + sizeof(uint64_t), arguments[2]);
		break;
	case FIRST:
		add_part(move, arguments[0], arguments[1]);
		break;
	case NOWHERE:
		break;
	}
}

/* A queue, whose id is no descriptor, or what the descriptor is. */
static bool identify(struct recorder *recorder, const struct move *move,
		     const struct moves_host *host, const struct move_end *end,
		     struct trace_channel *ret)
{
	bool found;

	if (move->call->memory == TYPED) {
		*ret = (struct trace_channel){ .kind = TRACE_QUEUE_SYSV,
					       .where = { (uint64_t)end->fd },
					       .detail = CHANNEL_ALL };
		return true;
	}
	found = host->identify(&recorder->stream.channels, end->fd,
			       end->receives, ret);
	if (move->number == SYS_mq_timedsend ||
	    move->number == SYS_mq_timedreceive) {
		ret->kind = TRACE_QUEUE_POSIX;
		ret->detail = CHANNEL_ALL;
	}
	return found;
}

static uint32_t priority_sent(const struct move *move)
{
	return (uint32_t)move->arguments[3];
}

static void begin_end(struct recorder *recorder, struct move *move,
		      const struct moves_host *host, struct move_end *end)
{
	struct channels *channels = &recorder->stream.channels;
	struct trace_channel key = { 0 };

	if (end->fd < 0 || !identify(recorder, move, host, end, &key))
		return;
	end->channel = channels_find(channels, &key);
	if (!end->channel)
		return;
	end->entered = channel_enter(channel_at(channels, end->channel),
				     end->receives);
	/* who receives it may return before this call does */
	if (move->number == SYS_mq_timedsend)
		channel_note_detail(channel_at(channels, end->channel),
				    priority_sent(move));
}

/* An argument that points to an offset, which the call changes. */
static void offset_by(struct move_end *end, const struct moves_host *host,
		      uint64_t pointer)
{
	end->has_offset = pointer != 0 &&
			  get(host, pointer, &end->offset, sizeof(end->offset));
}

static void set_both_ends(struct move *move, const struct moves_host *host)
{
	const uint64_t *arguments = move->arguments;
	struct move_end *from = &move->ends[0], *to = &move->ends[1];
	bool is_file_first = move->number == SYS_sendfile;
	bool has_offsets = move->number == SYS_splice ||
			   move->number == SYS_copy_file_range;

	from->fd = (int)arguments[is_file_first ? 1 : 0];
	to->fd = (int)arguments[is_file_first ? 0 : has_offsets ? 2 : 1];
	from->peeks = move->number == SYS_tee;
	if (has_offsets) {
		offset_by(from, host, arguments[1]);
		offset_by(to, host, arguments[3]);
	} else if (is_file_first) {
		offset_by(from, host, arguments[2]);
	}
}

static void set_ends(struct move *move, const struct moves_host *host)
{
	const struct move_call *call = move->call;
	const uint64_t *arguments = move->arguments;
	struct move_end *end = &move->ends[0];
	uint64_t flags = 0;

	move->ends[0] =
		(struct move_end){ .fd = -1, .receives = call->receives };
	move->ends[1] = (struct move_end){ .fd = -1 };
	if (call->memory == NOWHERE) {
		set_both_ends(move, host);
		return;
	}
	if (call->flags != NO_ARGUMENT)
		flags = arguments[call->flags];
	if (call->memory != FIRST && !(flags & FLAG_OUT_OF_BAND) &&
	    !(flags & FLAG_ERRORS) &&
	    !(move->number == SYS_msgrcv && arguments[4] & FLAG_COPY))
		end->fd = (int)arguments[0];
	end->peeks = call->receives && flags & FLAG_PEEK;
	if (call->offset != NO_ARGUMENT) {
		end->offset = arguments[call->offset];
		/* preadv2(2): -1 is the descriptor's own position */
		end->has_offset = end->offset != UINT64_MAX;
	}
}

void moves_begin(struct recorder *recorder, struct move *move,
		 const struct moves_host *host, uint32_t number,
		 const uint64_t arguments[MOVE_ARGUMENTS])
{
	move->call = recorder->stream.on ? find_call(number) : NULL;
	if (!move->call)
		return;
	move->number = number;
	move->count = 0;
	move->messages = 0;
	os_copy(move->arguments, arguments, sizeof(move->arguments));
	set_ends(move, host);
	add_parts(move, host);
	for (uint32_t i = 0; !move->call->receives && i < move->count; i++)
		fill(host, &move->parts[i]);
	begin_end(recorder, move, host, &move->ends[0]);
	begin_end(recorder, move, host, &move->ends[1]);
}

/* What tells the messages of a queue apart; false: it is not known. */
static bool get_detail(const struct move *move, const struct moves_host *host,
		       const struct channel *queue, uint64_t *ret)
{
	const uint64_t *arguments = move->arguments;
	uint32_t priority;

	if (queue->raw.kind == TRACE_QUEUE_SYSV)
		return get(host, arguments[1], ret, sizeof(*ret));
	if (move->number == SYS_mq_timedsend)
		*ret = priority_sent(move);
	else if (arguments[3] == 0)
		return channel_detail(queue, ret);
	else if (get(host, arguments[3], &priority, sizeof(priority)))
		*ret = priority;
	else
		return false;
	return true;
}

/*
 * Of a queue, the messages of one type or priority are in order: they are a channel
 * of their own. NULL: it is not known.
 */
static struct channel *channel_of(struct recorder *recorder,
				  const struct move *move,
				  const struct moves_host *host,
				  const struct move_end *end)
{
	struct channels *channels = &recorder->stream.channels;
	struct channel *channel =
		end->channel ? channel_at(channels, end->channel) : NULL;
	struct trace_channel key;
	uint32_t id;

	if (!channel || (channel->raw.kind != TRACE_QUEUE_SYSV &&
			 channel->raw.kind != TRACE_QUEUE_POSIX))
		return channel;
	key = channel->raw;
	if (!get_detail(move, host, channel, &key.detail))
		return NULL;
	id = channels_find(channels, &key);
	return id ? channel_at(channels, id) : NULL;
}

/* In the file, before the bytes were moved. */
static uint64_t file_position(const struct moves_host *host,
			      const struct move_end *end, uint64_t bytes)
{
	uint64_t now;

	if (end->has_offset)
		return end->offset;
	return host->position(end->fd, &now) && now >= bytes ? now - bytes : 0;
}

/* What is behind the first bytes of a part was not moved. */
static void cut_part(struct stream_part *part, uint64_t bytes)
{
	if (part->size <= bytes)
		return;
	part->size = bytes;
	if (bytes < sizeof(part->value))
		part->value &= ((uint64_t)1 << 8 * bytes) - 1;
}

/* The parts of a message of that many bytes; parts behind its end are cut off. */
static uint32_t cut_parts(struct move *move, const struct moves_host *host,
			  uint32_t first, uint32_t message, uint64_t bytes)
{
	uint32_t i = first;

	for (; i < move->count && move->parts[i].message == message; i++) {
		struct stream_part *part = &move->parts[i];

		cut_part(part, bytes);
		bytes -= part->size;
		if (move->call->receives && part->size > 0)
			fill(host, part);
		if (part->size == 0)
			break;
	}
	return i - first;
}

/* msgsnd(2) and mq_send(3) return 0. */
static uint64_t bytes_of(const struct move *move, int64_t result)
{
	if (result < 0)
		return 0;
	if (move->number == SYS_msgsnd || move->number == SYS_mq_timedsend)
		return move->arguments[2];
	return (uint64_t)result;
}

/* The bytes of message i, as sendmmsg(2) and recvmmsg(2) say; false: none. */
static bool size_of_message(const struct move *move,
			    const struct moves_host *host, uint32_t i,
			    uint64_t *ret)
{
	struct counted_message message;

	if (i >= move->messages ||
	    !get(host, move->arguments[1] + i * sizeof(message), &message,
		 sizeof(message)))
		return false;
	*ret = message.size;
	return true;
}

/* What a message of that many bytes takes up in a channel, or bytes do. */
static uint64_t amount_of(const struct move_end *end,
			  const struct channel *channel, uint64_t bytes)
{
	if (end->peeks)
		return 0;
	return channel_has_messages(channel->raw.kind) ? 1 : bytes;
}

static uint64_t amount_of_all(const struct move *move,
			      const struct moves_host *host,
			      const struct move_end *end,
			      const struct channel *channel, int64_t result)
{
	uint64_t amount = 0, bytes;

	if (move->call->memory != MESSAGES)
		return amount_of(end, channel, bytes_of(move, result));
	for (uint32_t i = 0;
	     i < result && size_of_message(move, host, i, &bytes); i++)
		amount += amount_of(end, channel, bytes);
	return amount;
}

struct emitted {
	const struct move_end *end;
	struct channel *channel; /* NULL: not known */
	uint64_t position; /* in it */
	bool unsure;
	uint64_t bytes;
	uint32_t first, count; /* parts */
};

static bool leave(const struct recorder *recorder, const struct move_end *end)
{
	return !end->channel ||
	       channel_leave(channel_at(&recorder->stream.channels,
					end->channel),
			     end->receives, end->entered);
}

/*
 * The call is over at this end. It counts what it moved before it leaves: a call
 * of another process that begins after that counts later, as it moved later.
 */
static struct emitted end_move(struct recorder *recorder,
			       const struct move *move,
			       const struct moves_host *host,
			       const struct move_end *end, int64_t result)
{
	struct emitted emitted = { .end = end,
				   .bytes = bytes_of(move, result) };

	/* a second end has no messages of no bytes */
	if (end == &move->ends[0] ? result >= 0 : result > 0)
		emitted.channel = channel_of(recorder, move, host, end);
	if (emitted.channel && emitted.channel->raw.kind == TRACE_FILE)
		emitted.position = file_position(host, end, emitted.bytes);
	else if (emitted.channel)
		emitted.position =
			channel_move(emitted.channel, end->receives,
				     amount_of_all(move, host, end,
						   emitted.channel, result));
	emitted.unsure = leave(recorder, end);
	return emitted;
}

static void emit(struct recorder *recorder, struct thread *thread,
		 const struct move *move, const struct emitted *emitted)
{
	const struct move_end *end = emitted->end;
	uint64_t numbers[] = {
		move->number,	(uint64_t)(int64_t)end->fd + 1,	   0, 0,
		emitted->bytes, end->receives ? TRACE_RECEIVED : 0
	};

	if (emitted->unsure)
		numbers[5] |= TRACE_MOVED_UNSURE;
	if (end->peeks)
		numbers[5] |= TRACE_MOVED_PEEKED;
	if (emitted->channel) {
		numbers[2] = emitted->channel->raw.id;
		numbers[3] = emitted->position;
		channel_write(emitted->channel, &recorder->writer);
	}
	stream_moved(recorder, thread, numbers, move->parts + emitted->first,
		     emitted->count);
}

/* sendmmsg(2) and recvmmsg(2) say how many messages there were. */
static void emit_messages(struct recorder *recorder, struct thread *thread,
			  struct move *move, const struct moves_host *host,
			  struct emitted emitted, int64_t messages)
{
	for (uint32_t i = 0;
	     i < messages && size_of_message(move, host, i, &emitted.bytes);
	     i++) {
		while (emitted.first < move->count &&
		       move->parts[emitted.first].message < i)
			emitted.first++;
		emitted.count =
			cut_parts(move, host, emitted.first, i, emitted.bytes);
		emit(recorder, thread, move, &emitted);
		if (emitted.channel)
			emitted.position += amount_of(
				emitted.end, emitted.channel, emitted.bytes);
	}
}

static void emit_one(struct recorder *recorder, struct thread *thread,
		     struct move *move, const struct moves_host *host,
		     struct emitted emitted)
{
	const struct move_end *end = emitted.end;
	const struct channels *channels = &recorder->stream.channels;
	bool has_messages =
		end->channel &&
		channel_has_messages(
			channel_at(channels, end->channel)->raw.kind);

	if (emitted.bytes == 0 && !has_messages)
		return;
	if (move->call->memory != NOWHERE)
		emitted.count = cut_parts(move, host, 0, 0, emitted.bytes);
	emit(recorder, thread, move, &emitted);
}

void moves_end(struct recorder *recorder, struct thread *thread,
	       struct move *move, const struct moves_host *host, int64_t result)
{
	struct emitted emitted[2];

	if (!move->call)
		return;
	for (int i = 0; i < 2; i++)
		emitted[i] =
			end_move(recorder, move, host, &move->ends[i], result);
	if (result >= 0 && move->call->memory == MESSAGES)
		emit_messages(recorder, thread, move, host, emitted[0], result);
	else if (result >= 0)
		emit_one(recorder, thread, move, host, emitted[0]);
	if (result > 0 && move->call->memory == NOWHERE)
		emit_one(recorder, thread, move, host, emitted[1]);
	move->call = NULL;
}

void moves_wrote(struct recorder *recorder, struct thread *thread,
		 const struct move *move, const struct moves_host *host,
		 uint32_t number, uint64_t address, uint64_t size)
{
	const uint64_t numbers[] = { number, 0, 0, 0, size, TRACE_RECEIVED };
	struct stream_part part = { .address = address, .size = size };

	if (!recorder->stream.on || move->call || size == 0)
		return;
	fill(host, &part);
	stream_moved(recorder, thread, numbers, &part, 1);
}

void move_deinit(struct move *move)
{
	os_free(move->parts);
	*move = (struct move){ 0 };
}
