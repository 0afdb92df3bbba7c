# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154 # $work of bench/lib.sh
#
# One run of a command for bench/peers/run: its time, its memory, and when it
# first told of a race. Wants bench/lib.sh.

first_line='^WARNING: racewatch: data race|^racewatch: note: new race in run|^WARNING: ThreadSanitizer: data race|Possible data race during|Conflicting (load|store) by'

# follow: copies what comes, and notes in file $1 when the first race does.
follow()
{
	local line

	while IFS= read -r line; do
		printf '%s\n' "$line"
		if [[ $line =~ $first_line ]]; then
			echo "${EPOCHREALTIME/[.,]/}" >"$1"
			break
		fi
	done
	cat
}

# tree_memory PID: adds the peak of it and of all below, in KiB, to $sum.
tree_memory()
{
	local key value rest pid children=()

	while read -r key value rest; do
		if [ "$key" = VmHWM: ]; then
			sum=$((sum + value))
			break
		fi
	done 2>/dev/null <"/proc/$1/status"
	for key in "/proc/$1/task"/*/children; do
		read -r -a children 2>/dev/null <"$key" || true
		for pid in "${children[@]}"; do
			tree_memory "$pid"
		done
	done
}

# poll_memory PID FILE: the most that was seen of it, as long as it lives. It
# looks ever less often, as looking takes time from the program.
poll_memory()
{
	local most=0 sum pause gap_ms=50 gap

	exec {pause}<> <(:)
	while kill -0 "$1" 2>/dev/null; do
		sum=0
		tree_memory "$1" 2>/dev/null
		if [ "$sum" -gt "$most" ]; then
			most=$sum
			echo "$most" >"$2"
		fi
		printf -v gap 0.%03d "$gap_ms"
		read -r -t "$gap" -u "$pause" || true
		gap_ms=$((gap_ms < 250 ? gap_ms * 5 / 4 : gap_ms))
	done
}

# measure TAG CMD...: runs it; leaves in $work/TAG.out and .err what it
# printed, and in TAG.result its time (microseconds), its status, its memory
# (KiB) and the microseconds to the first race, or - for none.
measure()
{
	local tag=$work/$1 start end child poller follower status first=-
	local memory=0

	shift
	rm -f "$tag".*
	mkfifo "$tag.pipe" || exit 1
	follow "$tag.first" <"$tag.pipe" >"$tag.err" &
	follower=$!
	start=${EPOCHREALTIME/[.,]/}
	"$@" >"$tag.out" 2>"$tag.pipe" <"${BENCH_INPUT:-/dev/null}" &
	child=$!
	poll_memory "$child" "$tag.memory" &
	poller=$!
	wait "$child"
	status=$?
	end=${EPOCHREALTIME/[.,]/}
	wait "$poller" "$follower"
	[ -e "$tag.first" ] && first=$(($(cat "$tag.first") - start))
	[ -e "$tag.memory" ] && memory=$(cat "$tag.memory")
	echo "$((end - start)) $status $memory $first" >"$tag.result"
}
