#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Programs that are free of races, with every kind of synchronization: nothing
# is reported but what free.tab says cannot be told, and the run did look. Two
# run at a time.

. "$(dirname "$0")/../lib.sh"

table=$lib_dir/run/free.tab
time=0.7
[ -n "$LONG" ] && time=1

# Races of a report that are reported, a line each: VARIABLE:FUNCTION:FUNCTION.
race_lines()
{
	local line name sides

	grep '"type": *"race"' "$1" |
		grep -Ev '"verdict": *"(sync|unlikely)"' |
	while read -r line; do
		name=$(sed -n 's/.*"variable":{"name":"\([^"]*\)".*/\1/p' \
			<<<"$line")
		sides=$(grep -o '"frames":\[{"function":[^,]*' <<<"$line" |
			sed 's/.*"function":"\{0,1\}\([^"]*\).*/\1/')
		echo "${name:-null}:${sides/$'\n'/:}"
	done | sort -u
}

# The races of a report that free.tab does not allow.
false_lines()
{
	local name=$1 variant=$2 allowed

	allowed=$(grep -v '^#' "$table" | while read -r n v regex _; do
		# shellcheck disable=SC2053 # patterns
		[[ $name = $n && $variant = $v ]] && printf '%s|' "$regex"
	done)
	race_lines "$3" | grep -Ev "${allowed:-^$|}^$"
}

# Runs one program; the first line of the output is the verdict.
free_one()
{
	local name=$1 variant=$2 seed=$3 samples seconds

	# on a busy machine, the time may be over before the first sample
	for seconds in "$time" 8; do
		run run --seed "$seed" --rate 1000 --error-exitcode 0 \
			-o "$report" -- "$TARGETS_DIR/$name.$variant" "$seconds"
		samples=$(sed -n '/"type": *"summary"/s/.*"samples": *\([0-9]*\).*/\1/p' \
			"$report")
		[ "${samples:-0}" -lt 1 ] || break
	done
	if [ "$status" -ne 0 ]; then
		echo "exit status $status, not 0"
	elif [ "${samples:-0}" -lt 1 ]; then
		echo "not one sample was taken"
	elif ! grep -q "^$name: done$" "$work/out"; then
		echo "the program's output is missing"
	elif false_lines "$name" "$variant" "$report" >"$work/false"; then
		echo "reported what is no race"
		sed 's/^/# /' "$work/false"
	else
		echo "ok ($samples samples)"
		return
	fi
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
		report=$work/report.jsonl
		{
			echo "$1.$2 seed $3"
			free_one "$@"
		} >"$work/result"
	) &
	job_pid+=($!)
	[ "$me" -gt 0 ] && job_end $((me - 1))
}

turn=0
for seed in $(seeds 1); do
	for name in $(target_list FREE_C; target_list FREE_CXX
		      target_list FREE_RS); do
		variants=(O2 nog2 O0)
		if [ -z "$LONG" ]; then
			variants=("${variants[turn++ % 3]}")
		else
			variants+=(O1 nog0 nog1)
			[[ $name = free_rs_* ]] || variants+=(clang)
		fi
		for variant in "${variants[@]}"; do
			job_start "$name" "$variant" "$seed"
		done
	done
done
job_end $((${#job_pid[@]} - 1))

finish
