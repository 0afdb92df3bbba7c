#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Signals to racewatch: run hands all that end a process to the program, once;
# attach ends at each as it does at SIGINT; the tracer and the guardian go on.
# A terminal that closes tells the program, whoever is the session's leader.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

# by number: all that end a process and are sent to it
asking=$(for name in HUP INT QUIT TERM USR1 USR2 ALRM STKFLT XCPU VTALRM PROF \
	IO PWR RTMIN RTMIN+3 RTMAX; do builtin kill -l "$name"; done)

# Notes each signal by its number; ends at SIGTERM, with 9.
cat >"$work/notes" <<'END'
#!/usr/bin/python3
import os, signal, sys
log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def note(number, frame):
    os.write(log, b"%d\n" % number)
for number in set(range(1, 65)) - {9, 11, 17, 18, 19, 32, 33}:
    try:
        signal.signal(number, note)
    except (OSError, ValueError):
        pass
def end(number, frame):
    note(number, frame)
    os._exit(9)
signal.signal(signal.SIGTERM, end)
os.write(log, b"ready\n")
while True:
    signal.pause()
END
chmod +x "$work/notes"

# Opens a terminal, runs the arguments behind the first as leader of its
# session, and closes the terminal when something is in the file that the first
# names: a report is empty until the watching has begun.
cat >"$work/terminal" <<'END'
#!/usr/bin/python3
import os, pty, signal, sys, time
child, master = pty.fork()
if child == 0:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.execvp(sys.argv[2], sys.argv[2:])
while not (os.path.exists(sys.argv[1]) and os.path.getsize(sys.argv[1])):
    time.sleep(0.02)
os.close(master)
status = os.waitpid(child, 0)[1]
print(os.waitstatus_to_exitcode(status))
END
chmod +x "$work/terminal"

noted()
{
	grep -qx "$1" "$work/log" 2>/dev/null
}

count_of()
{
	grep -cx "$1" "$work/log" 2>/dev/null
}

# --- run: each signal is the program's -------------------------------------

rm -f "$work/log"
env --default-signal "$RACEWATCH" run -q -- "$work/notes" "$work/log" \
	>"$work/out" 2>"$work/err" </dev/null &
watcher=$!
lib_started "$watcher"
await 20 noted ready
for number in $asking; do
	[ "$number" -eq 15 ] && continue
	kill -s "$number" "$watcher"
	if await 20 noted "$number" && [ "$(count_of "$number")" = 1 ]; then
		ok "run: signal $number is the program's"
	else
		not_ok "run: signal $number: $(tr '\n' ' ' <"$work/log")"
		diag_file "$work/err"
	fi
done
kill -s TERM "$watcher"
wait "$watcher"
is "run: the program's end is that of racewatch" "$?" 9 || diag_file "$work/err"

# It has no handler, and dies.
env --default-signal "$RACEWATCH" run -q -o "$report" -- sleep 100 \
	>"$work/out" 2>"$work/err" </dev/null &
watcher=$!
lib_started "$watcher"
await 20 watching
kill -s USR1 "$watcher"
wait "$watcher"
is "run: a program without a handler dies of it" "$?" $((128 + 10)) ||
	diag_file "$work/err"
has "run: the report is complete" "$report" type=summary

# Timers outlive execve(2): `perl -e 'alarm 1; exec @ARGV'`
timeout 60 python3 -c 'import os, signal, sys
signal.setitimer(signal.ITIMER_REAL, 0.5)
os.execv(sys.argv[1], sys.argv[1:])' "$RACEWATCH" run -q -- sleep 100 \
	>"$work/out" 2>"$work/err"
is "run: a timer set before it is the program's" "$?" $((128 + 14)) ||
	diag_file "$work/err"

# What was ignored before is ignored.
rm -f "$work/log"
env --default-signal --ignore-signal=USR1,HUP "$RACEWATCH" run -q -- \
	"$work/notes" "$work/log" >"$work/out" 2>"$work/err" </dev/null &
watcher=$!
lib_started "$watcher"
await 20 noted ready
kill -s USR1 "$watcher"
kill -s HUP "$watcher"
kill -s USR2 "$watcher"
await 20 noted 12
is "run: ignored signals stay so" "$(count_of 10) $(count_of 1)" "0 0"
kill -s TERM "$watcher"
wait "$watcher"

# --- a terminal that closes -------------------------------------------------


# tmux(1) kill-session: racewatch is the session's leader.
cat >"$work/hangup" <<'END'
#!/bin/sh
trap 'echo 1 >>"$1.log"; exit 7' HUP
echo $$ >"$1.pid"
echo up >"$1"
while :; do sleep 0.05; done
END
chmod +x "$work/hangup"
rm -f "$work/log" "$work"/up*
status=$(timeout 60 "$work/terminal" "$work/up" "$RACEWATCH" run -- \
	"$work/hangup" "$work/up")
is "a terminal closes: the program is told, and racewatch ends as it does" \
	"$status $(cat "$work/up.log")" "7 1"
program=$(cat "$work/up.pid")
builtin kill -9 "$program" 2>/dev/null

# A shell is the leader, and is killed by it: the kernel tells the foreground.
rm -f "$work"/up*
timeout 60 "$work/terminal" "$work/up" sh -c \
	"'$RACEWATCH' run -- '$work/hangup' '$work/up'; exit 3" >"$work/out"
await 20 test -e "$work/up.log"
program=$(cat "$work/up.pid")
gone()
{
	! builtin kill -0 "$program" 2>/dev/null
}
await 20 gone
is "a shell's terminal closes: the program is told once" \
	"$? $(cat "$work/up.log")" "0 1"

# attach ends, and the program is not its business
"$TARGETS_DIR/wait_forever.O2" >"$work/said" 2>&1 </dev/null &
program=$!
lib_started "$program"
await 20 grep -q '^ready' "$work/said"
rm -f "$report"
status=$(timeout 60 "$work/terminal" "$report" "$RACEWATCH" attach \
	-o "$report" "$program")
is "attach: a terminal closes" "$status" 0
has "attach: the report is complete" "$report" type=summary
"$HELPERS_DIR/pristine" "$program" 2>"$work/pristine"
is "attach: the program is as it was" "$?" 0 || diag_file "$work/pristine"

# --- attach: each ends the watching, and nothing else -----------------------

attach()
{
	rm -f "$report"
	env --default-signal "$RACEWATCH" attach --rate 1000 -o "$report" \
		"$program" >"$work/out" 2>"$work/err" </dev/null &
	watcher=$!
	lib_started "$watcher"
	await 20 watching
}

for number in $asking; do
	attach
	kill -s "$number" "$watcher"
	wait "$watcher"
	status=$?
	if [ "$status" -eq 0 ] && records "$report" type=summary &&
		"$HELPERS_DIR/pristine" "$program" 2>"$work/pristine"; then
		ok "attach: signal $number ends the watching"
	else
		not_ok "attach: signal $number: exit status $status"
		diag_file "$work/err"
		diag_file "$work/pristine"
	fi
done

# --- the other two processes ------------------------------------------------

attach
tracer=$(pgrep -P "$watcher" racewatch-trace)
guardian=$(pgrep -P "$tracer" racewatch-guard)
for number in $(seq 1 64); do
	case $number in
	# nobody can do without
	9 | 19) continue ;;
	esac
	builtin kill -s "$number" "$tracer"
	case $number in
	# the C library keeps these
	32 | 33) ;;
	*) builtin kill -s "$number" "$guardian" ;;
	esac
done
if [ -n "$tracer" ] && [ -n "$guardian" ] &&
	[ "$(cat "/proc/$tracer/comm")" = racewatch-trace ] &&
	[ "$(cat "/proc/$guardian/comm")" = racewatch-guard ]; then
	ok "no signal ends the tracer or the guardian"
else
	not_ok "a signal ended the tracer or the guardian"
	diag_file "$work/err"
fi
kill -s INT "$watcher"
wait "$watcher"
is "and watching goes on, to its end" "$?" 0 || diag_file "$work/err"
"$HELPERS_DIR/pristine" "$program" 2>"$work/pristine"
is "the program is as it was" "$?" 0 || diag_file "$work/pristine"

finish
