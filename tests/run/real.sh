#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Real multithreaded programs, watched: they run to the end with the output
# they have without racewatch. Of pigz, xz, zstd, ripgrep, GStreamer (GLib) and
# qbs (Qt) no race is reported, of any verdict; races that the others have are no
# failure here.

# shellcheck disable=SC2317 # functions called through await

. "$(dirname "$0")/../lib.sh"

# 12 MB that compress neither well nor badly, the same each time.
make_input()
{
	awk 'BEGIN { srand(7)
		for (i = 0; i < 420000; i++)
			printf "%d %s %x\n", i, int(rand() * 1e6), rand() * 1e9
	}' | head -c 12000000
}

# same NAME CMD...: compares the standard output of a filter.
same()
{
	local name=$1 wanted

	shift
	if ! command -v "$1" >/dev/null; then
		skip "$name" "$1 is not installed"
		return
	fi
	in_turn 2 "$name: same output" || return 0
	"$@" <"$work/input" >"$work/plain.out" 2>/dev/null
	for seed in $(seeds 1); do
		timeout -k 5 120 "$RACEWATCH" run --seed "$seed" \
			--rate 1000 -o "$report" -- "$@" <"$work/input" \
			>"$work/watched.out" 2>"$work/err"
		status=$?
		wanted=0
		[ "$(races_in "$report")" = 0 ] || wanted=66
		is "$name, seed $seed: exit status" "$status" "$wanted" ||
			diag_file "$work/err"
		if cmp -s "$work/plain.out" "$work/watched.out"; then
			ok "$name, seed $seed: same output"
		else
			not_ok "$name, seed $seed: same output"
		fi
		tail -n 1 "$work/err" | sed 's/^/# /'
		"$HELPERS_DIR/check-report" --schema none "$report" \
			2>"$work/check" || {
			not_ok "$name, seed $seed: report"
			diag_file "$work/check"
		}
	done
}

# Options of run for quiet, and what it calls before it runs the command.
options=()
prepare=true

# quiet NAME CMD...: by default and with all effort nothing is reported,
# and samples of the program's own code had a stall; done again, with another
# seed, while none had one, up to five times. In 36 runs of each of pigz, zstd and
# ripgrep, both ways, all had some and nothing was reported.
quiet()
{
	local name=$1 effort seed own wanted=

	shift
	if ! command -v "$1" >/dev/null; then
		skip "$name: nothing is reported" "$1 is not installed"
		return
	fi
	for effort in normal high; do
		in_turn 5 "$name, $effort: nothing is reported" || continue
		if [ -z "$wanted" ]; then
			$prepare
			"$@" <"$work/input" >/dev/null 2>&1
			wanted=$?
		fi
		tries seed 1 2 3 4 5
		while next_try seed; do
			rm -f "$report"
			timeout -k 5 120 "$RACEWATCH" run --seed "$seed" \
				--effort "$effort" "${options[@]}" \
				-o "$report" -- "$@" \
				<"$work/input" >/dev/null 2>"$work/err"
			status=$?
			own=$(summary samples_own)
			[ "$status $own" = "$wanted 0" ] || break
		done
		is "$name, $effort: exit status" "$status" "$wanted"
		is "$name, $effort: nothing is reported" \
			"$(grep -c '^WARNING' "$work/err") $(races_in \
				"$report")" "0 0" || diag_file "$work/err" 60
		if [ "${own:-0}" -gt 0 ]; then
			ok "$name, $effort: its own code was sampled"
		else
			not_ok "$name, $effort: its own code was sampled"
		fi
		tail -n 1 "$work/err" | sed 's/^/# /'
	done
}

# What ripgrep searches: 30 files with the input's bytes.
make_tree()
{
	local i

	mkdir "$work/tree"
	for ((i = 0; i < 30; i++)); do
		ln "$work/input" "$work/tree/$i"
	done
}

# A small project for qbs
make_project()
(
	local i

	mkdir "$work/project" && cd "$work/project" || return
	HOME=$work/project
	export HOME
	for i in 1 2 3 4 5 6; do
		echo "int f$i(int x) { return x + $i; }" >"f$i.c"
	done
	echo 'int f1(int); int main(void) { return f1(-1); }' >main.c
	cat >project.qbs <<-'PROJECT'
		CppApplication {
			consoleApplication: true
			files: ["*.c"]
		}
	PROJECT
	qbs setup-toolchains --settings-dir settings /usr/bin/gcc gcc \
		>setup 2>&1 || diag_file setup
)

redis_up()
{
	redis-cli -s "$work/redis" ping 2>/dev/null | grep -q PONG
}

# redis_requests COUNT: of each kind; leaves the client's exit status in $status
redis_requests()
{
	timeout 300 redis-benchmark -s "$work/redis" -q -P 16 -c 20 \
		-n "$1" -t set,get,incr,lpush,lrange_100 2>&1 |
		tr '\r' '\n' >"$work/bench"
	status=${PIPESTATUS[0]}
}

redis()
{
	local pid child few=100 requests=2000

	[ -n "$LONG" ] && requests=20000

	if ! command -v redis-server >/dev/null; then
		skip "redis-server" "it is not installed"
		return
	fi
	timeout -k 5 600 "$RACEWATCH" run --rate 1000 --seed 1 \
		-o "$report" -- \
		redis-server --port 0 --unixsocket "$work/redis" \
		--save '' --appendonly no --dir "$work" --io-threads 4 \
		--io-threads-do-reads yes --pidfile "$work/redis.pid" \
		--daemonize no >"$work/out" 2>"$work/err" &
	pid=$!
	lib_started "$pid"
	if ! await 20 redis_up; then
		not_ok "redis-server comes up"
		diag_file "$work/err"
		diag_file "$work/out"
		return
	fi
	ok "redis-server comes up"
	# Spinning I/O threads are slow on few processors, and on busy ones it was
	# six requests a second: few of them first.
	SECONDS=0
	redis_requests "$few"
	[ "$status" -ne 0 ] || [ "$SECONDS" -gt 5 ] || redis_requests "$requests"
	is "the benchmark ran" "$status" 0 || diag_file "$work/bench" 3
	redis-cli -s "$work/redis" set key racewatch >/dev/null
	is "a value is kept" "$(redis-cli -s "$work/redis" get key)" racewatch
	# by its pid: it is the child of racewatch, so tell it itself
	child=$(redis-cli -s "$work/redis" info server |
		sed -n 's/^process_id:\([0-9]*\).*/\1/p')
	kill -TERM "${child:-$pid}"
	wait "$pid"
	status=$?
	case $status in
	0) ok "redis-server: exit status" ;;
	66) ok "redis-server: exit status, with races" ;;
	*)
		not_ok "redis-server: exit status $status"
		diag_file "$work/err"
		;;
	esac
	tail -n 1 "$work/err" | sed 's/^/# /'
}

make_input >"$work/input"
same "pigz" pigz -p 4 -c
same "pbzip2" pbzip2 -p4 -c
quiet "pigz" pigz -p 4 -c
quiet "zstd" zstd -T2 -9 -c
# It finds nothing, so that it prints nothing. Rust's lock of standard output
# compares its owner with the thread before it is taken; owner is an atomic, and
# accessed by plain moves. Of a program without debug information that is
# reported, in 4 of 82 runs that printed, with "may be an atomic".
prepare=make_tree quiet "ripgrep" \
	rg -j 4 '[0-9]+ [0-9]+ .*(?i)a.*b.*c.*z' "$work/tree"
rm -rf "$work/tree"
head -c 5000000 "$work/input" >"$work/half"
mv "$work/half" "$work/input"
quiet "xz" xz -T2 --block-size=1MiB -1 -c
# GLib's allocator of slices reads its counters of contention without its lock,
# on purpose; it is put out of use. Of 44 runs of the pipeline, half of them with
# all effort, none reported anything, nor of 22 of qbs. fd is not here: Rust's
# cache of the processor's features, a relaxed atomic, is reported of it, with
# "may be an atomic", where two threads search for the first time.
G_SLICE=always-malloc quiet "GStreamer" gst-launch-1.0 -q \
	fakesrc num-buffers=40000 sizetype=2 sizemax=256 filltype=2 ! \
	queue max-size-buffers=10 ! identity ! queue ! tee name=t \
	t. ! queue ! fakesink t. ! queue ! fakesink
if command -v qbs >/dev/null; then
	options=(--follow none)
	# builds it anew
	cat >"$work/build" <<-BUILD
		#!/bin/sh
		cd "$work/project" && rm -rf out || exit
		exec qbs build --settings-dir settings -d out profile:gcc
	BUILD
	chmod +x "$work/build"
	HOME=$work/project prepare=make_project quiet "qbs" "$work/build"
	options=()
else
	skip "qbs: nothing is reported" "qbs is not installed"
fi
! in_turn 2 "redis-server" || redis

finish
