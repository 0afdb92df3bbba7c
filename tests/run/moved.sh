#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Who sent what a thread received, as recordings of tests/targets/sent.c say. Each
# of its 40 items is the address that it was sent from. Pipes, both kinds of Unix
# sockets, with and without names, TCP, both kinds of message queues, several
# buffers and messages in a system call, splice(2), dup(2), a child process, and
# two receivers.

. "$(dirname "$0")/../lib.sh"

if ! "$HELPERS_DIR/record" "$work" true 2>"$work/err" &&
	grep -q 'valgrind' "$work/err"; then
	not_ok "the recorder is there"
	diag_file "$work/err"
	finish
fi

# senders KIND [RECEIVERS]: for how many items the sender was found by what, and
# whether it is the right one. The loader reads files,
# but no 8 bytes of one.
senders()
{
	local folder=$work/$1${2:-}

	mkdir "$folder"
	timeout -k 5 120 "$HELPERS_DIR/record" --code "$folder" \
		"$TARGETS_DIR/sent.O2" "$@" >"$work/out" 2>"$work/err"
	is "$*: it runs as by itself" "$? $(cat "$work/out")" "0 40"
	# the first process; the second is the child of `fork'
	"$HELPERS_DIR/executed-print" "$(printf '%s\n' "$folder"/trace.* |
		sort -t. -k3n | head -n 1)" >"$work/text" 2>"$work/err" ||
		diag_file "$work/err"
	found=$(awk '$3 == "part" && $7 == "from" && $5 == "0x8" {
			print $8, ($8 == "unknown" ? "" : $11 == $6 ? "right" : "wrong")
		}' "$work/text" | sort | uniq -c | awk '{ $1 = $1; print }' |
		tr '\n' ' ')
	rm -r "$folder"
}

# exactly KIND: found for all of the items
exactly()
{
	in_turn 3 "$1" || return 0
	senders "$1"
	is "$1: each item has its sender" "$found" "40 position right "
}

senders pipe
is "pipe: each item has its sender" "$found" "40 position right "
# the step is the one that made the system call: of the thread that sent it
step=$(awk '$8 == "position" { print $9, $10; exit }' "$work/text")
matches "pipe: the sender's step is there" "$work/text" "^$step .*[+]0x"
is "pipe: it is not the receiver's thread" \
	"$(awk '$8 == "position" && $1 == $9' "$work/text")" ""

for kind in pair packet mmsg unix sysv posix vectors splice; do
	exactly "$kind"
done
# each is received twice: MSG_PEEK
if in_turn 3 tcp; then
	senders tcp
	is "tcp: each item has its sender" "$found" "80 position right "
fi
# the child's steps are in another trace
senders fork
is "fork: what the child sent has no sender here" "$found" \
	"30 position right 10 unknown "
# Both may wait in the kernel at the same time: then an item's value tells, which is
# there once.
senders pipe 2
is "two receivers: each item has its sender, by place or value" \
	"$(awk '{ for (i = 1; i < NF; i += 3) {
			if ($(i + 2) == "right") right += $i; else other += $i }
		} END { print right, other + 0 }' <<<"$found")" "40 0"

finish
