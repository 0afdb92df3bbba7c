#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# SIGKILL of the front end in mid-run harms nothing: the program runs on,
# its text as in its file, no watchpoint, no tracer, no stopped thread. The
# same for SIGTERM and SIGINT, after which racewatch ends by itself.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

gone()
{
	! kill -0 "$1" 2>/dev/null
}

# kill_frontend SIGNAL BACKEND MILLISECONDS
kill_frontend()
{
	local what="SIG$1, $2, after $3 ms" pid program

	: >"$work/out"
	rm -f "$report"
	# a background job of a script ignores SIGINT
	env --default-signal=INT "$RACEWATCH" run --backend "$2" \
		--seed "$3" --rate 1000 \
		-o "$report" -- "$TARGETS_DIR/wait_forever.O2" \
		>"$work/out" 2>"$work/err" </dev/null &
	pid=$!
	lib_started "$pid"
	if ! await 20 program_ready || ! await 20 watching; then
		not_ok "$what: the program is watched"
		diag_file "$work/err"
		return
	fi
	program=$(sed -n 's/^ready //p' "$work/out")
	lib_started "$program"
	# an arbitrary moment in the run, not a synchronization
	sleep "0.$(printf %03d "$3")"
	kill "-$1" "$pid"
	wait "$pid" 2>/dev/null
	if [ "$1" != KILL ]; then
		# a signal to racewatch ends it; the program goes with it or
		# is left, but never left damaged
		if await 10 gone "$program"; then
			ok "$what: the program was ended too"
			return
		fi
	fi
	await 10 untraced "$program"
	check_unharmed "$what" "$program"
	kill -9 "$program"
}

times="1 20 57 133 250 391"
[ -n "$LONG" ] && times=$(seq -s ' ' 1 19 700)
turn=0
backends=(perf ptrace)
skip_lacking registers "back-ends perf and ptrace" && backends=(value)
for ms in $times; do
	kill_frontend KILL "${backends[turn++ % ${#backends[@]}]}" "$ms"
done
kill_frontend TERM "${backends[0]}" 100
kill_frontend INT "${backends[-1]}" 100

finish
