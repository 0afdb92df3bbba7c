#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Processes attached to in awkward places: their first thread has exited,
# their binary was deleted or replaced, they live in a chroot or in other
# namespaces, with racewatch outside or inside, their memory file takes no
# writes. Each is sampled, its race is
# named by the right symbols, and it is left as it was.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

T=$TARGETS_DIR
H=$HELPERS_DIR
backends=(perf ptrace)
# without debug registers one side of a race will do
judged=
if skip_lacking registers "both sides of each race, by watchpoints"; then
	backends=(value)
	judged=value
fi

# start COMMAND...: in the background; its pid is $pid
start()
{
	"$@" >"$work/program" 2>&1 </dev/null &
	pid=$!
	lib_started "$pid"
}

# last_thread PID: the id of one that is not the first
last_thread()
{
	find "/proc/$1/task" -mindepth 1 -maxdepth 1 -printf '%f\n' |
		sort -n | tail -n 1
}

# executes PID NAME: it has become the program of that name, with threads
executes()
{
	[ "$(cat "/proc/$1/comm" 2>/dev/null)" = "$2" ] &&
		[ "$(find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l)" -gt 1 ]
}

# sampled DESCRIPTION PID [COMMAND...]: attaches by COMMAND racewatch; the
# samples are more than none; with $racy there is a race too
sampled()
{
	local what=$1 pid=$2 samples seconds code

	shift 2
	tries seconds 0.5 2 20
	while next_try seconds; do
		rm -f "$report"
		timeout -k 5 60 "$@" "$RACEWATCH" attach --seed 1 --rate 1000 \
			--duration "${seconds}s" --error-exitcode 0 \
			-o "$report" "$pid" >"$work/out" 2>"$work/err" \
			</dev/null
		code=$?
		samples=$(summary samples)
		[ "${samples:-0}" -gt 0 ] || continue
		[ -n "${racy:-}" ] || break
		[ "$(races_in "$report")" -eq 0 ] || break
	done
	is "$what: exit status" "$code" 0 || diag_file "$work/err"
	if [ "${samples:-0}" -gt 0 ]; then
		ok "$what: sampled"
	else
		not_ok "$what: sampled"
		diag_file "$work/err"
	fi
	if "$H/pristine" "$pid" 2>"$work/pristine"; then
		ok "$what: pristine"
	else
		not_ok "$what: pristine"
		diag_file "$work/pristine"
	fi
}

# named DESCRIPTION PID [COMMAND...]: the same, and the race of read_write is
# reported as it should be. With hundreds of samples on six sites, of which
# each on either side of the race finds it, it is never missed by chance.
named()
{
	local racy=yes

	sampled "$@"
	if as_expected read_write "$judged"; then
		ok "$1: the race has its names"
	else
		not_ok "$1: the race has its names"
		diag_file "$work/check"
		diag_file "$work/err"
	fi
	kill -9 "$2"
}

start "$T/leader_exits.O2" 40
if await 20 grep -q '^ready' "$work/program"; then
	sampled "the first thread has exited" "$pid"
	sampled "the same, with ptrace" "$pid" env
	run attach --duration 500ms "$(last_thread "$pid")"
	is "the same, by a thread's id: exit status" "$status" 0
	matches "the same, by a thread's id: told" "$work/err" \
		"thread of process $pid"
else
	not_ok "the first thread has exited: the program is ready"
fi
kill -9 "$pid"

# It ends while it is watched, its last thread being the end of it.
tries seconds 3 20
while next_try seconds; do
	start "$T/leader_exits.O2" "$seconds"
	await 20 grep -q '^ready' "$work/program"
	run attach --rate 1000 "$pid"
	grep -Eq 'it has ended|zombie' "$work/err" || break
done
is "its end is the end of watching" "$status" 0 || diag_file "$work/err"

start "$T/read_write.O2" 60
await 20 executes "$pid" read_write.O2
run attach --duration 300ms "$(last_thread "$pid")"
matches "a thread's id: its process is watched" "$work/err" \
	"thread of process $pid"
for backend in "${backends[@]}"; do
	in_turn 2 "memory that takes no writes ($backend)" || continue
	sampled "memory that takes no writes ($backend)" "$pid" \
		"$H/deny-syscall" pwrite64 env
done
named "memory that takes no writes" "$pid" "$H/deny-syscall" pwrite64

cp "$T/read_write.O2" "$work/gone"
start "$work/gone" 60
await 20 executes "$pid" gone
rm "$work/gone"
named "a deleted binary" "$pid"

# Another program at the same path must not be taken for it.
cp "$T/read_write.O2" "$work/swapped"
start "$work/swapped" 60
await 20 executes "$pid" swapped
cp "$T/wait_forever.O2" "$work/new"
mv "$work/new" "$work/swapped"
named "a replaced binary" "$pid"

if [ "$(id -u)" != 0 ]; then
	skip "another root and namespaces" "only root can make them"
	finish
fi

mkdir "$work/jail"
cp "$T/read_write.static" "$work/jail/jailed"
start chroot "$work/jail" /jailed 60
await 20 executes "$pid" jailed
named "a chroot" "$pid"

# A folder that is no mount point, with nothing but the two programs, their
# libraries and /proc, and racewatch in there too: no mount that is seen from
# there has the programs' files. Its own path leads back to it.
plain=$work/plain-root
mkdir -p "$plain/proc" "$plain$work"
ln -s / "$plain$plain"
cp "$RACEWATCH" "$plain/racewatch"
cp "$T/read_write.O2" "$plain/"
ldd "$RACEWATCH" "$T/read_write.O2" | grep -o '/[^ :]* ' | sort -u |
	xargs cp -L --parents -t "$plain"
# shellcheck disable=SC2016 # for the inner shell
inside=(unshare -m --propagation private sh -c
	'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$plain")
start chroot "$plain" /read_write.O2 60
await 20 executes "$pid" read_write.O2
"${inside[@]}" /racewatch doctor "$pid" >"$work/out" 2>"$work/err"
matches "doctor in a plain chroot" "$work/out" '^ok +memory '
(
	report=$plain/report.jsonl
	RACEWATCH=$plain/racewatch
	named "racewatch in a plain chroot" "$pid" "${inside[@]}"
	echo "$tap_count $tap_failed" >"$work/counts"
)
read -r tap_count tap_failed <"$work/counts"

# There, the path leads to the program; here, to another one.
mkdir "$work/place"
cp "$T/wait_forever.O2" "$work/place/hidden"
# shellcheck disable=SC2016 # for the inner shell
start unshare -pm --fork sh -c \
	'mount -t tmpfs none "$1" && cp "$0" "$1/hidden" &&
		exec "$1/hidden" 60' "$T/read_write.O2" "$work/place"
child()
{
	inner=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
	inner=${inner% }
	[ -n "$inner" ] && executes "$inner" hidden
}
if await 20 child; then
	lib_started "$inner"
	named "pid and mount namespaces" "$inner"
else
	not_ok "pid and mount namespaces: the program is ready"
	diag_file "$work/program"
fi

# Without the right to /proc/PID/map_files: by /proc/PID/exe and root.
chmod 755 "$work"
user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
cp "$T/read_write.O2" "$work/plain"
start "${user[@]}" "$work/plain" 60
await 20 executes "$pid" plain
rm "$work/plain"
mkdir -m 777 "$work/theirs"
(
	report=$work/theirs/report.jsonl
	named "a deleted binary, as a plain user" "$pid" "${user[@]}"
	echo "$tap_count $tap_failed" >"$work/counts"
)
read -r tap_count tap_failed <"$work/counts"

finish
