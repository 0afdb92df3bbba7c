/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions that two runs do not execute alike; see hazard.h.
 */
#include "replay/hazard.h"

#include <string.h>

#include "x86/decode-parts.h"
#include "x86/decode.h"

enum {
	ESCAPE = 0x0f,
	/* places before it to decode from, and how far they are at most */
	HAZARD_PLACES = 16,
	HAZARD_BEFORE = 48,
	MODRM_REGISTER = 0xc0,
};

/* Of the opcode behind the escape byte; REPLAY_STOPS: harmless. */
static enum replay_stop_kind hazard_kind(uint8_t opcode, uint8_t modrm)
{
	unsigned int reg = modrm >> 3 & 7;

	if (opcode == 0xa2)
		return REPLAY_CPUID;
	/* rdrand, rdseed; rdpid */
	if (opcode == 0xc7 && modrm >= MODRM_REGISTER && reg >= 6)
		return REPLAY_RANDOM;
	/* rdpkru, wrpkru */
	if (opcode == 0x01 && (modrm == 0xee || modrm == 0xef))
		return REPLAY_KEYS;
	return REPLAY_STOPS;
}

/* Does an instruction at `at' have its escape byte there? */
static bool hazard_begins(const uint8_t *bytes, size_t size, size_t at,
			  size_t escape)
{
	struct prefixes prefixes;
	size_t left = size - at < X86_INSN_MAX ? size - at : X86_INSN_MAX;

	decode_prefixes(bytes + at, left, &prefixes);
	return at + prefixes.length == escape;
}

/* Decode from `at' on. Where the instruction begins; SIZE_MAX: it is none. */
static size_t hazard_reach(struct decoder *decoder, const uint8_t *bytes,
			   size_t size, size_t at, size_t escape)
{
	while (at <= escape) {
		struct insn_access insn;

		if (hazard_begins(bytes, size, at, escape))
			return at;
		decoder_decode(decoder, bytes + at, size - at, at, &insn);
		at += insn.length;
	}
	return SIZE_MAX;
}

/* Where it begins, as most places before it tell. */
static size_t hazard_start(struct decoder *decoder, const uint8_t *bytes,
			   size_t size, size_t escape)
{
	size_t from = escape > HAZARD_BEFORE ? escape - HAZARD_BEFORE : 0;
	size_t places = 0, found = 0, start = SIZE_MAX;

	for (size_t at = from; at <= escape && places < HAZARD_PLACES; at++) {
		size_t reached = hazard_reach(decoder, bytes, size, at, escape);

		places++;
		if (reached == SIZE_MAX)
			continue;
		found++;
		/* the shortest way there has skipped prefixes */
		if (reached < start)
			start = reached;
	}
	return 2 * found >= places ? start : SIZE_MAX;
}

size_t hazard_find(struct decoder *decoder, const uint8_t *bytes, size_t size,
		   uint64_t start, struct hazard ret[HAZARDS_MAX])
{
	const uint8_t *at = bytes, *end = bytes + size;
	size_t count = 0;

	while (count < HAZARDS_MAX && end - at > 2) {
		enum replay_stop_kind kind;
		size_t begin;

		at = memchr(at, ESCAPE, (size_t)(end - at) - 2);
		if (!at)
			break;
		kind = hazard_kind(at[1], at[2]);
		at++;
		if (kind == REPLAY_STOPS)
			continue;
		begin = hazard_start(decoder, bytes, size,
				     (size_t)(at - bytes) - 1);
		if (begin != SIZE_MAX)
			ret[count++] = (struct hazard){ start + begin, kind };
	}
	return count;
}
