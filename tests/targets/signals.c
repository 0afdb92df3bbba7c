/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals in flight: queued real-time signals must arrive once each, in
 * order, with their values; a 1 kHz timer's deliveries and overruns must add
 * up to the time that passed.
 */
#include "special.h"

static volatile sig_atomic_t queued, disorder, ticks, overruns;
static timer_t timer;

static void on_queued(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	if (info->si_value.sival_int != queued)
		disorder++;
	queued++;
}

static void on_tick(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	ticks++;
	overruns += info->si_overrun;
}

static void start_timer(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGRTMIN + 1 };
	struct itimerspec ms = { { 0, 1000000 }, { 0, 1000000 } };

	target_check(!timer_create(CLOCK_MONOTONIC, &event, &timer),
		     "timer_create");
	timer_settime(timer, 0, &ms, NULL);
}

int main(int argc, char **argv)
{
	struct sigaction tick = { .sa_sigaction = on_tick,
				  .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction queue = { .sa_sigaction = on_queued,
				   .sa_flags = SA_SIGINFO | SA_RESTART };
	struct itimerspec never = { { 0, 0 }, { 0, 0 } };
	pthread_t hot[2];
	sigset_t both;
	/* of the timer's life: known before and after each of its ends */
	uint64_t before, begun, last, end, count;
	int sent = 0;

	sigaction(SIGRTMIN + 1, &tick, NULL);
	sigaction(SIGRTMIN + 2, &queue, NULL);
	target_init(argc, argv, 1);
	sigemptyset(&both);
	sigaddset(&both, SIGRTMIN + 1);
	sigaddset(&both, SIGRTMIN + 2);
	pthread_sigmask(SIG_BLOCK, &both, NULL);
	hot[0] = target_thread(special_loop, NULL);
	hot[1] = target_thread(special_loop, NULL);
	pthread_sigmask(SIG_UNBLOCK, &both, NULL);
	before = target_clock();
	start_timer();
	begun = target_clock();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		union sigval value = { .sival_int = sent };

		special_hot((unsigned)i);
		if (i % 16 == 0 && !sigqueue(getpid(), SIGRTMIN + 2, value))
			sent++;
	}
	last = target_clock();
	timer_settime(timer, 0, &never, NULL);
	end = target_clock();
	count = (uint64_t)(ticks + overruns);
	pthread_join(hot[0], NULL);
	pthread_join(hot[1], NULL);
	target_check(queued == sent && !disorder, "queued signals");
	target_check(count + 3 >= (last - begun) / 1000000 &&
			     count <= (end - before) / 1000000 + 3,
		     "timer signals");
	return target_done("signals");
}
