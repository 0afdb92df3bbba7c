/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/recorder/packer.c and src/hunt/unpack.c: what is packed comes out again, and
 * bytes that no packer writes are refused.
 */
#include "recorder/packer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "hunt/unpack.h"

enum { STEPS = 20000, WORDS = 12, SUPERBLOCKS = 60, FIRST = 1000 };

struct step {
	uint32_t id, exit, accesses;
	uint64_t words[WORDS];
};

/* A superblock has id % WORDS words at exit 1, and half of them at exit 0. */
static int words_of(const void *codes, uint32_t superblock, uint32_t exit)
{
	(void)codes;
	if (superblock == 0 || superblock > SUPERBLOCKS || exit > 9)
		return -1;
	return (int)(exit == 0 ? superblock % WORDS / 2 : superblock % WORDS);
}

static const struct unpack_codes codes = { words_of, NULL };
static struct packer *packer;
static struct step *steps;

static int set_up(void **state)
{
	(void)state;
	packer = calloc(1, sizeof(*packer));
	steps = calloc(STEPS, sizeof(*steps));
	assert_non_null(packer);
	assert_non_null(steps);
	packer_begin(packer, 7, FIRST, 500);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(packer);
	free(steps);
	return 0;
}

static void pack(const struct step *step)
{
	const struct packer_step packed = {
		.id = step->id,
		.exit = step->exit,
		.count = (uint32_t)words_of(NULL, step->id, step->exit) + 1,
		.instructions = 3,
		.accesses = step->accesses,
		.words = step->words,
	};

	assert_true(packer_has_room(packer, WORDS));
	packer_step(packer, &packed);
}

/* The chunk as it is in a file: head and bytes together. */
static struct trace_stream *chunk_of(void)
{
	struct trace_stream *chunk;

	packer_end(packer);
	chunk = malloc(sizeof(*chunk) + packer->head.size);
	assert_non_null(chunk);
	*chunk = packer->head;
	memcpy(chunk + 1, packer->bytes, packer->head.size);
	return chunk;
}

static struct unpacked unpack_all(void)
{
	struct trace_stream *chunk = chunk_of();
	struct unpacked unpacked = { 0 };
	bool is_wrong;

	assert_true(unpack(chunk, &codes, &unpacked, &is_wrong));
	assert_false(is_wrong);
	free(chunk);
	return unpacked;
}

static const uint64_t *numbers_of(const struct unpacked *unpacked, size_t i)
{
	const struct unpacked_step *step = vec_at(&unpacked->steps, i);

	return (const uint64_t *)unpacked->words.items + step->words;
}

static void assert_step(const struct unpacked *unpacked, size_t i,
			const struct step *expected)
{
	const struct unpacked_step *step = vec_at(&unpacked->steps, i);
	int words = words_of(NULL, expected->id, expected->exit);

	assert_int_equal(step->superblock, expected->id);
	assert_int_equal(step->exit, expected->exit);
	assert_int_equal(step->accesses, expected->accesses);
	assert_memory_equal(numbers_of(unpacked, i), expected->words,
			    (size_t)words * sizeof(uint64_t));
}

/* Loops, strides, and now and then anything: a program is like that. */
static void make_step(struct step *step, uint32_t i)
{
	bool odd = rand() % 16 == 0;

	step->id = odd ? 1 + (uint32_t)rand() % SUPERBLOCKS : 1 + i / 50 % 40;
	step->exit = rand() % 64 == 0 ? (uint32_t)rand() % 10 : 1;
	step->accesses = step->id % 4;
	for (uint32_t w = 0; w < WORDS; w++)
		step->words[w] = rand() % 32 == 0 ? (uint64_t)rand() << 33 ^
							    (uint64_t)rand()
						  : 0x7f0000000000u + i * w * 8;
}

static void what_is_packed_comes_out_again(void **state)
{
	uint64_t sequence = 500;
	struct unpacked unpacked;
	uint32_t count = 0;

	(void)state;
	srand(5);
	while (count < STEPS && packer_has_room(packer, WORDS)) {
		make_step(&steps[count], count);
		pack(&steps[count]);
		count++;
	}
	assert_true(count > 1000);
	assert_int_equal(packer->head.instructions, 3 * count);
	unpacked = unpack_all();
	assert_int_equal(unpacked.steps.count, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct unpacked_step *step = vec_at(&unpacked.steps, i);

		assert_step(&unpacked, i, &steps[i]);
		assert_int_equal(step->number, FIRST + i);
		assert_int_equal(step->sequence, sequence);
		sequence += steps[i].accesses;
	}
	unpacked_deinit(&unpacked);
}

static void a_loop_of_strides_takes_less_than_a_bit_a_word(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 6400; i++) {
		steps[i] = (struct step){ .id = 11, .exit = 1, .accesses = 2 };
		for (uint32_t w = 0; w < 11; w++)
			steps[i].words[w] = 4096 + i * w;
		pack(&steps[i]);
	}
	packer_end(packer);
	/* 64 steps a byte, and some bytes until the strides are known */
	assert_in_range(packer->head.size, 100, 160);
}

static void events_keep_their_place_and_numbers(void **state)
{
	const uint64_t resumed[] = { 41, 9 };
	const uint64_t heap[] = { 0, 0x5000, UINT64_MAX };
	const uint64_t moved[] = { 0, 4, 1, 77, 8, 1 };
	struct step step = { .id = 3, .exit = 1, .accesses = 1 };
	const struct unpacked_step *at;
	struct unpacked unpacked;

	(void)state;
	pack(&step);
	packer_event(packer, TRACE_HEAP, heap);
	packer_event(packer, TRACE_RESUMED, resumed);
	pack(&step);
	packer_event(packer, TRACE_MOVED, moved);
	unpacked = unpack_all();
	assert_int_equal(unpacked.steps.count, 4);
	at = vec_at(&unpacked.steps, 1);
	assert_int_equal(at->superblock, 0);
	assert_int_equal(at->event, TRACE_HEAP);
	assert_int_equal(at->number, FIRST);
	assert_memory_equal(numbers_of(&unpacked, 1), heap, sizeof(heap));
	at = vec_at(&unpacked.steps, 2);
	assert_int_equal(at->number, FIRST + 42);
	assert_int_equal(at->sequence, 510);
	assert_memory_equal(numbers_of(&unpacked, 3), moved, sizeof(moved));
	assert_int_equal(packer->head.last, FIRST + 42);
	unpacked_deinit(&unpacked);
}

/* A loop that takes no bytes ends a chunk, too: a reader needs memory for it. */
static void a_chunk_has_a_bounded_number_of_steps_and_words(void **state)
{
	struct step step = { .id = 11, .exit = 1 };
	struct unpacked unpacked;
	uint32_t count = 0;

	(void)state;
	while (packer_has_room(packer, WORDS)) {
		pack(&step);
		count++;
	}
	assert_in_range(count, TRACE_STREAM_WORDS / 16, TRACE_STREAM_STEPS);
	assert_in_range(count * 11, 1, TRACE_STREAM_WORDS);
	unpacked = unpack_all();
	assert_int_equal(unpacked.steps.count, count);
	unpacked_deinit(&unpacked);
}

static void what_would_take_more_memory_is_refused(void **state)
{
	struct step step = { .id = 12, .exit = 1 };
	struct unpacked unpacked = { 0 };
	struct trace_stream *chunk;
	bool is_wrong;

	(void)state;
	pack(&step);
	pack(&step);
	pack(&step);
	packer_end(packer);
	while (packer->head.size < TRACE_STREAM_BYTES)
		packer->bytes[packer->head.size++] = 0xbf; /* 64 steps */
	packer->head.last = FIRST + 2 + (TRACE_STREAM_BYTES - 100) * 64;
	chunk = chunk_of();
	assert_false(unpack(chunk, &codes, &unpacked, &is_wrong));
	assert_true(is_wrong);
	assert_in_range(unpacked.steps.count, 1, TRACE_STREAM_STEPS);
	unpacked_deinit(&unpacked);
	free(chunk);
}

/* Whatever its bytes are, a chunk is unpacked or refused. */
static void wrong_bytes_are_refused(void **state)
{
	struct unpacked unpacked = { 0 };
	struct trace_stream *chunk;
	uint32_t refused = 0;

	(void)state;
	srand(9);
	for (uint32_t i = 0; i < 300; i++) {
		make_step(&steps[i], i);
		pack(&steps[i]);
	}
	chunk = chunk_of();
	for (uint32_t i = 0; i < 2000; i++) {
		unsigned char *bytes = (unsigned char *)(chunk + 1);
		uint32_t at = (uint32_t)rand() % chunk->size;
		unsigned char kept = bytes[at];
		bool is_wrong;

		bytes[at] = (unsigned char)rand();
		if (!unpack(chunk, &codes, &unpacked, &is_wrong)) {
			assert_true(is_wrong);
			refused++;
		}
		bytes[at] = kept;
	}
	assert_true(refused > 100);
	chunk->size--;
	assert_false(unpack(chunk, &codes, &unpacked, &(bool){ false }));
	unpacked_deinit(&unpacked);
	free(chunk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_packed_comes_out_again,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_loop_of_strides_takes_less_than_a_bit_a_word, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			events_keep_their_place_and_numbers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_chunk_has_a_bounded_number_of_steps_and_words, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			what_would_take_more_memory_is_refused, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(wrong_bytes_are_refused, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
