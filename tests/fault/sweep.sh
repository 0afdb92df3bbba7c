#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Sweeps that are killed by SIGKILL at many moments, two sweeps on one state
# file, one of them killed, and a disk that fills up: no finished run is lost,
# each run is done once, nothing is left running.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR
d=$work/sweep
# one name in all of the machine: what is left of a sweep is found by it
cp "$T/single.O2" "$work/kept-$$"

# begin NAME OPTION...: a sweep, in $pid; what it prints goes to out.NAME and
# err.NAME
begin()
{
	local name=$1

	shift
	"$RACEWATCH" sweep -d "$d" --min-samples 0 "$@" -- \
		"$work/kept-$$" "${seconds:-0.3}" >"$work/out.$name" 2>"$work/err.$name" &
	pid=$!
	lib_started "$pid"
}

done_runs()
{
	[ -s "$d/state.db" ] && sqlite3 -cmd '.timeout 20000' "$d/state.db" \
		'SELECT run FROM run WHERE ended' 2>/dev/null
}

has_done()
{
	[ "$(done_runs | wc -l)" -ge "$1" ]
}

nobody_left()
{
	! pgrep -f "kept-$$" >/dev/null
}

# Each time a little further, and killed at once when there.
runs=12
[ -n "$LONG" ] && runs=40
kept=0
lost=
for ((k = 1; k < runs - 2; k += 2)); do
	begin killed --runs "$runs" -j 2
	await 60 has_done "$k"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	now=$(done_runs | wc -l)
	[ "$now" -ge "$kept" ] || lost="$lost $k"
	kept=$now
done
is "no finished run is lost by SIGKILL" "$lost" ""
if await 20 nobody_left; then
	ok "what the killed sweeps had started has ended"
else
	not_ok "what the killed sweeps had started has ended"
	pgrep -af "kept-$$" | sed 's/^/#   /'
fi
begin last --runs "$runs"
wait "$pid"
is "the last one comes to its end" "$?" 0 || diag_file "$work/err.last"
is "each run was done once" "$(done_runs | sort -n | tr '\n' ' ')" \
	"$(seq -s ' ' 1 "$runs") "
rm -rf "$d"

# Two at once.
seconds=1 begin first --runs 10
first=$pid
await 60 test -s "$d/state.db"
seconds=1 begin second --runs 10
second=$pid
wait "$first"
one=$?
wait "$second"
is "two on one state file both end" "$one $?" "0 0"
is "and each run was done once (2)" "$(done_runs | sort -n | tr '\n' ' ')" \
	"$(seq -s ' ' 1 10) "
is "both had some of them" "$(sqlite3 "$d/state.db" \
	'SELECT count(DISTINCT worker) FROM run')" 2
for name in first second; do
	matches "the $name one tells of all" "$work/err.$name" \
		'^SWEEP: racewatch: 10 runs'
done
rm -rf "$d"

# Two at once, one of them killed: the other does its run too.
begin first --runs 8
first=$pid
begin second --runs 8
second=$pid
await 60 has_done 2
kill -9 "$first"
wait "$first" 2>/dev/null
wait "$second"
is "one of two is killed: the other ends" "$?" 0 || diag_file "$work/err.second"
is "and each run was done once (3)" "$(done_runs | sort -n | tr '\n' ' ')" \
	"$(seq -s ' ' 1 8) "
rm -rf "$d"

# A supervisor that is killed costs its run only.
supervisor_of()
{
	supervisor=$(pgrep -P "$1" | head -n 1)
	[ -n "$supervisor" ]
}
seconds=3 begin kept --runs 3
await 30 has_done 1
await 30 supervisor_of "$pid"
kill -9 "$supervisor"
wait "$pid"
is "a supervisor is killed: racewatch has failed in a run: 125" "$?" 125
matches "that run is named" "$work/err.kept" \
	'racewatch failed .*kept the run has died'
is "the others are done" "$(done_runs | wc -l)" 3
if await 20 nobody_left; then
	ok "what it kept has ended"
else
	not_ok "what it kept has ended"
fi
rm -rf "$d"

# Even when what it leaves of a report is none.
cat >"$work/spoil" <<'END'
#!/bin/sh
[ "$RACEWATCH_RUN" = 1 ] || exec "$1" 0.3
rm -f "$2/run-000001/report.jsonl"
echo 'no report' >"$2/run-000001/report.jsonl"
exec "$1" 1000
END
chmod +x "$work/spoil"
spoiled()
{
	grep -q 'no report' "$d/run-000001/report.jsonl" 2>/dev/null
}
"$RACEWATCH" sweep -d "$d" --min-samples 0 --runs 3 -- \
	"$work/spoil" "$work/kept-$$" "$d" >"$work/out" 2>"$work/err" &
pid=$!
lib_started "$pid"
await 30 spoiled
await 30 supervisor_of "$pid"
kill -9 "$supervisor"
wait "$pid"
is "a supervisor is killed, and the report spoiled: 125" "$?" 125
matches "that run is named (2)" "$work/err" \
	'^  run 1 .*racewatch failed .*kept the run has died'
is "the others are done (2)" "$(done_runs | wc -l)" 3
if await 20 nobody_left; then
	ok "what it kept has ended (2)"
else
	not_ok "what it kept has ended (2)"
fi
rm -rf "$d"

# A full disk, in a file system of its own.
if ! unshare -m true 2>/dev/null; then
	skip "a full disk" "no mount namespace"
	finish
fi
mkdir "$work/disk"
cat >"$work/full.sh" <<'END'
mount -t tmpfs -o size=2m,nr_inodes=200 tmpfs "$1" || exit 77
"$2" sweep -d "$1/sweep" --runs 3 --min-samples 0 -- "$3" 0.3 >"$4.1" 2>&1
echo "before $?"
dd if=/dev/zero of="$1/filler" bs=4k 2>/dev/null
"$2" sweep -d "$1/sweep" --runs 6 --min-samples 0 -- "$3" 0.3 >"$4.2" 2>&1
echo "full $? $(sqlite3 "$1/sweep/state.db" 'SELECT count(ended) FROM run')"
rm "$1/filler"
"$2" sweep -d "$1/sweep" --runs 6 --min-samples 0 -- "$3" 0.3 >"$4.3" 2>&1
echo "after $? $(sqlite3 "$1/sweep/state.db" 'SELECT count(ended) FROM run')"
END
unshare -m sh "$work/full.sh" "$work/disk" "$RACEWATCH" "$work/kept-$$" \
	"$work/log" >"$work/full"
if [ $? -eq 77 ]; then
	skip "a full disk" "no tmpfs may be mounted"
	finish
fi
matches "with room: 0" "$work/full" '^before 0$'
matches "a full disk: 125, and nothing that was there is lost" \
	"$work/full" '^full 125 3$' || diag_file "$work/log.2"
matches "it is named" "$work/log.2" 'No space left'
matches "with room again it goes on" "$work/full" '^after 0 6$' ||
	diag_file "$work/log.3"

finish
