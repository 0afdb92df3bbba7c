#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Several processes at once: races in memory that two of them share, at one
# address or at two, are found with both stacks and both process ids; guarded
# by a process-shared mutex, there is none. Children are followed as asked.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

# Whether the two sides of the first race are of different processes.
two_pids()
{
	[ "$(records --print 'sides.*.pid' "$report" type=race | head -n 1 |
		tr , '\n' | sort -u | wc -l)" -eq 2 ]
}

# judge WHAT NAME BACKEND: the report of a racy pair
judge()
{
	if [ "$status" -ne 66 ]; then
		not_ok "$1: exit status $status, not 66"
		diag_file "$work/err"
	elif ! as_expected "$2" "$3"; then
		not_ok "$1: report"
		diag_file "$work/check"
	elif [ "$3" != value ] && ! two_pids; then
		not_ok "$1: two processes"
		diag_file "$work/err"
	else
		ok "$1"
	fi
}

backends=(perf ptrace)
[ -n "$LONG" ] && backends=(perf ptrace perf-cpu)
# the one that is chosen when none is asked for
default=perf
if skip_lacking registers "both sides of a race between processes"; then
	backends=(value)
	default=value
	# for meet
	# shellcheck disable=SC2034
	one_sided=yes
fi
for backend in "${backends[@]}"; do
	for seed in $(seeds 1); do
		for name in $(target_list SHARED_C); do
			# addresses differ: no event of all CPUs watches both
			[ "$backend:$name" = perf-cpu:shared_shm ] && continue
			in_turn 2 "$name by $backend, seed $seed" || continue
			meet "$seed" --backend "$backend" --follow fork -- \
				"$TARGETS_DIR/$name.O2" 25
			judge "$name by $backend, seed $seed" "$name" "$backend"
			run run --backend "$backend" --seed "$seed" \
				--follow fork -o "$report" -- \
				"$TARGETS_DIR/$name.twin" 1
			is "$name.twin by $backend, seed $seed" \
				"$status $(races_in "$report")" "0 0" ||
				diag_file "$work/err"
		done
	done
done

# One that executes its program anew has other addresses altogether.
for seed in $(seeds 1); do
	meet "$seed" --follow all -- "$TARGETS_DIR/shared_shm.O2" 25 exec
	judge "a child that executed the program, seed $seed" shared_shm \
		"$default"
done
run run --seed 1 --follow fork --duration 2s -- \
	"$TARGETS_DIR/shared_shm.O2" 1 exec
is "not followed through exec" "$status" 0 || diag_file "$work/err"

ready()
{
	grep -q '^ready [0-9]' "$work/first"
}

# attach to two processes, of which neither made the other
"$TARGETS_DIR/shared_shm.O2" 120 wait >"$work/first" 2>&1 </dev/null &
first=$!
lib_started "$first"
await 20 ready
memory=$(sed -n 's/^ready [0-9]* //p' "$work/first")
"$TARGETS_DIR/shared_shm.O2" 120 "$memory" >"$work/second" 2>&1 </dev/null &
second=$!
lib_started "$second"
tries seconds 5 30
while next_try seconds; do
	run attach --seed 1 --rate 1000 --duration "${seconds}s" \
		-o "$report" "$first" "$second"
	[ "$status" -eq 0 ] || break
done
judge "attached to two processes" shared_shm "$default"
for pid in "$first" "$second"; do
	if "$HELPERS_DIR/pristine" "$pid" 2>"$work/pristine"; then
		ok "pristine afterwards"
	else
		not_ok "pristine afterwards"
		diag_file "$work/pristine"
	fi
done
kill -9 "$first" "$second"
wait "$first" "$second" 2>/dev/null

# All kinds of children, followed: each still does what it should.
for which in fork all; do
	for backend in "${backends[@]}"; do
		[ "$backend" = perf-cpu ] && continue
		in_turn 2 "four kinds of children, --follow $which, $backend" ||
			continue
		run run --backend "$backend" --seed 1 --rate 1000 \
			--follow "$which" -- "$TARGETS_DIR/children.O2" 1.5
		is "four kinds of children, --follow $which, $backend" \
			"$status" 0 || diag_file "$work/err"
	done
done

# A child of one that handles SIGTRAP is let go at its exec like any other.
cat >"$work/handles" <<'END'
#!/usr/bin/python3
import os, signal, sys, threading, time
signal.signal(signal.SIGTRAP, lambda *unused: None)
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
# in which the handler becomes known; the test is no test otherwise
time.sleep(0.5)
child = os.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
os.waitpid(child, 0)
os._exit(11)
END
chmod +x "$work/handles"
run run --seed 1 --rate 1000 --follow fork -o "$report" -- \
	"$work/handles" "$TARGETS_DIR/read_write.O2" 2
is "not followed through exec, SIGTRAP handled by the parent" \
	"$status $(races_in "$report")" "11 0" || diag_file "$work/err"

# The program behind a shell's fork and exec
meet 1 --follow all -- sh -c "'$TARGETS_DIR/read_write.O2' 25; exit 11"
if [ "$status" -eq 66 ] && as_expected read_write "$default"; then
	ok "a program started by a shell"
else
	not_ok "a program started by a shell (exit status $status)"
	diag_file "$work/check"
	diag_file "$work/err"
fi

# A child in the background outlives the shell, which ends at once: it is
# watched to its end all the same, and so are those that it leaves behind.
lost=0
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
	rm -f "$work/over"
	run run --seed 1 --follow all -- sh -c \
		"(sh -c 'sleep 0.05; echo >$work/over' &) & exit 11"
	if [ "$status" -ne 11 ] || [ ! -e "$work/over" ]; then
		lost=$((lost + 1))
		diag_file "$work/err"
	fi
done
is "children in the background are waited for, of 12 none is lost" "$lost" 0
meet 1 --follow all -- sh -c "('$TARGETS_DIR/read_write.O2' 25 &) & exit 11"
if [ "$status" -eq 66 ] && as_expected read_write "$default"; then
	ok "a program in the background of a script"
else
	not_ok "a program in the background of a script (exit status $status)"
	diag_file "$work/check"
	diag_file "$work/err"
fi

# Children are followed unless it is said otherwise; those that the command
# leaves behind are let go after a moment, and run on.
meet 1 -- sh -c "'$TARGETS_DIR/read_write.O2' 25; exit 11"
is "children are followed by default" "$status" 66 || diag_file "$work/err"
mkfifo "$work/rest"
run run --seed 1 -- sh -c \
	"exec 3<>'$work/rest'; sh -c 'read line <&3; echo >$work/rested' & exit 11"
is "a server left behind does not keep racewatch" "$status" 11 ||
	diag_file "$work/err"
matches "and that is said" "$work/err" \
	'the command has ended, and 1 process that it left behind runs on unwatched'
[ -e "$work/rested" ] && not_ok "it was to be still running"
echo go 1<>"$work/rest"
await 20 test -e "$work/rested"
is "it runs on" $? 0

# A line for each program with threads; the rest is a number.
run run --seed 1 -o "$report" -- sh -c \
	"'$TARGETS_DIR/read_write.O2' 1; '$TARGETS_DIR/phases.O2' 0.2; true; sh -c :"
for program in read_write phases; do
	matches "the summary has a line of $program" "$work/err" \
		"^  .*/$program.O2: 1 process, at most [23] threads, "
	there=
	for i in 0 1; do
		records "$report" type=summary \
			"programs.$i.path=*/$program.O2" \
			"programs.$i.processes=1" "programs.$i.threads=[23]" &&
			there=$there$i
	done
	is "the report has it too" "${#there}" 1
done
matches "and counts the others" "$work/err" \
	'^  2 other processes had one thread$'
"$RACEWATCH" report "$report" >"$work/said" 2>&1
matches "so does report" "$work/said" '^  2 other processes had one thread$'

# The front end hears of the commands of a script only if they live long: of 100
# it heard 200 times, when it was told of each at its fork and its exec. A
# machine on which half of them take 20 ms or more is too slow to say.
# shellcheck disable=SC2016 # for the shell that is started
run run --seed 1 --debug detect -- sh -c \
	'i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i + 1)); done'
told=$(grep -c 'process [0-9]* of [0-9]* runs program' "$work/err")
[ "$told" -lt 100 ] && told=few
is "commands that are soon over are not announced" "$told" few
is "nor read" "$(grep -c 'breakpoint armed' "$work/err")" 0

# Each of several programs that begin at the same time has its beginning.
run run --seed 1 --debug target -- sh -c \
	"for i in 1 2 3; do '$TARGETS_DIR/phases.O2' 0.2 & done; wait"
is "the first threads of each program wait" \
	"$(grep -c 'the first threads waited for' "$work/err")" 3

# Executed again and again, a program's code is read once, and each of its sites
# is counted once: all were told of, since their first threads wait.
run run --seed 1 --debug detect -o "$report" -- sh -c \
	"for i in 1 2 3 4 5 6; do '$TARGETS_DIR/phases.O2' 0.3; done"
# the lines of the log, for the last execution to be read
again=$(grep -c 'is executed again' "$work/err")
read=$(grep -c '/phases.O2: [0-9]* of [0-9]* functions$' "$work/err")
is "each execution takes over what is known, or is read" $((again + read)) 6 ||
	diag_file "$work/err"
is "it is read once" "$read" 1
# sites_of_program: by the report's coverage, a line for each time that it is there
sites_of_program()
{
	for i in {0..9}; do
		records --print "coverage.$i.sites_eligible" "$report" \
			type=summary "coverage.$i.path=*/phases.O2"
	done
}
several=$(sites_of_program)
run run --seed 1 -o "$report" -- "$TARGETS_DIR/phases.O2" 0.3
is "its sites are counted once" "$several" "$(sites_of_program)"

# What is left of the program, when its first process has ended, is let go when
# the time is over, and ended when its time is.
mkfifo "$work/hold"
run run --seed 1 --follow all --duration 300ms -- sh -c \
	"exec 3<>'$work/hold'; sh -c 'read line <&3; echo >$work/after' & exit 11"
is "the time is over when the first process has ended" "$status" 11 ||
	diag_file "$work/err"
[ -e "$work/after" ] && not_ok "it was to be still running"
# opened for both, it waits for no reader
echo go 1<>"$work/hold"
await 20 test -e "$work/after"
is "the rest went on" $? 0
rm -f "$work/over"
# long enough for the inner shell to set its trap on a loaded machine
run run --seed 1 --follow all --timeout 3s -- sh -c \
	"sh -c 'trap \"echo >$work/over; exit\" TERM
		while :; do sleep 0.1; done' & exit 11"
is "the rest of a program is ended by --timeout" "$status" 124 ||
	diag_file "$work/err"
await 20 test -e "$work/over"
is "and it was asked to" $? 0

finish
