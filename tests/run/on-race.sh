#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# --on-race: a program left stopped at the race, with both threads there for a
# debugger; a core of that moment; a command with the race on its input. The
# program ends well each time.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR
PRISTINE=$HELPERS_DIR/pristine

# It is so for each as soon as it has had the processor once more.
all_stopped()
{
	local stat

	for stat in /proc/"$1"/task/*/stat; do
		# the name in brackets may hold anything
		sed 's/.*) //' "$stat" 2>/dev/null | grep -q '^T' || return 1
	done
}

# Where gdb finds the threads: "function line" of every innermost frame.
places()
{
	timeout 60 gdb -nx -batch -ex 'set height 0' -ex 'set width 0' \
		-ex 'thread apply all bt 1' "${@}" 2>"$work/gdb.err" |
		tee "$work/gdb.out" |
		sed -n 's/^#0  \(0x[0-9a-f]* in \)\{0,1\}\([a-z_]*\) .*\.c:\([0-9]*\)$/\2/p'
}

# at_race DESCRIPTION PLACES: the two threads are in the racing functions
at_race()
{
	local there wanted=2

	there=$(grep -c '^[gs]et_level$' "$2")
	# without debug registers, the one that was stalled, and by chance the
	# other
	if skip_lacking registers "$1: each of the two"; then
		[ "$there" -eq 2 ] || wanted=1
	fi
	is "$1" "$there" "$wanted" ||
		{ diag_file "$work/gdb.out"; diag_file "$work/gdb.err"; }
}

# No other tracer, and neither int3 nor debug register left.
is_clean()
{
	is "$1: nobody traces it" \
		"$(sed -n 's/^TracerPid:\t//p' "/proc/$2/status")" 0
	# that it is stopped is what is wanted
	"$PRISTINE" "$2" 2>&1 >/dev/null | grep -v ' is T (stopped)$' \
		>"$work/pristine"
	if [ ! -s "$work/pristine" ]; then
		ok "$1: text and debug registers are as they were"
	else
		not_ok "$1: text and debug registers are as they were"
		diag_file "$work/pristine"
	fi
}

if ! command -v gdb >/dev/null || ! command -v gcore >/dev/null; then
	skip "all" "there is no gdb"
	finish
fi

# stop, of a program that is started: racewatch waits for its end.
backends=(perf ptrace)
skip_lacking registers "stopped by perf and ptrace" && backends=(value)
stopped_or_over()
{
	grep -qs 'is stopped at the race' "$work/err" ||
		[ "$(lib_born "$watcher")" = gone ]
}
for backend in "${backends[@]}"; do
	what="run, $backend"
	in_turn 2 "$what" || continue
	tries seconds 3 15 40
	while next_try seconds; do
		rm -f "$report" "$work/err"
		timeout 300 "$RACEWATCH" run --seed 1 --rate 3000 \
			--backend "$backend" --on-race stop -o "$report" -- \
			"$T/read_write.nopie" "$seconds" \
			>"$work/out" 2>"$work/err" </dev/null &
		watcher=$!
		await $((seconds + 60)) stopped_or_over
		grep -qs 'is stopped at the race' "$work/err" && break
		wait "$watcher"
	done
	grep -qs 'is stopped at the race' "$work/err" || {
		not_ok "$what: it stopped"
		diag_file "$work/err"
		continue
	}
	pid=$(sed -n 's/.*note: process \([0-9]*\) is stopped at the race: gdb -p \1 .*/\1/p' \
		"$work/err")
	lib_started "$pid"
	if await 10 all_stopped "$pid"; then
		ok "$what: every thread is stopped"
	else
		not_ok "$what: every thread is stopped"
	fi
	is_clean "$what" "$pid"
	places -p "$pid" >"$work/places"
	at_race "$what: gdb finds both threads at the race" "$work/places"
	if await 10 all_stopped "$pid"; then
		ok "$what: gdb leaves it stopped"
	else
		not_ok "$what: gdb leaves it stopped"
	fi
	kill -CONT "$pid"
	wait "$watcher"
	is "$what: then it ends, and the race is the status" "$?" 66
	matches "$what: the program was not harmed" "$work/out" '^read_write: done$'
	# one that is seen again may be written again
	is "$what: one race" "$(last_of id "$report" | wc -l)" 1
done

# What the terminal would send goes through: the program is woken up for it.
rm -f "$work/err"
timeout 90 "$RACEWATCH" run --seed 1 --rate 3000 --on-race stop -- \
	"$T/read_write.O2" 60 >"$work/out" 2>"$work/err" </dev/null &
watcher=$!
if await 40 grep -qs 'is stopped at the race' "$work/err"; then
	kill -TERM "$(pgrep -P "$watcher" -x racewatch)"
	wait "$watcher"
	is "SIGTERM ends a program that is stopped at a race" "$?" 66
else
	not_ok "SIGTERM ends a program that is stopped at a race"
	diag_file "$work/err"
	wait "$watcher"
fi
tries timeout 3s 20s
while next_try timeout; do
	run run --seed 1 --rate 3000 --on-race stop --timeout "$timeout" -- \
		"$T/read_write.O2" 60
	[ "$status" -eq 66 ] && break
done
is "--timeout ends it too" "$status" 66

# stop, attached: racewatch ends, the program stays as it is.
tries seconds 3 8 40
while next_try seconds; do
	"$T/read_write.nopie" "$seconds" >"$work/out" 2>&1 &
	pid=$!
	lib_started "$pid"
	run attach --seed 1 --rate 3000 --on-race stop "$pid"
	[ "$status" -eq 0 ] || break
done
is "attach: the status" "$status" 66 || diag_file "$work/err"
matches "attach: the command is printed" "$work/err" \
	"process $pid is stopped at the race: gdb -p $pid "
if await 10 all_stopped "$pid"; then
	ok "attach: every thread is stopped"
else
	not_ok "attach: every thread is stopped"
fi
is_clean "attach" "$pid"
places -p "$pid" >"$work/places"
at_race "attach: gdb finds both threads at the race" "$work/places"
kill -CONT "$pid"
wait "$pid"
is "attach: the program ends well" "$? $(tail -n 1 "$work/out")" \
	"0 read_write: done"

# Nothing stops where nothing is to be reported.
run run --seed 1 --rate 3000 --on-race stop -- "$T/read_write.twin" 1
is "no race: the program is not stopped" "$status" 0 || diag_file "$work/err"
run run --seed 1 --rate 3000 --on-race stop -- "$T/free_atomic.O2" 1
is "synchronization: the program is not stopped" "$status" 0 ||
	diag_file "$work/err"

# core: written, readable, and the program goes on.
cd "$work" || exit 99
RACEWATCH=$(cd "$OLDPWD" && realpath "$RACEWATCH")
T=$(cd "$OLDPWD" && realpath "$T")
tries seconds 1 5 20
while next_try seconds; do
	RUN_TIMEOUT=120 run run --seed 1 --rate 3000 --on-race core -- \
		"$T/read_write.nopie" "$seconds"
	grep -q '^WARNING' "$work/err" && break
done
is "core: the status" "$status" 66 || diag_file "$work/err"
matches "core: the program was not harmed" "$work/out" '^read_write: done$'
matches "core: where it is" "$work/err" \
	'the core of the race is racewatch-core\.[0-9]+; the program continues'
places "$T/read_write.nopie" racewatch-core.* >"$work/places"
at_race "core: both threads are at the race in it" "$work/places"

# One that PATH names is not for root; without any, that is said.
mkdir -p "$work/mine"
printf '#!/bin/sh\necho >"%s"\n' "$work/mine/ran" >"$work/mine/gcore"
chmod +x "$work/mine/gcore"
path=$work/empty
hide=()
if [ "$(id -u)" -eq 0 ]; then
	path=$work/mine
	unshare -m true 2>/dev/null &&
		hide=(unshare -m sh -c "mount --bind /dev/null '$(realpath \
			"$(command -v gcore)")' && exec \"\$@\"" sh)
fi
tries seconds 1 3 20
while next_try seconds; do
	timeout 120 "${hide[@]}" env PATH="$path" "$RACEWATCH" run --seed 1 \
		--rate 3000 --on-race core -- "$T/read_write.nopie" "$seconds" \
		>"$work/out" 2>"$work/err"
	grep -q '^WARNING' "$work/err" && break
done
if [ "$(id -u)" -ne 0 ] || [ "${#hide[@]}" -gt 0 ]; then
	matches "core: without gcore it is said" "$work/err" 'there is no gcore'
fi
is "core: root's is not that of PATH" "$([ -e "$work/mine/ran" ] && echo ran)" ""
matches "core: and the program goes on" "$work/out" '^read_write: done$'
is "core: nothing is left" "$(compgen -G 'racewatch-core.*.*')" ""

# exec: the race as JSON on the input, once for each race.

# met ARG...: runs read_write until its race is met, which is chance
met()
{
	tries seconds 1 8 30
	while next_try seconds; do
		RUN_TIMEOUT=90 run run --seed 1 --rate 3000 "$@" -- \
			"$T/read_write.O2" "$seconds"
		grep -q '^WARNING' "$work/err" && break
	done
}

cat >"$work/take" <<EOF
cat >"$work/race.\$\$"
echo taken
EOF
met --on-race "exec:sh $work/take" -o "$report"
is "exec: the status" "$status" 66 || diag_file "$work/err"
is "exec: called for one race" \
	"$(cat "$work"/race.* >"$work/races" && last_of id "$work/races" |
		wc -l)" 1
# also when one side was seen first, and both later
is "exec: called once" "$(cat "$work"/race.* | wc -l)" 1
is "exec: its output is no part of the program's" "$(cat "$work/out")" \
	"read_write: done"
matches "exec: but goes to standard error" "$work/err" '^taken$'
if cat "$work"/race.* | grep -qxFf - "$report"; then
	ok "exec: the record is that of the report"
else
	not_ok "exec: the record is that of the report"
fi
met --on-race 'exec:exit 3'
matches "exec: a failure is told" "$work/err" \
	'--on-race: the command exited with status 3'
met --on-race 'exec:kill -9 $$'
matches "exec: a signal is told" "$work/err" 'the command was killed by signal 9'
run run --seed 1 --rate 3000 --on-race 'exec:echo no' -- "$T/read_write.twin" 1
is "exec: not called without a race" "$(grep -c '^no$' "$work/err")" 0

# A command that is slow delays neither the program nor the other commands.
tries rounds x2000000 x20000000 x100000000
while next_try rounds; do
	run run --seed 1 --rate 3000 --on-race 'exec:sleep 2; echo late' \
		-- "$T/read_write.O2" "$rounds"
	grep -q '^WARNING' "$work/err" && break
done
matches "exec: it is waited for at the end" "$work/err" '^late$'

# Started by somebody who ignores SIGCHLD, it notices the ends of children.
RACEWATCH_PLAIN=$RACEWATCH
cat >"$work/ignoring" <<END
#!/usr/bin/python3
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv("$RACEWATCH_PLAIN", ["racewatch"] + sys.argv[1:])
END
chmod +x "$work/ignoring"
RACEWATCH=$work/ignoring
met --on-race 'exec:echo called'
RACEWATCH=$RACEWATCH_PLAIN
is "exec, SIGCHLD ignored" "$status" 66
matches "it was called, and waited for" "$work/err" '^called$'
is "without a complaint" "$(grep -c 'has not ended' "$work/err")" 0
run run --on-race=nothing -- /bin/true
is "an unknown action: 2" "$status" 2
run run --on-race=exec: -- /bin/true
is "no command: 2" "$status" 2
run run --on-race=stop --halt-on-race -- /bin/true
is "with --halt-on-race: 2" "$status" 2
run run --on-race=stop --backend perf-cpu -- /bin/true
is "with perf-cpu: 2" "$status" 2

finish
