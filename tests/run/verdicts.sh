#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the judge makes of races in a running program: for each rule one that it
# fits, and near misses, none of which is ranked down. These are the rules of the
# code's shape: replay.sh is about those of replays.

. "$(dirname "$0")/../lib.sh"

# The last verdict on each race of the report, with its reason; but sync.
verdicts()
{
	last_of "verdict reason" "$report" | sort -u
}

# printed DESCRIPTION: each race of the report was printed in full, once.
printed()
{
	last_of id "$report" | sort -n >"$work/ids"
	sed -n 's/^WARNING: racewatch: data race #\([0-9]*\) .*/\1/p' \
		"$work/err" | sort -n >"$work/printed"
	if cmp -s "$work/ids" "$work/printed"; then
		ok "$1: all is printed"
	else
		not_ok "$1: all is printed"
		diag_file "$work/err"
	fi
}

# judged [PROGRAM:]KIND REGEX [OTHER]: every race of that kind has such a verdict;
# with OTHER, some have, and the rest has that one. It makes no difference to the
# exit status.
judged()
{
	local kind=${1#*:} program=verdicts.O2 some=$2 seed
	local regex=$2${3:+|$3}

	[ "$kind" = "$1" ] || program=${1%%:*}

	# the rules look at both sides
	skip_lacking registers "$1: verdicts" && return
	in_turn 5 "$1" || return 0

	for seed in $(seeds 1); do
		# a loaded machine may sample too little in the time
		tries seconds 1.5 6 40
		while next_try seconds; do
			run run --replay off --seed "$seed" --rate 3000 \
				-o "$report" -- \
				"$TARGETS_DIR/$program" "$seconds" "$kind"
			verdicts >"$work/verdicts"
			# one side alone is no case for the rules
			grep -Eq "^($some)$" "$work/verdicts" && {
				! grep -Evq "^($regex)$" "$work/verdicts" ||
					! records "$report" sides.*.role=unknown
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
		is "$kind, seed $seed: status" "$status" 66
		printed "$kind, seed $seed"
	done
}

judged statistics 'unlikely statistics-counter'
judged reader 'suspect null'
judged references 'harmful reference-count'
judged ticket 'suspect null'
judged limit 'suspect null'
judged bits 'unlikely disjoint-bits'
judged flag 'suspect null'
judged writes 'suspect null'
# every other sighting is of the store that clears it: of 20, one in a million
# runs sees none
judged pointer 'harmful cleared-pointer'
judged checked.O2:checked 'unlikely double-checked'
judged checked.O2:early 'suspect null'
judged checked.O2:apart 'suspect null'
judged checked.O2:once 'suspect null'
judged checked.O2:again 'suspect null'
judged checked.O2:look 'unlikely double-checked'
judged checked.O2:peek 'suspect null'
# a sign shows when the value changes while a read is held, as in one of two
# sightings here: of 20, one in a million runs sees none
judged harms.O2:range 'harmful begin-end' 'suspect null'
judged harms.O2:end 'suspect null'
judged harms.O2:halves 'harmful torn-value' 'suspect null'
judged harms.O2:half 'suspect null'
judged harms.O2:line 'harmful torn-value' 'suspect null'
judged harms.O2:inside 'suspect null'
judged harms.O2:twice 'harmful read-twice' 'suspect null'
judged harms.O2:fetched 'suspect null'
# no synchronization, though the other side's function takes a lock
judged over_lock.O2:clear 'suspect null'
judged over_lock.O2:assign 'suspect null'
judged over_lock.O2:spin 'suspect null'

# The same where nothing is optimized.
# what is loaded and stored apart falls when updates are lost, now and then
judged hits.nopie:hits 'unlikely statistics-counter'
judged hits.O2:hits 'unlikely statistics-counter'
judged verdicts.nopie:bits 'unlikely disjoint-bits'
judged verdicts.nopie:flag 'suspect null'
judged verdicts.nopie:pointer 'harmful cleared-pointer'
judged checked.nopie:checked 'unlikely double-checked'
judged checked.nopie:early 'suspect null'
judged checked.nopie:apart 'suspect null'
judged checked.nopie:peek 'suspect null'
judged harms.nopie:halves 'harmful torn-value' 'suspect null'
judged harms.nopie:half 'suspect null'
judged harms.nopie:twice 'harmful read-twice' 'suspect null'
judged harms.nopie:fetched 'suspect null'
judged over_lock.nopie:assign 'suspect null'

# The owner of a recursive lock, without debug information. The threads do little
# else: a run of 1.5 s meets it some dozen times.
judged recursive.stripped:stolen 'suspect (null|same-value)'
judged recursive.stripped:key 'suspect null'
judged recursive.stripped:followed 'suspect null'
for kind in lock mutex; do
	in_turn 2 "the owner of a recursive lock, $kind" || continue
	skip_lacking registers "the owner of a recursive lock, $kind" && continue
	tries seconds 1.5 6 40
	while next_try seconds; do
		run run --replay off --seed 1 --rate 3000 --show all -o "$report" -- \
			"$TARGETS_DIR/recursive.stripped" "$seconds" "$kind"
		records "$report" sides.*.sync=lock-owner && break
	done
	has "the owner of a recursive lock, $kind" "$report" sides.*.sync=lock-owner
	is "the owner of a recursive lock, $kind: status" "$status" 0
done

# A pointer to a function that is chosen at the first call. Both threads meet
# there each time: a run of 1.5 s has some hundred samples.
judged dispatch.O2:plain 'unlikely dispatch'
judged dispatch.nopie:plain 'unlikely dispatch'
judged dispatch.stripped:lazy 'suspect (null|same-value)'
judged dispatch.stripped:setter 'suspect (null|same-value)'
for variant in stripped O2; do
	in_turn 2 "a pointer that is chosen, $variant" || continue
	skip_lacking registers "a pointer that is chosen, $variant" && continue
	tries seconds 1.5 6 40
	while next_try seconds; do
		run run --replay off --seed 1 --rate 3000 --show all -o "$report" -- \
			"$TARGETS_DIR/dispatch.$variant" "$seconds" atomic
		records "$report" verdict=sync && break
		[ "$variant" = stripped ] || break
	done
	[ "$variant" = O2 ] || has "a pointer that is chosen, $variant" \
		"$report" sides.*.sync=dispatch
	is "a pointer that is chosen, $variant: status" "$status" 0
done

# What is unlikely is ignored when that is asked for, and printed in a line. With
# one side of a race only, it is unlikely because its variable is special.
unlikely=bits
reason=disjoint-bits
special=()
if lacks registers; then
	unlikely=statistics
	reason="special-variable"
	special=(--special-variable "done")
fi
tries seconds 1 6 40
while next_try seconds; do
	run run --replay off --seed 1 --rate 3000 --ignore-unlikely "${special[@]}" \
		-o "$report" -- "$TARGETS_DIR/verdicts.O2" "$seconds" "$unlikely"
	records "$report" verdict=unlikely && break
done
is "--ignore-unlikely: status" "$status" 0
matches "--ignore-unlikely: in short" "$work/err" \
	"^racewatch: #1 unlikely \\($reason\\): "
is "--ignore-unlikely: not in full" "$(grep -c ^WARNING "$work/err")" 0
matches "--ignore-unlikely: counted apart" "$work/err" \
	'^SUMMARY: racewatch: 0 races \(0 new, 1 unlikely ignored\)'

# The same of the report that was saved, and of it as it is.
mv "$report" "$work/saved.jsonl"
run report --baseline /dev/null "$work/saved.jsonl"
is "report: status" "$status" 66
matches "report: in full" "$work/out" "verdict     unlikely \\($reason\\)"
run report --baseline /dev/null --ignore-unlikely "$work/saved.jsonl"
is "report --ignore-unlikely: status" "$status" 0
matches "report --ignore-unlikely: in short" "$work/out" \
	"^racewatch: #1 unlikely \\($reason\\): "
run report --format junit "$work/saved.jsonl"
matches "report: it fails in JUnit" "$work/out" 'failures="1"'
run report --format junit --ignore-unlikely "$work/saved.jsonl"
matches "report --ignore-unlikely: it does not" "$work/out" 'failures="0"'

# A special variable is one of these.
tries seconds 1 5 40
while next_try seconds; do
	run run --replay off --seed 1 --rate 3000 --special-variable 'cou*' \
		--ignore-unlikely -o "$report" -- \
		"$TARGETS_DIR/verdicts.O2" "$seconds" ticket
	records "$report" reason=special-variable && break
done
is "--special-variable: status" "$status" 0
has "--special-variable: its verdict" "$report" \
	verdict=unlikely reason=special-variable

# It halts at what is unlikely as well: long before the minute is over.
run run --replay off --seed 1 --rate 3000 --halt-on-race "${special[@]}" -o "$report" -- \
	"$TARGETS_DIR/verdicts.O2" 60 "$unlikely"
is "--halt-on-race: status" "$status" 66
has "--halt-on-race: at a race that is unlikely" "$report" \
	verdict=unlikely

# attach has a line for it as it comes, and exits with 66 all the same.
tries seconds 1 6 40
while next_try seconds; do
	"$TARGETS_DIR/verdicts.O2" 120 ticket >"$work/said" 2>&1 </dev/null &
	program=$!
	lib_started "$program"
	run attach --seed 1 --effort high --rate 3000 --duration "$seconds" \
		--special-variable count "$program"
	kill "$program"
	wait "$program" 2>/dev/null
	grep -q 'unlikely' "$work/err" && break
done
is "attach: status" "$status" 66 || diag_file "$work/err"
is "attach: one line" "$(grep -c \
	'^racewatch: #1 unlikely (special-variable): ' "$work/err")" 1
is "attach: not in full" "$(grep -c '^WARNING' "$work/err")" 0
matches "attach: it is counted" "$work/err" \
	'^SUMMARY: racewatch: 1 race \(1 new, 1 unlikely\)'

# A site whose stalls end in synchronization alone gets no more of them: of the
# two, three each, and what was under way then. Without that rule they get as
# many as other sites, as long as the program runs.
tries seconds 1 5 40
while next_try seconds; do
	run run --replay off --seed 1 --rate 1000 -o "$report" -- \
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
