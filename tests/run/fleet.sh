#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# contrib/fleet: what is chosen, servers of processes that share memory too, that
# a report has its name when it is complete, that SIGTERM leaves the program as it was, how much is kept; and that systemd's
# and Kubernetes' files say what the script takes. `report --unseen'.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

fleet=$top_srcdir/contrib/fleet
reports=$work/reports
# a name that no other test's programs have
name=fl$$
cp "$TARGETS_DIR/wait_forever.O2" "$work/$name"

# start [PROGRAM]: a program to be watched, its id in $program
start()
{
	: >"$work/said"
	"$work/${1:-$name}" >"$work/said" 2>&1 </dev/null &
	program=$!
	lib_started "$program"
	await 20 grep -q '^ready [0-9]' "$work/said" ||
		{ echo "Bail out! no target"; exit 99; }
}

# fleet OPTION...: the script to its end; $status
fleet()
{
	RACEWATCH=${tool:-$RACEWATCH} timeout -k 5 120 "$fleet/racewatch-fleet" \
		-d "$reports" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

# The reports that a collector may take.
complete()
{
	find "$reports" -maxdepth 1 -name '*.jsonl'
}

# The processes that a report is about.
watched()
{
	records --print pid "$1" type=run
}

start
fleet -s "comm=$name" -s "exe=$work/*" -t 1
is "a process is watched" "$status" 0 || diag_file "$work/err"
is "one report is there" "$(complete | wc -l)" 1
has "it is complete" "$(complete)" type=summary
is "it is about that process" "$(watched "$(complete)")" "$program"
is "nothing else is left" "$(ls "$reports/partial")" ""
check_unharmed "the program" "$program"

fleet -s "comm=$name" -s "user=nobody-$$" -t 1
is "all selectors must match: exit status" "$status" 0
matches "all selectors must match" "$work/err" 'no process to watch'

# It is written beside what a collector takes, until racewatch has ended.
RACEWATCH=$RACEWATCH "$fleet/racewatch-fleet" -d "$reports" -s "comm=$name" \
	-t 600 -e 1 >"$work/out" 2>"$work/err" </dev/null &
watcher=$!
lib_started "$watcher"
partial()
{
	records "$(echo "$reports"/partial/*.jsonl)" type=run
}
await 30 partial || diag_file "$work/err"
is "a report that is being written is not taken" "$(complete | wc -l)" 1
kill "$watcher"
wait "$watcher"
is "SIGTERM: exit status" "$?" 0 || diag_file "$work/err"
is "SIGTERM: the report is there" "$(complete | wc -l)" 2
is "SIGTERM: all reports are complete" \
	"$(complete | while read -r file; do
		records --count "$file" type=summary
	done | tr '\n' ' ')" "1 1 "
check_unharmed "SIGTERM" "$program"
kill -9 "$program"
wait "$program" 2>/dev/null

# What a run that was killed has left is taken, and the oldest goes first.
head -c 700000 /dev/zero >"$reports/old.jsonl"
touch -d '2 days ago' "$reports/old.jsonl"
head -c 700000 /dev/zero >"$reports/partial/left.jsonl"
start
fleet -s "comm=$name" -t 1 -k 1
is "what was left is taken, and the oldest is removed" \
	"$(complete | grep -c -e /old -e /left),$(ls "$reports/partial")" "1,"
kill -9 "$program"
wait "$program" 2>/dev/null

# Two servers of four processes with one thread each, which share memory in each
# of them; the children have another name. And a process that shares none.
server=sv$$
cp "$TARGETS_DIR/shared_server.O2" "$work/$server"
# family PID: it and its children
family()
{
	echo "$1"
	pgrep -P "$1"
}

# traced PID...: how many of them have a tracer
traced()
{
	local pid

	for pid; do
		sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$pid/status"
	done 2>/dev/null | grep -vc '^0$'
}
start "$server"
one=$program
mapfile -t family_one < <(family "$one")
start "$server"
other=$program
mapfile -t family_other < <(family "$other")
is "each server has four processes" \
	"${#family_one[@]},${#family_other[@]}" 4,4
# serve COUNT WANTED WHAT: watches so many servers, until of the processes of each
# as many have a tracer as one of the words of WANTED says
serve()
{
	RACEWATCH=$RACEWATCH "$fleet/racewatch-fleet" -d "$reports" \
		-s "comm=$server" -n "$1" -t 600 >"$work/out" 2>"$work/err" \
		</dev/null &
	watcher=$!
	lib_started "$watcher"
	if await 30 traced_as "$2"; then
		ok "$3"
	else
		not_ok "$3"
		diag_file "$work/err"
	fi
	kill "$watcher"
	wait "$watcher"
	is "$3: exit status" "$?" 0 || diag_file "$work/err"
}
traced_as()
{
	[[ " $1 " == *" $(traced "${family_one[@]}"),$(traced \
		"${family_other[@]}") "* ]]
}
serve 1 "4,0 0,4" "all processes of one server are watched, not the other"
serve 2 4,4 "two servers are watched"
for pid in "${family_one[@]}" "${family_other[@]}"; do
	check_unharmed "a server" "$pid"
done
kill -9 "$one" "$other"
wait "$one" "$other" 2>/dev/null

cp "$(command -v sleep)" "$work/sl$$"
"$work/sl$$" 120 &
sleeper=$!
lib_started "$sleeper"
fleet -s "comm=sl$$" -t 1
matches "one thread and nothing shared: not watched" "$work/err" \
	'no process to watch'
kill "$sleeper"
wait "$sleeper" 2>/dev/null

for bad in "-s name=x" "-t x" "-p 1%" "-n" "-z" "word"; do
	# shellcheck disable=SC2086 # words
	fleet $bad
	is "usage error: $bad" "$status" 2
done
tool=$work/none fleet -t 1
is "no racewatch" "$status" 125

# What the other files take of the script and of racewatch.
# The DaemonSet's arguments, a line each.
arguments()
{
	python3 -c 'import sys, yaml
pod = yaml.safe_load(open(sys.argv[1]))["spec"]["template"]["spec"]
assert pod["hostPID"]
print(*pod["containers"][0]["args"], sep="\n")' "$fleet/daemonset.yaml"
}
arguments >"$work/arguments" 2>"$work/err"
is "the DaemonSet is YAML" $? 0 || diag_file "$work/err"
mapfile -t daemonset <"$work/arguments"
# of its own names, so that it watches nothing here
fleet "${daemonset[@]}" -s "comm=none$$" -e 0
is "racewatch-fleet takes its arguments" "$status" 0 || diag_file "$work/err"
libraries()
{
	ldd "$RACEWATCH" | sed -n 's/.*=> \([^ ]*\).*/\1/p' |
		grep -oE 'lib(capstone|dw|elf|jansson|sqlite3)\.so\.[0-9]*' |
		sort -u |
		sed 's/3\.so\./3-/; s/\.so\.\([0-9]*\)$/\1/'
}
for library in $(libraries); do
	matches "the image has $library" "$fleet/Containerfile" \
		"[[:space:]]$library([[:space:]]|\$)"
done

race_fields='"kind":"write-write","evidence":"watchpoint","pid":1,"size":8,'
race_fields+='"address":"0x10","verdict":"suspect","count":1,"sides":[{"role":'
race_fields+='"stalled","access":"write"},{"role":"racing","access":"write"}]'

# The estimate over reports: each has a race of its own, but one that two have.
record()
{
	printf '{"type":"run","schema":1,"host":"h%d","seed":%d}\n' "$1" "$1"
	for race in "${@:2}"; do
		printf '{"type":"race","id":1,"fingerprint":"%032x",%s}\n' \
			"$race" "$race_fields"
	done
	printf '{"type":"summary","races":1,"new":1,"samples":10,%s}\n' \
		'"suppressed":0,"sites_sampled":1,"sites_eligible":1,"exit":66'
}
for i in 1 2 3 4; do
	record "$i" "$i" >"$work/host$i.jsonl"
done
record 5 1 >"$work/host5.jsonl"
run report --unseen "$work"/host?.jsonl
is "--unseen: exit status" "$status" 0 || diag_file "$work/err"
# three of four races in one report each, of five reports
matches "--unseen: the next report" "$work/out" \
	'unseen: one more such run shows a new race with probability 60 %'
matches "--unseen: races in all" "$work/out" \
	'unseen: about 7\.6 races in all, of which 4 were seen'
run report "$work"/host?.jsonl
is "without it nothing is estimated" "$(grep -c unseen "$work/out")" 0
for bad in "--format json" --diff; do
	# shellcheck disable=SC2086 # words
	run report --unseen $bad "$work/host1.jsonl" "$work/host2.jsonl"
	is "--unseen $bad: usage error" "$status" 2
done

finish
