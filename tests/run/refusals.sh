#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What cannot be attached to is refused by name and remedy, before anything is
# done to it; each refusal is provoked for real. racewatch doctor finds the
# same.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

RUN_TIMEOUT=30
T=$TARGETS_DIR
H=$HELPERS_DIR
user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
root=
[ "$(id -u)" = 0 ] && root=yes

# start COMMAND...: in the background; its pid is $pid, its output in program
start()
{
	: >"$work/program"
	"$@" >"$work/program" 2>&1 </dev/null &
	pid=$!
	lib_started "$pid"
}

ready()
{
	grep -q '^ready [0-9]' "$work/program"
}

# start_ready COMMAND...: waits until it says "ready N"; N is $told
start_ready()
{
	start "$@"
	if ! await 20 ready; then
		not_ok "$1 is ready"
		diag_file "$work/program"
		finish
	fi
	told=$(sed -n 's/^ready //p' "$work/program")
	lib_started "$told"
}

# refused DESCRIPTION PID REGEX [COMMAND...]: attach, by COMMAND, exits with
# 125 and an error like REGEX; doctor exits with 69 and finds the same
refused()
{
	local what=$1 pid=$2 regex=$3

	shift 3
	timeout -k 5 30 "$@" "$RACEWATCH" attach --duration 2s "$pid" \
		>"$work/out" 2>"$work/err" </dev/null
	is "$what: exit status" $? 125 || diag_file "$work/err"
	matches "$what: message" "$work/err" "^racewatch: error: .*$regex"
	timeout -k 5 30 "$@" "$RACEWATCH" doctor "$pid" \
		>"$work/doctor" 2>"$work/err" </dev/null
	is "$what: doctor's exit status" $? 69 || diag_file "$work/doctor"
	grep -A 1 '^failed' "$work/doctor" | tr -s ' \n' ' ' >"$work/failed"
	matches "$what: doctor's finding" "$work/failed" "$regex"
}

as_user()
{
	cp "$RACEWATCH" "$work/racewatch"
	RACEWATCH=$work/racewatch
	chmod 755 "$work"
}

# No such process: one that has been waited for.
sh -c 'exit 0' &
pid=$!
wait "$pid"
refused "no such process" "$pid" "process $pid|there is none"
run attach 0
is "process 0: exit status" "$status" 2
run attach 12x
is "not a number: exit status" "$status" 2
run attach 99999999999999999999
is "too large a number: exit status" "$status" 2

start_ready "$T/zombie.O2"
refused "a zombie" "$told" 'zombie'
kill -9 "$pid"

if grep -q '^Kthread:.*1' /proc/2/status 2>/dev/null ||
	[ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
	refused "a kernel thread" 2 'kthreadd is a kernel thread'
else
	skip "a kernel thread" "none is seen in this pid namespace"
fi

executes()
{
	[ "$(cat "/proc/$1/comm" 2>/dev/null)" = "$2" ]
}
if ! skip_lacking ia32 "a 32-bit process"; then
	start "$T/ia32_wait"
	if await 5 executes "$pid" ia32_wait; then
		refused "a 32-bit process" "$pid" '32-bit'
	else
		skip "a 32-bit process" "this kernel runs none"
	fi
	kill -9 "$pid" 2>/dev/null
fi

# Another tracer, named with its pid.
start_ready "$H/under-tracer" "$T/wait_forever.O2"
refused "another tracer" "$told" "process $pid \\(under-tracer\\)"
kill -9 "$pid"

# Another racewatch.
watched()
{
	watching
}
start_ready "$T/wait_forever.O2"
program=$told
"$RACEWATCH" attach --duration 120s -o "$report" "$program" \
	>/dev/null 2>&1 </dev/null &
other=$!
lib_started "$other"
await 20 watched
refused "another racewatch" "$program" '\(racewatch-trace\) traces it already'
kill -INT "$other"
wait "$other" 2>/dev/null

# Seccomp: of racewatch itself.
refused "ptrace refused by seccomp" "$program" 'cap-add=SYS_PTRACE' \
	"$H/deny-syscall" ptrace
refused "PTRACE_SEIZE refused by seccomp" "$program" 'seccomp' \
	"$H/deny-syscall" SEIZE

# Without pidfds the process is held by its start time.
timeout 30 "$H/deny-syscall" pidfd_open "$RACEWATCH" attach --duration 500ms \
	"$program" >"$work/out" 2>"$work/err"
is "pidfd_open refused: attached all the same" $? 0 || diag_file "$work/err"

# Nothing was done to it by any of these.
if "$H/pristine" "$program" 2>"$work/pristine"; then
	ok "after all that: pristine"
else
	not_ok "after all that: pristine"
	diag_file "$work/pristine"
fi

if [ -z "$root" ]; then
	skip "other users' processes" "only root can make them"
	finish
fi

as_user
refused "another user's process" "$program" \
	'another user \(0; racewatch is 65534\).* root' "${user[@]}"
start_ready "${user[@]}" "$T/undumpable.O2"
refused "a process that is not dumpable" "$told" 'not dumpable.* root' \
	"${user[@]}"
kill -9 "$pid"
# Of the same user, it would do.
start_ready "${user[@]}" "$T/wait_forever.O2"
timeout 30 "${user[@]}" "$RACEWATCH" attach --duration 500ms "$told" \
	>"$work/out" 2>"$work/err"
is "the same user's process: attached" $? 0 || diag_file "$work/err"
kill -9 "$told"

# /proc with hidepid, in a mount namespace of its own.
hidden=$(unshare -m sh -c '
	mount -t proc -o hidepid=2 proc /proc 2>/dev/null || exit 0
	shift
	"$@" 2>&1' sh "$program" timeout 30 "${user[@]}" "$RACEWATCH" attach \
	"$program")
echo "$hidden" >"$work/err"
if [ -n "$hidden" ]; then
	matches "hidepid" "$work/err" 'hidepid=.*root'
else
	skip "hidepid" "/proc cannot be mounted so here"
fi

# Yama's scopes, where the machine has them: put back in any case.
yama=/proc/sys/kernel/yama/ptrace_scope
if [ -w "$yama" ] && [ "$(cat "$yama")" = 0 ]; then
	start_ready "${user[@]}" "$T/wait_forever.O2"
	echo 1 >"$yama"
	refused "yama's scope 1" "$told" 'ptrace_scope is 1.*sysctl' \
		"${user[@]}"
	echo 0 >"$yama"
else
	echo "# no Yama here: its scopes are not tried"
fi

finish
