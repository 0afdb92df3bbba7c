/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the watching costs the program, as a share of wall time, and whether
 * more of it may be spent. Pure code; load.h feeds it.
 *
 * A thread that is held may hold others with it, so a stall interval counts in
 * full, whatever else runs meanwhile, unless the program's own CPU clock shows
 * that little was lost: where more threads want to run than there are
 * processors, the others use what the held one does not. Threads that only spin
 * use processors too: where the program reads and writes files or sockets
 * often, as servers do, what becomes of these calls while a thread is held is
 * looked at as well. The greater of the two losses counts, and never less than
 * a quarter: a request that waits for the held thread costs its user, whatever
 * else goes on. A stop costs some microseconds for the switches to the tracer
 * and back, and the time for which the tracer handles it: as long the thread
 * waits, whether or not there is a processor for the tracer. Other time that
 * racewatch computes costs where every processor is busy when no thread is
 * held.
 *
 * Spending is from a credit that grows by the share, up to what a quarter of a
 * second brings; so a new phase of the program cannot overspend for long. It
 * may go below zero, by what two seconds bring; by little for what was
 * computed. Where little may be lost, what was computed beyond that is owed,
 * and half of what the share brings pays for it: the start of an attachment is
 * paid for within seconds, and work goes on meanwhile.
 *
 * A long stall, at a location that is seldom reached, takes its additional time
 * from a second budget too, which gets a quarter of what the credit gets, so
 * that long stalls leave the rest of the time to the others. It holds what two
 * seconds bring.
 *
 * Replays of races (tracer/replays.h) are paid for like everything: the time for
 * which their threads are held, with the stall, and what they compute, with what
 * racewatch computes. So that sampling goes on, a third budget, which gets a
 * quarter of the share too, says whether there may be another one. It holds what
 * one second brings.
 */
#ifndef SCHEDULE_BUDGET_H
#define SCHEDULE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* What was measured in some window of time. */
struct budget_window {
	uint64_t wall_ns;
	uint64_t held_ns; /* of it, in stall intervals */
	uint64_t cpu_ns; /* of the program */
	uint64_t calls; /* that it made; 0 where that is not known */
	/* stall intervals in which both were read, and what they came to */
	uint64_t measured_ns, measured_cpu_ns, measured_calls;
};

struct budget {
	double share; /* of wall time that may be lost; 0: any */
	double credit_ns;
	double debt_ns; /* still to be paid for with half of what is earned */
	double long_ns; /* left in the budget for long stalls */
	double replay_ns; /* and in that for replays */
	uint64_t earned_ns; /* when the credit was last computed; 0: never */
	double lost_ns; /* so far */
	double lost_cpu_ns; /* of it, by what racewatch computed */
	double lost_replay_ns; /* of that, for replays */
	double lost_stop_ns; /* and by stops without a stall */
	double loss; /* per nanosecond held: 0 to 1 */
	double competition; /* per nanosecond that racewatch computes: 0 to 1 */
	/* sums over about the last second */
	double wall_ns, cpu_ns; /* all of it */
	double held_ns, held_cpu_ns, held_calls;
	double free_ns, free_cpu_ns, free_calls;
};

void budget_init(struct budget *budget);

/* From now on this share may be spent. */
void budget_set_share(struct budget *budget, double share);

/* Is it little that may be lost? */
bool budget_is_small(const struct budget *budget);
/* The same of a share; 0: any may be lost. */
bool budget_share_is_small(double share);

/* Bring the credit up to date. */
void budget_earn(struct budget *budget, uint64_t now_ns);

/* Is another stall affordable, as of the last budget_earn()? */
static inline bool budget_affords(const struct budget *budget)
{
	return budget->share <= 0 || budget->credit_ns > 0;
}

/* Is there so much time that others than stalls may take some of it? */
bool budget_has_plenty(const struct budget *budget);

/*
 * The same of a stall that may be paid for later: the debt is at most what the
 * credit can hold.
 */
bool budget_lends(const struct budget *budget);

/* When it will be; 0: now. */
uint64_t budget_next_ns(const struct budget *budget);

/*
 * Take up to so much from the budget for long stalls, as of the last
 * budget_earn(). What is not used is given back. Where any share may be lost
 * there is no such budget.
 */
uint64_t budget_take_long(struct budget *budget, uint64_t ns);
void budget_return_long(struct budget *budget, uint64_t ns);

/*
 * Is another replay affordable, as of the last budget_earn(), when others compute
 * for so long first?
 */
static inline bool budget_affords_replay(const struct budget *budget,
					 uint64_t cpu_ns)
{
	return budget->share <= 0 ||
	       budget->replay_ns > (double)cpu_ns * budget->competition;
}

/*
 * One was made: its threads were held for so long in addition, and it was
 * computed for so long, in whatever process. Only the budget for replays is
 * charged: the caller spends both like everything else.
 */
void budget_spend_replay(struct budget *budget, uint64_t held_ns,
			 uint64_t cpu_ns);

/* A stall interval has ended. */
void budget_spend_held(struct budget *budget, uint64_t ns);
/* A thread was stopped while none was stalled. */
void budget_spend_stop(struct budget *budget);
/* The tracer has let a stopped thread wait for so long, while none was stalled. */
void budget_spend_handling(struct budget *budget, uint64_t ns);
/* racewatch has computed while no thread was stalled. */
void budget_spend_cpu(struct budget *budget, uint64_t ns);
/* The program's threads have been interrupted for so long; profile.h. */
void budget_spend_interrupts(struct budget *budget, uint64_t ns);

/* What a stop without a stall costs, with what racewatch computes for it. */
double budget_stop_cost(const struct budget *budget);

/*
 * How much of a processor the program used of late: 0 to 1. 1: all of one, more,
 * or not known.
 */
double budget_use(const struct budget *budget);

/* How much of a stall's time is lost, by the program's CPU clock and calls. */
void budget_learn_loss(struct budget *budget,
		       const struct budget_window *window);
/*
 * How many processors there are, and how many were busy on the average: racewatch
 * with `own' of them, all others with `busy'. For `lost' of that time, a part of 1,
 * the others stood still.
 */
void budget_learn_competition(struct budget *budget, double processors,
			      double busy, double own, double lost);

#endif
