#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The limits of .ci/run's steps (.ci/limits.sh): each has its own, and none goes
# beyond the end of the time for all. Then .ci/run itself, in a project where
# everything but sleep is missing.

. "$(dirname "$0")/../lib.sh"

# make check has told its own tests to this make
unset MAKEFLAGS MAKEOVERRIDES MFLAGS MAKELEVEL

. "$top_srcdir/.ci/limits.sh"

# deadline_in SECONDS
deadline_in()
{
	deadline=$(($(date +%s) + $1))
}

deadline_in 1000
limited 100 sh -c 'exit 3'
is "one that fails in time keeps its status" "$status" 3
is "and is not cut off" "$cut" ""
limited 100 sh -c 'exit 124'
is "nor is one that exits as if it were" "$status$cut" 124
limited 2 sleep 60
is "one that does not end is cut off" "$status" 124
is "at its own limit" "$cut" "cut off at its limit of 2 s"
deadline_in 3
limited 100 sleep 60
is "or at the end of all, if that is earlier" "$status" 124
matches "which is said" <(echo "$cut") \
	'^cut off after [1-9] s, at the end of the time for all$'
deadline_in 0
limited 100 touch "$work/begun"
is "after that none is begun" "$([ -e "$work/begun" ]; echo $?)" 1
is "and it has failed" "$status" 124
is "which is said too" "$cut" "not begun, at the end of the time for all"

# ci_run BOOTSTRAP: .ci/run for some seconds, with this shell script for
# bootstrap; leaves its output in $work/out
ci_run()
{
	local project=$work/project

	rm -rf "$project"
	mkdir -p "$project/build/tests/run" "$project/.ci"
	cp "$top_srcdir/.ci"/* "$project/.ci"
	printf '#!/bin/sh\n%s\n' "$1" >"$project/bootstrap"
	chmod +x "$project/bootstrap"
	printf 'check:\n\tsleep 600\n' >"$project/build/Makefile"
	RACEWATCH_CI_SECONDS=5 "$project/.ci/run" >"$work/out" 2>"$work/err"
	status=$?
}

before=$SECONDS
ci_run 'sleep 600'
is "a step that takes all of the time: the run fails" "$status" 1
is "and ends" "$((SECONDS - before < 300))" 1
matches "the step was cut off" "$work/out" \
	'^=== bootstrap-check: FAILED \(cut off after [1-9] s, at the end of the time for all\)'
matches "the next one was not begun" "$work/out" \
	'^=== counts: FAILED \(not begun, at the end of the time for all\)'
matches "nor was the last" "$work/out" \
	'^=== distcheck: FAILED \(not begun, at the end of the time for all\)'
matches "what the step took is told at the end" "$work/out" \
	'^ +[1-9][0-9]* s  bootstrap-check$'
matches "and what all took" "$work/out" '^ +[1-9][0-9]* s  altogether, of 5$'
matches "ten steps failed, and no test has passed" "$work/out" \
	'^0 passed, 11 failed, 0 skipped$'

ci_run 'cd build
: >test-suite.log >tests/run/unlucky.log
echo :test-result: FAIL 1 >tests/run/unlucky.trs
exit 1'
is "a test that fails, and cannot be run again in time" "$status" 1
matches "its second run was cut off" "$work/out" \
	'^=== again: cut off after [1-9] s, at the end of the time for all$'

finish
