/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the guardian must restore when the tracer dies: every breakpoint in any
 * text, with the original bytes. The tracer writes the table, in memory shared
 * with the guardian, which reads it when the tracer is dead.
 *
 * The tracer may die between any two stores. So an entry is written before its
 * int3 and removed after the text was restored; its length is stored last; and
 * the text is restored only where it has an int3.
 */
#ifndef GUARDIAN_GUARDTABLE_H
#define GUARDIAN_GUARDTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "guardian/deputy.h"
#include "sys/deathwatch.h"
#include "x86/access.h"

enum {
	/* not less than GOVERNOR_TEXT_MAX (schedule/governor.h) */
	GUARDTABLE_ENTRIES = 131072,
	GUARDTABLE_SPACES = 256,
	/* entries armed last, a power of two; they are written one by one */
	GUARDTABLE_RECENT = 8,
};

struct guardtable_entry {
	uint64_t address;
	uint32_t text; /* of all spaces that have this number */
	uint8_t length; /* of the instruction; 0: the entry is free */
	uint8_t bytes[X86_INSN_MAX];
};

struct guardtable_space {
	pid_t pid; /* a process with that memory; 0: free */
	uint32_t text;
	uint32_t uses; /* counted up with each new pid */
	uint32_t opened; /* by the guardian: the last use whose files it has */
	/* the process is in a group-stop, by a signal of somebody else */
	bool stopped;
	bool continued; /* by SIGCONT of somebody else, while we were stuck */
};

struct guardtable {
	struct deathwatch death;
	struct deputy deputy;
	bool registers; /* debug registers are set in threads, by ptrace */
	uint32_t end; /* entries from there on have never been used */
	uint32_t recent_next; /* counts all that were ever armed */
	uint32_t recent[GUARDTABLE_RECENT]; /* entries, by recent_next */
	struct guardtable_space spaces[GUARDTABLE_SPACES];
	struct guardtable_entry entries[GUARDTABLE_ENTRIES];
};

/* Zeroed, shared with children; resident as far as it is used, if allowed. */
struct error *guardtable_create(struct guardtable **ret);
void guardtable_destroy(struct guardtable *table);

/* A free space taken for pid; false: there is none. */
bool guardtable_add_space(struct guardtable *table, uint32_t text, pid_t pid,
			  uint32_t *ret_space);
void guardtable_remove_space(struct guardtable *table, uint32_t space);
void guardtable_note_stopped(struct guardtable *table, uint32_t space,
			     bool stopped);

/*
 * Enter an int3 that is about to be written. free_list (of uint32_t) is the
 * tracer's own, empty at first. False: full, or no memory for the list.
 */
bool guardtable_add(struct guardtable *table, struct vec *free_list,
		    const struct guardtable_entry *entry, uint32_t *ret);
/* Is there room for another entry? */
bool guardtable_has_room(const struct guardtable *table,
			 const struct vec *free_list);
/* The text has been restored. */
void guardtable_remove(struct guardtable *table, struct vec *free_list,
		       uint32_t entry);

/* Is the entry in use? */
static inline bool guardtable_used(const struct guardtable *table,
				   uint32_t entry)
{
	return __atomic_load_n(&table->entries[entry].length,
			       __ATOMIC_ACQUIRE) > 0;
}

#endif
