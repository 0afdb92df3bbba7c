#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What is said where nothing was sampled: each reason has its own words.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR

# because DESCRIPTION REGEX OPTION...: the warning, and the summary with it
because()
{
	local what=$1 why=$2

	shift 2
	run run --seed 1 -o "$report" "$@"
	matches "$what" "$work/err" "^racewatch: warning: .*: $why" ||
		diag_file "$work/err"
}

# matching DESCRIPTION REGEX OPTION... -- COMMAND...: as because, of a warning that
# comes when libc has been read, of which the patterns may name a function. The
# command gets a number of seconds. False if it is not its turn.
matching()
{
	local what=$1 why=$2 seconds

	in_turn 3 "$what" || return 1
	shift 2
	tries seconds 1 8 40
	while next_try seconds; do
		run run --seed 1 -o "$report" "$@" "$seconds"
		grep -Eq "^racewatch: warning: $why" "$work/err" && break
	done
	matches "$what" "$work/err" "^racewatch: warning: $why"
	return 0
}

nothing()
{
	matches "$1: it proves nothing" "$work/err" \
		'^SUMMARY: racewatch: 0 races, this run proves nothing: '
	is "$1: so says the report" "$(summary proves_nothing)" true
}

because "children of a shell" \
	'the program had one thread, and 2 child processes ran unwatched: --follow all ' \
	--follow none -- sh -c "$T/phases.O2 0.1; $T/phases.O2 0.1; true"
nothing "children"
is "they are counted in the report" "$(summary unwatched)" 2
because "also of one that is forked and stays the same program" \
	'.* 1 child process ran unwatched' --follow none -- sh -c '(:); true'
because "where forked ones are followed, those that become others" \
	'.* 2 child processes ran unwatched: --follow all .*whatever they run' \
	--follow fork -- sh -c "$T/phases.O2 0.1; $T/phases.O2 0.1; true"
printf 'all:\n\t@%s 0.1; true\n\t@%s 0.1; true\n' "$T/phases.O2" \
	"$T/phases.O2" >"$work/makefile"
because "children of make" '.*, and [24] child processes ran unwatched' \
	--follow none -- make -s -f "$work/makefile"
tries seconds 2 10 40
while next_try seconds; do
	run run --seed 1 -o "$report" -- sh -c "$T/phases.O2 $seconds; true"
	[ "$(summary samples_own)" -gt 0 ] && break
done
is "watched, none is missing" "$(summary unwatched)" 0
if grep -q 'were taken:' "$work/err"; then
	not_ok "and there is nothing to explain"
else
	ok "and there is nothing to explain"
fi

because "everything excluded" "--exclude '\*' leaves nothing" \
	--exclude '*' -- "$T/phases.O2" 0.5
nothing "everything excluded"
because "the program excluded" "--exclude 'phases\*' leaves nothing" \
	--exclude 'phases*' -- "$T/phases.O2" 0.5
matching "nothing left, and nothing brought back" \
	".*: --exclude '\*' leaves nothing of the program's own modules, and --include 'nosuch\*' matches nothing" \
	--exclude '*' --include 'nosuch*' -- "$T/phases.O2" &&
	is "so that nothing is sampled" "$(summary samples)" 0
# --include adds to the defaults: what else is sampled does not depend on it
matching "one that adds nothing" \
	"--include 'nosuch\*' has no effect: .*; the rest is sampled as without it" \
	--include 'nosuch*' -- "$T/phases.O2"
is "the rest is there" \
	"$("$RACEWATCH" sites --include 'nosuch*' "$T/phases.O2")" \
	"$("$RACEWATCH" sites "$T/phases.O2")"
matching "a pattern that matches nothing" \
	"--include 'nosuch\*' has no effect" \
	--include 'nosuch*' --exclude early_count -- "$T/phases.O2" &&
	is "the one that matches is not named" \
	"$(grep -c "exclude 'early_count'" "$work/err")" 0

because "no rate" '--rate 0 allows none' --rate 0 -- "$T/phases.O2" 0.3
nothing "no rate"
because "no time to lose" '--overhead 0 allows none' --overhead 0 -- \
	"$T/phases.O2" 0.3
# a loaded machine may not get to ask for any in the time
tries seconds 0.5 4 30
while next_try seconds; do
	run run --seed 1 -o "$report" --overhead 0.0001 -- "$T/phases.O2" \
		"$seconds"
	grep -q 'before a breakpoint was set' "$work/err" || break
done
matches "too little to lose" "$work/err" \
	'^racewatch: warning: .*: --overhead 0.0001 allowed none' ||
	diag_file "$work/err"
"$T/phases.O2" 30 >/dev/null &
pid=$!
lib_started "$pid"
run attach --rate 0 --duration 0.2s "$pid"
matches "attach without a rate" "$work/err" \
	'warning: no samples were taken: --rate 0 allows none'
is "attach: status" "$status" 0
run attach --rate 0 --min-samples 1 --duration 0.2s "$pid"
is "attach: a floor" "$status" 65
matches "which is named" "$work/err" \
	'warning: 0 samples of .* had a stall: --min-samples asks for 1'
kill "$pid"

because "one thread" 'the program had one thread, so that nothing could race' \
	-- "$T/single.O2" 0.3
if grep -q 'proves nothing' "$work/err"; then
	not_ok "where nothing can race nothing is to be proved"
else
	ok "where nothing can race nothing is to be proved"
fi
run sweep --quiet -d "$work/sweep" --runs 2 -- "$T/single.O2" 0.2
is "a sweep that saw nothing of the program's own: 65" "$status" 65

# sweep_because DESCRIPTION WORD REGEX OPTION... -- COMMAND...: the sweep of two
# runs says the reason once, with their number, and each run's report has it.
sweep_because()
{
	local what=$1 word=$2 why=$3 dir

	in_turn 3 "sweep, $what" || return 0
	shift 3
	dir=$work/sweep-$word
	run sweep -d "$dir" --runs 2 "$@"
	is "sweep, $what: the reason is said once" "$(grep -c \
		"^  2 of 2 runs took no sample of the program's own modules: $why" \
		"$work/err")" 1 || diag_file "$work/err"
	is "sweep, $what: in its JSON" \
		"$(records --count "$dir/sweep.json" unsampled.0.reason="$word" \
			unsampled.0.runs=2)" 1
	has "sweep, $what: in the report of a run" \
		"$dir/run-000001/report.jsonl" unsampled_reason="$word"
}

sweep_because "children" children \
	'the program had one thread, and 2 child processes ran unwatched: --follow all' \
	--follow none -- sh -c "$T/phases.O2 0.1; $T/phases.O2 0.1; true"
sweep_because "everything excluded" excluded "--exclude '\*' leaves nothing" \
	--exclude '*' -- "$T/phases.O2" 0.5
sweep_because "one thread" one-thread 'the program had one thread, so that' \
	-- "$T/single.O2" 0.3

# Threads that call a library, which alone is sampled: nothing is proved, however
# many samples there are.
calls=(-- "$T/strings.O2")

# library_only WHAT REPORT
library_only()
{
	has "$1: a library was sampled" "$2" type=summary samples_stalled!=0
	has "$1: nothing else was" "$2" type=summary samples_own=0
	has "$1: there were other threads" "$2" type=summary threads=[0-9]* \
		threads!=[01]
	has "$1: nothing is proved" "$2" type=summary proves_nothing=true
}

library_run()
{
	tries seconds 2 10 40
	while next_try seconds; do
		run run --seed 1 -o "$report" --exclude strings.O2 \
			"${calls[@]}" "$seconds" strlen
		[ "$(summary samples_stalled)" = 0 ] || break
	done
	is "a library: the status is the program's" "$status" 0
	library_only "a library" "$report"
	matches "a library: the summary has its samples, and what they prove" \
		"$work/err" \
		"^SUMMARY: racewatch: 0 races, this run proves nothing: \
[1-9][0-9 ]* samples? .* of 0 own and [1-9]"
}
library_swept()
{
	local dir=$work/sweep-library

	tries seconds 2 10 40
	while next_try seconds; do
		rm -rf "$dir"
		run sweep -d "$dir" --runs 1 --exclude strings.O2 \
			"${calls[@]}" "$seconds" strlen
		[ "$(summary samples_stalled "$dir/report.jsonl")" = 0 ] ||
			break
	done
	is "a library, swept: 65" "$status" 65 || diag_file "$work/err"
	library_only "a library, swept" "$dir/run-000001/report.jsonl"
}
library_at_gate()
{
	tries seconds 2 10 40
	while next_try seconds; do
		RACEWATCH=$RACEWATCH "$top_srcdir/contrib/ci/racewatch-gate" \
			-o "$report" -x --seed -x 1 -x --exclude -x strings.O2 \
			"${calls[@]}" "$seconds" strlen \
			>"$work/out" 2>"$work/err" </dev/null
		status=$?
		[ "$(summary samples_stalled)" = 0 ] || break
	done
	is "a library, at the gate: 65" "$status" 65 || diag_file "$work/err"
	library_only "a library, at the gate" "$report"
}
! in_turn 3 "a library" || library_run
! in_turn 3 "a library, swept" || library_swept
! in_turn 3 "a library, at the gate" || library_at_gate

run sweep -d "$work/sweep-at" --runs 2 --at no_such --at global.c:1 -- \
	"$T/single.O2" 0.2
for where in no_such 'global\.c:1'; do
	is "sweep: what --at $where did not match is named once" "$(grep -c \
		"^  2 of 2 runs matched nothing with --at $where: " \
		"$work/err")" 1 || diag_file "$work/err"
done

# long enough to read libc, of which the patterns may name a function
tries seconds 1 8 40
while next_try seconds; do
	rm -rf "$work/sweep-patterns"
	run sweep -d "$work/sweep-patterns" --runs 1 --include 'nosuch*' \
		--exclude 'gone*' --exclude early_count \
		--source-dir "$work/gone" -- "$T/phases.O2" "$seconds"
	grep -q 'matched nothing' "$work/err" && break
done
for pattern in "include 'nosuch\*'" "exclude 'gone\*'"; do
	is "sweep: --$pattern matches nothing, which is said once" \
		"$(grep -c "^  1 of 1 run matched nothing with --$pattern\$" \
			"$work/err")" 1 || diag_file "$work/err"
done
is "sweep: one that matches is not named" "$(grep -c "exclude 'early_count'" "$work/err")" 0
is "sweep: so say the reports of its runs" "$(tail -n 1 \
	"$work/sweep-patterns/run-000001/report.jsonl" |
	jq -c '[.patterns_unmatched[].pattern] | sort')" '["gone*","nosuch*"]'
matches "sweep: a directory of sources that is not there" "$work/err" \
	"^racewatch: warning: --source-dir $work/gone: No such file"
for command in run sweep sites; do
	run "$command" --include '' "$T/single.O2"
	is "$command: an empty pattern is refused" "$status" 2
	matches "$command: by its option" "$work/err" \
		"--include: '': an empty pattern matches nothing"
done

because "no instruction of its own that can be sampled" \
	"the program's own modules have no instruction that can be sampled: racewatch sites" \
	-- "$T/no_sites.O2"
nothing "no instruction"

# Two fifths of its time, measured on an idle machine, in made code.
generated='^racewatch: warning: [1-9][0-9]* % of the time was in code generated'
if "$HELPERS_DIR/../unit/test_cpuclock" 2>&1 | grep -qi 'skipped'; then
	skip "time in generated code" "perf events are refused"
elif in_turn 2 "time in generated code"; then
	tries seconds 3 15 60
	while next_try seconds; do
		run run --seed 1 -o "$report" -- "$T/jit.O2" "$seconds"
		# stalls of the value back-end are many, and so is the spread
		lacks registers && ! grep -Eq "$generated" "$work/err" &&
			continue
		[ "$(summary looks)" -ge 20 ] && break
	done
	matches "time in generated code is told" "$work/err" "$generated"
	run run --seed 1 -o "$report" -- "$T/phases.O2" 1
	is "where there is none nothing is measured" "$(summary looks)" 0
	if command -v node >/dev/null; then
		run run --seed 1 -o "$report" -- node -e \
			'let s = 0; for (let i = 0; i < 1e9; i++) s += i & 3'
		matches "Node" "$work/err" "$generated"
	fi
fi

finish
