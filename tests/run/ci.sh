#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The examples for continuous integration: each is read as its service reads
# it, and its commands that are racewatch's are run, on a test with a race that
# is new and on one that has it in its baseline. What they upload is valid.

. "$(dirname "$0")/../lib.sh"

sources=$(realpath "$top_srcdir")
mkdir -p "$work/bin" "$work/project/tests"
ln -s "$(realpath "$RACEWATCH")" "$work/bin/racewatch"
export PATH=$work/bin:$PATH

cd "$work/project" || exit 99
cp "$TARGETS_DIR/read_write.O2" program
# shellcheck disable=SC2016 # for the program's shell
printf '#!/bin/sh\nexec ./program ${LENGTH:-2}\n' >./test
chmod +x ./test
: >tests/races.supp
# that a race is met, and samples are taken, is chance: longer, if need be
tries LENGTH 2 12 40
while next_try LENGTH; do
	export LENGTH
	racewatch run -q --seed 1 -o found.jsonl -- ./test >/dev/null 2>&1
	records found.jsonl type=race && break
done
: >none.jsonl

# steps EXAMPLE: its commands
steps()
{
	case $1 in
	Jenkinsfile)
		groovy "$sources/tests/helpers/jenkins-steps.groovy" \
			"$sources/contrib/ci/$1"
		;;
	*) "$sources/tests/helpers/ci-steps" "$sources/contrib/ci/$1" ;;
	esac
}

# valid EXAMPLE: what it has written of the formats that it uses
valid()
{
	if [ -e racewatch.sarif ]; then
		"$sources/tests/helpers/check-json" \
			"$sources/tests/data/sarif-2.1.0-rtm.5.json" \
			racewatch.sarif 2>"$work/check"
		is "$1: SARIF" "$?" 0 || diag_file "$work/check"
	fi
	if [ -e racewatch.xml ]; then
		xmllint --noout --nonet --schema "$sources/tests/data/junit.xsd" \
			racewatch.xml 2>"$work/check"
		is "$1: JUnit" "$?" 0 || diag_file "$work/check"
	fi
}

for example in github-actions.yml gitlab-ci.yml Jenkinsfile; do
	tool=python3
	[ "$example" = Jenkinsfile ] && tool=groovy
	if ! command -v "$tool" >/dev/null; then
		skip "$example" "there is no $tool"
		continue
	fi
	steps "$example" >"$work/steps" 2>"$work/err"
	is "$example is understood" "$?" 0 || diag_file "$work/err"
	in_turn 3 "$example: its commands" || continue
	# Commands in one line each; the gate by its place in the sources.
	sed -e ':a' -e '/\\$/{N;s/\\\n */ /;ta' -e '}' "$work/steps" |
		sed "s|/usr/share/doc/racewatch/examples/|$sources/contrib/ci/|" |
		grep -E '^ *(racewatch |[^ ]*/racewatch-gate )' >"$work/commands"
	grep -E 'racewatch-gate' "$work/commands" >"$work/gate"
	grep -E 'racewatch report' "$work/commands" >"$work/reports"
	is "$example: one gate" "$(wc -l <"$work/gate")" 1
	for kind in new known; do
		rm -f racewatch.*
		cp found.jsonl tests/races.base
		[ $kind = known ] || cp none.jsonl tests/races.base
		# samples of a known race end: see tests/run/manual.tab
		sed -i 's/-m 100/-m 10/' "$work/gate"
		tries LENGTH 2 12 40
		while next_try LENGTH; do
			sh -e "$work/gate" >"$work/out" 2>"$work/err"
			status=$?
			case $kind:$status in
			new:0 | *:65) ;;
			*) break ;;
			esac
		done
		case $kind in
		new) is "$example: a new race fails" "$status" 10 ;;
		known) is "$example: a known one does not" "$status" 0 ;;
		esac || diag_file "$work/err"
		sh -e "$work/reports" >"$work/out" 2>"$work/err"
		is "$example: the reports are made" "$?" 0 || diag_file "$work/err"
		valid "$example, $kind"
	done
	is "$example: SARIF or JUnit is among them" \
		"$([ -s racewatch.sarif ] || [ -s racewatch.xml ]; echo $?)" 0
done
cd / || exit 99
finish
