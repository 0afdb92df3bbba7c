/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A database of ours in one file, by SQLite: opening, transactions, failures.
 * Statements are in store/query.h.
 *
 * A file belongs to racewatch if the application id in its header says so. No
 * other file is written to. Transactions use SQLite's rollback journal, PATH
 * with "-journal" appended: it needs no shared memory, so it works on network
 * file systems whose locks work. What is committed survives SIGKILL and a power
 * failure; what is not committed is undone by whoever opens the file next.
 *
 * SQLite uses locks of processes (fcntl(2)). To close any descriptor of the
 * file releases all of them. So nobody may close one during a transaction. A
 * forked child must not use a database that its parent opened.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct store;
struct strbuf;

/* Both numbers are at fixed places in the file: see file(1). */
enum store_application {
	STORE_STATE = 0x52577374, /* "RWst", racewatch-state(5) */
	STORE_SWEEP = 0x52577377, /* "RWsw", racewatch-sweep(1) */
	STORE_HUNT = 0x52577368, /* "RWsh", racewatch-hunt(1) */
};

/* What one sort of database holds. */
struct store_kind {
	const char *name; /* in messages: "a state of racewatch" */
	enum store_application application;
	uint32_t version; /* of the schema; a newer one is refused */
	const char *schema; /* SQL that creates the tables */
	/* keep the journal's disk space between transactions */
	bool keep_journal;
};

/* What is at a path. */
enum store_content {
	STORE_NOTHING, /* no file, or an empty one */
	STORE_DATABASE, /* of SQLite, maybe not ours */
	STORE_OTHER, /* another regular file */
};

/*
 * Look at the first bytes. ERROR_FORMAT: this is no regular file. Not while
 * this process has the file open as a database, as said above.
 */
struct error *store_look(const char *path, enum store_content *ret);

/*
 * Open the file for reading and writing. If there is none, or an empty one, it
 * is created with its tables. ERROR_FORMAT: it is not a database, not of this
 * kind, of a newer version, or corrupt; it is then as it was. All errors of this
 * module and of queries name the file.
 */
struct error *store_open(const char *path, const struct store_kind *kind,
			 struct store **ret);

/*
 * Open the file for reading: it may be read-only. *ret is NULL if there is
 * nothing in it, or no file. Other errors are those of store_open().
 */
struct error *store_open_existing(const char *path,
				  const struct store_kind *kind,
				  struct store **ret);

/* Undo a transaction that was not ended. NULL is fine. */
void store_close(struct store *store);

/*
 * Begin to read: all queries up to store_end() see one state of the file. Or
 * begin to write, which one process does at a time: others are waited for, a
 * minute at most.
 */
struct error *store_begin_read(struct store *store);
struct error *store_begin_write(struct store *store);

/*
 * Commit if err is NULL, else undo. Returns err, or the failure to commit: then
 * none of the transaction is in the file, or, if only the folder could not be
 * synced, all of it.
 */
struct error *store_end(struct store *store, struct error *err);

/* Run statements that return no rows. */
struct error *store_execute(struct store *store, const char *sql);

/*
 * Write a consistent copy, also while others write. to must not exist or be
 * empty.
 */
struct error *store_copy(struct store *store, const char *to);

/* "SQLite 3.40.1" */
void store_add_version(struct strbuf *out);

#endif
