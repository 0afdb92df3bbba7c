#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A program's debug information names files, and it may name any: a FIFO, which
# would be waited for, or a file that its user may not read. The first is passed
# over, the second is not shown to whoever attaches as root, and what is written
# about a program of another user is for root alone.

. "$(dirname "$0")/../lib.sh"

# A race in a line that the debug information calls line 1 of another file.
# racy FILE: the source of such a program
racy()
{
	cat <<EOT
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static long hits;
static volatile int going = 1;

__attribute__((noinline)) static void step(void)
{
#line 1 "$1"
	hits++;
}

static void *work(void *arg)
{
	while (going)
		step();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	sleep(argc > 1 ? (unsigned int)atoi(argv[1]) : 3);
	going = 0;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
EOT
}

# build NAME FILE FLAG...: $work/NAME
build()
{
	local name=$1 file=$2

	shift 2
	racy "$file" >"$work/$name.c" &&
		(cd "$work" && gcc -O1 -g -pthread "$@" -o "$name" "$name.c")
}

# ends WHAT NAME OPTION...: the program is watched to its end, and its race seen
ends()
{
	local what=$1 name=$2 seconds status

	shift 2
	tries seconds 3 20
	while next_try seconds; do
		timeout -s KILL 100 "$RACEWATCH" run --seed 1 --rate 1000 \
			--halt-on-race -o "$work/$name.json" "$@" -- \
			"$work/$name" "$seconds" >"$work/out" 2>"$work/err"
		status=$?
		[ "$status" = 0 ] || break
	done
	is "$what is not waited for" "$status" 66 || diag_file "$work/err"
}

# ended WHAT STATUS...: $status is one of them; the limit's is none
ended()
{
	local what=$1

	shift
	if [[ " $* " = *" $status "* ]]; then
		ok "$what"
	else
		not_ok "$what"
		diag "status $status"
		diag_file "$work/err"
	fi
}

# limited COMMAND...: racewatch, for 60 s at most
limited()
{
	timeout -s KILL 60 "$RACEWATCH" "$@" >"$work/out" 2>"$work/err" \
		</dev/null
	status=$?
}

# everywhere WHAT NAME OPTION...: by run, and by the other commands that read it
everywhere()
{
	local what=$1 name=$2

	ends "$@"
	"$work/$name" 120 &
	program=$!
	lib_started "$program"
	await 20 grep -q '^Threads:[[:space:]]*3$' "/proc/$program/status"
	limited attach --rate 1000 --duration 1s "${@:3}" "$program"
	ended "$what is not waited for, by attach" 0 66
	limited sites --list "$program"
	ended "$what is not waited for, by sites of a process" 0
	kill -9 "$program"
	wait "$program" 2>/dev/null
	limited sites --list "$work/$name"
	ended "$what is not waited for, by sites of a file" 0
	sed 's/"\(function\|file\)":"[^"]*"/"\1":null/g' "$work/$name.json" \
		>"$work/nameless.json"
	limited report --symbolize "$work" "$work/nameless.json"
	ended "$what is not waited for, by report" 0 66
}

build split source.c -gdwarf-5 -gsplit-dwarf
for file in "$work"/*.dwo; do
	rm "$file"
	mkfifo "$file"
done
everywhere "a FIFO as .dwo file" split

build alternate source.c
mkfifo "$work/fifo"
printf '%s\0%020d' "$work/fifo" 0 >"$work/link"
objcopy --add-section .gnu_debugaltlink="$work/link" "$work/alternate"
everywhere "a FIFO named by .gnu_debugaltlink" alternate

build supplement source.c -gdwarf-5
# version 5, not supplementary itself, the name, and a checksum of no bytes
printf '\5\0\0%s\0\0' "$work/fifo" >"$work/link"
objcopy --add-section .debug_sup="$work/link" "$work/supplement"
everywhere "a FIFO named by .debug_sup" supplement

build linked source.c
# the name, to a multiple of four bytes, and a checksum
printf 'fifo.debug\0\0\1\2\3\4' >"$work/link"
mkfifo "$work/fifo.debug"
objcopy --strip-debug --remove-section .note.gnu.build-id \
	--add-section .gnu_debuglink="$work/link" "$work/linked"
everywhere "a FIFO named by .gnu_debuglink" linked

build source "$work/fifo"
everywhere "a FIFO as source file" source --source

# As root: a program of another user, attached to.
# The leak checker of a build with AddressSanitizer does not work where the sandbox is
# strict: it would end racewatch with its own exit status.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

# attach_to NAME FILE: the program is run by nobody and attached to
attach_to()
{
	build "$1" "$2" || return
	setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$work/$1" 120 >/dev/null 2>&1 &
	program=$!
	lib_started "$program"
	await 20 grep -q '^Threads:[[:space:]]*3$' "/proc/$program/status"
	rm -f "$work/$1".[jst]*
	(umask 022 && timeout -s KILL 110 "$RACEWATCH" attach --seed 1 \
		--rate 1000 --stall 1ms --halt-on-race --source \
		--duration 30s -o "$work/$1.json" \
		--gen-suppressions "$work/$1.supp" --state "$work/$1.state" \
		"$program" >/dev/null 2>"$work/err")
	status=$?
	kill -9 "$program"
	wait "$program" 2>/dev/null
}

if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
	skip "what root may read is not shown" "not root, or no setpriv"
else
	chmod 755 "$work"
	echo "secret of root" >"$work/secret"
	chmod 600 "$work/secret"
	attach_to private "$work/secret"
	is "a race of another user's program is reported" "$status" 66 ||
		diag_file "$work/err"
	if grep -q 'secret of root' "$work/private.json" "$work/err"; then
		not_ok "what root may read is not shown"
	else
		ok "what root may read is not shown"
	fi
	for file in json supp state; do
		is "what is written is for root alone: $file" \
			"$(stat -c %a "$work/private.$file")" 600
	done
	echo "open to all" >"$work/open"
	chmod 644 "$work/open"
	attach_to public "$work/open"
	matches "what its user may read is" "$work/public.json" 'open to all'

	# one that was there before; and a program that changes its user
	: >"$work/before.json"
	chmod 644 "$work/before.json"
	timeout -s KILL 100 "$RACEWATCH" run --seed 1 --rate 1000 --source \
		--halt-on-race -o "$work/before.json" -- \
		setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$work/private" 20 >/dev/null 2>"$work/err"
	is "a program that changes its user is watched" $? 66 ||
		diag_file "$work/err"
	is "a report that was there becomes root's alone" \
		"$(stat -c %a "$work/before.json")" 600
	if grep -q 'secret of root' "$work/before.json" "$work/err"; then
		not_ok "and has nothing that the user may not read"
	else
		ok "and has nothing that the user may not read"
	fi
fi

finish
