# SPDX-License-Identifier: GPL-3.0-or-later
#
# The reports of data races that racewatch or ThreadSanitizer has printed, a
# line for each: "known", or "other" and what identifies it.
#
#	-v names=LIST   regular expressions, parted by commas; the known race is
#	                a report in which each of them matches

function report_ends(    n, i, name, known)
{
	if (report == "")
		return
	n = split(names, name, ",")
	known = 1
	for (i = 1; i <= n; i++)
		known = known && report ~ name[i]
	print known ? "known" : "other", identity
	report = identity = ""
}

/^WARNING: (racewatch|ThreadSanitizer): data race/ {
	report_ends()
	report = $0
	tool = $2
	next
}
report == "" { next }
tool == "racewatch:" && /^ +identity / { identity = $2 }
tool == "racewatch:" && /^[^ ]/ { report_ends(); next }
/^SUMMARY: ThreadSanitizer/ {
	identity = $0
	report_ends()
	next
}
{ report = report "\n" $0 }
END { report_ends() }
