#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# racewatch hunt --until-exit-of: servers, which end when their client does. While
# the target's first thread is held for 500 ms at its access, its client, which has
# the first answer, makes the second one come, unless they are kept from running for
# so long.

# shellcheck disable=SC2016 # variables are the client's
# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR
server=$T/hunted_server.O2
export SOCKET=$work/socket

skip_lacking registers "hunt" && finish

# served ARG...: hunts the server with the client, and more options before
served()
{
	RUN_TIMEOUT=120 run hunt --hold 500ms -o "$report" "$@"
}

# gone: nothing runs that has the socket's path in its arguments
gone()
{
	! pgrep -f -- "$SOCKET" >"$work/left"
}

for recorder in valgrind breakpoints qemu; do
	in_turn 3 "$recorder" || continue
	what="server, by $recorder"
	if [ "$recorder" = qemu ] && [ ! -x /usr/bin/qemu-x86_64 ]; then
		skip "$what" "qemu-x86_64 is not installed"
		continue
	fi
	served --recorder "$recorder" --until-exit-of "$server ask $SOCKET" \
		-- "$server" serve "$SOCKET"
	is "$what: exit status" "$status" 66 || diag_file "$work/err"
	has "$what: its race is provoked" "$report" type=target \
		side.function=count_answer outcome=provoked
	is "$what: no run has failed" \
		"$(grep -cE 'the command failed|until-exit-of:' "$work/err")" 0
	is "$what: nothing is left" "$(gone; cat "$work/left")" ""
	cp "$report" "$work/sides.jsonl"
done

# two servers at a time, each with its socket
served --targets "$work/sides.jsonl" --jobs 2 \
	--until-exit-of "$server ask $SOCKET" -- "$server" serve "$SOCKET"
is "two jobs: exit status" "$status" 66 || diag_file "$work/err"
is "two jobs: no run has failed" \
	"$(grep -cE 'the command failed|until-exit-of:' "$work/err")" 0

# a race again, by the line of its report
again=$(sed -n 's/^ *again *racewatch provoke //p' "$work/err" | head -n 1)
matches "again: its client" "$work/err" \
	'again .*#1 --until-exit-of .* ask .* -- .* serve '
cp "$report" "$work/met.jsonl"
again=${again/"$report"/"$work/met.jsonl"}
eval "RUN_TIMEOUT=300 run provoke --times 3 -o \"\$report\" $again"
is "again: exit status" "$status" 0 || diag_file "$work/err"
for order in ab ba; do
	has "again: the client's status is that of the run, $order" "$report" \
		type=provoke order=$order 'ends.*.status=0'
	is "again: the server's end is none, $order" "$(records --count \
		"$report" type=provoke order=$order 'ends.*.signal!=null')" 0
done
is "again: no client has failed" "$(grep -c 'until-exit-of:' "$work/err")" 0
is "again: nothing is left" "$(gone; cat "$work/left")" ""
RUN_TIMEOUT=300 run provoke --order ab --times 3 -o "$report" --until-exit-of \
	"$server ask $SOCKET; exit 9" "$work/met.jsonl#1" -- "$server" serve \
	"$SOCKET"
has "again: a client that fails" "$report" type=provoke 'ends.*.status=9'
is "again: that is told once" "$(grep -c \
	'until-exit-of: the client ended with exit status 9' "$work/err")" 1
# 143 is what a shell says of the server, which SIGTERM has ended
RUN_TIMEOUT=300 run provoke --order ab --times 1 -o "$report" --until-exit-of \
	"$server ask $SOCKET; exit 143" "$work/met.jsonl#1" -- "$server" serve \
	"$SOCKET"
has "again: a client that fails as the server ends" "$report" type=provoke \
	'ends.*.status=143'
is "again: the server has not died of it" "$(records --count "$report" \
	type=provoke 'ends.*.signal!=null')" 0
run provoke --until-exit-of true --pid $$ "$work/met.jsonl#1"
is "again: a process has no client" "$status" 2

# a client that fails is told, and is the status of the run
served --targets "$work/sides.jsonl" --error-exitcode 0 \
	--until-exit-of "$server ask $SOCKET; exit 9" -- "$server" serve "$SOCKET"
is "the client fails: exit status" "$status" 9 || diag_file "$work/err"
is "the client fails: told once" "$(grep -c \
	'until-exit-of: the client ended with exit status 9' "$work/err")" 1

# the server ends before its client, which is ended
served --targets "$work/sides.jsonl" --error-exitcode 0 --sides 1 \
	--until-exit-of "echo \$\$ >$work/client; $server ask $SOCKET &
		exec tail -f /dev/null" -- "$server" gone "$SOCKET"
is "the server ends: exit status" "$status" 7 || diag_file "$work/err"
matches "the server ends: it is told" "$work/err" \
	'until-exit-of: the program ended before the client, which was ended'
is "the server ends: the client, too" "$(lib_born "$(cat "$work/client")")" gone

# a process that is killed while it is recorded leaves what was: the client has had
# both answers, and has seen both connections closed
for recorder in valgrind qemu; do
	in_turn 2 "killed, by $recorder" || continue
	what="killed, by $recorder"
	if [ "$recorder" = qemu ] && [ ! -x /usr/bin/qemu-x86_64 ]; then
		skip "$what" "qemu-x86_64 is not installed"
		continue
	fi
	rm -rf "$work/trace"
	served --recorder "$recorder" --keep-trace "$work/trace" --budget 1ms \
		--until-exit-of "$server ask $SOCKET && kill -KILL \$RACEWATCH_PID" \
		-- "$server" serve "$SOCKET"
	matches "$what: it was" "$work/err" '1 pair that conflict'
	run report --trace "$work/trace"
	matches "$what: with its status" "$work/out" 'exit status 137'
	matches "$what: and its accesses" "$work/out" \
		'WRITES 8 bytes, answered, at .*[(]count_answer[)]'
	is "$what: complete" "$(grep -c 'cut short' "$work/out")" 0
done

# racewatch is ended in a run that does not end, while it records and later
for more in "--recorder valgrind" "--targets $work/sides.jsonl"; do
	rm -f "$work/client"
	# shellcheck disable=SC2086 # two words
	"$RACEWATCH" hunt $more --until-exit-of \
		"$server ask $SOCKET; echo \$\$ >$work/client
		exec tail -f /dev/null" -- "$server" serve "$SOCKET" \
		>"$work/out" 2>"$work/err" </dev/null &
	hunt=$!
	lib_started "$hunt"
	await 60 test -s "$work/client"
	kill -TERM "$hunt"
	wait "$hunt"
	is "ended, $more: exit status" $? 143
	await 60 gone
	is "ended, $more: nothing is left" "$(cat "$work/left")" ""
done

# a real one, by the scripts of the manual; its threads read what clients send
if ! command -v redis-server >/dev/null; then
	skip "redis" "redis-server is not installed"
elif in_turn 3 "redis"; then
	cat >"$work/serve" <<-'END'
		#!/bin/sh
		exec redis-server --port 0 --unixsocket r$RACEWATCH_JOB.sock \
		    --save "" --io-threads 2 --io-threads-do-reads yes
	END
	cat >"$work/ask" <<-'END'
		#!/bin/sh
		until redis-cli -s r$RACEWATCH_JOB.sock ping; do
		    kill -0 $RACEWATCH_PID || exit 1
		done
		redis-benchmark -s r$RACEWATCH_JOB.sock -c 8 -n 40 -t set,get
	END
	chmod +x "$work/serve" "$work/ask"
	cd "$work" || exit 99
	RUN_TIMEOUT=120 run hunt --sides 4 -o "$report" --until-exit-of ./ask -- \
		./serve
	has "redis: its sides are tried" "$report" type=target \
		'outcome!=pending'
	is "redis: no run has failed" \
		"$(grep -cE 'the command failed|until-exit-of:' "$work/err")" 0
	is "redis: nothing listens" "$(socat -u "UNIX-CONNECT:r1.sock" - \
		>/dev/null 2>&1; echo $?)" 1
fi

finish
