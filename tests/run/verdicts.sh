#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the judge makes of races in a running program: for each rule one that it
# fits, and near misses, none of which is ranked down.

. "$(dirname "$0")/../lib.sh"

# The last verdict on each race of the report, with its reason; but sync.
verdicts()
{
	grep '"type": *"race"' "$report" |
		sed -n 's/.*"id":\([0-9]*\),.*"verdict":"\([a-z]*\)","reason":\([^,]*\),.*/\1 \2 \3/p' |
		awk '{ last[$1] = $2 " " $3 } END { for (i in last) print last[i] }' |
		tr -d '"' | grep -v '^sync' | sort -u
}

# settled REGEX: whether the run has seen enough: a race with that verdict and,
# where that is one of the unlikely, none that waits for more sightings.
settled()
{
	grep -Eq "^($1)$" "$work/verdicts" || return
	case $1 in
	unlikely*) ! grep -q '^suspect null$' "$work/verdicts" ;;
	esac
}

# judged [PROGRAM:]KIND STATUS REGEX [OTHER]: every race of that kind has such a
# verdict; with OTHER, some have, and the rest has that one.
judged()
{
	local kind=${1#*:} program=verdicts.O2 wanted=$2 some=$3 seed
	local regex=$3${4:+|$4}

	[ "$kind" = "$1" ] || program=${1%%:*}

	for seed in $(seeds 1); do
		# a loaded machine may sample too little in the time
		for seconds in 1.5 6 40; do
			run run --seed "$seed" --rate 3000 -o "$report" -- \
				"$TARGETS_DIR/$program" "$seconds" "$kind"
			verdicts >"$work/verdicts"
			# one side alone is no case for the rules
			settled "$some" && {
				! grep -Evq "^($regex)$" "$work/verdicts" ||
					! grep -q '"role":"unknown"' "$report"
			} && break
		done
		if grep -Eq "^($some)$" "$work/verdicts" &&
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
judged checked.O2:checked 0 'unlikely double-checked'
judged checked.O2:early 66 'suspect null'
judged checked.O2:apart 66 'suspect null'
judged checked.O2:once 66 'suspect null'
judged checked.O2:again 66 'suspect null'
judged checked.O2:look 0 'unlikely double-checked'
judged checked.O2:peek 66 'suspect null'
# a sign shows when the value changes while a read is held, as in one of two
# sightings here: of 20, one in a million runs sees none
judged harms.O2:range 66 'harmful begin-end' 'suspect null'
judged harms.O2:end 66 'suspect null'
judged harms.O2:halves 66 'harmful torn-value' 'suspect null'
judged harms.O2:half 66 'suspect null'
judged harms.O2:line 66 'harmful torn-value' 'suspect null'
judged harms.O2:inside 66 'suspect null'
judged harms.O2:twice 66 'harmful read-twice' 'suspect null'
judged harms.O2:fetched 66 'suspect null'

# The same where nothing is optimized.
judged verdicts.nopie:bits 0 'unlikely disjoint-bits'
judged verdicts.nopie:flag 66 'suspect null'
judged verdicts.nopie:pointer 66 'harmful cleared-pointer'
judged checked.nopie:checked 0 'unlikely double-checked'
judged checked.nopie:early 66 'suspect null'
judged checked.nopie:apart 66 'suspect null'
judged checked.nopie:peek 66 'suspect null'
judged harms.nopie:halves 66 'harmful torn-value' 'suspect null'
judged harms.nopie:half 66 'suspect null'
judged harms.nopie:twice 66 'harmful read-twice' 'suspect null'
judged harms.nopie:fetched 66 'suspect null'

# --strict: what is unlikely counts.
for seconds in 3 12 40; do
	run run --seed 1 --rate 3000 --strict -- \
		"$TARGETS_DIR/verdicts.O2" "$seconds" bits
	[ "$status" -ne 0 ] && break
done
is "--strict: status" "$status" 66
matches "--strict: in full" "$work/err" 'verdict     unlikely \(disjoint-bits\)'
run run --seed 1 --rate 3000 --special-variable 'cou*' -- \
	"$TARGETS_DIR/verdicts.O2" 2 ticket
is "--special-variable: status" "$status" 0

# A site whose stalls end in synchronization alone gets no more of them: of the
# two, three each, and what was under way then. Without that rule they get as
# many as other sites, as long as the program runs.
for seconds in 2 8 40; do
	run run --seed 1 --rate 1000 -o "$report" -- \
		"$TARGETS_DIR/free_spin.nog2" "$seconds"
	[ "$(summary samples)" -ge 100 ] &&
		[ "$(summary synchronization)" -ge 1 ] && break
done
is "synchronization, and few stalls at it: status" "$status" 0
if [ "$(summary samples)" -ge 100 ] && [ "$(summary synchronization)" -ge 1 ] &&
	[ "$(summary synchronization)" -le 12 ]; then
	ok "$(summary synchronization) conflicts of $(summary samples) samples"
else
	not_ok "conflicts of synchronization"
	diag "$(summary synchronization) of $(summary samples) samples"
fi

finish
