/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of what must be undone; see guardtable.h.
 */
#include "guardian/guardtable.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"

struct error *guardtable_create(struct guardtable **ret)
{
	struct guardtable *table = mmap(NULL, sizeof(*table),
					PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (table == MAP_FAILED)
		return error_os(errno, "map the guardian's table");
	/* the pages in use only: most of it never is */
	mlock2(table, sizeof(*table), MLOCK_ONFAULT);
	*ret = table;
	return NULL;
}

void guardtable_destroy(struct guardtable *table)
{
	if (table)
		munmap(table, sizeof(*table));
}

bool guardtable_add_space(struct guardtable *table, uint32_t text, pid_t pid,
			  uint32_t *ret_space)
{
	for (uint32_t i = 0; i < GUARDTABLE_SPACES; i++) {
		struct guardtable_space *space = &table->spaces[i];

		if (space->pid != 0)
			continue;
		space->text = text;
		space->stopped = space->continued = false;
		space->uses++;
		__atomic_store_n(&space->pid, pid, __ATOMIC_RELEASE);
		*ret_space = i;
		return true;
	}
	return false;
}

void guardtable_remove_space(struct guardtable *table, uint32_t space)
{
	__atomic_store_n(&table->spaces[space].pid, 0, __ATOMIC_RELEASE);
}

void guardtable_note_stopped(struct guardtable *table, uint32_t space,
			     bool stopped)
{
	__atomic_store_n(&table->spaces[space].stopped, stopped,
			 __ATOMIC_RELEASE);
}

bool guardtable_has_room(const struct guardtable *table,
			 const struct vec *free_list)
{
	return free_list->count > 0 || table->end < GUARDTABLE_ENTRIES;
}

bool guardtable_add(struct guardtable *table, struct vec *free_list,
		    const struct guardtable_entry *entry, uint32_t *ret)
{
	struct guardtable_entry *to;
	uint32_t i;

	if (free_list->count > 0)
		i = *(uint32_t *)vec_at(free_list, --free_list->count);
	else if (table->end < GUARDTABLE_ENTRIES &&
		 /* so that there is room to take it back */
		 vec_reserve(free_list, table->end + 1))
		i = table->end;
	else
		return false;
	to = &table->entries[i];
	to->address = entry->address;
	to->text = entry->text;
	memcpy(to->bytes, entry->bytes, sizeof(to->bytes));
	table->recent[table->recent_next % GUARDTABLE_RECENT] = i;
	__atomic_store_n(&table->recent_next, table->recent_next + 1,
			 __ATOMIC_RELEASE);
	__atomic_store_n(&to->length, entry->length, __ATOMIC_RELEASE);
	if (i == table->end)
		__atomic_store_n(&table->end, i + 1, __ATOMIC_RELEASE);
	*ret = i;
	return true;
}

void guardtable_remove(struct guardtable *table, struct vec *free_list,
		       uint32_t entry)
{
	__atomic_store_n(&table->entries[entry].length, 0, __ATOMIC_RELEASE);
	/* there is room: reserved when it was added */
	vec_push(free_list, &entry);
}
