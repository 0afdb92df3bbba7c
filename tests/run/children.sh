#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Programs that start others: nothing they start meets a breakpoint, followed
# or not; a script's interpreter and its program are watched in turn.

. "$(dirname "$0")/../lib.sh"

for seed in $(seeds 2); do
	run run --seed "$seed" --rate 1000 -- "$TARGETS_DIR/children.nopie" 2
	is "all four kinds of children, seed $seed" "$status" 0 ||
		diag_file "$work/err"
done

run run --rate 1000 -- "$SOURCES/script.sh"
is "a script by itself: its status" "$status" 5 || diag_file "$work/err"
matches "a script by itself: its output" "$work/out" '^script: done$'

# without debug registers there is one back-end, which sees one side
only="" one_sided=""
lacks registers && only=value one_sided=yes
meet 1 --rate 1000 -- "$SOURCES/script.sh" "$TARGETS_DIR/read_write.O2" 25
if [ "$status" -eq 66 ] && as_expected read_write "$only"; then
	ok "a script that becomes a racy program"
else
	not_ok "a script that becomes a racy program (exit status $status)"
	diag_file "$work/check"
	diag_file "$work/err"
fi

# The shell forks before it runs the program: a child, cleaned.
run run --rate 1000 --follow none -- sh -c "'$TARGETS_DIR/read_write.O2' 1; exit 11"
is "a child that is not followed" "$status" 11 || diag_file "$work/err"
matches "ran to its end" "$work/out" '^read_write: done$'

# What a child would run with the privileges of others, it runs without them.
cp /bin/true "$work/privileged"
if [ "$(id -u)" -eq 0 ] && chmod 4755 "$work/privileged" &&
	chmod 755 "$work" && setpriv --reuid 65534 --regid 65534 \
	--clear-groups "$RACEWATCH" --version >/dev/null 2>&1; then
	for follow in all none; do
		timeout 60 setpriv --reuid 65534 --regid 65534 --clear-groups \
			"$RACEWATCH" run --seed 1 --follow "$follow" -- \
			sh -c "'$work/privileged'; exit 11" >"$work/out" 2>"$work/err"
		is "a set-user-ID program of a script, --follow $follow" $? 11 ||
			diag_file "$work/err"
		is "its warning" "$(grep -c \
			"^racewatch: warning: $work/privileged has privileges" \
			"$work/err")" "$([ "$follow" = all ] && echo 1 || echo 0)" ||
			diag_file "$work/err"
	done
else
	skip "a set-user-ID program of a script" "it takes root, and setpriv(1)"
fi

finish
