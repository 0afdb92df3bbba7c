#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# memcached-up.sh MEMCACHED: a server is started, and ended when it is there.

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
user=
[ "$(id -u)" -ne 0 ] || user="-u root"
# shellcheck disable=SC2086 # none or two words
"$1" $user -t 2 -s "$folder/socket" -P "$folder/pid" &
server=$!
while [ ! -s "$folder/pid" ] && kill -0 "$server" 2>/dev/null; do
	sleep 0.02
done
kill -TERM "$server"
wait "$server"
