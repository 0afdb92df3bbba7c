#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every back-end finds every target it can see. The .expect files say which
# cannot ("blind BACKEND: why") and which names one side only.

. "$(dirname "$0")/../lib.sh"

# In a short run a few that differ: sizes, the kernel, C++, a plain one.
names="read_write unaligned wide32 read_syscall cpp_member"
[ -n "$LONG" ] && names="$(target_list RACY_C; target_list RACY_CXX)"

for backend in ptrace perf perf-cpu value; do
	[ "$backend" != value ] &&
		skip_lacking registers "back-end $backend" && continue
	registers_for "$backend"
	for ((try = 1;; try++)); do
		run run --backend "$backend" -o "$report" -- /bin/true
		registers_refused "$try" || break
	done
	if [ "$status" -ne 0 ]; then
		not_ok "back-end $backend works here"
		diag_file "$work/err"
		continue
	fi
	for name in $names; do
		if expect_says "$name" blind "$backend"; then
			diag "$name: $(grep "^blind $backend" \
				"$SOURCES/$name.expect")"
			continue
		fi
		# who the other was is not always seen
		one_sided=
		if [ "$backend" = value ] ||
			expect_says "$name" one-sided "$backend"; then
			one_sided=yes
		fi
		for seed in $(seeds 1); do
			what="$backend finds $name, seed $seed"
			in_turn 3 "$what" || continue
			meet "$seed" --backend "$backend" --rate 1000 -- \
				"$TARGETS_DIR/$name.O2" 25
			if [ "$status" -eq 66 ] &&
			   as_expected "$name" "$backend" &&
			   records "$report" type=run backend="$backend"; then
				ok "$what"
			else
				not_ok "$what (exit status $status)"
				diag_file "$work/check"
				diag_file "$work/err"
			fi
		done
	done
done

finish
