/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two superblocks are the same if their chunks are, but for the id.
 */
#include "recorder/superblocks.h"

#include "recorder/os.h"
#include "recorder/writer.h"

void superblocks_init(struct superblocks *superblocks)
{
	records_init(&superblocks->all, sizeof(struct superblock));
	table_init(&superblocks->by_hash);
}

void superblocks_deinit(struct superblocks *superblocks)
{
	for (uint32_t id = 1; id <= superblocks->all.count; id++)
		os_free(superblock_at(superblocks, id)->behind);
	records_deinit(&superblocks->all);
	table_deinit(&superblocks->by_hash);
}

static uint32_t hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t hash = seed;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * 0x100000001b3u;
	return table_hash(hash, size);
}

static bool is_same(const struct superblock *superblock,
		    const struct trace_superblock *head,
		    const unsigned char *behind, uint32_t size)
{
	struct trace_superblock other = superblock->head;

	other.id = 0;
	return superblock->behind_size == size &&
	       os_compare(&other, head, sizeof(other)) == 0 &&
	       os_compare(superblock->behind, behind, size) == 0;
}

static unsigned char *put(unsigned char *to, const void *from, size_t size)
{
	os_copy(to, from, size);
	return to + size;
}

/* What is behind the head, in a new block. */
static unsigned char *join(const struct superblock_draft *draft,
			   const void *code, uint32_t *ret_size)
{
	const struct trace_superblock *head = &draft->head;
	size_t slots = head->slots * sizeof(*draft->slots);
	size_t exits = head->exits * sizeof(*draft->exits);
	size_t size = slots + exits + head->instructions + head->size;
	unsigned char *behind = os_alloc(size), *to = behind;

	to = put(to, draft->slots, slots);
	to = put(to, draft->exits, exits);
	to = put(to, draft->lengths, head->instructions);
	put(to, code, head->size);
	*ret_size = (uint32_t)size;
	return behind;
}

static struct superblock *add(struct superblocks *superblocks,
			      const struct trace_superblock *head,
			      unsigned char *behind, uint32_t size)
{
	uint32_t id = records_add(&superblocks->all);
	struct superblock *superblock;

	if (id == 0)
		return NULL;
	superblock = superblock_at(superblocks, id);
	superblock->id = id;
	superblock->head = *head;
	superblock->head.id = id;
	superblock->behind = behind;
	superblock->behind_size = size;
	superblock->exits =
		(const void *)(behind +
			       head->slots * sizeof(struct trace_slot));
	return superblock;
}

struct superblock *superblocks_find(struct superblocks *superblocks,
				    const struct superblock_draft *draft,
				    const void *code)
{
	uint32_t size, id, at = 0, hash;
	unsigned char *behind = join(draft, code, &size);
	struct superblock *superblock;

	hash = hash_bytes(draft->head.address, behind, size);
	while ((id = table_next(&superblocks->by_hash, hash, &at)) != 0) {
		superblock = superblock_at(superblocks, id);
		if (is_same(superblock, &draft->head, behind, size)) {
			os_free(behind);
			return superblock;
		}
	}
	superblock = add(superblocks, &draft->head, behind, size);
	if (superblock)
		table_add(&superblocks->by_hash, hash, superblock->id);
	else
		os_free(behind);
	return superblock;
}

/* Words that a step has of a slot. */
static uint32_t words_of(const struct trace_slot *slot)
{
	return (slot->address.source == TRACE_FROM_WORD) +
	       (slot->value.source == TRACE_FROM_WORD) +
	       (slot->conditional != 0);
}

/* Arguments of the function that it is the entry of. */
enum { ARGUMENT_WORDS = 3 };

/* The lengths and the slots of the draft's instructions, which are the first. */
static void cut_slots(struct superblock_draft *draft,
		      const struct superblock *superblock,
		      const uint8_t *lengths)
{
	const struct trace_slot *slots = (const void *)superblock->behind;
	struct trace_superblock *head = &draft->head;

	for (uint32_t i = 0; i < head->instructions; i++) {
		draft->lengths[i] = lengths[i];
		head->size += lengths[i];
	}
	for (; head->slots < superblock->head.slots &&
	       slots[head->slots].instruction < head->instructions;
	     head->slots++) {
		draft->slots[head->slots] = slots[head->slots];
		head->words += (uint16_t)words_of(&slots[head->slots]);
	}
}

struct superblock *superblocks_cut(struct superblocks *superblocks,
				   const struct superblock *superblock,
				   uint32_t instructions)
{
	const struct trace_superblock *whole = &superblock->head;
	const uint8_t *lengths =
		(const void *)(superblock->exits + whole->exits);
	struct superblock_draft *draft;
	struct trace_superblock *head;
	struct superblock *cut;

	if (instructions >= whole->instructions)
		return NULL;
	draft = os_alloc(sizeof(*draft));
	head = &draft->head;
	*head = *whole;
	head->id = head->size = 0;
	head->instructions = (uint16_t)instructions;
	head->words = whole->name[0] ? ARGUMENT_WORDS : 0;
	head->slots = 0;
	head->ends = TRACE_ENDS_OTHER;
	head->exits = 1;
	cut_slots(draft, superblock, lengths);
	draft->exits[0] =
		(struct trace_exit){ .instructions = head->instructions,
				     .slots = head->slots,
				     .words = head->words };
	cut = superblocks_find(superblocks, draft,
			       lengths + whole->instructions);
	os_free(draft);
	return cut;
}

void superblock_write(struct superblock *superblock, struct writer *writer)
{
	if (superblock->written)
		return;
	superblock->written = true;
	writer_chunk(writer, TRACE_SUPERBLOCK, &superblock->head,
		     sizeof(superblock->head), superblock->behind,
		     superblock->behind_size);
}

void superblocks_forget_written(struct superblocks *superblocks)
{
	for (uint32_t id = 1; id <= superblocks->all.count; id++)
		superblock_at(superblocks, id)->written = false;
}
