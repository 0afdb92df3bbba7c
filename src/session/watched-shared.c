/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the processes that are watched share; see watched.h.
 */
#include "session/watched.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "sys/identity.h"
#include "sys/mapping.h"

/* A message has room for no more; further mappings are not shared for us. */
enum { WATCHED_SHARED_MAX = 20000, WATCHED_WRITABLE_MAX = 1000 };

/* /dev/zero and memfd mappings have an inode too; private ones are our own. */
static bool mapping_is_shared(const struct mapping *mapping)
{
	return (mapping->access & MAPPING_SHARED) && mapping->inode != 0 &&
	       (mapping->access & (MAPPING_READ | MAPPING_WRITE));
}

static struct wire_shared mapping_place(const struct mapping *mapping)
{
	return (struct wire_shared){
		.start = mapping->start,
		.end = mapping->end,
		.offset = mapping->offset,
		.device = mapping->device,
		.inode = mapping->inode,
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
			   const struct mapping *mapping)
{
	const struct shared_file file = { mapping->device, mapping->inode };
	bool written = mapping->access & MAPPING_WRITE;

	if (shared_is_writable(watched, &file))
		return true;
	/* with too many, or no memory, those who only read it do without */
	if (written && watched->writable.count < WATCHED_WRITABLE_MAX &&
	    !vec_push(&watched->writable, &file))
		log_debug(LOG_DETECT, "a shared mapping is not kept");
	return written;
}

/* The message on what a process shares, being made. */
struct shared_message {
	struct watched *watched;
	struct vec *bytes;
	struct wire_shared_head head;
	bool good; /* there was memory for it */
};

static bool shared_add(void *data, const struct mapping *mapping)
{
	struct shared_message *message = data;
	struct wire_shared shared = mapping_place(mapping);

	if (!mapping_is_shared(mapping) ||
	    !shared_changes(message->watched, mapping))
		return true;
	message->good = append_bytes(message->bytes, &shared, sizeof(shared));
	message->head.count++;
	return message->good && message->head.count < WATCHED_SHARED_MAX;
}

/* Of a process that has ended: nothing. */
static struct error *shared_read(struct watched *watched, int pid,
				 struct vec *bytes)
{
	struct shared_message message = { .watched = watched,
					  .bytes = bytes,
					  .head = { .pid = pid } };
	struct mappings mappings;
	struct error *err;

	message.good = append_bytes(bytes, &message.head, sizeof(message.head));
	mappings_init(&mappings, pid);
	err = mappings_walk(&mappings, MAPPING_SHARED, shared_add, &message);
	mappings_deinit(&mappings);
	if (err && identity_live_thread(pid) == 0) {
		error_free(err);
		err = NULL;
		vec_clear(bytes);
	} else if (!err && !message.good) {
		err = error_nomem;
	}
	if (bytes->count > 0)
		*(struct wire_shared_head *)bytes->items = message.head;
	return err;
}

struct error *watched_shared(struct watched *watched,
			     struct watched_process *process, struct vec *ret)
{
	size_t writable = watched->writable.count;
	struct error *err;
	uint64_t told;

	if (!watched_timer_reads(&process->shared, process->pid)) {
		watched_timer_set(&process->shared, false);
		return NULL;
	}
	err = shared_read(watched, process->pid, ret);
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
	struct mappings mappings;
	struct mapping mapping;
	struct error *err;
	bool found = false;

	*ret = (struct wire_shared){ .inode = 0 };
	mappings_init(&mappings, pid);
	err = mappings_find(&mappings, address, &mapping, &found);
	mappings_deinit(&mappings);
	error_free(err);
	if (err || !found || mapping.start > address ||
	    !mapping_is_shared(&mapping))
		return !err;
	*ret = mapping_place(&mapping);
	ret->offset += address - mapping.start;
	return true;
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
