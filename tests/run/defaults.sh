#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Options of RACEWATCH_OPTIONS: the command line counts last, and what only other
# commands have is passed over.

. "$(dirname "$0")/../lib.sh"

# given: the options of the run record
given()
{
	jq -r 'select(.type == "run") | .options | join(" ")' "$report"
}

export RACEWATCH_OPTIONS="--overhead 7 --color=never --include 'main *' --times 3"
run run -o "$report" --overhead 4 -- true
is "they come before those of the command line" "$(given)" \
	"--overhead 7 --color=never --include main * -o $report --overhead 4"
matches "which is told" "$work/err" \
	'note: options of RACEWATCH_OPTIONS: --overhead 7 --color=never --include main \*$'
matches "the last one counts" "$work/err" 'of 4 %'

RACEWATCH_OPTIONS=--stop run sites --list "$TARGETS_DIR/global.O2"
is "they are of commands that watch" "$status" 0

RACEWATCH_RUN=3 run run -o "$report" -- true
is "the runs of a sweep have none of their own" "$(given)" "-o $report"

# refused WHAT TEXT MESSAGE
refused()
{
	RACEWATCH_OPTIONS=$2 run run -- true
	is "$1" "$status" 2
	matches "$1: said" "$work/err" \
		"^racewatch: error: RACEWATCH_OPTIONS: $3"
}
refused "an unknown option" --stop "unknown option: --stop"
refused "an abbreviation" --overh=3 "unknown option: --overh=3"
RACEWATCH_OPTIONS=--stop run run --help
is "help is given in spite of it" "$status" 0
refused "no option" overhead "'overhead' is not an option"
refused "the end of options" -- "'--' is not an option"
refused "several letters" -qv "-qv: letters are not combined here"
refused "no argument" "--seed" "--seed needs an argument: NUMBER"
# shellcheck disable=SC2016 # not to be expanded here
refused "a command" '--seed $(touch executed)' "commands are not executed here"
is "is not executed" "$([ -e executed ] && echo executed)" ""
refused "an open quote" '--at "x' "a quote is not closed"
# shellcheck disable=SC2016 # not to be expanded here
refused "a variable that is not set" '--at $racewatch_none' \
	"it names a variable that is not set"
RACEWATCH_OPTIONS="--overhead 200" run run -- true
is "a value that is out of range" "$status" 2

finish
