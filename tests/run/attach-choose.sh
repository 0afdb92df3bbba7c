#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# attach --name, --unit and --cgroup: the processes that match, and no others.

. "$(dirname "$0")/../lib.sh"

# shellcheck disable=SC2317 # called through await
runs()
{
	[ "$(readlink "/proc/$1/exe" 2>/dev/null)" = "$2" ]
}

# start NAME: a program whose file has that name; its id in $program.
start()
{
	cp "$TARGETS_DIR/wait_forever.O2" "$work/$1"
	"$work/$1" >/dev/null 2>&1 </dev/null &
	program=$!
	lib_started "$program"
	await 20 runs "$program" "$work/$1" || not_ok "no program $1"
}

# chosen WHAT PIDS OPTION...: those, separated by ", ", and no others
chosen()
{
	run attach --duration 1ms "${@:3}"
	is "$1" "$(sed -n 's/^racewatch: note: chosen: //p' "$work/err")" \
		"$2"
}

name=chosen$$
start "$name.first-of-two-programs"
first=$program
start "$name.second-of-two-programs"
second=$program
start "other$$"

chosen "by the name of the file" "$first, $second" --name "$name.*"
is "they were watched" "$status" 0
chosen "after one by its id" "$program, $first" --name "$name.first*" "$program"
chosen "by the name that the kernel has" "$first, $program" --name "other$$" \
	"$first"
chosen "none twice" "$first" --name "$name.first*" "$first"
run attach --name "none$$"
is "no process that matches" "$status" 125
matches "is told" "$work/err" "error: no process matches --name 'none$$'"
for option in --name --unit --cgroup; do
	run attach $option ""
	is "an empty $option" "$status" 2
done
run attach
is "nothing is asked for" "$status" 2

# a control group of our own, where this can be made
for mount in /sys/fs/cgroup/unified /sys/fs/cgroup/systemd /sys/fs/cgroup; do
	group=$mount/racewatch-test-$$.service
	mkdir "$group" 2>/dev/null && [ -e "$group/cgroup.procs" ] && break
	rmdir "$group" 2>/dev/null
	group=
done
if [ -n "$group" ] && echo "$second" 2>/dev/null >"$group/cgroup.procs"; then
	chosen "processes of a unit" "$second" --unit "racewatch-test-$$"
	chosen "of a control group" "$second" \
		--cgroup "/racewatch-test-$$.service"
	run attach --unit "racewatch-test-$$" --name "$name.first*"
	is "both are to match" "$status" 125
	echo "$second" >"$mount/cgroup.procs"
else
	skip "units and control groups" "no control group can be made here"
fi
[ -z "$group" ] || rmdir "$group"

finish
