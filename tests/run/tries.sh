#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Loops that try again (tests/lib-tries.sh): the values they take, what is told
# of them, and what bench/chance makes of that. A script whose tries fail as
# often as it says takes the place of chance.

. "$(dirname "$0")/../lib.sh"

sources=$(realpath "$top_srcdir")
fake=$work/tests/run/fake.sh
log=$work/log
mkdir -p "$work/tests/run"

# scripted: the script on standard input, below the library, with $1 in the
# log; what it prints is in $work/said
scripted()
{
	{
		echo ". '$sources/tests/lib.sh'"
		cat
	} >"$fake"
	rm -f "$log"
	RACEWATCH_TEST_TRIES=${1-$log} bash "$fake" >"$work/said" \
		2>"$work/err" </dev/null
	is "the script ends well" "$?" 0 || diag_file "$work/err"
}

# told: the lines of the log, with loops numbered as they come
told()
{
	awk '{ if (!($1 in n)) n[$1] = ++loops; $1 = n[$1]; print }' "$log"
}

# --- one loop at a time

# fails COUNT: a loop of three that fails so often
# shellcheck disable=SC2016 # expanded by the script
three='fails()
{
	local left=$1 seconds

	tries seconds 2 10 40
	while next_try seconds; do
		((left-- > 0)) || break
	done
	echo "$1: $seconds"
}
'
scripted <<END
$three
for count in 0 1 2 3; do
	fails "\$count"
done
END
is "a loop has each value, and stays at the last one" \
	"$(cat "$work/said")" "0: 2
1: 10
2: 40
3: 40"
is "it tells of each try, and that none was of use" "$(told)" \
	"1 tests/run/fake.sh fake.sh:6 1 2 10 40
2 tests/run/fake.sh fake.sh:6 1 2 10 40
2 tests/run/fake.sh fake.sh:6 2 2 10 40
3 tests/run/fake.sh fake.sh:6 1 2 10 40
3 tests/run/fake.sh fake.sh:6 2 2 10 40
3 tests/run/fake.sh fake.sh:6 3 2 10 40
4 tests/run/fake.sh fake.sh:6 1 2 10 40
4 tests/run/fake.sh fake.sh:6 2 2 10 40
4 tests/run/fake.sh fake.sh:6 3 2 10 40
4 tests/run/fake.sh fake.sh:6 4 2 10 40"
cp "$log" "$work/three"

scripted "" <<END
$three
fails 1
END
is "unasked, it does the same" "$(cat "$work/said")" "1: 10"
[ ! -e "$log" ]
is "and tells nothing" "$?" 0

scripted <<'END'
tries seed 7 1007 2007
while next_try seed; do :; done
tries seconds 5
while next_try seconds; do :; done
END
is "seeds are no lengths, and one try is no loop" "$(told | tail -n 1)" \
	"1 tests/run/fake.sh fake.sh:2 4 1 1 1"

# --- one inside another

scripted <<'END'
inner()
{
	local seconds

	tries seconds 1 2 4
	while next_try seconds; do
		[ "$seconds" -lt 2 ] || break
	done
	echo "inner $seconds"
}
tries seconds 10 20
while next_try seconds; do
	inner
	tries rounds x3 x30
	while next_try rounds; do
		echo "outer $seconds $rounds"
		[ "$rounds" = x3 ] || break
	done
	(inner)
	[ "$seconds" -lt 20 ] || break
done
echo "$seconds"
END
is "loops inside others, in functions and subshells" \
	"$(tr '\n' ',' <"$work/said")" "inner 2,outer 10 x3,outer 10 x30,inner 2,inner 2,outer 20 x3,outer 20 x30,inner 2,20,"
is "each has its own tries" "$(told | cut -d' ' -f1,3- | sort -n)" \
	"1 fake.sh:12 1 10 20
1 fake.sh:12 2 10 20
2 fake.sh:6 1 1 2 4
2 fake.sh:6 2 1 2 4
3 fake.sh:15 1 x3 x30
3 fake.sh:15 2 x3 x30
4 fake.sh:6 1 1 2 4
4 fake.sh:6 2 1 2 4
5 fake.sh:6 1 1 2 4
5 fake.sh:6 2 1 2 4
6 fake.sh:15 1 x3 x30
6 fake.sh:15 2 x3 x30
7 fake.sh:6 1 1 2 4
7 fake.sh:6 2 1 2 4"

# --- of what was told, the table

summed()
{
	awk -v had="$1" -f "$sources/bench/tries.awk" "${@:2}"
}

# told loops 2nd 3rd most worth
is "a run of no loop" "$(summed "" /dev/null)" "1 0 0 0 - -"
is "a loop that failed" "$(summed "" "$work/three")" "1 4 3 2 4/3 26"
head -n 3 "$work/three" >"$work/two"
is "one that did not" "$(summed "" "$work/two")" "1 2 1 0 2/3 26"
is "what was there is added to" \
	"$(summed "1 2 1 0 2/3 26" "$work/three")" "2 6 4 2 4/3 26"
cat >"$work/mixed" <<'END'
9.1 t a:1 1 300ms 3s
9.1 t a:1 2 300ms 3s
9.1 t a:1 1 300ms 3s
9.2 t a:2 1 x3 x30 x300
9.2 t a:2 2 x3 x30 x300
9.3 t a:3 1 1 1 1 1
END
is "units, and a name that comes again" "$(summed "3 50 0 0 1/3 26" \
	"$work/mixed")" "4 54 2 0 2/2 4"

# The old table has no such columns; what it has is kept.
cat >"$work/store" <<'END'
The tests that depend on chance

2026-11-25, a machine: 3 runs, 0 failed

test                            runs  failed  seconds  below, 95 %  derived
tests/run/at.sh                    2       1       35       97.5 %        -
tests/run/crash.sh not run                                     -
END
# table WHAT: written anew; the first test's line is in $work/row
table()
{
	"$sources/bench/chance" --minutes 0 --store "$work/store" \
		>"$work/out" 2>"$work/err"
	is "$1: the table is written" "$?" 0 || diag_file "$work/err"
	grep '^tests/run/at.sh' "$work/store" | tr -s ' ' >"$work/row"
}
table "an old table"
matches "its counts are kept, and no tries are known" "$work/row" \
	'^tests/run/at.sh 2 1 35 97.5 % - 0 0 0 0 - - -$'
matches "and so are its sessions" "$work/store" '^2026-11-25, a machine: 3 runs'
# Of 62 first tries two failed: with 95 % the probability is less than 9.8 %; of
# the 31 loops of a run one fails with less than 31 * 0.098 ^ 3.
sed -i 's|^tests/run/at.sh.*|tests/run/at.sh 2 0 35 77.6 % - 2 62 2 0 2/3 3 1|' \
	"$work/store"
for time in first second; do
	table "the $time time"
	matches "the estimate is that of the loops of a run" "$work/row" \
		'^tests/run/at.sh 2 0 35 77.6 % - 2 62 2 0 2/3 3 2.9e-02$'
done
sed -i 's|2/3 *3 *2.9e-02|2/3 26 0|' "$work/store"
table "more than enough tries"
matches "what is too small to believe is not told" "$work/row" \
	'^tests/run/at.sh .* 2 62 2 0 2/3 26 <1e-9$'

finish
