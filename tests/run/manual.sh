#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The examples of manual pages that are one command: each is run where the programs
# and files that it names are at hand, and must end well. What racewatch-tutorial(7)
# shows is run by tutorial.sh.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib-manual.sh"

needs python3 jq cc

# Programs and files by the names that the pages use: a test that takes a
# second, a server of fifteen with a library, reports of runs.
stage=$work/stage
mkdir "$stage" "$stage/build"
cd "$stage" || exit 99
cp "$TARGETS_DIR/read_write.O2" build/program
strip -o program build/program
printf '#!/bin/sh\nexec %s/build/program 1\n' "$stage" >./test
chmod +x ./test
cat >store.c <<'END'
long stored;
void store(void) { for (int i = 0; i < 100; i++) stored++; }
END
cat >server.c <<'END'
#include <pthread.h>
#include <time.h>
extern void store(void);
static time_t end;
static void *serve(void *arg)
{
	while (time(NULL) < end)
		store();
	return arg;
}
int main(void)
{
	pthread_t thread;

	end = time(NULL) + 15;
	pthread_create(&thread, NULL, serve, NULL);
	serve(NULL);
	return pthread_join(thread, NULL);
}
END
cc -g -O1 -shared -fPIC -o libstore.so.1 store.c &&
	cc -g -O1 -pthread -o server server.c ./libstore.so.1 || exit 99
racewatch run -q --seed 1 -o run1.jsonl -- ./test 2>/dev/null >&2
racewatch run -q --seed 1 -o production.jsonl -- ./program 1 2>/dev/null >&2
for name in run2 all races yesterday today; do
	cp run1.jsonl $name.jsonl
done
cp run1.jsonl races.base

# rule KIND PAGE COMMAND: what tests/run/manual.tab says of it
rule()
{
	local kind page pattern rest

	while read -r kind page rest; do
		pattern=${rest#* }
		# shellcheck disable=SC2053 # a pattern
		[ "$kind" = "$1" ] && [ "$page" = "$2" ] &&
			[[ $3 == $pattern ]] && echo "${rest%% *}"
	done <"$sources/tests/run/manual.tab"
}

# try_example COMMAND: with programs of the names it asks for running
try_example()
{
	local name status

	if [[ $1 =~ pidof\ ([a-z]+) ]]; then
		name=${BASH_REMATCH[1]}
		[ -e "$name" ] || cp server "$name"
		"./$name" &
		lib_started "$!"
	fi
	(eval "$1") >out 2>err </dev/null
	status=$?
	end_programs
	return "$status"
}

# example PAGE COMMAND: what needs a debug register may find none, so twice
example()
{
	local status wanted shorter

	in_turn 4 "$1: $2" || return 0
	wanted=$(rule elsewhere "$1" "$2")
	if [ -n "$wanted" ]; then
		matches "$1: $wanted runs: $2" "$sources/$wanted" "${2%% *}"
		return
	fi
	wanted=$(rule status "$1" "$2")
	shorter=$(rule shorter "$1" "$2")
	tries try 1 2
	while next_try try; do
		try_example "$(sed "${shorter:-;}" <<<"$2")"
		status=$?
		case ",${wanted:-0,66}," in
		*",$status,"*)
			ok "$1: $2"
			return
			;;
		esac
		diag "exit status $status: $2"
		diag_file err
		diag_file out 40
	done
	not_ok "$1: $2"
}

count=0
for page in "$sources"/man/*.[157]; do
	while IFS=$'\t' read -r _ command; do
		example "$(basename "$page")" "$command"
		count=$((count + 1))
	done < <(examples commands "$page")
done
is "the pages have examples" "$((count > 10))" 1

# Rules that a page shows are rules.
mkdir "$work/rules"
examples rules "$sources/man/racewatch-suppressions.5" "$work/rules"
for file in "$work"/rules/*; do
	racewatch report --suppressions "$file" run1.jsonl >out 2>err
	is "racewatch-suppressions.5: rules of $(basename "$file")" "$?" 0 ||
		diag_file err
done

cd / || exit 99
finish
