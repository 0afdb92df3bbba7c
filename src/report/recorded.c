/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of records that recordings fill in; see recorded.h.
 */
#include "report/recorded.h"

#include "base/same-text.h"
#include "report/field.h"
#include "report/frame.h"
#include "report/members.h"
#include "report/race.h"

static const char *const kind_words[RECORDED_LOCK_KINDS] = {
	[RECORDED_MUTEX] = "mutex",
	[RECORDED_RWLOCK] = "rwlock",
	[RECORDED_SPIN] = "spinlock",
};

#define AT(member) FIELD_AT(struct recorded_lock, member)

static const struct field lock_field_list[] = {
	{ "name", FIELD_TEXT, AT(name) },
	{ "address", FIELD_ADDRESS, .flags = FIELD_NEEDED, AT(address) },
	{ "kind", FIELD_WORD, .flags = FIELD_NEEDED, AT(kind),
	  FIELD_WORDS(kind_words) },
	{ "shared", FIELD_BOOL, AT(shared) },
	{ "taken", FIELD_LIST, FIELD_VEC(struct recorded_lock, taken),
	  .of = &race_frame_fields },
};

const struct fields recorded_lock_fields = {
	FIELDS(struct recorded_lock, lock_field_list),
};

#undef AT
#define AT(member) FIELD_AT(struct recorded_access, member)

static const char *const access_words[] = {
	[ACCESS_READ] = "read",
	[ACCESS_WRITE] = "write",
	[ACCESS_RMW] = "rmw",
};

static bool knows_locks(const void *record)
{
	return !((const struct recorded_access *)record)->locks_unknown;
}

static const struct field access_field_list[] = {
	{ "first", FIELD_COUNT, .flags = FIELD_NEEDED, AT(first) },
	{ "last", FIELD_COUNT, AT(last) },
	{ "count", FIELD_COUNT, AT(count) },
	{ "thread_path", FIELD_TEXT, AT(thread_path) },
	{ "access", FIELD_WORD, AT(access), FIELD_WORDS(access_words) },
	{ "size", FIELD_COUNT, AT(size) },
	{ "atomic", FIELD_BOOL, AT(atomic) },
	{ "syscall", FIELD_BOOL, AT(syscall) },
	{ "string_function", FIELD_TEXT, AT(string_function) },
	{ "held", FIELD_BOOL, AT(held) },
	{ "locks", FIELD_LIST, FIELD_VEC(struct recorded_access, locks),
	  .of = &recorded_lock_fields, .known = knows_locks },
	{ NULL, FIELD_BOOL, AT(locks_unknown) },
	{ "frames", FIELD_LIST, FIELD_VEC(struct recorded_access, frames),
	  .of = &race_frame_fields },
};

static void fill_access(struct members *in, const json_t *object, void *record)
{
	struct recorded_access *access = record;

	(void)in;
	access->locks_unknown = object && !members_has(object, "locks");
}

const struct fields recorded_access_fields = {
	FIELDS(struct recorded_access, access_field_list),
	.fill = fill_access,
};

#undef AT
#define AT(member) FIELD_AT(struct recorded_block, member)

static const struct field block_field_list[] = {
	{ "address", FIELD_ADDRESS, .flags = FIELD_NEEDED, AT(address) },
	{ "size", FIELD_COUNT, .flags = FIELD_NEEDED, AT(size) },
	{ "thread_path", FIELD_TEXT, AT(thread_path) },
	{ "allocated", FIELD_LIST, FIELD_VEC(struct recorded_block, allocated),
	  .of = &race_frame_fields },
};

static const struct fields block_fields = {
	FIELDS(struct recorded_block, block_field_list),
};

#undef AT
#define AT(member) FIELD_AT(struct recorded, member)

static bool has_block(const void *record)
{
	return ((const struct recorded *)record)->block.size > 0;
}

static const struct field recorded_field_list[] = {
	{ "pid", FIELD_ID, .flags = FIELD_NULL, AT(pid) },
	{ "address", FIELD_ADDRESS, .flags = FIELD_NEEDED, AT(address) },
	{ "size", FIELD_COUNT, AT(size) },
	{ "block", FIELD_OBJECT, AT(block), .of = &block_fields,
	  .known = has_block },
	{ "order_unknown", FIELD_BOOL, AT(order_unknown) },
	{ "accesses", FIELD_LIST, FIELD_VEC(struct recorded, accesses),
	  .of = &recorded_access_fields },
	{ "left_out", FIELD_COUNT, AT(left_out) },
};

const struct fields recorded_fields = {
	FIELDS(struct recorded, recorded_field_list),
};

const char *recorded_lock_kind_name(unsigned int kind)
{
	return kind < RECORDED_LOCK_KINDS ? kind_words[kind] : "lock";
}

/* Frames of inlined functions have the offset of the one they are in. */
static bool same_frame(const struct race_frame *a, const struct race_frame *b)
{
	return a->offset == b->offset && a->module &&
	       same_text(a->module, b->module);
}

static const struct race_frame *next_frame(const struct vec *frames, size_t *at)
{
	const struct race_frame *frame;

	while (*at < frames->count) {
		frame = vec_at(frames, (*at)++);
		if (!frame->inlined)
			return frame;
	}
	return NULL;
}

/* How many frames, from the innermost on, are the same. */
static size_t alike(const struct vec *a, const struct vec *b)
{
	size_t i = 0, j = 0, count = 0;

	for (;;) {
		const struct race_frame *one = next_frame(a, &i);
		const struct race_frame *two = next_frame(b, &j);

		if (!one || !two || !same_frame(one, two))
			return count;
		count++;
	}
}

const struct recorded_access *recorded_find(const struct recorded *recorded,
					    const struct race_side *side,
					    bool other)
{
	const struct recorded_access *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < recorded->accesses.count; i++) {
		const struct recorded_access *access =
			vec_at(&recorded->accesses, i);
		/* twice the frames, and one more for the wanted one */
		size_t score = 2 * alike(&access->frames, &side->frames);

		if (score == 0)
			continue;
		score += access->held != other;
		if (score > most) {
			most = score;
			best = access;
		}
	}
	return best;
}
