#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch hunt where others have debug registers: with two that are left, or one, a
# race is provoked as with four; with none, the hunt waits until there is one. It says
# who has them, and so does doctor. Where perf is refused, that is told once.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR

skip_lacking registers "hunt" && finish
registers_alone

racewatch=$RACEWATCH
# taking COUNT: others have so many registers of what is run from now on
taking()
{
	printf '#!/bin/sh\nexec "%s" %s "%s" "$@"\n' \
		"$HELPERS_DIR/take-registers" "$1" "$racewatch" >"$work/with"
	chmod +x "$work/with"
	RACEWATCH=$work/with
}

RUN_TIMEOUT=120 run hunt -o "$work/sides.jsonl" --hold 500ms -- "$T/listing1.O2"
is "with all registers" "$status" 66
# Each run chooses its back-end anew.
timeout -k 5 60 "$HELPERS_DIR/deny-syscall" perf_event_open "$RACEWATCH" hunt \
	--targets "$work/sides.jsonl" --hold 10ms -o "$report" -- \
	"$T/listing1.O2" >"$work/out" 2>"$work/err" </dev/null
matches "without perf: more than one run" "$work/err" '; ([2-9]|[1-9][0-9]+) runs in '
is "and why there is none is told once" \
	"$(grep -c 'warning: watchpoints by perf: .*permission denied' "$work/err")" 1
if ! "$HELPERS_DIR/take-registers" 2 true 2>"$work/err"; then
	skip "others have registers" "$(cat "$work/err")"
	finish
fi
for others in 2 3; do
	taking "$others"
	for backend in perf ptrace; do
		what="others have $others, by $backend"
		in_turn 2 "$what" || continue
		RUN_TIMEOUT=120 run hunt --targets "$work/sides.jsonl" \
			--hold 500ms --backend "$backend" -o "$report" -- \
			"$T/listing1.O2"
		is "$what: exit status" "$status" 66
		has "$what: the race is provoked" "$report" type=race \
			evidence=provoked
		is "$what: every side has an outcome" "$(records --count \
			"$report" type=target outcome=pending)" 0
		matches "$what: that is told" "$work/err" \
			"others have $others of the four debug registers"
	done
done
taking 2
run doctor
matches "doctor counts them" "$work/out" '^warning +debug-registers +2 of 4 '

taking 4
run doctor
for name in watch-perf watch-ptrace execution; do
	matches "doctor, without any: $name" "$work/out" \
		"^[a-z]+ +$name .*no debug register is free: others have them"
done
is "doctor does not blame the machine" "$(grep -c "use a machine with" \
	"$work/out")" 0
timeout -k 5 120 "$HELPERS_DIR/take-registers" 4 "$racewatch" hunt \
	--targets "$work/sides.jsonl" --hold 500ms -o "$report" -- "$T/listing1.O2" 2>"$work/err" >"$work/out" &
hunt=$!
told() { grep -q 'others have 4 of the four debug registers' "$work/err"; }
await 60 told || not_ok "a hunt without any says so"
pkill -USR1 -P "$hunt" -x take-registers
wait "$hunt"
is "a hunt waits for the first one: exit status" "$?" 66
has "and provokes the race" "$report" type=race evidence=provoked

finish
