#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Programs that serve their own page faults: by userfaultfd(2), and as the FUSE
# file system of a file that they map. A page that racewatch brought in while
# the serving thread is stopped would stop the program for good, and racewatch
# with it. They run to their end, with right results, and as if never watched;
# --duration and signals end the watching.
#
# Without the rule that such pages are not brought in, the tracer hangs in most
# runs with the back-end ptrace. All of these must pass; nothing here depends on
# chance when the rule holds.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

program_ended()
{
	[ "$(lib_born "$program")" = gone ]
}

# start TARGET ARG...: leaves $program, or fails: not allowed here.
start()
{
	: >"$work/out"
	"$TARGETS_DIR/$1" "${@:2}" >"$work/out" 2>"$work/program" &
	program=$!
	lib_started "$program"
	await 20 program_ready
}

# check_end WHAT TARGET: it ends well.
check_end()
{
	if ! await 60 program_ended; then
		not_ok "$1: the program ends"
		kill -KILL "$program"
		wait "$program"
		return
	fi
	wait "$program"
	is "$1: exit status of the program" $? 0 || diag_file "$work/program"
	matches "$1: its last line" "$work/out" "^$2: done\$"
}

# attached WHAT TARGET BACKEND MODE...
attached()
{
	local what=$1 target=$2 backend=$3 status try

	in_turn 5 "$what" || return 0
	for ((try = 1;; try++)); do
		if ! start "$target.O2" 3 "${@:4}"; then
			skip "$what" "$(cat "$work/out")"
			return
		fi
		"$HELPERS_DIR/pristine" --save "$work/signals" "$program"
		RUN_TIMEOUT=30 run attach --backend "$backend" --rate 500 \
			--duration 1500ms --seed 7 -o "$report" "$program"
		registers_refused "$try" || break
		await 60 program_ended
	done
	case $status in
	0 | 66) ok "$what: --duration ends the watching" ;;
	*)
		not_ok "$what: --duration ends the watching"
		diag "status $status"
		diag_file "$work/err"
		;;
	esac
	samples=$((samples + $(summary samples)))
	check_end "$what" "$target"
}

# signalled WHAT TARGET SIGNAL MODE...: watching without end, ended by it.
signalled()
{
	local what=$1 target=$2 signal=$3 frontend began

	in_turn 3 "$what, SIG$signal" || return 0
	if ! start "$target.O2" 4 "${@:4}"; then
		skip "$what" "$(cat "$work/out")"
		return
	fi
	rm -f "$report"
	"$RACEWATCH" attach --backend "${attaching[0]}" --rate 500 -o "$report" \
		"$program" >/dev/null 2>"$work/err" </dev/null &
	frontend=$!
	lib_started "$frontend"
	await 20 watching
	sleep 1
	kill "-$signal" "$frontend"
	began=$SECONDS
	wait "$frontend"
	if [ $((SECONDS - began)) -le 5 ]; then
		ok "$what: SIG$signal ends the watching"
	else
		not_ok "$what: SIG$signal ends the watching"
	fi
	check_end "$what" "$target"
}

attaching=(ptrace perf perf-cpu value)
starting=(ptrace perf)
if skip_lacking registers "with watchpoints"; then
	attaching=(value)
	starting=(value)
fi

samples=0
for mode in missing shared user protect; do
	for backend in "${attaching[@]}"; do
		registers_for "$backend"
		attached "userfaultfd, $mode, $backend" serves_pages \
			"$backend" "$mode"
		exec 9>&-
	done
done
signalled "userfaultfd, missing" serves_pages TERM missing
signalled "userfaultfd, shared" serves_pages INT shared

for backend in "${attaching[@]}"; do
	registers_for "$backend"
	attached "FUSE, $backend" serves_files "$backend"
	exec 9>&-
done
signalled "FUSE" serves_files TERM
if [ "$samples" -gt 0 ]; then
	ok "samples were taken"
else
	not_ok "samples were taken"
fi

# Started, with its children; the numbers of rounds are fixed.
for backend in "${starting[@]}"; do
	for target in "serves_pages.O2 x300 missing" "serves_files.O2 x20"; do
		# to stop a thread that waits for a file's page takes until that
		# is served: with ptrace all are stopped for each watchpoint,
		# which takes this program too long on a loaded machine
		[ "$backend ${target%% *}" = "ptrace serves_files.O2" ] &&
			continue
		in_turn 3 "run $target, $backend" || continue
		# shellcheck disable=SC2086 # words
		RUN_TIMEOUT=120 run run --follow all --backend "$backend" \
			--rate 500 --error-exitcode 0 -- "$TARGETS_DIR/"$target
		case $status in
		77) skip "run $target, $backend" "$(cat "$work/out")" ;;
		*) is "run $target, $backend: exit status" "$status" 0 ;;
		esac
	done
done

finish
