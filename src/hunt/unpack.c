/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The inverse of recorder/packer.c.
 */
#include "hunt/unpack.h"

#include <stdlib.h>

#include "hunt/trace-predict.h"

struct unpacking {
	const unsigned char *at, *end;
	const struct unpack_codes *codes;
	struct unpacked *to;
	struct predict predict;
	uint64_t number, sequence;
	bool no_memory;
};

static bool get_byte(struct unpacking *unpacking, uint32_t *ret)
{
	if (unpacking->at == unpacking->end)
		return false;
	*ret = *unpacking->at++;
	return true;
}

static bool get_number(struct unpacking *unpacking, uint64_t *ret)
{
	uint32_t byte;

	*ret = 0;
	for (uint32_t shift = 0; shift < 64; shift += 7) {
		if (!get_byte(unpacking, &byte))
			return false;
		*ret |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* vec_push() takes longer for what is added word by word. */
static bool has_room(struct unpacking *unpacking, struct vec *vec)
{
	if (vec->count < vec->capacity || vec_reserve(vec, vec->count + 1))
		return true;
	unpacking->no_memory = true;
	return false;
}

static bool add_word(struct unpacking *unpacking, uint64_t word)
{
	struct vec *words = &unpacking->to->words;

	if (words->count == TRACE_STREAM_WORDS)
		return false;
	if (!has_room(unpacking, words))
		return false;
	((uint64_t *)words->items)[words->count++] = word;
	return true;
}

static bool add_step(struct unpacking *unpacking, uint32_t superblock,
		     uint32_t exit, uint32_t event)
{
	struct vec *steps = &unpacking->to->steps;
	const struct unpacked_step step = {
		.number = unpacking->number,
		.sequence = unpacking->sequence,
		.words = unpacking->to->words.count,
		.superblock = superblock,
		.exit = (uint16_t)exit,
		.event = (uint16_t)event,
	};

	if (steps->count == TRACE_STREAM_STEPS)
		return false;
	if (!has_room(unpacking, steps))
		return false;
	((struct unpacked_step *)steps->items)[steps->count++] = step;
	return true;
}

static struct unpacked_step *last_step(const struct unpacking *unpacking)
{
	const struct vec *steps = &unpacking->to->steps;

	return vec_at(steps, steps->count - 1);
}

/* bits: of the words that are not as predicted; NULL: all are. */
static bool get_words(struct unpacking *unpacking, uint32_t superblock,
		      uint32_t count, const unsigned char *bits)
{
	uint64_t accesses = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct predict_word *word =
			predict_word(&unpacking->predict, superblock, i);
		uint64_t value = predict_value(word), number;

		if (bits && bits[i / 8] & 1u << i % 8) {
			if (!get_number(unpacking, &number))
				return false;
			value = word->last + predict_unfold(number);
		}
		predict_learn(word, value);
		if (i == 0)
			accesses = value;
		else if (!add_word(unpacking, value))
			return false;
	}
	last_step(unpacking)->accesses = (uint32_t)accesses;
	unpacking->sequence += accesses;
	return true;
}

static bool get_bits(struct unpacking *unpacking, uint32_t count,
		     const unsigned char **ret)
{
	size_t size = (count + 7) / 8;

	if ((size_t)(unpacking->end - unpacking->at) < size)
		return false;
	*ret = unpacking->at;
	unpacking->at += size;
	return true;
}

static bool take_step(struct unpacking *unpacking, uint32_t superblock,
		      uint32_t exit, bool has_bits)
{
	int words = unpacking->codes->words(unpacking->codes->codes, superblock,
					    exit);
	const unsigned char *bits = NULL;

	if (words < 0)
		return false;
	unpacking->number++;
	if (!add_step(unpacking, superblock, exit, 0))
		return false;
	if (has_bits && !get_bits(unpacking, (uint32_t)words + 1, &bits))
		return false;
	if (!get_words(unpacking, superblock, (uint32_t)words + 1, bits))
		return false;
	predict_step(&unpacking->predict, superblock, exit);
	return true;
}

static struct predict_block *before(struct unpacking *unpacking)
{
	return predict_block(&unpacking->predict, unpacking->predict.previous);
}

static bool get_step(struct unpacking *unpacking, uint32_t byte)
{
	uint64_t superblock, exit = byte >> 3 & 7;
	uint32_t follower = byte & 3;

	if (follower == 3)
		return false;
	if (follower == 2) {
		if (!get_number(unpacking, &superblock))
			return false;
	} else {
		superblock = before(unpacking)->next[follower];
	}
	if (superblock == 0 || superblock > UINT32_MAX)
		return false;
	if (exit == 0)
		exit = predict_block(&unpacking->predict, (uint32_t)superblock)
			       ->exit;
	else if (exit < 7)
		exit--;
	else if (!get_number(unpacking, &exit) || exit > UINT16_MAX)
		return false;
	return take_step(unpacking, (uint32_t)superblock, (uint32_t)exit,
			 byte & 4);
}

static bool get_run(struct unpacking *unpacking, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t superblock = before(unpacking)->next[0];
		uint32_t exit =
			predict_block(&unpacking->predict, superblock)->exit;

		if (superblock == 0 ||
		    !take_step(unpacking, superblock, exit, false))
			return false;
	}
	return true;
}

static bool get_event(struct unpacking *unpacking, uint32_t event)
{
	static const uint8_t counts[] = TRACE_STREAM_NUMBERS;
	uint64_t numbers[TRACE_STREAM_NUMBERS_MAX] = { 0 };

	if (event >= TRACE_STREAM_EVENTS)
		return false;
	for (uint32_t i = 0; i < counts[event]; i++) {
		if (!get_number(unpacking, &numbers[i]))
			return false;
	}
	if (event == TRACE_RESUMED) {
		unpacking->number += numbers[0];
		unpacking->sequence += numbers[1];
		return true;
	}
	if (!add_step(unpacking, 0, 0, event))
		return false;
	for (uint32_t i = 0; i < counts[event]; i++) {
		if (!add_word(unpacking, numbers[i]))
			return false;
	}
	return true;
}

static bool get_all(struct unpacking *unpacking)
{
	uint32_t byte;

	while (get_byte(unpacking, &byte)) {
		bool right;

		if (byte < 0x80)
			right = get_step(unpacking, byte);
		else if (byte < 0xc0)
			right = get_run(unpacking, (byte & 0x3f) + 1);
		else
			right = get_event(unpacking, byte & 0x3f);
		if (!right)
			return false;
	}
	return true;
}

bool unpack(const struct trace_stream *chunk, const struct unpack_codes *codes,
	    struct unpacked *ret, bool *ret_wrong)
{
	struct unpacking *unpacking = calloc(1, sizeof(*unpacking));
	bool done;

	*ret_wrong = false;
	if (!unpacking)
		return false;
	ret->steps.size = sizeof(struct unpacked_step);
	ret->words.size = sizeof(uint64_t);
	vec_clear(&ret->steps);
	vec_clear(&ret->words);
	unpacking->at = (const unsigned char *)(chunk + 1);
	unpacking->end = unpacking->at + chunk->size;
	unpacking->codes = codes;
	unpacking->to = ret;
	unpacking->number = chunk->first - 1;
	unpacking->sequence = chunk->sequence;
	done = get_all(unpacking);
	*ret_wrong = !done && !unpacking->no_memory;
	if (done &&
	    (unpacking->number != chunk->last || ret->steps.count == 0)) {
		done = false;
		*ret_wrong = true;
	}
	free(unpacking);
	return done;
}

void unpacked_deinit(struct unpacked *unpacking)
{
	vec_deinit(&unpacking->steps);
	vec_deinit(&unpacking->words);
}
