#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Which system calls notice that a process is attached to, watched and let go:
# tests/targets/sleepers.c sleeps in thirty ways. By perf none may; by ptrace
# only those that the manual page names, and those hardly ever.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

cycles=3
[ -n "$LONG" ] && cycles=20

# Those in the table of racewatch-attach(1).
table=$(sed -n '/^\.\\" calls that notice/,/^\.\\" end/s/^\.\(It \)\?Xr \([a-z0-9_]*\).*/\2/p' \
	"$top_srcdir/man/racewatch-attach.1")

target_says()
{
	grep -q "^$1" "$work/said"
}

# ask: what was noticed since the last time, in $work/noticed.
ask()
{
	: >"$work/said"
	echo >&7
	await 20 target_says end || return 1
	grep -v '^end$' "$work/said" >"$work/noticed"
	return 0
}

# once BACKEND OPTION...: attach for a moment and let go.
once()
{
	run attach -q --backend "$1" --error-exitcode 0 --duration 0.4s \
		"${@:2}" "$program"
	[ "$status" -eq 0 ] || {
		diag "racewatch attach: exit status $status"
		diag_file "$work/err"
		failed=1
	}
}

# cycle BACKEND OPTION...
cycle()
{
	failed=
	ask || failed=1
	for ((i = 0; i < cycles; i++)); do
		once "$@"
	done
	ask || failed=1
	[ -z "$failed" ]
}

# Calls that were noticed, without the kind of time-out.
noticed()
{
	sed 's|[ ,/].*||' "$work/noticed" | sort -u
}

mkfifo "$work/in"
: >"$work/said"
"$TARGETS_DIR/sleepers.O2" <"$work/in" >>"$work/said" &
program=$!
lib_started "$program"
exec 7>"$work/in"
await 20 target_says ready || { echo "Bail out! no sleepers"; exit 99; }

for options in "--rate 0" "--rate 1000"; do
	skip_lacking registers "perf, $options: no system call notices" &&
		continue
	# shellcheck disable=SC2086 # two words
	if cycle perf $options && [ ! -s "$work/noticed" ]; then
		ok "perf, $options: no system call notices"
	else
		not_ok "perf, $options: no system call notices"
		diag_file "$work/noticed" 40
	fi
done

# the value back-end stops threads as ptrace does
stopping=ptrace
lacks registers && stopping=value

if cycle "$stopping" --rate 0 && [ ! -s "$work/noticed" ]; then
	ok "$stopping, --rate 0: no system call notices"
else
	not_ok "$stopping, --rate 0: no system call notices"
	diag_file "$work/noticed" 40
fi

cycle "$stopping" --rate 1000
others=$(noticed | grep -vxF "$table")
if [ -z "$failed" ] && [ -z "$others" ]; then
	ok "$stopping: only the calls of the manual page notice"
else
	not_ok "$stopping: only the calls of the manual page notice"
	diag "others: $others"
fi
diag_file "$work/noticed" 40
# A call cut short before its time without an error would be a lie.
if grep -q ' early ' "$work/noticed"; then
	not_ok "$stopping: none ends early without an error"
else
	ok "$stopping: none ends early without an error"
fi

if "$HELPERS_DIR/pristine" "$program" 2>"$work/pristine"; then
	ok "pristine"
else
	not_ok "pristine"
	diag_file "$work/pristine"
fi
exec 7>&-
wait "$program"
is "the program ends as it would" "$?" 0

finish
