#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Programs with debug information whose sources are nowhere, as in a package of
# debug symbols: what is told of their atomic operations all the same, and that
# a report says where nothing could be told. Never where the source is at hand and
# tells, or the access cannot be an atomic operation.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR

# watch PROGRAM: until something is known of it
watch_it()
{
	local seconds

	tries seconds 1 4 20
	while next_try seconds; do
		run run --seed "$seed" --rate 1000 --error-exitcode 0 \
			-o "$report" -- "$1" "$seconds"
		[ "$(summary samples)" = 0 ] || break
	done
	[ "$(summary samples)" -gt 0 ]
	is "${1##*/}: samples were taken" $? 0
}

# races PROGRAM DOUBT: it is reported, and each time with that doubt, or null
is_doubted()
{
	local seconds

	tries seconds 1 10 40
	while next_try seconds; do
		run run --seed "$seed" --rate 1000 --error-exitcode 0 \
			-o "$report" -- "$1" "$seconds"
		[ "$(races_in "$report")" -eq 0 ] || break
	done
	is "${1##*/}: reported, $2" "$(last_of doubt "$report" | sort -u)" "$2"
}

no_source="no source: may be an atomic"
behind_macro="behind a macro: may be an atomic"
no_debug="no debug information: may be an atomic"

for seed in $(seeds 1); do
	# types, locked instructions, and those of the other side tell
	for name in free_acquire free_atomic16 free_builtin free_c11 \
		free_dwcas free_relaxed free_seqlock free_sync_builtin \
		free_treiber; do
		# plain loads, by the locked instruction of the other side
		[ "$name" = free_dwcas ] && skip_lacking registers "$name" &&
			continue
		in_turn 3 "$name" || continue
		watch_it "$T/$name.away"
		is "$name: nothing is reported" \
			"$(races_in "$report")" 0
	done

	# plain types and plain moves
	is_doubted "$T/free_builtin_ring.away" "$no_source"
	matches "the text says so" "$work/err" "^  doubt       $no_source$"
	for format in text html sarif junit; do
		"$RACEWATCH" report --format "$format" "$report" >"$work/$format"
		matches "$format says so" "$work/$format" "$no_source"
	done

	# the debug information in a file of its own
	mkdir -p "$work/package/.debug"
	objcopy --only-keep-debug "$T/free_builtin_ring.away" \
		"$work/package/.debug/ring.debug" &&
		(cd "$work/package/.debug" && objcopy --strip-all \
			--add-gnu-debuglink=ring.debug \
			"$T/free_builtin_ring.away" ../ring) || exit 99
	is_doubted "$work/package/ring" "$no_source"

	is_doubted "$T/read_write.away" "$no_source"
	is_doubted "$T/read_write.O2" null
	is_doubted "$T/read_write.stripped" "$no_debug"

	# a macro that has an atomic load and a plain one, as two instructions
	is_doubted "$T/macro_both.nopie" "$behind_macro"
	# the plain one as a part of an addition
	is_doubted "$T/macro_both.O2" null

	# of two additions to memory without a lock one is lost, atomic or not
	skip_lacking registers "rmw.away" || is_doubted "$T/rmw.away" null
done

finish
