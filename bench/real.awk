# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -v name=NAME -v effort=EFFORT -f json.awk -f real.awk: the summaries of
# the runs of one program, in one row of bench/real.

function median(values, n,   i, j, t) {
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && values[j] < values[j - 1]; j--) {
			t = values[j]
			values[j] = values[j - 1]
			values[j - 1] = t
		}
	return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
}

{
	own[NR] = number_of($0, "samples_own")
	library[NR] = number_of($0, "samples_stalled") - own[NR]
	sync += number_of($0, "synchronization")
	reported += number_of($0, "races") > 0
	backend = text_of($0, "backend")
	if (!used[backend]++)
		backends = backends (backends ? " " : "") backend
}

END {
	printf "%-12s %-7s %4d %7g %8g %8d %7d  %s\n", name, effort, NR,
		median(own, NR), median(library, NR), sync, reported, backends
}
