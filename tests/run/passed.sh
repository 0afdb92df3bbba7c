#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch hunt --recorder breakpoints: no thread passes a breakpoint unseen while
# another one is taken over it, and the program does what it would without.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR
H=$HELPERS_DIR

skip_lacking registers "passed" && finish

# recorded HOW VARIANT: the trace is $work/trace.txt
recorded()
{
	rm -rf "$work/trace"
	RUN_TIMEOUT=120 run hunt --recorder breakpoints --budget 1ms \
		--error-exitcode 0 --keep-trace "$work/trace" -- \
		"$T/passed.$2" "$1"
	for trace in "$work/trace"/trace.*; do
		"$H/trace-print" "$trace"
	done >"$work/trace.txt"
}

# executions KIND: of instructions that access 2 bytes so: how many, of each thread
executions()
{
	sed -nE "s/^uses thread ([0-9]+) executions ([0-9]+): .* $1 2 - .*/\1 \2/p" \
		"$work/trace.txt" | sort -n | awk '{ printf "%s%s", sep, $0; sep = ", " }'
}

all="2 10, 3 10, 4 10, 5 10, 6 10, 7 10, 8 10, 9 10"
for variant in O2 nopie; do
	recorded together "$variant"
	matches "together, $variant: it has done all" "$work/out" 'passed: done'
	is "together, $variant: each of eight threads, by a register" \
		"$(executions rw)" "$all"
	is "together, $variant: and relative to rip" "$(executions w)" "$all"
	is "together, $variant: nothing was missed" \
		"$(grep -c 'may miss accesses' "$work/err")" 0
	recorded odd "$variant"
	matches "odd, $variant: it has done all" "$work/out" 'passed: done'
	recorded confined "$variant"
	matches "confined, $variant: it lives" "$work/out" 'passed: done'
	is "confined, $variant: that accesses may be missed is told once" \
		"$(grep -c 'may miss accesses' "$work/err")" 1
done

finish
