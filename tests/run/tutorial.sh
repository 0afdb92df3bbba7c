#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The session of racewatch-tutorial(7) is run command by command, and what each
# command prints is compared with the page.
#
# Chance decides whether a race is met in the time of a command, with both its
# sides, and in which order. If one of these is missing there is another try, for a
# longer time. Whatever else differs from the page is wrong, and no other try hides
# it; so is a race in a program that is fixed.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib-manual.sh"

needs python3 jq gdb cc c++ valgrind

session=$work/session
mkdir "$session" "$work/programs"
examples session "$sources/man/racewatch-tutorial.7" "$session" || exit 99
cp "$sources"/contrib/tutorial/* "$work/programs"
cd "$work/programs" || exit 99

# perform NUMBER: runs that command, where it watches for seconds for $seconds of
# them, in place of five; what it prints goes to NUMBER.got
perform()
{
	local command gdb=() line

	command=$(sed -e "s|/usr/share/racewatch/gdb|$sources/contrib/gdb|" \
		-e "s/--duration 5s/--duration ${seconds}s/" \
		-e "s/--duration 1m/--duration $((12 * seconds))s/" \
		-e "s/--budget 10s/--budget $((2 * seconds))s/" \
		"$session/$1.command")
	if [ -f "$session/$1.gdb" ]; then
		while read -r line; do
			gdb+=(-ex "echo (gdb) $line\\n" -ex "$line")
		done <"$session/$1.gdb"
		# shellcheck disable=SC2016 # expanded by eval
		command+=' -nx -batch "${gdb[@]}"'
	fi
	eval "$command" >"$session/$1.got" 2>&1 </dev/null
	# the page's machine has no reason for it
	lacks registers &&
		sed -i '/^racewatch: warning: watchpoints by perf: /d' \
			"$session/$1.got"
	# shellcheck disable=SC2046 # words
	lib_started $(jobs -p)
}

# wrote COMMAND: if it is to generate rules, are they there, and of both sides? A
# file of a try that was none is removed: rules are appended.
wrote()
{
	[[ $1 =~ --gen-suppressions\ ([^ ]+) ]] || return 0
	[ -s "${BASH_REMATCH[1]}" ] &&
		! grep -q 'one side was not seen' "${BASH_REMATCH[1]}" &&
		return 0
	rm -f "${BASH_REMATCH[1]}"
	return 1
}

# both_seen COMMAND: if it is to stop at a race, is neither side of that unknown?
both_seen()
{
	[[ $1 =~ --on-race\ stop.*\ -o\ ([^ ]+) ]] || return 0
	! records "${BASH_REMATCH[1]}" type=race sides.*.role=unknown
}

# What chance may deny a try, as the page has it.
chances=(
	'^WARNING: racewatch: data race #'
	'^racewatch: #1 known, '
	'^SUMMARY: racewatch: 0 races,'
	'^SUMMARY: racewatch: 0 races .* suppressed\)'
	'^SWEEP: racewatch: .* 2 races;'
	'^racewatch: note: process .* is stopped at the race'
	'^order .* SIGSEGV'
)

# by_chance NUMBER COMMAND: is what the page has and the command did not print such?
by_chance()
{
	local chance expected=$session/$1.expected got=$session/$1.got

	if [[ $2 = *fixed.jsonl* ]]; then
		! grep -qE "${chances[0]}|SIG" "$got" || return 1
	fi
	for chance in "${chances[@]}"; do
		[ "$(grep -cE "$chance" "$expected")" -le \
			"$(grep -cE "$chance" "$got")" ] || return 0
	done
	grep -qE "side was not seen|debug register (is )?free|proves nothing|Segm" \
		"$got"
}

# lacking COMMAND: does it need debug registers, to see both sides of a race or to
# use what has them, where there are none? The fixed server has no race to show.
lacking()
{
	case $1 in
	"racewatch attach "*"-o fixed.jsonl "*) return 1 ;;
	"racewatch doctor "* | "racewatch run "* | "racewatch sites "*) return 1 ;;
	"racewatch "* | "gdb "* | "head "*)
		skip_lacking registers "racewatch-tutorial(7): $1"
		;;
	*) return 1 ;;
	esac
}

# follow NUMBER COMMAND SECONDS...: is what it prints what the page has?
follow()
{
	local seconds

	tries seconds "${@:3}"
	while next_try seconds; do
		perform "$1"
		if ! examples same "$session/$1.expected" "$session/$1.got" \
			>"$work/differences"; then
			by_chance "$1" "$2" || return 1
		elif wrote "$2" && both_seen "$2"; then
			return 0
		fi
		diag "not as it should be: $2"
		diag_file "$work/differences"
		diag_file "$session/$1.got" 40
		[[ $2 = *tallyd* ]] && kill -CONT "$(pidof tallyd)" 2>/dev/null
	done
	return 1
}

for file in "$session"/*.command; do
	number=$(basename "$file" .command)
	command=$(tr -s '\\\n ' ' ' <"$file")
	lacking "$command" && continue
	case $command in
	# none is to be met there
	*fixed.jsonl*) seconds="5 15 45 100" ;;
	"racewatch attach "*) seconds="2 5 15 45 100" ;;
	"racewatch sweep "*) seconds="5 15 45 100" ;;
	"racewatch hunt "* | "racewatch provoke "*) seconds="5 5 5 5 5" ;;
	# on a busy machine one run of twenty crashes
	"./pack "*) seconds="5 5 5 5 5 5" ;;
	# two of three runs meet no race, as the page's
	"racewatch run "*) seconds=$(seq 24) ;;
	*) seconds=5 ;;
	esac
	# shellcheck disable=SC2086 # words
	if follow "$number" "$command" $seconds; then
		ok "racewatch-tutorial(7): $command"
	else
		not_ok "racewatch-tutorial(7): $command"
		diag_file "$work/differences" 60
		diag_file "$session/$number.got" 40
	fi
done
is "the session has commands" "$([ "${number:-000}" -gt 030 ]; echo $?)" 0
end_programs

# What the first part begins with: the counts do go wrong.
cc -g -O2 -pthread -D_GNU_SOURCE -o tallyd tallyd.c
./tallyd tally.sock &
tries seconds {1..10}
while next_try seconds; do
	timeout "$seconds" ./tally --load tally.sock
	./tally tally.sock >counts
	grep -qv ': 0 open$' counts && break
done
is "the server's counts go wrong without racewatch too" \
	"$(grep -qv ': 0 open$' counts; echo $?)" 0
end_programs

cd / || exit 99
finish
