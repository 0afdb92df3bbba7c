/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading superblocks; see translated.h. What is read once is checked, so that the
 * accesses of a step need no checks.
 */
#include "hunt/translated.h"

/* An operand takes words, or is of an earlier slot; an address also its own. */
static bool operand_is_right(const struct trace_operand *operand, uint32_t slot,
			     bool is_value)
{
	switch (operand->source) {
	case TRACE_FROM_NOTHING:
		return is_value;
	case TRACE_FROM_WORD:
	case TRACE_FROM_CONSTANT:
		return true;
	case TRACE_FROM_ADDRESS:
		return operand->of < slot + is_value;
	case TRACE_FROM_VALUE:
		return operand->of < slot;
	default:
		return false;
	}
}

static uint32_t words_of(const struct trace_slot *slot)
{
	return (slot->address.source == TRACE_FROM_WORD) +
	       (slot->value.source == TRACE_FROM_WORD) +
	       (slot->conditional != 0);
}

static uint32_t first_words(const struct translated *translated)
{
	return translated->head->name[0] ? 3 : 0;
}

static bool slots_are_right(const struct translated *translated)
{
	for (uint32_t i = 0; i < translated->head->slots; i++) {
		const struct trace_slot *slot = &translated->slots[i];

		if (slot->instruction >= translated->head->instructions ||
		    !operand_is_right(&slot->address, i, false) ||
		    !operand_is_right(&slot->value, i, true))
			return false;
	}
	return true;
}

/* An exit has the words of its slots. */
static bool exits_are_right(const struct translated *translated)
{
	const struct trace_superblock *head = translated->head;
	uint32_t words = first_words(translated), slot = 0;

	for (uint32_t i = 0; i < head->exits; i++) {
		const struct trace_exit *exit = &translated->exits[i];

		if (exit->instructions == 0 || exit->slots < slot ||
		    exit->slots > head->slots ||
		    exit->instructions > head->instructions)
			return false;
		while (slot < exit->slots)
			words += words_of(&translated->slots[slot++]);
		if (exit->words != words)
			return false;
	}
	return head->exits > 0 && slot == head->slots && words == head->words;
}

static bool lengths_are_right(const struct translated *translated)
{
	uint32_t size = 0;

	for (uint32_t i = 0; i < translated->head->instructions; i++)
		size += translated->lengths[i];
	return size <= translated->head->size;
}

bool translated_read(const struct trace_item *item, struct translated *ret)
{
	const struct trace_superblock *head = item->payload;
	struct translated translated = { .head = head, .slots = item->behind };

	translated.exits = (const void *)(translated.slots + head->slots);
	translated.lengths = (const void *)(translated.exits + head->exits);
	translated.code = translated.lengths + head->instructions;
	if (!slots_are_right(&translated) || !exits_are_right(&translated) ||
	    !lengths_are_right(&translated))
		return false;
	*ret = translated;
	return true;
}

size_t translated_count(const struct translated *translated, uint32_t exit)
{
	return translated->exits[exit].slots;
}

static uint64_t evaluate(const struct trace_operand *operand,
			 const struct translated_access *accesses,
			 const uint64_t **words)
{
	switch (operand->source) {
	case TRACE_FROM_WORD:
		return *(*words)++;
	case TRACE_FROM_CONSTANT:
		return operand->offset;
	case TRACE_FROM_ADDRESS:
		return accesses[operand->of].address + operand->offset;
	case TRACE_FROM_VALUE:
		return accesses[operand->of].value + operand->offset;
	default:
		return 0;
	}
}

/* What is stored of a sum that is longer. */
static uint64_t cut_value(uint64_t value, uint32_t size)
{
	return size < 8 ? value & ((1ull << 8 * size) - 1) : value;
}

void translated_accesses(const struct translated *translated, uint32_t exit,
			 const uint64_t *words, struct translated_access *ret)
{
	words += first_words(translated);
	for (size_t i = 0; i < translated_count(translated, exit); i++) {
		const struct trace_slot *slot = &translated->slots[i];

		ret[i] = (struct translated_access){
			.instruction = slot->instruction,
			.size = slot->size,
			.flags = slot->flags,
			.has_value = slot->value.source != TRACE_FROM_NOTHING,
			.done = true,
		};
		ret[i].address = evaluate(&slot->address, ret, &words);
		ret[i].value = cut_value(evaluate(&slot->value, ret, &words),
					 slot->size);
		if (slot->conditional)
			ret[i].done = *words++ != 0;
	}
}

uint64_t translated_address(const struct translated *translated,
			    uint32_t instruction)
{
	uint64_t address = translated->head->address;

	for (uint32_t i = 0; i < instruction; i++)
		address += translated->lengths[i];
	return address;
}
