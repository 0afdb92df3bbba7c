#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Programs that are hard to watch, attached to in the middle of their run and
# let go again: they end as if nobody had been there, and meanwhile nothing is
# left in them (helpers/pristine).

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

# The program is past its start: it has threads, or has used some time.
under_way()
{
	[ "$(readlink "/proc/$program/exe" 2>/dev/null)" = "$path" ] &&
		[ "$(find "/proc/$program/task" -mindepth 1 -maxdepth 1 \
			2>/dev/null | wc -l)" -gt "$threads" ]
}

gone()
{
	! kill -0 "$1" 2>/dev/null
}

under_way_or_gone()
{
	under_way || gone "$program"
}

in_state()
{
	grep -q "^State:.$1" "/proc/$program/status" 2>/dev/null
}

# attach OPTION...: to the program, for a while. Leaves $status, $samples.
attach()
{
	run attach --seed "$seed" --backend "$backend" --rate 1000 \
		--error-exitcode 0 -o "$report" "$@" "$program"
	samples=$(summary samples)
}

# pristine WHAT: how the program is now, if it is there.
pristine()
{
	local options=()

	gone "$program" && return
	[ -s "$work/saved" ] && options=(--compare "$work/saved")
	if ! await 10 untraced "$program"; then
		not_ok "$1: nobody traces it"
	elif "$HELPERS_DIR/pristine" "${options[@]}" "$program" \
		>"$work/pages" 2>"$work/pristine" || gone "$program"; then
		ok "$1: pristine ($(sed 's/^pristine: //' "$work/pages"))"
	else
		not_ok "$1: pristine"
		diag_file "$work/pristine"
	fi
}

# start NAME SECONDS THREADS: leaves $program.
start()
{
	path=$(readlink -f "$TARGETS_DIR/$1.O2")
	threads=$3
	# a background job of a script ignores SIGINT and SIGQUIT
	env --default-signal "$path" "$2" >"$work/program.out" \
		2>"$work/program.err" &
	program=$!
	lib_started "$program"
	rm -f "$work/saved"
	await 20 under_way_or_gone
}

# ended WHAT NAME STATUS: it ends as it should.
ended()
{
	local code

	if ! await 60 gone "$program"; then
		not_ok "$1: it ends"
		return
	fi
	wait "$program" 2>/dev/null
	code=$?
	if [ "$code" -ne "$3" ]; then
		not_ok "$1: exit status $code, not $3"
		diag_file "$work/program.err"
		diag_file "$work/err"
	elif ! grep -q "^$2: done$" "$work/program.out"; then
		not_ok "$1: the program's last line is missing"
	else
		ok "$1: the program's end"
	fi
}

# Each thread has used some time, and so has the mask that it set for itself,
# not that in which it was born.
settled()
{
	local stat

	for stat in "/proc/$program/task"/*/stat; do
		[ "$stat" = "/proc/$program/task/$program/stat" ] && continue
		sed 's/.*) //' "$stat" 2>/dev/null |
			awk '{ exit !($12 > 0) }' || return 1
	done
}

# undisturbed NAME STATUS SECONDS THREADS [FLAG...]
#
#	masks      its threads do not change their signal masks
#	stops      it is stopped now and then: not to be looked at
#	sleepy     it may not have run anything worth a sample
undisturbed()
{
	local what="$1 by $backend, seed $seed" flags=" ${*:5} " duration

	in_turn 3 "$what" || return 0
	if ! start "$1" "$3" "$4"; then
		not_ok "$what: the program starts"
		return
	fi
	if [[ $flags = *" masks "* ]]; then
		await 20 settled || diag "$what: its threads have not all run"
		"$HELPERS_DIR/pristine" --save "$work/saved" "$program"
	fi
	# on a busy machine, the time may be over before the first sample
	tries duration 0.4s 2s 10s
	while next_try duration; do
		attach --duration "$duration"
		if [ "${samples:-0}" -ge 1 ] || gone "$program" ||
			[[ $flags = *" sleepy "* ]]; then
			break
		fi
	done
	# it may have ended just before, or its leader
	if [ "$status" -ne 0 ] && ! gone "$program" && ! in_state Z; then
		not_ok "$what: racewatch's exit status $status"
		diag_file "$work/err"
	elif [ "${samples:-0}" -lt 1 ] && ! gone "$program" && ! in_state Z &&
		[[ $flags != *" sleepy "* ]]; then
		not_ok "$what: not one sample was taken"
		diag_file "$work/err"
	else
		ok "$what: attached ($samples samples)"
	fi
	[[ $flags = *" stops "* ]] || pristine "$what"
	ended "$what" "$1" "$2"
}

table='
trap_blocked 0 1 3 masks
trap_ignored 0 1 2
trap_handled 0 1 2
own_int3 0 1 2
block_all 0 1 2 masks
churn 0 1 1 sleepy
children 0 1 2
group_stop 0 1 2 stops
threads200 0 1 2
signals 0 1 2
exit_hot 7 1 1
exit_thread 3 1 1
exec_self 0 0.6 1
segv_handled 0 1 1
dlclose_loop 0 1 1
text_remap 0 1 1
text_mprotect 0 1 2 masks
jit 0 1 3 masks
not_dumpable 0 1 2 masks
traces_child 0 1 3
rseq_section 0 1 3 masks
odd_clones 0 1 3
redzone 0 1 1
'
backends=(perf ptrace)
[ -n "$LONG" ] && backends=(perf ptrace perf-cpu value)
skip_lacking registers "back-ends other than value" && backends=(value)
turn=0
while read -r name wanted seconds threads flags; do
	[ -n "$name" ] || continue
	for seed in $(seeds 1); do
		some=("${backends[turn++ % ${#backends[@]}]}")
		[ -n "$LONG" ] && some=("${backends[@]}")
		for backend in "${some[@]}"; do
			# shellcheck disable=SC2086 # words
			undisturbed "$name" "$wanted" "$seconds" \
				"$((threads - 1))" $flags
		done
	done
done <<<"$table"

# Stopped by a shell while it is watched, and let go while it is stopped: it
# stays so until the shell continues it.
job_control()
{
	local what="$1 by $backend" pid

	in_turn 3 "$what: stopped by its shell" || return 0
	# in a process group of its own: the kernel stops none by SIGTSTP that
	# is orphaned, as this script's may be
	set -m
	start wait_forever 1 2 || not_ok "$what: the program starts"
	set +m
	rm -f "$report"
	"$RACEWATCH" attach --backend "$backend" --rate 1000 --seed 1 \
		-o "$report" "$program" >"$work/out" 2>"$work/err" &
	pid=$!
	lib_started "$pid"
	await 20 watching
	kill "-$1" "$program"
	if await 10 in_state '[Tt]'; then
		ok "$what: stopped"
	else
		not_ok "$what: stopped"
	fi
	kill -CONT "$program"
	if await 10 in_state '[RS]'; then
		ok "$what: continued"
	else
		not_ok "$what: continued"
	fi
	kill "-$1" "$program"
	await 10 in_state '[Tt]'
	kill -TERM "$pid"
	wait "$pid"
	is "$what: let go while stopped" $? 0 || diag_file "$work/err"
	await 10 untraced "$program"
	if await 10 in_state T; then
		ok "$what: it stays stopped"
	else
		not_ok "$what: it stays stopped"
		grep ^State "/proc/$program/status" | sed 's/^/#   /'
	fi
	# a stopped process can be attached to as well
	seed=1
	attach --duration 0.1s
	is "$what: attached while stopped" "$status" 0 || diag_file "$work/err"
	if await 10 in_state T; then
		ok "$what: it is stopped still"
	else
		not_ok "$what: it is stopped still"
	fi
	kill -CONT "$program"
	await 10 in_state '[RS]'
	pristine "$what"
	kill -KILL "$program"
	wait "$program" 2>/dev/null
}

for backend in "${backends[@]}"; do
	job_control STOP
	job_control TSTP
done

finish
