#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The front end, and the tracer's own files and memory: files of the program
# and of /proc cannot be opened, memory cannot be had, the report cannot be
# written. Each gives a clear error and exit status 125, or racewatch does
# without; it never crashes, and a program that was attached to goes on with
# nothing left in it.

. "$(dirname "$0")/../lib.sh"

# AddressSanitizer has the memory functions, and wants to be loaded first
sanitized=
grep -q __asan_init "$RACEWATCH" && sanitized=yes
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:\
detect_leaks=0"

T=$TARGETS_DIR/read_write.O2
"$T" 100000 >/dev/null &
program=$!
lib_started "$program"

# shellcheck disable=SC2317 # called through await
pristine()
{
	"$HELPERS_DIR/pristine" "$program" 2>"$work/pristine" >"$work/pages"
}

# Did racewatch crash? Libraries that get no memory may: libdw's hash tables assert
# that they did, and assert(3) says "Unexpected error" when there is none for what
# it has to say. That ends racewatch with a message and status 125, as documented,
# and is no crash of ours, in racewatch's own code.
crashed()
{
	grep -Eiq 'sanitizer: |dumped' "$work/err" && return 0
	if [ "${failed:-}" = malloc ] && grep -Eq \
		'\.c:[0-9]+: [a-z_]+: Assertion|^Unexpected error\.$|crashed in lib' \
		"$work/err"
	then
		return 1
	fi
	grep -Eiq 'assert|crashed' "$work/err"
}

# ended WHAT: $status and $work/err are those of a program that failed well.
ended()
{
	case $status in
	0 | 66) ok "$1: done all the same ($status)" ;;
	125)
		matches "$1: a message" "$work/err" \
			"racewatch:? .*(memory|error|space|large|pipe|cannot)"
		;;
	*)
		not_ok "$1: exit status $status"
		diag_file "$work/err"
		;;
	esac
	if crashed; then
		not_ok "$1: no crash"
		diag_file "$work/err"
	fi
	# a front end that has failed does not wait for the tracer
	await 20 pristine && return
	not_ok "$1: nothing is left"
	diag_file "$work/pristine"
}

# failing WHAT WHERE AT: attaches while such calls fail.
failing()
{
	local library=failing.so

	failed=$1
	[ "$1" = malloc ] && library=failing-memory.so
	rm -f "$report" "$work/count"
	timeout -k 5 60 env LD_PRELOAD="$HELPERS_DIR/$library" \
		FAILING="$1" FAILING_IN="$2" FAILING_AT="$3" \
		FAILING_COUNT="$work/count" "$RACEWATCH" attach --seed 1 --rate 1000 \
		--stall 1ms --backend "${4:-auto}" --halt-on-race \
		--duration "${duration:-300ms}" -o "$report" \
		"$program" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

# tried WHAT: the call that was to fail was made.
tried()
{
	local count

	count=$(cat "$work/count" 2>/dev/null)
	[ "${count:-0}" -gt 0 ] || not_ok "$1: nobody tried to open it"
}

# calls WHAT: how many the front end makes, into $count
calls()
{
	failing "$1" front 0
	count=$(cat "$work/count")
	if [ "${count:-0}" -gt 0 ]; then
		ok "$1: $count calls can fail"
	else
		not_ok "$1: there are such calls"
		diag_file "$work/err"
	fi
}

# Threads are named when they race: until then, however slow the machine is.
last_until_named()
{
	duration=
	[ "$1" != /comm ] || duration=20s
}

times="1-"
[ -n "$LONG" ] && times="1 2 3 5 8 1- 2- 3- 5- 8-"
for word in /maps /comm /exe /status report.jsonl; do
	last_until_named "$word"
	for at in $times; do
		failing "open:$word" front "$at"
		ended "the front end cannot open $word, $at"
		tried "the front end, $word, $at"
	done
done
# the files that a program names, by the process that opens them
for word in read_write libc.so; do
	for at in $times; do
		failing "open:$word" others "$at"
		ended "the opener cannot open $word, $at"
		tried "the opener, $word, $at"
	done
done
for word in /comm /mem /status /task; do
	last_until_named "$word"
	for at in $times; do
		failing "open:$word" others "$at"
		ended "the tracer cannot open $word, $at"
		tried "the tracer, $word, $at"
	done
done

duration=

# Memory: early calls, then further and further apart.
if [ -z "$sanitized" ]; then
	RANDOM=1
	calls malloc
	step=2
	[ -n "$LONG" ] && step=20
	for ((at = 1; at <= count; at += 1 + at / step)); do
		more=-
		[ $((RANDOM % 2)) -eq 0 ] && more=
		failing malloc front "$at$more"
		ended "the front end gets no memory, $at$more"
	done
	for at in 1 4 17 1- 9- 33-; do
		# before the first location is sent it asks for little
		tries duration 300ms 5s 30s
		while next_try duration; do
			failing malloc others "$at"
			asked=$(cat "$work/count" 2>/dev/null || echo 0)
			[ "$asked" -ge "${at%-}" ] && break
		done
		duration=
		ended "the tracer gets no memory, $at"
		[ "$asked" -ge "${at%-}" ] ||
			not_ok "the tracer asks for memory, $at"
	done
fi

# The report: no space from the start, and after some of it.
failed=
run attach --seed 1 --rate 1000 --stall 1ms --halt-on-race --duration 300ms \
	-o /dev/full "$program"
is "the report meets a full disk: status" "$status" 125
ended "the report meets a full disk"
# only the report is cut: the messages go through a pipe
(
	set -o pipefail
	{
		ulimit -f 0
		exec "$RACEWATCH" attach --seed 1 --rate 1000 --stall 1ms \
			--duration 300ms -o "$report" "$program" 2>&1
	} | cat >"$work/err"
)
status=$?
is "the report may have no bytes: status" "$status" 125
ended "the report may have no bytes"

finish
