#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Code that begins to run later is sampled soon, by a program with much code that
# never runs (tests/targets/later.c): a phase, and a library that is loaded then.
# With cpu-clock samples and where perf is refused. The time is counted in looks
# at what runs, of which there is one in a second: where the machine is busy, they
# come as late as the program does.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

# The program is in the new code for more than half of its time, so that one look
# in a thousand misses it, of ten samples. The others are for a front end that gets
# no processor.
SAMPLES=10
MOST=8
T=$TARGETS_DIR/later.O2

late=$(nm -S "$T" | awk '$4 == "late_count" { print $1, $2 }')
late_from=$((16#${late% *}))
late_to=$((late_from + 16#${late#* }))

says()
{
	grep -q "^$1 [0-9]" "$work/out"
}

rests()
{
	grep -q 'profile: .*, resting$' "$work/err"
}

# sampled_late: was late_count() sampled? When, in $sampled.
sampled_late()
{
	local place

	while read -r sampled place; do
		place=$((place))
		[ "$place" -ge "$late_from" ] && [ "$place" -lt "$late_to" ] &&
			return
	done < <(sed -n "s|^racewatch.detect. \([0-9.]*\): sampled first at \(0x[0-9a-f]*\) of $T\$|\1 \2|p" \
		"$work/err")
	return 1
}

sampled_loaded()
{
	sampled=$(sed -n 's|^racewatch.detect. \([0-9.]*\): sampled first at .* of .*/plugin_module.so$|\1|p' \
		"$work/err" | head -n 1)
	[ "$sampled" ]
}

# looks WORD: how many looks with enough samples ended after the program said that,
# until $sampled.
looks()
{
	local begun

	begun=$(sed -n "s/^$1 //p" "$work/out")
	sed -n 's/^racewatch.target. \([0-9.]*\): profile: \([0-9]*\) .*/\1 \2/p' \
		"$work/err" |
		awk -v b="$begun" -v e="$sampled" -v s="$SAMPLES" '
			$1 > b / 1e9 && $1 < e && $2 >= s { n++ }
			END { print n + 0 }'
}

# step WHAT WORD: the program goes on; the new code is sampled.
step()
{
	local n

	echo >&7
	if ! await 60 "sampled_$2"; then
		not_ok "$1, $2: the new code is sampled"
		diag_file "$work/err"
		return
	fi
	n=$(looks "$2")
	[ "$n" -le "$MOST" ]
	is "$1, $2: sampled after few looks ($n)" $? 0
}

# later WHAT CMD...
later()
{
	local what=$1 pid

	shift
	rm -f "$work/in" "$work/out" "$work/err"
	mkfifo "$work/in"
	exec 7<>"$work/in"
	# a rate of its own: nothing is armed but what is drawn
	timeout -k 5 200 "$@" "$RACEWATCH" run --seed 1 --rate 1000 \
		--error-exitcode 0 --debug detect,target -- "$T" 180 \
		<"$work/in" >"$work/out" 2>"$work/err" 7>&- &
	pid=$!
	lib_started "$pid"
	if ! await 60 says early || ! await 60 rests; then
		not_ok "$what: it learns what runs"
		diag_file "$work/err"
	else
		sampled_late
		is "$what: what does not run yet is not sampled" $? 1
		step "$what" late
		step "$what" loaded
	fi
	# the program ends with its input
	exec 7>&-
	wait "$pid"
	is "$what: the program has ended as it does alone" $? 0
}

later "cpu clocks" env
matches "cpu clocks: they are used" "$work/err" 'profile: '
later "perf refused" "$HELPERS_DIR/deny-syscall" perf_event_open
finish
