#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What test scripts rely on: records of JSON that meet conditions
# (tests/helpers/select.h), checks that take turns, what is told of tries and how
# many may be late ones (tests/lib.sh, lib-tries.sh), what tests took
# (tests/helpers/durations), and the check of `make lint' that no script searches
# JSON by a pattern. tests/run/tries.sh has the loops themselves.

. "$(dirname "$0")/../lib.sh"

sources=$(realpath "$top_srcdir")

# --- records

cat >"$work/json" <<'END'
{"type":"run","modules":[],"seed":7}
{"type":"race","id":1,"variable":{"name":null},
 "sides":[{"role":"stalled","frames":[{"function":"put"}]},{"role":"unknown"}]}
{"type":"race","id":2,"a.b":1.5,"known":true,"text":"a b"}
no JSON, and {
{"type":"summ
END
# of DESCRIPTION IDS CONDITION...: the races that meet these
of()
{
	is "$1" "$(records --print id "$work/json" "${@:3}" | tr '\n' ' ')" "$2"
}
of "a string" "1 2 " type=race
of "a pattern" "1 2 " type=r*e
of "a number" "2 " id=2
of "all conditions" "" id=2 type=run
of "null is a value" "1 " variable.name=null
of "true is one" "2 " known=true
of "an index" "1 " sides.0.role=stalled
of "another index" "" sides.1.role=stalled
of "any member" "1 " sides.*.role=unknown
of "deeper" "1 " sides.*.frames.*.function=put
of "not equal" "2 " type=race id!=1
of "nothing there is not equal" "2 " type=race sides!=*
of "an empty list is a value" "- " modules=*
of "which has no member" "- " type=run modules.0!=*
is "a number of records" "$(records --count "$work/json" type=race)" 2
is "none" "$(records --count "$work/json" type=crash; echo $?)" "0
1"
is "no file" "$(records --count "$work/none" type=race; echo $?)" "0
1"
is "several values, and one that is not there" \
	"$(records --print 'sides.*.role text id' "$work/json" type=race)" \
	"stalled,unknown - 1
- a b 2"
records "$work/json" nothing 2>"$work/err"
is "no condition: 2" $? 2

# --- turns

# scripted TURN: the script on standard input, below the library, in that turn;
# what it prints is in $work/said, and its exit status in $status
mkdir -p "$work/tests/run"
scripted()
{
	{
		echo ". '$sources/tests/lib.sh'"
		cat
	} >"$work/tests/run/${fake:=fake.sh}"
	RACEWATCH_TEST_LONG='' RACEWATCH_TEST_TURN=$1 \
		bash "$work/tests/run/$fake" >"$work/said" 2>"$work/err" \
		</dev/null
	status=$?
	[ ! -s "$work/err" ] || diag_file "$work/err"
}

# shellcheck disable=SC2016 # expanded by the script
turns='for i in 1 2 3 4 5 6 7; do
	in_turn 3 "check $i" && made=${made:-}$i
done
echo "made $made"
finish'
made=
for turn in 0 1 2; do
	scripted "$turn" <<<"$turns"
	made+=$(sed -n 's/^made //p' "$work/said" | sed 's/./&\n/g')$'\n'
	matches "turn $turn: what is left out is counted" "$work/said" \
		"^# left out in turn $turn: [45] of 7 checks"
done
is "three turns make each check once" \
	"$(grep . <<<"$made" | sort | tr '\n' ' ')" "1 2 3 4 5 6 7 "
matches "what is left out is named" "$work/said" \
	'^# left out in turn 2: check [1-7]$'
scripted all <<<"$turns"
is "all are made when that is asked for" "$(grep -v took "$work/said" | tr '\n' ' ')" \
	"made 1234567 1..0 "

# --- tries

# loops LATER COUNT: a script with that many loops, of which some need two tries
loops()
{
	scripted all <<END
for ((i = 0; i < $2; i++)); do
	tries seconds 1 5 9
	while next_try seconds; do
		[ "\$i" -ge $1 ] || [ "\$seconds" = 5 ] || continue
		break
	done
	ok "loop \$i"
done
finish
END
}
loops 1 3
is "some later tries are chance" "$status" 0
matches "the try, its value and its time are told" "$work/said" \
	'^# fake.sh:3: try 2 of 3, seconds 5, took [0-9]+ ms$'
is "of each loop" "$(grep -c '^# fake.sh:3: try 1 of 3, seconds 1, took' \
	"$work/said")" 2
matches "and their number" "$work/said" \
	'^ok 4 - of 3 loops, 1 needed a later try; 3 may$'
# of 30 with a probability of a fifth: more than 18 once in 1.4 million runs
loops 18 30
is "as many as chance explains" "$status" 0
matches "which is told" "$work/said" \
	'^ok 31 - of 30 loops, 18 needed a later try; 18 may$'
loops 19 30
is "one more is a failure" "$status" 1
matches "which is told too" "$work/said" \
	'^not ok 31 - of 30 loops, 19 needed a later try; 18 may$'
is "scripts that are slower by nature say so" "$(awk -F'\t' '
	NF > 3 && ($4 <= 0.2 || $4 > 1)' "$sources/tests/chance.tab")" ""

# --- what tests took

mkdir -p "$work/build/tests/run"
for i in 1 2 3; do
	cat >"$work/build/tests/run/t$i.log" <<-END
	ok 1 - it
	# left out in turn 4: 2 of 5 checks (RACEWATCH_TEST_TURN=all)
	# took ${i}500 ms; processor: 0m0.010s 0m0.020s 1m0.5s 0m0.47s
	END
done
"$sources/tests/helpers/durations" "$work/build" 2 >"$work/said"
is "the longest tests come first, and the sums last" \
	"$(tr -s ' ' <"$work/said")" " real processor test
 3.5 s 61.0 s tests/run/t3
 2.5 s 61.0 s tests/run/t2
 7.5 s 183.0 s all 3 tests
left out in this turn: 6 of the 15 checks of tests that take turns"

# --- lint

lint=$work/lint
mkdir -p "$lint/contrib/lint" "$lint/tests/run" "$lint/tests/fault"
cp "$sources"/contrib/lint/{lib.sh,check-json} "$lint/contrib/lint"
cp "$sources"/tests/lib.sh "$lint/tests"
# linted DESCRIPTION WANTED: of the script on standard input
linted()
{
	cat >"$lint/tests/run/a.sh"
	cp "$lint/tests/run/a.sh" "$lint/tests/fault/b.sh"
	(cd "$lint" && contrib/lint/check-json) >"$work/said" 2>&1
	is "lint: $1" "$?" "$2" || diag_file "$work/said"
}
# The keys are put in here, for this script is checked too.
key='"type"'
linted "a script without JSON" 0 <<<'grep -q it file'
linted "a key is searched for" 1 <<<"grep -q '$key: *x' file"
matches "the place is named" "$work/said" 'tests/run/a.sh:1: '
linted "a key in quotes" 1 <<<"grep -q \"${key//\"/\\\"}:x\" file"
linted "in the next line" 1 <<<"matches \"it\" file \\
	'$key:x'"
linted "by sed" 1 <<<"sed -n 's/.*$key:x/y/p' file"
linted "JSON is written, and bent" 0 <<<"echo '{$key:1}' >file
sed 's/$key:1/$key:2/' file
cat >file <<'END'
grep {$key:1}
END"

finish
