#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Races whose outcome in other orders is known are replayed in a program that
# runs: the report says that outcome, and the program is not harmed. A run makes
# one of three of these checks.

. "$(dirname "$0")/../lib.sh"

# outcome: of the race with most instances in the report, with how many
outcome()
{
	jq -rs 'map(select(.type == "race" and .replay != null)) | group_by(.id) |
		map(.[-1].replay) | sort_by(-.instances) |
		.[0] | "\(.outcome) \(.instances)"' "$report"
}

# replayed PROGRAM KIND OUTCOME [OPTION...]: some race of it has 20 instances or
# more, as where they tell nothing, and that outcome
replayed()
{
	local name="$1 $2: $3"
	local options=("${@:4}")
	local found count

	in_turn 3 "$name" || return 0
	skip_lacking registers "$name" && return
	# the race is to be met 20 times and more
	tries seconds 2 4 20 60
	while next_try seconds; do
		RUN_TIMEOUT=$((seconds + 60)) run run --rate 3000 "${options[@]}" \
			-o "$report" -- "$TARGETS_DIR/$1" "$seconds" ${2:+"$2"}
		read -r found count <<<"$(outcome)"
		# no race was met, or none was replayed
		[ "$count" != null ] || count=0
		[ "${count:-0}" -lt 20 ] || break
	done
	if [ "$found" = "$3" ] && [ "${count:-0}" -ge 20 ] &&
		grep -q "^${1%.*}: done$" "$work/out"; then
		ok "$name"
	else
		not_ok "$name (is '$found $count')"
		diag_file "$work/err"
	fi
	# orders.c has one, which goes on
	[ "$3" != fault ] || has "$name, and that there is a handler" \
		"$report" type=race replay.fault.signal=11 replay.fault.handled=true
}

for program in orders.O2 orders.nopie; do
	replayed "$program" lost state-change
	replayed "$program" redundant no-state-change
	replayed "$program" stale fault
done

# nothing is done in these, nor does a copy lack what a child process would lack
for kind in seccomp nproc shared wipe dontfork; do
	replayed confined.O2 "$kind" state-change
done

# between processes, which have the memory at one address or at two
for level in O0 O2; do
	replayed "shared_fork.$level" "" state-change --follow fork
	replayed "shared_fork.$level" count state-change --follow fork
	replayed "shared_fork.$level" same no-state-change --follow fork
	replayed "shared_shm.$level" "" state-change --follow fork
done

# A race that was met has more stalls, until replays have enough of it: 100 of one
# location, beside the few that each of 259 has by its turn. How many of them meet
# depends on what else runs, so the stalls are counted, by the state. To have 40,
# and twice as many as any other location, by its turn alone happens with a
# probability below 1e-9, however long it runs.
revisited()
{
	local name="a race has more stalls" state=$work/revisited.state most next

	in_turn 3 "$name" || return 0
	skip_lacking registers "$name" && return
	# it is to be met first
	tries seconds 2 4 8 16 30
	while next_try seconds; do
		rm -f "$state"
		run run --rate 1000 --replay-instances 100 --state "$state" \
			-o "$report" -- "$TARGETS_DIR/thicket.O2" "$seconds"
		read -r most next < <(sqlite3 "$state" \
			'SELECT stalls FROM site ORDER BY stalls DESC LIMIT 2' |
			tr '\n' ' ')
		[ "${most:-0}" -lt 40 ] || [ "$most" -lt $((2 * next)) ] || break
	done
	has "$name: it is met" "$report" type=race 'sides.*.frames.*.function=add'
	if [ "${most:-0}" -ge 40 ] && [ "$most" -ge $((2 * next)) ]; then
		ok "$name"
	else
		not_ok "$name (it has '$most', another location '$next')"
		diag_file "$work/err"
	fi
}

revisited

# told: what the report says of replays: on or off, and the most instances
told()
{
	jq -rs '"\(map(select(.type == "run"))[0].replay) " +
		"\(map(select(.type == "race") | .replay.instances // 0) | max // 0)"' \
		"$report"
}

# attached WHEN ON MOST: attached to, with --replay WHEN, of --replay-instances 3
attached()
{
	local name="attach --replay $1: $2, $3 instances" program

	skip_lacking registers "$name" && return
	tries seconds 1 4 20 60
	while next_try seconds; do
		"$TARGETS_DIR/orders.O2" "$seconds" lost >"$work/said" &
		program=$!
		lib_started "$program"
		run attach --replay "$1" --replay-instances 3 --effort normal \
			-o "$report" "$program"
		wait "$program"
		records "$report" type=race || continue
		[ "$(told)" != "$2 $3" ] || break
	done
	is "$name" "$(told)" "$2 $3" || diag_file "$work/err"
	matches "and the program ended as it does" "$work/said" '^orders: done$'
}

# ran WHEN ON MOST: the same of a program that is started
ran()
{
	local name="run --replay $1: $2, $3 instances"

	tries seconds 1 4 16 60
	while next_try seconds; do
		run run --seed 1 --rate 1000 --replay "$1" \
			--replay-instances 3 -o "$report" -- \
			"$TARGETS_DIR/orders.O2" "$seconds" lost
		records "$report" type=race || continue
		[ "$(told)" != "$2 $3" ] || break
	done
	is "$name" "$(told)" "$2 $3" || diag_file "$work/err"
}

ran auto on 3
ran on on 3
ran off off 0
run run --replay sometimes -- "$TARGETS_DIR/orders.O2" 0.1 lost
is "run --replay sometimes: 2" "$status" 2
matches "the words are told" "$work/err" "sometimes.*on.*off"
run run --replay-instances none -- "$TARGETS_DIR/orders.O2" 0.1 lost
is "run --replay-instances none: 2" "$status" 2
matches "it is told" "$work/err" "none"

attached auto on 3
attached on on 3
attached off off 0

finish
