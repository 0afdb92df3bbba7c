/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Evidence of synchronization in a race's record; see syncness.h.
 */
#include "judge/syncness.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "judge/plain.h"
#include "report/doubt.h"
#include "report/race.h"
#include "sampling/names.h"

static bool side_set(struct race_side *side, const char *evidence)
{
	if (side->sync)
		return true;
	side->sync = strdup(evidence);
	return side->sync;
}

/* As a whole word: "atomic_t" is not in "my_atomic_table". */
static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);
	const char *at = text;

	while ((at = strstr(at, word))) {
		char before = at > text ? at[-1] : ' ', after = at[length];

		if (!isalnum((unsigned char)before) && before != '_' &&
		    !isalnum((unsigned char)after) && after != '_')
			return true;
		at += length;
	}
	return false;
}

static bool has_any_word(const char *text, const char *const *words)
{
	for (size_t i = 0; words[i]; i++) {
		if (has_word(text, words[i]))
			return true;
	}
	return false;
}

/*
 * What is said of the variable itself: of a pointer, what stands behind its
 * star. Rust's "&T" and "*mut T" have it in front.
 */
static const char *own_part(const char *type)
{
	const char *own = type;
	int depth = 0;

	if (*type == '*' || *type == '&')
		return "";
	for (const char *at = type; *at; at++) {
		depth += *at == '<';
		depth -= *at == '>';
		if (depth == 0 && (*at == '*' || *at == '&'))
			own = at + 1;
	}
	return own;
}

/* What the type of the variable says of every access to it. */
static const char *type_evidence(const char *type)
{
	static const char *const atomics[] = {
		"_Atomic",	"atomic_flag", "atomic_bool",  "atomic_int",
		"atomic_uint",	"atomic_long", "atomic_ulong", "atomic_char",
		"atomic_llong", "AtomicBool",  "AtomicUsize",  "AtomicIsize",
		"AtomicPtr",	"AtomicU64",   "AtomicI64",    "AtomicU32",
		"AtomicI32",	"AtomicU8",    NULL,
	};
	static const char *const locks[] = {
		"pthread_mutex_t",
		"pthread_cond_t",
		"pthread_rwlock_t",
		"pthread_once_t",
		"pthread_barrier_t",
		"pthread_spinlock_t",
		"__pthread_mutex_s",
		"sem_t",
		"std::mutex",
		"std::once_flag",
		"GMutex",
		"GOnce",
		"mtx_t",
		"cnd_t",
		NULL,
	};

	if (!type)
		return NULL;
	type = own_part(type);
	if (has_any_word(type, atomics) || strstr(type, "std::atomic") ||
	    strstr(type, "std::__atomic_base"))
		return "atomic-type";
	if (has_any_word(type, locks))
		return "lock-type";
	return NULL;
}

/* A call of Rust's, which has no volatile variables. */
static bool side_is_volatile(const struct race_side *side)
{
	const struct race_frame *frame =
		side->frames.count ? vec_at(&side->frames, 0) : NULL;

	return frame && frame->function &&
	       (strstr(frame->function, "ptr::read_volatile") ||
		strstr(frame->function, "ptr::write_volatile"));
}

bool syncness_is_volatile(const struct race *race)
{
	const char *type = race->variable.type;

	return (type && has_word(own_part(type), "volatile")) ||
	       (side_is_volatile(&race->sides[0]) &&
		side_is_volatile(&race->sides[1]));
}

/* An atomic operation in the words of C, C++ and Linux. */
static bool source_is_atomic(const char *source)
{
	static const char *const prefixes[] = {
		"__atomic_",	   "__sync_",	      "atomic_load",
		"atomic_store",	   "atomic_fetch_",   "atomic_exchange",
		"atomic_compare_", "g_atomic_",	      "ck_pr_",
		"uatomic_",	   "CMM_LOAD_SHARED", "CMM_STORE_SHARED",
		"READ_ONCE(",	   "WRITE_ONCE(",     "ACCESS_ONCE(",
		"memory_order_",   "Ordering::",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (strstr(source, prefixes[i]))
			return true;
	}
	return false;
}

/*
 * The line from the column where the access is: what stands before belongs to
 * another statement. Columns count bytes; tabs are one.
 */
static const char *source_at(const struct race_frame *frame)
{
	size_t length = strlen(frame->source);
	const char *from;

	if (frame->column <= 0 || (size_t)frame->column > length)
		return frame->source;
	from = frame->source + frame->column - 1;
	while (from > frame->source && !strchr(";{}", from[-1]))
		from--;
	return from;
}

static bool statement_is_atomic(const struct race_frame *frame)
{
	const char *from;
	char *statement;
	bool found;

	if (!frame->source)
		return false;
	from = source_at(frame);
	statement = strndup(from, strcspn(from, ";"));
	found = statement && source_is_atomic(statement);
	free(statement);
	return found;
}

/* The kernel looks at the word that a thread is going to wait on. */
static bool is_futex(const struct race_side *side)
{
	return side->syscall && strncmp(side->syscall, "futex", 5) == 0;
}

static const char *side_evidence(const struct race_side *side)
{
	const struct race_frame *frame;

	if (is_futex(side))
		return "function";
	if (side->frames.count == 0)
		return NULL;
	frame = vec_at(&side->frames, 0);
	if (statement_is_atomic(frame))
		return "source";
	return rules_threading_name(frame->function) ||
			       rules_synchronization_name(frame->function)
		       ? "function"
		       : NULL;
}

/* Not what is made of the old value by plain instructions. */
static bool makes_nothing_of_it(const struct race_side *side)
{
	return side->pattern.change == PATTERN_UNKNOWN ||
	       side->pattern.change == PATTERN_CONSTANT;
}

static bool is_locked(const struct race_side *side)
{
	return side->atomic || is_futex(side) ||
	       (side->sync && strcmp(side->sync, "locked-beside") == 0);
}

/*
 * A half of what cmpxchg16b changes, which no plain load has at once. Two loads
 * that do not belong together make the comparison fail.
 */
static bool has_half_of(const struct race_side *side,
			const struct race_side *other)
{
	return side->access == ACCESS_READ && side->size == 8 &&
	       other->size == 16 && other->address % 16 == 0 &&
	       side->address - other->address <= 8 && side->address % 8 == 0;
}

/* It has the other's bytes at once, and nothing else; a load may have more. */
static bool has_bytes_of(const struct race_side *side,
			 const struct race_side *other)
{
	if (side->address == 0 || side->size == 0 || side->size > 8 ||
	    side->address % side->size != 0)
		return false;
	if (has_half_of(side, other))
		return true;
	if (side->access == ACCESS_READ)
		return other->address - side->address < side->size &&
		       other->size <=
			       side->size - (other->address - side->address);
	return side->access == ACCESS_WRITE &&
	       side->address == other->address && side->size == other->size;
}

/*
 * Without debug information an inlined atomic operation is a plain move, while
 * another one's body has its name: then the same holds.
 */
static bool is_atomic_to(const struct race_side *other,
			 const struct race_side *side)
{
	const struct race_frame *frame;

	if (!other->sync || strcmp(other->sync, "atomic-code") != 0 ||
	    side->frames.count == 0)
		return false;
	frame = vec_at(&side->frames, 0);
	return !frame->file && frame->line == 0;
}

/*
 * A store over a number that the other side adds to by locked instructions,
 * such as a count of users: what was added in between is lost. A lock's word is
 * not added to, but for a barrier's or a ticket's, which nobody else adds to
 * when it is set. Only where debugging information would name an atomic store.
 */
static bool discards_sum(const struct race_side *side,
			 const struct race_side *other)
{
	const struct race_frame *frame;

	if (side->access != ACCESS_WRITE || !is_locked(other) ||
	    side->frames.count == 0)
		return false;
	if (other->pattern.locked_adds && plain_is_known(side))
		return true;
	if (other->pattern.change != PATTERN_ADD &&
	    !(other->insn && strstr(other->insn, "xadd")))
		return false;
	frame = vec_at(&side->frames, 0);
	return frame->line > 0;
}

/*
 * A plain load or store that takes part in what the other side does with
 * locked instructions: it has the same bytes, which it reads or writes at
 * once. One that writes what it makes of the old value does not, nor one that
 * writes over a sum.
 */
static bool is_partner(const struct race_side *side,
		       const struct race_side *other)
{
	return (is_locked(other) || is_atomic_to(other, side)) &&
	       has_bytes_of(side, other) && !discards_sum(side, other) &&
	       !plain_loses(side) && makes_nothing_of_it(side);
}

/*
 * Programs choose among variants of a function so, and in Rust and C++ the
 * pointer is a relaxed atomic. Where the code is known to be no atomic
 * operation, it is a race.
 */
static bool is_dispatch(const struct race *race, const struct race_side *side)
{
	return race->sides[0].pattern.dispatch &&
	       race->sides[1].pattern.dispatch &&
	       side->missing != RACE_MISSES_NOTHING;
}

static bool is_lock_type(const char *evidence)
{
	return evidence && strcmp(evidence, "lock-type") == 0;
}

/* By itself; and what is plain is no synchronization by the type of a lock. */
static bool find_own(struct race *race)
{
	const char *type = type_evidence(race->variable.type);
	bool lock = is_lock_type(type);

	for (int i = 0; i < 2; i++) {
		struct race_side *side = &race->sides[i];
		const char *own = type && !lock ? type : side_evidence(side);

		if (side->role == RACE_UNKNOWN)
			continue;
		if (own && !side_set(side, own))
			return false;
		if (plain_over_lock(race, i, lock)) {
			free(side->sync);
			side->sync = NULL;
		} else if (lock && !side_set(side, type)) {
			return false;
		}
	}
	return true;
}

/* By the locked instructions of its function. */
static bool find_beside(struct race *race)
{
	bool stores = plain_stores(race);

	for (int i = 0; i < 2; i++) {
		struct race_side *side = &race->sides[i];

		if (side->role != RACE_UNKNOWN && side->pattern.locked_beside &&
		    makes_nothing_of_it(side) && !plain_loses(side) &&
		    !stores && !side_set(side, "locked-beside"))
			return false;
	}
	return true;
}

/* By what the other side does. */
static bool find_partner(struct race *race)
{
	bool lock = is_lock_type(type_evidence(race->variable.type));

	for (int i = 0; i < 2; i++) {
		struct race_side *side = &race->sides[i];
		const char *found = NULL;

		if (side->sync)
			continue;
		if (is_partner(side, &race->sides[1 - i]) &&
		    (!plain_over_lock(race, i, lock) ||
		     plain_is_of_one_module(race)))
			found = "partner";
		else if (is_dispatch(race, side))
			found = "dispatch";
		if (found && !side_set(side, found))
			return false;
	}
	return true;
}

bool syncness_find(struct race *race)
{
	return find_own(race) && find_beside(race) && find_partner(race);
}

static bool side_synchronizes(const struct race_side *side)
{
	return side->sync || side->role == RACE_UNKNOWN;
}

bool syncness_both(const struct race *race)
{
	return (race->sides[0].sync || race->sides[1].sync) &&
	       side_synchronizes(&race->sides[0]) &&
	       side_synchronizes(&race->sides[1]);
}
