#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every racy target is found within ten seconds, or where nothing is found on a
# loaded machine in one of two longer tries, with the right two functions, lines
# and variable, and nothing else is reported.

. "$(dirname "$0")/../lib.sh"

# without debug registers one side of a race will do
backend=
skip_lacking registers "both sides of each race" && backend=value

# find NAME VARIANT SEED [SYMBOLS]
find_race()
{
	local what="$1.$2 seed $3" seed=$(($3 - 1000)) seconds

	in_turn 2 "$what" || return 0
	# the variable has its name from the side that is not seen
	case $1 in
	stack_thread | tls_shared)
		skip_lacking registers "$what" && return ;;
	esac
	tries seconds 10 40 90
	while next_try seconds; do
		[ "$seconds" -eq 10 ] || diag "$what: once more, $seconds s"
		seed=$((seed + 1000))
		RUN_TIMEOUT=150 run run --seed "$seed" \
			--rate 1000 --halt-on-race --duration "${seconds}s" \
			-o "$report" -- "$TARGETS_DIR/$1.$2" $((seconds + 2))
		# A test beside this one that watches by CPU may hold the debug
		# registers: then nobody is caught, and the report says so.
		grep -q 'or no debug register was free' "$work/err" ||
			[ "$status" -eq 0 ] || break
	done
	if [ "$status" -ne 66 ]; then
		not_ok "$what: exit status $status, not 66"
	elif as_expected "$1" "$backend" "${4:-}"; then
		ok "$what"
		return
	else
		not_ok "$what: report"
		diag_file "$work/check"
	fi
	diag_file "$work/err"
}

# A short run takes one variant with each seed, a long one all of them.
turn=0
for seed in $(seeds 2); do
	variants=(O2 nopie)
	[ -n "$LONG" ] && variants=(O2 nopie clang)
	[ -n "$LONG" ] || variants=("${variants[turn++ % 2]}")
	for name in $(target_list RACY_C; target_list RACY_CXX); do
		for variant in "${variants[@]}"; do
			find_race "$name" "$variant" "$seed"
		done
	done
done

for seed in $(seeds 1); do
	find_race read_write static "$seed"
	find_race exec_self O2 "$seed"
done

# The stripped one: functions by module and offset, from the unstripped twin.
nm -S "$TARGETS_DIR/read_write.O2" >"$work/symbols"
for seed in $(seeds 1); do
	ln -sf "$TARGETS_DIR/read_write.stripped" "$work/stripped.O2"
	TARGETS_DIR=$work find_race stripped O2 "$seed" "$work/symbols"
done

finish
