/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that several watched processes share (mmap(2), MAP_SHARED), each at an
 * address of its own. The same bytes have the same device and inode (as in
 * /proc/PID/maps, also for anonymous shared memory) and the same offset. The
 * front end sends what a process has mapped, since the tracer parses no files.
 * That may be out of date, so the front end checks a conflict between two
 * processes again.
 */
#ifndef TRACEE_SHARING_H
#define TRACEE_SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct addrspace;
struct wire_shared;

/* Where bytes are, whichever process looks at them. */
struct shared_place {
	uint64_t device, inode, offset;
};

/* These are all that the space shares; by address. False: out of memory. */
bool sharing_set(struct addrspace *space, const struct wire_shared *ranges,
		 size_t count);

/* A fork child maps what its parent does. False: out of memory. */
bool sharing_inherit(struct addrspace *child, const struct addrspace *parent);

/* The place of [address, +size) of the space; false: not shared memory. */
bool sharing_place(const struct addrspace *space, uint64_t address,
		   uint32_t size, struct shared_place *ret);

/* Where the space has the bytes at that place; false: nowhere. */
bool sharing_address(const struct addrspace *space,
		     const struct shared_place *place, uint32_t size,
		     uint64_t *ret);

/*
 * Has `other` at most an eighth of what the space shares at another address, and
 * the other way round? It may have nothing of it at all.
 */
bool sharing_is_alike(const struct addrspace *space,
		      const struct addrspace *other);

/*
 * Where `other` has the bytes that `space` has at [address, +size); the same
 * address if both are one. False: nowhere.
 */
bool sharing_translate(const struct addrspace *space, uint64_t address,
		       uint32_t size, const struct addrspace *other,
		       uint64_t *ret);

#endif
