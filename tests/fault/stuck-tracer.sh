#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A tracer that is stuck while it holds threads: stopped by SIGSTOP, or in a
# wait that only SIGKILL ends. One that is only slow is not taken for it. Attached to a busy program: it is continued after
# a second, or killed after three (guardian/heartbeat.h), the text and the debug
# registers are restored and all threads run on, those too that had met a
# breakpoint while nobody waited for them. racewatch ends with 125 and says so;
# a second signal ends it sooner. A program that racewatch started ends with the
# tracer.
#
# A thread that meets a watchpoint in a debug register in the moment before the
# tracer is killed dies of it; of 60 trials at a load of 25 none did, on
# 2026-11-22. Without
# the tracer's deputy (guardian/deputy.h), 7 of 8 died that hung in a wait.
#
# Limits are doubled here and more, for loaded machines: what is tested is that
# there is an end, within 20 s.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

trials=1
[ -n "$LONG" ] && trials=10

export HANGING_WHEN=$work/hang

ended()
{
	[ "$(lib_born "$1")" = gone ]
}

# Processor time of each thread.
times()
{
	cut -d' ' -f14,15 "/proc/$program/task/"*/stat 2>/dev/null
}

# Have all threads run since?
all_run()
{
	! times | paste -d' ' - "$work/times" |
		awk '$1 + $2 <= $3 + $4 { exit 1 }' && return 1
	return 0
}

tracer_state_is()
{
	grep -qs "^State:[[:space:]]*$1" "/proc/$tracer/status"
}

watching_or_ended()
{
	watching || ended "$frontend"
}

# attach OPTION...: leaves $program, $frontend, $tracer, $guardian.
attach()
{
	: >"$work/out"
	rm -f "$report" "$HANGING_WHEN"
	"$TARGETS_DIR/wait_forever.O2" >"$work/out" 2>"$work/program" &
	program=$!
	lib_started "$program"
	await 20 program_ready || return 1
	LD_PRELOAD=$HELPERS_DIR/hanging.so \
		"$RACEWATCH" attach --rate 500 --stall 1ms -o "$report" "$@" \
		"$program" >"$work/attach" 2>"$work/err" </dev/null &
	frontend=$!
	lib_started "$frontend"
	await 20 watching_or_ended
	watching || return 1
	tracer=$(child_of "$frontend" racewatch-trace)
	guardian=$(child_of "$tracer" racewatch-guard)
	lib_started "$tracer" "$guardian"
	[ -n "$guardian" ]
}

# check_program WHAT: it is as if never watched, and all of it runs.
check_program()
{
	if "$HELPERS_DIR/pristine" "$program" >/dev/null 2>"$work/pristine"
	then
		ok "$1: text and debug registers are restored"
	else
		not_ok "$1: text and debug registers are restored"
		diag_file "$work/pristine"
	fi
	times >"$work/times"
	await 20 all_run
	is "$1: all threads run on" $? 0
	kill -KILL "$program"
	wait "$program" 2>/dev/null
}

# hung WHAT OPTION...: the tracer hangs for good.
hung()
{
	local what=$1 try

	for ((try = 1;; try++)); do
		attach "${@:2}" && break
		kill -KILL "$program"
		wait "$program" 2>/dev/null
		registers_refused "$try" && continue
		not_ok "$what: the program is watched"
		diag_file "$work/err"
		return
	done
	touch "$HANGING_WHEN"
	await 20 ended "$frontend"
	is "$what: racewatch ends" $? 0
	wait "$frontend"
	is "$what: exit status" $? 125
	matches "$what: the reason" "$work/err" \
		'tracer process hung.*the program was restored and runs on'
	await 20 ended "$guardian"
	is "$what: the guardian ends" $? 0
	check_program "$what"
}

# ends_well WHAT: told to end, racewatch does.
ends_well()
{
	local what=$1 status

	kill -TERM "$frontend"
	await 20 ended "$frontend"
	wait "$frontend"
	status=$?
	case $status in
	0 | 66) ok "$what: watching went on, to a clean end" ;;
	*)
		not_ok "$what: watching went on, to a clean end"
		diag "status $status"
		diag_file "$work/err"
		;;
	esac
	check_program "$what"
}

# paused WHAT OPTION...: the tracer is stopped, twice.
paused()
{
	local what=$1

	if ! attach "${@:2}"; then
		not_ok "$what: the program is watched"
		return
	fi
	for _ in 1 2; do
		kill -STOP "$tracer"
		await 20 tracer_state_is T
		is "$what: the tracer is stopped" $? 0
		await 20 tracer_state_is '[^T]'
		is "$what: and continued" $? 0
	done
	ends_well "$what"
}

backends=(perf ptrace perf-cpu value) few=(perf ptrace)
skip_lacking registers "back-ends perf, ptrace and perf-cpu" &&
	backends=(value) few=(value)
for ((i = 0; i < trials; i++)); do
	for HANGING_IN in read wait; do
		export HANGING_IN
		for backend in "${backends[@]}"; do
			in_turn 5 "hung in a $HANGING_IN, $backend" || continue
			registers_for "$backend"
			hung "hung in a $HANGING_IN, $backend" \
				--backend "$backend"
			exec 9>&-
		done
	done
done
# A program that its user has stopped stays so.
all_traced()
{
	! grep -qsv ') t ' "/proc/$program/task/"*/stat
}
if ! in_turn 2 "hung, and the program is stopped"; then
	:
elif HANGING_IN="wait" attach --backend value; then
	kill -STOP "$program"
	await 20 all_traced
	is "a stopped program: its threads are stopped" $? 0
	touch "$HANGING_WHEN"
	await 20 ended "$frontend"
	await 20 ended "$guardian"
	is "a stopped program: the guardian ends" $? 0
	is "a stopped program: it is stopped still" \
		"$(awk '{ print $3 }' "/proc/$program/task/"*/stat | sort -u)" T
	kill -CONT "$program"
	check_program "a stopped program"
else
	not_ok "a stopped program: it is watched"
fi
export HANGING_IN="read"
for backend in "${few[@]}"; do
	! in_turn 2 "stopped, $backend" ||
		paused "stopped, $backend" --backend "$backend"
done

# It waits for something, again and again, for longer than a stuck one may.
export HANGING_IN="naps"
if ! in_turn 2 "a slow tracer"; then
	:
elif attach --backend value; then
	touch "$HANGING_WHEN"
	sleep 6
	is "slow: the tracer lives" "$(child_of "$frontend" racewatch-trace)" \
		"$tracer"
	rm "$HANGING_WHEN"
	ends_well "slow"
else
	not_ok "slow: the program is watched"
fi
export HANGING_IN="read"

# Two signals: racewatch does not wait for a tracer that hangs.
if attach; then
	# so that it is not the guardian who ends it
	kill -STOP "$guardian"
	touch "$HANGING_WHEN"
	await 20 tracer_state_is '[SD]'
	kill -INT "$frontend"
	sleep 0.3
	kill -INT "$frontend"
	await 20 ended "$frontend"
	is "two signals end racewatch" $? 0
	wait "$frontend"
	is "two signals: exit status" $? 125
	matches "two signals: what becomes of the program" "$work/err" \
		'guardian restores the program'
	kill -CONT "$guardian"
	await 20 ended "$guardian"
	is "two signals: the guardian ends" $? 0
	check_program "two signals"
else
	not_ok "two signals: the program is watched"
fi

# A program of our own.
rm -f "$HANGING_WHEN" "$report"
LD_PRELOAD=$HELPERS_DIR/hanging.so "$RACEWATCH" run --rate 500 \
	-o "$report" -- "$TARGETS_DIR/wait_forever.O2" \
	>"$work/out" 2>"$work/err" </dev/null &
frontend=$!
lib_started "$frontend"
await 20 watching
await 20 program_ready
program=$(sed -n 's/^ready //p' "$work/out")
touch "$HANGING_WHEN"
await 20 ended "$frontend"
is "run: racewatch ends" $? 0
wait "$frontend"
is "run: exit status" $? 125
matches "run: the reason" "$work/err" 'tracer process hung.*program with it'
await 20 ended "$program"
is "run: the program has ended" $? 0

finish
