/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hand-overs in records; see hand-over.h. */
#include "report/hand-over.h"

#include <stdbool.h>

#include "report/field.h"
#include "report/race.h"

#define AT(member) FIELD_AT(struct hunt_place, member)

static const struct field place_field_list[] = {
	{ "module", FIELD_TEXT, AT(module) },
	{ "build_id", FIELD_TEXT, AT(build_id) },
	{ "offset", FIELD_ADDRESS, .flags = FIELD_NEEDED, AT(offset) },
};

const struct fields hunt_place_fields = {
	FIELDS(struct hunt_place, place_field_list),
};

#undef AT
#define AT(member) FIELD_AT(struct hunt_hand_over, member)

static const char *const by_words[] = {
	[HAND_OVER_BY_MEMORY] = "memory",
	[HAND_OVER_BY_ALLOCATOR] = "allocator",
	[HAND_OVER_BY_CALL] = "call",
};

static bool has_places(const void *record)
{
	return ((const struct hunt_hand_over *)record)->by !=
	       HAND_OVER_BY_ALLOCATOR;
}

static const struct field hand_over_field_list[] = {
	{ "by", FIELD_WORD, AT(by), FIELD_WORDS(by_words) },
	{ "sender", FIELD_TEXT, AT(sender) },
	{ "receiver", FIELD_TEXT, AT(receiver) },
	{ "sent", FIELD_OBJECT, AT(sent), .of = &hunt_place_fields,
	  .known = has_places },
	{ "received", FIELD_OBJECT, AT(received), .of = &hunt_place_fields,
	  .known = has_places },
	{ "sent_function", FIELD_TEXT, AT(sent_function) },
	{ "received_function", FIELD_TEXT, AT(received_function) },
	{ "sent_frames", FIELD_LIST,
	  FIELD_VEC(struct hunt_hand_over, sent_frames),
	  .of = &race_frame_fields },
	{ "received_frames", FIELD_LIST,
	  FIELD_VEC(struct hunt_hand_over, received_frames),
	  .of = &race_frame_fields },
	{ "address", FIELD_ADDRESS, AT(address) },
	{ "variable", FIELD_TEXT, AT(variable) },
	{ "instructions", FIELD_COUNT, AT(instructions) },
	{ "hops", FIELD_COUNT, AT(hops) },
};

const struct fields hunt_hand_over_fields = {
	FIELDS(struct hunt_hand_over, hand_over_field_list),
};

void hunt_hand_over_init(struct hunt_hand_over *hand_over)
{
	fields_init(&hunt_hand_over_fields, hand_over);
}
