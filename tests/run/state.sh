#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# --state: what a run learned is in the file, at the same places whatever the
# addresses were; bad files are named before anything runs; runs at the same
# time lose nothing; a run that is killed leaves the file as it was; the queries
# of racewatch-state(5) work.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR
state=$work/t.state

# runs FILE: how many have added to it
runs()
{
	sqlite3 "$1" 'SELECT runs FROM state'
}

# Half a minute to meet the race, which ends the run.
run run --seed 1 --state "$state" --halt-on-race -- "$T/global.O2" 30
is "a run with a state that is not there: 66" "$status" 66 ||
	diag_file "$work/err"
is "it has added itself" "$(runs "$state")" 1
skip_lacking registers "and the pair that raced" ||
	is "and the pair that raced" \
		"$(sqlite3 "$state" 'SELECT count(*) FROM pair WHERE races')" 1
run run --seed 2 --state "$state" --halt-on-race -- "$T/global.O2" 30
is "a second one" "$(runs "$state")" 2
is "of the same module" "$(sqlite3 "$state" \
	"SELECT count(*) FROM module WHERE path GLOB '*global*'")" 1
objdump -d "$T/global.O2" | sed -n 's/^ *\([0-9a-f]*\):.*/0x\1/p' |
	sort >"$work/code"
sqlite3 "$state" "SELECT printf('0x%x', offset) FROM site
	JOIN module ON module.id = module WHERE path GLOB '*global*'" |
	sort >"$work/offsets"
if [ -s "$work/offsets" ]; then
	ok "it has sites"
else
	not_ok "it has sites"
	sqlite3 "$state" .dump >"$work/dump"
	diag_file "$work/dump"
fi
is "all sites are instructions of the file" \
	"$(comm -23 "$work/offsets" "$work/code" | wc -l)" 0

echo 'int main(void)' >"$work/source.c"
run run --state "$work/source.c" -- touch "$work/ran"
is "what is no state: 125" "$status" 125
is "its line is named" "$(grep -c "source.c:1: " "$work/err")" 1
is "no help is offered" "$(grep -c "Try" "$work/err")" 0
is "nothing was run" "$([ -e "$work/ran" ] && echo ran)" ""
is "and the file is as it was" "$(cat "$work/source.c")" "int main(void)"
# A line without end is not read to its end: 4 GB of zeros, in 200 MB of memory.
truncate -s 4G "$work/zeros"
(ulimit -d 200000 && run run --state "$work/zeros" -- touch "$work/ran" &&
	exit "$status")
is "a line without end: 125" $? 125
matches "its line is named (2)" "$work/err" "zeros:1: .*longer than any"
head -c 5000 "$state" >"$work/torn"
cp "$work/torn" "$work/torn.before"
run run --state "$work/torn" -- touch "$work/ran"
is "a state cut short: 125" "$status" 125
matches "it is named" "$work/err" "$work/torn: "
is "nothing was run (2)" "$([ -e "$work/ran" ] && echo ran)" ""
is "and it is as it was" "$(cmp "$work/torn" "$work/torn.before" 2>&1)" ""
cp "$state" "$work/later"
sqlite3 "$work/later" 'PRAGMA user_version=2'
run run --state "$work/later" -- touch "$work/ran"
is "a state of a later version: 125" "$status" 125
matches "its version is named" "$work/err" "$work/later: version 2"
is "nothing was run (3)" "$([ -e "$work/ran" ] && echo ran)" ""
sqlite3 "$work/mine" 'CREATE TABLE mine (x)'
run run --state "$work/mine" -- true
is "a database of somebody else: 125" "$status" 125
is "has no table of ours" "$(sqlite3 "$work/mine" .tables)" mine
run run --state /dev/full -- true
is "a device: 125" "$status" 125
matches "is named" "$work/err" "/dev/full: "
run run --state "$work" -- true
is "a directory: 125" "$status" 125
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

# Becomes something else while it is in use.
run run --state "$work/empty" -- sh -c "echo torn >'$work/empty'"
is "no state meanwhile: 125" "$status" 125
matches "it is named" "$work/err" "$work/empty:1: "
is "it stays" "$(cat "$work/empty")" torn

# What an earlier version wrote.
cat >"$work/old" <<'END'
{"type":"state","version":1,"runs":5}
{"type":"module","id":0,"path":"/x","build_id":"ab"}
{"type":"site","id":0,"module":0,"offset":"0x10","access":"write","hits":3,"stalls":1,"shared":2}
{"type":"pair","sites":[0,0],"seen":1,"races":1}
END
cp "$work/old" "$work/old.before"
run run --state "$work/old" -- true
is "JSON lines: 0" "$status" 0
matches "are imported, with a note" "$work/err" \
	"$work/old: .* imported .* kept as $work/old.jsonl"
is "all of it" "$(sqlite3 "$work/old" 'SELECT runs, build_id, offset, reads,
	writes, hits, stalls, shared, seen, races FROM state, pair
	JOIN site ON site.id = site JOIN module ON module.id = module')" \
	"6|ab|16|0|1|3|1|2|1|1"
is "and are kept" "$(cmp "$work/old.before" "$work/old.jsonl" 2>&1)" ""
run run --state "$work/old" -- true
is "once" "$(runs "$work/old") $(grep -c import "$work/err")" "7 0"
sed '3s/0x10/x/' "$work/old.before" >"$work/bad"
run run --state "$work/bad" -- true
is "bad JSON lines: 125" "$status" 125
is "their line is named" "$(grep -c "bad:3: " "$work/err")" 1
cp "$work/old.before" "$work/two"
echo mine >"$work/two.jsonl"
run run --state "$work/two" -- touch "$work/ran"
is "a file is in the way of an import: 125" "$status" 125
is "nothing was run (4)" "$([ -e "$work/ran" ] && echo ran)" ""
is "and it stays" "$(cat "$work/two.jsonl")" mine

# A folder that nothing can be created in, and a full disk.
cat >"$work/mounts.sh" <<'END'
mount -t tmpfs -o size=256k tmpfs "$1" || exit 77
cp "$3" "$1/t.state"
dd if=/dev/zero of="$1/filler" bs=1k 2>/dev/null
"$2" run --state "$1/t.state" -- true 2>"$4.full"
echo "full $? $(sqlite3 "$1/t.state" 'SELECT runs FROM state')"
rm "$1/filler"
mount -o remount,ro "$1"
"$2" run --state "$1/t.state" -- true 2>"$4.ro"
echo "read-only $? $(sqlite3 "$1/t.state" 'SELECT runs FROM state')"
mount -o remount,rw "$1"
"$2" run --state "$1/t.state" -- true 2>"$4.rw"
echo "writable $? $(sqlite3 "$1/t.state" 'SELECT runs FROM state')"
END
mkdir "$work/disk"
unshare -m sh "$work/mounts.sh" "$work/disk" "$RACEWATCH" "$state" \
	"$work/log" >"$work/mounts" 2>/dev/null
if [ $? -eq 77 ] || ! [ -s "$work/mounts" ]; then
	skip "a full disk" "no tmpfs may be mounted"
else
	is "a full disk: 125, then read-only: 125, then added to" \
		"$(cat "$work/mounts")" \
		"$(printf 'full 125 2\nread-only 125 2\nwritable 0 3')"
	matches "the full disk is named" "$work/log.full" \
		't.state: .*No space left'
	matches "the read-only file is named" "$work/log.ro" \
		't.state: .*readonly'
fi

# The queries of the manual page.
awk -v to="$work/query" '
	/^\.Bd -literal/ { getline; inside = /^SELECT/; n += inside }
	/^\.Ed/ { inside = 0 }
	inside { print >to "." n }' "$top_srcdir/man/racewatch-state.5"
is "the manual page has queries" "$(find "$work" -name 'query.*' | wc -l)" 8
"$RACEWATCH" sweep --runs 1 --min-samples 0 -d "$work/sweep" -- \
	"$T/single.O2" 0.1 >/dev/null 2>&1
sqlite3 "$work/sweep/state.db" "INSERT INTO race (run, fingerprint, minor, what)
	VALUES (1, '0', 0, 'global')"
cp "$state" "$work/queried"
# one that has been missed so far, whatever the runs above met
sqlite3 "$work/queried" "INSERT INTO site
	(module, offset, reads, writes, hits, stalls, shared)
	SELECT id, 4095, 0, 1, 9, 0, 9 FROM module WHERE path GLOB '*global*';
	INSERT INTO pair (site, other, seen, races)
	SELECT max(id), max(id), 0, 1 FROM site"
# a hunt's: one side that was provoked, and the others as if none had been tried
"$RACEWATCH" hunt -q --store "$work/hunted" -- "$T/listing1.O2" \
	>/dev/null 2>"$work/err"
sqlite3 "$work/hunted" "UPDATE side SET result = 'pending', runs = 0
	WHERE result != 'provoked'"
for n in 1 2 3 4 5 6 7 8; do
	queried=$work/queried
	found=global
	[ "$n" -le 4 ] || queried=$work/sweep/state.db
	[ "$n" -le 6 ] || queried=$work/hunted
	[ "$n" != 6 ] || found='passed[|]1[|]'
	[ "$n" != 7 ] || found='^first_write[|]a[|]'
	[ "$n" != 8 ] || found='^0[|][1-9]'
	sqlite3 "$queried" <"$work/query.$n" >"$work/rows" 2>"$work/err"
	is "query $n works" "$? $(wc -l <"$work/err")" "0 0" ||
		diag_file "$work/err"
	matches "query $n finds something" "$work/rows" "$found"
done

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
	records "$report" type=progress samples=[1-9]* &&
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
