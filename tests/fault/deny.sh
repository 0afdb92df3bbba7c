#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Calls that are refused to the whole of racewatch from the start, as the
# seccomp filters of containers do. Each gives a clear error and exit status
# 125, or another way is taken and the race is found; an attached program goes
# on, and nothing is left in it.

. "$(dirname "$0")/../lib.sh"

# LeakSanitizer needs ptrace(2) itself; test_faults looks for leaks
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
H=$HELPERS_DIR
T=$TARGETS_DIR/read_write.O2

# A program to attach to, which must outlive it all.
"$T" 10000 >/dev/null &
program=$!
lib_started "$program"

# How a denied call ends: refused, with what the message has, or done.
outcome()
{
	local what=$1 form=$2 wanted=$3

	case $status in
	125) matches "$what, $form: the message" "$work/err" "$wanted" ;;
	66) ok "$what, $form: the race is found" ;;
	0) ok "$what, $form: ended in time" ;;
	*)
		not_ok "$what, $form: exit status $status"
		diag_file "$work/err"
		;;
	esac
	if grep -Eiq 'assert|sanitizer: |dumped' "$work/err"; then
		not_ok "$what, $form: no crash"
		diag_file "$work/err"
	fi
}

# deny_run WHAT BACKEND REGEX [ONLY]
deny_run()
{
	timeout -k 5 30 "$H/deny-syscall" "$1" "$RACEWATCH" run --seed 1 \
		--backend "$2" --rate 1000 --halt-on-race --duration 200ms -- \
		"$T" 0.4 >"$work/out" 2>"$work/err" </dev/null
	status=$?
	outcome "$1" "run by $2" "$3"
}

deny_attach()
{
	timeout -k 5 30 "$H/deny-syscall" "$1" "$RACEWATCH" attach --seed 1 \
		--backend "$2" --rate 1000 --halt-on-race --duration 200ms \
		"$program" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	outcome "$1" "attach by $2" "$3"
	if "$H/pristine" "$program" 2>"$work/pristine"; then
		ok "$1, attach by $2: nothing is left"
	else
		not_ok "$1, attach by $2: nothing is left"
		diag_file "$work/pristine"
	fi
}

calls="ptrace SEIZE INTERRUPT CONT DETACH LISTEN SYSCALL GETREGS SETREGS \
	PEEKUSER POKEUSER GETSIGINFO PEEKSIGINFO GETSIGMASK SETSIGMASK \
	GETEVENTMSG perf_event_open process_vm_readv kcmp mlockall pidfd_open \
	prctl prlimit64 pwrite64 signalfd4 socketpair tgkill"
backends=(auto value ptrace)
# a short run tries the main ones
[ -z "$LONG" ] && calls="ptrace SEIZE INTERRUPT CONT DETACH SETREGS POKEUSER \
	GETSIGINFO GETEVENTMSG process_vm_readv pidfd_open kcmp mlockall \
	prlimit64 pwrite64"
# AddressSanitizer does not start without
grep -q __asan_init "$RACEWATCH" && calls=${calls/prlimit64/}
turn=0
for call in $calls; do
	backend=${backends[turn++ % 3]}
	for backend in ${LONG:+perf ptrace value} ${LONG:-$backend}; do
		[ "$backend" = "$LONG" ] && continue
		deny_attach "$call" "$backend" 'racewatch: .+: .+'
		deny_run "$call" "$backend" 'racewatch: .+: .+'
	done
done

if kill -0 "$program" 2>/dev/null; then
	ok "the program outlived it all"
else
	not_ok "the program outlived it all"
fi
kill -9 "$program"

finish
