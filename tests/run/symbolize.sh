#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# `racewatch report --symbolize': what a stripped program's run saved gets the
# functions, lines, variable and fingerprint of a run of the program that was
# not stripped, from files of the same build in every place they may be in, and
# nothing from files of another build.
#
# Each run halts at its first race; one that sees none, or one side only, is
# made again, with another seed, up to twice.

. "$(dirname "$0")/../lib.sh"

# field PATH FILE: of the first race
field()
{
	records --print "$1" "$2" type=race | head -n 1
}

# tops FILE: function, file and line of both accesses, sorted
tops()
{
	python3 - "$1" <<'EOF'
import json, sys

for line in open(sys.argv[1]):
    record = json.loads(line)
    if record["type"] == "race":
        tops = [side["frames"][0] for side in record["sides"]]
        print(*sorted("%s %s:%s" % (top.get("function"),
                                    top.get("file"), top.get("line"))
                      for top in tops), sep="\n")
        break
EOF
}

# symbolize DIRECTORY: into $work/named
symbolize()
{
	run report --symbolize "$1" --format json "$away/report.jsonl"
	cp "$work/out" "$work/named"
}

# as_unstripped WHAT: $work/named has the names that a run with symbols has
as_unstripped()
{
	is "$1: functions and lines" "$(tops "$work/named")" "$(tops "$here")"
	is "$1: variable" "$(field variable.name "$work/named")" "$(field variable.name "$here")"
	is "$1: fingerprint" "$(field fingerprint "$work/named")" \
		"$(field fingerprint "$here")"
	is "$1: the other one stays" "$(field fingerprint_code "$work/named")" \
		"$(field fingerprint_code "$away/report.jsonl")"
}

# record_both FILE PROGRAM: without registers both sides are seen only where both
# threads are stalled at once, which takes more runs
record_both()
{
	local seed

	if ! lacks registers; then
		record_race "$1" 1 "$2"
		return
	fi
	tries seed {1..9}
	while next_try seed; do
		record_race "$1" "$seed" "$2"
		records "$1" type=race &&
			! records "$1" sides.*.role=unknown && break
	done
}

program=$TARGETS_DIR/read_write.O2
id=$(readelf -n "$program" | sed -n 's/.*Build ID: //p')
here=$work/here.jsonl
record_both "$here" "$program"

# The host with the stripped program, which is gone when its report is read.
away=$work/away
mkdir "$away"
cp "$TARGETS_DIR/read_write.stripped" "$away/server"
record_both "$away/report.jsonl" "$away/server"
rm "$away/server"
has "the stripped run found its race" "$away/report.jsonl" type=race
is "which has no names" "$(tops "$away/report.jsonl" | grep -vc '^None None')" 0

# place WHERE FILE: a folder with a file in that place
place()
{
	rm -rf "$work/symbols"
	mkdir -p "$work/symbols/$(dirname "$1")"
	cp "$2" "$work/symbols/$1"
}

objcopy --only-keep-debug "$program" "$work/debug"
place server "$program"
symbolize "$work/symbols"
is "exit status" "$status" 0 || diag_file "$work/err"
as_unstripped "by name"
# the same file, stripped, where it is looked for earlier
mkdir -p "$work/symbols$away"
cp "$TARGETS_DIR/read_write.stripped" "$work/symbols$away/server"
symbolize "$work/symbols"
as_unstripped "a stripped file before it"
place "$away/server" "$program"
symbolize "$work/symbols"
as_unstripped "by path"
place "server.debug" "$work/debug"
symbolize "$work/symbols"
as_unstripped "by name, debug information only"
place ".build-id/${id:0:2}/${id:2}.debug" "$work/debug"
symbolize "$work/symbols"
as_unstripped "by build id"

# What was named is one race with that of the other host.
run report --symbolize "$work/symbols" --format json "$here" \
	"$away/report.jsonl"
is "merged to one race" "$(records --count "$work/out" type=race)" 1
has "which both runs saw" "$work/out" type=race runs=2
run report --format json "$here" "$away/report.jsonl"
is "without names there are two" "$(records --count "$work/out" type=race)" 2
run report --symbolize "$work/symbols" "$away/report.jsonl"
matches "as text" "$work/out" 'set_level.*read_write\.c:'

# Suppressions see the names.
echo 'race_top:^set_level$' >"$work/named.supp"
run report --symbolize "$work/symbols" --suppressions "$work/named.supp" \
	--format json "$away/report.jsonl"
has "suppressed by a name that was found" "$work/out" type=race \
	'suppressed.rule=race_top:^set_level$'

# A crash: its stack, and the races that came before it.
crasher=$TARGETS_DIR/crash_after.nopie
strip --strip-all -o "$away/crasher" "$crasher"
tries seconds 1.5 6 24
while next_try seconds; do
	RUN_TIMEOUT=90 run run --rate 3000 --seed 1 --error-exitcode 0 \
		-o "$away/crash.jsonl" -- "$away/crasher" "$seconds" null
	[ "$(races_in "$away/crash.jsonl")" -eq 0 ] || break
done
rm "$away/crasher"
place crasher "$crasher"
run report --symbolize "$work/symbols" --format json "$away/crash.jsonl"
has "a crash: its stack" "$work/out" type=crash frames.0.function=node_next \
	frames.0.file=*crash_after.c frames.0.line=[1-9]*
has "the race before it" "$work/out" type=crash races.*.variable=head
has "by its new fingerprint" "$work/out" type=race fingerprint="$(records \
	--print races.0.fingerprint "$work/out" type=crash)"

# Other builds of that name, and none at all.
"$RACEWATCH" report --format json "$away/report.jsonl" >"$work/unnamed"
place server "$TARGETS_DIR/read_write.nopie"
symbolize "$work/symbols"
is "another build: exit status" "$status" 0
cmp -s "$work/named" "$work/unnamed"
is "it is not used" $? 0
matches "which is said" "$work/err" \
	"symbols/server: not used, it is not the .*server of build id $id"
objcopy --remove-section .note.gnu.build-id "$program" "$work/symbols/server"
symbolize "$work/symbols"
cmp -s "$work/named" "$work/unnamed"
is "a file without a build id is not used" $? 0
matches "which is said" "$work/err" 'symbols/server: not used'
head -c 1000 "$program" >"$work/symbols/server"
symbolize "$work/symbols"
is "a file cut short: exit status" "$status" 0
cmp -s "$work/named" "$work/unnamed"
is "it is not used" $? 0
rm "$work/symbols/server"
symbolize "$work/symbols"
cmp -s "$work/named" "$work/unnamed"
is "an empty directory changes nothing" $? 0
matches "which is said" "$work/err" 'no name was found that was missing'
run report --symbolize "$work/nothing-there" "$away/report.jsonl"
is "a directory that is not there" "$status" 2
run report --symbolize "$program" "$away/report.jsonl"
is "a file" "$status" 2

finish
