#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch hunt of C++, Rust and Fortran: the race of each program is provoked,
# with the block that the raced bytes are in, the function that allocated it, and
# the locks of each side; its twin has none.
#
# The threads of a program are started one right after the other, and a side is held
# for 500 ms: the other thread comes unless it is kept from running for so long.
# Each function that races has a side of its own, so that the thread that is first
# is held, whichever it is.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR

skip_lacking registers "hunts of other languages" && finish

# hunted NAME WANTED-STATUS PROGRAM [ARGUMENT...]
hunted()
{
	RUN_TIMEOUT=120 run hunt -v -o "$report" --hold 500ms -- "${@:3}"
	is "$1: exit status" "$status" "$2" || diag_file "$work/err"
	if [ "$2" -eq 0 ]; then
		is "$1: no race" "$(races_in "$report")" 0
	else
		has "$1: its race" "$report" type=race evidence=provoked \
			'sides.*.frames.*.function=*add_first*' \
			'sides.*.frames.*.function=*add_second*'
	fi
	has "$1: there are sides" "$report" type=target
	is "$1: every side has an outcome" \
		"$(records --count "$report" type=target outcome=pending)" 0
}

# block NAME SIZE FUNCTION: the raced bytes are in such a block
block()
{
	has "$1: in a block of $2 bytes of $3" "$report" type=race \
		evidence=provoked recorded.block.size="$2" \
		"recorded.block.allocated.*.function=*$3*"
	matches "$1: which the side is named by" "$work/err" \
		"target #.* of a block of $2 of [a-z_:()A-Z]*$3[^,]*, at .*add_"
	matches "$1: and which is told" "$work/err" \
		"^  block +of $2 bytes, allocated in the recording by thread 0"
}

# locked NAME FUNCTION KIND SHARED TAKER COUNT: how the side in FUNCTION is locked
locked()
{
	local side=1 last=$(($6 - 1))

	if [ "$6" -eq 0 ]; then
		matches "$1: $2 has no lock" "$work/err" \
			'held in the recording: no lock'
		return
	fi
	records "$report" type=race "sides.0.frames.0.function=*$2*" && side=0
	has "$1: $2 holds a $3, taken by $5" "$report" type=race \
		"sides.$side.frames.0.function=*$2*" \
		"sides.$side.recorded.locks.$last.kind=$3" \
		"sides.$side.recorded.locks.$last.shared=$4" \
		"sides.$side.recorded.locks.*.taken.*.function=*$5*"
	matches "$1: $5 is in the text" "$work/err" "^      #[0-9]+ +.*$5"
}

for variant in O0 O2 nopie; do
	in_turn 3 "C++, $variant" || continue
	adds=2 # it reads and it writes
	[ "$variant" = O2 ] && adds=1
	name="C++ nested, $variant"
	hunted "$name" 66 "$T/hunted_cpp.$variant" nested
	block "$name" 240 make_account
	locked "$name" add_first mutex false nested_first 2
	locked "$name" add_second mutex false nested_second 1
	name="C++ shared, $variant"
	hunted "$name" 66 "$T/hunted_cpp.$variant" shared
	block "$name" 240 make_account
	locked "$name" add_first rwlock true shared_both 1
	locked "$name" add_second rwlock true shared_both 1
	matches "$name: for reading" "$work/err" \
		'held in the recording: rwlock .* \(for reading\), taken at'
	name="C++ condition, $variant"
	hunted "$name" 66 "$T/hunted_cpp.$variant" condition
	block "$name" 240 make_account
	locked "$name" add_second mutex false condition_second 1
	name="C++ aligned, $variant"
	hunted "$name" 66 "$T/hunted_cpp.$variant" aligned
	block "$name" 64 make_line
	locked "$name" add_first none false none 0
	name="C++ array, $variant"
	hunted "$name" 66 "$T/hunted_cpp.$variant" array
	block "$name" 800 make_array
	# add_first() has also written to what was deleted
	is "$name: without the history of the older array" \
		"$(records --print recorded.accesses.*.frames.0.function \
			"$report" type=race | tail -n 1 | tr , '\n' |
			grep -c add_first)" "$adds"
done
for kind in nested shared condition aligned array; do
	hunted "C++ $kind, twin" 0 "$T/hunted_cpp.twin" "$kind"
done
# without any name there are the sizes and the kinds
hunted_stripped()
{
	RUN_TIMEOUT=120 run hunt -o "$report" --hold 500ms -- \
		"$T/hunted_cpp.stripped" nested
	is "C++, stripped: exit status" "$status" 66 || diag_file "$work/err"
	has "C++, stripped: the block, and the locks of one side" "$report" \
		type=race evidence=provoked recorded.block.size=240 \
		'recorded.block.allocated.*.offset=*' \
		'sides.*.recorded.locks.1.kind=mutex'
}
hunted_stripped

# the other formats have the same
for format in html sarif junit; do
	RUN_TIMEOUT=120 run hunt -q --format $format -o "$work/report.$format" \
		--hold 500ms -- "$T/hunted_cpp.O2" nested
	is "$format: exit status" "$status" 66 || diag_file "$work/err"
	for text in 'mutex bytes 40..79 of a block of 240 of make_account' \
		'of 240 bytes, allocated in the recording by thread 0' \
		'read and wrote' 'rovoked' 'WRITES 8 bytes'; do
		matches "$format: $text" "$work/report.$format" "$text"
	done
	is "$format: nothing of samples" \
		"$(grep -c '[0-9] samples\|No samples' \
			"$work/report.$format")" 0
done

for variant in O0 O2; do
	in_turn 2 "Rust, $variant" || continue
	name="Rust, $variant"
	hunted "$name" 66 "$T/hunted_rs.$variant"
	block "$name" 16 make_account
done
hunted "Rust, twin" 0 "$T/hunted_rs.twin"

if [ -x "$T/hunted_omp.O2" ]; then
	for variant in O0 O2; do
		in_turn 2 "Fortran, $variant" || continue
		name="Fortran, $variant"
		hunted "$name" 66 "$T/hunted_omp.$variant"
		block "$name" 800 make_table
	done
	hunted "Fortran, twin" 0 "$T/hunted_omp.twin"
else
	skip "Fortran" "gfortran is not installed"
fi

finish
