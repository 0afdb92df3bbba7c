/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chains of hand-overs; see transfer-chains.h. What a sender's store leads to is
 * tracked once, from the beginning of the recording on; of each question those
 * count that it asks for.
 */
#include "hunt/transfer-chains.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "hunt/transfer-track.h"

struct transfer_chains {
	struct transfer_tracker *tracker;
	struct map known; /* key_of() to places in `lists' */
	struct vec lists; /* of struct vec of struct transfer */
};

struct error *transfer_chains_create(struct transfer_tracker *tracker,
				     struct transfer_chains **ret)
{
	struct transfer_chains *chains = calloc(1, sizeof(*chains));

	if (!chains)
		return error_nomem;
	chains->tracker = tracker;
	chains->lists = (struct vec)VEC_INIT(struct vec);
	*ret = chains;
	return NULL;
}

void transfer_chains_destroy(struct transfer_chains *chains)
{
	if (!chains)
		return;
	for (size_t i = 0; i < chains->lists.count; i++)
		vec_deinit(vec_at(&chains->lists, i));
	vec_deinit(&chains->lists);
	map_deinit(&chains->known);
	free(chains);
}

/* Of a store, and of what is tracked from it: of a block all addresses are alike. */
static uint64_t key_of(const struct transfer_question *question,
		       const struct transfer *transfer)
{
	const uint64_t parts[] = {
		transfer->sent.thread,
		transfer->sent.number,
		transfer->sent.access,
		question->block,
		question->block_size,
		question->block_number,
		question->block_size ? 0 : question->address,
	};

	return hash_blocks(parts, sizeof(parts));
}

/* What led to the store that sent it; valid until the next call. */
static struct error *find_list(struct transfer_chains *chains,
			       const struct transfer_question *question,
			       const struct transfer *transfer, uint64_t key,
			       const struct vec **ret, uint64_t *instructions)
{
	const uint64_t *known = map_get(&chains->known, key);
	struct transfer_question asked = *question;
	uint64_t gone = 0;
	struct vec *list;
	struct error *err;

	if (known) {
		*ret = vec_at(&chains->lists, *known);
		return NULL;
	}
	asked.access = transfer->sent;
	asked.is_stored = true;
	asked.is_direct = true;
	asked.since = 0;
	asked.is_enough = NULL;
	if (!map_set(&chains->known, key, chains->lists.count) ||
	    !(list = vec_append(&chains->lists)))
		return error_nomem;
	*list = (struct vec)VEC_INIT(struct transfer);
	err = transfer_track(chains->tracker, &asked, list, &gone);
	*instructions += gone;
	*ret = list;
	return err;
}

/*
 * Those of the list that the question asks for, handed on by hand-over `next'. One
 * that was handed on by an older one is older still.
 */
static struct error *append_list(const struct vec *list, uint64_t since,
				 size_t next, struct vec *ret)
{
	struct map places = { 0 }; /* in the list to those in *ret, from 1 */
	struct error *err = NULL;

	for (size_t i = 0; !err && i < list->count; i++) {
		struct transfer transfer =
			*(const struct transfer *)vec_at(list, i);
		const uint64_t *place = map_get(&places, transfer.next);

		if (transfer.sent.number < since || (transfer.next && !place))
			continue;
		transfer.next = place ? *place : next;
		if (!vec_push(ret, &transfer) ||
		    !map_set(&places, i + 1, ret->count))
			err = error_nomem;
	}
	map_deinit(&places);
	return err;
}

static bool is_enough(const struct transfer_question *question,
		      const struct vec *transfers)
{
	return question->is_enough &&
	       question->is_enough(question->context, transfers);
}

/* What hand-over i leads to, unless it is there already. */
static struct error *follow(struct transfer_chains *chains,
			    const struct transfer_question *question, size_t i,
			    struct map *seen, struct vec *ret,
			    uint64_t *instructions)
{
	const struct transfer transfer =
		*(const struct transfer *)vec_at(ret, i);
	uint64_t key = key_of(question, &transfer);
	const struct vec *list;
	struct error *err;

	if (!transfer.is_own || map_get(seen, key))
		return NULL;
	if (!map_set(seen, key, 1))
		return error_nomem;
	err = find_list(chains, question, &transfer, key, &list, instructions);
	return err ? err : append_list(list, question->since, i + 1, ret);
}

struct error *transfer_chains_track(struct transfer_chains *chains,
				    const struct transfer_question *question,
				    struct vec *ret, uint64_t *ret_instructions)
{
	struct transfer_question asked = *question;
	struct map seen = { 0 };
	struct error *err;
	bool enough;

	asked.is_direct = true;
	err = transfer_track(chains->tracker, &asked, ret, ret_instructions);
	enough = !err && is_enough(question, ret);
	for (size_t i = 0;
	     !err && !enough && i < ret->count && ret->count < TRANSFER_CHAINED;
	     i++) {
		size_t before = ret->count;

		err = follow(chains, question, i, &seen, ret, ret_instructions);
		enough = !err && ret->count > before &&
			 is_enough(question, ret);
	}
	map_deinit(&seen);
	return err;
}
