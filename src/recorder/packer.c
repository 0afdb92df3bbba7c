/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A step whose words are all predicted takes no more than a bit of a byte, if the
 * superblock before it was followed by it the last time, too.
 */
#include "recorder/packer.h"

#include "recorder/os.h"

enum {
	NUMBER_BYTES = 10, /* at most */
	RUN_MAX = 64,
	STEP_WORDS = 4, /* bits of the first byte of a step */
	STEP_EXIT_SHIFT = 3,
	STEP_RUN = 0x80,
	STEP_EVENT = 0xc0,
};

void packer_begin(struct packer *packer, uint32_t thread, uint64_t first,
		  uint64_t sequence)
{
	static const struct predict nothing;

	packer->head = (struct trace_stream){ .version = TRACE_STREAM_VERSION,
					      .thread = thread,
					      .first = first,
					      .last = first - 1,
					      .sequence = sequence };
	packer->run = packer->items = packer->words = 0;
	os_copy(&packer->predict, &nothing, sizeof(nothing));
}

bool packer_has_room(const struct packer *packer, uint32_t words)
{
	uint32_t most = 4 + words / 8 + (words + 4) * NUMBER_BYTES;

	/* as many events are in that many words, at most */
	return packer->head.size + most <= TRACE_STREAM_BYTES &&
	       packer->items + words + 2 <= TRACE_STREAM_STEPS &&
	       packer->words + 2 * words + TRACE_STREAM_NUMBERS_MAX <=
		       TRACE_STREAM_WORDS;
}

static void put_byte(struct packer *packer, uint32_t byte)
{
	packer->bytes[packer->head.size++] = (unsigned char)byte;
}

static void put_number(struct packer *packer, uint64_t number)
{
	while (number >= 0x80) {
		put_byte(packer, (uint32_t)(number & 0x7f) | 0x80);
		number >>= 7;
	}
	put_byte(packer, (uint32_t)number);
}

static void end_run(struct packer *packer)
{
	if (packer->run > 0)
		put_byte(packer, STEP_RUN | (packer->run - 1));
	packer->run = 0;
}

static uint64_t word_of(const struct packer_step *step, uint32_t i)
{
	return i == 0 ? step->accesses : step->words[i - 1];
}

static bool is_predicted(struct packer *packer, const struct packer_step *step)
{
	for (uint32_t i = 0; i < step->count; i++) {
		const struct predict_word *word =
			predict_word(&packer->predict, step->id, i);

		if (predict_value(word) != word_of(step, i))
			return false;
	}
	return true;
}

static void learn_words(struct packer *packer, const struct packer_step *step)
{
	for (uint32_t i = 0; i < step->count; i++)
		predict_learn(predict_word(&packer->predict, step->id, i),
			      word_of(step, i));
}

static void put_words(struct packer *packer, const struct packer_step *step)
{
	unsigned char *bits = packer->bytes + packer->head.size;

	for (uint32_t i = 0; i < step->count; i += 8)
		put_byte(packer, 0);
	for (uint32_t i = 0; i < step->count; i++) {
		struct predict_word *word =
			predict_word(&packer->predict, step->id, i);
		uint64_t value = word_of(step, i);

		if (predict_value(word) != value) {
			bits[i / 8] |= (unsigned char)(1u << i % 8);
			put_number(packer, predict_fold(value - word->last));
		}
		predict_learn(word, value);
	}
}

static void put_step(struct packer *packer, const struct packer_step *step,
		     uint32_t follower, bool same_exit, bool same_words)
{
	uint32_t exit = same_exit ? 0 : step->exit < 6 ? step->exit + 1 : 7;

	end_run(packer);
	put_byte(packer, follower | (same_words ? 0 : STEP_WORDS) |
				 exit << STEP_EXIT_SHIFT);
	if (follower == 2)
		put_number(packer, step->id);
	if (exit == 7)
		put_number(packer, step->exit);
}

void packer_step(struct packer *packer, const struct packer_step *step)
{
	struct predict *predict = &packer->predict;
	const struct predict_block *before =
		predict_block(predict, predict->previous);
	uint32_t follower = before->next[0] == step->id	  ? 0
			    : before->next[1] == step->id ? 1
							  : 2;
	bool same_exit = predict_block(predict, step->id)->exit == step->exit;
	bool same_words = is_predicted(packer, step);

	if (follower == 0 && same_exit && same_words) {
		if (++packer->run == RUN_MAX)
			end_run(packer);
	} else {
		put_step(packer, step, follower, same_exit, same_words);
	}
	if (same_words)
		learn_words(packer, step);
	else
		put_words(packer, step);
	predict_step(predict, step->id, step->exit);
	packer->head.last++;
	packer->head.steps++;
	packer->items++;
	packer->words += step->count;
	packer->head.instructions += step->instructions;
}

void packer_event(struct packer *packer, enum trace_stream_event event,
		  const uint64_t *numbers)
{
	static const uint8_t count[] = TRACE_STREAM_NUMBERS;

	end_run(packer);
	put_byte(packer, STEP_EVENT | (uint32_t)event);
	for (uint32_t i = 0; i < count[event]; i++)
		put_number(packer, numbers[i]);
	if (event == TRACE_RESUMED)
		packer->head.last += numbers[0];
	packer->head.moves += event == TRACE_MOVED;
	packer->items++;
	packer->words += count[event];
}

void packer_end(struct packer *packer)
{
	end_run(packer);
}
