/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words for recorded accesses; see phrase-recorded.h.
 */
#include "report/phrase-recorded.h"

#include <inttypes.h>

#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/race.h"
#include "report/text.h"

void phrase_add_lock(struct strbuf *line, const struct recorded_lock *lock)
{
	strbuf_add(line, recorded_lock_kind_name(lock->kind));
	if (lock->name) {
		strbuf_add(line, " ");
		utf8_add_visible(line, lock->name);
	} else {
		strbuf_addf(line, " at 0x%" PRIx64, lock->address);
	}
	if (lock->shared)
		strbuf_add(line, " (for reading)");
}

void phrase_add_locks(struct strbuf *line, const struct recorded_access *access)
{
	const struct vec *locks = &access->locks;

	if (locks->count == 0)
		strbuf_add(line, access->locks_unknown ? "locks unknown"
						       : "no known lock");
	for (size_t i = 0; i < locks->count; i++) {
		strbuf_add(line, i ? ", " : "");
		phrase_add_lock(line, vec_at(locks, i));
	}
}

void phrase_add_held(struct strbuf *line, const struct race_side *side)
{
	const struct recorded_access *access = &side->recorded;

	if (access->first == 0) {
		strbuf_add(line, "unknown, as it does not show this access");
		return;
	}
	if (access->locks.count == 0 && !access->locks_unknown) {
		strbuf_add(line, "no lock that the recorder knows");
		return;
	}
	phrase_add_locks(line, access);
	if (access->locks_unknown)
		strbuf_add(line, ", as they were not recorded");
}

void phrase_add_history(struct strbuf *line, const struct recorded *recorded)
{
	strbuf_add(line,
		   "of these bytes in the recording, by number of the access");
	if (recorded->order_unknown)
		strbuf_add(line, "; the order of threads is not known");
}

void phrase_add_block(struct strbuf *line, const struct recorded_block *block)
{
	strbuf_add(line, "of ");
	text_add_plural(line, block->size, "byte");
	strbuf_add(line, ", allocated in the recording");
	if (block->thread_path) {
		strbuf_add(line, " by thread ");
		utf8_add_visible(line, block->thread_path);
	}
}

void phrase_add_recorded_thread(struct strbuf *line,
				const struct recorded_access *access)
{
	strbuf_add(line, "thread ");
	utf8_add_visible(line, access->thread_path ? access->thread_path : "?");
}

void phrase_add_recorded_verb(struct strbuf *line,
			      const struct recorded_access *access)
{
	static const char *const verbs[] = {
		[ACCESS_NONE] = "accessed",
		[ACCESS_READ] = "read",
		[ACCESS_WRITE] = "wrote",
		[ACCESS_RMW] = "read and wrote",
	};

	strbuf_add(line, access->access <= ACCESS_RMW ? verbs[access->access]
						      : verbs[ACCESS_NONE]);
	if (access->atomic)
		strbuf_add(line, ", atomic");
	if (access->syscall)
		strbuf_add(line, ", in a system call");
	if (access->string_function) {
		strbuf_add(line, ", in ");
		utf8_add_visible(line, access->string_function);
	}
}

void phrase_add_recorded_rest(struct strbuf *line,
			      const struct recorded_access *access)
{
	if (access->count > 1) {
		text_add_plural(line, access->count, "time");
		strbuf_addf(line, " up to %" PRIu64, access->last);
	}
	if (access->held)
		strbuf_add(line, access->count > 1 ? "; stalled here"
						   : "stalled here");
}
