/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A store that many processes, maybe on many machines, work on together: the
 * command that all of them run, and numbered pieces of work that one process has
 * at a time.
 *
 * A piece is claimed by a lock on a byte of the file that no file reaches
 * (fcntl(2), "open file description locks"). The kernel releases the lock when
 * the process ends, so that nobody waits for a dead one.
 */
#ifndef STORE_SHARED_H
#define STORE_SHARED_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct error;
struct store;

/* A table for the schema of a store that is of one command: its words. */
#define SHARED_COMMAND_TABLE     \
	"CREATE TABLE command (" \
	" place INTEGER PRIMARY KEY, word TEXT NOT NULL) STRICT;"

/*
 * Write the command, which NULL ends, if the store has none. ERROR_USAGE: the
 * store is of another command; the message says to use another `elsewhere'. In
 * a transaction of the caller that writes.
 */
struct error *shared_keep_command(struct store *store, char *const *command,
				  const char *elsewhere);

/* This process in a store: its machine's name and its number. */
struct shared_worker {
	char name[HOST_NAME_MAX + 24];
};
void shared_worker_init(struct shared_worker *worker);

/*
 * Lock a piece of work, by a descriptor of the file that is open for writing.
 * *ret_locked is false if another descriptor has it. To close fd unlocks it.
 */
struct error *shared_lock(int fd, uint64_t piece, bool *ret_locked);
struct error *shared_unlock(int fd, uint64_t piece);

#endif
