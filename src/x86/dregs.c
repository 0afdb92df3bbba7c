/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The debug-register allocator. A range is walked piece by piece, each the
 * largest naturally aligned power of two that fits (there is no cover with
 * fewer exact pieces); each piece takes a slot already holding the same
 * piece, or a free one. Changes are made on a copy of the mirror and kept
 * only if the whole claim stands, so a claim that fails half-way leaves no
 * trace.
 */
#include "x86/dregs.h"

#include "x86/access.h"

/* DR7: bits 2i and 2i+1 enable slot i, bits 16+4i up are its R/W and LEN. */
enum { DR7_ENABLE_BITS = 2, DR7_FIELD_SHIFT = 16, DR7_FIELD_BITS = 4 };
enum { DR7_LOCAL_ENABLE = 1, DR7_LENGTH_SHIFT = 2 };

/* The largest aligned piece at `address` of no more than `size` bytes. */
static uint8_t piece_length(uint64_t address, uint32_t size)
{
	uint8_t length = 8;

	while (length > size || address % length != 0)
		length /= 2;
	return length;
}

/* The ranges that one claim may ask for. */
static bool is_valid_range(uint64_t address, uint32_t size)
{
	return size >= 1 && size <= X86_ACCESS_MAX &&
	       address <= UINT64_MAX - (size - 1);
}

static bool slot_holds(const struct dregs_slot *slot, uint64_t address,
		       uint8_t length, enum dregs_type type)
{
	return slot->length == length && slot->address == address &&
	       slot->type == type;
}

static bool slot_suits(const struct dregs *dregs, int i, enum dregs_type type)
{
	return !dregs->halves || (i < DREGS_SLOTS / 2) == (type == DREGS_WRITE);
}

int dregs_free(const struct dregs *dregs)
{
	int left = -(int)dregs->taken;

	for (int i = 0; i < DREGS_SLOTS; i++)
		left += dregs->slots[i].users == 0;
	return left > 0 ? left : 0;
}

/* Take one user of a slot for the piece; the slot, or -1 if none is left. */
static int take_slot(struct dregs *dregs, uint64_t address, uint8_t length,
		     enum dregs_type type)
{
	int free_slot = -1;

	for (int i = 0; i < DREGS_SLOTS; i++) {
		struct dregs_slot *slot = &dregs->slots[i];

		if (slot_holds(slot, address, length, type) &&
		    slot->users < UINT16_MAX) {
			slot->users++;
			return i;
		}
		/* the last one: the types are kept apart (dregs.h) */
		if (slot->length == 0 && slot_suits(dregs, i, type) &&
		    (free_slot < 0 || type == DREGS_READ_WRITE))
			free_slot = i;
	}
	if (free_slot < 0 || dregs_free(dregs) == 0)
		return -1;
	dregs->slots[free_slot] = (struct dregs_slot){
		.address = address,
		.length = length,
		.type = (uint8_t)type,
		.users = 1,
	};
	return free_slot;
}

bool dregs_claim(struct dregs *dregs, uint64_t address, uint32_t size,
		 enum dregs_type type, bool partial, struct dregs_claim *ret)
{
	struct dregs copy = *dregs;
	struct dregs_claim claim = {
		.address = address,
		.size = size,
		.type = (uint8_t)type,
	};

	if (!is_valid_range(address, size))
		return false;
	while (claim.covered < size) {
		uint64_t at = address + claim.covered;
		uint8_t length = piece_length(at, size - claim.covered);
		int slot = take_slot(&copy, at, length, type);

		if (slot < 0)
			break;
		claim.slots |= (uint8_t)(1 << slot);
		claim.covered += length;
	}
	if (claim.covered == 0 || (claim.covered < size && !partial))
		return false;
	*dregs = copy;
	*ret = claim;
	return true;
}

void dregs_release(struct dregs *dregs, const struct dregs_claim *claim)
{
	for (int i = 0; i < DREGS_SLOTS; i++) {
		struct dregs_slot *slot = &dregs->slots[i];

		if ((claim->slots & (1 << i)) == 0 || slot->users == 0)
			continue;
		if (--slot->users == 0)
			*slot = (struct dregs_slot){ 0 };
	}
}

static unsigned int length_code(uint8_t length)
{
	switch (length) {
	case 2:
		return 1;
	case 4:
		return 3;
	case 8:
		return 2;
	default:
		return 0;
	}
}

/* The R/W and LEN bits of slot i, in their place. */
static uint64_t control_field(int i, unsigned int type, uint8_t length)
{
	uint64_t field = type | (length_code(length) << DR7_LENGTH_SHIFT);

	return field << (DR7_FIELD_SHIFT + i * DR7_FIELD_BITS);
}

uint64_t dregs_control(const struct dregs *dregs)
{
	uint64_t control = 0;

	for (int i = 0; i < DREGS_SLOTS; i++) {
		const struct dregs_slot *slot = &dregs->slots[i];

		if (slot->length == 0)
			continue;
		control |= (uint64_t)DR7_LOCAL_ENABLE << (i * DR7_ENABLE_BITS);
		control |= control_field(i, slot->type, slot->length);
	}
	return control;
}

/*
 * Not 0: an R/W field of 0 asks for an execution breakpoint, which the kernel
 * keeps with a length of its own. A disabled 1-byte write watch fits anywhere.
 */
uint64_t dregs_control_neutral(void)
{
	uint64_t control = 0;

	for (int i = 0; i < DREGS_SLOTS; i++)
		control |= control_field(i, DREGS_WRITE, 1);
	return control;
}
