# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -f json.awk -f ...: members of records in JSON, a record to a line; the
# first of that name.

# The member's number; "" when there is none.
function number_of(record, key) {
	if (!match(record, "\"" key "\":[0-9.]+"))
		return ""
	return substr(record, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0
}

# The text of a member's value; "null" as it is.
function text_of(record, key,   at) {
	at = index(record, "\"" key "\":")
	if (!at)
		return ""
	record = substr(record, at + length(key) + 3)
	sub(/^"/, "", record)
	sub(/[",}\]].*/, "", record)
	return record
}

# How many times as long a program takes that loses so many percent of its time.
function slowed(percent) {
	return percent < 100 ? 100 / (100 - percent) : 1e6
}
