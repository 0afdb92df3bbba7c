#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch provoke is ended while it holds a thread that waits for the other side.
# Killed: the program runs on, its text as in its file, no watchpoint, no tracer, no
# stopped thread. By SIGTERM and SIGINT: the same, or the program is ended too.
#
# The other side is an instruction that this run of the program never executes: the
# thread is held for a second, unless it is let go.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR/provoked.O2

gone()
{
	! kill -0 "$1" 2>/dev/null
}

# race_of KIND FILE: the last record of its race, once it is met
race_of()
{
	local seconds

	tries seconds 1 2 4 8 16
	while next_try seconds; do
		run run -q -o "$report" --seed 1 --rate 1000 --at "${1}_first" \
			--at "${1}_second" -- "$T" "$1" "$seconds"
		jq -c --arg first "${1}_first" --arg second "${1}_second" '
			select(.type == "race" and
				([.sides[].frames[0].function] | sort) ==
				([$first, $second] | sort))' \
			"$report" | tail -n 1 >"$2"
		[ ! -s "$2" ] || return 0
	done
	return 1
}

# find_program: a child of racewatch or of its tracer
find_program()
{
	program=$(child_of "$frontend" provoked.O2)
	[ -n "$program" ] || {
		tracer=$(child_of "$frontend" racewatch-trace)
		[ -z "$tracer" ] || program=$(child_of "$tracer" provoked.O2)
	}
	[ -n "$program" ]
}

# The threads that are stopped.
stopped()
{
	grep -ls '^State:.*(tracing stop)' "/proc/$program/task/"*/status
}

# One of its threads is held while another runs. Nothing samples here, which would
# stop threads for a moment; at the start, all are stopped.
held()
{
	local before ticks

	before=$(stopped) && ticks=$(cpu_time "$program") || return 1
	sleep 0.05
	[ "$(stopped)" = "$before" ] && lib_has_run "$program" "$ticks"
}

# kill_provoke SIGNAL ORDER
kill_provoke()
{
	local what="SIG$1, order $2"

	program=
	# a background job of a script ignores SIGINT
	env --default-signal=INT "$RACEWATCH" provoke --order "$2" --times 1 \
		"$work/never.jsonl#1" -- "$T" null 60 \
		>"$work/out" 2>"$work/err" </dev/null &
	frontend=$!
	lib_started "$frontend"
	if ! await 20 find_program || ! await 20 held; then
		not_ok "$what: a thread is held"
		diag_file "$work/err"
		return
	fi
	lib_started "$program"
	kill "-$1" "$frontend"
	wait "$frontend" 2>/dev/null
	if [ "$1" != KILL ] && await 10 gone "$program"; then
		ok "$what: the program was ended too"
		return
	fi
	await 10 untraced "$program"
	check_unharmed "$what" "$program"
	kill -9 "$program"
}

if ! race_of null "$work/null" || ! race_of free "$work/free"; then
	not_ok "the races are reported"
	finish
fi
# The side in null_first() against one that free alone executes. The second thread came
# after a second: so long is the hold.
jq -c --slurpfile free "$work/free" '.id = 1 | .elapsed_us = 1000000 |
	(.sides[] | select(.frames[0].function == "null_second")).frames =
	($free[0].sides[] | select(.frames[0].function == "free_second")).frames' \
	"$work/null" >"$work/never.jsonl"

kill_provoke KILL ab
kill_provoke KILL ba
kill_provoke TERM ab
kill_provoke INT ba

finish
