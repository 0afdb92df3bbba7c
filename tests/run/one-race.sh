#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# One race is one report: two threads come to one store of a stripped library by
# four ways, which makes ten pairs of ways. The same store done to two variables
# is two races.

. "$(dirname "$0")/../lib.sh"

# watch FILE COUNT ARG...: until the races were seen COUNT times together.
# By then two pairs of ways were met, but for one time in 4^COUNT.
watch_ways()
{
	local seconds count

	tries seconds 1 5 40
	while next_try seconds; do
		run run --seed "$seed" --rate 1000 --error-exitcode 0 \
			-o "$report" -- "$TARGETS_DIR/ways.O2" "$seconds" \
			"${@:3}"
		count=$(last_of count "$report" | awk '{ n += $1 } END { print n + 0 }')
		[ "$count" -lt "$2" ] || break
	done
	cp "$report" "$1"
	[ "$count" -ge "$2" ]
	is "${1##*/}: seen at least $2 times" $? 0
}

variables()
{
	last_of variable.name "$1" | sort | tr '\n' ' '
}

# what is stored is there already: values tell nothing
for seed in $(seeds 1); do
	skip_lacking registers "one store by four ways" && break
	watch_ways "$work/ways.1" 20
	is "one store by four ways is one race" \
		"$(last_of id "$work/ways.1" | wc -l)" 1
	seed=$((seed + 100))
	watch_ways "$work/ways.2" 20
	"$RACEWATCH" report --format json "$work/ways.1" "$work/ways.2" \
		>"$work/merged"
	is "merged with another run's it is one" \
		"$(last_of id "$work/merged" | wc -l)" 1
	"$RACEWATCH" report --format json "$work/ways.2" "$work/merged" \
		>"$work/again"
	is "and merged again" "$(last_of id "$work/again" | wc -l)" 1
	"$RACEWATCH" run --seed "$seed" --rate 1000 --error-exitcode 0 \
		--baseline "$work/ways.1" -o "$work/known" -- \
		"$TARGETS_DIR/ways.O2" 2 >/dev/null 2>&1
	is "which the other run's baseline knows" \
		"$(last_of status "$work/known" | grep -vxc known)" 0

	watch_ways "$work/two" 20 two
	is "the store to two variables is two races" \
		"$(variables "$work/two")" "ways_first ways_second "
	is "by the same code" "$(last_of fingerprint_code "$work/two" | sort -u | wc -l)" 1
done

# By its changed value a race is seen with one side first, and with both later,
# and at both of an update's instructions: it is one race all the same. Without
# this, two to three of four runs report more.
for seed in $(seeds 8); do
	in_turn 3 "by values, seed $seed" || continue
	run run --seed "$seed" --rate 2000 --backend value -o "$report" -- \
		"$TARGETS_DIR/lost.O0" 1.5 hits
	count=$(grep -c '^WARNING: racewatch: data race' "$work/err")
	[ "$count" -le 1 ] && [ "$(last_of id "$report" | wc -l)" -le 1 ]
	is "by values, seed $seed: it is one race" $? 0 || diag_file "$work/err"
done

finish
