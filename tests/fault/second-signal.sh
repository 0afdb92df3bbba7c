#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A second SIGINT or SIGTERM ends racewatch at once, whatever the front end is
# doing, and the program that was attached to goes on unharmed. Here it waits for
# ever for a reader of its report.

. "$(dirname "$0")/../lib.sh"

# Does the watcher wait for room in the pipe?
waits()
{
	local number fd

	read -r number fd _ 2>/dev/null <"/proc/$watcher/syscall" &&
		[ "$number" = 1 ] &&
		[ "$(readlink "/proc/$watcher/fd/$((fd))")" = "$work/slow" ]
}

# second_signal FIRST SECOND
second_signal()
{
	local what="SIG$1 and SIG$2" status

	rm -f "$work/slow"
	mkfifo "$work/slow"
	exec {pipe}<>"$work/slow"
	# the first race's record is larger than this
	python3 -c 'import fcntl, sys
fcntl.fcntl(int(sys.argv[1]), 1031, 4096) # F_SETPIPE_SZ
import os
os.set_blocking(int(sys.argv[1]), False)
try:
    while True:
        os.write(int(sys.argv[1]), b"\n" * 64)
except BlockingIOError:
    pass
os.set_blocking(int(sys.argv[1]), True)' "$pipe"
	"$TARGETS_DIR/global.O2" 120 >/dev/null {pipe}<&- &
	program=$!
	lib_started "$program"
	env --default-signal=INT "$RACEWATCH" attach -q --seed 1 --rate 1000 \
		--stall 1ms -o "$work/slow" "$program" \
		>/dev/null 2>"$work/err" {pipe}<&- &
	watcher=$!
	lib_started "$watcher"
	if ! await 90 waits; then
		not_ok "$what: the front end is blocked"
		diag_file "$work/err"
		return
	fi
	kill "-$1" "$watcher"
	# so that it is another one (SIGNALPIPE_SAME_MS)
	sleep 0.5
	if waits; then
		ok "$what: the first one does not lose the report"
	else
		not_ok "$what: the first one does not lose the report"
	fi
	kill "-$2" "$watcher"
	await 20 sh -c "! grep -qs '^State:.[RSDTt]' /proc/$watcher/status" ||
		builtin kill -9 "$watcher"
	wait "$watcher" 2>/dev/null
	status=$?
	is "$what: the second one ends racewatch" "$status" \
		$((128 + $(builtin kill -l "$2")))
	await 10 untraced "$program"
	check_unharmed "$what" "$program"
	kill -9 "$program"
	exec {pipe}<&-
}

second_signal INT INT
second_signal TERM INT

finish
