#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Options of .racewatch and RACEWATCH_OPTIONS: the command line counts last, and what
# only other commands have is passed over.

. "$(dirname "$0")/../lib.sh"

mkdir "$work/project" && cd "$work/project" || exit 99

# given: the options of the run record
given()
{
	jq -r 'select(.type == "run") | .options | join(" ")' "$report"
}

printf '%s\n' '# of the project' '' '  --overhead 7 --color=never' \
	"--include 'main *'" '--times 3' >.racewatch
run run -o "$report" --overhead 4 -- true
is "they come before those of the command line" "$(given)" \
	"--overhead 7 --color=never --include main * -o $report --overhead 4"
matches "which is told" "$work/err" \
	'note: options of .racewatch and RACEWATCH_OPTIONS: --overhead 7 --color=never --include main \*$'
matches "the last one counts" "$work/err" 'of 4 %'

RACEWATCH_OPTIONS="--overhead=9 -q" run run -o "$report" -- true
is "the variable comes after the file" "$(given)" \
	"--overhead 7 --color=never --include main * --overhead=9 -q -o $report"

run sites --list "$TARGETS_DIR/global.O2"
is "an option that only others have does no harm" "$status" 0
matches "its own count" "$work/err" 'RACEWATCH_OPTIONS: --include main \*$'

RACEWATCH_RUN=3 run run -o "$report" -- true
is "the runs of a sweep have none of their own" "$(given)" "-o $report"

# refused WHAT TEXT MESSAGE
refused()
{
	printf '%s\n' "$2" >.racewatch
	run run -- true
	is "$1" "$status" 2
	matches "$1: said" "$work/err" "^racewatch: error: .racewatch:1: $3"
}
refused "an unknown option" --stop "unknown option: --stop"
refused "an abbreviation" --overh=3 "unknown option: --overh=3"
refused "no option" overhead "'overhead' is not an option"
refused "the end of options" -- "'--' is not an option"
refused "what executes commands" "--on-race=exec:true" \
	"--on-race is for the command line and RACEWATCH_OPTIONS"
refused "what writes files, by its letter" "-o x" \
	"--output is for the command line and RACEWATCH_OPTIONS"
refused "what another command would write" "--directory x" \
	"--directory is for the command line and RACEWATCH_OPTIONS"
refused "no argument" "--seed" "--seed needs an argument: NUMBER"
# shellcheck disable=SC2016 # not to be expanded here
refused "a command" '--seed $(touch executed)' "commands are not executed here"
is "is not executed" "$([ -e executed ] && echo executed)" ""
refused "an open quote" '--at "x' "a quote is not closed"
# shellcheck disable=SC2016 # not to be expanded here
refused "a variable that is not set" '--at $racewatch_none' \
	"it names a variable that is not set"

printf -- '--overhead 200\n' >.racewatch
run run -- true
is "a value that is out of range" "$status" 2

# others could have racewatch execute what they like
printf -- '--overhead 7\n' >.racewatch
chmod o+w .racewatch
run run -o "$report" -- true
is "a file that others may write" "$(given)" "-o $report"
matches "is not read, which is told" "$work/err" \
	'warning: .racewatch is not read: it belongs to another user, or others may write it'
rm .racewatch
mkfifo .racewatch
run run -- true
is "a FIFO" "$status" 2
matches "is none" "$work/err" '.racewatch is not a text file of at most 64 KB'
finish
