/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The XSAVE area; see vectors.h. Where a part lies, CPUID tells (leaf 0xd):
 * processors differ in it.
 */
#include "x86/vectors.h"

#include <cpuid.h>
#include <string.h>

enum {
	XSAVE_LEGACY = 512,
	XSAVE_XMM = 160, /* of XMM0, in the legacy region */
	XSAVE_HEADER_END = 576,

};

/* State components, SDM volume 1, 13.1. */
enum {
	PART_SSE = 1,
	PART_AVX = 2,
	PART_MASK = 5,
	PART_ZMM = 6,
	PART_HIGH = 7,
	PART_KEYS = 9
};

struct area {
	const uint8_t *bytes;
	size_t size;
	uint64_t present; /* XSTATE_BV: the others are in their first state */
};

/* The bytes of a part; NULL if they are all zero, or not there. */
static const uint8_t *area_part(const struct area *area, unsigned int part,
				size_t least)
{
	unsigned int size = 0, offset = 0, c = 0, d = 0;

	if (!(area->present >> part & 1) ||
	    !__get_cpuid_count(0xd, part, &size, &offset, &c, &d) ||
	    size < least || offset < XSAVE_HEADER_END || offset > area->size ||
	    area->size - offset < least)
		return NULL;
	return area->bytes + offset;
}

static struct area area_of(const uint8_t *bytes, size_t size)
{
	struct area area = { .bytes = bytes, .size = size };

	if (size >= XSAVE_HEADER_END)
		memcpy(&area.present, bytes + XSAVE_LEGACY,
		       sizeof(area.present));
	return area;
}

uint64_t vectors_low(const uint8_t *bytes, size_t size, unsigned int number)
{
	struct area area = area_of(bytes, size);
	uint64_t low = 0;

	if (area.present >> PART_SSE & 1)
		memcpy(&low, bytes + XSAVE_XMM + (size_t)16 * number,
		       sizeof(low));
	return low;
}

uint32_t vectors_key_rights(const uint8_t *bytes, size_t size)
{
	struct area area = area_of(bytes, size);
	uint32_t rights = 0;
	const uint8_t *part = area_part(&area, PART_KEYS, sizeof(rights));

	if (part)
		memcpy(&rights, part, sizeof(rights));
	return rights;
}

void vectors_read(const uint8_t *bytes, size_t size, struct x86_vectors *ret)
{
	struct area area = area_of(bytes, size);
	const uint8_t *part;

	memset(ret, 0, sizeof(*ret));
	if (size < XSAVE_HEADER_END)
		return;
	ret->known = true;
	for (int i = 0; i < 16 && (area.present >> PART_SSE & 1); i++)
		memcpy(ret->reg[i], bytes + XSAVE_XMM + 16 * i, 16);
	part = area_part(&area, PART_AVX, 256);
	for (int i = 0; part && i < 16; i++)
		memcpy(ret->reg[i] + 16, part + 16 * i, 16);
	part = area_part(&area, PART_MASK, sizeof(ret->mask));
	if (part)
		memcpy(ret->mask, part, sizeof(ret->mask));
	part = area_part(&area, PART_ZMM, 512);
	for (int i = 0; part && i < 16; i++)
		memcpy(ret->reg[i] + 32, part + 32 * i, 32);
	part = area_part(&area, PART_HIGH, 1024);
	for (int i = 0; part && i < 16; i++)
		memcpy(ret->reg[16 + i], part + 64 * i, 64);
}

/* Legacy prefixes (SDM volume 2, 2.1.1), and REX. */
static bool is_prefix(uint8_t byte)
{
	static const uint8_t prefixes[] = { 0x66, 0x67, 0x2e, 0x36, 0x3e, 0x26,
					    0x64, 0x65, 0xf0, 0xf2, 0xf3 };

	return (byte & 0xf0) == 0x40 ||
	       memchr(prefixes, byte, sizeof(prefixes)) != NULL;
}

/* Behind 0f: conditional moves, jumps and sets; movzx, movsx; xadd, cmpxchg. */
static bool is_general(uint8_t opcode)
{
	return (opcode & 0xf0) == 0x40 || (opcode & 0xe0) == 0x80 ||
	       (opcode & 0xf6) == 0xb6 || (opcode & 0xfe) == 0xb0 ||
	       (opcode & 0xfe) == 0xc0;
}

bool vectors_are_left(const uint8_t *bytes, size_t size)
{
	size_t at = 0;

	while (at < size && is_prefix(bytes[at]))
		at++;
	if (at + 1 >= size)
		return false;
	switch (bytes[at]) {
	case 0x0f:
		return is_general(bytes[at + 1]);
	case 0x62: /* EVEX */
	case 0x8f: /* pop, or XOP of AMD */
	case 0x9b: /* wait */
	case 0xc4: /* VEX */
	case 0xc5:
		return false;
	default:
		return (bytes[at] & 0xf8) != 0xd8; /* x87 */
	}
}
