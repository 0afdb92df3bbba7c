#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Programs that die by a signal: the report says so, where, and which races
# came before. That the race is seen within 1.5 s is what races.sh measures;
# here the seed is one that finds it, and the rate is high.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR

# crashes DESCRIPTION WANTED-STATUS HOW ARG...: sets $crash, the record.
crashes()
{
	local what=$1 wanted=$2 how=$3

	shift 3
	# until the race is met, which is chance
	tries seconds 1.5 6 24
	while next_try seconds; do
		RUN_TIMEOUT=90 run run --rate 3000 --seed 1 --error-exitcode 0 \
			-o "$report" "$@" -- "$T/crash_after.nopie" "$seconds" \
			"$how"
		[ "$(races_in "$report")" -eq 0 ] || break
	done
	is "$what: the status" "$status" "$wanted" || diag_file "$work/err"
	crash=$(records --count "$report" type=crash)
}

# says DESCRIPTION CONDITION...: the crash record
says()
{
	has "$1" "$report" type=crash "${@:2}"
}

crashes "a pointer that was raced" 139 null
is "one crash is recorded" "$crash" 1
says "the signal, the thread and the address" \
	signal=11 thread=crash_after.nop address=0x10
says "the function it died in is innermost" \
	frames.0.function=node_next frames.0.file=*crash_after.c \
	frames.0.line=[1-9]*
says "its caller is next" frames.1.function=head_follow
says "the race came before, of that pointer, in that function" \
	races.0.variable=head races.0.same_function=true
says "and did not touch the address itself" \
	races.0.same_address=false races.0.same_object=false
matches "the text says what it died of" "$work/err" \
	'^CRASH: racewatch: process [0-9]+ died of SIGSEGV at address 0x10$'
matches "the text has the stack" "$work/err" \
	'^    #0  node_next +[^ ]*/crash_after\.c:[0-9]+:[0-9]+$'
matches "the text has the race" "$work/err" \
	'^    #1 of head, .* before: .*in a function of that stack$'
if [ "$(grep -n '^CRASH' "$work/err" | cut -d: -f1)" -lt \
	"$(grep -n '^SUMMARY' "$work/err" | cut -d: -f1)" ]; then
	ok "the crash comes before the summary"
else
	not_ok "the crash comes before the summary"
fi

crashes "an assertion" 134 assert
says "abort(3): no address" signal=6 address=null
says "its frames go through the C library to the program" \
	frames.*.function=die frames.*.file=*crash_after.c
says "the race is there all the same" races.*.variable=head

crashes "a stack overflow" 139 overflow
says "the innermost function" frames.0.function=endless

crashes "a handler that gives up" 139 reset
says "the fault is what it dies of" \
	address=0x10 frames.0.function=node_next

crashes "a handled fault" 0 handled
is "is no crash" "$crash" 0

crashes "a child that nobody follows" 0 child --follow none
is "is not reported" "$crash" 0
crashes "a child that is followed" 0 child --follow fork
says "is reported" signal=11 frames.0.function=node_next

# Killed from outside: nothing to look at, but it is told.
rm -f "$report"
timeout 60 "$RACEWATCH" run --seed 1 --error-exitcode 0 -o "$report" -- \
	"$T/crash_after.nopie" 0.3 wait >"$work/out" 2>"$work/err" &
watcher=$!
await 30 grep -q 'crash_after: done' "$work/out" ||
	diag "it did not come so far"
await 30 watching || diag "no run was recorded"
kill -9 "$(records --print pid "$report" type=run)"
wait "$watcher"
says "killed from outside: signal 9, and no stack" signal=9 frames.0!=*
matches "the text says so" "$work/err" 'died of SIGKILL$'

# What racewatch itself ends has not crashed.
run run --timeout 1s --error-exitcode 0 -o "$report" -- "$T/crash_after.nopie" 0.1 wait
is "--timeout: the status" "$status" 124
is "--timeout: no crash" "$(records --count "$report" type=crash)" 0

# Attached to: the same.
tries seconds 3 10 30
while next_try seconds; do
	"$T/crash_after.nopie" "$seconds" null >"$work/out" 2>&1 &
	pid=$!
	lib_started "$pid"
	RUN_TIMEOUT=90 run attach --rate 3000 --seed 1 -o "$report" "$pid"
	[ "$(races_in "$report")" -eq 0 ] || break
	wait "$pid"
done
says "attached to: the place" \
	signal=11 address=0x10 frames.0.function=node_next
says "attached to: the race" \
	races.0.variable=head races.0.same_function=true
wait "$pid"
is "attached to: its own status" "$?" 139

finish
