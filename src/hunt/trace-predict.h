/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is predicted in a TRACE_STREAM (hunt/trace-stream.h): the superblock that
 * follows on another, the exit by which one is left, and the words of a step. The
 * recorder and the reader keep the same tables. Two things may share a place of a
 * table; then predictions are worse. Without a C library.
 */
#ifndef HUNT_TRACE_PREDICT_H
#define HUNT_TRACE_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

enum { PREDICT_WORDS = 4096, PREDICT_BLOCKS = 2048 };

struct predict_word {
	uint64_t last;
	int64_t stride; /* of the last two times, if it was the same */
	int64_t step; /* of the last time */
};

struct predict_block {
	uint32_t next[2]; /* what followed, the last one first */
	uint32_t exit;
};

struct predict {
	uint32_t previous; /* superblock of the step before; 0: none */
	struct predict_block blocks[PREDICT_BLOCKS];
	struct predict_word words[PREDICT_WORDS];
};

static inline struct predict_block *predict_block(struct predict *predict,
						  uint32_t id)
{
	return &predict->blocks[(id * 0x9e3779b1u) >> 21];
}

static inline struct predict_word *predict_word(struct predict *predict,
						uint32_t id, uint32_t i)
{
	/* those of one step never share a place */
	return &predict->words[(((id * 0x9e3779b1u) >> 20) + i) %
			       PREDICT_WORDS];
}

static inline uint64_t predict_value(const struct predict_word *word)
{
	return word->last + (uint64_t)word->stride;
}

/* It is value now. */
static inline void predict_learn(struct predict_word *word, uint64_t value)
{
	int64_t step = (int64_t)(value - word->last);

	if (step == word->step)
		word->stride = step;
	word->step = step;
	word->last = value;
}

/* The superblock id is executed and left by the exit. */
static inline void predict_step(struct predict *predict, uint32_t id,
				uint32_t exit)
{
	struct predict_block *before =
		predict_block(predict, predict->previous);

	if (before->next[0] != id) {
		before->next[1] = before->next[0];
		before->next[0] = id;
	}
	predict_block(predict, id)->exit = exit;
	predict->previous = id;
}

/* A difference as a number that is small if it is near zero. */
static inline uint64_t predict_fold(uint64_t difference)
{
	return (difference << 1) ^ (0 - (difference >> 63));
}

static inline uint64_t predict_unfold(uint64_t number)
{
	return (number >> 1) ^ (0 - (number & 1));
}

#endif
