#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The gdb script: races of a report listed, the threads of a race selected in
# a process that is stopped there, breakpoints at both accesses elsewhere.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR
SCRIPT=$top_srcdir/contrib/gdb/racewatch-gdb.py

# in_gdb ARG...: what gdb says is in $work/gdb
in_gdb()
{
	timeout 60 gdb -nx -batch -ex 'set width 0' -x "$SCRIPT" "$@" \
		>"$work/gdb" 2>&1 </dev/null
}

if ! gdb -nx -batch -ex 'python print(1)' 2>/dev/null | grep -q '^1$'; then
	skip "all" "there is no gdb with Python"
	finish
fi

timeout 300 "$RACEWATCH" run --seed 1 --rate 3000 --on-race stop -o "$report" -- \
	"$T/read_write.nopie" 60 >"$work/out" 2>"$work/err" </dev/null &
watcher=$!
await 40 grep -qs 'is stopped at the race' "$work/err" || diag_file "$work/err"
pid=$(sed -n 's/.*note: process \([0-9]*\) is stopped at the race.*/\1/p' \
	"$work/err")
lib_started "$pid"

# Where registers do not trap, the side that changed the value may be unknown.
sides="0 1"
lacks registers && records "$report" sides.*.role=unknown && sides=0
count=$(wc -w <<<"$sides")

in_gdb -p "$pid" -ex "racewatch load $report" -ex 'racewatch list' \
	-ex 'racewatch goto 1'
matches "load counts them" "$work/gdb" '^1 race$'
matches "list names kind and variable" "$work/gdb" \
	'^#1 (read-write|write-read) of level, seen [0-9]+ times \(suspect\)$'
matches "list names the read" "$work/gdb" \
	'^     read in get_level \(read_write.c:[0-9]+\)$'
if [ "$sides" = 0 ]; then
	skip_lacking registers "list names the write, and goto its thread"
else
	matches "list names the write" "$work/gdb" \
		'^     write in set_level \(read_write.c:[0-9]+\)$'
fi
for side in $sides; do
# shellcheck disable=SC2016 # gdb's variable
	in_gdb -p "$pid" -ex "racewatch load $report" -ex "racewatch goto 1 $side" \
		-ex 'printf "now in %d\n", $_thread' -ex 'backtrace 1'
	matches "goto selects side $side" "$work/gdb" \
		"^side $side, thread [0-9]+ (stalled|racing): (read|write) in [gs]et_level "
	is "goto tells of both threads" \
		"$(grep -c '^side [01], thread' "$work/gdb")" "$count"
	tid=$(sed -n "s/^side $side, thread \([0-9]*\) .*/\1/p" "$work/gdb")
	function=$(sed -n "s/^side $side, .* in \([a-z_]*\) .*/\1/p" "$work/gdb")
	is "that side's function is the frame, at last" \
		"$(sed -n 's/^#0  \(0x[0-9a-f]* in \)\{0,1\}\([a-z_]*\) .*/\2/p' \
			"$work/gdb" | tail -n 1)" "$function"
	has "its thread is one of the report's" "$report" "sides.*.tid=$tid"
done
kill -9 "$pid"
wait "$watcher"

# Another run of the program, or none: breakpoints.
in_gdb "$T/read_write.nopie" -ex "racewatch load $report" -ex 'racewatch goto 1'
is "elsewhere there are two breakpoints" \
	"$(grep -c '^Breakpoint [12] at .*read_write\.c, line' "$work/gdb")" \
	"$count" ||
	diag_file "$work/gdb"
in_gdb -ex "racewatch load $report" -ex 'racewatch show 1'
matches "show has the stacks" "$work/gdb" '^  #1 (get|set)_loop \(read_write.c:[0-9]+\)$'
matches "show says where threads were created" "$work/gdb" \
	'^  created in main \(read_write.c:[0-9]+\)$'

in_gdb -ex "racewatch load $work/none"
matches "a file that is not there is an error" "$work/gdb" 'No such file'
in_gdb -ex "racewatch load $report" -ex 'racewatch goto 99'
matches "a race that is not there is an error" "$work/gdb" 'There is no race 99'
{ echo 'no json'; echo '[1]'; echo '{"type":"race","id":3}'; head -c 300 "$report"; } \
	>"$work/bad"
in_gdb -ex "racewatch load $work/bad" -ex 'racewatch list'
matches "lines that are no records are counted" "$work/gdb" \
	'^4 lines are no records of racewatch$'

finish
