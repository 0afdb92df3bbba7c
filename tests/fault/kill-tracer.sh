#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# SIGKILL of racewatch's processes while it is attached to a busy program. The
# front end: the program lives, always. The guardian: racewatch warns and goes
# on. The tracer, alone or with the front end: the guardian restores the
# program, which lives as a rule; the front end says so and exits with 125.
#
# A thread that is in a trap of ours at that very moment dies of it, whatever
# is done; the more hits per second, the more often. bench/survival measures
# how often: once in 100 at the defaults of attach, which are up to 50 hits per
# second; here there are 20, and up to 5 % are taken into account, for machines
# that are loaded, share their processors or refuse real-time priority. Of the
# short run's 12 trials 6 may fail: more do with a probability of 4.9e-7
# at 5 % (binomial), and all do without a guardian. Of the long run's 120, 20
# may: 5.4e-7.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

trials=4 tolerated=6
[ -n "$LONG" ] && trials=40 tolerated=20

# Is it a living child of ours? A process id may be another's by now.
ours()
{
	grep -qs "^PPid:[[:space:]]*$$\$" "/proc/$1/status" &&
		! grep -qs '^State:.*Z' "/proc/$1/status"
}

guardian_gone()
{
	[ "$(cat "/proc/$guardian/comm" 2>/dev/null)" != racewatch-guard ]
}

# attach OPTION...: leaves $program, $frontend, $tracer, $guardian.
attach()
{
	: >"$work/out"
	rm -f "$report"
	"$TARGETS_DIR/wait_forever.O2" >"$work/out" 2>"$work/program" &
	program=$!
	await 20 program_ready || return 1
	"$RACEWATCH" attach --rate 20 --stall 200us -o "$report" "$@" \
		"$program" >"$work/attach" 2>"$work/err" </dev/null &
	frontend=$!
	await 20 watching || return 1
	tracer=$(child_of "$frontend" racewatch-trace)
	guardian=$(child_of "$tracer" racewatch-guard)
	[ -n "$guardian" ]
}

# Why the program is not as it should be; nothing if it is.
harm()
{
	if ! await 10 untraced "$program"; then
		echo "it is still traced"
	elif ! ours "$program"; then
		echo "it died"
	elif ! "$HELPERS_DIR/pristine" "$program" \
		>/dev/null 2>"$work/pristine"; then
		head -n 3 "$work/pristine"
	else
		gets_on "$program" || echo "it does not get on"
	fi
}

end_program()
{
	ours "$program" && kill -KILL "$program"
	wait "$program" 2>/dev/null
}

# kill_tracer MILLISECONDS WITH_FRONTEND ATTACH-OPTION...: one trial.
kill_tracer()
{
	local what="after $1 ms ${*:3}" ms=$1 with=$2 why

	shift 2
	if ! attach "$@"; then
		not_ok "tracer killed, $what: the program is watched"
		diag_file "$work/err"
		return
	fi
	# an arbitrary moment in the run, not a synchronization
	sleep "0.$(printf %03d "$ms")"
	if [ "$with" = yes ]; then
		kill -KILL "$tracer" "$frontend" 2>/dev/null
		wait "$frontend" 2>/dev/null
	else
		kill -KILL "$tracer"
		wait "$frontend"
		is "tracer killed, $what: exit status" $? 125
		matches "tracer killed, $what: the reason" "$work/err" \
			'tracer process was killed by signal 9'
	fi
	if await 10 guardian_gone; then
		ok "tracer killed, $what: the guardian ends"
	else
		not_ok "tracer killed, $what: the guardian ends"
	fi
	why=$(harm)
	if [ -n "$why" ]; then
		deaths=$((deaths + 1))
		diag "$what: $why"
	fi
	end_program
}

backends=(perf ptrace)
skip_lacking registers "back-ends perf and ptrace" && backends=(value)

deaths=0
for ((i = 0; i < trials; i++)); do
	kill_tracer $((i * 137 % 500)) no --backend "${backends[0]}"
	kill_tracer $((i * 173 % 500)) no --backend "${backends[-1]}"
	kill_tracer $((i * 219 % 500)) yes
done
diag "$deaths of $((trials * 3)) programs did not survive"
if [ "$deaths" -le "$tolerated" ]; then
	ok "SIGKILL of the tracer: at most $tolerated programs are harmed"
else
	not_ok "SIGKILL of the tracer: at most $tolerated programs are harmed"
fi

for backend in "${backends[@]}"; do
	if attach --backend "$backend"; then
		kill -KILL "$frontend"
		wait "$frontend" 2>/dev/null
		is "front end killed, $backend: harm" "$(harm)" ""
		await 10 guardian_gone
		is "front end killed, $backend: the guardian ends" $? 0
	else
		not_ok "front end killed, $backend: the program is watched"
	fi
	end_program
done

# All of the front end's process group, as a shell's kill does.
if attach; then
	ps -o pgid= -p "$tracer" "$guardian" | tr -d ' ' >"$work/groups"
	if grep -qx "$(ps -o pgid= -p "$frontend" | tr -d ' ')" \
		"$work/groups"; then
		not_ok "tracer and guardian have groups of their own"
	else
		ok "tracer and guardian have groups of their own"
	fi
	kill -TERM "$tracer" "$guardian"
	kill -KILL "$guardian"
	if await 20 grep -q 'guardian process has ended' "$work/err"; then
		ok "guardian killed: a warning"
	else
		not_ok "guardian killed: a warning"
	fi
	kill -INT "$frontend" 2>/dev/null
	kill -TERM "$frontend"
	wait "$frontend"
	status=$?
	# 66: it found the race that is there
	case $status in
	0 | 66) ok "guardian killed: racewatch goes on, to a clean end" ;;
	*)
		not_ok "guardian killed: racewatch goes on, to a clean end"
		diag "status $status"
		diag_file "$work/err"
		;;
	esac
	is "guardian killed: harm" "$(harm)" ""
else
	not_ok "guardian killed: the program is watched"
fi
end_program

finish
