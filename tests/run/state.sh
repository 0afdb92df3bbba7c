#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# --state: what a run learned is in the file, at the same places whatever the
# addresses were; bad files are named before anything runs; runs at the same
# time lose nothing; a run that is killed leaves the file as it was.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR
state=$work/t.state

# runs FILE: how many have added to it
runs()
{
	sed -n '1s/.*"runs":\([0-9]*\).*/\1/p' "$1"
}

# Half a minute to meet the race, which ends the run.
run run --seed 1 --state "$state" --halt-on-race -- "$T/global.O2" 30
is "a run with a state that is not there: 66" "$status" 66 ||
	diag_file "$work/err"
is "it has added itself" "$(runs "$state")" 1
skip_lacking registers "and the pair that raced" ||
	is "and the pair that raced" \
		"$(grep '"type":"pair"' "$state" | grep -vc '"races":0')" 1
run run --seed 2 --state "$state" --halt-on-race -- "$T/global.O2" 30
is "a second one" "$(runs "$state")" 2
is "of the same module" "$(grep -c '"type":"module".*global' "$state")" 1
objdump -d "$T/global.O2" | sed -n 's/^ *\([0-9a-f]*\):.*/0x\1/p' |
	sort >"$work/code"
module=$(sed -n 's/.*"module","id":\([0-9]*\).*global.*/\1/p' "$state")
grep "\"type\":\"site\".*\"module\":$module," "$state" |
	sed 's/.*"offset":"\([^"]*\)".*/\1/' | sort >"$work/offsets"
if [ -s "$work/offsets" ]; then
	ok "it has sites"
else
	not_ok "it has sites"
	diag_file "$state"
fi
is "all sites are instructions of the file" \
	"$(comm -23 "$work/offsets" "$work/code" | wc -l)" 0

echo 'int main(void)' >"$work/source.c"
run run --state "$work/source.c" -- touch "$work/ran"
is "what is no state: 2" "$status" 2
is "its line is named" "$(grep -c "source.c:1: " "$work/err")" 1
is "nothing was run" "$([ -e "$work/ran" ] && echo ran)" ""
is "and the file is as it was" "$(cat "$work/source.c")" "int main(void)"
# In the middle of its last line, whatever the lengths of the paths in it.
head -c -2 "$state" >"$work/torn"
run run --state "$work/torn" -- true
is "a state cut short: 2" "$status" 2
run run --state "$work" -- true
is "a directory: 2" "$status" 2
run run --state "$work/none/such" -- true
is "a folder that is not there: 125" "$status" 125
: >"$work/empty"
run run --state "$work/empty" -- true
is "an empty file: 0" "$status" 0
is "a run of nothing counts" "$(runs "$work/empty")" 1
ln -s empty "$work/link"
run run --state "$work/link" -- true
is "a link stays a link" "$(runs "$work/empty") $(readlink "$work/link")" \
	"2 empty"

# Becomes corrupt while it is in use.
run run --state "$work/empty" -- sh -c "echo torn >'$work/empty'"
is "corrupt meanwhile: 0" "$status" 0
is "it is kept" "$(cat "$work/empty.corrupt")" torn
is "and a new one begun" "$(runs "$work/empty")" 1

pids=()
for seed in 1 2 3 4; do
	"$RACEWATCH" run -q --seed "$seed" --state "$work/many" -- \
		"$T/heap.O2" 0.5 >/dev/null 2>&1 &
	pids+=($!)
done
wait "${pids[@]}"
is "four at a time" "$(runs "$work/many")" 4

# Killed when it has taken samples: there is something to be added then.
sampling()
{
	grep -q '"type":"progress",.*"samples":[1-9]' "$report" 2>/dev/null &&
		tracer=$(pgrep -P "$pid" racewatch-trace) &&
		program=$(pgrep -P "$tracer") &&
		grep -q "^TracerPid:.$tracer\$" "/proc/$program/status"
}
cp "$state" "$work/killed"
rm -f "$report"
"$RACEWATCH" run -q --state "$work/killed" -o "$report" -- "$T/global.O2" 60 \
	>"$work/out" 2>&1 &
pid=$!
lib_started "$pid"
if await 60 sampling; then
	ok "it samples a program that it traces"
	lib_started "$program"
else
	not_ok "it samples a program that it traces"
	diag_file "$work/out"
fi
kill -KILL "$pid"
wait "$pid" 2>/dev/null
is "killed: the file is as it was" "$(cmp "$state" "$work/killed" 2>&1)" ""

finish
