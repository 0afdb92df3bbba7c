# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # the variables of bench/old/hunt-old
#
# How each program of hunts.tab is built, and the test that is hunted.
#
# build_NAME FLAGS: builds a copy of the source, in which it is called, with
# these flags of the compiler. A library gets the program hunted/NAME.c of this
# folder as ./workload.
# test_NAME: the test, in $command, from the directory $build, and in $only the
# program whose races are hunted; once per build.

# driver NAME COMPILER FLAGS -- ARGUMENTS OF THE LINKER: builds ./workload.
driver()
{
	local name=$1 compiler=$2 flags=$3

	shift 4
	# shellcheck disable=SC2086 # flags are words
	quiet $compiler $flags -Wall -Wextra -pthread -o workload \
		"$here/hunted/$name" "$@"
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

# numbered FILE LINES: text that compresses.
numbered()
{
	[ -s "$1" ] || seq "$2" >"$1"
}

# the repository has the program too
# shellcheck disable=SC2034 # for bench/old/hunt-old
without_pbzip2=pbzip2

# 0.9.4 without the three sleeps of ten seconds that this repository has put in, which
# keep main() from deleting the queue early
build_pbzip2()
{
	sed -i '/^[[:space:]]*sleep(10);$/d' pbzip2.cpp &&
		! grep -q 'sleep(10)' pbzip2.cpp || return 1
	# shellcheck disable=SC2086 # flags are words
	quiet "${CXX:-g++}" $1 -w -D_LARGEFILE64_SOURCE -D_FILE_OFFSET_BITS=64 \
		-o pbzip2 pbzip2.cpp -pthread -lbz2
}

test_pbzip2()
{
	numbered "$work/numbers" 40000
	command=("$here/hunted/compress.sh" "$work/numbers" "bzip2 -dc"
		"$build/pbzip2" -p2 -b1 -f -k -c)
	only=pbzip2
}

build_libeventres()
{
	quiet autoreconf -fi && quiet ./configure --disable-openssl \
		--disable-shared --disable-samples --disable-libevent-regress \
		CFLAGS="$1" && quiet jobs_at_once libevent_core.la \
		libevent_pthreads.la &&
		driver libevent-res.c "${CC:-gcc}" "$1 -Iinclude" -- \
			.libs/libevent_core.a .libs/libevent_pthreads.a
}

workload()
{
	command=("$build/workload")
	only=workload
}

test_libeventres() { workload; }

build_libeventlate()
{
	quiet cmake -S . -B out -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$1" \
		-DEVENT__DISABLE_OPENSSL=ON -DEVENT__DISABLE_MBEDTLS=ON \
		-DEVENT__DISABLE_TESTS=ON -DEVENT__DISABLE_SAMPLES=ON \
		-DEVENT__DISABLE_BENCHMARK=ON -DEVENT__LIBRARY_TYPE=STATIC &&
		quiet jobs_at_once -C out event_core_static \
			event_pthreads_static &&
		driver libevent-late.c "${CC:-gcc}" \
			"$1 -Iinclude -Iout/include" -- \
			out/lib/libevent_core.a out/lib/libevent_pthreads.a
}

test_libeventlate() { workload; }

build_blosc()
{
	quiet cmake -S . -B out -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$1" \
		-DBUILD_SHARED=OFF -DBUILD_TESTS=OFF -DBUILD_BENCHMARKS=OFF &&
		quiet jobs_at_once -C out blosc_static &&
		driver blosc.c "${CC:-gcc}" "$1 -Iblosc" -- out/blosc/libblosc.a \
			-lstdc++
}

test_blosc() { workload; }

build_xzdecoder()
{
	quiet cmake -S . -B out -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$1" \
		-DBUILD_SHARED_LIBS=OFF -DENABLE_NLS=OFF &&
		quiet jobs_at_once -C out xz
}

test_xzdecoder()
{
	numbered "$work/numbers" 60000
	[ -s "$work/cut.xz" ] ||
		xz -1 -T2 --block-size=100000 -c "$work/numbers" |
		head -c 12000 >"$work/cut.xz"
	command=("$here/hunted/xz-cut.sh" "$build/out/xz" "$work/cut.xz")
	only=xz
}

build_xzpartial() { build_xzdecoder "$1"; }

test_xzpartial()
{
	numbered "$work/numbers" 60000
	# with two threads the sizes of blocks are in the file, and it is
	# decompressed by several
	xz -1 -T2 --block-size=100000 -c "$work/numbers" >"$work/numbers.xz"
	command=("$here/hunted/compress.sh" "$work/numbers"
		"$build/out/xz -dc -T2" sh -c "cat '$work/numbers.xz'")
	only=xz
}

build_libuvsignal()
{
	quiet cmake -S . -B out -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$1" \
		-DLIBUV_BUILD_SHARED=OFF -DBUILD_TESTING=OFF &&
		quiet jobs_at_once -C out uv_a &&
		driver libuv-signal.c "${CC:-gcc}" "$1 -Iinclude" -- out/libuv*.a -ldl
}

# It cannot race here: the handler counts while it holds libuv's lock, a pipe, which
# uv_signal_stop() takes before the other read.
test_libuvsignal() { workload; }

build_caresup()
{
	quiet cmake -S . -B out -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$1" \
		-DCARES_SHARED=OFF -DCARES_STATIC=ON -DCARES_BUILD_TOOLS=OFF &&
		quiet jobs_at_once -C out &&
		driver cares-up.c "${CC:-gcc}" "$1 -Iinclude -Iout" -- \
			out/lib/libcares.a
}

test_caresup() { workload; }

build_memcachedstats()
{
	echo "m4_define([VERSION_NUMBER], [0])" >version.m4
	# as old compilers had it
	quiet autoreconf -fi && quiet ./configure CFLAGS="$1 -w -fcommon" &&
		quiet jobs_at_once memcached
}

test_memcachedstats()
{
	command=("$here/hunted/memcached-up.sh" "$build/memcached")
	only=memcached
}

build_leveldbusage()
{
	quiet jobs_at_once OPT="$1 -w" libleveldb.a &&
		driver leveldb-usage.cc "${CXX:-g++}" "$1 -Iinclude" -- \
			libleveldb.a
}

test_leveldbusage()
{
	workload
	command+=("$work/leveldb")
}

build_lz4display()
{
	quiet jobs_at_once -C programs lz4 CFLAGS="$1"
}

test_lz4display()
{
	# three chunks of 4 MB, of long matches, compressed already: little is to be
	# recorded, and runs are short
	numbered "$work/some" 8000
	[ -s "$work/many" ] || seq 280 | xargs -I% cat "$work/some" >"$work/many"
	[ -s "$work/many.lz4" ] ||
		"$build/programs/lz4" -c "$work/many" >"$work/many.lz4"
	command=("$here/hunted/compress.sh" "$work/many"
		"$build/programs/lz4 -dc -vvvv" sh -c "cat '$work/many.lz4'")
	only=lz4
}
