#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Real multithreaded programs, watched: they run to the end with the output
# they have without racewatch. Races they have are no failure here.

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
	local name=$1

	shift
	if ! command -v "$1" >/dev/null; then
		skip "$name" "$1 is not installed"
		return
	fi
	"$@" <"$work/input" >"$work/plain.out" 2>/dev/null
	for seed in $(seeds 1); do
		timeout -k 5 120 "$RACEWATCH" run --seed "$seed" \
			--rate 1000 -o "$report" -- "$@" <"$work/input" \
			>"$work/watched.out" 2>"$work/err"
		status=$?
		case $status in
		0) ok "$name, seed $seed: exit status" ;;
		66) ok "$name, seed $seed: exit status, with races" ;;
		*)
			not_ok "$name, seed $seed: exit status $status"
			diag_file "$work/err"
			;;
		esac
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

redis_up()
{
	redis-cli -s "$work/redis" ping 2>/dev/null | grep -q PONG
}

redis()
{
	local pid child requests=2000

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
	# spinning I/O threads on few processors are slow: few requests
	timeout 300 redis-benchmark -s "$work/redis" -q -P 16 -c 20 \
		-n "$requests" -t set,get,incr,lpush,lrange_100 2>&1 |
		tr '\r' '\n' >"$work/bench"
	is "the benchmark ran" "${PIPESTATUS[0]}" 0 ||
		diag_file "$work/bench" 3
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
redis

finish
