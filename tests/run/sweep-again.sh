#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The command that a sweep prints for a run repeats it: the same options, seed,
# command, directory, variables, and what had been learned before. The options
# that a sweep passes on to its runs.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR
sweep="$work/a sweep's folder"

# What the run's record says of how it was run, less where its files are.
options()
{
	jq -c 'select(.type == "run") | [.command, .seed, (.options |
		. as $o | [range(length) | select($o[.] != "--state" and
		(. == 0 or $o[. - 1] != "--state")) | $o[.]])]' "$1" |
		sed 's/"--quiet","--error-exitcode","0","--output","[^"]*",//
		s/,"-o","[^"]*"//; s/,"--error-exitcode","0"]/]/'
}

# The runs fail, so that each can be repeated; no race is wanted here.
# shellcheck disable=SC2016 # for the script's shell
printf '#!/bin/sh\necho "$RACEWATCH_RUN $RACEWATCH_SEED $PWD" >>%s\n%s 0.2 "$@"\nexit 3\n' \
	"'$work/told'" "$T/global.O2" >"$work/fails"
chmod +x "$work/fails"
"$RACEWATCH" sweep --runs 3 --seed 40 --follow all --exclude 'x*' \
	--include "it's" --at global.c:1 --no-aslr --effort high \
	--on-race exec:true --source -d "$sweep" -- \
	"$work/fails" '{run}' "a b'c" >"$work/out" 2>"$work/err" </dev/null
matches "each run that failed has a command" "$work/err" "run 2 once more: "
for run in 1 2 3; do
	command=$(sed -n "s/^ *run $run once more: //p" "$work/err" | head -n 1)
	folder=$sweep/run-00000$run
	cp "$folder/learned.db" "$work/before" 2>/dev/null ||
		: >"$work/before"
	: >"$work/told"
	# as a person does with nightly/run-000017/again of the manual: by the
	# shell, in another folder
	(cd / && RACEWATCH=$RACEWATCH bash -c "$command -o '$work/again.jsonl' \
			--error-exitcode 0" \
		>/dev/null 2>&1 </dev/null)
	is "run $run once more ends as it did" $? 3
	is "run $run once more has the same options" \
		"$(options "$work/again.jsonl")" \
		"$(options "$folder/report.jsonl")"
	is "run $run once more is told the same" "$(cat "$work/told")" \
		"$run $((40 + run)) $PWD"
	cp "$folder/learned.db" "$work/after" 2>/dev/null ||
		: >"$work/after"
	holds=$(cmp "$work/before" "$work/after" 2>&1)
	is "run $run once more leaves what had been learned" "$holds" ""
done
is "nothing had been learned before the first run" \
	"$(find "$sweep/run-000001" -name learned.db)" ""
is "the second began with what the first learned" \
	"$(sqlite3 "$sweep/run-000002/learned.db" 'SELECT runs FROM state')" 1
matches "the runs were given --effort" "$sweep/run-000001/report.jsonl" \
	'"--effort","high"'
matches "and --on-race" "$sweep/run-000001/report.jsonl" '"--on-race","exec:true"'
matches "and --source" "$sweep/run-000001/report.jsonl" '"--source"'

# A run that passes and shows nothing new is not kept for that.
tries seconds 1 5 30
while next_try seconds; do
	rm -rf "$work/plain"
	"$RACEWATCH" sweep --runs 1 -d "$work/plain" -- "$T/global.twin" \
		"$seconds" >/dev/null 2>&1
	# one that had no processor took no sample, which is told
	jq -e .samples "$work/plain/sweep.json" | grep -q '^0$' || break
done
is "a plain run has no command" \
	"$(find "$work/plain" -name again -o -name learned.db -path '*run-*')" ""

"$RACEWATCH" sweep --on-race stop -d "$work/none" -- true 2>"$work/err"
is "--on-race stop is refused" $? 2
matches "and why" "$work/err" "--on-race: 'stop': not for a sweep"
is "before anything is made" "$(find "$work/none" 2>/dev/null)" ""

finish
