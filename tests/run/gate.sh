#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The gate for continuous integration (contrib/ci/racewatch-gate) in each of
# its situations, and what it is made of: baselines and suppressions.
#
# Where a race must be met the program has half a minute and is ended at the
# first one, or one or two seconds and then more where the race is one that ends
# nothing: on a machine of two processors with twenty busy threads no run of two
# seconds was seen without it but one.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR
export RACEWATCH
base=$work/races.base
new=$work/new.supp

# gate WANTED DESCRIPTION ARG...; up to three times where no sample was taken
gate()
{
	local wanted=$1 what=$2

	shift 2
	tries try 1 2 3
	while next_try try; do
		timeout -k 5 60 "$top_srcdir/contrib/ci/racewatch-gate" \
			-o "$report" -x --seed -x 1 "$@" \
			>"$work/out" 2>"$work/err" </dev/null
		status=$?
		[ "$status" -ne 65 ] && break
		[ "$wanted" -eq 65 ] && break
	done
	is "gate: $what: $wanted" "$status" "$wanted" || diag_file "$work/err"
}

racy=(-- "$T/read_write.O2" 1) # whether it is met or not
halt=(--halt-on-race -- "$T/read_write.O2" 30)
gate 10 "a new race" -x --halt-on-race -- "$T/read_write.O2" 30
run run --seed 1 --baseline "$base" --update-baseline "${halt[@]}"
is "a race new to the baseline: 66" "$status" 66 || diag_file "$work/err"
# Where registers do not trap, one side of a race may be met at first, and the
# other side alone when it is met again: another race for baselines.
skip_lacking registers "gate: a race in the baseline" || {
	gate 0 "a race in the baseline" -b "$base" "${racy[@]}"
	gate 0 "the same race without symbols" -b "$base" -- \
		"$T/read_write.stripped" 2
}
gate 10 "another race than that of the baseline" -b "$base" \
	-x --halt-on-race -- "$T/global.O2" 30
# its one variable is special, so that all its races are unlikely
unlikely=(-x --special-variable -x count)
gate 10 "a new race, though unlikely" "${unlikely[@]}" -x --halt-on-race -- \
	"$T/verdicts.O2" 30 ticket
gate 0 "--ignore-unlikely" "${unlikely[@]}" --ignore-unlikely -- \
	"$T/verdicts.O2" 2 ticket
gate 12 "there is no such option" --ignore-likely "${racy[@]}"
gate 65 "no samples" -x --rate -x 0 -- "$T/single.O2" 0.2
gate 65 "too few samples" -m 1000000 -- "$T/free_atomic.O2" 0.5
gate 12 "racewatch fails: no such baseline" -b "$work/none" "${racy[@]}"
echo 'racee:x' >"$work/bad.supp"
gate 12 "racewatch fails: bad suppressions" -s "$work/bad.supp" "${racy[@]}"
gate 12 "racewatch is used wrongly" -x --no-such-option "${racy[@]}"
gate 12 "the report cannot be written" -o "$work/none/such" "${racy[@]}"
RACEWATCH=$work/none gate 12 "there is no racewatch" "${racy[@]}"
gate 13 "the test fails" -m 0 -- "$T/exit_hot.O2" 0.3
gate 13 "the test exits with a status of racewatch's" -m 0 -- \
	sh -c 'exit 66'
gate 13 "the test is not there" -- "$work/none"

# A ready suppression silences its race, also where there are no symbols.
run run --seed 1 --gen-suppressions "$new" "${halt[@]}"
is "the race whose suppression is written" "$status" 66
ready_suppression()
{
	tries seconds 1 8 20
	while next_try seconds; do
		run run --seed 1 --suppressions "$new" -o "$report" -- \
			"$T/read_write.O2" "$seconds"
		grep -q '1 suppressed' "$work/err" && break
	done
	is "suppressed by what was written for it: 0" "$status" 0 ||
		diag_file "$work/err"
	matches "and counted" "$work/err" '^SUMMARY: .*0 races .*1 suppressed'
	if grep -q WARNING "$work/err"; then
		not_ok "and not shown"
	else
		ok "and not shown"
	fi
	has "and kept in the report with its rule" "$report" type=race \
		'suppressed.rule=race_top:^[gs]et_level$ *' \
		'suppressed.file=*new.supp'
	has "the report says that none is new" "$report" type=summary \
		new=0 suppressed=1
	tries seconds 1 8 20
	while next_try seconds; do
		run run --seed 1 --suppressions "$new" --show all -- \
			"$T/read_write.O2" "$seconds"
		grep -q '^WARNING' "$work/err" && break
	done
	matches "--show all shows it" "$work/err" '^WARNING: racewatch: data race #1'
	is "and does not fail" "$status" 0
	run run --seed 1 --suppressions "$new" -- "$T/read_write.stripped" 2
	is "suppressed without symbols, by build-id and offset: 0" "$status" 0 ||
		diag_file "$work/err"
}
skip_lacking registers "suppressed by what was written for it" ||
	! in_turn 2 "suppressed by what was written for it" ||
	ready_suppression
rm -f "$new"
run run --seed 1 --gen-suppressions "$new" --halt-on-race -- \
	"$T/read_write.stripped" 30
matches "written without symbols" "$new" '^code:[0-9a-f]{40}\+0x'
if ! skip_lacking registers "suppresses with symbols too"; then
	run run --seed 1 --suppressions "$new" "${racy[@]}"
	is "suppresses with symbols too: 0" "$status" 0 ||
		diag_file "$work/err"
fi

# What is of no use, or has expired, is listed.
cat >"$work/old.supp" <<'END'
race:nobody_at_all
deadlock:anybody
race_top:^set_level$
expires:2020-02-29
END
run run --seed 1 --suppressions "$work/old.supp" "${halt[@]}"
is "an expired suppression does not apply: 66" "$status" 66
# its function may be the side that left no trace
would=', and would have'
lacks registers && would=
matches "it is listed" "$work/err" \
	"old.supp:3: the suppression expired on 2020-02-29$would"
matches "so is one of no use" "$work/err" \
	'old.supp:1: the suppression was not needed: race:nobody_at_all'
run run -q --seed 1 --suppressions "$work/old.supp" "${racy[@]}"
if grep -q supp "$work/err"; then
	not_ok "not with -q"
	diag_file "$work/err"
else
	ok "not with -q"
fi
run run -v --seed 1 --suppressions "$work/old.supp" -- /bin/true
matches "-v tells what is passed over" "$work/err" 'old.supp:2: deadlock:'

# A known race stops taking samples. Without a baseline this one is met at about
# every second sample; each of its two instructions is given up after three,
# or a few more that were under way.
count_of()
{
	records --print count "$report" type=race | tail -n 1
}
known_stops()
{
	local length plain known

	# On a loaded machine it takes longer to meet it that often.
	tries length 1.5 6 12 24
	while next_try length; do
		run run --seed 1 -o "$report" -- "$T/struct_field.O2" "$length"
		plain=$(count_of)
		[ "${plain:-0}" -le 24 ] || break
	done
	cp "$report" "$work/field"
	run run --seed 1 -o "$report" --baseline "$work/field" -- \
		"$T/struct_field.O2" "$length"
	known=$(count_of)
	diag "met $plain times, $known times when known"
	if [ "${known:-99}" -le 12 ] && [ "${plain:-0}" -gt 24 ]; then
		ok "a known race stops taking samples"
	else
		not_ok "a known race stops taking samples"
	fi
}
skip_lacking registers "a known race stops taking samples" ||
	! in_turn 2 "a known race stops taking samples" || known_stops

# The update keeps what was not seen this time.
cp "$base" "$work/before"
run run --seed 1 --baseline "$base" --update-baseline --halt-on-race -- \
	"$T/global.O2" 30
cmp -s <(head -n 2 "$base") "$work/before"
is "an update keeps the old races as they were" "$?" 0
skip_lacking registers "gate: both are known now" || {
	gate 0 "both are known now" -b "$base" "${racy[@]}"
	gate 0 "both are known now (2)" -b "$base" -- "$T/global.O2" 2
}

# Bad input: told before the program is started, and it is not.
bad()
{
	local what=$1 wanted=$2 regex=$3

	shift 3
	rm -f "$work/touched"
	run run "$@" -- touch "$work/touched"
	is "$what: $wanted" "$status" "$wanted" || diag_file "$work/err"
	matches "$what: message" "$work/err" "$regex"
	if [ -e "$work/touched" ]; then
		not_ok "$what: the program is not started"
	else
		ok "$what: the program is not started"
	fi
}
bad "bad suppressions" 125 'bad.supp:1: not KIND:PATTERN' \
	--suppressions "$work/bad.supp"
bad "no suppressions" 125 'none' --suppressions "$work/none"
bad "suppressions without end" 125 '/dev/zero' --suppressions /dev/zero
bad "a directory" 125 'directory' --suppressions "$work"
# it must not begin with a brace by chance
{ printf x; head -c 29 /dev/urandom; } >"$work/noise"
bad "noise for a baseline" 125 'noise' --baseline "$work/noise" \
	--baseline "$base"
printf '{"type":"race","sides":7}\n{}\n' >"$work/odd"
bad "a hostile baseline" 125 'odd:1: ' --baseline "$work/odd"
bad "no baseline" 125 'none' --baseline "$work/none"
bad "--update-baseline alone" 2 'baseline' --update-baseline
bad "--update-baseline of two" 2 'baseline' --update-baseline \
	--baseline "$base" --baseline "$base"
bad "suppressions that cannot be written" 125 'none/such' \
	--gen-suppressions "$work/none/such"

# A full disk: the program runs on to its end, the old baseline stays.
tries seconds 1 5 30
while next_try seconds; do
	run run --seed 1 --gen-suppressions /dev/full -- \
		"$T/read_write.O2" "$seconds"
	[ "$status" -eq 0 ] || break
done
is "no room for suppressions: 125" "$status" 125 || diag_file "$work/err"
matches "the program has come to its end" "$work/out" '^read_write: done$'
mkdir "$work/ro"
cp "$base" "$work/ro/base"
if chmod 555 "$work/ro" && ! touch "$work/ro/x" 2>/dev/null; then
	run run --seed 1 --baseline "$work/ro/base" --update-baseline -- \
		"$T/struct_field.O2" 1
	is "the baseline cannot be replaced: 125" "$status" 125
	cmp -s "$base" "$work/ro/base"
	is "and stays as it was" "$?" 0
else
	rm -f "$work/ro/x"
	# root writes anywhere but here
	run run --seed 1 --baseline /proc/version_is_no_folder/base \
		--update-baseline -- "$T/struct_field.O2" 1
	is "the baseline cannot be written: 125" "$status" 125
	matches "and that is said" "$work/err" 'baseline was not written'
fi
chmod 755 "$work/ro"

finish
