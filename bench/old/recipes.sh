# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # the variables of bench/old/run
#
# How each program of programs.tab is built and what it is given to do.
#
# build_PACKAGE FLAGS: builds a copy of the source, in which it is called, with
# these flags of the compiler. A library gets the program PACKAGE.c of this
# folder as ./workload.
# use_NAME: what to run, in $command, from the directory $build; once per build.
# drive_NAME: where it is there, the client of a server that has been started,
# and the server's end.

# driver NAME COMPILER FLAGS -- ARGUMENTS OF THE LINKER: builds ./workload.
driver()
{
	local name=$1 compiler=$2 flags=$3

	shift 4
	# shellcheck disable=SC2086 # flags are words
	$compiler $flags -Wall -Wextra -pthread -o workload "$here/$name.c" "$@"
}

# quiet COMMAND...: its output only where it fails.
quiet()
{
	"$@" >build.log 2>&1 || {
		tail -n 20 build.log >&2
		return 1
	}
}

jobs_at_once()
{
	nice -n 5 make "-j${OLD_JOBS:-2}" "$@"
}

# memcached: items linked and unlinked while the clock ticks.
build_memcached()
{
	quiet ./configure --disable-docs --disable-coverage \
		CFLAGS="$1 -Wno-error" LDFLAGS="$1" &&
		quiet jobs_at_once memcached
}

use_memcached()
{
	command=("$build/memcached" -u root -s "$work/memcached.sock" -t 4
		-P "$work/memcached.pid")
}

drive_memcached()
{
	await 20 test -S "$work/memcached.sock" || return
	timeout 60 "$bench_source/peers/memcached-load" "$work/memcached.sock" \
		300000 >"$work/client" 2>&1
	kill "$(<"$work/memcached.pid")"
	rm -f "$work/memcached.sock"
}

# redis: libraries of functions loaded while an earlier one is freed in the
# background.
build_redis()
{
	quiet jobs_at_once -C src MALLOC=libc BUILD_TLS=no USE_SYSTEMD=no \
		OPTIMIZATION=-O2 CFLAGS="$1" LDFLAGS="$1" redis-server
}

use_redis()
{
	command=("$build/src/redis-server" --port 0 --unixsocket "$work/redis.sock"
		--save "" --dir "$work" --crash-log-enabled no)
	awk 'BEGIN {
		for (i = 0; i < 3000; i++) {
			printf "FUNCTION LOAD REPLACE \"#!lua name=lib%d\\n", i
			printf "for i = 1, 200 do redis.register_function("
			printf "\x27f%d_\x27 .. i, function() return 1 end) end\"\n", i
			print "FUNCTION FLUSH ASYNC"
		}
		print "SHUTDOWN NOSAVE"
	}' >"$work/redis.commands"
}

drive_redis()
{
	await 20 test -S "$work/redis.sock" || return
	timeout 60 redis-cli -s "$work/redis.sock" <"$work/redis.commands" \
		>"$work/client" 2>&1
	rm -f "$work/redis.sock"
}

# libgit2: objects looked up by threads in one repository, opened anew.
build_libgit2()
{
	quiet cmake -S . -B out -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$1" \
		-DBUILD_SHARED_LIBS=OFF -DBUILD_CLAR=OFF -DUSE_HTTPS=OFF \
		-DUSE_SSH=OFF -DUSE_NTLMCLIENT=OFF -DREGEX_BACKEND=regcomp \
		-DUSE_HTTP_PARSER=system -DUSE_BUNDLED_ZLIB=OFF &&
		quiet jobs_at_once -C out &&
		driver libgit2 "${CC:-gcc}" "$1 -Iinclude" -- out/libgit2.a \
			-lhttp_parser -lz
}

use_libgit2()
{
	local repository=$work/repository i

	command=("$build/workload" "$repository")
	[ ! -d "$repository" ] || return 0
	git init -q "$repository" &&
		for ((i = 0; i < 40; i++)); do
			text_lines 50 >"$repository/file$i"
			git -C "$repository" add "file$i" &&
				git -C "$repository" -c user.name=racewatch \
					-c user.email=racewatch@localhost \
					commit -q -m "$i" || return
		done &&
		git -C "$repository" repack -q -a -d
}

# hmmer: sequences searched for by threads.
build_hmmer()
{
	quiet autoconf && quiet ./configure --enable-threads CFLAGS="$1" \
		LDFLAGS="$1" &&
		quiet jobs_at_once -C easel libeasel.a &&
		quiet jobs_at_once -C src nhmmer jackhmmer
}

# sequences NAME LETTERS COUNT LENGTH QUERIES: random ones in $work/NAME.fa, with
# a part of the queries in $work/NAME.query.fa in each 20th.
sequences()
{
	[ ! -s "$work/$1.fa" ] || return 0
	awk -v letters="$2" -v count="$3" -v size="$4" -v queries="$5" \
		-v other="$work/$1.query.fa" '
	function draw(n,    text) {
		while (n-- > 0)
			text = text substr(letters, int(rand() * length(letters)) + 1, 1)
		return text
	}
	BEGIN {
		srand(11)
		for (i = 0; i < queries; i++) {
			query[i] = draw(120)
			print ">query" i "\n" query[i] >other
		}
		for (i = 0; i < count; i++)
			print ">target" i "\n" draw(size) \
				(i % 20 ? "" : query[i / 20 % queries])
	}' >"$work/$1.fa"
}

use_nhmmer()
{
	sequences dna ACGT 10000 300 1
	command=("$build/src/nhmmer" --dna --cpu 2 -o "$work/hits"
		"$work/dna.query.fa" "$work/dna.fa")
}

use_jackhmmer()
{
	sequences protein ACDEFGHIKLMNPQRSTVWY 200 100 10
	command=("$build/src/jackhmmer" --cpu 2 -o "$work/hits"
		"$work/protein.query.fa" "$work/protein.fa")
}

# zeromq3: messages through a pair of sockets that keep the last one only.
build_zeromq3()
{
	quiet cmake -S . -B out -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$1" \
		-DCMAKE_CXX_FLAGS="$1" -DBUILD_SHARED=OFF -DBUILD_TESTS=OFF \
		-DWITH_LIBSODIUM=OFF -DENABLE_CURVE=OFF -DWITH_DOCS=OFF \
		-DWITH_PERF_TOOL=OFF -DZMQ_BUILD_TESTS=OFF -DWITH_LIBBSD=OFF &&
		quiet jobs_at_once -C out &&
		driver zeromq3 "${CC:-gcc}" "$1 -Iinclude" -- out/lib/libzmq.a \
			-lstdc++ -lm
}

use_zeromq3()
{
	command=("$build/workload" "ipc://$work/zeromq.sock")
}

# libevent: an event base for each thread.
build_libevent()
{
	quiet cmake -S . -B out -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$1" \
		-DEVENT__LIBRARY_TYPE=STATIC -DEVENT__DISABLE_OPENSSL=ON \
		-DEVENT__DISABLE_TESTS=ON -DEVENT__DISABLE_SAMPLES=ON \
		-DEVENT__DISABLE_REGRESS=ON -DEVENT__DISABLE_BENCHMARK=ON &&
		quiet jobs_at_once -C out &&
		driver libevent "${CC:-gcc}" "$1 -Iinclude -Iout/include" -- \
			out/lib/libevent_core.a out/lib/libevent_pthreads.a
}

use_libevent()
{
	command=("$build/workload")
}
