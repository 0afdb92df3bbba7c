#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Programs that are hard to watch run as if they were not: signal state,
# signals in flight, stops, children, exec, threads in masses, sudden ends.
# Each target checks itself; here also its exit status and its last line.

. "$(dirname "$0")/../lib.sh"

# beside six compilers, 200 threads by ptrace take more than a minute
RUN_TIMEOUT=200

# undisturbed NAME STATUS SECONDS BACKEND SEED [LEAVE]: with LEAVE, racewatch
# goes after half of the time. A short run takes half of the time.
undisturbed()
{
	local what="$1 by $4, seed $5${6:+, let go}" samples seconds leave
	local first=$3

	in_turn 3 "$what" || return 0
	# on a busy machine, the time may be over before the first sample
	[ -n "$LONG" ] || first=$(awk -v s="$3" 'BEGIN { print s / 2 }')
	tries seconds "$first" 3 20
	while next_try seconds; do
		leave=()
		[ -n "${6:-}" ] && leave=(--duration "$(awk -v s="$seconds" \
			'BEGIN { print s / 2 "s" }')")
		run run --backend "$4" --seed "$5" --rate 1000 -o "$report" \
			"${leave[@]}" -- "$TARGETS_DIR/$1.O2" "$seconds"
		samples=$(summary samples)
		if [ "$1" = single ] || [ "${samples:-0}" -ge 1 ]; then
			break
		fi
	done
	if [ "$status" -ne "$2" ]; then
		not_ok "$what: exit status $status, not $2"
	elif ! grep -q "^$1: done$" "$work/out"; then
		not_ok "$what: the program's last line is missing"
	elif [ "$1" != single ] && [ "${samples:-0}" -lt 1 ]; then
		not_ok "$what: not one sample was taken"
	else
		ok "$what ($samples samples)"
		return
	fi
	diag_file "$work/err"
}

table='
trap_blocked 0 1
trap_ignored 0 1
trap_handled 0 1
own_int3 0 1
block_all 0 1
churn 0 1
children 0 1.5
group_stop 0 1
threads200 0 1
signals 0 1
exit_hot 7 0.5
exit_thread 3 0.5
die 139 0.5
segv_handled 0 1
dlclose_loop 0 1
redzone 0 1
single 0 0.5
'
backends=(perf ptrace)
[ -n "$LONG" ] && backends=(perf ptrace perf-cpu value)
skip_lacking registers "with watchpoints" && backends=(value)
turn=0
while read -r name wanted seconds; do
	[ -n "$name" ] || continue
	for seed in $(seeds 1); do
		# a short run takes the back-ends in turn for the lesser ones
		case $LONG:$name in
		:trap_* | :block_all | :children | 1*)
			some=("${backends[@]}") ;;
		*)
			some=("${backends[turn++ % ${#backends[@]}]}") ;;
		esac
		for backend in "${some[@]}"; do
			undisturbed "$name" "$wanted" "$seconds" "$backend" \
				"$seed"
		done
	done
done <<<"$table"

# What the program set is there again when it is let go in mid-run.
for seed in $(seeds 1); do
	for backend in "${backends[@]}"; do
		for name in trap_blocked trap_ignored trap_handled; do
			undisturbed "$name" 0 1.6 "$backend" "$seed" leave
		done
	done
done

finish
