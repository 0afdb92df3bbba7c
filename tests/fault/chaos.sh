#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A server that checks itself is attached to, disturbed and let go, by chance:
# back-end, rate, stall, what happens meanwhile, and how it ends (racewatch is
# killed, asked to go, loses its report's reader; the program ends, becomes
# another). Afterwards the program is as it was: text, debug registers,
# signal masks and dispositions; every worker gets on; every signal sent to it
# was counted.
#
#	RACEWATCH_CHAOS_CYCLES  how many (10; 300 in a long run)
#	RACEWATCH_CHAOS_SEED    what the choices are made from (1)
#	RACEWATCH_CHAOS_FIRST   the first cycle's number, to replay one (1; of ten
#	                        cycles, the share of the day)
#
# A cycle's choices depend on the seed and its number only.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

# a short run has others on each of six days
short=10
[ "$test_turn" != all ] || short=60
cycles=${RACEWATCH_CHAOS_CYCLES:-${LONG:+300}}
cycles=${cycles:-$short}
seed=${RACEWATCH_CHAOS_SEED:-1}
first=1
[ "$cycles" -ne 10 ] || [ "$test_turn" = all ] ||
	first=$((test_turn % 6 * 10 + 1))
first=${RACEWATCH_CHAOS_FIRST:-$first}

backends=(perf ptrace perf-cpu value)
skip_lacking registers "back-ends perf, ptrace and perf-cpu" &&
	backends=(value)
rates=(0 100 1000 1000 5000 20000)
stalls=(50us 200us 1ms 5ms)
traps=(default blocked handled)
acts=(nothing signals stop forks storm all)
ends=(duration TERM INT HUP KILL KILL pipe exit exec death)

# one_of NAME...: chooses, into $chosen
one_of()
{
	chosen=${*:RANDOM % $# + 1:1}
}

# beats FIELD: of the program's line; 2 execs, 4 beats, 6 signals.
beats()
{
	local words

	read -ra words <"$work/beats" || return 1
	echo $((10#${words[$1 - 1]}))
}

quiet()
{
	[ -s "$work/beats" ] && [ "$(beats 2)" -eq "$execs" ] &&
		[ "$(beats 4)" -eq 0 ]
}

beaten()
{
	[ "$(beats 4)" -ge "$1" ]
}

counted()
{
	[ "$(beats 6)" -eq "$sent" ]
}

# Process ids come round again soon here: each goes with its start time.
declare -A born
known()
{
	born[$1]=$(lib_born "$1")
	lib_started "$1"
}

gone()
{
	[ "$(lib_born "$1")" != "${born[$1]}" ] || [ "${born[$1]}" = gone ]
}

# signal NAME PID
signal()
{
	gone "$2" || kill "-$1" "$2" 2>/dev/null
	return 0
}

# The program is there and quiet: its state is written down, and it begins.
begin()
{
	await 60 quiet || return 1
	"$HELPERS_DIR/pristine" --save "$work/saved" "$program" || return 1
	signal SIGRTMIN+2 "$program"
	sent=0
	await 60 beaten 2
}

program=
start_program()
{
	rm -f "$work/beats"
	execs=0
	"$TARGETS_DIR/selfcheck.O2" "$work/beats" "$1" >"$work/program.out" \
		2>"$work/program.err" &
	program=$!
	known "$program"
	begin
}

# The program ends as it should, when it is asked to.
end_program()
{
	local code

	[ -n "$program" ] || return 0
	[ "${1:-}" = asked ] || signal TERM "$program"
	await 20 gone "$program" || return 1
	wait "$program"
	code=$?
	program=
	[ "$code" -eq 0 ] && grep -q '^selfcheck: done$' "$work/program.out"
}

# What happens while the program is watched.
act()
{
	case $1 in
	signals)
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			signal SIGRTMIN+3 "$program"
			sent=$((sent + 1))
		done
		;;
	stop)
		signal STOP "$program"
		sleep 0.0$((RANDOM % 10))
		signal CONT "$program"
		;;
	forks) signal SIGRTMIN+4 "$program" ;;
	storm) signal SIGRTMIN+5 "$program" ;;
	all)
		act signals
		act forks
		act storm
		act stop
		;;
	esac
}

# watch: racewatch in the background, as chosen.
watch()
{
	local options=(--backend "$backend" --rate "$rate" --stall "$stall"
		--seed "$RANDOM" --error-exitcode 0 -o "$report")

	rm -f "$report"
	[ "$ending" = duration ] && options+=(--duration "0.$moment"s)
	if [ "$ending" = pipe ]; then
		# readers that go away at some moment
		mkfifo "$report"
		env --default-signal=PIPE,HUP "$RACEWATCH" attach \
			"${options[@]}" "$program" >"$work/out" \
			2> >(exec sleep "0.$moment") &
		watcher=$!
		(exec sleep "0.$moment") <"$report" &
		lib_started $!
	else
		# a background job of a script ignores SIGINT
		env --default-signal=INT,HUP "$RACEWATCH" attach \
			"${options[@]}" "$program" >"$work/out" \
			2>"$work/err" &
		watcher=$!
	fi
	known "$watcher"
}

finish_watching()
{
	case $ending in
	duration) ;;
	pipe) signal TERM "$watcher" ;;
	exit) signal TERM "$program" ;;
	death) signal KILL "$program" ;;
	exec)
		execs=$((execs + 1))
		signal SIGRTMIN+6 "$program"
		begin || return 1
		sleep 0.1
		signal TERM "$watcher"
		;;
	*) signal "$ending" "$watcher" ;;
	esac
	return 0
}

# fails REASON: about the present cycle; how to have it again.
fails()
{
	# perhaps held by this cycle: the others need not wait for it
	exec 9>&-
	not_ok "cycle $cycle: $backend, $rate/s, $stall, SIGTRAP $trap," \
		"$acting, $ending after 0.$moment s: $*"
	diag "RACEWATCH_CHAOS_SEED=$seed RACEWATCH_CHAOS_FIRST=$cycle" \
		"RACEWATCH_CHAOS_CYCLES=1 $0"
	diag_file "$work/err"
	diag_file "$work/program.err"
	diag_file "$work/beats"
	[ -n "$program" ] && signal KILL "$program"
	program=
}

# What the program is like after it was let go.
unharmed()
{
	local before

	case $ending in
	exit)
		end_program asked || fails "the program's end"
		return
		;;
	death)
		wait "$program" 2>/dev/null
		program=
		return
		;;
	esac
	gone "$program" && { fails "the program is gone"; return; }
	await 10 untraced "$program" || { fails "still traced"; return; }
	"$HELPERS_DIR/pristine" --compare "$work/saved" "$program" \
		>"$work/pages" 2>"$work/pristine" || {
		fails "pristine: $(head -n 3 "$work/pristine")"
		return
	}
	before=$(beats 4)
	await 60 beaten $((before + 3)) || { fails "it does not get on"; return; }
	await 10 counted || fails "$(beats 6) signals of $sent"
}

# Killed early, the watcher may have had a tracer that was not there yet.
no_tracer()
{
	! pgrep -f -- "racewatch attach .* $program\$" >/dev/null
}

one_cycle()
{
	local code

	# a program lives through eight cycles
	trap=${traps[(seed + cycle / 8) % ${#traps[@]}]}
	RANDOM=$((seed * 7919 + cycle * 31))
	one_of "${backends[@]}"; backend=$chosen
	one_of "${rates[@]}"; rate=$chosen
	one_of "${stalls[@]}"; stall=$chosen
	one_of "${acts[@]}"; acting=$chosen
	one_of "${ends[@]}"; ending=$chosen
	moment=$(printf %03d $((RANDOM % 400 + 1)))
	if [ -n "$program" ] && [ $((cycle % 8)) -eq 0 ]; then
		end_program || { fails "the program's end"; return; }
	fi
	[ -n "$program" ] || start_program "$trap" ||
		{ fails "the program does not start"; return; }
	registers_for "$backend"
	watch
	sleep "0.0$((RANDOM % 99))"
	act "$acting"
	[ "$ending" = duration ] || sleep "0.$moment"
	tracer=$(pgrep -P "$watcher" racewatch-trace) && known "$tracer"
	finish_watching || { fails "the program does not start again"; return; }
	await 15 gone "$watcher" || {
		fails "racewatch does not end"
		signal KILL "$watcher"
		return
	}
	wait "$watcher" 2>/dev/null
	code=$?
	[ -z "$program" ] || await 15 no_tracer || fails "a tracer is left"
	if [ -n "$tracer" ] && ! await 15 gone "$tracer"; then
		fails "the tracer does not end"
		signal KILL "$tracer"
		return
	fi
	exec 9>&-
	unharmed
	case $ending:$code in
	KILL:* | pipe:* | *:0) ;;
	# so early that it had not begun to handle signals
	TERM:143 | INT:130 | HUP:129) ;;
	# gone before it was attached to, or between two programs
	exit:125 | death:125 | exec:125) ;;
	*:125)
		# another watcher has the debug registers; and those that
		# "ptrace" has used stay reserved in a thread until its end
		# (kernel/events/hw_breakpoint.c)
		grep -Eq 'register is free|No space left' "$work/err" ||
			fails "racewatch's exit status 125"
		refused=$((refused + 1))
		;;
	*) fails "racewatch's exit status $code" ;;
	esac
	endings[$ending]=$((${endings[$ending]:-0} + 1))
}

# the shell tells of everyone who was killed
exec 2>"$work/shell"
declare -A endings
harmed=$tap_failed
refused=0
for ((cycle = first; cycle < first + cycles; cycle++)); do
	one_cycle
done
end_program || { cycle=end fails "the program's end"; }
summary=
for name in "${!endings[@]}"; do
	summary+="$name ${endings[$name]}, "
done
diag "$summary$refused refused"
is "targets harmed in $cycles cycles, seed $seed" \
	$((tap_failed - harmed)) 0
finish
