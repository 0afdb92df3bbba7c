#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The exit statuses of `racewatch run' and `racewatch attach': every row of the
# manual's table (racewatch(1), EXIT STATUS), and rows that meet.

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

# met DESCRIPTION WANTED ARG...: the same, of a program whose race is met, which
# is chance; it runs so much longer that one of the tries will do
met()
{
	local what=$1 wanted=$2 seconds

	shift 2
	tries seconds 1 8 30
	while next_try seconds; do
		RUN_TIMEOUT=90 run "$@" -- "$T/read_write.O2" "$seconds"
		grep -q '^WARNING' "$work/err" && break
	done
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

met "a race: 66" 66 run --rate 1000 --seed 1
matches "the program's output came through" "$work/out" '^read_write: done$'
matches "the warning is on stderr" "$work/err" \
	'^WARNING: racewatch: data race #1'
matches "the summary is on stderr" "$work/err" '^SUMMARY: racewatch: 1 race'
met "a race, --error-exitcode 5: 5" 5 \
	run --rate 1000 --seed 1 --error-exitcode 5
met "a race, --error-exitcode 0: the program's own" 0 \
	run --rate 1000 --seed 1 --error-exitcode 0
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
status_of "usage: a misspelt command: 2" 2 sweeep
matches "usage: what it was to be" "$work/err" 'did you mean sweep\?$'
status_of "output cannot be written: 125" 125 \
	run -o "$work/none/such" -- /bin/true
status_of "--help: 0" 0 run --help
status_of "--version: 0" 0 --version
matches "the version is a line of its own" "$work/out" '^racewatch [0-9.]+$'
matches "the libraries have versions" "$work/out" \
	'^with Capstone [0-9.]+, elfutils [0-9.]+, SQLite [0-9.]+, Expat [0-9.]+; built with libunwind [0-9.]+, Jansson [0-9.]+$'
matches "the kernel is named" "$work/out" "^on Linux $(uname -r), $(uname -m); "

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

# What is suppressed or known is no failure; what else applies holds.
halt=(--halt-on-race --seed 1)
long=(-- "$T/read_write.O2" 60)
sure=(-- "$T/read_write.O2" 1)
echo 'race:_level' >"$work/all.supp"
run run "${halt[@]}" -o "$work/known.jsonl" "${long[@]}"
status_of "suppressed only: the program's own" 0 \
	run --seed 1 --suppressions "$work/all.supp" "${sure[@]}"
# One that is known with one side may be met with both, and is new then.
skip_lacking registers "known only: the program's own" ||
	status_of "known only: the program's own" 0 \
		run --seed 1 --baseline "$work/known.jsonl" "${sure[@]}"
status_of "a race new to the baseline: 66" 66 \
	run "${halt[@]}" --baseline "$work/known.jsonl" -- "$T/global.O2" 60
status_of "suppressed only, but too few samples: 65" 65 \
	run --seed 1 --suppressions "$work/all.supp" --min-samples 1000000 \
	"${sure[@]}"
skip_lacking registers "known only, but too few samples: 65" ||
	status_of "known only, but too few samples: 65" 65 \
		run --seed 1 --baseline "$work/known.jsonl" \
		--min-samples 1000000 "${sure[@]}"
status_of "a race and too few samples: 66" 66 \
	run "${halt[@]}" --min-samples 1000000 "${long[@]}"
status_of "--error-exitcode 0 and too few samples: 65" 65 \
	run "${halt[@]}" --error-exitcode 0 --min-samples 1000000 "${long[@]}"
tries timeout 1s 8s 40s
while next_try timeout; do
	run run --seed 1 --timeout "$timeout" "${long[@]}"
	grep -q '^WARNING' "$work/err" && break
done
is "a race and --timeout: 66" "$status" 66 || diag_file "$work/err"
status_of "suppressed only and --timeout: 124" 124 \
	run --seed 1 --suppressions "$work/all.supp" --timeout 1s "${long[@]}"
status_of "too few samples and --timeout: 124" 124 \
	run --min-samples 1000000 --timeout 1s -- "$T/single.O2" 60
status_of "synchronization only: the program's own" 0 \
	run --seed 1 --min-samples 1 --show all -- "$T/free_atomic.O2" 2
status_of "a failing program without races: its own" 7 \
	run --min-samples 0 -- "$T/exit_hot.O2" 0.3
status_of "a run that sampled nothing" 0 run --rate 0 -- "$T/single.O2" 0.2
matches "says so" "$work/err" 'no samples were taken'
status_of "the report's end is lost: 125" 125 \
	run -o /dev/full -- /bin/true
status_of "a race, but the report is lost: 125" 125 \
	run "${halt[@]}" -o /dev/full "${long[@]}"

# attached DESCRIPTION WANTED TARGET ARG...: attach to a target
attached()
{
	local what=$1 wanted=$2 target=$3 pid

	in_turn 2 "attach: $what" || return 0
	shift 3
	"$T/$target" 60 >"$work/target" 2>&1 &
	pid=$!
	lib_started "$pid"
	await 10 test "/proc/$pid/exe" -ef "$T/$target"
	run attach --seed 1 --rate 1000 --stall 1ms "$@" "$pid"
	is "attach: $what" "$status" "$wanted" || diag_file "$work/err"
	if kill -0 "$pid" 2>/dev/null; then
		ok "attach: $what: the program goes on"
	else
		not_ok "attach: $what: the program goes on"
	fi
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}
attached "no race: 0" 0 single.O2 --duration 0.3s
attached "a race: 66" 66 read_write.O2 --halt-on-race
attached "a race, --error-exitcode 5: 5" 5 read_write.O2 --halt-on-race \
	--error-exitcode 5
attached "a race, --error-exitcode 0: 0" 0 read_write.O2 --halt-on-race \
	--error-exitcode 0
attached "suppressed only: 0" 0 read_write.O2 --duration 1s \
	--suppressions "$work/all.supp"
skip_lacking registers "attach: known only: 0" ||
	attached "known only: 0" 0 read_write.O2 --duration 1s \
		--baseline "$work/known.jsonl"
attached "too few samples: 65" 65 single.O2 --duration 0.3s --min-samples 1
attached "a race and too few samples: 66" 66 read_write.O2 --halt-on-race \
	--min-samples 1000000
attached "suppressed only and too few samples: 65" 65 read_write.O2 \
	--duration 1s --suppressions "$work/all.supp" --min-samples 1000000
attached "a report that cannot be written: 125" 125 single.O2 \
	-o "$work/none/such"
attached "bad suppressions: 125" 125 single.O2 --suppressions "$work/known.jsonl"
attached "a usage error: 2" 2 single.O2 --rate x
status_of "attach: no process: 2" 2 attach
status_of "attach: a process that is not there: 125" 125 attach 2147480000
tries seconds 1 3 20
while next_try seconds; do
	run attach --duration 60s "$(
		"$T/exit_hot.O2" "$seconds" >/dev/null 2>&1 &
		echo $!
	)"
	grep -Eq 'it has ended|zombie' "$work/err" || break
done
is "attach: the program's own end is not ours: 0" "$status" 0 ||
	diag_file "$work/err"

# No time is no time to watch for; no time limit is none, as of timeout(1).
"$T/wait_forever.O2" >"$work/said" 2>&1 </dev/null &
program=$!
lib_started "$program"
for what in "attach --duration 0 $program" "attach --duration 0.0s $program" \
	"run --duration 0 -- /bin/true" "sweep --duration 0 -- /bin/true"; do
	# shellcheck disable=SC2086 # words
	status_of "a usage error: $what" 2 $what
	matches "$what: it is told" "$work/err" \
		"--duration: 0.* is out of range: at least 1us"
done
kill -9 "$program"
status_of "--timeout 0: the program's own" 7 run --timeout 0 -- \
	"$T/exit_hot.O2" 0.3

# Nobody reads what is printed: a filter ends as others do, without a word, and
# a program that is watched has its own status. A full disk is told.
run run -q -o "$report" -- /bin/true
cp "$report" "$work/saved.jsonl"
exec 7> >(:)
wait $!
unread()
{
	local wanted=$1

	shift
	timeout -k 5 60 env --default-signal=PIPE "$RACEWATCH" "$@" >&7 \
		2>"$work/err" </dev/null
	is "nobody reads: $1 ${*: -1}" "$? $(cat "$work/err")" "$wanted "
}
unread 141 report "$work/saved.jsonl"
unread 141 report --format json "$work/saved.jsonl"
unread 141 sites /bin/true
unread 141 doctor
unread 141 --help
unread 141 run --help
unread 0 run -q -o - -- /bin/true
unread 0 run -q --format html -- /bin/true
unread 1 run -q --format json -- /bin/false
exec 7>&-
for what in "report $work/saved.jsonl" "sites /bin/true" doctor --help \
	"run -q -o - -- /bin/true"; do
	# shellcheck disable=SC2086 # words
	timeout -k 5 60 "$RACEWATCH" $what >/dev/full 2>"$work/err"
	is "a full disk: $what" "$?" 125
	matches "it is told" "$work/err" '^racewatch: error: .*write'
done

finish
