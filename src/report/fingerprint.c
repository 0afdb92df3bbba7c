/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fingerprints: what makes two reports the same race, in this run, in the
 * next, and in another build. Each is a 128-bit hash by Fowler, Noll and Vo
 * (FNV-1a: offset basis 0x6c62272e07bb014262b821756295c58d, prime 2^88 +
 * 0x13b) of NUL-ended strings:
 *
 *   by names  "names 2", the two sides' digests in ascending order, and the
 *             variable without array indices, or the field of a struct that
 *             is no variable's;
 *   by code   "code 1" and the two sides' digests likewise.
 *
 * A side's digest by code is that of build-id and offset of its innermost real
 * frames as far as the first one outside of the C library. By names it is that
 * of its innermost functions (inlined ones too):
 *
 *   - of four, where the variable is a field of a struct that is no variable's,
 *     and both sides have names: how the program came to a container's method
 *     tells one container from another;
 *   - else as far as the first one outside of the C library. A frame there
 *     without a name is its place in the code, as by code.
 *
 * So races that agree by code agree by names too, unless the names tell them
 * apart: by the variable, or by the callers in the first case.
 *
 * A side is also told by itself (race_side_key()): then the callers count where
 * it has names, whatever is known of the other side.
 *
 * What differs between runs stays out: lines, addresses, indices, the depth of
 * a recursion, what the compiler adds to a name, the frames that start threads.
 * A change here makes every saved baseline useless: raise the number then.
 */
#include "report/race.h"
#include "report/related.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Functions of a side that count at most. More would tell apart more ways to
 * the same two accesses; fewer would merge all users of a container's method.
 */
enum { FINGERPRINT_FUNCTIONS = 4 };

struct digest {
	unsigned __int128 state;
};

struct span {
	const char *text;
	size_t length;
};

static void digest_init(struct digest *digest)
{
	digest->state = (unsigned __int128)UINT64_C(0x6c62272e07bb0142) << 64 |
			UINT64_C(0x62b821756295c58d);
}

static void digest_byte(struct digest *digest, unsigned char byte)
{
	const unsigned __int128 prime = (unsigned __int128)1 << 88 | 0x13b;

	digest->state = (digest->state ^ byte) * prime;
}

static void digest_bytes(struct digest *digest, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		digest_byte(digest, (unsigned char)text[i]);
}

static void digest_end_string(struct digest *digest)
{
	digest_byte(digest, 0);
}

static void digest_string(struct digest *digest, const char *text)
{
	digest_bytes(digest, text, strlen(text));
	digest_end_string(digest);
}

/* Most significant byte first. */
static void digest_digest(struct digest *digest, const struct digest *other)
{
	for (int shift = 120; shift >= 0; shift -= 8)
		digest_byte(digest, (unsigned char)(other->state >> shift));
}

static void digest_pair(struct digest *digest, const struct digest *one,
			const struct digest *two)
{
	bool swap = two->state < one->state;

	digest_digest(digest, swap ? two : one);
	digest_digest(digest, swap ? one : two);
}

static void digest_print(const struct digest *digest, char *out, size_t size)
{
	snprintf(out, size, "%016" PRIx64 "%016" PRIx64,
		 (uint64_t)(digest->state >> 64), (uint64_t)digest->state);
}

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/*
 * The function without what compilers put behind the name of a clone or part
 * of it, and libc behind that of a variant for a kind of processor.
 */
static struct span function_stem(const char *function)
{
	static const char *const suffixes[] = {
		" [clone",    ".constprop.", ".isra.", ".part.",
		".lto_priv.", ".llvm.",	     ".cold",
	};
	static const char *const variants[] = {
		"_sse2", "_ssse3", "_sse4", "_avx", "_evex", "_erms",
	};
	struct span stem = { function, strlen(function) };
	const char *at;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		at = strstr(function, suffixes[i]);
		if (at && at > function && at < function + stem.length)
			stem.length = (size_t)(at - function);
	}
	if (!starts_with(function, "__mem") &&
	    !starts_with(function, "__str") && !starts_with(function, "__wcs"))
		return stem;
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		at = strstr(function, variants[i]);
		if (at && at < function + stem.length)
			stem.length = (size_t)(at - function);
	}
	return stem;
}

static bool span_equal(const struct span *a, const struct span *b)
{
	return a->length == b->length &&
	       memcmp(a->text, b->text, a->length) == 0;
}

/* The runtime's way from a new thread to the function the program gave it. */
static bool starts_threads(const char *function)
{
	static const char *const names[] = {
		"start_thread",
		"clone",
		"__clone",
		"clone3",
		"__clone3",
		"_start",
		"execute_native_thread_routine",
	};
	static const char *const prefixes[] = {
		"__libc_start_",
		"std::thread::",
		"std::__invoke",
		"std::sys::",
		"std::rt::",
		"std::panic",
		"core::ops::function::",
		"__rust_",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(function, names[i]) == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (starts_with(function, prefixes[i]))
			return true;
	}
	return false;
}

/* An instruction without a function's name: its place in the file. */
static void digest_place(struct digest *digest, const struct race_frame *frame)
{
	const char *id = frame->build_id ? frame->build_id
					 : race_frame_module(frame);
	char number[24];

	snprintf(number, sizeof(number), "+0x%" PRIx64, frame->offset);
	digest_bytes(digest, id ? id : "", id ? strlen(id) : 0);
	digest_string(digest, number);
}

/*
 * Does the C library make the access for its caller? Its own variables are its
 * own doing.
 */
static bool frame_serves(const struct race *race,
			 const struct race_frame *frame)
{
	const struct race_frame own = { .module = race->variable.module };

	return race_frame_is_c_library(frame) &&
	       !(race->variable.region == REGION_GLOBAL &&
		 race_frame_is_c_library(&own));
}

/* Its innermost frame that does not serve another; NULL: there is none. */
static const struct race_frame *side_doer(const struct race *race,
					  const struct race_side *side)
{
	for (size_t i = 0; i < side->frames.count; i++) {
		const struct race_frame *frame = vec_at(&side->frames, i);

		if (!frame_serves(race, frame))
			return frame;
	}
	return NULL;
}

static bool side_is_nameless(const struct race *race,
			     const struct race_side *side)
{
	const struct race_frame *doer = side_doer(race, side);

	return doer && !doer->function;
}

/* A field of a struct that no variable is: there may be many of its type. */
static bool variable_is_field(const struct race_variable *variable)
{
	return variable->region != REGION_GLOBAL &&
	       variable->region != REGION_UNKNOWN && variable->name &&
	       variable->container;
}

/* Callers are part of what the side is. */
static bool side_callers_count(const struct race *race,
			       const struct race_side *side)
{
	return variable_is_field(&race->variable) &&
	       !side_is_nameless(race, side);
}

/* Callers of both sides are part of what the race is. */
static bool callers_count(const struct race *race)
{
	return side_callers_count(race, &race->sides[0]) &&
	       side_callers_count(race, &race->sides[1]);
}

/* The C library's wrapper of a system call, whose name has many spellings. */
static bool wraps_syscall(const struct race_side *side,
			  const struct race_frame *frame)
{
	return side->syscall && race_frame_is_c_library(frame);
}

/*
 * Whether a frame says anything about the race. The innermost one does even
 * without a name, and so does the one that is behind the access; others without
 * are passed over, since whether a library's own frames have names depends on
 * the packages installed.
 */
static bool frame_counts(const struct race_side *side, size_t i,
			 const struct race_frame *doer)
{
	const struct race_frame *frame = vec_at(&side->frames, i);

	if (i == 0)
		return !wraps_syscall(side, frame);
	if (!frame->function)
		return frame == doer;
	return !starts_threads(frame->function);
}

static void digest_functions(struct digest *digest, const struct race *race,
			     const struct race_side *side, bool callers)
{
	const struct race_frame *doer = side_doer(race, side);
	struct span last = { "", 0 };
	int taken = 0;

	for (size_t i = 0;
	     i < side->frames.count && taken < FINGERPRINT_FUNCTIONS; i++) {
		const struct race_frame *frame = vec_at(&side->frames, i);
		struct span stem;

		if (!callers && i > 0 && vec_at(&side->frames, i - 1) == doer)
			break;
		if (!frame_counts(side, i, doer))
			continue;
		if (!frame->function) {
			digest_place(digest, frame);
			taken++;
			continue;
		}
		stem = function_stem(frame->function);
		/* recursion may be of any depth */
		if (span_equal(&stem, &last))
			continue;
		digest_bytes(digest, stem.text, stem.length);
		digest_end_string(digest);
		last = stem;
		taken++;
	}
}

static void side_by_names(struct digest *digest, const struct race *race,
			  const struct race_side *side, bool callers)
{
	digest_init(digest);
	if (side->syscall)
		digest_string(digest, side->syscall);
	digest_functions(digest, race, side, callers);
}

static void side_by_code(struct digest *digest, const struct race *race,
			 const struct race_side *side)
{
	digest_init(digest);
	for (size_t i = 0; i < side->frames.count; i++) {
		const struct race_frame *frame = vec_at(&side->frames, i);

		if (frame->inlined)
			continue;
		digest_place(digest, frame);
		/* all users of memcpy() have its instructions in common */
		if (!frame_serves(race, frame))
			return;
	}
}

/* Length of "[3]" or "[2..5]" at text; 0 if it is no index. */
static size_t index_length(const char *text)
{
	size_t n;

	if (text[0] != '[' || !isdigit((unsigned char)text[1]))
		return 0;
	n = 1 + strspn(text + 1, "0123456789.");
	return text[n] == ']' ? n + 1 : 0;
}

/* Length of "+8" at text, which ends there; 0 if it is something else. */
static size_t offset_length(const char *text)
{
	size_t n;

	if (text[0] != '+' || !isdigit((unsigned char)text[1]))
		return 0;
	n = 1 + strspn(text + 1, "0123456789");
	return text[n] == '\0' ? n : 0;
}

/*
 * "struct node.used" for "head->used": by which pointers memory is named may
 * differ between the sides and between runs, what it is does not.
 */
static void digest_field(struct digest *digest,
			 const struct race_variable *variable)
{
	const char *name = variable->name;
	const char *last = name;

	if (name && variable->container) {
		digest_bytes(digest, variable->container,
			     strlen(variable->container));
		digest_byte(digest, '.');
		for (const char *at = name; *at; at++) {
			if (strchr(".>]", *at))
				last = at + 1;
		}
		/* "table[2..3]", "{busy,level}" and "line[7]" are not told */
		if (last[0] && !strchr("]})", name[strlen(name) - 1]))
			digest_bytes(digest, last, strlen(last));
	}
	digest_end_string(digest);
}

/*
 * The variable: "shards[].used" for "shards[3].used", "table" for "table+24",
 * which without debugging information may be any element. Nothing for memory
 * without a name: even its region may be another in the next run.
 */
static void digest_variable(struct digest *digest,
			    const struct race_variable *variable)
{
	const char *at = variable->name ? variable->name : variable->symbol;

	if (variable->region != REGION_GLOBAL &&
	    variable->region != REGION_UNKNOWN) {
		digest_field(digest, variable);
		return;
	}
	while (at && *at) {
		size_t skip = index_length(at);

		if (skip)
			digest_bytes(digest, "[]", 2);
		else
			skip = offset_length(at);
		if (!skip) {
			digest_byte(digest, (unsigned char)*at);
			skip = 1;
		}
		at += skip;
	}
	digest_end_string(digest);
}

bool race_fingerprint(struct race *race)
{
	struct digest sides[2], digest;
	bool callers = callers_count(race);

	side_by_names(&sides[0], race, &race->sides[0], callers);
	side_by_names(&sides[1], race, &race->sides[1], callers);
	digest_init(&digest);
	digest_string(&digest, "names 2");
	digest_pair(&digest, &sides[0], &sides[1]);
	digest_variable(&digest, &race->variable);
	digest_print(&digest, race->fingerprint, sizeof(race->fingerprint));

	side_by_code(&sides[0], race, &race->sides[0]);
	side_by_code(&sides[1], race, &race->sides[1]);
	digest_init(&digest);
	digest_string(&digest, "code 1");
	digest_pair(&digest, &sides[0], &sides[1]);
	digest_print(&digest, race->fingerprint_code,
		     sizeof(race->fingerprint_code));
	return true;
}

/* By itself: without the other side its callers may count, or not. */
static void side_alone_by_names(struct digest *digest, const struct race *race,
				const struct race_side *side)
{
	side_by_names(digest, race, side, side_callers_count(race, side));
}

void race_side_key(const struct race *race, int side, struct race_side_key *ret)
{
	struct digest digest;

	side_alone_by_names(&digest, race, &race->sides[side]);
	digest_variable(&digest, &race->variable);
	ret->names = (uint64_t)(digest.state >> 64);
	side_by_code(&digest, race, &race->sides[side]);
	ret->code = (uint64_t)(digest.state >> 64);
}

bool race_same_code(const struct race *a, int side, const struct race *b,
		    int other)
{
	struct digest digests[2];

	side_alone_by_names(&digests[0], a, &a->sides[side]);
	side_alone_by_names(&digests[1], b, &b->sides[other]);
	if (digests[0].state == digests[1].state)
		return true;
	side_by_code(&digests[0], a, &a->sides[side]);
	side_by_code(&digests[1], b, &b->sides[other]);
	return digests[0].state == digests[1].state;
}
