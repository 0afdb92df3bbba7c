#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What a recorder says that threads executed: compared with the processor, which
# executes tests/targets/executed.c one instruction at a time, in builds with
# and without position-independence and optimization; the values of its memory;
# threads, children, a window, and a trace that is cut off.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR
H=$HELPERS_DIR

if ! "$H/record" "$work" true 2>"$work/err" && grep -q 'valgrind' "$work/err"; then
	not_ok "the recorder is there"
	diag_file "$work/err"
	finish
fi

# record_code NAME ARG...: what it executed is $work/NAME.txt
record_code()
{
	local name=$1

	shift
	mkdir -p "$work/$name"
	timeout -k 5 120 "$H/record" --code "${options[@]}" "$work/$name" "$@" \
		>"$work/out" 2>"$work/err"
	status=$?
	for trace in "$work/$name"/trace.*; do
		"$H/executed-print" "$trace"
	done >"$work/$name.txt" 2>>"$work/err"
}
options=()

# executed_of NAME PROGRAM: its instructions, each once where it repeats itself:
# the processor does not execute `rep movsb' once more to find that it has ended
executed_of()
{
	awk -v program="${2##*/}+" 'index($3, program) == 1 { print $3 }' \
		"$work/$1.txt" | uniq
}

# cell PROGRAM N: the last value that was written to cells[N]
cell()
{
	local bias address

	bias=$("$H/trace-print" "$work/$build"/trace.* |
		sed -n "s|^module [0-9]* .*/${1##*/} bias \\(0x[0-9a-f]*\\) .*|\\1|p")
	address=$(printf '0x%x' \
		$((bias + 0x$(nm "$1" | sed -n 's/ [A-Za-z] cells$//p') + 8 * $2)))
	awk -v at="$address" '$1 == "write" && $2 == at { value = $5 }
		END { sub("^0x", "", value); print value }' "$work/$build.txt"
}

for build in O0 O2 nopie; do
	# what follows the loop needs one
	[ "$build" = O2 ] || in_turn 2 "$build" || continue
	program=$T/executed.$build
	record_code "$build" "$program"
	is "$build: it runs as by itself" "$status $(cat "$work/out")" \
		"0 $("$program")"
	executed_of "$build" "$program" >"$work/recorded"
	LD_BIND_NOW=1 "$H/step-print" "$program" 2>"$work/err" | uniq \
		>"$work/stepped"
	is "$build: the processor executes hundreds of its instructions" \
		"$(($(wc -l <"$work/stepped") > 800))" 1
	is "$build: the same as were recorded" \
		"$(diff "$work/stepped" "$work/recorded" | head -n 5)" ""
	is "$build: its memory is what was written" \
		"$(for ((i = 0; i < 4; i++)); do
			cell "$program" "$i"
		done | tr '\n' ' ')" "$(tr '\n' ' ' <"$work/out")"
	is "$build: one compare-and-swap wrote, and one did not" \
		"$(awk -v program="executed.$build+" '
			NF == 3 || NF == 4 { own = index($3, program) == 1 }
			own && /atomic/ && /write/ && / 8 / {
				print ($1 == "not" ? "failed" : "done") }' \
			"$work/$build.txt" | sort | uniq -c |
			awk '{ print $2, $1 }' | tr '\n' ' ')" "done 3 failed 1 "
	# malloc and free are there, without what is in them
	matches "$build: a heap block begins" "$work/$build.txt" \
		' heap 0x0 0x[0-9a-f]* 0x4d$'
	block=$(sed -n 's/.* heap 0x0 \(0x[0-9a-f]*\) 0x4d$/\1/p' \
		"$work/$build.txt")
	matches "$build: and ends" "$work/$build.txt" " heap $block 0x0 0x0\$"
done

# What was executed before an instruction that faults is there.
build=broken
record_code broken "$T/broken.O2"
is "broken: it runs as by itself" "$status $(cat "$work/out")" "0 b 16 21 2c"
is "broken: what was written before the faults is there" \
	"$(for ((i = 0; i < 4; i++)); do
		cell "$T/broken.O2" "$i"
	done | tr '\n' ' ')" "$(tr '\n' ' ' <"$work/out")"
is "broken: what faulted is not" \
	"$(grep -c 'write 0x0 8' "$work/broken.txt")" 0

# Numbers of steps are in one order, and each is of one thread.
record_code threads "$T/recorded.O2"
is "threads: it runs as by itself" "$status $(cat "$work/out")" "0 a 2"
is "threads: each step is of one thread" \
	"$(awk '$3 ~ /[+]0x/ && !(($1, $2) in known) {
		known[$1, $2]
		if ($2 in thread)
			print $2
		thread[$2] = $1
	}' "$work/threads.txt")" ""
is "threads: no step is missing" \
	"$(awk '$3 ~ /[+]0x/ && !($2 in known) { known[$2]; n++
			if ($2 > most) most = $2 }
		$1 == "end" { print (n == most && $3 == n) }' \
		"$work/threads.txt")" 1
is "threads: three of them" \
	"$(awk '$3 ~ /[+]0x/ { print $1 }' "$work/threads.txt" | sort -u |
		wc -l)" 3

record_code children sh -c "$T/executed.O2; exit 3"
is "children: the status is the command's" "$status" 3
is "children: each has its steps" \
	"$(grep -c '^end steps [1-9]' "$work/children.txt")" \
	"$(printf '%s\n' "$work"/children/trace.* | wc -l)"
executed_of children "$T/executed.O2" >"$work/recorded"
LD_BIND_NOW=1 "$H/step-print" "$T/executed.O2" 2>"$work/err" | uniq \
	>"$work/stepped"
is "children: the same as by itself" \
	"$(diff "$work/stepped" "$work/recorded" | head -n 5)" ""

# With a window, the last steps are there.
options=(--window 16)
record_code window "$T/executed.O2"
is "window: it runs as by itself" "$status" 0
is "window: what is left out is counted" \
	"$(awk '$1 == "end" { print ($9 > 0), ($7 >= 16 * 1024 && $7 < 80 * 1024),
		($3 + $9 == steps) }' steps="$(awk '$1 == "end" { print $3 }' \
		"$work/O2.txt")" "$work/window.txt")" "1 1 1"
tail -n 2000 "$work/O2.txt" | sed '/^end /d; s/0x1ff[0-9a-f]*/stack/g' |
	grep '[+]0x' | awk '{ print $3 }' >"$work/recorded"
tail -n 2000 "$work/window.txt" | sed '/^end /d; s/0x1ff[0-9a-f]*/stack/g' |
	grep '[+]0x' | awk '{ print $3 }' >"$work/stepped"
is "window: the end is the same" \
	"$(diff "$work/recorded" "$work/stepped" | head -n 5)" ""
options=()

# `racewatch hunt' records it, too, and `report --trace' counts it.
is_refused()
{
	is "hunt: $2" "$status" 2
	matches "hunt: and why" "$work/err" "$1"
}
run hunt --record-code -- "$T/executed.O2"
is_refused '--record-code is for the recording: --keep-trace' \
	"a recording of code that is not kept is a usage error"
run hunt --transfer-window 64 --keep-trace "$work/hunt" -- "$T/executed.O2"
is_refused '--transfer-window is of a recording by --record-code' \
	"a window of nothing, too"
run hunt --transfer-registers 64 -- "$T/executed.O2"
is_refused '--transfer-registers is of --transfer on' "one of registers, too"
run hunt --record-code --keep-trace "$work/hunt" --recorder breakpoints -- \
	"$T/executed.O2"
is_refused '--record-code is Valgrind.s, and --recorder is breakpoints' \
	"a recorder that cannot, too"
run hunt --record-code --keep-trace "$work/hunt" -- "$T/executed.O2"
is "hunt: it ends" "$status" 0 || diag_file "$work/err"
run report --trace "$work/hunt"
instructions()
{
	sed -n "s/^  $1 *\\([0-9].*\\) instructions.*/\\1/p" "$work/out"
}
matches "report --trace: thousands of instructions" "$work/out" \
	'^  executed: [1-9][0-9]*.[0-9][0-9][0-9] instructions in '
is "report --trace: its instructions, of one thread" \
	"$(instructions executed:)" "$(instructions 0)"
matches "report --trace: a locked write that failed" "$work/out" \
	'^  0 .* locked writes .[1-9][0-9]* failed., [1-9][0-9]* of the heap'

# A trace that was cut off is read up to there.
cut=$(printf '%s\n' "$work"/threads/trace.*)
head -c $(($(stat -c %s "$cut") * 9 / 10)) "$cut" >"$work/cut"
"$H/executed-print" "$work/cut" >"$work/cut.txt" 2>"$work/err"
is "a trace that was cut off: status" $? 0 || diag_file "$work/err"
matches "a trace that was cut off is read" "$work/cut.txt" '^end steps '

finish
