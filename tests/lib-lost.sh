# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# What tests/run/lost.sh and bench/exit-status share: one run of a kind of
# tests/targets/lost.c, and whether what it met was told. Needs RACEWATCH, TARGETS_DIR
# and HELPERS_DIR.

lost_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# The kinds, in the order of the source.
lost_kinds()
{
	sed -n 's/^\t{ "\([a-z]*\)", .*/\1/p' "$lost_dir/targets/lost.c"
}

# lost_records [--print PATHS] CONDITION...: records of the report
lost_records()
{
	local print=()

	[ "$1" != --print ] || { print=("$1" "$2"); shift 2; }
	"$HELPERS_DIR/check-report" --select --quiet "${print[@]}" \
		"$lost_report" "$@"
}

# A number of the summary.
lost_number()
{
	lost_records --print "$1" type=summary
}

# lost_run DIRECTORY KIND VARIANT SEED SECONDS [OPTION...]: watches the program.
# Leaves in $lost_verdict "missed" when no conflict was met; "told" when each
# race was printed in full, once, was counted, and the exit status is 66; or
# what is wrong. No access of the source's synchronizes with another one: a
# verdict that says so hides a race. What the C library synchronizes, as at the
# start of the threads, is no conflict. "not watched" is what racewatch had to
# refuse, as when others have all debug registers.
lost_run()
{
	local dir=$1 kind=$2 variant=$3 seed=$4 seconds=$5 status

	shift 5
	lost_report=$dir/report.jsonl
	rm -f "$lost_report"
	timeout -k 5 180 "$RACEWATCH" run --seed "$seed" --effort high "$@" \
		-o "$lost_report" -- \
		"$TARGETS_DIR/lost.$variant" "$seconds" "$kind" \
		>"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	if ! lost_records type=summary; then
		lost_verdict="not watched: exit status $status"
		return
	fi
	lost_records --print id type=race verdict!=sync | sort -nu >"$dir/ids"
	sed -n 's/^WARNING: racewatch: data race #\([0-9]*\) .*/\1/p' \
		"$dir/err" | sort -n >"$dir/printed"
	lost_records --print 'sides.*.frames.0.function' verdict=sync \
		'sides.*.frames.0.file=*lost.c' >"$dir/hidden"
	lost_met=$(($(lost_number watchpoint_traps) + \
		$(lost_number collisions) + $(lost_number value_changes) - \
		$(lost_number synchronization)))
	if [ "$status" -ne 0 ] && [ "$status" -ne 66 ]; then
		lost_verdict="exit status $status"
	elif [ -s "$dir/hidden" ]; then
		lost_verdict="hidden as synchronization: $(\
			sort -u "$dir/hidden" | tr '\n' ' ')"
	elif ! cmp -s "$dir/ids" "$dir/printed"; then
		lost_verdict="not each race was printed once"
	elif [ "$(lost_number races)" -ne "$(wc -l <"$dir/ids")" ]; then
		lost_verdict="not each race was counted"
	elif [ -s "$dir/ids" ] && [ "$status" -ne 66 ]; then
		lost_verdict="a race, and exit status $status"
	elif [ ! -s "$dir/ids" ] && [ "$status" -ne 0 ]; then
		lost_verdict="no race, and exit status $status"
	elif [ ! -s "$dir/ids" ] && [ "$lost_met" -gt 0 ]; then
		lost_verdict="$lost_met conflicts, and no race"
	elif [ ! -s "$dir/ids" ]; then
		lost_verdict=missed
	else
		# shellcheck disable=SC2034 # for the caller
		lost_verdict=told
	fi
}
