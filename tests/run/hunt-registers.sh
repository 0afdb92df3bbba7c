#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch hunt where others have debug registers: with one that is left, a race is
# provoked as with four; with none, the hunt waits until there is one. It says
# who has them, and so does doctor.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR

skip_lacking registers "hunt" && finish
registers_alone

# taking COUNT: others have so many from now on; giving_back ends that
taking()
{
	coproc OTHERS { exec "$HELPERS_DIR/take-registers" "$1"; }
	others=$OTHERS_PID
	to_others=${OTHERS[1]}
	read -r -t 60 <&"${OTHERS[0]}" || return 1
}

giving_back()
{
	eval "exec $to_others>&-"
	wait "$others"
}

RUN_TIMEOUT=120 run hunt -o "$work/sides.jsonl" --hold 500ms -- "$T/listing1.O2"
is "with all registers" "$status" 66
if ! taking 3; then
	skip "others have registers" "take-registers takes none here"
	finish
fi
for backend in perf ptrace; do
	RUN_TIMEOUT=120 run hunt --targets "$work/sides.jsonl" --hold 500ms \
		--backend "$backend" -o "$report" -- "$T/listing1.O2"
	is "with one, by $backend: exit status" "$status" 66
	has "with one, by $backend: the race is provoked" "$report" type=race \
		evidence=provoked
	is "with one, by $backend: every side has an outcome" "$(records --count \
		"$report" type=target outcome=pending)" 0
	matches "with one, by $backend: who has the others is told" "$work/err" \
		'others have 3 of the four debug registers'
done
run doctor
matches "doctor counts them" "$work/out" '^warning +debug-registers +1 of 4 '
giving_back

taking 4 || not_ok "all registers are taken"
run doctor
for name in watch-perf watch-ptrace execution; do
	matches "doctor, without any: $name" "$work/out" \
		"^[a-z]+ +$name .*no debug register is free: others have them"
done
is "doctor does not blame the machine" "$(grep -c "use a machine with" \
	"$work/out")" 0
timeout -k 5 120 "$RACEWATCH" hunt --targets "$work/sides.jsonl" --hold 500ms \
	-o "$report" -- "$T/listing1.O2" 2>"$work/err" >"$work/out" &
hunt=$!
told() { grep -q 'others have 4 of the four debug registers' "$work/err"; }
await 60 told || not_ok "a hunt without any says so"
giving_back
wait "$hunt"
is "a hunt waits for the first one: exit status" "$?" 66
has "and provokes the race" "$report" type=race evidence=provoked

finish
