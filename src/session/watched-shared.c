/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the processes that are watched share; see watched.h.
 */
#include "session/watched.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "image/maps.h"

/* A message has room for no more; further mappings are not shared for us. */
enum { WATCHED_SHARED_MAX = 20000, WATCHED_WRITABLE_MAX = 1000 };

/* /dev/zero and memfd mappings have an inode too; private ones are our own. */
static bool map_is_shared(const struct map_entry *entry)
{
	return entry->shared && entry->inode != 0 &&
	       (entry->read || entry->write);
}

static struct wire_shared map_place(const struct map_entry *entry)
{
	return (struct wire_shared){
		.start = entry->start,
		.end = entry->end,
		.offset = entry->offset,
		.device = (uint64_t)entry->dev_major << 32 | entry->dev_minor,
		.inode = entry->inode,
	};
}

static bool append_bytes(struct vec *bytes, const void *data, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!vec_push(bytes, (const uint8_t *)data + i))
			return false;
	}
	return true;
}

static bool shared_is_writable(const struct watched *watched,
			       const struct shared_file *file)
{
	for (size_t i = 0; i < watched->writable.count; i++) {
		const struct shared_file *known = vec_at(&watched->writable, i);

		if (known->inode == file->inode &&
		    known->device == file->device)
			return true;
	}
	return false;
}

/*
 * Can what is mapped there change under those who have it mapped? Whoever has
 * it for reading only is told so when he is looked at after who writes to it.
 */
static bool shared_changes(struct watched *watched,
			   const struct map_entry *entry)
{
	const struct wire_shared place = map_place(entry);
	const struct shared_file file = { place.device, place.inode };

	if (shared_is_writable(watched, &file))
		return true;
	/* with too many, or no memory, those who only read it do without */
	if (entry->write && watched->writable.count < WATCHED_WRITABLE_MAX &&
	    !vec_push(&watched->writable, &file))
		log_debug(LOG_DETECT, "a shared mapping is not kept");
	return entry->write;
}

static bool shared_message(struct watched *watched, int pid,
			   const struct maps *maps, struct vec *bytes)
{
	struct wire_shared_head head = { .pid = pid };
	bool done = append_bytes(bytes, &head, sizeof(head));

	for (size_t i = 0;
	     done && i < maps->entries.count && head.count < WATCHED_SHARED_MAX;
	     i++) {
		const struct map_entry *entry = vec_at(&maps->entries, i);
		struct wire_shared shared = map_place(entry);

		if (!map_is_shared(entry) || !shared_changes(watched, entry))
			continue;
		done = append_bytes(bytes, &shared, sizeof(shared));
		head.count++;
	}
	if (done)
		*(struct wire_shared_head *)bytes->items = head;
	return done;
}

struct error *watched_shared(struct watched *watched,
			     struct watched_process *process, struct vec *ret)
{
	size_t writable = watched->writable.count;
	struct maps maps;
	struct error *err;
	uint64_t told;

	if (!watched_timer_reads(&process->shared, process->pid)) {
		watched_timer_set(&process->shared, false);
		return NULL;
	}
	maps_init(&maps);
	err = maps_read(process->pid, &maps);
	if (!err && !shared_message(watched, process->pid, &maps, ret))
		err = error_nomem;
	maps_deinit(&maps);
	if (err == error_gone)
		err = NULL;
	told = hash_bytes(ret->items, ret->count);
	process->shares = ret->count > sizeof(struct wire_shared_head);
	watched_timer_set(&process->shared, told != process->told);
	/* what others have mapped for reading counts from now on */
	for (size_t i = 0; watched->writable.count != writable &&
			   i < watched->processes.count;
	     i++) {
		struct watched_process *other = vec_at(&watched->processes, i);

		if (other != process)
			other->shared.read_ns = 0;
	}
	if (err || told == process->told)
		vec_clear(ret);
	else
		process->told = told;
	return err;
}

/* What is shared at the address, from there on; false: the process has ended. */
static bool shared_at(int pid, uint64_t address, struct wire_shared *ret)
{
	const struct map_entry *entry;
	struct maps maps;
	struct error *err;

	*ret = (struct wire_shared){ .inode = 0 };
	maps_init(&maps);
	err = maps_read(pid, &maps);
	entry = err ? NULL : maps_find(&maps, address);
	if (entry && map_is_shared(entry)) {
		*ret = map_place(entry);
		ret->offset += address - entry->start;
	}
	maps_deinit(&maps);
	error_free(err);
	return !err;
}

bool watched_same_memory(int pid, uint64_t address, int other_pid,
			 uint64_t other_address)
{
	struct wire_shared one, other;

	if (!shared_at(pid, address, &one) ||
	    !shared_at(other_pid, other_address, &other))
		return true;
	return one.inode != 0 && one.inode == other.inode &&
	       one.device == other.device && one.offset == other.offset;
}
