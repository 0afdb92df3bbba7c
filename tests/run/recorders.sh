#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch hunt --recorder: each recorder finds the conflict of a program, which
# the hunt provokes; what a recording by breakpoints has and has not; and what
# `auto' takes where Valgrind is missing or cannot run the program.
#
# Races are met as in hunt.sh: 20 ms apart, held for 500 ms.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR
H=$HELPERS_DIR
BUILT=$RACEWATCH

skip_lacking registers "recorders" && finish

# hunted NAME RECORDER WANTED-STATUS COMMAND...
hunted()
{
	RUN_TIMEOUT=120 run hunt -o "$report" --recorder "$2" --hold 500ms \
		"${options[@]}" -- "${@:4}"
	is "$1, $2: exit status" "$status" "$3" || diag_file "$work/err"
	[ "$2" = auto ] || matches "$1, $2: named" "$work/err" "recorded by $2"
	if [ "$3" -eq 66 ]; then
		has "$1, $2: provoked" "$report" type=race evidence=provoked
	fi
}
options=()

ln -s "$(realpath "$T/listing1.O2")" "$work/link"
recorders="valgrind breakpoints"
[ ! -x /usr/bin/qemu-x86_64 ] || recorders="$recorders qemu"
for recorder in $recorders; do
	for variant in O0 O2 nopie; do
		in_turn 3 "$recorder-$variant" || continue
		hunted "listing 1, $variant" "$recorder" 66 "$T/listing1.$variant"
	done
	hunted "listing 1, twin" "$recorder" 0 "$T/listing1.twin"
	hunted "listing 2" "$recorder" 66 "$T/listing2.O2"
	# there are none, which breakpoints do not show
	if [ "$recorder" = breakpoints ]; then
		unknown=1 none=0
	else
		unknown=0 none=1
	fi
	is "locks are unknown, $recorder" \
		"$(($(grep -c 'locks unknown' "$work/err") > 0))" "$unknown"
	is "or none, $recorder" \
		"$(($(grep -c 'no known lock$\|no known lock;' "$work/err") > 0))" "$none"
	sides=$(records --count "$report" type=target)
	is "in the report, too, $recorder" "$(records --count "$report" \
		type=target 'side.recorded.accesses.*.locks=null')" \
		"$((unknown * sides))"
	is "as is what sides had in common, $recorder" "$(records --count \
		"$report" type=target side.locked=null)" \
		"$((unknown * sides))"
	[ "$recorder" = qemu ] ||
		hunted "in a script, by a link" "$recorder" 66 \
			sh -c "true; '$work/link'; true"
done

# The first program of a script is executed by a path of its own, the trace has
# the whole one. That the command ends otherwise under the recorder is told.
# Recorded only: nothing is tried.
for recorder in valgrind breakpoints; do
	run hunt --recorder "$recorder" --budget 1ms -o "$report" \
		--program "$(realpath "$T/listing1.O2")" -- \
		sh -c "cd '$T'; ./listing1.O2; [ -z \"\$LD_BIND_NOW\" ] || exit 3"
	is "a program's whole path, $recorder" "$status" 65 ||
		diag_file "$work/err"
	has "and its sides have it, $recorder" "$report" type=target \
		"side.program=$(realpath "$T/listing1.O2")"
done
run hunt --recorder auto --budget 1ms -o "$report" -- \
	sh -c "[ -z \"\$LD_BIND_NOW\" ] || exit 3; exec '$T/listing1.O2'"
matches "it ends otherwise under the recorder" "$work/err" \
	"exit status 3 under the recorder, and with 0 by itself"
has "in the report, too" "$report" type=summary recorded_exit=3 bare_exit=0
run hunt --recorder auto --budget 1ms -o "$report" -- "$T/listing1.O2"
has "or not" "$report" type=summary recorded_exit=null bare_exit=null

# Of bytes that one thread accesses, some accesses are not kept, which loses nothing;
# what had no memory is told.
run hunt --recorder valgrind --budget 1ms --keep-trace "$work/room" -- \
	"$T/listing1.O2"
is "not all is kept" "$(for trace in "$work"/room/trace.*; do
	"$H/trace-print" "$trace"
done | grep -c '^end .* dropped [1-9][0-9]* ')" 1
is "but nothing is lost" "$(grep -c 'not recorded' "$work/err")" 0 ||
	diag_file "$work/err"
run hunt --recorder valgrind --budget 1ms --trace-memory 1 -- "$T/listing1.O2"
matches "for want of memory it is" "$work/err" \
	"warning: the recorder had no memory left for [1-9][0-9]* accesses"

# A limit that Valgrind does not set is the reason; a path that has no such program is
# none, as the shell tries them in turn.
hunted "limit of open files" auto 66 \
	sh -c "PATH='$work:$T'; ulimit -n 100 && exec listing1.O2"
matches "which Valgrind does not set, is told" "$work/err" \
	"not recorded by valgrind: setrlimit: .* limit of open files"
run hunt --recorder auto --budget 1ms -o "$report" -- \
	sh -c "PATH='$work:$T'; exec listing1.O2"
matches "the second folder of PATH has it" "$work/err" "recorded by valgrind"
is "and that is no trouble" "$(grep -c 'not recorded by' "$work/err")" 0

# A command that does not end by itself: --budget ends its recording, and its runs.
mkfifo "$work/never"
SECONDS=0
run hunt --budget 12s --hold 500ms -o "$report" -- \
	sh -c "'$T/listing1.O2'; read -r _ <'$work/never'"
is "the budget bounds all: what was met counts" "$status" 66 ||
	diag_file "$work/err"
is "long before the timeout" "$((SECONDS < 60))" 1
matches "the recording was ended" "$work/err" \
	"the recorded run was ended after .*, by --budget"
is "no other recorder was taken" "$(grep -c 'not recorded by' "$work/err")" 0

# What runs on after the command has an empty trace: a shell that has written to one
# pipe, and ends when nobody may write to the other one.
mkfifo "$work/ready" "$work/hold"
exec 8<>"$work/hold"
run hunt --recorder valgrind --budget 1ms -o "$report" -- sh -c "'$T/listing1.O2'
	sh -c 'echo >$work/ready; read -r _ <$work/hold' & read -r _ <'$work/ready'" \
	8>&-
is "a process runs on after the command" "$status" 65 || diag_file "$work/err"
matches "which is told" "$work/err" "is empty: its process .* runs on"
has "and the others are recorded" "$report" type=target
exec 8>&-

# recorded NAME COMMAND...: by breakpoints; the trace is $work/NAME.txt
recorded()
{
	RUN_TIMEOUT=120 run hunt -q --recorder breakpoints --budget 1ms \
		--keep-trace "$work/$1" "${options[@]}" -- "${@:2}"
	for trace in "$work/$1"/trace.*; do
		"$H/trace-print" "$trace"
	done >"$work/$1.txt"
	run report --trace "$work/$1"
}

# executions THREAD: the most of an instruction of the program that it has
executions()
{
	awk -v thread="$1" '$1 == "uses" && $3 == thread && $5 + 0 > most {
		most = $5 + 0
	} END { print most + 0 }' "$2"
}

for variant in O2 nopie; do
	options=(--executions 7)
	recorded "posted.$variant" "$T/stops.$variant" posted
	trace=$work/posted.$variant.txt
	is "$variant: ten times as many while there is one thread" \
		"$(executions 1 "$trace")" 70
	is "$variant: as many for each of two threads" \
		"$(executions 2 "$trace")" 14
	is "$variant: again for the next one" \
		"$(($(executions 3 "$trace") >= 14))" 1
	matches "$variant: a semaphore orders nothing" "$work/out" \
		", [1-9][0-9]* that no creation or join"
done

# one file for each process; another program's instructions are not looked at
options=(--program listing1.O2)
recorded only sh -c "'$T/listing1.O2'; exit 4"
is "only that program" "$(compgen -G "$work/only/trace.*" | wc -l)" 1
options=()
recorded all sh -c "'$T/listing1.O2'; exit 4"
is "all processes" "$(compgen -G "$work/all/trace.*" | wc -l)" 2

# libraries of the system are left out, unless they are asked for
recorded own "$T/listing1.O2"
matches "no locks are known" "$work/out" ", locks unknown, hold "
options=(--include 'libc.so*')
recorded libc "$T/listing1.O2"
is "its accesses" "$(($(sed -n 's/^end sequence \([0-9]*\) .*/\1/p' \
	"$work/libc.txt") > $(sed -n 's/^end sequence \([0-9]*\) .*/\1/p' \
	"$work/own.txt")))" 1
options=()

# how it ends
run hunt --recorder breakpoints -- "$work/none-there"
is "no such command" "$status" 127
for recorder in breakpoints valgrind; do
	RUN_TIMEOUT=60 run hunt --recorder $recorder --timeout 1s --budget 1ms \
		-- "$T/wait_forever.O2"
	matches "$recorder: a run is ended by --timeout" "$work/err" \
		"ended by --timeout"
done
# One instruction has two slots for a thread: later bytes count all the same.
for recorder in $recorders; do
	RUN_TIMEOUT=60 run hunt --recorder "$recorder" --budget 1ms \
		-o "$report" -- "$T/byte_loop.O0"
	has "$recorder: the bytes of a loop" "$report" type=target \
		side.function=look
done
run hunt --recorder breakpoints --executions 0 -- "$T/listing1.O2"
is "no executions" "$status" 2
run hunt --recorder other -- "$T/listing1.O2"
is "no such recorder" "$status" 2

# where racewatch is alone, without its tool
cp "$RACEWATCH" "$work/racewatch"
RACEWATCH=$work/racewatch
hunted "without the tool" auto 66 "$T/listing1.O2"
matches "which is told" "$work/err" "not recorded by valgrind: the recorder is"
[ ! -x /usr/bin/qemu-x86_64 ] || matches "and of the plugin" "$work/err" \
	"not recorded by qemu: the recorder is"
matches "with what is taken" "$work/err" "recorded by breakpoints"
run doctor
matches "doctor says so" "$work/out" "^note +recorder +breakpoints; valgrind not"
run hunt --recorder valgrind -- "$T/listing1.O2"
is "asked for by name, it is an error" "$status" 125
matches "which says what is missing" "$work/err" "Debian package: valgrind"
run hunt --record-code --keep-trace "$work/code" -- "$T/listing1.O2"
is "code is recorded by Valgrind, or not at all" "$status" 125

# with QEMU's alone, which does not go on to a program that is executed
if [ -x /usr/bin/qemu-x86_64 ]; then
	mkdir -p "$work/qemu/src/recorder"
	cp "$BUILT" "$work/qemu/racewatch"
	ln -s "$(dirname "$(realpath "$BUILT")")/src/recorder/qemu" \
		"$work/qemu/src/recorder/qemu"
	RACEWATCH=$work/qemu/racewatch
	hunted "without Valgrind" auto 66 "$T/listing1.O2"
	matches "it is recorded by QEMU" "$work/err" "recorded by qemu: "
	hunted "in a script, without Valgrind" auto 66 \
		sh -c "true; '$T/listing1.O2'; true"
	matches "QEMU has not gone on" "$work/err" \
		"not recorded by qemu: execve: QEMU does not go on"
else
	skip "with QEMU's alone" "qemu-x86_64 is not installed"
fi
RACEWATCH=$BUILT

if grep -qw avx512f /proc/cpuinfo; then
	hunted "AVX-512" auto 66 "$T/evex.O2"
	matches "what Valgrind cannot run is named" "$work/err" \
		"not recorded by valgrind: AVX-512"
	matches "and what is taken" "$work/err" "recorded by breakpoints"
else
	echo "# SKIP AVX-512: this processor has none"
fi

finish
