# shellcheck shell=sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the checks of `make lint' share. Sourced with the top of the source tree
# as the working directory. A check complains once per finding and ends with
# finish, which makes the exit status.

check=$(basename "$0")
findings=0

complain() {
	printf '%s: %s\n' "$check" "$*" >&2
	findings=$((findings + 1))
}

finish() {
	if [ "$findings" -eq 0 ]; then
		printf '%s: fine\n' "$check"
		exit 0
	fi
	printf '%s: %s finding(s)\n' "$check" "$findings" >&2
	exit 1
}

# need TOOL DEBIAN-PACKAGE: 99 when a tool of lint is not there
need() {
	command -v "$1" >/dev/null 2>&1 && return 0
	printf '%s: %s is missing (Debian package: %s)\n' "$check" "$1" "$2" >&2
	exit 99
}

# c_files DIR...: sources and headers below them
c_files() {
	find "$@" -name '*.[ch]' -type f | LC_ALL=C sort
}

# without_comments FILE: the C text with comments and the contents of strings
# blanked, line for line, so that what is left is code
without_comments() {
	awk '
	{
		out = ""
		n = length($0)
		for (i = 1; i <= n; i++) {
			c = substr($0, i, 1)
			two = substr($0, i, 2)
			if (comment) {
				if (two == "*/") { comment = 0; i++ }
				continue
			}
			if (quote != "") {
				if (c == "\\") { i++; continue }
				if (c == quote) { quote = ""; out = out c }
				continue
			}
			if (two == "/*") { comment = 1; i++; continue }
			if (two == "//") break
			if (c == "\"" || c == "'\''") quote = c
			out = out c
		}
		quote = ""
		print out
	}' "$1"
}
