#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# compress.sh FILE "DECOMPRESSOR" COMPRESSOR...: fails where the file is
# another one after both.

file=$1
back=$2
shift 2
"$@" "$file" | $back | cmp -s - "$file"
