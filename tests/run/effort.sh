#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# --effort and --overhead, by the counters of the report, not by time: what
# each preset allows, what is given in its place, and that what has not run yet
# is armed with high effort alone.

. "$(dirname "$0")/../lib.sh"

# watch OPTION...: a program with much that never runs.
watch()
{
	rm -f "$report"
	RUN_TIMEOUT=60 run run --seed 1 --error-exitcode 0 -o "$report" "$@" -- \
		"$TARGETS_DIR/verdicts.O2" 1
	[ "$status" -eq 0 ] || diag_file "$work/err"
}

# sampled OPTION...: how many samples were taken in so many $seconds
sampled()
{
	run run --seed 1 --error-exitcode 0 -o "$report" "$@" -- \
		"$TARGETS_DIR/verdicts.O2" "$seconds"
	summary samples
}

watch
is "run is of normal effort: 40 %" "$(summary budget_pct)" 40.0
watch --effort low --debug detect
is "low is 2 %" "$(summary budget_pct)" 2.0
# without a first breakpoint in that second it is not, but for long computing
nice=$(grep -E 'first breakpoint armed|nice\(10\) after [0-4]?.?.\.' "$work/err" |
	sed -n '1s/.*\] [0-9.]*: \([a-z]*\).*/\1/p')
is "nothing is nice before the first breakpoint" "${nice:-first}" first
watch --effort high
is "high is 75 %" "$(summary budget_pct)" 75.0
# the machine may stand still for all of a second
tries seconds 1 5 20
while next_try seconds; do
	few=$(sampled --effort low)
	many=$(sampled --effort high)
	[ "${many:-0}" -gt "${few:-0}" ] && break
done
if [ "${many:-0}" -gt "${few:-0}" ]; then
	ok "high samples more than low"
else
	not_ok "high samples more than low"
	diag "$many and $few"
fi
watch --effort high --overhead 5
is "--overhead goes before the preset's" "$(summary budget_pct)" 5.0
watch --effort high --rate 100
is "--rate does away with it" "$(summary budget_pct)" null
watch --overhead 0
is "no time is no sample" "$(summary hits)" 0
watch --effort high --rate 0
is "no rate is no sample" "$(summary hits)" 0

# The first threads wait until everything is armed. Where nothing is sampled,
# that is told as the start, and nothing as stalls.
run run --seed 1 --effort high --exclude '*' -o "$report" -- \
	"$TARGETS_DIR/phases.O2" 0.1
matches "the wait at the start has a name of its own" "$work/err" \
	'^SUMMARY: .* of 75 % \(start [0-9]'
is "and none of it is called stalls" \
	"$(grep -c '^SUMMARY: .*(.*stalls' "$work/err")" 0
watch --effort low
is "with low effort they do not wait" "$(summary start_pct)" 0.0

# Caught at its only execution: the write stalls before it, and the reader,
# which looks all the time, comes within those up to 4 ms. Each try misses when
# the stall drawn is shorter than the reader's round, the reader does not get
# the processor meanwhile, or the budget is spent just then: if that were one
# try in two, 24 would miss less than once in ten million times.
found()
{
	[ "$status" -eq 66 ] && grep -q "\"$1\"" "$report"
}
tries seed {1..24}
while next_try seed; do
	run run --seed "$seed" --effort high -o "$report" -- \
		"$TARGETS_DIR/once.O2" 2
	found publish && break
done
if found publish; then
	ok "high finds a race that happens once (try $seed)"
else
	not_ok "high finds a race that happens once"
	diag_file "$work/err"
fi

# What two threads do first of all: they wait until it is armed, and each
# stalls where it is first. None of 64 runs missed it, 16 of them at a load of
# 9; if one in three did, twelve would less than once in 500 000 times.
tries seed {1..12}
while next_try seed; do
	run run --seed "$seed" --effort high -o "$report" -- \
		"$TARGETS_DIR/startup.O2" 0.2
	found table_make && break
done
if found table_make; then
	ok "high finds a race at the first steps of the threads (try $seed)"
else
	not_ok "high finds a race at the first steps of the threads"
	diag_file "$work/err"
fi
# waits OPTION...: do the first threads wait?
waits() {
	run run "$@" --debug target --error-exitcode 0 -- \
		"$TARGETS_DIR/startup.O2" 0.1
	grep -c 'the first threads waited' "$work/err"
}
is "low: the first threads do not wait" "$(waits --effort low)" 0
is "the default: they do" "$(waits)" 1
is "high: they do" "$(waits --effort high)" 1
is "with a rate they do not" "$(waits --rate 100)" 0

run run --overhead 101 -- /bin/true
is "more than all of the time is a usage error" "$status" 2
run run --effort more -- /bin/true
is "another word is one too" "$status" 2

finish
