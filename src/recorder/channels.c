/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Several processes, and in one of them one thread, change the counts at a time.
 */
#include "recorder/channels.h"

#include "hunt/trace-stream.h"
#include "recorder/os.h"
#include "recorder/writer.h"

enum { PROBES = 64, PATH = 4096 };

#define DETAIL_DIFFERS UINT64_MAX

/* Of a place that says what a socket is connected to. */
enum { KIND_SOCKET = 1000 };

static struct channel_counts *map_counts(const char *folder)
{
	static const char name[] = "/channels";
	const size_t size = CHANNELS_SHARED * sizeof(struct channel_counts);
	size_t length = os_length(folder);
	char path[PATH];
	void *shared = NULL;

	if (length + sizeof(name) <= sizeof(path)) {
		os_copy(path, folder, length);
		os_copy(path + length, name, sizeof(name));
		shared = os_map_file(path, size);
	}
	return shared ? shared : os_map(size);
}

void channels_init(struct channels *channels, const char *folder)
{
	channels->shared = map_counts(folder);
	records_init(&channels->all, sizeof(struct channel));
	table_init(&channels->by_key);
}

void channels_deinit(struct channels *channels)
{
	if (!channels->shared)
		return;
	os_unmap(channels->shared,
		 CHANNELS_SHARED * sizeof(struct channel_counts));
	records_deinit(&channels->all);
	table_deinit(&channels->by_key);
	channels->shared = NULL;
}

void channels_forget_written(struct channels *channels)
{
	for (uint32_t id = 1; id <= channels->all.count; id++)
		channel_at(channels, id)->written = false;
}

static uint64_t mix(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * 0x9e3779b97f4a7c15u;
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
	return hash ^ hash >> 29;
}

static uint64_t key_of(const struct trace_channel *key)
{
	uint64_t hash = mix(mix(0, key->kind), key->where[0]);

	hash = mix(mix(hash, key->where[1]), key->detail);
	return hash ? hash : 1;
}

/* The place of a key, which it takes; NULL: no room. */
static struct channel_counts *place_of(struct channel_counts *shared,
				       uint64_t key)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		struct channel_counts *at =
			&shared[(key + i) % CHANNELS_SHARED];
		uint64_t found = 0;

		if (__atomic_compare_exchange_n(&at->key, &found, key, false,
						__ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE) ||
		    found == key)
			return at;
	}
	return NULL;
}

static bool is_same(const struct trace_channel *a,
		    const struct trace_channel *b)
{
	return a->kind == b->kind && a->where[0] == b->where[0] &&
	       a->where[1] == b->where[1] && a->detail == b->detail;
}

uint32_t channels_find(struct channels *channels,
		       const struct trace_channel *key)
{
	uint64_t full = key_of(key);
	uint32_t hash = (uint32_t)full, at = 0, id;
	struct channel *channel;

	while ((id = table_next(&channels->by_key, hash, &at)) != 0) {
		if (is_same(&channel_at(channels, id)->raw, key))
			return id;
	}
	id = records_add(&channels->all);
	if (id == 0)
		return 0;
	channel = channel_at(channels, id);
	channel->raw = *key;
	channel->raw.id = id;
	channel->counts = place_of(channels->shared, full);
	table_add(&channels->by_key, hash, id);
	return id;
}

uint32_t channel_enter(struct channel *channel, bool receives)
{
	struct channel_counts *counts = channel->counts;
	uint32_t entered;

	if (!counts)
		return 0;
	entered = __atomic_load_n(&counts->met[receives], __ATOMIC_ACQUIRE);
	/* it has met itself, too */
	if (__atomic_fetch_add(&counts->inside[receives], 1, __ATOMIC_ACQ_REL) >
	    0)
		__atomic_fetch_add(&counts->met[receives], 1, __ATOMIC_ACQ_REL);
	return entered;
}

bool channel_leave(struct channel *channel, bool receives, uint32_t entered)
{
	struct channel_counts *counts = channel->counts;

	if (!counts)
		return true;
	__atomic_fetch_sub(&counts->inside[receives], 1, __ATOMIC_ACQ_REL);
	return __atomic_load_n(&counts->met[receives], __ATOMIC_ACQUIRE) !=
	       entered;
}

uint64_t channel_move(struct channel *channel, bool receives, uint64_t amount)
{
	if (!channel->counts)
		return 0;
	return __atomic_fetch_add(&channel->counts->moved[receives], amount,
				  __ATOMIC_ACQ_REL);
}

void channel_note_detail(struct channel *queue, uint64_t detail)
{
	uint64_t none = 0;

	if (!queue->counts ||
	    __atomic_compare_exchange_n(&queue->counts->detail, &none,
					detail + 1, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE) ||
	    none == detail + 1)
		return;
	__atomic_store_n(&queue->counts->detail, DETAIL_DIFFERS,
			 __ATOMIC_RELEASE);
}

bool channel_detail(const struct channel *queue, uint64_t *ret)
{
	uint64_t detail;

	if (!queue->counts)
		return false;
	detail = __atomic_load_n(&queue->counts->detail, __ATOMIC_ACQUIRE);
	if (detail == 0 || detail == DETAIL_DIFFERS)
		return false;
	*ret = detail - 1;
	return true;
}

static struct channel_counts *socket_of(struct channels *channels,
					uint64_t inode)
{
	const struct trace_channel key = { .kind = KIND_SOCKET,
					   .where = { inode } };

	return place_of(channels->shared, key_of(&key));
}

static void connect_to(struct channels *channels, uint64_t from, uint64_t to)
{
	struct channel_counts *counts = socket_of(channels, from);

	if (counts)
		__atomic_store_n(&counts->other, to, __ATOMIC_RELEASE);
}

void channels_connect(struct channels *channels, uint64_t a, uint64_t b)
{
	connect_to(channels, a, b);
	connect_to(channels, b, a);
}

uint64_t channels_connected(struct channels *channels, uint64_t inode)
{
	const struct channel_counts *counts = socket_of(channels, inode);

	return counts ? __atomic_load_n(&counts->other, __ATOMIC_ACQUIRE) : 0;
}

void channel_write(struct channel *channel, struct writer *writer)
{
	if (channel->written)
		return;
	channel->written = true;
	writer_chunk(writer, TRACE_CHANNEL, &channel->raw, sizeof(channel->raw),
		     NULL, 0);
}
