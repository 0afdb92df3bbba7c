#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The figures that are told of races: numbers, counts, times, values.

. "$(dirname "$0")/../lib.sh"

# Half a second for each of two races: a machine of two processors with twenty
# busy threads was never seen to miss one of them in three seconds, so a longer
# run follows where one was missed.
phases()
{
	tries seconds 2 10 40
	while next_try seconds; do
		run run --seed 1 -o "$report" "$@" -- "$TARGETS_DIR/phases.O2" \
			"$seconds"
		grep -q '^WARNING.*' "$work/err" &&
			records "$report" variable.symbol=late &&
			records "$report" variable.symbol=early && return
	done
}

# ids VARIABLE: the numbers of its races in the report
ids()
{
	records --print id "$report" type=race "variable.symbol=$1" | sort -u |
		tr '\n' ' '
}

# A race that is not shown is seen first: what is shown is #1 all the same.
echo 'race_top:^early_count$' >"$work/supp"
phases --suppressions "$work/supp"
is "both races were seen, one is suppressed: status" "$status" 66 ||
	diag_file "$work/err"
is "the first that is shown is #1" \
	"$(grep -o '^WARNING: racewatch: data race #[0-9]*' "$work/err")" \
	"WARNING: racewatch: data race #1"
is "it has that number in the report" "$(ids late)" "1 "
is "the other has the next" "$(ids early)" "2 "
phases --suppressions "$work/supp" --show all
is "where all is shown it is numbered as it comes" "$(ids early)" "1 "

# How often a race was seen is known at the end, and told then.
last_count()
{
	records --print count "$report" type=race id=1 | tail -n 1
}
matches "at the first sighting it is seen first" "$work/err" 'stall; first seen$'
is "and its count is told at the end" \
	"$(tr -d ' ' <"$work/err" | grep -o '^racewatch:seeninall:#1[0-9]*')" \
	"racewatch:seeninall:#1$(last_count)"

# The time watched is the program's, however late it is looked at, and what
# the overhead is made of is told where nothing had a stall.
run run -o "$report" -- sleep 0.2
is "no less time than the program took" "$(summary elapsed_s |
	awk '{ print ($1 >= 0.2) }')" 1
run run --rate 0 -o "$report" -- "$TARGETS_DIR/churn.O2" 0.5
matches "what the overhead is made of" "$work/err" \
	'^SUMMARY: .* overhead [0-9.]* % \(stops [0-9.]*'

finish
