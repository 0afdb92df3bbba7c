#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# `racewatch report --trace' on traces as a recorder writes them, those of the
# fuzz target: the text, the sides as records, a folder of several, and bad input.

. "$(dirname "$0")/../lib.sh"

corpus=$top_srcdir/tests/fuzz/corpus/trace

run report --trace "$corpus/joined"
is "a recording is printed" "$status" 0
matches "with what it is of" "$work/out" \
	"^TRACE .*joined: /nonexistent/program, pid 42, by Valgrind, in order$"
matches "a thread by its path" "$work/out" '^  0\.0  .*joined by 0$'
matches "what could not be recorded" "$work/out" 'not recorded: vfork$'
matches "the shared bytes" "$work/out" \
	'^  6 by 2 threads: bytes 0..7 of a block of 64$'
matches "the pairs" "$work/out" \
	'^PAIRS .*: 1, 1 without runtimes, 1 that no .* orders; 2 sides:$'
matches "the sides" "$work/out" \
	'^  #1 any thread WRITES 8 bytes, .* at program.0x1100, execution 1; 1 partner, locked'
matches "what conflicts with them" "$work/out" \
	'^       with thread 0\.0\.1 WRITES 8 bytes at program.0x1200$'

run report --trace "$corpus/joined" --format json -o "$work/sides.jsonl"
is "its sides as records" "$status" 0
is "two of them, pending" \
	"$(records --count "$work/sides.jsonl" type=target outcome=pending)" 2
run report "$work/sides.jsonl"
is "a report has them" "$status" 0
matches "in a line each" "$work/out" \
	'^racewatch: target #2: thread 0\.0\.1 WRITES 8 bytes at program.0x1200, .*: pending$'

mkdir "$work/folder"
cp "$corpus/plain" "$work/folder/trace.1"
cp "$corpus/joined" "$work/folder/trace.2"
run report --trace "$work/folder"
is "a folder" "$status" 0
is "has a trace of each process" "$(grep -c '^TRACE ' "$work/out")" 2
run report --trace "$corpus/cut"
is "a trace that was cut" "$status" 0
matches "says so" "$work/out" 'cut short'
matches "by a recorder of no locks" "$work/out" ', in order, locks unknown$'

head -c 9 /dev/zero >"$work/zeros"
run report --trace "$work/zeros"
is "what is no trace is refused" "$status" 125
matches "by its name" "$work/err" 'zeros is not a trace'
# the chunk of the first thread: it gets a parent that is none
cp "$corpus/plain" "$work/bent"
at=$(LC_ALL=C grep -obUaP '\x05\x00\x00\x00\x30\x00\x00\x00\x01' "$work/bent" |
	head -n 1 | cut -d : -f 1)
printf '\x09' | dd of="$work/bent" bs=1 seek=$((at + 12)) conv=notrunc \
	status=none
run report --trace "$work/bent"
is "what is wrong is refused" "$status" 125
matches "by the place" "$work/err" "bent: byte $at: thread 9 is not known"
run report --trace "$work/none"
is "a missing file is a usage error" "$status" 2
mkdir "$work/empty"
run report --trace "$work/empty"
is "an empty folder too" "$status" 2
run report --trace "$corpus/plain" --format html
is "another format too" "$status" 2
run report --trace "$corpus/plain" "$work/sides.jsonl"
is "and a report beside it" "$status" 2
matches "with what is possible" "$work/err" '--format text or json'

finish
