#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The exit statuses of `racewatch run', as the manual's table has them.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR

# status_of DESCRIPTION WANTED ARG...
status_of()
{
	local what=$1 wanted=$2

	shift 2
	run "$@"
	is "$what" "$status" "$wanted" || diag_file "$work/err"
}

status_of "the program's own: 0" 0 run -- /bin/true
status_of "the program's own: 1" 1 run -- /bin/false
status_of "the program's own: 7" 7 run -- "$T/exit_hot.O2" 0.3
status_of "exit from another thread: 3" 3 run -- "$T/exit_thread.O2" 0.3
status_of "killed by SIGSEGV: 139" 139 run -- "$T/die.O2" 0.3
status_of "killed by SIGABRT: 134" 134 run -- "$T/die.O2" 0.3 6
status_of "killed by SIGKILL: 137" 137 run -- "$T/die.O2" 0.3 9
status_of "killed by SIGTRAP of its own: 133" 133 run -- "$T/die.O2" 0.3 5

racy=(-- "$T/read_write.O2" 2)
status_of "a race: 66" 66 run --rate 1000 --seed 1 "${racy[@]}"
matches "the program's output came through" "$work/out" '^read_write: done$'
matches "the warning is on stderr" "$work/err" \
	'^WARNING: racewatch: data race #1'
matches "the summary is on stderr" "$work/err" '^SUMMARY: racewatch: 1 race'
status_of "a race, --error-exitcode 5: 5" 5 \
	run --rate 1000 --seed 1 --error-exitcode 5 "${racy[@]}"
status_of "a race, --error-exitcode 0: the program's own" 0 \
	run --rate 1000 --seed 1 --error-exitcode 0 "${racy[@]}"
status_of "too few samples: 65" 65 \
	run --rate 0 --min-samples 1 -- "$T/single.O2" 0.2
status_of "no samples but none asked for: the program's own" 0 \
	run --rate 0 -- "$T/single.O2" 0.2
status_of "--timeout: 124" 124 run --timeout 0.3s -- "$T/single.O2" 60
status_of "not found: 127" 127 run -- "$work/no-such-program"
status_of "not found on PATH: 127" 127 run -- racewatch-no-such-program
: >"$work/plain"
status_of "not executable: 126" 126 run -- "$work/plain"
status_of "a directory: 126" 126 run -- "$work"
status_of "usage: no CMD: 2" 2 run
status_of "usage: unknown option: 2" 2 run --no-such-option -- /bin/true
status_of "usage: bad number: 2" 2 run --rate x -- /bin/true
status_of "usage: bad time: 2" 2 run --duration 5q -- /bin/true
status_of "usage: unknown back-end: 2" 2 run --backend x -- /bin/true
status_of "usage: unknown command: 2" 2 no-such-command
status_of "output cannot be written: 125" 125 \
	run -o "$work/none/such" -- /bin/true
status_of "--help: 0" 0 run --help
status_of "--version: 0" 0 --version

# --duration ends the watching, not the program.
start=$SECONDS
status_of "--duration leaves the program to its end: 7" 7 \
	run --duration 0.3s -- "$T/exit_hot.O2" 2
if [ $((SECONDS - start)) -ge 1 ]; then
	ok "and waits for it"
else
	not_ok "and waits for it"
fi
status_of "--halt-on-race ends early: 66" 66 \
	run --halt-on-race --rate 1000 --seed 1 -- "$T/read_write.O2" 60

finish
