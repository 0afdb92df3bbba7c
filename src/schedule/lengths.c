/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lengths of stalls by location; see lengths.h. What is known of one is packed
 * into the eight bytes that the map has for it.
 */
#include "schedule/lengths.h"

#include <string.h>

#include "base/clock.h"

enum {
	/* times the mean within which a conflict comes in 98 of 100 cases */
	LENGTHS_ENOUGH = 4,
	/* quiet stalls after a conflict for which more are expected */
	LENGTHS_TRUST = 16,
	/* quiet stalls that halve the length, at most to an eighth */
	LENGTHS_QUIET = 8,
	LENGTHS_PART = 8,
	/* setting a watch takes some microseconds */
	LENGTHS_MIN_NS = 20 * 1000,
	/* of the age of a young program, a stall takes one part in */
	LENGTHS_YOUNG_PART = 8,
	/* a thread comes round a short loop in that time */
	LENGTHS_YOUNG_MIN_NS = 40 * 1000,
	/* samples in a unit of age */
	LENGTHS_AGE = 1024,
};

struct lengths_site {
	uint16_t mean_us; /* to a conflict */
	uint8_t conflicts; /* 255: or more */
	uint16_t quiet; /* stalls since the last conflict */
	uint16_t age; /* when it was last noted */
};

_Static_assert(sizeof(struct lengths_site) <= sizeof(uint64_t),
	       "it fits into a value of the map");

static struct lengths_site lengths_unpack(uint64_t value)
{
	struct lengths_site site;

	memcpy(&site, &value, sizeof(site));
	return site;
}

static uint64_t lengths_pack(const struct lengths_site *site)
{
	uint64_t value = 0;

	memcpy(&value, site, sizeof(*site));
	return value;
}

void lengths_deinit(struct lengths *lengths)
{
	map_deinit(&lengths->sites);
}

/* The older half goes: what was noted last before the middle of all. */
static void lengths_forget(struct lengths *lengths)
{
	uint16_t now = (uint16_t)(lengths->noted / LENGTHS_AGE);
	struct map kept = { 0 };
	uint64_t sum = 0, key, value;
	size_t cursor = 0;

	while (map_next(&lengths->sites, &cursor, &key, &value))
		sum += (uint16_t)(now - lengths_unpack(value).age);
	sum /= lengths->sites.count;
	cursor = 0;
	while (map_next(&lengths->sites, &cursor, &key, &value)) {
		uint16_t age = (uint16_t)(now - lengths_unpack(value).age);

		if (age < sum || (age == sum && key % 2 == 0))
			map_set(&kept, key, value);
	}
	map_deinit(&lengths->sites);
	lengths->sites = kept;
}

static void lengths_add(struct lengths_site *site, bool conflict,
			uint64_t stalled_ns)
{
	uint64_t us = stalled_ns / CLOCK_NS_PER_US;
	uint64_t weight;

	if (!conflict) {
		site->quiet += site->quiet < UINT16_MAX;
		return;
	}
	/* the plain mean of the first eight, then of about the last eight */
	weight = site->conflicts < 7 ? site->conflicts : 7;
	us = (site->mean_us * weight + us) / (weight + 1);
	site->mean_us = us < UINT16_MAX ? (uint16_t)us : UINT16_MAX;
	site->conflicts += site->conflicts < UINT8_MAX;
	site->quiet = 0;
}

void lengths_note(struct lengths *lengths, uint64_t site, bool conflict,
		  uint64_t stalled_ns)
{
	const uint64_t *value = map_get(&lengths->sites, site);
	struct lengths_site known = { 0 };

	lengths->noted++;
	if (value)
		known = lengths_unpack(*value);
	else if (lengths->sites.count >= LENGTHS_MAX)
		lengths_forget(lengths);
	lengths_add(&known, conflict, stalled_ns);
	known.age = (uint16_t)(lengths->noted / LENGTHS_AGE);
	map_set(&lengths->sites, site, lengths_pack(&known));
}

uint64_t lengths_of(const struct lengths *lengths, uint64_t site,
		    uint64_t max_ns, bool scarce)
{
	const uint64_t *value = map_get(&lengths->sites, site);
	struct lengths_site known;
	uint64_t length = max_ns;

	if (!value)
		return max_ns;
	known = lengths_unpack(*value);
	if (known.conflicts > 0 && known.quiet < LENGTHS_TRUST) {
		length = LENGTHS_ENOUGH * known.mean_us * CLOCK_NS_PER_US;
		if (length < max_ns / LENGTHS_PART)
			length = max_ns / LENGTHS_PART;
	} else if (scarce) {
		uint64_t parts = 1 + known.quiet / LENGTHS_QUIET;

		length /= parts < LENGTHS_PART ? parts : LENGTHS_PART;
	}
	if (length < LENGTHS_MIN_NS)
		length = LENGTHS_MIN_NS;
	return length < max_ns ? length : max_ns;
}

uint64_t lengths_young(uint64_t age_ns)
{
	uint64_t length = age_ns / LENGTHS_YOUNG_PART;

	return length > LENGTHS_YOUNG_MIN_NS ? length : LENGTHS_YOUNG_MIN_NS;
}
