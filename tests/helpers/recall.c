/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recall [--lost] FOLDER [OTHER]: what the limits of the fold have lost in the traces
 * of `record --whole FOLDER', which have a fold without limits of the same
 * execution; or what of that the traces in OTHER have, of another execution. Prints
 *
 *	pairs KEPT of ALL accesses N dropped N memory BYTES left-out CELLS
 *
 * summed over the processes: pairs of conflicting instructions, less runtimes,
 * that no creation or join of threads orders (hunt/pairs.h). --lost: before it, a
 * line for each pair that is lost: the two instructions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hunt/code.h"
#include "hunt/order.h"
#include "hunt/pairs.h"
#include "hunt/recording.h"
#include "hunt/traces.h"
#include "report/target-record.h"

struct recall {
	struct code *code;
	struct pairs kept, all;
	bool has_other; /* what is kept is of other traces */
	uint64_t accesses, dropped, memory;
};

/* The pairs of another execution. */
static struct error *take_other(struct recall *recall,
				struct recording *recording)
{
	struct order *order;
	struct error *err = order_create(recording, &order);

	if (err)
		return err;
	err = pairs_find(&recall->kept, recording, 0, order, recall->code);
	order_destroy(order);
	return err;
}

static struct error *compare(struct recall *recall, struct recording *recording)
{
	struct order *order;
	struct error *err = order_create(recording, &order);
	struct vec cells = recording->cells;

	if (err)
		return err;
	if (!recall->has_other)
		err = pairs_find(&recall->kept, recording, 0, order,
				 recall->code);
	recording->cells = recording->whole;
	if (!err)
		err = pairs_find(&recall->all, recording, 0, order,
				 recall->code);
	recording->cells = cells;
	order_destroy(order);
	recall->accesses += recording->end.sequence;
	recall->dropped += recording->end.dropped_cells;
	recall->memory += recording->end.memory;
	return err;
}

typedef struct error *taker(struct recall *recall, struct recording *recording);

static struct error *read_trace(struct recall *recall, const char *path,
				taker *take)
{
	struct recording recording;
	struct error *err = recording_open(path, &recording);

	if (err)
		return err;
	err = take(recall, &recording);
	recording_close(&recording);
	return err;
}

static struct error *read_all(struct recall *recall, const char *folder,
			      taker *take)
{
	struct vec paths = VEC_INIT(char *);
	struct error *err = traces_find(folder, &paths);

	for (size_t i = 0; !err && i < paths.count; i++)
		err = read_trace(recall, *(char **)vec_at(&paths, i), take);
	traces_free(&paths);
	return err;
}

static void print_place(const struct recall *recall, uint32_t number,
			const char *end)
{
	struct hunt_place place = { 0 };
	char *function = NULL;
	struct error *err = code_place(recall->code, number, &place);

	if (!err)
		err = code_function(recall->code, number, &function);
	printf("%s+0x%" PRIx64 " %s%s", place.module ? place.module : "?",
	       place.offset, function ? function : "?", end);
	error_free(err);
	free(function);
	free(place.module);
	free(place.build_id);
}

/* How many pairs of the fold without limits the other one has. */
static uint64_t count_kept(const struct recall *recall, bool prints)
{
	uint64_t kept = 0, pair, value;
	size_t cursor = 0;

	while (map_next(&recall->all.unordered, &cursor, &pair, &value)) {
		if (map_get(&recall->kept.unordered, pair)) {
			kept++;
		} else if (prints) {
			print_place(recall, (uint32_t)(pair >> 32), "\t");
			print_place(recall, (uint32_t)pair, "\n");
		}
	}
	return kept;
}

static struct error *run(struct recall *recall, const char *folder,
			 const char *other, bool prints)
{
	struct error *err = code_create(&recall->code);
	uint64_t kept;

	recall->has_other = other != NULL;
	if (!err)
		err = read_all(recall, folder, compare);
	if (!err && other)
		err = read_all(recall, other, take_other);
	if (err)
		return err;
	kept = count_kept(recall, prints);
	printf("pairs %" PRIu64 " of %zu accesses %" PRIu64 " dropped %" PRIu64
	       " memory %" PRIu64 " left-out %" PRIu64 "\n",
	       kept, recall->all.unordered.count, recall->accesses,
	       recall->dropped, recall->memory,
	       recall->kept.cells_left_out + recall->all.cells_left_out);
	return NULL;
}

int main(int argc, char **argv)
{
	bool prints = argc > 1 && strcmp(argv[1], "--lost") == 0;
	struct recall recall = { .accesses = 0 };
	struct error *err;

	if (argc < 2 + prints || argc > 3 + prints) {
		fputs("usage: recall [--lost] FOLDER [OTHER]\n", stderr);
		return 2;
	}
	pairs_init(&recall.kept);
	pairs_init(&recall.all);
	recall.kept.counted_only = true;
	recall.all.counted_only = true;
	err = run(&recall, argv[1 + prints], argv[2 + prints], prints);
	pairs_deinit(&recall.kept);
	pairs_deinit(&recall.all);
	code_destroy(recall.code);
	if (!err)
		return 0;
	fprintf(stderr, "recall: %s\n", error_message(err));
	error_free(err);
	return 1;
}
