#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch hunt: a program that has children by fork(2), vfork(2) and
# posix_spawn(3), or executes another program, is recorded and goes on unharmed, also
# while one of its threads is held. The accesses are 20 ms apart, by a sleep, and a
# side is held for 500 ms: the other thread comes unless it is kept from running for
# 480 ms.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR

skip_lacking registers "hunt" && finish

for recorder in valgrind breakpoints qemu; do
	in_turn 3 "$recorder" || continue
	what="children, by $recorder"
	if [ "$recorder" = qemu ] && [ ! -x /usr/bin/qemu-x86_64 ]; then
		skip "$what" "qemu-x86_64 is not installed"
		continue
	fi
	RUN_TIMEOUT=120 run hunt --recorder "$recorder" --hold 500ms \
		--program held_children.O2 -o "$report" -- \
		"$T/held_children.O2"
	is "$what: exit status" "$status" 66 || diag_file "$work/err"
	has "$what: its write is provoked" "$report" type=target \
		side.function=held_write outcome=provoked
	is "$what: no run has failed" "$(grep -c 'the command failed' \
		"$work/err")" 0
done
# the held thread ends with its program: nothing is proved of its side
RUN_TIMEOUT=120 run hunt --recorder breakpoints --hold 500ms -o "$work/sides.jsonl" \
	--budget 1ms -- "$T/held_children.O2"
RUN_TIMEOUT=120 run hunt --targets "$work/sides.jsonl" --hold 500ms \
	-o "$report" -- "$T/held_children.O2" exec
is "exec: no run has failed" "$(grep -c 'the command failed' "$work/err")" 0
has "exec: its thread was held" "$report" type=target side.function=held_write \
	reached=1 held_us!=0
is "exec: no side is provoked" "$(records --count "$report" type=target \
	outcome=provoked)" 0
# the shell that waits for the test cannot run before that does
RUN_TIMEOUT=120 run hunt --recorder valgrind --hold 500ms -o "$report" \
	--program held_children.O2 -- sh -c "'$T/held_children.O2'; exit \$?"
is "by a shell: exit status" "$status" 66 || diag_file "$work/err"
has "by a shell: who cannot be met is ordered" "$report" type=target \
	side.function=late_read outcome=ordered
# each command of a shell has a vfork; and where there is no side, there is no run
# whose status could be told
run hunt --recorder valgrind -- sh -c 'ls; ls; ls; exit 3'
is "shell: exit status" "$status" 3
is "shell: what is not recorded is said once" \
	"$(grep -c 'not recorded: vfork' "$work/err")" 1
matches "shell: the command's status is said" "$work/err" \
	'the recorded command ended with exit status 3'

finish
