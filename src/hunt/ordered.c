/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What put a side in order; see ordered.h.
 */
#include "hunt/ordered.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/same-text.h"
#include "base/strbuf.h"
#include "base/syscalls.h"
#include "base/vec.h"
#include "hunt/history.h"
#include "report/frame.h"
#include "report/recorded.h"
#include "report/target-record.h"
#include "session/waits.h"
#include "x86/access.h"

static const struct recorded_access *
held_access(const struct recorded *recorded)
{
	for (size_t i = 0; i < recorded->accesses.count; i++) {
		const struct recorded_access *access =
			vec_at(&recorded->accesses, i);

		if (access->held)
			return access;
	}
	return NULL;
}

/* One lock, which both threads cannot have at a time. */
static bool excludes(const struct recorded_lock *a,
		     const struct recorded_lock *b)
{
	return a->address == b->address && a->kind == b->kind &&
	       !(a->shared && b->shared);
}

static const struct recorded_lock *common_lock(const struct recorded_access *a,
					       const struct recorded_access *b)
{
	for (size_t i = 0; i < a->locks.count; i++) {
		const struct recorded_lock *lock = vec_at(&a->locks, i);

		for (size_t j = 0; j < b->locks.count; j++) {
			if (excludes(lock, vec_at(&b->locks, j)))
				return lock;
		}
	}
	return NULL;
}

static char *lock_text(const struct recorded_lock *lock)
{
	struct strbuf text = { 0 };

	strbuf_addf(&text, "their common %s ",
		    recorded_lock_kind_name(lock->kind));
	if (lock->name)
		strbuf_addf(&text, "`%s`", lock->name);
	else
		strbuf_addf(&text, "at 0x%" PRIx64, lock->address);
	return strbuf_steal(&text);
}

char *ordered_by_lock(const struct hunt_side *side)
{
	const struct recorded *recorded = &side->recorded;
	const struct recorded_access *held = held_access(recorded);

	for (size_t i = 0; held && i < recorded->accesses.count; i++) {
		const struct recorded_access *other =
			vec_at(&recorded->accesses, i);
		const struct recorded_lock *lock;

		if (same_text(other->thread_path, held->thread_path) ||
		    !((other->access | held->access) & ACCESS_WRITE))
			continue;
		lock = common_lock(held, other);
		if (lock)
			return lock_text(lock);
	}
	return NULL;
}

/* Functions that wait, by their names without underscores; and for what. */
static const struct wait_function {
	const char *name; /* the beginning of it */
	const char *text;
	bool named; /* the futex is of its variable */
} wait_functions[] = {
	{ "pthread_cond_", "the condition variable", true },
	{ "pthread_barrier_wait", "the barrier", true },
	{ "pthread_mutex_", "the mutex", true },
	{ "pthread_rwlock_", "the rwlock", true },
	{ "sem_", "the semaphore", true },
	{ "pthread_join", "the end of a thread", false },
	{ "pthread_timedjoin", "the end of a thread", false },
	{ "pthread_clockjoin", "the end of a thread", false },
	{ "cnd_", "the condition variable", true },
	{ "mtx_", "the mutex", true },
	{ "thrd_join", "the end of a thread", false },
};

static const struct wait_function *wait_function(const struct race_frame *frame)
{
	static const char *const prefixes[] = { "GI_", "new_" };
	const char *name = frame->function;

	if (!name)
		return NULL;
	name += strspn(name, "_");
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t length = strlen(prefixes[i]);

		if (strncmp(name, prefixes[i], length) == 0)
			name += length + strspn(name + length, "_");
	}
	for (size_t i = 0;
	     i < sizeof(wait_functions) / sizeof(wait_functions[0]); i++) {
		const struct wait_function *known = &wait_functions[i];

		if (strncmp(name, known->name, strlen(known->name)) == 0)
			return known;
	}
	return NULL;
}

/* The outermost: pthread_cond_wait(3) may take its mutex. */
static const struct wait_function *wait_of(const struct vec *frames,
					   size_t *ret_caller)
{
	const struct wait_function *found = NULL;

	*ret_caller = frames->count;
	for (size_t i = 0; i < frames->count; i++) {
		const struct wait_function *known =
			wait_function(vec_at(frames, i));

		if (!known)
			continue;
		found = known;
		*ret_caller = i + 1;
	}
	return found;
}

static void add_caller(struct strbuf *text, const struct race_frame *frame)
{
	const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;

	if (!frame->function)
		return;
	strbuf_addf(text, " (%s", frame->function);
	if (frame->file && frame->line)
		strbuf_addf(text, ", %s:%d", slash ? slash + 1 : frame->file,
			    frame->line);
	strbuf_add(text, ")");
}

static void add_variable(struct strbuf *text, const char *variable)
{
	char *name = variable ? strdup(variable) : NULL;

	if (!name)
		return;
	history_cut_name(name);
	name[strcspn(name, "+")] = '\0';
	strbuf_addf(text, " `%s`", name);
	free(name);
}

/* Without a function that is known: the system call. */
static void add_call(struct strbuf *text, const struct session_wait *wait)
{
	const char *name = wait->call < 0 ? NULL : syscall_name(wait->call);

	if (wait->call < 0) {
		strbuf_add(text, ", which waited");
		return;
	}
	if (wait->call == SYS_futex) {
		strbuf_add(text, ", which waited for a futex");
		add_variable(text, wait->variable);
		return;
	}
	strbuf_add(text, ", which waited in ");
	if (name)
		strbuf_addf(text, "%s(2)", name);
	else
		strbuf_addf(text, "system call %d", wait->call);
}

static void add_waits(struct strbuf *text, const struct session_wait *wait)
{
	size_t caller;
	const struct wait_function *function = wait_of(&wait->frames, &caller);

	if (!function) {
		add_call(text, wait);
		return;
	}
	strbuf_addf(text, ", which waited for %s", function->text);
	if (function->named)
		add_variable(text, wait->variable);
	if (caller < wait->frames.count)
		add_caller(text, vec_at(&wait->frames, caller));
}

static void add_wait(struct strbuf *text, const struct session_wait *wait)
{
	if (text->length > 0)
		strbuf_add(text, "; ");
	strbuf_add(text, ORDERED_BY_THREAD);
	for (uint32_t i = 0; i < wait->other.length; i++)
		strbuf_addf(text, ".%" PRIu32, wait->other.path[i]);
	switch ((enum wire_hunt_other)wait->state) {
	case WIRE_OTHER_UNBORN:
		strbuf_add(text, ", which was not created yet");
		break;
	case WIRE_OTHER_ENDED:
		strbuf_add(text, ", which had ended");
		break;
	case WIRE_OTHER_WAITS:
		add_waits(text, wait);
		break;
	}
}

char *ordered_by_waits(const struct vec *waits, uint32_t side)
{
	struct strbuf text = { 0 };

	for (size_t i = 0; i < waits->count; i++) {
		const struct session_wait *wait = vec_at(waits, i);

		if (wait->side == side)
			add_wait(&text, wait);
	}
	if (text.length > 0)
		return strbuf_steal(&text);
	strbuf_deinit(&text);
	return NULL;
}

bool ordered_is_proved(const char *by)
{
	return by &&
	       strncmp(by, ORDERED_BY_THREAD, strlen(ORDERED_BY_THREAD)) != 0;
}
