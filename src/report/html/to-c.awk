# SPDX-License-Identifier: GPL-3.0-or-later
#
# Files as strings of C: awk -f to-c.awk NAME=FILE ... Each becomes
# `const char html_NAME[]'. Comments of one line, and indentation, are left out.

BEGIN {
	print "/* Made by src/report/html/to-c.awk: do not edit. */"
	print "#include \"report/html.h\""
	for (i = 1; i < ARGC; i++) {
		split(ARGV[i], part, "=")
		emit(part[1], substr(ARGV[i], length(part[1]) + 2))
	}
	exit 0
}

function emit(name, file,	line, status)
{
	printf "\nconst char html_%s[] =\n", name
	while ((status = (getline line < file)) > 0) {
		sub(/^[ \t]+/, "", line)
		if (line == "" || line ~ /^\/\*.*\*\/$/)
			continue
		gsub(/\\/, "\\\\&", line)
		gsub(/"/, "\\\"", line)
		printf "\t\"%s\\n\"\n", line
	}
	if (status < 0) {
		print "to-c.awk: cannot read " file | "cat >&2"
		exit 1
	}
	print "\t\"\";"
	close(file)
}
