#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch doctor: a line per check with the remedy, the exit status, JSON;
# and that what it says of a process is so. Refusals are in refusals.sh.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

RUN_TIMEOUT=60
T=$TARGETS_DIR
H=$HELPERS_DIR

# The four debug registers are everybody's: one doctor at a time sees all.
registers_alone

# last_thread PID: the id of one that is not the first
last_thread()
{
	find "/proc/$1/task" -mindepth 1 -maxdepth 1 -printf '%f\n' |
		sort -n | tail -n 1
}

# verdict NAME: of the last run's text
verdict()
{
	sed -n "s/^\\([a-z]*\\) *$1 .*/\\1/p" "$work/out"
}

# denied WHAT ARG...: runs racewatch ARG... with system calls refused
denied()
{
	local what=$1

	shift
	timeout -k 5 60 "$H/deny-syscall" "$what" "$RACEWATCH" "$@" \
		>"$work/out" 2>"$work/err" </dev/null
	status=$?
}

run doctor
case $status in
0) matches "the machine: the conclusion" "$work/out" 'all is well$' ;;
1) matches "the machine: the conclusion" "$work/out" 'with limits$' ;;
*)
	not_ok "the machine: exit status $status"
	diag_file "$work/out" 60
	;;
esac
machine=$status
is "tracing works: so it says" "$(verdict ptrace)" ok
is "text can be written: so it says" "$(verdict memory)" ok
# every line is a check, a remedy or the conclusion
is "the lines have their shape" "$(grep -Evc \
	'^(ok|note|warning|failed) +[a-z-]+ +[^ ]|^ {26}remedy: |^racewatch doctor: ' \
	"$work/out")" 0
for name in linux ptrace-scope capabilities seccomp sandbox user-namespace proc \
	perf-policy watch-perf watch-ptrace watch-perf-cpu execution watch-value \
	debug-registers open-files locked-memory security-modules traced \
	recorder; do
	[ -n "$(verdict "$name")" ] || not_ok "the check $name is there"
done

if lacks registers; then
	for name in watch-perf watch-ptrace; do
		is "no register traps: $name" "$(verdict $name)" warning
		matches "no register traps: $name: why" "$work/out" \
			"^warning +$name .*registers .* do not trap"
	done
	is "no register traps: with limits" "$machine" 1
fi

# What doctor says of perf is what attach does.
if [ "$(verdict watch-perf)" != failed ]; then
	denied perf_event_open doctor
	is "perf refused: exit status" "$status" 1
	is "perf refused: a warning" "$(verdict watch-perf)" warning
	skip_lacking registers "perf refused: ptrace still works" ||
		is "perf refused: ptrace still works" \
			"$(verdict watch-ptrace)" ok
	matches "perf refused: remedy" "$work/out" 'remedy: .*seccomp='
fi
denied perf_event_open,POKEUSER doctor
is "no hardware watchpoints: exit status" "$status" 1
is "no hardware watchpoints: a warning" "$(verdict watch-ptrace)" warning
denied pwrite64 doctor
is "text takes no writes: exit status" "$status" 1
is "text takes no writes: a warning" "$(verdict memory)" warning
matches "text takes no writes: remedy" "$work/out" 'force_override'
denied process_vm_readv doctor
is "process_vm_readv refused: no limit" "$status" "$machine"
is "process_vm_readv refused: noted" "$(verdict memory)" note
denied ptrace doctor
is "ptrace refused: exit status" "$status" 69
is "ptrace refused: failed" "$(verdict ptrace)" failed
is "ptrace refused: nothing more is tried" "$(verdict watch-perf)" ""
matches "ptrace refused: remedy" "$work/out" 'SYS_PTRACE'
timeout 60 "$H/under-tracer" "$RACEWATCH" doctor >"$work/out" 2>"$work/err"
is "under a tracer: exit status" $? 69
matches "under a tracer: which" "$work/out" \
	'^failed +traced +.*process [0-9]+ \(under-tracer\)'
(
	ulimit -Sn 256 && ulimit -Hn 256 || exit 99
	"$RACEWATCH" doctor >"$work/out" 2>"$work/err"
	echo $? >"$work/status"
)
is "few files: exit status" "$(cat "$work/status")" 1
is "few files: a warning" "$(verdict open-files)" warning
matches "few files: remedy" "$work/out" 'ulimit -Hn'

# A process, and it is not disturbed.
"$T/wait_forever.O2" >"$work/program" 2>&1 &
pid=$!
lib_started "$pid"
await 20 grep -q '^ready' "$work/program"
run doctor "$pid"
is "a process: exit status" "$status" "$machine"
is "a process: it may be traced" "$(verdict access)" ok
matches "a process: its threads" "$work/out" '^ok +threads +3$'
matches "a process: its program" "$work/out" \
	"^ok +program +.*/wait_forever.O2$"
matches "a process: SIGTRAP" "$work/out" '^ok +sigtrap +default$'
run doctor "$(last_thread "$pid")"
matches "a thread id" "$work/out" '^note +thread-id '
matches "a thread id: its process" "$work/out" "^ok +process +process $pid "
"$H/pristine" "$pid" 2>"$work/pristine"
is "a process: undisturbed" $? 0
kill -9 "$pid"

# says TARGET CHECK REGEX: doctor does, of $pid
says()
{
	run doctor "$pid"
	grep -Eq "^[a-z]+ +$2 +.*$3" "$work/out"
}

# attribute TARGET CHECK REGEX: doctor says this of that target
attribute()
{
	"$T/$1" 60 >"$work/program" 2>&1 &
	pid=$!
	lib_started "$pid"
	if await 20 says "$@"; then
		ok "$1: $2: $3"
	else
		not_ok "$1: $2: $3"
		diag_file "$work/out" 12
	fi
	kill -9 "$pid"
}
attribute trap_ignored.O2 sigtrap ignored
attribute trap_handled.O2 sigtrap handled
attribute read_write.static libraries 'statically linked'
attribute leader_exits.O2 kind 'first thread has exited'

cp "$T/wait_forever.O2" "$work/gone"
"$work/gone" >"$work/program" 2>&1 &
pid=$!
lib_started "$pid"
await 20 grep -q '^ready' "$work/program"
rm "$work/gone"
run doctor "$pid"
matches "a deleted binary" "$work/out" '^ok +program +.*/gone, deleted'

run doctor --format json "$pid"
is "JSON: exit status" "$status" "$machine"
is "JSON: checks have their members" "$(records --count "$work/out" type=check \
	name=[a-z]* verdict=[a-z]* 'finding=?*' 'remedy=?*')" \
	"$(($(wc -l <"$work/out") - 1))"
is "JSON: verdicts are four" "$(records --count "$work/out" type=check \
	verdict!=ok verdict!=note verdict!=warning verdict!=failed)" 0
has "JSON: the process is among them" "$work/out" name=program verdict=ok \
	'finding=*/gone, deleted*'
is "JSON: the last record" "$(tail -n 1 "$work/out" >"$work/last" &&
	records --print "schema exit" "$work/last" type=doctor verdict=[a-z]*)" \
	"1 $status"
kill -9 "$pid"

run doctor 1 2
is "two processes: exit status" "$status" 2
run doctor nobody
is "not a process id: exit status" "$status" 2
run doctor --format yaml
is "unknown format: exit status" "$status" 2
if [ -w /dev/full ]; then
	timeout 60 "$RACEWATCH" doctor >/dev/full 2>"$work/err"
	is "output that cannot be written: exit status" $? 125
fi

# What it advises is true for who asks: root is not told to be root, and where
# capabilities cannot be had, nobody is told of setcap(8).
advised()
{
	timeout -k 5 60 "$@" "$RACEWATCH" doctor $$ >"$work/out" \
		2>"$work/err" </dev/null
	grep 'remedy: ' "$work/out" >"$work/remedies"
}
advised env
is "whoever is root is not advised to be" "$(
	[ "$(id -u)" -ne 0 ] || grep -c 'as root' "$work/remedies")" "$(
	[ "$(id -u)" -ne 0 ] || echo 0)"
if [ "$(id -u)" -eq 0 ] && setpriv --bounding-set -all true; then
	advised setpriv --bounding-set -all --inh-caps -all
	is "root without capabilities: neither to be root nor setcap" \
		"$(grep -c 'as root\|setcap' "$work/remedies")" 0 ||
		diag_file "$work/remedies"
	matches "it is told where they come from" "$work/remedies" \
		'start racewatch with CAP_SYS_PTRACE.*--cap-add=SYS_PTRACE'
	is "and without them cannot watch more" "$(verdict capabilities)" note
	advised setpriv --reuid 65534 --regid 65534 --clear-groups \
		--bounding-set -all
	is "another user, where root has none: the same" \
		"$(grep -c 'as root\|setcap' "$work/remedies")" 0 ||
		diag_file "$work/remedies"
	advised setpriv --reuid 65534 --regid 65534 --clear-groups
	matches "a plain user may be root, or setcap" "$work/remedies" \
		'run racewatch as root, or setcap cap_sys_ptrace'
	caps=$(sed -n 's/.* setcap \([a-z_,]*\)+ep .*or run it as that.*/\1/p' \
		"$work/remedies" | sed 's/cap_/+/g')
	advised setpriv --reuid 65534 --regid 65534 --clear-groups \
		--inh-caps "-all,$caps" --ambient-caps "-all,$caps"
	is "with what it advises, root's process may be traced" \
		"$(verdict access)" ok || diag_file "$work/out"
	advised setpriv --reuid 65534 --regid 65534 --clear-groups \
		--no-new-privs
	is "with no_new_privs: not setcap" \
		"$(grep -c 'setcap' "$work/remedies")" 0 ||
		diag_file "$work/remedies"
	matches "but why" "$work/remedies" 'no_new_privs is not set'
else
	skip "advice to users of other kinds" "only root can be them"
fi

finish
