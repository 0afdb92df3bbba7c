#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Seventeen ways to lose an update (tests/targets/lost.c): each conflict that is
# met is printed, and the exit status is 66, whatever the verdict. And verdicts
# that change. bench/exit-status is the long version.

. "$(dirname "$0")/../lib.sh"
. "$top_srcdir/tests/lib-lost.sh"

variants=(O0 O1 O2 O3)
i=0
for kind in $(lost_kinds); do
	variant=${variants[i++ % 4]}
	in_turn 2 "$kind $variant" || continue
	# whether a conflict is met is chance; a loaded machine needs longer
	tries seconds 0.4 4 40
	while next_try seconds; do
		lost_run "$work" "$kind" "$variant" 1 "$seconds"
		[ "$lost_verdict" = missed ] || break
	done
	is "$kind $variant" "$lost_verdict" told || diag_file "$work/err"
done
is "there are seventeen" "$i" 17

# changes OPTION...: a run in which a verdict changes. A count of eight bits
# rises, by one of its sightings, and falls, by another, each time with even
# odds: of 24 runs one in sixteen millions sees no change after the first.
changes()
{
	local seed

	tries seed {1..24}
	while next_try seed; do
		rm -f "$report" "$work/told" "$work/new.supp"
		run run --seed "$seed" --effort high --rate 3000 -o "$report" \
			--on-race "exec:cat >>$work/told" \
			--gen-suppressions "$work/new.supp" "$@" -- \
			"$TARGETS_DIR/lost.O2" 3 small
		grep -q 'what was seen later does not fit' "$work/err" && break
	done
	is "a change, $*: status" "$status" 66
}

# of_verdict VERDICT: how many records that the command was told of have it
of_verdict()
{
	records --count "$work/told" type=race "verdict=$1"
}

# by what both sides do
skip_lacking registers "verdicts that change" && finish

changes --color never
matches "it is said" "$work/err" \
	'^racewatch: race #1 is now suspect: .* of small: count_small lost.c:'
matches "with the reason" "$work/err" \
	'^racewatch: race #1 is now suspect: .*; what was seen later does not fit statistics-counter'
matches "after the first verdict" "$work/err" \
	'verdict     unlikely \(statistics-counter\)'
is "it is printed in full once" "$(grep -c '^WARNING' "$work/err")" 1
is "the command is told of both" \
	"$(of_verdict unlikely) $(of_verdict suspect)" "1 1"
is "one suppression is written" "$(grep -c '^race' "$work/new.supp")" 1
matches "one race is counted" "$work/err" '^SUMMARY: racewatch: 1 race \(1 new\)'
is "the report's last word" "$(records --print verdict "$report" \
	type=race | tail -n 1)" suspect
mv "$report" "$work/saved.jsonl"
run report "$work/saved.jsonl"
matches "the saved report has the last" "$work/out" 'verdict     suspect$'

changes --ignore-unlikely --halt-on-race
is "ignored at first: printed when it counts" \
	"$(grep -c '^WARNING' "$work/err")" 1
matches "with the verdict that counts" "$work/err" 'verdict     suspect$'
is "the command is told of that" \
	"$(of_verdict unlikely) $(of_verdict suspect)" "0 1"
is "a suppression is written then" "$(grep -c '^race' "$work/new.supp")" 1
matches "it halts there" "$work/err" '^SUMMARY: racewatch: 1 race \(1 new\), .* [0-2]\.[0-9] s'

finish
