#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The same programs with their accesses guarded: nothing is reported, and the
# run did look.

. "$(dirname "$0")/../lib.sh"

time=1
[ -n "$LONG" ] && time=3

# The status is the program's own, the report has no race.
no_race()
{
	local name=$1 variant=$2 seed=$3 what="$1.$2 seed $3" samples seconds

	# on a busy machine, the time may be over before the first sample
	tries seconds "$time" $((4 * time)) $((16 * time))
	while next_try seconds; do
		run run --seed "$seed" --rate 1000 -o "$report" -- \
			"$TARGETS_DIR/$name.$variant" "$seconds"
		samples=$(summary samples)
		[ "${samples:-0}" -lt 1 ] || break
	done
	if [ "$status" -ne 0 ]; then
		not_ok "$what: exit status $status, not 0"
	elif [ "$(races_in "$report")" != 0 ]; then
		not_ok "$what: races were reported"
	elif [ "${samples:-0}" -lt 1 ]; then
		not_ok "$what: not one sample was taken"
	elif ! grep -q "^$name: done$" "$work/out"; then
		not_ok "$what: the program's output is missing"
	else
		ok "$what ($samples samples)"
		return
	fi
	diag_file "$work/err" 40
}

chosen=()
for name in $(target_list RACY_C; target_list RACY_CXX); do
	in_turn 3 "$name" || continue
	for variant in $(words_in_turn 3 twin twin0); do
		chosen+=("$name.$variant")
	done
done
build_targets "${chosen[@]}"

for seed in $(seeds 1); do
	for program in "${chosen[@]}"; do
		no_race "${program%.*}" "${program##*.}" "$seed"
	done
done

finish
