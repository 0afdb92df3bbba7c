# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154 # of bench/lib.sh
#
# Servers and what loads them, for benches that watch them. Wants bench/lib.sh,
# $seconds (the length of a load) and $work.
#
# NAME_needs says what is missing, NAME_start leaves the processes to attach to
# in ${server[@]} and in $started, NAME_load runs for $seconds, as the bare
# server does it, and prints "operations per second, p50 and p99 in ms, errors".
# What NAME_start starts runs below the command ${under[@]}, if there is one.

under=()

# What was started and is to be ended, by pid. A server first gets the chance
# to end as it should.
started=()
stop_started()
{
	local pid

	for pid in "${started[@]}"; do
		kill "$pid" 2>/dev/null
	done
	for pid in "${started[@]}"; do
		timeout 5 tail --pid="$pid" -f /dev/null ||
			kill -9 "$pid" 2>/dev/null
	done
	started=()
}
trap 'stop_started 2>/dev/null; rm -rf "$work"' EXIT

redis_needs()
{
	present redis-server redis-benchmark ||
		echo "apt-get install redis-server redis-tools"
}

redis_up()
{
	[ "$(redis-cli -s "$work/redis" ping 2>/dev/null)" = PONG ]
}

redis_start()
{
	local rps

	"${under[@]}" redis-server --port 0 --unixsocket "$work/redis" --save '' \
		--appendonly no --dir "$work" --io-threads 2 \
		--io-threads-do-reads yes >"$work/server.out" 2>&1 &
	server=($!)
	started+=("${server[@]}")
	await 20 redis_up || die "redis-server does not come up"
	# the benchmark takes a number of requests, found once
	[ -z "${redis_rps:-}" ] || return 0
	redis_rps=40000
	local seconds=1
	redis_load >/dev/null
	seconds=4
	read -r rps _ < <(redis_load)
	redis_rps=${rps%.*}
}

redis_load()
{
	local failed=0

	timeout $((seconds * 20 + 30)) redis-benchmark -s "$work/redis" \
		-P 4 -c 20 -r 10000 -t set,get -n $((redis_rps * seconds / 2)) --csv \
		--precision 3 >"$work/load" 2>"$work/load.err" || failed=1
	failed=$((failed + $(grep -c . "$work/load.err")))
	tr -d '"' <"$work/load" | awk -F, -v e="$failed" '
	/^(SET|GET),/ { n++; t += 1 / $2; p50 += $5; p99 += $7 }
	END {
		if (n == 2)
			print n / t, p50 / n, p99 / n, e
		else
			print 0, 0, 0, e + 1
	}'
}

memcached_needs()
{
	present memcached memcaslap ||
		echo "apt-get install memcached libmemcached-tools"
}

# A port of the loopback interface that nothing listens on.
free_port()
{
	local port

	for port in $(seq 21911 22911); do
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && continue
		echo "$port"
		return
	done
}

port_open()
{
	(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null
}

memcached_start()
{
	port=$(free_port)
	"${under[@]}" memcached -u nobody -l 127.0.0.1 -p "$port" -U 0 -t 4 \
		>"$work/server.out" 2>&1 &
	server=($!)
	started+=("${server[@]}")
	await 20 port_open || die "memcached does not come up"
}

# It tells latencies as counts in powers of two: interpolated within one.
memcached_load()
{
	local failed=0

	timeout $((seconds * 3 + 30)) memcaslap -s "127.0.0.1:$port" -T 1 \
		-c 16 -w 1k -v 0.1 -t "${seconds}s" -S "${seconds}s" \
		>"$work/load" 2>"$work/load.err" || failed=1
	failed=$((failed + $(grep -c . "$work/load.err")))
	awk -v e="$failed" '
	function quantile(q,   k, sum, want) {
		want = q * all
		for (k = 0; k < 40; k++) {
			if (sum + count[k] >= want && count[k])
				return 2 ^ (k + (want - sum) / count[k]) / 1000
			sum += count[k]
		}
	}
	/^Total Statistics \(/ { total = 1 }
	total && /^ *[0-9]+:/ {
		k = $1 + 0
		for (i = 2; i <= NF; i++) {
			count[k + i - 2] = $i
			all += $i
		}
	}
	/^(get_misses|verify_misses|verify_failed):/ { e += $2 }
	/^Run time:/ { tps = $7 }
	END {
		if (!tps || !all)
			print 0, 0, 0, e + 1
		else
			print tps, quantile(0.5), quantile(0.99), e
	}' "$work/load"
}

nginx_needs()
{
	present nginx wrk ||
		echo "apt-get install nginx-light wrk"
}

# Two workers with threads for their file system calls. Both are attached to:
# which of them a connection of the load falls to is chance.
nginx_workers()
{
	mapfile -t server < <(pgrep -P "$(cat "$work/nginx/pid")")
	[ ${#server[@]} -eq 2 ]
}

nginx_start()
{
	local user

	port=$(free_port)
	user=$(id -un)
	mkdir -p "$work/nginx/html"
	head -c 20000 /dev/urandom >"$work/nginx/html/file"
	cat >"$work/nginx/conf" <<-CONF
		user $user;
		daemon off;
		worker_processes 2;
		pid $work/nginx/pid;
		error_log $work/nginx/errors;
		thread_pool files threads=2;
		events { worker_connections 256; }
		http {
			access_log off;
			client_body_temp_path $work/nginx;
			proxy_temp_path $work/nginx;
			fastcgi_temp_path $work/nginx;
			uwsgi_temp_path $work/nginx;
			scgi_temp_path $work/nginx;
			keepalive_requests 1000000;
			open_file_cache max=100;
			server {
				listen 127.0.0.1:$port;
				root $work/nginx/html;
				aio threads=files;
				sendfile off;
			}
		}
	CONF
	"${under[@]}" nginx -c "$work/nginx/conf" -e "$work/nginx/errors" \
		>"$work/server.out" 2>&1 &
	started+=($!)
	if ! await 20 port_open || ! await 5 nginx_workers; then
		die "nginx does not come up: $(tail -n 1 "$work/nginx/errors")"
	fi
}

nginx_load()
{
	local failed=0

	timeout $((seconds * 3 + 30)) wrk -t 1 -c 16 -d "${seconds}s" \
		--latency "http://127.0.0.1:$port/file" >"$work/load" 2>&1 ||
		failed=1
	awk -v e="$failed" '
	function ms(t) {
		return t ~ /us$/ ? t / 1000 : t ~ /ms$/ ? t + 0 : t * 1000
	}
	$1 == "50%" { p50 = ms($2) }
	$1 == "99%" { p99 = ms($2) }
	/Socket errors|Non-2xx/ {
		gsub(/[^0-9 ]/, " ")
		for (i = 1; i <= NF; i++)
			e += $i
	}
	/^Requests\/sec:/ { tps = $2 }
	END { print tps + 0, p50 + 0, p99 + 0, tps ? e : e + 1 }
	' "$work/load"
}

mariadb_needs()
{
	present mariadbd mariadb-install-db mariadb-admin sysbench ||
		echo "apt-get install mariadb-server sysbench"
}

# mariadb_admin COMMAND...: with the server that listens on the socket
mariadb_admin()
{
	mariadb-admin --no-defaults -u root -S "$work/mariadb.sock" "$@"
}

mariadb_up()
{
	mariadb_admin ping
} >/dev/null 2>&1

# sysbench's transactions: a few tables, each client has a connection.
mariadb_bench()
{
	sysbench oltp_read_write --db-driver=mysql --mysql-user=root \
		--mysql-socket="$work/mariadb.sock" --mysql-db=bench \
		--tables=4 --table-size=10000 --threads=8 --rand-seed=1 "$@"
}

mariadb_start()
{
	mariadb-install-db --no-defaults --user="$(id -un)" \
		--datadir="$work/mariadb" --auth-root-authentication-method=normal \
		>"$work/server.out" 2>&1 ||
		die "mariadb-install-db: $(tail -n 1 "$work/server.out")"
	mariadbd --no-defaults --user="$(id -un)" --datadir="$work/mariadb" \
		--socket="$work/mariadb.sock" --skip-networking \
		--innodb-flush-log-at-trx-commit=0 \
		--pid-file="$work/mariadb.pid" >"$work/server.out" 2>&1 &
	server=($!)
	started+=("${server[@]}")
	await 30 mariadb_up || die "mariadbd does not come up"
	mariadb_admin create bench
	mariadb_bench prepare >"$work/load" 2>&1 ||
		die "sysbench: $(tail -n 1 "$work/load")"
	local seconds=4 # its caches are filled
	mariadb_load >/dev/null
}

# It tells latencies as a histogram, "MS |*** COUNT".
mariadb_load()
{
	local failed=0

	mariadb_bench --time="$seconds" --histogram run >"$work/load" 2>&1 ||
		failed=1
	awk -v e="$failed" '
	function quantile(q,   k, sum) {
		for (k = 1; k <= n; k++) {
			sum += count[k]
			if (sum >= q * all)
				return ms[k]
		}
	}
	$2 ~ /^\|/ && $NF ~ /^[0-9]+$/ {
		ms[++n] = $1
		count[n] = $NF
		all += $NF
	}
	/^ *transactions:/ { tps = substr($3, 2) + 0 }
	/^FATAL/ { e++ }
	END {
		if (!tps || !all)
			print 0, 0, 0, e + 1
		else
			print tps, quantile(0.5), quantile(0.99), e
	}' "$work/load"
}


# The newest version that is installed.
postgres=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)

postgres_needs()
{
	[ -x "$postgres/pgbench" ] || echo "./bootstrap bench-packages"
}

# It does not run as root.
postgres_user()
{
	unprivileged=()
	if [ "$(id -u)" -eq 0 ]; then
		unprivileged=(setpriv --reuid=nobody --regid=nogroup
			--clear-groups)
		chmod 711 "$work"
	fi
	mkdir "$work/server"
	[ ${#unprivileged[@]} -eq 0 ] || chown nobody:nogroup "$work/server"
}

postgres_stop()
{
	[ -n "${server[0]:-}" ] || return 0
	kill -INT "${server[0]}" 2>/dev/null # a fast shutdown
	timeout 10 tail --pid="${server[0]}" -f /dev/null || kill -QUIT "${server[0]}"
	server=()
}

# The first process in $server; postgres_stop ends it.
postgres_start()
{
	postgres_user
	(cd "$work/server" && "${unprivileged[@]}" "$postgres/initdb" -D data \
		-U bench -A trust --no-sync) >"$work/initdb" 2>&1 ||
		die "initdb: $(tail -n 1 "$work/initdb")"
	(
		cd "$work/server" || exit
		exec "${unprivileged[@]}" "$postgres/postgres" -D data \
			-k "$work/server" -c listen_addresses= \
			-c shared_buffers=64MB -c synchronous_commit=off
	) >"$work/log" 2>&1 &
	server=($!)
	await 30 "$postgres/pg_isready" -q -h "$work/server" -d postgres ||
		die "the server does not come up: $(tail -n 1 "$work/log")"
	"$postgres/pgbench" -h "$work/server" -U bench -i -s 10 -q postgres \
		>"$work/fill" 2>&1 || die "pgbench: $(tail -n 1 "$work/fill")"
}
