#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch hunt: a race of string functions of the C library is provoked, at the
# side and by the partner, though glibc has other variants of them for the recorder.
# The accesses are 20 ms apart, by a sleep, and a side is held for 500 ms: the other
# thread comes unless it is kept from running for 480 ms.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR

skip_lacking registers "hunt" && finish

# hunted WANTED-STATUS PROGRAM KIND
hunted()
{
	RUN_TIMEOUT=120 run hunt -o "$report" --hold 500ms -- "$2" "$3"
	is "$what: exit status" "$status" "$1" || diag_file "$work/err"
	is "$what: every side is reached" "$(records --count "$report" \
		type=target outcome=unreached)" 0
	has "$what: one is in a string function" "$report" type=target \
		'side.string_function!=null'
}

for variant in O0 O2 nopie static stripped; do
	in_turn 5 "$variant" || continue
	for kind in copy large fill text store load; do
		what="$kind, $variant"
		hunted 66 "$T/copied.$variant" "$kind"
		has "$what: the race is provoked" "$report" type=race \
			evidence=provoked
		if [ "$kind" = store ]; then
			has "$what: where a string function came" "$report" \
				type=target outcome=provoked \
				side.string_function=null \
				'side.partners.*.string_function!=null'
		else
			has "$what: in a string function" "$report" type=target \
				outcome=provoked 'side.string_function!=null' \
				side.writes=true
		fi
	done
done
# on their own, in the order of the recording
for kind in copy large fill text store load; do
	what="$kind, twin"
	hunted 0 "$T/copied.twin" "$kind"
	is "$what: no race" "$(races_in "$report")" 0
done

# the report's instructions run again
RUN_TIMEOUT=120 run hunt -o "$report" --hold 500ms -- "$T/copied.O2" copy
RUN_TIMEOUT=60 run provoke --times 1 "$report#1" -- "$T/copied.O2" copy
is "provoke comes to both" "$(grep -c 'no thread came' "$work/err")" 0

finish
