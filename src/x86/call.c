/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call instructions; see call.h.
 */
#include "x86/call.h"

#include <string.h>

enum {
	CALL_RELATIVE = 0xe8, /* and 32 bits */
	JUMP_RELATIVE = 0xe9, /* the same */
	CALL_RELATIVE_LENGTH = 5,
	LEA = 0x8d, /* and a ModRM byte; of the instruction pointer, 32 bits */
	LEA_LENGTH = 6, /* without its prefix */
	MOVE_ADDRESS = 0xb8, /* and the register; 32 bits */
	MOVE_MASK = 0xf8,
	CALL_INDIRECT = 0xff, /* and a ModRM byte with 2 in its middle */
	CALL_INDIRECT_REG = 2,
	/* fields of a ModRM byte */
	MOD_BYTE = 1,
	MOD_WORD = 2,
	MOD_REGISTER = 3,
	RM_SIB = 4,
	RM_RIP = 5,
	SIB_NO_BASE = 5,
};

/* The length of an indirect call by its ModRM and SIB bytes. */
static size_t indirect_length(uint8_t modrm, uint8_t sib)
{
	unsigned int mod = modrm >> 6, rm = modrm & 7;
	size_t length = 2;

	if (mod == MOD_REGISTER)
		return length;
	length += rm == RM_SIB;
	if (mod == MOD_BYTE)
		return length + 1;
	if (mod == MOD_WORD || rm == RM_RIP ||
	    (rm == RM_SIB && (sib & 7) == SIB_NO_BASE))
		return length + 4;
	return length;
}

bool x86_ends_in_call(const uint8_t *bytes, size_t size)
{
	if (size >= CALL_RELATIVE_LENGTH &&
	    bytes[size - CALL_RELATIVE_LENGTH] == CALL_RELATIVE)
		return true;
	for (size_t length = 2; length <= size && length <= X86_CALL_MAX;
	     length++) {
		const uint8_t *call = bytes + size - length;

		if (call[0] == CALL_INDIRECT &&
		    (call[1] >> 3 & 7) == CALL_INDIRECT_REG &&
		    indirect_length(call[1], length > 2 ? call[2] : 0) ==
			    length)
			return true;
	}
	return false;
}

/* Where the 32 bits of the instruction begin, if it may be one; else 0. */
static size_t callee_field(const uint8_t *bytes, size_t size,
			   bool *ret_relative)
{
	bool relative = bytes[0] == CALL_RELATIVE || bytes[0] == JUMP_RELATIVE;

	*ret_relative = true;
	if (relative)
		return size >= CALL_RELATIVE_LENGTH ? 1 : 0;
	if (bytes[0] == LEA && size >= LEA_LENGTH &&
	    (bytes[1] & 0xc7) == RM_RIP)
		return 2;
	*ret_relative = false;
	return (bytes[0] & MOVE_MASK) == MOVE_ADDRESS &&
			       size >= CALL_RELATIVE_LENGTH
		       ? 1
		       : 0;
}

bool x86_next_callee(const uint8_t *bytes, size_t size, uint64_t address,
		     size_t *at, uint64_t *ret_target)
{
	while (*at < size) {
		size_t start = (*at)++;
		bool relative;
		size_t field =
			callee_field(bytes + start, size - start, &relative);
		int32_t distance;

		if (field == 0)
			continue;
		memcpy(&distance, bytes + start + field, sizeof(distance));
		*ret_target = relative ? address + start + field +
						 sizeof(distance) +
						 (uint64_t)(int64_t)distance
				       : (uint32_t)distance;
		return true;
	}
	return false;
}
