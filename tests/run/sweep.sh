#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch sweep: its ends, its exit statuses, runs that go wrong in each way,
# the state file across kills, full disks and other sweeps, the merged report.
#
# Where a race is to be met, it is that of read_write, in eight runs of 0.7 s,
# and where none of them sees it, as on a loaded machine, in eight longer ones.
# In how many it is seen on a machine is said by
#
#	racewatch sweep --runs 30 -- tests/targets/read_write.O2 0.7

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR
d=$work/sweep

# sweep ARG...: as run, in the directory $d
sweep()
{
	RUN_TIMEOUT=120 run sweep -d "$d" "$@"
}

# finished: how many runs have ended, by the state file
finished()
{
	sqlite3 "$d/state.db" 'SELECT count(ended) FROM run'
}

# field NAME: a number of the top of sweep.json, or in runs or estimate
field()
{
	local path

	for path in "$1" "runs.$1" "estimate.$1"; do
		records --print "$path" "$d/sweep.json" "$path=*"
	done
}

# count_of TYPE FILE
count_of()
{
	records --count "$2" type="$1"
}

# Without registers the race is seen from one side, or from both where both
# threads are stalled at once, which are two races: that of the reader is left.
alone=()
lacks registers && alone=(--exclude set_level)

# Races are found, merged, counted; what each run had is kept.
tries seconds 0.7 8
while next_try seconds; do
	rm -rf "$d"
	sweep --runs 8 -j 2 -o "$report" "${alone[@]}" -- \
		"$T/read_write.O2" "$seconds"
	case $status in
	0 | 65) ;; # none was seen
	*) break ;;
	esac
done
racy=("${alone[@]}" -- "$T/read_write.O2" "$seconds")
is "a race: 66" "$status" 66 || diag_file "$work/err"
is "as many runs as asked for" "$(finished)" 8
matches "the race is printed once, of all runs" "$work/err" \
	'^WARNING: racewatch: data race #1 '
is "once" "$(grep -c ^WARNING "$work/err")" 1
matches "with how many runs showed it" "$work/err" \
	'^  race #1 in [1-8] of 8 runs, first in run [1-8] '
matches "and what is unseen" "$work/err" '^  unseen: one more such run shows'
cmp -s "$report" "$d/report.jsonl"
is "the report in the directory is that of -o" "$?" 0
is "merged" "$(count_of race "$report") $(count_of run "$report") $(
	count_of summary "$report")" "1 1 1"
is "sweep.json agrees" "$(field finished) $(field exit)" "8 66"
bad=
for n in 1 2 3 4 5 6 7 8; do
	cmp -s "$d/run-00000$n/stdout" <(echo 'read_write: done') || bad="$bad $n"
	records "$d/run-00000$n/report.jsonl" type=summary || bad="$bad $n"
	records "$d/run-00000$n/report.jsonl" type=run seed=$n ||
		bad="$bad seed-$n"
done
is "every run has its output, its report and its seed" "$bad" ""
"$RACEWATCH" report --format json "$d"/run-*/report.jsonl >"$work/again" 2>&1
cmp -s "$work/again" "$report"
is "racewatch report of all runs gives the same" "$?" 0

# Nothing is left to do: the report is written anew.
sweep --runs 8 "${racy[@]}"
is "finished before: 66 again" "$status" 66
is "without a new run" "$(finished) $(sqlite3 "$d/state.db" \
	'SELECT max(claimed) FROM run')" "8 8"
sweep --runs 9 --format sarif "${racy[@]}"
is "one more" "$(finished)" 9
has "--format to standard output" "$work/out" version=2.1.0

# The gate.
cp "$d/report.jsonl" "$work/base"
sweep --runs 9 --baseline "$work/base" "${racy[@]}"
is "the race is known: 0" "$status" 0 || diag_file "$work/err"
sweep --runs 9 --error-exitcode 0 "${racy[@]}"
is "--error-exitcode 0: 0" "$status" 0
echo 'race:_level' >"$work/all.supp"
sweep --runs 9 --suppressions "$work/all.supp" "${racy[@]}"
is "the race is suppressed: 0" "$status" 0 || diag_file "$work/err"

# A race that is unlikely counts, unless it is to be ignored.
unlikely_sweep()
{
	tries seconds 0.7 8 30
	while next_try seconds; do
		rm -rf "$d.unlikely"
		sweep --directory "$d.unlikely" --runs 2 \
			--special-variable count "$@" -- \
			"$TARGETS_DIR/verdicts.O2" "$seconds" ticket
		records "$d.unlikely/report.jsonl" verdict=unlikely && break
	done
}
if in_turn 2 "a race that is unlikely"; then
	unlikely_sweep
	is "a race that is unlikely: 66" "$status" 66 || diag_file "$work/err"
	matches "it is printed" "$work/err" \
		'verdict     unlikely \(special-variable\)'
	matches "and summed up" "$work/err" '^  race #1 in [12] of 2 runs'
fi
if in_turn 2 "a race that is unlikely, --ignore-unlikely"; then
	unlikely_sweep --ignore-unlikely
	is "--ignore-unlikely: 0" "$status" 0 || diag_file "$work/err"
	matches "--ignore-unlikely: a line" "$work/err" \
		'^racewatch: #1 unlikely \(special-variable\): '
	is "--ignore-unlikely: not in full" "$(grep -c ^WARNING "$work/err")" 0
fi

sweep --runs 9 --min-samples 100000000 --error-exitcode 0 \
	"${racy[@]}"
is "too few samples: 65" "$status" 65
rm -f "$work/new.base"
sweep --runs 9 --baseline "$work/new.base" --update-baseline \
	--gen-suppressions "$work/new.supp" "${racy[@]}"
is "new to the baseline that is written: 66" "$status" 66 || diag_file "$work/err"
has "the baseline has it" "$work/new.base" type=race
matches "so have the suppressions" "$work/new.supp" '^race_top:'

# Another command or seed in the same directory.
sweep --runs 9 "${alone[@]}" -- "$T/read_write.O2" 0.9
is "the state of another command: 2" "$status" 2
matches "is refused" "$work/err" 'state.db: .*another command'
sweep --runs 9 --seed 5 "${racy[@]}"
is "of another seed: 2" "$status" 2
rm -rf "$d"

# Nothing to find: a quiet end, and no proof without samples.
tries seconds 0.7 6 20
while next_try seconds; do
	rm -rf "$d"
	sweep --stop-after-quiet 3 -- "$T/free_locks.O2" "$seconds"
	case $status in
	0 | 65) records "$d/sweep.json" runs.sampled=3 && break ;;
	*) break ;;
	esac
done
is "quiet, no race: 0" "$status" 0 || diag_file "$work/err"
is "after three runs" "$(finished)" 3
matches "is said" "$work/err" '^SWEEP: .*the last runs showed no new race'
has "the limit is the rule of three" "$d/sweep.json" \
	estimate.next_limit=0.998*
rm -rf "$d"
sweep --runs 2 -- /bin/true
is "no sample: 65" "$status" 65 || diag_file "$work/err"
matches "is said" "$work/err" 'run 2 \(seed 2\): took no sample'
rm -rf "$d"

# A budget: no run is begun that would not end by then.
tries budget 2 30
while next_try budget; do
	rm -rf "$d"
	start=$SECONDS
	sweep --budget "${budget}s" -- "$T/single.O2" 0.5
	[ "$(finished)" -eq 0 ] || break
done
if [ $((SECONDS - start)) -le $((budget + 9)) ] && [ "$(finished)" -ge 1 ]; then
	ok "a budget ends it"
else
	not_ok "a budget ends it"
	diag_file "$work/err"
fi
matches "is said" "$work/err" '^SWEEP: .*the time is used up'
rm -rf "$d"
tries budget 1 8 40
while next_try budget; do
	rm -rf "$d"
	sweep --budget "${budget}s" -- "$T/wait_forever.O2"
	[ "$(field samples)" = 0 ] || break
done
matches "also in the middle of a run" "$work/err" \
	'^SWEEP: racewatch: 1 run in .*the time is used up'
matches "which is told" "$work/err" 'run 1 \(seed 1\): was cut short'
more=$(field samples)
is "and its samples are" "$((${more:-0} > 0))" 1 || diag_file "$d/sweep.json"
rm -rf "$d"

# Runs that go wrong, each in its way; the command's seed is the run's. Those
# that leave processes behind end when these are there; their lengths are of
# this test alone.
export left=$$
mkfifo "$work/there"
cat >"$work/wrong" <<'END'
#!/bin/bash
exec 3>&-
case $RACEWATCH_RUN in
1) echo "seed $1 $2 $RACEWATCH_SEED" ;;
2) exit 3 ;;
3) kill -SEGV $$ ;;
4) exec sleep "1000.$left" ;;
5)
	sleep "1001.$left" &
	until read -r name <"/proc/$!/comm" && [ "$name" = sleep ]; do
		:
	done
	;;
6)
	setsid sh -c 'trap "" TERM; sleep "1002.$left" & echo >"$0"
		wait; sleep "1002.$left"' "${0%/*}/there" >&- 2>&- &
	read -r <"${0%/*}/there"
	;;
7) head -c 300000 /dev/zero | tr '\0' x ;;
8) exit 127 ;;
9) exit 125 ;;
esac
END
chmod +x "$work/wrong"
sweep --runs 9 -j 3 --seed 100 --timeout 10s --output-limit 1000 -- \
	"$work/wrong" '{seed}' 'x{run}'
is "a run that hung: 124" "$status" 124 || diag_file "$work/err"
cmp -s "$d/run-000001/stdout" <(echo 'seed 101 x1 101')
is "{seed}, {run} and the environment" "$?" 0
matches "a failing run" "$work/err" \
	'^  run 2 \(seed 102\): failed with status 3,'
matches "one that dies by a signal" "$work/err" \
	'^  run 3 \(seed 103\): failed with status 139 \(SIGSEGV\)'
matches "one that hangs" "$work/err" '^  run 4 \(seed 104\): hung and was ended'
matches "one that leaves a process behind" "$work/err" \
	'^  run 5 .* left 1 process behind: sleep'
matches "one that forks away" "$work/err" \
	'^  run 6 .* forked away, left 2 processes behind'
matches "one that floods its output" "$work/err" \
	'^  run 7 .* flooded its output'
matches "what was cut is told in the file" "$d/run-000007/stdout" \
	'racewatch: 299000 bytes were cut here'
size=$(wc -c <"$d/run-000007/stdout")
if [ "$size" -gt 1000 ] && [ "$size" -lt 1100 ]; then
	ok "and the rest kept"
else
	not_ok "and the rest kept ($size bytes)"
fi
matches "a status of its own that is also racewatch's" "$work/err" \
	'^  run 9 .* failed with status 125'
if pgrep -f "^sleep 100[012]\.$left\$" >/dev/null; then
	not_ok "no process is left"
	pgrep -af "^sleep 100[012]\.$left\$" | sed 's/^/#   /'
else
	ok "no process is left"
fi
has "counted" "$d/sweep.json" runs.passed=4 runs.failed=4 runs.timed-out=1
rm -rf "$d"

# What cannot be started.
sweep --runs 3 -- "$work/none"
is "no such command: 127" "$status" 127
if [ -e "$d" ]; then
	not_ok "and nothing is made"
else
	ok "and nothing is made"
fi
cp "$T/single.O2" "$work/single2"
sweep --runs 20 -- "$work/single{run}" 0.1
is "started once of many times: 127" "$status" 127 || diag_file "$work/err"
matches "it gives up" "$work/err" '^SWEEP: .*gave up'
matches "those are counted" "$work/err" \
	'^  run 3 \(seed 3\): could not be started.*command not found'
is "not all twenty were tried" "$(finished)" 7
rm -rf "$d"
sweep --runs 2 --backend value --rate 100 --min-samples 0 -- \
	"$T/exit_hot.O2" 0.3
is "the command's own status: 7" "$status" 7 || diag_file "$work/err"
rm -rf "$d"

# Interrupted: the run is ended, the report written, and the rest done later.
started()
{
	[ -s "$d/run-000002/report.jsonl" ]
}
for signal in INT TERM; do
	in_turn 2 "a sweep is interrupted, SIG$signal" || continue
	env --default-signal=INT "$RACEWATCH" sweep -d "$d" --runs 3 -- \
		"$T/single.O2" 3 >"$work/out" 2>"$work/err" &
	pid=$!
	lib_started "$pid"
	await 30 started
	kill "-$signal" "$pid"
	wait "$pid"
	is "SIG$signal: 128 and the signal" "$?" \
		$((128 + $(kill -l "$signal")))
	matches "SIG$signal: there is a summary" "$work/err" \
		'^SWEEP: .*it was interrupted'
	is "SIG$signal: a run that was cut short is none" "$(finished)" 1
	sweep --runs 3 --min-samples 0 -- "$T/single.O2" 3
	is "SIG$signal: it goes on" "$status $(finished)" "0 3"
	rm -rf "$d"
done

# A race that a run has shown before it was cut short counts.
race_there()
{
	records "$d/run-000001/report.jsonl" type=race
}
for signal in INT KILL; do
	in_turn 2 "a race before SIG$signal" || continue
	env --default-signal=INT "$RACEWATCH" sweep -d "$d" --runs 1 -- \
		"$T/read_write.O2" 40 >"$work/out" 2>"$work/err" &
	pid=$!
	lib_started "$pid"
	await 30 race_there
	kill "-$signal" "$pid"
	wait "$pid" 2>/dev/null
	sweep --runs 1 -- "$T/read_write.O2" 40
	is "a race before SIG$signal counts" "$status $(finished)" "66 1"
	matches "its run is told to be cut short" "$work/err" \
		'^  run 1 .*cut short'
	rm -rf "$d"
done

# A damaged state, and a directory of an earlier version, stay as they are.
sweep --runs 2 --min-samples 0 -- "$T/single.O2" 0.2
cp "$d/state.db" "$work/whole.db"
head -c 5000 "$work/whole.db" >"$d/state.db"
sweep --runs 3 --min-samples 0 -- "$T/single.O2" 0.2
is "a damaged state is refused: 125" "$status" 125
matches "it is named" "$work/err" "$d/state.db: "
is "and stays" "$(cmp "$work/whole.db" "$d/state.db" 2>&1 | grep -c EOF)" 1
rm "$d/state.db"*
: >"$d/state.jsonl"
sweep --runs 3 --min-samples 0 -- "$T/single.O2" 0.2
is "a sweep of an earlier version is refused: 2" "$status" 2
matches "it is named (2)" "$work/err" "$d/state.jsonl: .*earlier version"
rm "$d/state.jsonl"
cp "$work/whole.db" "$d/state.db"
sweep --runs 3 --min-samples 0 -- "$T/single.O2" 0.2
is "one that is whole is gone on with" "$status $(finished)" "0 3"
rm -f "$d/run-000001/report.jsonl"
echo 'no report' >"$d/run-000002/report.jsonl"
sweep --runs 3 --min-samples 0 -- "$T/single.O2" 0.2
is "a damaged report of a run is no obstacle" "$status" 0 || diag_file "$work/err"
matches "it is named" "$work/err" 'run 2: .*not in the merged report'
rm -rf "$d"

# Files that cannot be written.
sweep --runs 1 -o "$work/none/such" -- "$T/single.O2" 0.2
is "no such place for the report: 125" "$status" 125
is "but the run is not lost" "$(finished)" 1
rm -rf "$d"
run sweep -d "$work/none/such" --runs 1 -- /bin/true
is "no such directory: 125" "$status" 125
sweep --state "$work/none/such" --runs 1 -- /bin/true
is "no such place for the state: 125" "$status" 125
rm -rf "$d"
(cd "$work" && mkdir here && cd here && run sweep --runs 1 -q -- /bin/true
	find . -name state.db) >"$work/found"
matches "without --directory there is a new one" "$work/found" \
	'^./racewatch-sweep-[0-9]{8}-[0-9]{6}/state.db$'
run sweep
is "usage: no command: 2" "$status" 2
run sweep --runs 0 -- /bin/true
is "usage: no runs: 2" "$status" 2

# The reader of standard error goes away: what came of the sweep is kept.
mkfifo "$work/gone"
exec {both}<>"$work/gone"
exec {gone}>"$work/gone" {both}>&-
timeout -k 5 60 env --default-signal=PIPE "$RACEWATCH" sweep -v -d "$d" \
	--runs 2 --min-samples 0 -- "$T/single.O2" 0.2 2>&"$gone"
is "nobody reads standard error: 0" "$?" 0
exec {gone}>&-
is "the report is written" "$(count_of summary "$d/report.jsonl")" 1
is "and sweep.json" "$(field finished) $(field exit)" "2 0"
rm -rf "$d"

# A plan in turn, and one that is fixed.
sweep --runs 5 --plan even --min-samples 0 -- "$T/single.O2" 0.2
is "an even plan takes each way in turn" \
	"$(sqlite3 "$d/state.db" 'SELECT count(DISTINCT plan) FROM run')" 5
is "and learns from none" "$(find "$d" -name 'learned*')" ""
rm -rf "$d"
sweep --runs 2 --rate 7 --stall 3ms --policy uniform --min-samples 0 -- "$T/single.O2" 0.2
is "what is fixed is in every run" \
	"$(sqlite3 "$d/state.db" "SELECT count(*) FROM run
		WHERE plan = 'rate=7 stall=3ms policy=uniform'")" 2
is "what was learned is kept" \
	"$(sqlite3 "$d/learned.db" 'SELECT runs FROM state')" 2

# Patterns keep their order: the last decides.
tries seconds 1 4 15
while next_try seconds; do
	rm -rf "$d"
	sweep --runs 2 --exclude '*' --include '*read_write*' -- \
		"$T/read_write.O2" "$seconds"
	# no sample: a machine that had no time for them
	grep -q 'took no sample' "$work/err" || break
done
is "--exclude '*' --include PROGRAM leaves the program" \
	"$(grep -c 'took no sample' "$work/err")" 0 || diag_file "$work/err"
rm -rf "$d"
sweep --runs 2 --include '*read_write*' --exclude '*' -- "$T/read_write.O2" 0.5
is "the other way round nothing is left: 65" "$status" 65
rm -rf "$d"

# A sweep that begins later, and one of all: none is left out.
sweep --first-run 4 --runs 3 --min-samples 0 -- /bin/true
sweep --runs 8 --min-samples 0 -- /bin/true
is "what others have begun leaves no gap" "$status $(finished)" "0 8" ||
	diag_file "$work/err"
rm -rf "$d"

# What could not be watched may be watched another time.
sweep --runs 8 --min-samples 0 -- "$work/later/{run}"
is "a sweep gives up: 127" "$status $(finished)" "127 5"
matches "and says so" "$work/err" '^SWEEP: .*; it gave up'
mkdir "$work/later"
for number in 6 7 8; do
	ln -s /bin/true "$work/later/$number"
done
sweep --runs 8 --min-samples 0 -- "$work/later/{run}"
is "repaired, it continues" "$(finished)" 8
rm -rf "$d"

# An error of its own is told by all that tells the end.
mkdir "$d"
: >"$d/run-000002"
sweep --runs 3 --min-samples 0 -- /bin/true
is "a run that cannot be begun: 125" "$status" 125
matches "the summary says so" "$work/err" '^SWEEP: .*; it failed'
is "sweep.json too" "$(field exit) $(field end)" "125 failed"
rm -rf "$d"

# Children that are not the sweep's: those of the shell that became it.
"$RACEWATCH" sweep -d "$d" --runs 1 --min-samples 0 -- /bin/true 2> \
	>(cat >"$work/piped" && echo >"$work/piped.done")
await 20 test -e "$work/piped.done"
matches "a process substitution lives to print the summary" "$work/piped" \
	'^SWEEP: racewatch: 1 run '
rm -rf "$d"

# What the sweep was told to ignore.
cat >"$work/ignoring" <<'END'
#!/usr/bin/python3
import os, signal, sys
signal.signal(int(sys.argv[1]), signal.SIG_IGN)
os.execv(sys.argv[2], sys.argv[2:])
END
chmod +x "$work/ignoring"
timeout -k 5 60 "$work/ignoring" 17 "$RACEWATCH" sweep -d "$d" --runs 1 \
	--min-samples 0 -- /bin/grep SigIgn /proc/self/status 2>"$work/err"
is "SIGCHLD is ignored: the ends of runs are noticed" "$?" 0 ||
	diag_file "$work/err"
matches "and the command ignores it" "$d/run-000001/stdout" \
	'SigIgn:.*[13579bdf][0-9a-f]{4}$'
rm -rf "$d"
mkfifo "$work/go"
timeout -k 5 60 "$work/ignoring" 1 "$RACEWATCH" sweep -d "$d" --runs 1 \
	--min-samples 0 -- /bin/sh -c "read go <'$work/go'" 2>"$work/err" &
nohup=$!
exec {go}>"$work/go"
sweeping=$(pgrep -P "$nohup")
kill -HUP "$sweeping"
echo >&"$go"
exec {go}>&-
wait "$nohup"
is "SIGHUP is ignored: it does not end the sweep" "$?" 0 ||
	diag_file "$work/err"

finish
