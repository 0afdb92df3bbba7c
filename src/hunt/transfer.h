/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pairs of accesses that a handed-over address puts in order (ATDetector, MICRO
 * 2011): a thread accesses memory, then hands its address over, and the other
 * thread has it from there. So these two do not race if it can have it from
 * nowhere else (hunt/transfer-published.h), whatever the hand-over is made of: a lock
 * of one's own, a compare-and-swap, a queue.
 *
 * A pair of instructions is ordered only if all executions of both are, in every
 * recording, that is: before each, the other instruction's last execution in the
 * other thread came before the sending in program order, or creations of threads
 * order them. Where the recording cannot tell, a pair is not ordered.
 */
#ifndef HUNT_TRANSFER_H
#define HUNT_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "hunt/trace-format.h"
#include "hunt/transfer-track.h"

struct error;
struct order;
struct pairs;
struct recording;

/* Why a pair is not ordered. */
enum transfer_lack {
	TRANSFER_ORDERED = 0, /* it is */
	TRANSFER_NONE, /* there was no hand-over between two executions */
	/* the steps of an execution are not in the recording, or too many */
	TRANSFER_LOST,
	TRANSFER_LACKS,
};

enum {
	/* instructions that are gone back for an access, at most */
	TRANSFER_INSTRUCTIONS = 100000,
	/* and for all accesses of a recording; then no further pair is ordered */
	TRANSFER_INSTRUCTIONS_ALL = 400000000,
	/* questions that are kept until they are answered, about */
	TRANSFER_QUESTIONS = 1 << 20,
};

/* A hand-over of an example, and where in the code it was. */
struct transfer_link {
	struct transfer transfer;
	struct trace_place sent, received; /* all zero: an event */
};

struct transfer_pair {
	uint32_t place,
		other_place; /* code_number() of the two; place <= other */
	uint8_t lack; /* enum transfer_lack */
	uint32_t recording; /* of the example */
	/*
	 * An example: two executions and what has ordered them, struct
	 * transfer_link from the first sender to the last receiver.
	 */
	struct transfer_point earlier, later;
	struct trace_place earlier_place, later_place;
	uint64_t earlier_address, address; /* of the later one */
	struct vec chain;
	uint64_t orders; /* executions of the two after one another */
	/* the most that was gone back for one of these */
	uint64_t instructions;
	uint32_t hops;
};

struct transfers {
	struct vec pairs; /* of struct transfer_pair */
	struct map by_places;
	/*
	 * Bytes of what each thread has executed until an access that are looked
	 * at for it (hunt/transfer-window.h), and in which its registers are; 0:
	 * all. To be set before recordings are judged.
	 */
	uint64_t window, registers;
	uint64_t accesses; /* that were tracked */
	uint64_t lacking; /* recordings without all steps in a total order */
};

void transfers_init(struct transfers *transfers);
void transfers_deinit(struct transfers *transfers);

/*
 * Judge the conflicts of a recording, which pairs_find() has found and kept there;
 * number: the recording's in pairs. One without steps, or in no total order, orders
 * nothing. Errors are those of reading it.
 */
struct error *transfers_judge(struct transfers *transfers,
			      const struct pairs *pairs,
			      const struct recording *recording,
			      uint32_t number, const struct order *order);

/* The pair of these two, in any order; NULL: it was not judged. */
const struct transfer_pair *transfers_find(const struct transfers *transfers,
					   uint32_t place,
					   uint32_t other_place);

/*
 * Do hand-overs put it in order? False for NULL, and where creations of threads
 * alone do.
 */
bool transfer_pair_is_ordered(const struct transfer_pair *pair);

/* Move the edges (struct pair_edge) of pairs that are, to a vector of their own. */
struct error *transfers_take_ordered(const struct transfers *transfers,
				     struct vec *edges, struct vec *ret);

#endif
