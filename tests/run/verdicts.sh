#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the judge makes of races in a running program: for each rule one that it
# fits, and near misses, none of which is ranked down. At -O2: at -O0 values go
# through the stack, where they are not followed.

. "$(dirname "$0")/../lib.sh"

# The last verdict on each race of the report, with its reason; but sync.
verdicts()
{
	grep '"type": *"race"' "$report" |
		sed -n 's/.*"id":\([0-9]*\),.*"verdict":"\([a-z]*\)","reason":\([^,]*\),.*/\1 \2 \3/p' |
		awk '{ last[$1] = $2 " " $3 } END { for (i in last) print last[i] }' |
		tr -d '"' | grep -v '^sync' | sort -u
}

# judged KIND STATUS REGEX: every race of that kind has such a verdict.
judged()
{
	local kind=$1 wanted=$2 regex=$3 seed

	for seed in $(seeds 1); do
		# a loaded machine may sample too little in the time
		for seconds in 1.5 6; do
			run run --seed "$seed" --rate 3000 -o "$report" -- \
				"$TARGETS_DIR/verdicts.O2" "$seconds" "$kind"
			verdicts >"$work/verdicts"
			grep -Eq "^($regex)$" "$work/verdicts" && break
		done
		if [ -s "$work/verdicts" ] &&
			! grep -Evq "^($regex)$" "$work/verdicts"; then
			ok "$kind, seed $seed: $(tr '\n' ' ' <"$work/verdicts")"
		else
			not_ok "$kind, seed $seed"
			diag "wanted only: $regex"
			diag_file "$work/verdicts"
			diag_file "$work/err"
		fi
		is "$kind, seed $seed: status" "$status" "$wanted"
	done
}

judged statistics 0 'unlikely statistics-counter'
judged reader 66 'suspect null'
judged references 66 'harmful reference-count'
judged ticket 66 'suspect null'
judged limit 66 'suspect null'
judged bits 0 'unlikely disjoint-bits'
judged flag 66 'suspect null'
judged writes 66 'suspect null'
# every other sighting is of the store that clears it: of 20, one in a million
# runs sees none
judged pointer 66 'harmful cleared-pointer'

# --strict: what is unlikely counts.
run run --seed 1 --rate 3000 --strict -- "$TARGETS_DIR/verdicts.O2" 3 bits
is "--strict: status" "$status" 66
matches "--strict: in full" "$work/err" 'verdict     unlikely \(disjoint-bits\)'
run run --seed 1 --rate 3000 --special-variable 'cou*' -- \
	"$TARGETS_DIR/verdicts.O2" 2 ticket
is "--special-variable: status" "$status" 0

finish
