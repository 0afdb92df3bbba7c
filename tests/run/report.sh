#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# `racewatch report' on what real runs saved: one race in many runs, in every
# build mode and of a source whose lines have moved, has one fingerprint and is
# one race when the runs are merged; formats, filters, comparison, bad input.
#
# Each run halts at its first race. The target races all the time: that a run
# sees none was met once in some hundreds at a load of 30, and such a run, or one
# that saw one side only, is made again, with another seed, up to twice.

. "$(dirname "$0")/../lib.sh"

runs=3
[ -z "$LONG" ] || runs=50

mkdir "$work/reports"

# record_target NAME.VARIANT SEED: to $work/reports
record_target()
{
	record_race "$work/reports/$1.$2.jsonl" "$2" "$TARGETS_DIR/$1"
}

# races FILE...: their fingerprints by names, those of synchronization aside
races()
{
	local file

	for file; do
		records --print fingerprint "$file" type=race verdict!=sync
	done
}

variants=(O2 nopie)
side=put_left
if skip_lacking registers "many runs merged to one race of two sides"; then
	# a run that sees one side may see either: one run, and one like it
	variants=()
	one_sided=yes
	record_target global.O2 1
	side=$(records --print 'sides.*.frames.0.function' \
		"$work/reports/global.O2.1.jsonl" type=race |
		grep -o 'put_[lr][a-z]*' | sort -u | head -n 1)
	sed 's/"seed":1[0-9]*,/"seed":2,/; s/"pid":\([1-9]\)/"pid":1\1/g' \
		"$work/reports/global.O2.1.jsonl" \
		>"$work/reports/global.O2.2.jsonl"
	"$RACEWATCH" report --format json "$work/reports/global.O2.1.jsonl" \
		>"$work/O2.jsonl"
	"$RACEWATCH" report --format json "$work/reports/global.O2.2.jsonl" \
		>"$work/nopie.jsonl"
fi
for variant in "${variants[@]}"; do
	for ((seed = 1; seed <= runs; seed++)); do
		record_target "global.$variant" "$seed"
		record_target "shifted.$variant" "$seed"
	done
	files=("$work/reports/"*".$variant".*.jsonl)
	is "$variant: every run found a race" \
		"$(for file in "${files[@]}"; do
			records "$file" type=race && echo "$file"
		done | wc -l)" $((2 * runs))
	is "$variant: it has one fingerprint" \
		"$(races "${files[@]}" | sort -u | wc -l)" 1
	run report --format json -o "$work/$variant.jsonl" "${files[@]}"
	is "$variant: the runs are merged" "$status" 0 || diag_file "$work/err"
	is "$variant: to one race" "$(races "$work/$variant.jsonl" | wc -l)" 1
	is "$variant: which all runs saw" \
		"$(records --print runs "$work/$variant.jsonl" type=race)" \
		$((2 * runs))
	is "$variant: the samples are added" "$(summary samples \
		"$work/$variant.jsonl")" "$(for file in "${files[@]}"; do
			summary samples "$file"
		done | awk '{ n += $1 } END { print n }')"
done
is "build modes differ in no name" \
	"$(races "$work"/reports/*.jsonl | sort -u | wc -l)" 1

one=$work/reports/global.O2.1.jsonl
two=$work/reports/global.O2.2.jsonl

# Order does not matter, standard input is a file, merged files are merged.
"$RACEWATCH" report --format json "$one" "$two" >"$work/forward"
"$RACEWATCH" report --format json - "$one" <"$two" >"$work/backward"
"$RACEWATCH" report --format json "$work/O2.jsonl" "$work/nopie.jsonl" \
	>"$work/twice"
"$RACEWATCH" report --format json "$work"/reports/*.jsonl >"$work/all"
cmp -s "$work/forward" "$work/backward"
is "the order does not matter" $? 0
cmp -s "$work/twice" "$work/all"
is "what was merged is merged again" $? 0

# What is unlikely comes last in every format, of one run and of several.
jq -c 'def race($id; $name; $verdict): .id = $id | .verdict = $verdict |
	.variable.name = $name | .variable.symbol = $name |
	.fingerprint = "\($id)" * 32 | .fingerprint_code = "\($id)" * 32;
	if .type == "race" then race(1; "minor"; "unlikely"),
		race(2; "major"; "suspect") else . end' "$one" >"$work/ranked"
cp "$work/ranked" "$work/ranked.2"
for format in text json sarif junit html; do
	for files in "$work/ranked" "$work/ranked $work/ranked.2"; do
		# shellcheck disable=SC2086 # words
		run report --format "$format" $files
		is "$format of $(wc -w <<<"$files"): what is unlikely is last" \
			"$(grep -o 'major\|minor' "$work/out" | uniq |
				awk '!seen[$0]++' | tr '\n' ' ')" "major minor "
	done
done

# The text of a saved run is what the run printed; counts have grown since.
text()
{
	sed -n '/^WARNING/,/^  verdict/p' "$1" |
		sed 's/; \(first \)\{0,1\}seen.*//; /^  values  /d; /^  seen  /d'
}
run report "$one"
is "text: exit status" "$status" 0
is "text is what the run printed" "$(text "$work/out")" \
	"$(text "$work/reports/global.O2.1.jsonl.err")"
is "so is the summary" "$(grep '^SUMMARY' "$work/out")" \
	"$(grep '^SUMMARY' "$work/reports/global.O2.1.jsonl.err")"
run report -q "$one"
is "quiet: no summary" "$(grep -c '^SUMMARY' "$work/out")" 0
run report --format json "$one"
cp "$work/out" "$work/once"
run report --format json "$work/once"
cmp -s "$work/out" "$work/once"
is "JSON is written again as it was" $? 0
run report --color always "$one"
matches "colours" "$work/out" $'\033''\[1;31mWARNING'
run report "$one"
is "none where there is no terminal" "$(grep -c $'\033' "$work/out")" 0

# A record that lacks what makes it one is named, and the rest is read.
{
	head -n 1 "$one"
	echo '{"type":"race"}'
	echo '{"type":"race","id":{}}'
	tail -n +2 "$one"
} >"$work/malformed.jsonl"
run report "$work/malformed.jsonl"
is "a malformed record: exit status" "$status" 125
matches "it is named by file and line" "$work/err" \
	"malformed.jsonl:2: 'id' is missing; this record is left out"
matches "each of them" "$work/err" "malformed.jsonl:3: 'id' is an object"
is "the rest is read" "$(grep -c '^WARNING' "$work/out")" \
	"$(text "$work/reports/global.O2.1.jsonl.err" | grep -c '^WARNING')"
is "nothing is made up" "$(grep -c 'pid 0' "$work/out")" 0

# An output that is one of the inputs.
cp "$one" "$work/same.jsonl"
run report --format json -o "$work/same.jsonl" "$work/same.jsonl" "$two"
cmp -s "$work/same.jsonl" "$work/forward"
is "an input may be the output" $? 0

run report --filter "function=$side" "$one"
matches "a filter lets through" "$work/out" '^SUMMARY: racewatch: 1 race '
run report --filter '!function=put_*' "$one"
matches "a filter keeps back" "$work/out" '^SUMMARY: racewatch: 0 races'
for filter in function 'colour=red' 'verdict=harmless' '!' ''; do
	run report --filter "$filter" "$one"
	is "filter '$filter' is a usage error" "$status" 2
done

# heap.O2 has another race.
record_target heap.O2 1
other=$work/reports/heap.O2.1.jsonl
run report --diff "$one" "$two"
is "diff: nothing is new" "$status" 0 || diag_file "$work/out"
matches "diff: still there" "$work/out" '^racewatch: #1 known, suspect'
run report --diff "$one" "$other"
is "diff: a new race" "$status" 66
matches "diff: it is printed" "$work/out" '^WARNING: racewatch: data race #1'
matches "diff: one is gone" "$work/out" '^racewatch: #2 gone, suspect'
matches "diff: counts" "$work/out" \
	'^DIFF: racewatch: 1 new, 1 gone, 0 still there'
run report --diff --format json "$one" "$other"
is "diff as JSON" "$(records --print status "$work/out" type=race |
	tr '\n' ' ')" "new gone "
run report --diff --filter status=gone "$one" "$other"
is "diff: what the filter hides is not new" "$status" 0
run report --diff "$one"
is "diff takes two reports" "$status" 2

# Suppressions and a baseline, as a run has them.
echo "race:$side" >"$work/left.supp"
run report --suppressions "$work/left.supp" --format json "$one"
is "a suppression: exit status" "$status" 0
has "is in the record" "$work/out" type=race "suppressed.rule=race:$side"
has "and counted" "$work/out" type=summary races=0 suppressed=1
run report --suppressions "$work/left.supp" "$one" "$other"
matches "not of another race" "$work/out" '^SUMMARY: racewatch: 1 race '
run report --diff --suppressions "$work/left.supp" "$other" "$one"
is "a new race that is suppressed" "$status" 0
run report --suppressions "$work/left.supp" "$other"
matches "a suppression of no use" "$work/err" "was not needed: race:$side"
run report --baseline "$one" "$two"
is "baseline: known" "$status" 0
matches "baseline: in short" "$work/out" '^racewatch: #1 known, suspect'
run report --baseline "$one" "$two" "$other"
is "baseline: another race" "$status" 66
matches "baseline: counts" "$work/out" '^SUMMARY: .* 2 races .*1 new'
run report --baseline "$one" --filter status=known "$two" "$other"
is "baseline: the other one is filtered" "$status" 0
run report --baseline "$work/none" "$one"
is "no such baseline" "$status" 125
run report --diff --baseline "$one" "$one" "$two"
is "what is known is said once" "$status" 2
run report --suppressions "$work/none" "$one"
is "no such suppressions" "$status" 125

# Bad input: the file and the line are named; the last line may be cut short.
head -c -40 "$one" >"$work/cut"
run report "$work/cut"
is "a report cut short" "$status" 0
matches "is said to be" "$work/err" 'cut:[0-9]+: the last line is cut short'
matches "and its race is there" "$work/out" '^WARNING: racewatch: data race #1'
sed 's/"size":4/"size":[[[/' "$one" >"$work/bent"
run report "$work/bent"
is "a broken line" "$status" 125
matches "is named" "$work/err" "bent:[0-9]+: column [0-9]+: this is not JSON"
echo null >"$work/null"
run report "$work/null"
is "JSON that is no record" "$status" 125
matches "is said to be that" "$work/err" \
	'null:1: this is null, not a JSON object: it is no line of a racewatch report$'
sed 's/"schema":1/"schema":99/' "$one" >"$work/future"
run report "$work/future"
is "another version" "$status" 125
matches "is named" "$work/err" 'future:1: schema version 99 is not known'
head -c 100000 /dev/zero >"$work/zero"
run report "$work/zero"
is "a file of zeros" "$status" 125
run report "$work/nothing-there"
is "a file that is not there" "$status" 125
: >"$work/empty"
run report "$work/empty"
is "an empty file" "$status" 0
matches "is warned of" "$work/err" 'empty: there is no record'
run report
is "no file" "$status" 2

# Reports of other tools.
tsan=$top_srcdir/tests/fuzz/corpus/foreign/tsan-gcc
run report --from tsan "$tsan"
is "ThreadSanitizer's report" "$status" 0
matches "has its races" "$work/out" '^WARNING: racewatch: data race #2 '
matches "which are reported" "$work/out" \
	'evidence +reported \(tsan\), not seen by racewatch; reported once'
run report --from auto --format json --filter function=add "$tsan"
is "as JSON, filtered" "$(records --print evidence "$work/out" type=race)" \
	reported
cp "$work/out" "$work/tsan.jsonl"
run provoke "$work/tsan.jsonl#1" -- true
is "they are not provoked by their instructions" "$status" 125
matches "but by hunts" "$work/err" 'another tool has reported it: hunt --cand'
run report --diff "$work/tsan.jsonl" "$work/tsan.jsonl"
is "JSON of another tool's is read again" "$status" 0
sed 's/size 8 at 0x7b0400000000/size none/' "$tsan" >"$work/tsan.bent"
run report --from tsan "$work/tsan.bent"
is "a malformed report of another tool" "$status" 125
matches "is named" "$work/err" 'tsan.bent:[0-9]+: an access has no size'
matches "the others are there" "$work/out" '^WARNING: racewatch: data race #1 '
run report --from xml "$tsan"
is "what is no XML" "$status" 125
matches "is named, with the line" "$work/err" 'tsan-gcc:1: '
run report --from drd "$tsan"
is "a report of none of DRD's" "$status" 0
matches "is warned of" "$work/err" 'tsan-gcc: there is no report of a race'
run report --from auto "$one"
is "a report of no other tool" "$status" 125
run report --from tsan --unseen "$tsan"
is "--from with --unseen" "$status" 2

# What cannot be written.
if [ -w /dev/full ]; then
	for format in text json; do
		run report --format "$format" -o /dev/full "$one"
		is "$format: a full disk" "$status" 125
		"$RACEWATCH" report --format "$format" "$one" >/dev/full \
			2>"$work/err"
		is "$format: standard output on a full disk" $? 125
	done
else
	skip "a full disk" "no /dev/full"
fi
cp "$one" "$work/same.jsonl"
# it may end by SIGXFSZ
{
	(
		ulimit -f 1
		"$RACEWATCH" report --format json -o "$work/same.jsonl" \
			"$work/same.jsonl" "$two"
	)
} >"$work/err" 2>&1
cmp -s "$work/same.jsonl" "$one"
is "no room to write anew what was read: it is as it was" "$?" 0
run report -o "$work/no/such" "$one"
is "a folder that is not there" "$status" 125
exec 7> >(:)
wait $!
env --default-signal=PIPE "$RACEWATCH" report "$one" >&7 2>"$work/err"
is "a pipe that nobody reads" "$?$(cat "$work/err")" 141
exec 7>&-

finish
