#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch hunt: RaceHunter's two listings and three experiments are found, and
# nothing in their twins. Their accesses are 20 ms apart, by a sleep, and a side is
# held for 500 ms: the other thread comes unless it is kept from running for 480 ms.

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR

skip_lacking registers "hunt" && finish

# hunted WHAT WANTED-STATUS PROGRAM [ARGUMENT...]
hunted()
{
	RUN_TIMEOUT=120 run hunt -o "$report" --hold 500ms -- "${@:3}"
	is "$1: exit status" "$status" "$2" || diag_file "$work/err"
	if [ "$2" -eq 66 ]; then
		has "$1: the race is provoked" "$report" type=race \
			evidence=provoked
		has "$1: and its side" "$report" type=target outcome=provoked
	else
		is "$1: no race" "$(races_in "$report")" 0
		is "$1: no side is provoked" \
			"$(records --count "$report" type=target \
				outcome=provoked)" 0
	fi
	is "$1: every side has an outcome" \
		"$(records --count "$report" type=target outcome=pending)" 0
	has "$1: there are sides" "$report" type=target
	has "$1: and progress until none is left" "$report" type=progress \
		hunt=true 'runs=[1-9]*' 'runs_planned=[1-9]*' sides_left=0
}

for variant in O0 O2 nopie; do
	in_turn 3 "$variant" || continue
	hunted "listing 1, $variant" 66 "$T/listing1.$variant"
	has "listing 1, $variant: with the branch that was not recorded" \
		"$report" type=race 'sides.*.frames.*.function=bare_write'
	has "listing 1, $variant: the lock of the side, and where it was taken" \
		"$report" type=race 'sides.0.recorded.locks.*.name=ma' \
		'sides.0.recorded.locks.*.taken.*.function=t1'
	has "listing 1, $variant: the other branch was not recorded" \
		"$report" type=race 'sides.1.recorded=null'
	has "listing 1, $variant: who accessed it" "$report" type=race \
		'recorded.accesses.*.frames.*.function=locked_write' \
		'recorded.accesses.*.frames.*.function=first_write'
	matches "listing 1, $variant: in the text" "$work/err" \
		'^    held in the recording: mutex ma, taken at$'
	matches "listing 1, $variant: and the history" "$work/err" \
		'^    [0-9]* *thread 0\.1  wrote  locked_write .* mutex ma$'
	hunted "listing 2, $variant" 66 "$T/listing2.$variant"
	for kind in bare receive send; do
		hunted "$kind, $variant" 66 "$T/messages.$variant" "$kind"
	done
done
# the first thread's sides, and its stack, once another thread has accessed that
for variant in O0 O2; do
	in_turn 2 "reaped, $variant" || continue
	hunted "reaped, $variant" 66 "$T/reaped.$variant"
	for function in give take_total take_local; do
		has "reaped, $variant: $function is provoked" "$report" \
			type=target outcome=provoked "side.function=$function"
	done
done
# four races of two functions, by their lines; each has a target or more
for variant in O0 O2; do
	in_turn 2 "apart, $variant" || continue
	hunted "apart, $variant" 66 "$T/apart.$variant"
	is "apart, $variant: each line's race" \
		"$(last_of id "$report" | sort -u | grep -c .)" 4
	for line in 16 17 18 19; do
		has "apart, $variant: line $line" "$report" type=race \
			"sides.0.frames.0.line=$line" 'target!=null' \
			'recorded.block.allocated.*.function=main'
	done
	for id in 1 2 3 4; do
		has "apart, $variant: race $id has a target" "$report" \
			type=target outcome=provoked race_id=$id
		matches "apart, $variant: which is told" "$work/err" \
			"race #$id was provoked at [0-9]* of the sides: target"
	done
	is "apart, $variant: no target by itself" \
		"$(grep -c '^racewatch: target #' "$work/err")" 0
done
RUN_TIMEOUT=120 run hunt -o "$report" -- "$T/apart.twin"
is "apart, twin: exit status" "$status" 0
# the join orders all of it: there is no side
RUN_TIMEOUT=120 run hunt -o "$report" --hold 500ms -- "$T/reaped.twin"
is "reaped, twin: exit status" "$status" 0
is "reaped, twin: no side" "$(records --count "$report" type=target)" 0
# in threads that block all signals, which perf's trap does not stop
for variant in O0 O2 nopie; do
	in_turn 3 "sealed, $variant" || continue
	hunted "in a library, $variant" 66 "$T/sealed.$variant"
	has "in a library, $variant: its write was reached first" "$report" \
		type=target 'side.place.module=*/sealed_module.so' \
		side.writes=true outcome=provoked
done
# by the first thread, which blocks all signals at its access and not before it
for variant in O0 O2 nopie; do
	in_turn 3 "masked, $variant" || continue
	for kind in section handler; do
		hunted "sigmasked $kind, $variant" 66 "$T/sigmasked.$variant" "$kind"
		has "sigmasked $kind, $variant: it was held at its write" \
			"$report" type=target side.function=masked_write \
			outcome=provoked
	done
done
# it does so where it comes to the held bytes, which perf does not see
for variant in O0 O2; do
	in_turn 2 "sigmasked reader, $variant" || continue
	hunted "sigmasked reader, $variant" 66 "$T/sigmasked.$variant" reader
	has "sigmasked reader, $variant: it came to the write" "$report" \
		type=target side.function=early_write outcome=provoked
done
hunted "sigmasked reader, twin" 0 "$T/sigmasked.twin" reader
for kind in section handler; do
	hunted "sigmasked $kind, twin" 0 "$T/sigmasked.twin" "$kind"
	is "sigmasked $kind, twin: its write was reached" "$(records --count \
		"$report" type=target side.function=masked_write \
		outcome=unreached)" 0
done
hunted "in a library, twin" 0 "$T/sealed.twin"
hunted "listing 1, twin" 0 "$T/listing1.twin"
hunted "listing 2, twin" 0 "$T/listing2.twin"
for kind in bare receive send; do
	hunted "$kind, twin" 0 "$T/messages.twin" "$kind"
	has "$kind, twin: the lock is named" "$report" type=target \
		outcome=ordered 'ordered_by=their common mutex ?lock?'
done

# no lock at the accesses: each waits for its turn
build_targets free_cond.O2
run hunt -o "$report" --sides 4 -- "$T/free_cond.O2" x20
is "turns: exit status" "$status" 0
is "turns: as many sides as asked for" \
	"$(records --count "$report" type=target)" 4
has "turns: what the other one waited for" "$report" type=target \
	outcome=ordered \
	'ordered_by=*waited for the condition variable ?turned? (take, free_cond.c:*'

build_targets free_barrier.O2 free_sem.O2
run hunt -o "$report" --sides 4 -- "$T/free_barrier.O2" x20
is "a barrier: exit status" "$status" 0
has "a barrier: the other one waited for it" "$report" type=target \
	outcome=ordered \
	'ordered_by=*waited for the barrier ?phase? (grid_loop, free_barrier.c:*'
run hunt -o "$report" --sides 4 -- "$T/free_sem.O2" x20
is "a semaphore: exit status" "$status" 0
has "a semaphore: the other one waited for it" "$report" type=target \
	outcome=ordered \
	'ordered_by=*waited for the semaphore ?full? (down, free_sem.c:*'
# the last of 100 000 executions, which the kernel counts, or one more; half of those
# before it are in the thread's own stack. The recording may have the two accesses in
# either order: both sides are tried
for recorder in valgrind qemu; do
	for function in often_write often_walk; do
		what="$function, $recorder" last=100000
		in_turn 4 "$what" || continue
		if [ "$recorder" = qemu ] && [ ! -x /usr/bin/qemu-x86_64 ]; then
			skip "$what" "qemu-x86_64 is not installed"
			continue
		fi
		[ "$function" = often_write ] || last=99999
		run hunt --sides 2 --recorder "$recorder" -o "$report" -- \
			"$T/often.O2" "${function#often_}"
		is "$what: exit status" "$status" 66
		has "$what: it is held at the last execution, for as long as the recording says" \
			"$report" type=target outcome=provoked \
			side.function="$function" side.ordinal="$last" \
			reached=$((last + 1))
	done
done

# a recording and a report say what is to be provoked, and a store goes on
run hunt --keep-trace "$work/trace" --store "$work/store" -o "$report" \
	--hold 500ms -- "$T/listing1.O2"
is "with a store" "$status" 66
cp "$report" "$work/first.jsonl"
is "its recording is kept" "$(compgen -G "$work/trace/trace.*" | wc -l)" 1
run hunt --store "$work/store" -o "$report" -- "$T/listing1.O2"
is "a finished hunt makes no run, and reports the race that it has met" \
	"$status" 66
matches "and says so" "$work/err" "goes on"
matches "no run" "$work/err" \
	"1 race \(1 new, 1 of an earlier hunt\); .*; 0 runs"
has "the race is there" "$report" type=race earlier=true evidence=provoked \
	'sides.*.frames.*.function=bare_write'
has "and its side" "$report" type=target outcome=provoked race_id=1
matches "its evidence is of the earlier hunt" "$work/err" \
	"evidence *provoked \(.*\) by an earlier hunt,"
has "what came of its sides is told again" "$report" type=target \
	outcome=provoked
run hunt --store "$work/store" --baseline "$work/first.jsonl" -- \
	"$T/listing1.O2"
is "unless it is in the baseline" "$status" 0
run hunt --trace "$work/trace" -o "$report" --hold 500ms -- "$T/listing1.O2"
is "of a recording" "$status" 66
has "both orders of the race were run" "$report" type=race \
	replay.outcome=state-change 'replay.instances=[1-9]*' verdict=suspect
run hunt --trace "$work/trace" -o "$report" --sides 1 --budget 1ms -- \
	"$T/listing1.O2"
is "no time for any: 65" "$status" 65
matches "others are left out, which is told" "$work/err" \
	'note: .*, 1 side to be tried, without [1-9][0-9]* that --sides leaves out$'
matches "which is told" "$work/err" \
	"1 of 1 side not tried to the end: the time of --budget was over"
is "one side, and it is not tried" \
	"$(records --count "$report" type=target outcome=pending)" 1

# In the same build there is nothing to be tried, except for the side whose race is
# with an access that was not recorded; in another one, what has changed is.
run hunt --trace "$work/trace" --since "$work/store" -o "$report" \
	--hold 500ms -- "$T/listing1.O2"
is "since the same build" "$status" 66
is "every side is unchanged but one" "$(records --count "$report" \
	type=target outcome!=unchanged)" 1
has "which has met code that was not recorded" "$report" type=target \
	outcome=provoked side.function=first_write
has "as it does again" "$report" type=race earlier=false
run hunt --store "$work/bare" -o "$report" --hold 500ms -- \
	"$T/messages.O2" bare
is "a race of two recorded accesses" "$status" 66
races=$(last_of id "$report" | sort -u | grep -c .)
run hunt --since "$work/bare" --store "$work/again" -o "$report" -- \
	"$T/messages.O2" bare
is "since the same build: the race is reported" "$status" 66
is "every side is unchanged" "$(records --count "$report" type=target \
	outcome!=unchanged)" 0
is "so are all races" "$(last_of id "$report" | sort -u | grep -c .)" "$races"
is "none is of this hunt" "$(records --count "$report" type=race \
	earlier=false)" 0
matches "no run is made" "$work/err" "; 0 runs"
run hunt --since "$work/again" -o "$report" -- "$T/messages.O2" bare
is "and since that, once more" "$status" 66
# a store of another build
cp "$T/messages.O2" "$work/rebuilt"
run hunt --store "$work/other" --hold 500ms -- "$work/rebuilt" bare
is "a race of a copy" "$status" 66
cp "$T/messages.twin" "$work/rebuilt"
run hunt --store "$work/other" -o "$report" -- "$work/rebuilt" bare
is "which is another program now: nothing is proved" "$status" 65
is "and no race" "$(races_in "$report")" 0
matches "that is told" "$work/err" \
	"races? of an earlier hunt not reported: in other builds of the files"
mkdir "$work/changed"
perl -0777 -pe 's/(\xc7\x05.{4})\x01\0\0\0/$1\x07\0\0\0/s' \
	"$T/listing1.O2" >"$work/changed/listing1.O2"
chmod +x "$work/changed/listing1.O2"
run hunt --since "$work/store" -o "$report" --hold 500ms -- \
	"$work/changed/listing1.O2"
is "since another build" "$status" 66
has "the function that was changed is tried" "$report" type=target \
	side.function=first_write outcome=provoked
has "another one is not" "$report" type=target side.function=t2 \
	outcome=unchanged
# a function of the same bytes is not the same, nor is one with another caller
mkdir "$work/old" "$work/new"
cp "$T/since.twin" "$work/old/since"
cp "$T/since.O2" "$work/new/since"
run hunt --store "$work/since" -- "$work/old/since"
is "since: the lock orders all" "$status" 0
run hunt --since "$work/since" -- "$work/old/since"
matches "since the same build, recorded again" "$work/err" "; 0 runs"
run hunt --since "$work/since" -o "$report" -- "$work/new/since"
is "since a build without the lock" "$status" 66
has "the function is as it was, and is tried" "$report" type=target \
	side.function=add_first outcome=provoked
is "so is the one of the same bytes" "$(records --count "$report" type=target \
	side.function=add_second outcome=unchanged)" 0
run hunt --targets "$work/first.jsonl" --jobs 2 -o "$report" --hold 500ms -- \
	sh -c "true; '$T/listing1.O2'; exit 0"
is "of a report, in a script, two runs at a time" "$status" 66
run hunt --targets "$work/first.jsonl" --backend ptrace -o "$report" \
	--hold 500ms -- "$T/listing1.O2"
is "by ptrace" "$status" 66
run hunt --targets "$work/first.jsonl" --error-exitcode 5 --hold 500ms -- \
	"$T/listing1.O2"
is "another exit status" "$status" 5
# the program has other instructions
run hunt --targets "$work/first.jsonl" -o "$report" -- "$T/listing2.O2"
is "of another program" "$status" 0
is "nothing is reached there" "$(records --count "$report" type=target \
	outcome!=unreached)" 0

# the status of the command
run hunt --targets "$work/first.jsonl" -- sh -c "'$T/listing1.twin'; exit 3"
is "the command fails" "$status" 3
# A hold that is too short meets nobody. On a busy machine it may last for more than
# the 20 ms that it takes to meet: 13 of 215 runs did beside four busy loops and a
# compiler. With one run of ten, seven of seven are 1e-7.
tries try 1 2 3 4 5 6 7
while next_try try; do
	run hunt --targets "$work/first.jsonl" --hold 1ms -o "$report" -- \
		"$T/listing1.O2"
	[ "$status" -ne 0 ] || break
done
is "held for 1 ms, and 4" "$status" 0
has "that is told" "$report" type=target outcome=timeout

# a run that ignores SIGTERM is killed when the time is over
RUN_TIMEOUT=100 run hunt --trace "$work/trace" --budget 3s --hold 100ms -- \
	sh -c "trap '' TERM; '$T/listing1.O2'; exec sleep 1000"
is "the hunt ends by itself" "$([ "$status" -lt 100 ] && echo yes)" yes

# Another hunt has the only side of the store: its run waits until it is ended.
mkfifo "$work/ready" "$work/go"
shared=(--store "$work/shared" --trace "$work/trace" --sides 1 -- sh -c
	"echo >'$work/ready'; read -r _ <'$work/go'; '$T/listing1.O2'")
"$RACEWATCH" hunt --hold 500ms "${shared[@]}" >"$work/other" 2>&1 &
other=$!
read -r _ <"$work/ready"
run hunt "${shared[@]}"
is "another hunt has the side: nothing is proved" "$status" 65
matches "which is told" "$work/err" \
	"1 of 1 side not tried to the end: other hunts that share the store try them"
kill "$other"
wait "$other"
is "the other one is ended by a signal" "$?" $((128 + 15))
matches "which is told, too" "$work/other" \
	"1 of 1 side not tried to the end: a signal ended the hunt"

# three of four sides have an outcome
run hunt --targets "$work/first.jsonl" --store "$work/three" --hold 500ms -- \
	"$T/listing1.twin"
is "all sides have an outcome" "$status" 0
sqlite3 "$work/three" "UPDATE side SET result = 'pending' WHERE side = 1"
for percent in 75 76; do
	run hunt --store "$work/three" --budget 1ms --min-tried "$percent" -- \
		"$T/listing1.twin"
	is "one of four is left, and $percent percent are asked for" "$status" \
		"$((percent > 75 ? 65 : 0))"
done

# bad input
run hunt
is "no command" "$status" 2
run hunt -- "$work/none"
is "no such command" "$status" 127
run hunt --targets "$work/none" -- true
is "no such report" "$status" 125
matches "named" "$work/err" "$work/none"
echo '{"type":"run","schema":1,"version":"1"}' >"$work/empty"
run hunt --targets "$work/empty" -- true
is "a report without targets" "$status" 125
matches "named too" "$work/err" "empty has no targets"
sed -e '/"type":"race"/d' -e 's/"thread_path":null/"thread_path":"0.x"/' \
	"$work/first.jsonl" >"$work/wrong"
run hunt --targets "$work/wrong" -- "$T/listing1.O2"
is "a thread path that is none" "$status" 125
matches "which is told" "$work/err" "'0.x' is no thread path"
run hunt --trace "$work/trace" --targets "$work/first.jsonl" -- true
is "both" "$status" 2
run hunt --keep-trace "$work/t" --trace "$work/trace" -- true
is "a recording that is not made is not kept" "$status" 2
run hunt --trace "$work" -- "$T/listing1.O2"
is "no recording there" "$status" 2
matches "the folder is named" "$work/err" "$work"

finish
