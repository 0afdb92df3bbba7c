/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The race record: what was caught, in names a person can read. Made by
 * conflict/conflict, kept and printed by the rest of this folder. A race owns
 * all its strings; NULL means unknown. See racewatch-json(5) for the meaning
 * of every field.
 */
#ifndef REPORT_RACE_H
#define REPORT_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "report/frame.h"
#include "report/race-replay.h"
#include "report/recorded.h"
#include "report/variable.h"
#include "x86/access.h"

enum race_role { RACE_STALLED, RACE_RACING, RACE_UNKNOWN };

struct race_side {
	enum race_role role;
	unsigned int access; /* enum access_kind; ACCESS_NONE: unknown */
	uint32_t size; /* bytes; 0: unknown */
	bool atomic; /* a synchronizing instruction */
	/* first byte of the whole access, where side 0 has it; 0: unknown */
	uint64_t address;
	struct code_pattern pattern; /* what the function does with the value */
	/* why this access counts as synchronization, or NULL; judge/syncness */
	char *sync;
	unsigned int missing; /* enum race_missing, see doubt.h */
	int pid, tid; /* 0: unknown */
	char *thread; /* its name */
	uint32_t *thread_path; /* n-th child of n-th child ... of the first */
	size_t thread_path_length;
	char *syscall; /* the kernel made the access in this call; or NULL */
	char *insn; /* AT&T text, or NULL */
	struct vec frames; /* of struct race_frame, innermost first */
	/* where the thread was created, if it was born while watched */
	struct vec created; /* of struct race_frame, innermost first */
	int creator; /* the thread that created it; 0: unknown */
	char *creator_thread; /* its name then */
	struct vec locks; /* of struct recorded_lock: seen in its memory */
	bool locks_known; /* it was looked for them, all that are found are there */
	struct recorded_access recorded; /* by a hunt, no frames; or zero */
};

enum race_evidence {
	EVIDENCE_WATCHPOINT,
	EVIDENCE_COLLISION,
	EVIDENCE_VALUE_CHANGE,
	EVIDENCE_PROVOKED, /* by a hunt; both sides may be stalled */
	EVIDENCE_REPORTED, /* by another tool; racewatch has seen nothing */
};

/* The graver one first. */
enum race_verdict {
	VERDICT_HARMFUL,
	VERDICT_SUSPECT,
	VERDICT_UNLIKELY,
	VERDICT_SYNC,
};

/* What is known of the race from elsewhere; see judge/baseline.h. */
enum race_status {
	STATUS_UNSET,
	STATUS_NEW,
	STATUS_KNOWN,
	STATUS_GONE, /* in the older of two reports only */
};

/* The rule that suppressed a race; see racewatch-suppressions(5). */
struct race_suppression {
	char *rule; /* as it is written; NULL: the race is not suppressed */
	char *file; /* that has it */
	int line;
	char *reason, *bug; /* given there, or NULL */
};

/* Values seen before and after, and how often. */
struct race_values {
	uint8_t before[X86_ACCESS_MAX], after[X86_ACCESS_MAX];
	uint64_t count;
};

enum { RACE_VALUES_MAX = 8 }; /* distinct pairs that are kept of a race */

struct race {
	uint64_t id; /* 1.. in order of first report */
	uint64_t time; /* wall clock, ns: when it was first seen */
	uint64_t last_time; /* and last */
	int pid;
	char *program; /* short name of the process */
	uint64_t address;
	uint32_t size;
	/* the bytes when the stall began and when it ended */
	uint8_t before[X86_ACCESS_MAX], after[X86_ACCESS_MAX];
	enum race_evidence evidence;
	char *backend;
	struct race_variable variable;
	struct race_side sides[2]; /* [0] was stalled */
	uint64_t count;
	struct vec values; /* of struct race_values; in the order they came */
	/* conflicts of several instructions; patterns are what may hold of all */
	bool joined;
	/* the bits that changed in any of all pairs, kept in `values' or not */
	uint8_t changed[X86_ACCESS_MAX];
	bool decides; /* another race on it shows that its value does: related.h */
	enum race_verdict verdict;
	bool judged; /* from now on the verdict only becomes graver */
	char *reason; /* of the verdict: the name of a rule; or NULL */
	char *grounds; /* of the reason, a sentence; or NULL */
	char *refuted; /* reason of an earlier verdict; not in reports */
	struct race_replay replay; /* in other orders, in a copy */
	struct race_replay_related replay_related; /* not in reports */
	enum race_status status;
	struct race_suppression suppressed;
	/* of merged reports: runs that saw it (0 counts as 1), and where */
	uint64_t runs;
	struct vec hosts; /* of char *, sorted; of a single run: empty */
	/* how long the thread was to be held, from then to the conflict at least */
	uint64_t stall_ns;
	uint64_t elapsed_ns; /* from when it was held to the conflict */
	uint64_t target; /* of a hunt, that it was met at; 0: of none */
	bool earlier; /* a hunt before this one has met it, as its store says */
	struct recorded recorded; /* by a hunt; else all zero */
	char fingerprint[33]; /* hex, by names */
	char fingerprint_code[33]; /* hex, by build-id and offset */
};

/* All zero and empty; end with race_deinit(), from malloc() race_free(). */
void race_init(struct race *race);
void race_deinit(struct race *race);
void race_free(struct race *race);

/* "write-write", "read-write" or "write-read", from the two sides. */
const char *race_kind(const struct race *race);

/*
 * Count a pair of values: of the same as before, or one more while there are
 * fewer than RACE_VALUES_MAX. Then one that changes takes the place of one that
 * does not. False when out of memory.
 */
bool race_add_values(struct race *race, const uint8_t *before,
		     const uint8_t *after, uint64_t count);

/* Count another sighting: count, last_time, values. False: out of memory. */
bool race_see_again(struct race *race, const struct race *again);

/*
 * Is it counted? Suppressed conflicts and synchronization are not, nor, with
 * ignore_unlikely, those judged so. Actionable: counted, not known.
 */
bool race_counts(const struct race *race, bool ignore_unlikely);
bool race_is_actionable(const struct race *race, bool ignore_unlikely);

/*
 * Compute both fingerprints. They are the same whichever side was stalled, and
 * do not depend on line numbers, addresses, thread ids or load bases. False
 * when out of memory.
 */
bool race_fingerprint(struct race *race);

const char *race_evidence_name(enum race_evidence evidence);
const char *race_verdict_name(enum race_verdict verdict);
const char *race_region_name(enum race_region region);
const char *race_role_name(enum race_role role);
/* NULL for STATUS_UNSET. */
const char *race_status_name(enum race_status status);

#endif
