#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch hunt is ended while it holds a thread, and while a thread waits in the
# loader: the hunt itself, the process that makes the run, its tracer, both. Where
# its tracer lives, the program runs on: its text as in its file, no watchpoint, no
# stopped thread; or it was ended too. Where its tracer is killed, so is the program.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

skip_lacking registers "hunt" && finish

T=$TARGETS_DIR/held_on.O2

# stands ADDRESS: a thread of the program is stopped there
stands()
{
	local task state pc

	for task in "/proc/$program/task"/*; do
		state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "$task/status")
		[ "$state" = t ] || continue
		read -r _ _ pc <"$task/syscall" || continue
		((pc >= $1 && pc < $1 + 16)) && return 0
	done
	return 1
}

parent_of()
{
	sed -n 's/^PPid:[[:space:]]*//p' "/proc/$1/status"
}

stopped()
{
	grep -qs '^State:.[Tt]' "/proc/$1/status"
}

gone()
{
	! grep -qs '^State:.[RSDTt]' "/proc/$1/status"
}

# begin SIDES BACKEND: leaves $at, $hunt, $worker, $tracer, $program, $write and
# $loader
begun=0
begin()
{
	# its own: a run that ends may still have a program
	at=$work/at.$((++begun))
	# a background job of a script ignores SIGINT
	env --default-signal=INT "$RACEWATCH" hunt -q --jobs 1 --hold 100s \
		--targets "$1" --backend "$2" -- "$T" "$at" \
		>"$work/out" 2>"$work/err" </dev/null &
	hunt=$!
	lib_started "$hunt"
	await 60 test -s "$at" || return 1
	read -r program write loader <"$at"
	lib_started "$program"
	tracer=$(sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$program/status")
	worker=$(parent_of "$tracer")
	[ "$(parent_of "$worker")" = "$hunt" ]
}

# Its write is the side.
held()
{
	begin "$work/sides.jsonl" "$1" && await 60 stands "$write"
}

# The worker does not read what is loaded: it is stopped.
in_loader()
{
	begin "$work/later.jsonl" "$1" || return 1
	builtin kill -STOP "$worker"
	await 20 stopped "$worker" || return 1
	: >"$at.go"
	await 20 stands "$loader"
}

settled()
{
	gone "$program" || untraced "$program"
}

# ended WHAT END SIGNAL PID...: END is lives, dies or either
ended()
{
	builtin kill "-$3" "${@:4}"
	builtin kill -CONT "$worker" 2>/dev/null
	await 20 settled
	if [ "$2" = dies ] || { [ "$2" = either ] && gone "$program"; }; then
		await 20 gone "$program"
		is "$1: the program was ended too" $? 0
	else
		check_unharmed "$1" "$program"
	fi
	builtin kill -9 "$program" 2>/dev/null
	builtin kill -9 "$hunt" 2>/dev/null
	wait "$hunt" 2>/dev/null
}

# try WHERE BACKEND END SIGNAL NAME...: a run that is ended by a signal to those
try()
{
	local name pids=() what="$1, $2, SIG$4 to ${*:5}"

	if ! "$1" "$2"; then
		not_ok "$what: a thread is stopped there"
		diag_file "$work/err"
		builtin kill -9 "$hunt" "$program" 2>/dev/null
		return
	fi
	for name in "${@:5}"; do
		pids+=("${!name}")
	done
	ended "$what" "$3" "$4" "${pids[@]}"
}

RUN_TIMEOUT=60 run hunt --recorder breakpoints --budget 1ms -o "$work/all.jsonl" -- "$T"
# the first execution, and one that no thread makes
jq -c 'select(.type != "target" or .side.function == "held_write")' \
	"$work/all.jsonl" >"$work/sides.jsonl"
jq -c 'if .type == "target" then .side.ordinal = 30 else . end' \
	"$work/sides.jsonl" >"$work/later.jsonl"
has "there is a side" "$work/sides.jsonl" type=target \
	side.function=held_write || diag_file "$work/err"

try held perf lives KILL worker
try held ptrace lives KILL worker
try held perf either KILL hunt
try held ptrace dies KILL tracer
try held perf dies KILL tracer worker
try held ptrace either TERM hunt
try held perf either INT hunt
try in_loader perf lives KILL worker
try in_loader ptrace lives KILL worker
try in_loader perf either KILL hunt
try in_loader ptrace dies KILL tracer
try in_loader perf dies KILL tracer worker
try in_loader ptrace either TERM hunt

finish
