#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch hunt --store: a hunt is killed by SIGKILL while a run of it goes on, and
# continued. What came of sides stays as it was, and the others are tried. Each run
# of the command waits for a line in a pipe, so that it is known which run is going
# on when the hunt is killed: it has saved all that came of the runs before.
#
# Beside the sides of listing 1, whose accesses are 20 ms apart and held for 500 ms,
# there are sides of threads that it does not have: no run reaches these, four are
# tried in one, and twice.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

program=$TARGETS_DIR/listing1.O2
store=$work/store.db
others=8

skip_lacking registers "hunt" && finish

mkfifo "$work/gate"
exec 9<>"$work/gate"
: >"$work/runs"
# shellcheck disable=SC2016 # expanded by sh
command=(sh -c 'echo run >>"$1/runs"; read -r _ <"$1/gate"; exec "$2"' sh
	"$work" "$program")

# the sides of a recording, and more: of other threads, to be tried last
run hunt --recorder breakpoints --budget 1ms -o "$work/recorded" -- "$program"
records --print id "$work/recorded" type=target >"$work/ids"
count=$(wc -l <"$work/ids")
side=$(sed '/"type":"target"/!d' "$work/recorded" | head -n 1)
cp "$work/recorded" "$work/sides"
for i in $(seq "$others"); do
	sed -e "s/\"id\":[0-9]*/\"id\":$((count + i))/" \
		-e "s/\"fingerprint\":\"[0-9a-f]*\"/\"fingerprint\":\"$(printf %032x "$i")\"/" \
		-e "s/\"thread_path\":[^,]*/\"thread_path\":\"0.$((i + 20))\"/" \
		-e 's/"rank":[0-9.]*/"rank":0/' <<<"$side"
done >>"$work/sides"

words=(hunt --targets "$work/sides" --store "$store" --jobs 1 --hold 500ms)

# go_on [OPTION...]: the hunt, to its end
go_on()
{
	RUN_TIMEOUT=300 run "${words[@]}" "$@" -- "${command[@]}"
}

# have_begun N: so many runs of the command
have_begun()
{
	[ "$(wc -l <"$work/runs")" -ge "$1" ]
}

# gone: neither the hunt's processes nor those of its run are left
gone()
{
	! pgrep -f -- "$work/" >"$work/left"
}

# outcomes: a line for each side whose outcome is known
outcomes()
{
	sqlite3 "$store" "SELECT side, result, runs, reached, hold_ns FROM side
		WHERE result != 'pending'" | sort
}

"$RACEWATCH" "${words[@]}" -- "${command[@]}" >"$work/out" 2>"$work/err" \
	</dev/null &
hunt=$!
lib_started "$hunt"
# run after run, until the race is known: the next one has begun then
number=1
await 60 have_begun 1
until outcomes | grep -q '[|]provoked[|]' || [ "$number" -eq 20 ]; do
	echo >&9
	number=$((number + 1))
	await 60 have_begun "$number" || break
done
kill -KILL "$hunt"
wait "$hunt" 2>/dev/null
await 60 gone
is "killed: nothing is left" "$(cat "$work/left")" ""
is "killed: in the last run that has begun" "$(wc -l <"$work/runs")" "$number"

# what the store has
outcomes >"$work/known"
is "kept: every side" "$(sqlite3 "$store" 'SELECT count(*) FROM side')" \
	$((count + others))
matches "kept: the race is known" "$work/known" '[|]provoked[|]'
is "kept: other outcomes are not" \
	"$(($(wc -l <"$work/known") < count + others))" 1

# all runs may end
yes '' | head -n 1000 >&9
go_on -o "$work/after"
is "continued: it ends" "$status" 66 || diag_file "$work/err"
is "continued: every side" "$(records --count "$work/after" type=target)" \
	$((count + others))
is "continued: nothing is left to be tried" \
	"$(records --count "$work/after" type=target outcome=pending)" 0
outcomes >"$work/all"
is "continued: what was known is as it was" \
	"$(comm -23 "$work/known" "$work/all")" ""
is "continued: more was made of the rest" \
	"$(($(wc -l <"$work/all") > $(wc -l <"$work/known")))" 1
has "continued: a side of no thread" "$work/after" type=target \
	outcome=unreached

# once more: nothing is left to do
before=$(wc -l <"$work/runs")
go_on
is "over: no run is made" "$(wc -l <"$work/runs")" "$before"
is "over: all is as it was" "$(outcomes)" "$(cat "$work/all")"

exec 9>&-
finish
