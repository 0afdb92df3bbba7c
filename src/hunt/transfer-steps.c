/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Steps by their numbers; see transfer-parts.h. A cursor has a whole chunk
 * unpacked, so those that were used last are kept.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hunt/executed-parts.h"
#include "hunt/transfer-parts.h"

void transfer_steps_init(struct transfer_steps *steps,
			 struct executed *executed, struct decoder *decoder)
{
	*steps = (struct transfer_steps){
		.executed = executed,
		.decoder = decoder,
		.codes = VEC_INIT(struct transfer_code),
	};
}

void transfer_steps_deinit(struct transfer_steps *steps)
{
	for (size_t i = 0; i < steps->codes.count; i++)
		free(((struct transfer_code *)vec_at(&steps->codes, i))
			     ->origins);
	vec_deinit(&steps->codes);
	map_deinit(&steps->code_ids);
	for (size_t i = 0; i < TRANSFER_CURSORS; i++) {
		if (steps->cursors[i].valid)
			executed_cursor_deinit(&steps->cursors[i].cursor);
	}
}

/* Is the step, or the place where it would be, in the cursor's chunk? */
static bool covers(const struct transfer_cursor *cursor, uint32_t thread,
		   uint64_t number)
{
	const struct vec *steps = &cursor->cursor.unpacked.steps;
	const struct unpacked_step *first, *last;

	if (!cursor->valid || cursor->cursor.thread != thread ||
	    steps->count == 0)
		return false;
	first = vec_at(steps, 0);
	last = vec_at(steps, steps->count - 1);
	/* events at the start follow a step of the chunk before */
	while (first < last && first->superblock == 0)
		first++;
	return first->superblock != 0 && first->number <= number &&
	       number <= last->number;
}

/* To the last step at or before the number, of those in its chunk. */
static void move_to(struct executed_cursor *cursor, uint64_t number)
{
	const struct vec *steps = &cursor->unpacked.steps;
	size_t low = 0, high = steps->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		const struct unpacked_step *step = vec_at(steps, middle);

		if (step->number <= number)
			low = middle;
		else
			high = middle;
	}
	/* there is a step at or before the number: covers() */
	while (((const struct unpacked_step *)vec_at(steps, low))->superblock ==
	       0)
		low--;
	cursor->step = low;
}

/* True: *ret covers the step. Else *ret is the cursor that was used first. */
static bool find(struct transfer_steps *steps, uint32_t thread, uint64_t number,
		 struct transfer_cursor **ret)
{
	*ret = &steps->cursors[0];
	for (size_t i = 0; i < TRANSFER_CURSORS; i++) {
		struct transfer_cursor *cursor = &steps->cursors[i];

		if (covers(cursor, thread, number)) {
			*ret = cursor;
			return true;
		}
		if (cursor->used < (*ret)->used)
			*ret = cursor;
	}
	return false;
}

struct error *transfer_steps_seek(struct transfer_steps *steps, uint32_t thread,
				  uint64_t number, struct executed_cursor **ret)
{
	struct transfer_cursor *cursor;
	struct error *err = NULL;
	bool found = true;

	if (find(steps, thread, number, &cursor)) {
		move_to(&cursor->cursor, number);
	} else {
		if (cursor->valid)
			executed_cursor_deinit(&cursor->cursor);
		cursor->valid = true;
		err = executed_seek(steps->executed, thread, number,
				    &cursor->cursor, &found);
	}
	cursor->used = ++steps->uses;
	*ret = found ? &cursor->cursor : NULL;
	return err;
}

/* rt_sigreturn(2), as the C library makes it: the kernel sets all registers. */
static bool is_sigreturn(const struct translated *translated, size_t end)
{
	static const uint8_t returns[][9] = {
		{ 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 },
		{ 0xb8, 15, 0, 0, 0, 0x0f, 0x05 },
	};
	static const size_t sizes[] = { 9, 7 };

	for (size_t i = 0; i < 2; i++) {
		if (end >= sizes[i] && memcmp(translated->code + end - sizes[i],
					      returns[i], sizes[i]) == 0)
			return true;
	}
	return false;
}

static struct error *decode(struct transfer_steps *steps, uint32_t id)
{
	struct transfer_code *code = vec_append(&steps->codes);
	const struct translated *translated =
		executed_superblock(steps->executed, id);
	const struct trace_superblock *head = translated->head;
	size_t at = 0;

	if (!code)
		return error_nomem;
	code->translated = translated;
	code->origins = calloc(head->instructions + 1u, sizeof(*code->origins));
	if (!code->origins ||
	    !map_set(&steps->code_ids, id, steps->codes.count - 1))
		return error_nomem;
	for (uint32_t i = 0; i < head->instructions; i++) {
		origins_find(steps->decoder, translated->code + at,
			     translated->lengths[i], head->address + at,
			     &code->origins[i]);
		at += translated->lengths[i];
		if (is_sigreturn(translated, at))
			code->origins[i] =
				(struct origins){ .written = UINT64_MAX };
		code->written |= code->origins[i].written;
	}
	return NULL;
}

struct error *transfer_steps_code(struct transfer_steps *steps, uint32_t id,
				  const struct transfer_code **ret)
{
	const uint64_t *place = map_get(&steps->code_ids, id);
	struct error *err = NULL;

	if (!place) {
		err = decode(steps, id);
		place = map_get(&steps->code_ids, id);
	}
	if (!err)
		*ret = vec_at(&steps->codes, *place);
	return err;
}

bool transfer_accesses_read(struct transfer_accesses *accesses,
			    const struct executed_cursor *cursor)
{
	const struct unpacked_step *step = executed_step(cursor);
	const struct translated *translated =
		executed_superblock(cursor->executed, step->superblock);
	size_t count = translated_count(translated, step->exit);

	if (count > accesses->room) {
		struct translated_access *all =
			realloc(accesses->all, count * sizeof(*accesses->all));

		if (!all)
			return false;
		accesses->all = all;
		accesses->room = count;
	}
	accesses->count = count;
	translated_accesses(translated, step->exit, executed_words(cursor),
			    accesses->all);
	return true;
}

void transfer_accesses_deinit(struct transfer_accesses *accesses)
{
	free(accesses->all);
}
