#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch hunt --candidates: what Helgrind, DRD and ThreadSanitizer report of a
# program with four races is provoked; in its twin, where a join orders the same
# lines, it is not. The accesses of `apart' are 20 ms apart, by a sleep, and a side is held for 500 ms: the other thread comes unless
# it is kept from running for 480 ms.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR

skip_lacking registers "hunt" && finish

# hunted WHAT WANTED-STATUS FILE PROGRAM [OPTION...]: with the words in $words
words=()
hunted()
{
	RUN_TIMEOUT=120 run hunt -o "$report" --candidates "$3" "${@:5}" -- \
		"$4" "${words[@]}"
	is "$1: exit status" "$status" "$2" || diag_file "$work/err"
}

# outcomes: of the candidates, those that are the same once
outcomes()
{
	records --print outcome "$report" type=candidate | sort -u | xargs
}

# all_provoked WHAT: each line of `apart' that races
all_provoked()
{
	is "$1: all are provoked" "$(outcomes)" provoked
	for line in 16 17 18 19; do
		has "$1: line $line" "$report" type=candidate \
			"reported.sides.0.frames.*.line=$line" 'race_id!=null'
	done
}

# by_valgrind TOOL PROGRAM [OPTION...]: to $work/TOOL
by_valgrind()
{
	valgrind --tool="$1" "${@:3}" "$2" >"$work/$1" 2>&1
}

by_valgrind helgrind "$T/apart.O2"
hunted "Helgrind" 66 "$work/helgrind" "$T/apart.O2" --hold 500ms
all_provoked "Helgrind"
matches "Helgrind: each is told" "$work/err" \
	'^racewatch: candidate #1: write against write, 8 bytes, .*: store apart.c:1[6-9] against store apart.c:1[6-9]: provoked: race #[1-4]'
matches "Helgrind: and counted" "$work/err" '; 4 candidates: 4 provoked$'
is "Helgrind: nothing else is tried" "$(records --count "$report" type=target \
	side.function!=store)" 0
cp "$report" "$work/hunted.jsonl"
run report --format json "$work/hunted.jsonl"
is "candidates are read again" "$(records --print outcome "$work/out" \
	type=candidate | sort -u)" provoked

if in_turn 3 "DRD"; then
	by_valgrind drd "$T/apart.O2" --xml=yes --xml-file="$work/drd.xml"
	hunted "DRD" 66 "$work/drd.xml" "$T/apart.O2" --hold 500ms
	all_provoked "DRD"
fi
if in_turn 3 "ThreadSanitizer"; then
	if ${CC:-gcc} -g -O1 -pthread -fsanitize=thread -o "$work/apart" \
		"$top_srcdir/tests/targets/apart.c" 2>/dev/null &&
		! setarch -R "$work/apart" >"$work/tsan" 2>&1 &&
		grep -q '^WARNING: ThreadSanitizer' "$work/tsan"; then
		hunted "ThreadSanitizer" 66 "$work/tsan" "$T/apart.O2" \
			--hold 500ms
		all_provoked "ThreadSanitizer"
	else
		skip "ThreadSanitizer" "no program built for it runs here"
	fi
fi
# racewatch's own races, in another build
if in_turn 3 "racewatch's own report"; then
	hunted "its own report" 66 "$work/hunted.jsonl" "$T/apart.O0" \
		--hold 500ms
	all_provoked "its own report"
fi

# the same lines, which a join orders there
hunted "ordered" 0 "$work/helgrind" "$T/apart.twin"
is "ordered: all of them" "$(outcomes)" ordered
has "ordered: by a thread's end" "$report" type=candidate \
	'ordered_by=the creation or the end of a thread'

# Another access of the function was reported: that the recorded ones are in order, all
# of them, says nothing of it.
{
	printf 'WARNING: ThreadSanitizer: data race (pid=1)\n'
	for thread in 'Write of size 8 at 0x7b0400000000 by thread T2' \
		'Previous write of size 8 at 0x7b0400000000 by thread T1'; do
		printf '  %s:\n    #0 store /src/apart.c:15 (apart+0x1)\n\n' "$thread"
	done
	printf '==================\n'
} >"$work/function"
hunted "by its function" 0 "$work/function" "$T/apart.twin" \
	--recorder breakpoints
is "by its function: is tried, and not met" "$(outcomes)" not-met

# those of another program
hunted "another program" 65 \
	"$top_srcdir/tests/fuzz/corpus/foreign/tsan-gcc" "$T/apart.O2"
is "another program: nothing is found" "$(outcomes)" not-found

run hunt --candidates "$work/nothing-there" -- "$T/apart.O2"
is "no file" "$status" 125
matches "is named" "$work/err" 'nothing-there: No such file'
echo hello >"$work/hello"
run hunt --candidates "$work/hello" -- "$T/apart.O2"
is "a file without reports" "$status" 125
for other in --targets --since; do
	run hunt --candidates "$work/helgrind" "$other" "$work/other" -- \
		"$T/apart.O2"
	is "--candidates with $other" "$status" 2
	matches "which is told, $other" "$work/err" "--candidates .*$other"
done

# reported FUNCTION OTHER [read]: a report of two functions. There are no lines: they would be the same.
reported()
{
	printf 'WARNING: ThreadSanitizer: data race (pid=1)\n'
	printf '  Write of size 8 at 0x7b0400000000 by thread T2:\n'
	printf '    #0 %s <null> (program+0x1)\n\n' "$1"
	printf '  Previous %s of size 8 at 0x7b0400000000 by thread T1:\n' "${3:-write}"
	printf '    #0 %s <null> (program+0x2)\n\n' "$2"
	printf '==================\n'
}

# accessed HOW SIZE FUNCTION COMMENT [CALLER COMMENT]: in the lines of $file with these
# comments
file=same_line.c
accessed()
{
	local how=$1 size=$2 i=0

	shift 2
	printf '  %s of size %s at 0x7b0400000010 by thread T1:\n' "$how" "$size"
	while [ $# -gt 0 ]; do
		printf '    #%d %s /src/%s:%d (program+0x1)\n' $((i++)) "$1" \
			"$file" "$(grep -nF "/* $2 */" "$SOURCES/$file" |
				cut -d: -f1)"
		shift 2
	done
	echo
}

# two_accesses [VARIABLE SIZE]: a report of what accessed() has printed
two_accesses()
{
	printf 'WARNING: ThreadSanitizer: data race (pid=1)\n'
	cat
	[ -z "${1:-}" ] || printf "  Location is global '%s' of size %s at %s (same_line+0x10)\n\n" \
		"$1" "$2" 0x7b0400000010
	printf '==================\n'
}

# outcome_of NUMBER: of this candidate
outcome_of()
{
	records --print outcome "$report" type=candidate id="$1"
}

# The race on another variable of the line is not the reported one, even of one size.
sizes()
{
	accessed Read "$1" read_sizes read_sizes
	accessed 'Previous write' "$1" write_sizes write_sizes
}
words=(size)
{
	sizes 8 | two_accesses large 8
	sizes 8 | two_accesses small 8
} >"$work/line"
hunted "two variables in a line" 66 "$work/line" "$T/same_line.O2" --hold 500ms
is "two variables in a line: the one that races" "$(outcome_of 1)" provoked
is "two variables in a line: the other one" "$(outcome_of 2)" not-met

# Nor is that of another size, where nothing is named; nor that at the line of a call,
# if the function has code of its own.
sizes 4 | two_accesses >"$work/size"
hunted "two sizes in a line" 0 "$work/size" "$T/same_line.O2" --hold 500ms
is "two sizes in a line: the other one" "$(outcomes)" not-met
words=(call)
{
	{
		accessed Read 4 read_item read_item
		accessed 'Previous write' 4 push_item push_item
	} | two_accesses
	{
		accessed Read 4 read_item read_item
		accessed 'Previous write' 4 push push push_item push_item
	} | two_accesses
} >"$work/call"
hunted "the line of a call" 66 "$work/call" "$T/same_line.O2" --hold 500ms
is "the line of a call: the one that races" "$(outcome_of 1)" provoked
is "the line of a call: the other one" "$(outcome_of 2)" not-met

# A loop takes several elements at once, which the other build takes one by one: it is
# not any access of its function.
words=(loop)
{
	{
		accessed Read 4 sum 'read fills'
		accessed 'Previous write' 4 fill fills
	} | two_accesses
	{
		accessed Read 4 sum sum
		accessed 'Previous write' 4 fill fill
	} | two_accesses
} >"$work/loop"
hunted "a loop" 66 "$work/loop" "$T/same_line.O3" --hold 500ms
is "a loop: the one that races" "$(outcome_of 1)" provoked
is "a loop: the other one" "$(outcome_of 2)" not-met
words=()

# The other build has functions that are inlined in this one.
file=subscript.cc
{
	accessed Read 4 'Cells::get(int)' get reader reader
	accessed 'Previous write' 4 'Cells::set(int, int)' set writer writer
} | two_accesses >"$work/subscript"
hunted "what is inlined" 66 "$work/subscript" "$T/subscript.O2" --hold 500ms
is "what is inlined: provoked" "$(outcomes)" provoked

# late_read() comes to the held early_write() before late_write() does.
reported early_write late_write >"$work/partners"
hunted "another partner first" 66 "$work/partners" "$T/partners.O2" --hold 500ms
is "another partner first: provoked" "$(outcomes)" provoked
has "another partner first: is met, and once" "$report" type=race count=1 \
	sides.1.frames.0.function=late_read

# Both partners are in one instruction of memcpy(), and the other caller comes first.
words=(copies)
reported early_write second_copy >"$work/copies"
hunted "another caller first" 66 "$work/copies" "$T/several.O2" --hold 500ms
is "another caller first: provoked" "$(outcomes)" provoked

# The partner that is listed comes first, and then a system call.
words=(calls)
{
	reported early_write late_read read
	reported early_write late_call
} >"$work/calls"
hunted "then a system call" 66 "$work/calls" "$T/several.O2" --hold 500ms
is "then a system call: both are provoked" "$(outcomes)" provoked

# The first hold ends before the partner comes, but not before another one does.
words=(late)
reported early_write late_write >"$work/late"
hunted "after the first hold" 66 "$work/late" "$T/several.O2" --hold 150ms
is "after the first hold: provoked" "$(outcomes)" provoked
words=()

# So is it where the value changes in the first hold, and nobody is seen to write it.
words=(unseen)
hunted "a changed value first" 66 "$work/late" "$T/several.O2" --hold 150ms
is "a changed value first: provoked" "$(outcomes)" provoked
words=()

# What DRD names has jumped elsewhere. It maps a program at 0x108000.
{
	printf '==7== drd, a thread error detector\n'
	printf '==7== Conflicting store by thread 3 at 0x%08x size 8\n' \
		$((0x108000 + 0x$(nm "$T/partners.O2" | sed -n 's/ b shared$//p')))
	printf '==7==    at 0x109210: elsewhere (partners.c:5)\n==7== \n'
} >"$work/jumped"
hunted "by its bytes" 66 "$work/jumped" "$T/partners.O2" --hold 500ms
is "by its bytes: provoked" "$(outcomes)" provoked

# drd_store VARIABLE OFFSET FUNCTION TEXT: DRD's report that it stores to these
# bytes, in the line of the text
drd_store()
{
	printf '==7== drd, a thread error detector\n'
	printf '==7== Conflicting store by thread 2 at 0x%08x size 8\n' \
		$((0x108000 + $2 + 0x$(nm "$T/several.O2" |
			sed -n "s/ b $1\$//p")))
	printf '==7==    at 0x109210: %s (several.c:%d)\n==7== \n' "$3" \
		"$(grep -nF "$4" "$top_srcdir/tests/targets/several.c" |
			cut -d: -f1)"
}

# DRD may have seen another element of the array than the one that is met.
words=(late)
drd_store shared 8 early_write '[0] = 1;' >"$work/element"
hunted "another element" 66 "$work/element" "$T/several.O2" --hold 150ms
is "another element: provoked" "$(outcomes)" provoked
drd_store values 8 early_write '[0] = 1;' >"$work/variable"
hunted "another variable" 66 "$work/variable" "$T/several.O2" --hold 150ms
is "another variable: is not met" "$(outcomes)" not-met

# DRD names the calls of what stores; both are of one race.
words=(twice)
{
	drd_store shared 0 first_early '/* the first */'
	drd_store shared 0 second_early '/* the second */'
} >"$work/callers"
hunted "two callers" 66 "$work/callers" "$T/several.O2" --hold 500ms
is "two callers: one race" "$(records --print id "$report" type=race | sort -u)" 1
is "two callers: both are provoked" "$(records --count "$report" \
	type=candidate outcome=provoked race_id=1)" 2
store=(--hold 500ms --store "$work/twice")
hunted "two callers, stored" 66 "$work/callers" "$T/several.O2" "${store[@]}"
hunted "two callers, all tried" 66 "$work/callers" "$T/several.O2" "${store[@]}"
is "two callers, all tried: both were provoked" "$(records --count "$report" \
	type=candidate outcome=provoked)" 2
words=()

# A hunt whose time was over goes on, and what it has met before is not forgotten.
store=(--hold 500ms --store "$work/store")
hunted "a store" 65 "$work/partners" "$T/partners.O2" "${store[@]}" --budget 1ms
is "a store: nothing is tried" "$(outcomes)" pending
hunted "a store, going on" 66 "$work/partners" "$T/partners.O2" "${store[@]}"
is "a store, going on: provoked" "$(outcomes)" provoked
hunted "a store, all tried" 66 "$work/partners" "$T/partners.O2" "${store[@]}"
has "a store, all tried: provoked" "$report" type=candidate \
	outcome=provoked 'race_id=[12]'
is "a store, all tried: by an earlier one" "$(records --count "$report" \
	type=race earlier=false)" 0
matches "a store, all tried: no run" "$work/err" '; 0 runs in '

# One that goes on without --candidates keeps them, too. Where a race cannot be kept,
# its side stays to be tried.
reported early_write late_read >"$work/others"
store=(--hold 500ms --store "$work/shared")
hunted "a store, shared" 65 "$work/others" "$T/partners.O2" "${store[@]}" \
	--budget 1ms
is "a store, shared: nothing is tried" "$(outcomes)" pending
sqlite3 "$work/shared" "CREATE TABLE IF NOT EXISTS race (key TEXT PRIMARY KEY,
	verdict INTEGER NOT NULL, record TEXT NOT NULL) STRICT;
	CREATE TRIGGER full BEFORE INSERT ON race
	BEGIN SELECT RAISE(ABORT, 'full'); END"
RUN_TIMEOUT=120 run hunt "${store[@]}" -- "$T/partners.O2"
is "a race that cannot be kept" "$status" 125
is "a race that cannot be kept: its side is pending" "$(sqlite3 \
	"$work/shared" "SELECT count(*) FROM side WHERE result = 'provoked'")" 0
sqlite3 "$work/shared" 'DROP TRIGGER full'
RUN_TIMEOUT=120 run hunt "${store[@]}" -- "$T/partners.O2"
is "a store, without --candidates" "$status" 66
# the report is the same when its file is newer, or a copy
touch -d '2001-01-01' "$work/others"
hunted "a store, with them again" 66 "$work/others" "$T/partners.O2" \
	"${store[@]}"
is "a store, with them again: provoked" "$(outcomes)" provoked

store=(--hold 500ms --store "$work/store")
hunted "a store of others" 2 "$work/others" "$T/partners.O2" "${store[@]}"
matches "a store of others: is told" "$work/err" 'of other --candidates'

# A hand-over orders two of these functions, and is not tried; the third one accesses
# after it.
{
	reported swap_after swap_before
	reported swap_after swap_late
} >"$work/handed"
RUN_TIMEOUT=120 run hunt -o "$report" --budget 1ms --candidates "$work/handed" -- \
	"$T/handed_over.O2"
has "a hand-over" "$report" type=candidate id=1 outcome=ordered tries=0
matches "is told" "$work/err" \
	'candidate #1: .*: ordered by its address: thread .* in .slot. .*, not tried$'
has "what comes after it" "$report" type=candidate id=2 outcome=pending
RUN_TIMEOUT=120 run hunt -o "$report" --budget 1ms --candidates "$work/handed" \
	--transfer off -- "$T/handed_over.O2"
has "--transfer off" "$report" type=candidate id=1 outcome=pending

finish
