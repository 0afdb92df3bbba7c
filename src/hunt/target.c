/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the files of a recording to sides; see target.h.
 */
#include "hunt/target.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/vec.h"
#include "hunt/candidates.h"
#include "hunt/code.h"
#include "hunt/descriptor.h"
#include "hunt/order.h"
#include "hunt/pairs.h"
#include "hunt/recording.h"
#include "hunt/sides.h"
#include "hunt/traces.h"
#include "hunt/transfer.h"

/* Measured of the Valgrind tool: 18 to 42 times, of most programs 30. */
static const double SLOW_DOWN = 30;

/* A process that was recorded. */
struct process {
	struct recording recording;
	struct descriptors descriptors;
};

struct finding {
	const struct hunt_pairing *options;
	struct hunt_totals totals;
	struct vec processes; /* of struct process *, whose places stay */
	struct code *code;
	struct pairs pairs;
	struct transfers transfers;
};

bool hunt_wants_program(const char *pattern, const char *program)
{
	const char *name = strrchr(program, '/');

	return !pattern || fnmatch(pattern, program, 0) == 0 ||
	       fnmatch(pattern, name ? name + 1 : program, 0) == 0;
}

static void count_recording(struct hunt_totals *totals,
			    const struct recording *recording)
{
	totals->traces++;
	totals->cut += recording->cut;
	totals->threads += recording->threads.count;
	totals->accesses += recording->end.sequence;
	totals->starved += recording->end.starved_cells;
}

static const char *unable_text(const struct recording *recording, size_t i)
{
	return *(const char *const *)vec_at(&recording->unable, i);
}

/*
 * Was that said, of the same process or of one before? Each command that a shell
 * runs lacks the same.
 */
static bool is_told(const struct finding *finding, const char *text,
		    size_t number)
{
	for (size_t i = 0; i < finding->processes.count; i++) {
		const struct process *process =
			*(struct process **)vec_at(&finding->processes, i);
		const struct recording *recording = &process->recording;
		bool is_last = i + 1 == finding->processes.count;
		size_t count = is_last ? number : recording->unable.count;

		for (size_t n = 0; n < count; n++) {
			if (strcmp(unable_text(recording, n), text) == 0)
				return true;
		}
	}
	return false;
}

/* What the recording of the last process lacks. */
static void warn(const struct finding *finding,
		 const struct recording *recording, const struct order *order)
{
	const char *path = recording->file.path;

	if (recording->cut)
		log_warn("%s: the trace ends early: its process or the "
			 "recorder was killed; what it has is used",
			 path);
	if (order_is_limited(order))
		log_warn("%s: there are more than %d threads: their creations "
			 "and joins are not looked at",
			 path, ORDER_THREADS_MAX);
	for (size_t i = 0; i < recording->unable.count; i++) {
		if (!is_told(finding, unable_text(recording, i), i))
			log_warn("%s: not recorded: %s", path,
				 unable_text(recording, i));
	}
}

static struct error *judge_transfers(struct finding *finding,
				     const struct recording *recording,
				     uint32_t number, const struct order *order)
{
	struct transfers *transfers = &finding->transfers;
	uint64_t lacking = transfers->lacking;
	struct error *err = transfers_judge(transfers, &finding->pairs,
					    recording, number, order);

	if (!err && transfers->lacking > lacking && !finding->options->quiet)
		log_warn("%s: no hand-overs are looked for: the recording does "
			 "not have all that was executed, in one order",
			 recording->file.path);
	return err;
}

static struct error *find_pairs(struct finding *finding,
				struct process *process)
{
	const struct recording *recording = &process->recording;
	uint32_t number = (uint32_t)finding->processes.count - 1;
	struct order *order;
	struct error *err = order_create(recording, &order);

	if (err)
		return err;
	if (!finding->options->quiet)
		warn(finding, recording, order);
	err = pairs_find(&finding->pairs, recording, number, order,
			 finding->code);
	if (!err && finding->options->transfer)
		err = judge_transfers(finding, recording, number, order);
	order_destroy(order);
	return err ? err
		   : descriptors_create(&process->descriptors, recording,
					finding->code);
}

static struct error *read_trace(struct finding *finding, const char *path)
{
	struct process *process = calloc(1, sizeof(*process));
	struct error *err;

	if (!process)
		return error_nomem;
	err = recording_open(path, &process->recording);
	if (err || !hunt_wants_program(finding->options->program,
				       process->recording.program)) {
		recording_close(&process->recording);
		free(process);
		return err;
	}
	if (!vec_push(&finding->processes, &process)) {
		recording_close(&process->recording);
		free(process);
		return error_nomem;
	}
	count_recording(&finding->totals, &process->recording);
	return find_pairs(finding, process);
}

static struct error *read_traces(struct finding *finding, const char *path)
{
	struct vec paths = VEC_INIT(char *);
	struct error *err = traces_find(path, &paths);

	for (size_t i = 0; !err && i < paths.count; i++)
		err = read_trace(finding, *(char **)vec_at(&paths, i));
	traces_free(&paths);
	if (!err && !finding->totals.traces)
		err = error_create(ERROR_USAGE,
				   "%s has no trace of a program that matches "
				   "'%s'",
				   path, finding->options->program);
	return err;
}

/* Those with a low rank go first; the caller's own stay. */
static void leave_out(struct vec *sides, size_t most,
		      struct hunt_totals *totals)
{
	while (most && sides->count > most) {
		hunt_side_deinit(vec_at(sides, --sides->count));
		totals->sides_left_out++;
	}
	totals->sides = sides->count;
}

/* Sides that are not to be tried come behind the others. */
static struct error *add_ordered(struct vec *sides, struct vec *ordered)
{
	struct error *err = NULL;

	for (size_t i = 0; i < ordered->count; i++) {
		struct hunt_side *side = vec_at(ordered, i);

		side->id = sides->count + 1;
		if (!err && !vec_push(sides, side))
			err = error_nomem;
		if (err)
			hunt_side_deinit(side);
	}
	vec_clear(ordered);
	return err;
}

static struct error *make_all(struct finding *finding,
			      struct sides_input *input, struct vec *sides,
			      struct vec *ordered)
{
	struct vec *edges = &finding->pairs.edges;
	struct vec pruned = VEC_INIT(struct pair_edge);
	struct error *err =
		transfers_take_ordered(&finding->transfers, edges, &pruned);

	if (!err)
		err = sides_make(input, edges, finding->code, sides);
	input->transfers = &finding->transfers;
	if (!err)
		err = sides_make(input, &pruned, finding->code, ordered);
	vec_deinit(&pruned);
	return err;
}

static struct error *make_tried(struct finding *finding,
				struct sides_input *input, struct vec *sides)
{
	struct candidates *candidates = finding->options->candidates;
	struct vec ordered = VEC_INIT(struct hunt_side);
	struct error *err =
		candidates
			? candidates_sides(candidates, input, &finding->pairs,
					   &finding->transfers, finding->code,
					   sides, &ordered)
			: make_all(finding, input, sides, &ordered);
	struct error *added;

	leave_out(sides, finding->options->most, &finding->totals);
	added = add_ordered(sides, &ordered);
	vec_deinit(&ordered);
	if (!err)
		return added;
	error_free(added);
	return err;
}

static struct error *make_sides(struct finding *finding, struct vec *sides)
{
	const struct hunt_pairing *options = finding->options;
	size_t count = finding->processes.count;
	const struct recording **recordings = calloc(count, sizeof(void *));
	const struct descriptors **descriptors = calloc(count, sizeof(void *));
	struct sides_input input = {
		.recordings = recordings,
		.descriptors = descriptors,
		.count = count,
		.slow_down = options->slow_down > 0 ? options->slow_down
						    : SLOW_DOWN,
	};
	struct error *err = recordings && descriptors ? NULL : error_nomem;

	for (size_t i = 0; !err && i < count; i++) {
		struct process *process =
			*(struct process **)vec_at(&finding->processes, i);

		recordings[i] = &process->recording;
		descriptors[i] = &process->descriptors;
	}
	if (!err)
		err = make_tried(finding, &input, sides);
	free(recordings);
	free(descriptors);
	return err;
}

static uint64_t count_ordered(const struct transfers *transfers)
{
	uint64_t count = 0;

	for (size_t i = 0; i < transfers->pairs.count; i++)
		count += transfer_pair_is_ordered(vec_at(&transfers->pairs, i));
	return count;
}

static void finding_deinit(struct finding *finding)
{
	for (size_t i = 0; i < finding->processes.count; i++) {
		struct process *process =
			*(struct process **)vec_at(&finding->processes, i);

		descriptors_deinit(&process->descriptors);
		recording_close(&process->recording);
		free(process);
	}
	vec_deinit(&finding->processes);
	pairs_deinit(&finding->pairs);
	transfers_deinit(&finding->transfers);
	code_destroy(finding->code);
}

struct error *hunt_targets_from_traces(const char *path,
				       const struct hunt_pairing *options,
				       struct vec *sides,
				       struct hunt_totals *ret_totals)
{
	struct finding finding = { .options = options,
				   .processes = VEC_INIT(struct process *) };
	struct error *err;

	pairs_init(&finding.pairs);
	finding.pairs.kept = options->transfer;
	transfers_init(&finding.transfers);
	finding.transfers.window = options->window;
	finding.transfers.registers = options->registers;
	err = code_create(&finding.code);
	if (!err)
		err = read_traces(&finding, path);
	if (!err)
		err = make_sides(&finding, sides);
	finding.totals.granules = finding.pairs.granules;
	finding.totals.crowded = finding.pairs.crowded;
	finding.totals.left_out = finding.pairs.cells_left_out;
	finding.totals.unplaced = finding.pairs.unplaced;
	finding.totals.pairs_all = finding.pairs.all.count;
	finding.totals.pairs_own = finding.pairs.own.count;
	finding.totals.pairs = finding.pairs.unordered.count;
	finding.totals.transferred = count_ordered(&finding.transfers);
	finding_deinit(&finding);
	if (!err)
		*ret_totals = finding.totals;
	return err;
}
