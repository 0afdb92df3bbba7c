# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154 # work, which lib.sh sets
#
# Sourced by tests of what manual pages show, after lib.sh: the commands of the
# pages run here as they are.

sources=$(realpath "$top_srcdir")

# examples JOB...: what the pages say
examples()
{
	"$sources/tests/helpers/manual-examples" "$@"
}

# needs TOOL...: without one of them the script ends
needs()
{
	local tool

	for tool; do
		command -v "$tool" >/dev/null && continue
		skip "all" "there is no $tool"
		finish
	done
}

# The program under test comes first, and pidof knows no other's processes.
mkdir "$work/bin"
ln -s "$(realpath "$RACEWATCH")" "$work/bin/racewatch"
cat >"$work/bin/pidof" <<'END'
#!/bin/bash
# pidof NAME: processes that run ./NAME; one that was just started may be awaited
for ((look = 0; look < 100; look++)); do
	for exe in /proc/[0-9]*/exe; do
		[ "$exe" -ef "$PWD/$1" ] || continue
		pid=${exe#/proc/}
		pids="${pids:-}${pids:+ }${pid%/exe}"
	done
	[ -n "${pids:-}" ] && break
	sleep 0.05
done
echo "${pids:-}"
[ -n "${pids:-}" ]
END
chmod +x "$work/bin/pidof"
PATH=$work/bin:$PATH

# What runs in the current folder is ended.
end_programs()
{
	local pid

	for pid in $(jobs -p); do
		kill -9 "$pid" 2>/dev/null
	done
	{ wait; } 2>/dev/null
}
