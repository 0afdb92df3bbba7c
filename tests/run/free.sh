#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Programs that are free of races, with every kind of synchronization: nothing
# is reported but what free.tab says cannot be told, and the run did look. Two
# run at a time. Their stacks are unwound too (tests/unit/test_unwindunw.c). All variants with many seeds, and the table of those that
# need debug information: bench/free.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib-free.sh"

time=0.7
[ -n "$LONG" ] && time=1

# Runs one program; the first line of the output is the verdict.
free_one()
{
	free_run "$work" "$1" "$2" "$3" "$time"
	if [ "$free_verdict" = ok ]; then
		echo "ok ($free_samples samples)"
		return
	fi
	echo "$free_verdict"
	sed 's/^/# /' "$work/false"
	diag_file "$work/err" 40
}

# The verdict on job N: its name and what it printed.
job_end()
{
	local result what

	wait "${job_pid[$1]}"
	{ read -r what; read -r result; } <"$work/$1/result"
	if [[ $result = ok* ]]; then
		ok "$what ${result#ok }"
	else
		not_ok "$what: $result"
		tail -n +3 "$work/$1/result"
	fi
	rm -rf "${work:?}/$1"
}

job_pid=()
job_start()
{
	local me=${#job_pid[@]}

	mkdir "$work/$me"
	(
		trap - EXIT
		work=$work/$me
		{
			echo "$1.$2 seed $3"
			free_one "$@"
		} >"$work/result"
	) &
	job_pid+=($!)
	[ "$me" -gt 0 ] && job_end $((me - 1))
}

short=(O2 nog2 O0)
# what tells an atomic there, where anything does, is the other side
skip_lacking registers "programs without debug information" && short=(O2 O0)
chosen=()
for name in $(free_names); do
	if ! free_can_be_built "$name"; then
		diag "$name: left out, no compiler"
		continue
	fi
	in_turn 5 "$name" || continue
	variants=$(words_in_turn 5 "${short[@]}")
	[ -z "$LONG" ] || variants=$(free_variants "$name")
	for variant in $variants; do
		chosen+=("$name.$variant")
	done
done
build_targets "${chosen[@]}"

for seed in $(seeds 1); do
	for program in "${chosen[@]}"; do
		job_start "${program%.*}" "${program##*.}" "$seed"
	done
done
job_end $((${#job_pid[@]} - 1))

unwound=$("$TARGETS_DIR/../unit/test_unwindunw" \
	"${chosen[@]/#/$TARGETS_DIR/}" 2>&1)
is "two libraries find the same frames in them" $? 0 || diag "$unwound"

finish
