#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A stall that holds up everybody ends at once (DataCollider 3.2.3), whatever
# the others wait in: with stalls of ten seconds, and a thread that all others
# wait for, the run would take minutes. A thread that spins is not known to
# wait; there the budget of --overhead bounds what is lost.

. "$(dirname "$0")/../lib.sh"

for how in mutex cond rwlock sem barrier join; do
	# a loaded machine may sample too little in the time
	tries rounds x300000 x3000000 x12000000
	while next_try rounds; do
		RUN_TIMEOUT=120 run run --rate 1000 --stall 10s --seed 1 \
			--error-exitcode 0 -o "$report" -- \
			"$TARGETS_DIR/progress.O2" "$how" "$rounds"
		[ "$status" -ne 0 ] || [ "$(summary samples)" -ge 20 ] && break
	done
	if [ "$status" -ne 0 ]; then
		not_ok "$how: status $status"
		diag_file "$work/err"
	elif [ "$(summary samples)" -lt 20 ]; then
		not_ok "$how: $(summary samples) samples are too few to tell"
	elif awk -v s="$(summary stalled_s)" -v n="$(summary samples)" \
		'BEGIN { exit !(s / n < 0.1) }'; then
		# a stall may begin before the other has gone to sleep
		ok "$how: stalls end at once"
	else
		not_ok "$how: $(summary samples) stalls took" \
			"$(summary stalled_s) s"
	fi
done

# Some seconds: a stall may be longer than what was saved up for it, by what a
# loaded machine adds, and the budget is kept over the run.
tries rounds x3000000 x12000000 x48000000
while next_try rounds; do
	RUN_TIMEOUT=300 run run --overhead 5 --stall 1ms --seed 1 \
		--error-exitcode 0 -o "$report" -- \
		"$TARGETS_DIR/progress.O2" spin "$rounds"
	# a pause of the machine in a stall weighs less in a longer run
	awk -v p="$(summary overhead_pct)" 'BEGIN { exit !(p <= 7) }' && break
done
is "spin: status" "$status" 0 || diag_file "$work/err"
if awk -v p="$(summary overhead_pct)" 'BEGIN { exit !(p <= 7) }'; then
	ok "spin: no more than the budget is lost"
else
	not_ok "spin: $(summary overhead_pct) % of 5 %"
fi

finish
