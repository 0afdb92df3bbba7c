/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hashing a function; see function-hash.h.
 */
#include "hunt/function-hash.h"

#include <stdbool.h>
#include <string.h>

#include "base/hash.h"
#include "x86/decode.h"

enum { INSN_MAX = 15, DISTANCE = 4 };

/* Prefixes before the opcode: legacy ones, then REX. */
static size_t skip_prefixes(const uint8_t *bytes, size_t length)
{
	static const uint8_t legacy[] = { 0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x26,
					  0x2e, 0x36, 0x3e, 0x64, 0x65 };
	size_t at = 0;

	while (at < length && memchr(legacy, bytes[at], sizeof(legacy)))
		at++;
	if (at < length && (bytes[at] & 0xf0) == 0x40)
		at++;
	return at;
}

/* Opcodes of one byte that have a ModRM byte (SDM volume 2, table A-2). */
static bool has_modrm(uint8_t opcode)
{
	if (opcode < 0x40)
		return (opcode & 7) < 4;
	if (opcode == 0x63 || opcode == 0x69 || opcode == 0x6b)
		return true;
	return (opcode >= 0x80 && opcode < 0x90) || opcode == 0xc0 ||
	       opcode == 0xc1 || opcode == 0xc6 || opcode == 0xc7 ||
	       (opcode >= 0xd0 && opcode < 0xd4) ||
	       (opcode >= 0xd8 && opcode < 0xe0) || opcode == 0xf6 ||
	       opcode == 0xf7 || opcode >= 0xfe;
}

/* Where the ModRM byte is; length if there is none. */
static size_t find_modrm(const uint8_t *bytes, size_t length)
{
	size_t at = skip_prefixes(bytes, length);

	if (at >= length)
		return length;
	switch (bytes[at]) {
	case 0xc5: /* VEX, of two and three bytes; EVEX; then the opcode */
		return at + 3;
	case 0xc4:
		return at + 4;
	case 0x62:
		return at + 5;
	case 0x0f:
		if (at + 1 >= length || (bytes[at + 1] & 0xf0) == 0x80)
			return length;
		return bytes[at + 1] == 0x38 || bytes[at + 1] == 0x3a ? at + 3
								      : at + 2;
	default:
		return has_modrm(bytes[at]) ? at + 1 : length;
	}
}

static uint64_t hash_insn(const uint8_t *bytes, const struct insn_access *insn,
			  uint64_t start, size_t size)
{
	uint8_t shape[INSN_MAX + 1 + sizeof(uint64_t)] = { 0 };
	size_t length = insn->length, modrm = find_modrm(bytes, length);
	uint64_t target = insn->target - start;

	memcpy(shape, bytes, length);
	if (modrm + DISTANCE < length && (shape[modrm] & 0xc7) == 0x05)
		memset(shape + modrm + 1, 0, DISTANCE);
	if (insn->target && target >= size) {
		/* elsewhere; short branches leave no function */
		size_t from = length > DISTANCE ? length - DISTANCE : 1;

		memset(shape + from, 0, length - from);
	}
	shape[INSN_MAX] = (uint8_t)length;
	return hash_blocks(shape, sizeof(shape));
}

uint64_t function_hash(struct decoder *decoder, const uint8_t *bytes,
		       size_t size, uint64_t start)
{
	uint64_t hash = 1;
	size_t at = 0;

	while (at < size) {
		struct insn_access insn;

		decoder_decode(decoder, bytes + at, size - at, start + at,
			       &insn);
		if (insn.length > size - at)
			insn.length = (uint8_t)(size - at);
		hash = hash * UINT64_C(0x9e3779b97f4a7c15) +
		       hash_insn(bytes + at, &insn, start, size);
		at += insn.length;
	}
	return hash ? hash : 1;
}
