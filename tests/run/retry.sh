#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# .ci/retry: what it forgives and what it does not. The build directory is a
# makefile with tests that fail as often as a file of theirs says.

. "$(dirname "$0")/../lib.sh"

# make check has told its own tests to this make
unset MAKEFLAGS MAKEOVERRIDES MFLAGS MAKELEVEL

retry=$top_srcdir/.ci/retry
mkdir -p "$work/build/tests/run"
cat >"$work/build/Makefile" <<'MAKEFILE'
TEST_LOGS = $(ALL_LOGS)
check: check-suite
	@! grep -qs FAIL $(TEST_LOGS:.log=.trs)
check-suite:
	@rm -f test-suite.log
	@for log in $(TEST_LOGS); do ./one "$${log%.log}"; done
	@echo done >test-suite.log
broken:
	exit 1
MAKEFILE
# one TEST: passes when no line is left in TEST.failures; takes one off it
cat >"$work/build/one" <<'ONE'
#!/bin/sh
echo x >>"$1.runs"
if [ -s "$1.failures" ]; then
	sed -i 1d "$1.failures"
	printf 'ok 1 - first\nnot ok 2 - second\n# why\nok 3 - third\n' >"$1.log"
	printf ':test-result: PASS 1\n:test-result: FAIL 2\n' >"$1.trs"
else
	printf 'ok 1 - first\n' >"$1.log"
	printf ':test-result: PASS 1\n' >"$1.trs"
fi
ONE
chmod +x "$work/build/one"

# suite NAME:FAILURES...: runs those tests once; each fails so often at first
suite()
{
	local entry logs=()

	find "$work/build/tests" "$work/kept" -type f -delete 2>/dev/null
	for entry; do
		seq "${entry#*:}" >"$work/build/tests/run/${entry%:*}.failures"
		logs+=("tests/run/${entry%:*}.log")
	done
	make -C "$work/build" check ALL_LOGS="${logs[*]}" >/dev/null 2>&1
}

# retried MOST TARGET: leaves its output in $work/out
retried()
{
	"$retry" "$1" "$work/build" "$work/build" "$2" "$work/kept" \
		>"$work/out" 2>&1
}

runs_of()
{
	wc -l <"$work/build/tests/run/$1.runs"
}

suite good:0 unlucky:1
retried 3 check
is "a test that fails once is forgiven" $? 0
is "and is named" "$(cat "$work/out")" "unstable tests/run/unlucky"
is "it was run again twice" "$(runs_of unlucky)" 3
is "a test that passed was not" "$(runs_of good)" 1
matches "the log of its failure is kept" \
	"$work/kept/tests/run/unlucky/failed.log" '^not ok 2 - second'
is "and its last result is that it passed" \
	"$(cat "$work/build/tests/run/unlucky.trs")" ":test-result: PASS 1"

suite good:0 bad:2
retried 3 check
is "a test that fails twice is not forgiven" $? 1
is "and is named" "$(cat "$work/out")" "failed again: tests/run/bad"

suite bad:3 unlucky:1
retried 3 check
is "one that is forgiven does not save another" $? 1
matches "the one" "$work/out" '^unstable tests/run/unlucky$'
matches "the other" "$work/out" '^failed again: tests/run/bad$'

suite a:1 b:1 c:1 d:1
retried 3 check
is "four failures are too many" $? 1
is "none of them is run again" "$(runs_of a)$(runs_of d)" 11
retried 4 check
is "they are not for a limit of four" $? 0

suite a:1
retried 0 check
is "none may be left" $? 1

suite good:0
retried 3 check
is "a failure that is no test's is not forgiven" $? 1

suite unlucky:1
rm "$work/build/test-suite.log"
retried 3 check
is "nor a run that did not reach its end" $? 1

suite unlucky:1
retried 3 broken
is "nor what fails without a test" $? 1

finish
