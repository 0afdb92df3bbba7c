#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch hunt --transfer: every way to hand an address over of sections 2.2 and
# 2.3 of the ATDetector paper, in tests/targets/handed_ways.c: three uses, between
# two threads and by way of a third one. What comes before the hand-over is ordered;
# what the sender does afterwards is not, nor what comes before a sending that
# fails, and both are provoked.
#
# A side is held for 500 ms: the other thread comes unless it is kept from running
# for so long. A turn has one way and one variant.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR

skip_lacking registers "hunt --transfer" && finish

# sides OUTCOME FUNCTION: how many sides in the function have it
sides()
{
	records --count "$report" type=target "outcome=$1" "side.function=$2"
}

# is_handed USE HAND-OVERS: so many, one after the other, put it in order
is_handed()
{
	local last=$(($2 - 1))

	for function in "$1_before" "$1_after"; do
		has "$function, $what: ordered" "$report" type=target \
			outcome=ordered "side.function=$function" \
			"side.hand_overs.$last.receiver=*" runs=0
		is "$function, $what: by $2 hand-overs" \
			"$(records --count "$report" type=target \
				"side.function=$function" \
				"side.hand_overs.$2.receiver=*")" 0
	done
	is "$1_before, $what: it is not tried" "$(sides pending "$1_before")" 0
	is "$1_late, $what: not ordered" "$(sides ordered "$1_late")" 0
	has "$1_late, $what: to be tried" "$report" type=target \
		outcome=pending "side.function=$1_late"
}

# is_provoked FUNCTION...
is_provoked()
{
	for function; do
		has "$function, $what: provoked" "$report" type=target \
			outcome=provoked "side.function=$function"
	done
}

# only FILE: of a report, its run and the sides that name what races
only()
{
	sed -n '1p; /_late"/p; /failed_early"/p' "$1"
}

record()
{
	RUN_TIMEOUT=120 run hunt --transfer on --budget 1ms -o "$report" -- \
		"$T/handed_ways.$variant" "$way"
}

judge()
{
	record
	for use in task recycle share; do
		is_handed "${use}2" 1
		is_handed "${use}3" 2
	done
	for function in failed_early failed_after; do
		is "$function, $what: not ordered" \
			"$(sides ordered "$function")" 0
	done
}

provoke()
{
	only "$report" >"$work/sides.jsonl"
	RUN_TIMEOUT=120 run hunt --targets "$work/sides.jsonl" --hold 500ms \
		--replay off -o "$report" -- "$T/handed_ways.$variant" "$way"
	is_provoked {task,recycle,share}{2,3}_late failed_early
}

for variant in O0 O2; do
	for way in swap lock pipe socket packet queue transaction; do
		what="$way, $variant"
		in_turn 14 "$what" || continue
		"$T/handed_ways.$variant" "$way" >"$work/out" 2>&1
		if [ $? -eq 77 ]; then
			skip "$what" "the compiler has no transactional memory"
			continue
		fi
		judge
		provoke
	done
done

finish
