#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every way in which attach ends: the program is as it was before, a summary
# is printed, and the exit status is that of the manual page.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

said_ready()
{
	grep -q '^ready [0-9]' "$work/said"
}

# start NAME ARG...: a target in the background, its id in $program.
start()
{
	: >"$work/said"
	"$TARGETS_DIR/$1.O2" "${@:2}" >"$work/said" 2>&1 </dev/null &
	program=$!
	lib_started "$program"
	if [ "$1" = wait_forever ]; then
		await 20 said_ready || { echo "Bail out! no target"; exit 99; }
	fi
}

# attached OPTION...: in the background, its id in $watcher.
attached()
{
	rm -f "$report"
	# a background job of a script ignores SIGINT and SIGQUIT
	env --default-signal=INT,HUP,QUIT "$RACEWATCH" attach --seed 1 --rate 1000 \
		-o "$report" "$@" "$program" >"$work/out" 2>"$work/err" \
		</dev/null &
	watcher=$!
	lib_started "$watcher"
}

# attached_before_end NAME OPTION...: to a target that soon ends by itself; on a
# busy machine it may have ended before it is watched, and lives longer then.
attached_before_end()
{
	local seconds

	tries seconds 4 20
	while next_try seconds; do
		start "$1" "$seconds"
		attached "${@:2}"
		await "$seconds" watching && break
		wait "$program" "$watcher"
	done
}

# ended WHAT STATUS: racewatch has, or does now, and the summary is there.
ended()
{
	wait "$watcher"
	is "$1: exit status" "$?" "$2" || diag_file "$work/err"
	matches "$1: the summary" "$work/err" '^SUMMARY: '
	has "$1: the report's summary" "$report" type=summary
}

stop_program()
{
	kill -9 "$program"
	wait "$program" 2>/dev/null
}

backends=(perf ptrace)
skip_lacking registers "back-ends perf and ptrace" && backends=(value)
for backend in "${backends[@]}"; do
	start wait_forever
	attached --backend "$backend" --duration 0.4s
	ended "--duration, $backend" 0
	check_unharmed "--duration, $backend" "$program"
	for signal in INT TERM HUP QUIT; do
		attached --backend "$backend"
		await 20 watching || diag "it does not watch"
		kill "-$signal" "$watcher"
		ended "SIG$signal, $backend" 0
		check_unharmed "SIG$signal, $backend" "$program"
	done
	attached --backend "$backend"
	await 20 watching || diag "it does not watch"
	kill -9 "$program"
	ended "the program is killed, $backend" 0
	wait "$program" 2>/dev/null

	attached_before_end exit_hot --backend "$backend"
	ended "the program exits, $backend" 0
	wait "$program"
	is "the program exits, $backend: its own status" "$?" 7

	start read_write 60
	attached --backend "$backend" --halt-on-race
	ended "--halt-on-race, $backend" 66
	check_unharmed "--halt-on-race, $backend" "$program"
	stop_program
done

# Of several some may have ended, as may all.
true &
gone=$!
wait "$gone"
start wait_forever
attached --duration 0.4s "$gone"
ended "one of two has ended" 0
matches "one of two has ended: a note" "$work/err" \
	"^racewatch: note: process $gone has ended; it is left out\$"
check_unharmed "one of two has ended" "$program"
run attach "$gone" "$gone"
is "all have ended: exit status" "$status" 125
matches "all have ended: it is said" "$work/err" \
	'all of these processes have ended'
stop_program

attached_before_end exec_self --error-exitcode 0
ended "the program execs" 0
wait "$program"
is "the program execs: its own status" "$?" 0
matches "the program execs: it ends as it would" "$work/said" '^exec_self: done$'

# The reader of what is printed goes away; the report is complete. Debugging
# messages would make a signal of each signal.
for more in -v --debug=all; do
	start read_write 60
	rm -f "$report"
	timeout -k 5 60 "$RACEWATCH" attach "$more" --seed 1 --rate 1000 \
		-o "$report" "$program" 2>&1 | head -n 1 >"$work/out"
	# whether what could not be written was of a race is left to chance
	case ${PIPESTATUS[0]} in
	0 | 66) ok "SIGPIPE, $more: exit status" ;;
	*) not_ok "SIGPIPE, $more: exit status" ;;
	esac
	has "SIGPIPE, $more: the report's summary" "$report" type=summary
	check_unharmed "SIGPIPE, $more" "$program"
	stop_program
done

finish
