#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch hunt --transfer: what a thread does with an object before it hands its
# address over is ordered with what the receiver does; what it does afterwards is
# not. Nothing is provoked here: the budget is over when the run is recorded.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR

skip_lacking registers "hunt --transfer" && finish

# is_ordered FUNCTION, is_late FUNCTION: it is, before the hand-over; it is to be tried
is_ordered()
{
	has "$1, $variant: ordered" "$report" type=target outcome=ordered \
		"side.function=$1" side.hand_overs.0.by=memory runs=0
}
is_late()
{
	has "$1, $variant: to be tried" "$report" type=target \
		outcome=pending "side.function=$1"
	is "$1, $variant: and not ordered" "$(records --count "$report" \
		type=target outcome=ordered "side.function=$1")" 0
}

cases="swap lock exchange ring task recycle relay"
for variant in O0 O2; do
	in_turn 2 "$variant" || continue
	RUN_TIMEOUT=120 run hunt -v --show-ordered --transfer on --budget 1ms -o "$report" -- \
		"$T/handed_over.$variant"
	for case in $cases; do
		is_ordered "${case}_before"
		is_ordered "${case}_after"
		is_late "${case}_late"
	done
	for function in pipe_before pipe_after; do
		has "$function, $variant" "$report" type=target \
			outcome=ordered "side.function=$function" \
			side.hand_overs.0.by=call \
			side.hand_overs.0.received_function=pipe_receiver
	done
	is_late pipe_late
	# a compare-and-swap that fails hands nothing over, and an index neither
	for function in failed_early failed_after index_before index_after; do
		is_late "$function"
	done
	has "$variant: two hand-overs, one after the other" "$report" \
		type=target side.function=relay_after \
		side.hand_overs.0.sent_function=relay_sender \
		side.hand_overs.1.sent_function=relay_between \
		side.hand_overs.1.variable=second_slot
	matches "$variant: the text says so" "$work/err" \
		'ordered by its address: thread 0\.[0-9]* stored it in .slot. '
	has "$variant: the two accesses, with stacks" "$report" type=target \
		side.function=relay_after \
		side.ordered_pair.0.frames.0.function=relay_before \
		side.ordered_pair.0.frames.1.function=relay_sender \
		side.ordered_pair.1.frames.0.function=relay_after \
		side.ordered_pair.1.frames.1.function=relay_receiver
	has "$variant: and the provider's and the receiver's" "$report" \
		type=target side.function=relay_after \
		side.hand_overs.0.sent_frames.0.function=relay_sender \
		side.hand_overs.1.received_frames.*.function=relay_receiver
	has "$variant: a system call's" "$report" type=target \
		side.function=pipe_after \
		side.hand_overs.0.received_frames.*.function=pipe_receiver
	matches "$variant: the text has the provider" "$work/err" \
		'^  thread 0\.[0-9]* stored it in .second_slot.'
	matches "$variant: and its stack" "$work/err" \
		'^    #[0-9]  *relay_between  *[^ ]*handed_over\.c:[0-9:]*$'
	matches "$variant: and how many" "$work/err" \
		'of them ordered by hand-overs, [0-9]* sides to be tried'
	cp "$report" "$work/ordered.jsonl"
	run report --format html "$work/ordered.jsonl"
	matches "$variant: a picture" "$work/out" \
		'<title>stored its address in second_slot relay_between '
done

# A recording is judged with what a window has of it.
# ordered_of TRACE-OPTION...: how many sides
ordered_of()
{
	RUN_TIMEOUT=120 run hunt --transfer on --budget 1ms -o "$report" \
		--trace "$work/trace" "$@" -- "$T/handed_over.O2"
	records --count "$report" type=target outcome=ordered
}
run hunt --transfer on --budget 1ms --keep-trace "$work/trace" -- "$T/handed_over.O2"
all=$(ordered_of)
is "a window of all" "$(ordered_of --transfer-window 16384)" "$all"
is "a window of all registers" "$(ordered_of --transfer-registers 16384)" "$all"
# A container is handed over, and the object in it was shown elsewhere before.
for variant in O0 O2; do
	RUN_TIMEOUT=120 run hunt --transfer on --budget 1ms -o "$report" -- \
		"$T/contained.$variant"
	is_late contained_fill
	is_late contained_read
done

# The memory of a heap block is used again for thousands of accesses, of which the
# last may race.
run hunt -v --show-ordered --transfer on --budget 1ms -o "$report" -- \
	"$T/handed_again.O2" 2000 5
is_late again_before
run hunt -v --show-ordered --transfer on --budget 1ms -o "$report" \
	--keep-trace "$work/again" -- "$T/handed_again.O2" 2000 0
is_ordered again_before
is_ordered again_after
is_ordered far_after

# The receiver executes more than a window holds before it uses the object.
# of_window OPTION...
of_window()
{
	run hunt --show-ordered --transfer on --budget 1ms -o "$report" \
		--trace "$work/again" "$@" -- "$T/handed_again.O2" 2000 0
}
variant="a large window"
of_window --transfer-window 16384
is_ordered far_after
of_window --transfer-registers 16384
is_ordered far_after
variant="a window of a kilobyte"
of_window --transfer-window 1
is_late far_after
of_window --transfer-registers 1
is_late far_after
is_ordered again_after

run hunt --transfer on --recorder qemu -- "$T/handed_over.O2"
is "a recorder that has no steps" "$status" 2
matches "which is told" "$work/err" "transfer on is Valgrind's, and"
run hunt --transfer on --targets "$report" -- "$T/handed_over.O2"
is "targets without a recording" "$status" 2
matches "which is told, too" "$work/err" "and --targets makes none"

finish
