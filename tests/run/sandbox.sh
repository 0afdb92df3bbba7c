#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the front end gives up when the watching begins, by /proc/PID/status while
# it lives, and that it finds races all the same: run and attach, as root, as
# another user, and of a program of another user.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR/read_write.O2
user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
# CAP_DAC_READ_SEARCH, _SETGID, _SETUID, _SYS_PTRACE, _PERFMON, _CHECKPOINT_RESTORE
kept=$((1 << 2 | 1 << 6 | 1 << 7 | 1 << 19 | 1 << 38 | 1 << 40))

# field PID NAME: of its status
field()
{
	sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status" 2>/dev/null
}

# shellcheck disable=SC2317 # called through await
begun()
{
	records "$report" type=run && records "$report" type=race
}

# ended: racewatch, which runs as $front, ends as if it were told to.
ended()
{
	kill -INT "$front"
	wait "$front"
	status=$?
}

# confined WHAT SANDBOX: $front, whose report is $report, gave up what it should
confined()
{
	local name more=0

	# where it may write: CAP_DAC_OVERRIDE
	[ "$2" = strict ] || more=2
	if ! await 60 begun; then
		not_ok "$1: races are found"
		diag_file "$work/err"
		return
	fi
	ok "$1: races are found"
	is "$1: no new privileges" "$(field "$front" NoNewPrivs)" 1
	is "$1: system calls are filtered" "$(field "$front" Seccomp)" 2
	for name in CapPrm CapEff; do
		is "$1: $name has no more than it should" \
			$((0x$(field "$front" $name) & ~kept & ~more)) 0
	done
	is "$1: nothing is left to programs: CapInh, CapAmb" \
		"$(field "$front" CapInh) $(field "$front" CapAmb)" \
		"0000000000000000 0000000000000000"
	is "$1: nobody but root may open its files in /proc" \
		"$(stat -c %u "/proc/$front/maps")" 0
	has "$1: the report says so" "$report" type=run sandbox="$2"
	ended
	is "$1: exit status" "$status" 66
}

# tracer_of PID: which must keep all
tracer_of()
{
	child_of "$1" racewatch-trace
}

# program COMMAND...: $program, begun
program()
{
	: >"$work/out"
	"$@" 200 >"$work/out" 2>&1 &
	program=$!
	lib_started "$program"
	await 20 grep -q '^Threads:[[:space:]]*[23]$' "/proc/$program/status"
}

# attached ARG...: $front watches $program
attached()
{
	rm -f "$report"
	"$@" attach --rate 1000 --stall 1ms --duration 100s -o "$report" \
		"${options[@]}" "$program" >/dev/null 2>"$work/err" &
	front=$!
	lib_started "$front"
}

options=()
program "$T"
attached "$RACEWATCH"
confined "attach" on
check_unharmed "attach" "$program"

attached "$RACEWATCH"
await 60 begun
is "the tracer keeps its system calls" \
	"$(field "$(tracer_of "$front")" Seccomp)" "$(field $$ Seccomp)"
kill -9 "$front"
wait "$front" 2>/dev/null
await 20 untraced "$program"
check_unharmed "the front end is killed in its sandbox" "$program"

options=(--no-sandbox)
attached "$RACEWATCH"
await 60 begun
is "--no-sandbox: nothing is filtered" "$(field "$front" Seccomp)" \
	"$(field $$ Seccomp)"
is "--no-sandbox: privileges stay" "$(field "$front" CapEff)" \
	"$(field $$ CapEff)"
has "--no-sandbox: the report says so" "$report" type=run sandbox=off \
	sandbox_off=--no-sandbox
ended

options=(--on-race "exec:true")
attached "$RACEWATCH"
await 60 begun
has "what starts commands keeps all, and says so" "$report" type=run \
	sandbox=off sandbox_off=--on-race=exec
ended
if grep -q 'on-race: the command' "$work/err"; then
	not_ok "and starts them"
	diag_file "$work/err"
else
	ok "and starts them"
fi
kill -9 "$program"

run run --rate 1000 --stall 1ms -o "$report" -- "$T" 1
is "run: exit status" "$status" 66
has "run: the report says so" "$report" type=run sandbox=on

run sweep --runs 2 --no-sandbox -o "$report" -- "$T" 1
has "sweep passes it on" "$report" type=run sandbox=off \
	sandbox_off=--no-sandbox

# As root: a program of another user, and racewatch as that user.
# The leak checker of a build with AddressSanitizer does not work where the sandbox is
# strict: it would end racewatch with its own exit status.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
	skip "a program of another user" "not root, or no setpriv"
	finish
fi
chmod 755 "$work"
cp "$T" "$work/program"
chmod 755 "$work/program"

program "${user[@]}" "$work/program"
options=()
attached "$RACEWATCH"
confined "a program of another user" strict
# what replays came to is written at the end
run attach --rate 1000 --stall 1ms --duration 5s -o "$report" "$program"
has "a program of another user: races are replayed" "$report" type=race \
	"replay.outcome=*state-change"
mkdir -m 777 "$work/theirs"
"${user[@]}" mkdir -m 755 "$work/theirs/own"
options=(--state "$work/theirs/own/state")
attached "$RACEWATCH"
confined "a program of another user, with --state" on
is "the state is written to that user's folder" \
	"$(test -s "$work/theirs/own/state"; echo $?)" 0
check_unharmed "a program of another user" "$program"

report=$work/theirs/report.jsonl
cp "$RACEWATCH" "$work/racewatch" && chmod 755 "$work/racewatch"
if "${user[@]}" "$work/racewatch" --version >/dev/null 2>&1; then
	options=()
	attached "${user[@]}" "$work/racewatch"
	confined "attach as that user" on
	check_unharmed "attach as that user" "$program"
else
	skip "attach as that user" "it cannot execute racewatch"
fi
kill -9 "$program"

# root in a container: no CAP_SYS_PTRACE, and as many others as the program
few=(setpriv --inh-caps=-all
	"--bounding-set=-all,+chown,+dac_override,+fowner,+kill,+setgid,+setuid")
report=$work/few.jsonl
if "${few[@]}" true 2>/dev/null; then
	rm -f "$report"
	timeout -k 5 60 "${few[@]}" "$RACEWATCH" run --rate 1000 --stall 1ms \
		-o "$report" -- "$T" 2 >"$work/out" 2>"$work/err"
	is "run with few capabilities: exit status" $? 66 ||
		diag_file "$work/err"
	has "run with few capabilities: the report says so" "$report" type=run \
		sandbox=on
	program "${few[@]}" "$T"
	options=()
	attached "$RACEWATCH"
	confined "a program of root with few capabilities" strict
	kill -9 "$program"
else
	skip "run with few capabilities" "setpriv takes no bounding set"
fi

finish
