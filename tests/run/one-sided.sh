#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch report --diff and --baseline with races of which one side was seen:
# each is known again by that side, and none is counted for two. The reports
# are made up here. Races are of two functions: "ab"; of a race "a" only one
# side was seen.

. "$(dirname "$0")/../lib.sh"

# side FUNCTION ROLE
side()
{
	printf '{"role":"%s","access":"write","size":4,"frames":[{"function":"%s","module":"/t","build_id":"01","offset":"0x%x"}]}' \
		"$2" "$1" "'$1"
}

# races FILE RACE...: a report of them
races()
{
	local file=$1 race other id=0 digits

	echo '{"type":"run","schema":1}' >"$file"
	for race in "${@:2}"; do
		id=$((id + 1))
		other='{"role":"unknown"}'
		[ ${#race} -eq 1 ] || other=$(side "${race:1}" racing)
		printf -v digits '%032x' "0x$race"
		printf '{"type":"race","id":%d,"fingerprint":"%s","fingerprint_code":"%s","evidence":"value-change","address":"0x10","size":4,"variable":{"name":"hits","symbol":"hits","region":"global","module":"/t"},"sides":[%s,%s],"count":1,"verdict":"suspect"}\n' \
			"$id" "$digits" "$digits" \
			"$(side "${race:0:1}" stalled)" "$other" >>"$file"
	done
	echo '{"type":"summary","races":0,"new":0,"samples":1,"exit":66}' \
		>>"$file"
}

# of_status STATUS: how many races of the comparison have it
of_status()
{
	records --count "$work/out" type=race "status=$1"
}

# compare OLD NEW COUNTS: what --diff and --baseline say
compare()
{
	local what="'$1' then '$2'" new=${3%% *} wanted=0

	# shellcheck disable=SC2086 # lists of races
	races "$work/old" $1
	# shellcheck disable=SC2086
	races "$work/new" $2
	[ "$new" -eq 0 ] || wanted=66
	run report --diff "$work/old" "$work/new"
	is "diff, $what" "$(sed -n 's/^DIFF: racewatch: //p' "$work/out")" "$3"
	is "diff, $what: the status" "$status" "$wanted"
	run report --diff --format json "$work/old" "$work/new"
	is "diff as JSON, $what" \
		"$(of_status new) new, $(of_status gone) gone, $(
			of_status known) still there" "$3"
	run report --baseline "$work/old" "$work/new"
	is "baseline, $what: the status" "$status" "$wanted"
	is "baseline, $what: new" \
		"$(grep -c '^WARNING: racewatch: data race' "$work/out")" "$new"
}

compare a a "0 new, 0 gone, 1 still there"
compare a b "1 new, 1 gone, 0 still there"
compare a ab "0 new, 0 gone, 1 still there"
compare b ab "0 new, 0 gone, 1 still there"
compare ab a "0 new, 0 gone, 1 still there"
compare ab b "0 new, 0 gone, 1 still there"
compare ab c "1 new, 1 gone, 0 still there"
compare c ab "1 new, 1 gone, 0 still there"
# one side stands for one race
compare a "ab ac" "1 new, 0 gone, 1 still there"
compare "ab ac" a "0 new, 1 gone, 1 still there"
compare "a b" ab "0 new, 0 gone, 1 still there"
compare "a b" "ab ac bc" "2 new, 0 gone, 1 still there"
# of a race that is known in full
compare "ab a" ac "1 new, 1 gone, 0 still there"
compare ab "ab a" "0 new, 0 gone, 2 still there"
compare "ab a" ab "0 new, 0 gone, 1 still there"

finish
