# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # of bench/lib.sh, and for the caller
#
# Programs whose threads hand addresses over, for benches that record them. Wants
# bench/lib.sh and $requests, of each kind, for redis.

handed_prepare()
{
	head -c 600000 "$RACEWATCH" >"$work/input"
	head -c 250000 "$RACEWATCH" >"$work/small"
	# a server with its load, until it has ended
	cat >"$work/serve" <<-'END'
		redis-server --port 0 --unixsocket "$1" --save '' --appendonly no \
			--io-threads 2 --io-threads-do-reads yes >/dev/null &
		server=$!
		for _ in $(seq 600); do
			[ "$(timeout 5 redis-cli -s "$1" ping 2>&1)" != PONG ] || break
			sleep 0.1
		done
		timeout 300 redis-benchmark -s "$1" -c 8 -P 4 -r 1000 \
			-t set,get,lpush,lpop -q -n "$2" >/dev/null 2>&1
		kill "$server"
		wait "$server"
	END
}

# command_of NAME: sets command.
command_of()
{
	case $1 in
	targets) command=("$TARGETS_DIR/handed_over.O2") ;;
	pool) command=("$BENCH_DIR/hunted/pool.O2" 300) ;;
	pigz) command=(pigz -p 3 -b 128 -kc "$work/input") ;;
	pbzip2) command=(pbzip2 -p2 -b1 -kc "$work/small") ;;
	xz) command=(xz -T3 --block-size=100KiB -0 -kc "$work/small") ;;
	zstd) command=(zstd -T3 -B262144 -1 -kc "$work/small") ;;
	redis) command=(bash "$work/serve" "$work/redis" "$requests") ;;
	compress | allocator | server | intruder | genome | vacation)
		command=("$BENCH_DIR/table5/$1.O2")
		;;
	*) die "no program $1" ;;
	esac
	[ -x "${command[0]}" ] || present "${command[0]}" ||
		die "no ${command[0]}"
}

# ordered_in FILE, pairs_in FILE: of what hunt has said there: "1 084 pairs that
# conflict, 97 of them ordered by hand-overs,"
pairs_in()
{
	sed -n 's/.*accesses, \([0-9 ]*\) pairs\{0,1\} that.*/\1/p' "$1" |
		tr -d ' ' | grep . || echo '?'
}
ordered_in()
{
	sed -n 's/.* conflict, \([0-9 ]*\) of them ordered.*/\1/p' "$1" |
		tr -d ' ' | grep . || echo 0
}
