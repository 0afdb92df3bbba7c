#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# xz-cut.sh XZ FILE: a file that is cut off must be refused.

"$1" -dc -T2 "$2" >/dev/null 2>&1
[ $? -eq 1 ]
