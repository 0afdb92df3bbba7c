#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch provoke: races whose two orders end differently (provoked.c,
# provoked_cpp.cc) are reported by a run that repeats them without harm, and then
# brought about in a run that makes each access once. Each order has its end, and
# the two meet in nine runs of ten at least. A run provokes one kind in three. Of one
# kind a child that vfork(2) has made comes to both instructions first, and lives.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR
times=5
[ -z "$LONG" ] || times=20

# race_of FIRST SECOND: the number of the reported race of these two functions'
# accesses of the variable, and which side FIRST is
race_of()
{
	awk -v first="$1" -v second="$2" '
		# two writes lose an update in either order
		/"type":"race"/ && !/"kind":"write-write"/ {
			split($0, sides, "\"role\":")
			for (i = 2; i <= 3; i++) {
				match(sides[i], /"function":"[^"]*"/)
				name[i] = substr(sides[i], RSTART + 12,
					RLENGTH - 13)
				sub(/.*::/, "", name[i])
				sub(/\(.*/, "", name[i])
			}
			match($0, /"id":[0-9]+/)
			id = substr($0, RSTART + 5, RLENGTH - 5)
			if (name[2] == first && name[3] == second)
				print id, "ab"
			if (name[2] == second && name[3] == first)
				print id, "ba"
		}' "$report" | sort -u
}

# reported PROGRAM KIND: run it until its race is reported
reported()
{
	tries seconds 1 2 4 8 16
	while next_try seconds; do
		run run -q -o "$report" --seed 1 --rate 1000 --at "${2}_first" \
			--at "${2}_second" -- "$1" "$2" "$seconds"
		[ -z "$(race_of "${2}_first" "${2}_second")" ] || return 0
	done
	return 1
}

# other ORDER
other()
{
	[ "$1" = ab ] && echo ba || echo ab
}

# ends ORDER: how the runs of this order ended, as "COUNT END"
ends()
{
	records --print 'ends.*.count ends.*.status ends.*.signal' \
		"$work/results" type=provoke "order=$1" | awk '{
			n = split($1, count, ",")
			split($2, status, ",")
			split($3, signal, ",")
			for (i = 1; i <= n; i++)
				print count[i], signal[i] == "null" ? \
					"exit " status[i] : "signal " signal[i]
		}'
}

# ended ORDER FIRST-END SECOND-END: did it end so? Of some kinds the race may be
# with either of two reads: of the later one the orders change places.
ended()
{
	local one two

	one=$(ends "$1" | cut -d' ' -f2-)
	two=$(ends "$(other "$1")" | cut -d' ' -f2-)
	[ "$one,$two" = "$2,$3" ] ||
		{ [[ $kind =~ ^(twice|vector|virtual)$ ]] &&
			[ "$two,$one" = "$2,$3" ]; }
}

# provoked PROGRAM KIND FIRST-END SECOND-END: of one of the kind's races the order
# in which the function KIND_first goes first ends so, and the other so
provoked()
{
	local program=$T/$1 kind=$2 id order met good=

	in_turn 3 "$1 $2" || return 0
	reported "$program" "$kind" || {
		not_ok "$1 $kind: its race is reported"
		return
	}
	cp "$report" "$work/saved.jsonl"
	while read -r id order; do
		timeout 300 "$RACEWATCH" provoke -o "$work/results" \
			--times $times "$work/saved.jsonl#$id" -- \
			"$program" "$kind" >"$work/out" 2>"$work/err"
		status=$?
		met=$(records --print met "$work/results" type=provoke |
			awk '{ n += $1 } END { print n + 0 }')
		diag "$1 $kind #$id: met $met of $((2 * times))," \
			"$(ends "$order"); $(ends "$(other "$order")")"
		# a race of the kind may be with an access that is seldom made
		[ "$status" -eq 0 ] && [ "$((met * 10))" -ge $((18 * times)) ] &&
			ended "$order" "$3" "$4" && good=yes
	done < <(race_of "${kind}_first" "${kind}_second")
	is "$1 $kind: $3 when first() goes first, else $4" "$good" yes ||
		diag_file "$work/err"
}

for variant in O0 O2 nopie; do
	provoked provoked.$variant null 'signal 11' 'exit 0'
	provoked provoked.$variant free 'exit 0' 'signal 6'
	provoked provoked.$variant lost 'exit 3' 'exit 0'
	provoked provoked.$variant ready 'exit 4' 'exit 0'
	provoked provoked.$variant twice 'signal 11' 'exit 0'
	provoked provoked.$variant vforked 'signal 11' 'exit 0'
done
for variant in O0 O2; do
	provoked provoked_cpp.$variant vector 'exit 0' 'exit 5'
	provoked provoked_cpp.$variant virtual 'exit 0' 'exit 6'
done

# One order alone, and the text.
reported "$T/provoked.O0" null
cp "$report" "$work/saved.jsonl"
read -r id order < <(race_of null_first null_second)
run provoke --order "$order" --times 2 "$work/saved.jsonl#$id" -- \
	"$T/provoked.O0" null
is "one order: 0" "$status" 0
matches "it says how often they met, and the end" "$work/err" \
	"^order $order: 2 of 2 met, 2 SIGSEGV$"
is "and nothing of the other" "$(grep -c '^order' "$work/err")" 1

# The program would go on for minutes: the time ends it, after the two have met.
tries seconds 1.5 8 60
while next_try seconds; do
	run provoke --order "$order" --times 1 --timeout "${seconds}s" \
		"$work/saved.jsonl#$id" -- "$T/provoked.O0" null 200
	[ "$status" -ne 0 ] || break
done
matches "--timeout: the run is ended, and it is told" "$work/err" \
	"^order $order: 1 of 1 met, 1 timed out$"
run provoke --timeout soon "$work/saved.jsonl#$id" -- "$T/provoked.O0" null
is "--timeout soon: 2" "$status" 2
matches "it is told" "$work/err" "soon"

# The text of a report has the command.
tries seconds 1 4 16
while next_try seconds; do
	run run --seed 1 -o "$report" -- "$T/provoked.O0" null "$seconds"
	grep -q '^  again' "$work/err" && break
done
matches "the line again" "$work/err" \
	"^  again       racewatch provoke $report#1 -- $T/provoked.O0 null $seconds\$"

# Without a report it says how to have one, and of what was attached to, which
# process it was.
tries seconds 1 4 16
while next_try seconds; do
	run run --seed 1 -- "$T/provoked.O0" null "$seconds"
	grep -q '^  again' "$work/err" && break
done
matches "without a report: the line again" "$work/err" \
	"^  again       racewatch provoke REPORT#1 -- $T/provoked.O0 null $seconds  # -o REPORT saves it\$"
tries seconds 1.5 8 60
while next_try seconds; do
	"$T/provoked.O0" null "$seconds" >"$work/out" &
	pid=$!
	run attach --effort normal -o "$report" "$pid"
	wait "$pid"
	grep -q '^  again' "$work/err" && break
done
matches "attached: the line again" "$work/err" \
	"^  again       racewatch provoke $report#1 --pid $pid\$"

# What cannot be provoked.
run provoke --times 1 "$work/saved.jsonl#99" -- "$T/provoked.O0" null
is "no such race: 125" "$status" 125
matches "it is told" "$work/err" 'has no race #99'
run provoke "$work/saved.jsonl" -- "$T/provoked.O0" null
is "no number: 2" "$status" 2
matches "the form is told" "$work/err" 'REPORT#ID'
run provoke "$work/saved.jsonl#$id"
is "no command: 2" "$status" 2
run provoke "$work/none.jsonl#1" -- /bin/true
is "no such report: 125" "$status" 125
run provoke "$work/saved.jsonl#$id" -- "$work/no-such-program"
is "no such program: 127" "$status" 127
mkdir "$work/other"
cp "$T/provoked.O2" "$work/other/provoked.O0"
run provoke --times 1 "$work/saved.jsonl#$id" -- "$work/other/provoked.O0" null
is "another build: 125" "$status" 125
matches "it is told" "$work/err" 'provoked.O0 is another build than the one'
run provoke --times 1 "$work/saved.jsonl#$id" -- "$T/single.O2" 0.1
is "another program: 125" "$status" 125
matches "it is told" "$work/err" 'side a of race .* was not found'
run provoke --times 1 --order ab "$work/saved.jsonl#$id" -- \
	"$T/provoked.O0" twice
is "a pair that is not reached: 65" "$status" 65
matches "it is told" "$work/err" 'no thread came to the instruction of side'

# A process that runs already: it goes on, and nothing is left in it.
"$T/provoked.O0" null 60 >"$work/target" 2>&1 &
pid=$!
lib_started "$pid"
await 10 test "/proc/$pid/exe" -ef "$T/provoked.O0"
run provoke --pid "$pid" "$work/saved.jsonl#$id"
is "a running process: 0" "$status" 0 || diag_file "$work/err"
matches "it is warned of" "$work/err" 'may die of it'
matches "order ab" "$work/err" '^order ab: 1 of 1 met, 1 running on$'
matches "order ba" "$work/err" '^order ba: 1 of 1 met, 1 running on$'
untraced "$pid"
is "it is not traced any more" "$?" 0
"$HELPERS_DIR/pristine" "$pid" >"$work/pristine" 2>&1
is "its text is as it was" "$?" 0 || diag_file "$work/pristine"
run provoke --pid "$pid" --times 2 "$work/saved.jsonl#$id"
is "--pid --times 2: 2" "$status" 2
kill -9 "$pid"
wait "$pid" 2>/dev/null

finish
