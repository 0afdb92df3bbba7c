#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A thousand threads are attached to, watched and let go; threads are born and
# end in masses meanwhile. No time is asserted here, see bench/threads.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

start_throng()
{
	rm -f "$work/in"
	mkfifo "$work/in"
	: >"$work/said"
	"$TARGETS_DIR/throng.O2" "$1" <"$work/in" >>"$work/said" &
	program=$!
	lib_started "$program"
	exec 7>"$work/in"
	await 60 says ready || { echo "Bail out! no throng"; exit 99; }
}

says()
{
	grep -q "^$1" "$work/said"
}

# ask LINE: whether the program has done it, its totals right.
ask()
{
	: >"$work/said"
	echo "$1" >&7
	await 300 says "$1"
}

end_throng()
{
	exec 7>&-
	wait "$program"
	is "$1: the program ends as it would" "$?" 0
}

pristine()
{
	if "$HELPERS_DIR/pristine" "$program" 2>"$work/pristine"; then
		ok "$1: pristine"
	else
		not_ok "$1: pristine"
		diag_file "$work/pristine"
	fi
}

# All threads have a tracer.
traced()
{
	! cat "/proc/$program/task/"*/status 2>/dev/null |
		grep -q '^TracerPid:[[:space:]]*0$'
}

# watch_throng BACKEND RATE [OPTION...]
watch_throng()
{
	rm -f "$report"
	"$RACEWATCH" attach --backend "$1" --rate "$2" --seed 1 -o "$report" \
		"${@:3}" "$program" >"$work/out" 2>"$work/err" </dev/null &
	watcher=$!
	lib_started "$watcher"
	await 60 traced
}

# How many threads have met a breakpoint or a watchpoint.
traps()
{
	grep -c ': stop kind [0-9]* signal 5$' "$work/err"
}

# All threads add one to the total, three times at least and until racewatch,
# which runs with --debug target, has had ten traps; leaves $total.
rounds()
{
	local end=$((SECONDS + 300)) count

	total=1000
	for ((count = 0; count < 3 || $(traps) < 10; count++)); do
		ask round || { diag "no answer"; break; }
		((total += 1000))
		[ "$SECONDS" -lt "$end" ] || break
	done
}

# The watching is told to end, and does.
leave_throng()
{
	kill -TERM "$watcher"
	wait "$watcher"
	is "$1: racewatch's exit status" "$?" 0 || diag_file "$work/err"
	matches "$1: the summary" "$work/err" '^SUMMARY: '
}

backends="perf ptrace"
lacks registers && backends=value
for backend in $backends; do
	in_turn 2 "many threads, $backend" || continue
	what="1000 threads, $backend"
	start_throng 1000
	# every sample is watched for in every thread, which stops all of them
	# with ptrace: so few that the program also runs on a loaded machine
	if watch_throng "$backend" 10 --debug target; then
		ok "$what: all are attached to"
	else
		not_ok "$what: all are attached to"
	fi
	rounds
	is "$what: rounds are done" "$(cat "$work/said")" "round $total"
	leave_throng "$what"
	if [ "$(summary samples_stalled)" -gt 0 ]; then
		ok "$what: threads were stalled"
	else
		not_ok "$what: threads were stalled"
		diag_file "$report"
	fi
	pristine "$what"
	end_throng "$what"

	what="10000 short threads, $backend"
	start_throng 10
	watch_throng "$backend" 1000
	ask storm
	is "$what: all are born and end" "$(cat "$work/said")" "storm 10010"
	leave_throng "$what"
	pristine "$what"
	end_throng "$what"
done

# Where threads are many, the tracer has the processor before them: it would come
# in its turn, after most of them had stopped too.
# rank PID: its nice value and its policy, fields 19 and 41
rank()
{
	local stat

	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return
	# shellcheck disable=SC2086 # words
	set -- ${stat##*) }
	echo "${17} ${39}"
}
tracer_rank()
{
	rank "$(pgrep -P "$watcher" racewatch-trace)"
}
is_before()
{
	case $(tracer_rank) in
	'-20 '* | *' 1') ;;
	*) return 1 ;;
	esac
}
what="hot threads"
if [ "$(nproc)" -ge 50 ]; then
	skip "$what" "200 threads are not many for so many processors"
elif ! nice -n -20 true 2>"$work/err" || [ -s "$work/err" ]; then
	skip "$what" "no right to run before others"
else
	"$RACEWATCH" run --seed 1 -- "$TARGETS_DIR/threads200.O2" 60 \
		>"$work/out" 2>"$work/err" &
	watcher=$!
	lib_started "$watcher"
	await 30 is_before
	is "$what: the tracer runs before them" $? 0 || diag_file "$work/err"
	kill "$watcher"
	wait "$watcher"
	"$RACEWATCH" run --seed 1 -- "$TARGETS_DIR/global.O2" 60 >"$work/out" \
		2>"$work/err" &
	watcher=$!
	lib_started "$watcher"
	sampled_some()
	{
		grep -q 'data race' "$work/err"
	}
	await 30 sampled_some
	is "two threads: the tracer runs among them" "$(tracer_rank)" \
		"$(rank "$watcher")"
	kill "$watcher"
	wait "$watcher"
fi

# From the start on, by run.
printf 'storm\n' >"$work/lines"
"$RACEWATCH" run --seed 1 -- "$TARGETS_DIR/throng.O2" 10 <"$work/lines" \
	>"$work/out" 2>"$work/err"
is "run: the exit status" "$?" 0 || diag_file "$work/err"
matches "run: the storm is over" "$work/out" '^storm 10010$'

finish
