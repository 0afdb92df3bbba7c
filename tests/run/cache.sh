#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The cache of names: the first run that meets a race reads the debug
# information of the C library, the second one finds what it needs in the cache
# and prints the same. What is damaged there is not used, and replaced.
#
# One side of a race will do: the threads are made and begin alike. meet makes up
# to three runs until one sees it; those that do not see it read no names.

. "$(dirname "$0")/../lib.sh"

library=$(ldd "$TARGETS_DIR/global.O2" | sed -n 's/.*=> \(.*libc\.so\.6\) .*/\1/p')
id=$(readelf -n "$library" | sed -n 's/.*Build ID: //p')
names=$XDG_CACHE_HOME/racewatch/$id.names
# shellcheck disable=SC2034 # for meet
one_sided=yes

# library_frames: those of the C library, each once, as they are printed
library_frames()
{
	python3 - "$report" <<'EOF'
import json, sys

frames = set()
for line in open(sys.argv[1]):
    record = json.loads(line)
    if record["type"] != "race":
        continue
    for side in record["sides"]:
        for frame in side["frames"] + (side["created"] or []):
            if (frame["module"] or "").endswith("/libc.so.6"):
                frames.add(json.dumps(frame, sort_keys=True))
print(*sorted(frames), sep="\n")
EOF
}

# watch SEED: one that reports a race; its frames are in $frames, and how often
# the library's debug information was read in $read
watch()
{
	meet "$1" --debug image -- "$TARGETS_DIR/global.O2"
	frames=$(library_frames)
	read=$(grep -c "/libc\.so\.6: debug information read" "$work/err")
}

if [ ! -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ]; then
	skip "the C library's names are kept" "its debug file is not installed"
	finish
fi
watch 1
first=$frames
[ -n "$first" ] || diag_file "$report"
is "the first run reads the C library's debug information" "$((read > 0))" 1
printf '%s' "$first" >"$work/first"
has "and keeps its names" "$work/first" function=start_thread
is "in a file that is ours alone" "$(stat -c '%a %u' "$names")" "600 $EUID"
watch 2
is "the second one does not read it" "$read" 0
is "and prints the same frames" "$frames" "$first"

printf 'X' | dd of="$names" bs=1 seek=300 conv=notrunc status=none
watch 3
is "a damaged file is not used" "$((read > 0))" 1
is "the frames are the same" "$frames" "$first"
watch 4
is "it was replaced" "$read" 0

chmod go+w "$names"
watch 5
is "what others may write to is not used" "$((read > 0))" 1
is "nor does it change a frame" "$frames" "$first"

rm -r "$XDG_CACHE_HOME/racewatch"
RACEWATCH_CACHE=off watch 6
is "without a cache it is read" "$((read > 0))" 1
is "and nothing is left" "$(ls "$XDG_CACHE_HOME")" ""

finish
