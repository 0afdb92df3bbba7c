/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the watching costs and may cost; see budget.h.
 */
#include "schedule/budget.h"

#include "base/clock.h"

/* The switches to the tracer and back. */
static const double BUDGET_STOP_NS = 20000;
/* and the tracer's time, about, with setting the breakpoint (bench/hit) */
static const double BUDGET_STOP_CPU_NS = 25000;
/* Less than this share of wall time is little. */
static const double BUDGET_SMALL = 0.1;
/* Seconds whose income the credit holds at most, and the debt. */
static const double BUDGET_SAVE_S = 0.25;
static const double BUDGET_DEBT_S = 2;
/* What is computed in a burst, as at the start, is not to keep it from work. */
static const double BUDGET_CPU_DEBT_S = 0.04;
/*
 * Where little may be lost, what was computed beyond a smaller debt is owed: such
 * a part of the share pays for it, for so long at most.
 */
static const double BUDGET_REPAY = 0.5;
static const double BUDGET_OWED_S = 5;
static const double BUDGET_CPU_DEBT_SMALL_S = 0.05;
/*
 * So much of the share is for long stalls. The budget for long stalls holds
 * what two seconds bring: of 40 % that is 200 ms, the longest stall
 * (schedule/effort.c).
 */
static const double BUDGET_LONG = 0.25;
static const double BUDGET_LONG_SAVE_S = 2;
/*
 * The same of replays. One costs 1 to 10 ms where somebody else wants the
 * processor: with 2 % of the time to lose it is paid for within two seconds.
 */
static const double BUDGET_REPLAY = 0.25;
static const double BUDGET_REPLAY_SAVE_S = 1;
static const double BUDGET_REPLAY_DEBT_S = 5;
/* Never less: what is lost can be neither CPU time nor calls. */
static const double BUDGET_LOSS_MIN = 0.25;
/* Of the time in which others stood still no more is taken away. */
static const double BUDGET_STOOD_MAX = 0.9;
/* Calls that would have been made while threads were held, for a verdict. */
static const double BUDGET_CALLS_MIN = 50;
/* So much must have been seen before less than all is counted. */
static const double BUDGET_HELD_MIN_NS = 3e6;
static const double BUDGET_FREE_MIN_NS = 50e6;

/* What the credit holds at most. */
static double budget_most_ns(const struct budget *budget)
{
	return budget->share * BUDGET_SAVE_S * (double)CLOCK_NS_PER_S;
}

void budget_init(struct budget *budget)
{
	*budget = (struct budget){ .loss = 1 };
}

void budget_set_share(struct budget *budget, double share)
{
	budget->share = share;
}

bool budget_share_is_small(double share)
{
	return share > 0 && share < BUDGET_SMALL;
}

bool budget_is_small(const struct budget *budget)
{
	return budget_share_is_small(budget->share);
}

/* Change the budget for long stalls; it never exceeds its limit. */
static void budget_add_long(struct budget *budget, double ns)
{
	double most = budget->share * BUDGET_LONG * BUDGET_LONG_SAVE_S *
		      (double)CLOCK_NS_PER_S;

	budget->long_ns += ns;
	if (budget->long_ns > most)
		budget->long_ns = most;
}

/* The same of the budget for replays, which is not below its debt. */
static void budget_add_replay(struct budget *budget, double ns)
{
	double second = budget->share * BUDGET_REPLAY * (double)CLOCK_NS_PER_S;

	budget->replay_ns += ns;
	if (budget->replay_ns > second * BUDGET_REPLAY_SAVE_S)
		budget->replay_ns = second * BUDGET_REPLAY_SAVE_S;
	if (budget->replay_ns < -second * BUDGET_REPLAY_DEBT_S)
		budget->replay_ns = -second * BUDGET_REPLAY_DEBT_S;
}

/* What is left of it when a part has paid for what is owed. */
static double budget_repay(struct budget *budget, double earned)
{
	double paid = earned * BUDGET_REPAY;

	if (paid > budget->debt_ns)
		paid = budget->debt_ns;
	budget->debt_ns -= paid;
	return earned - paid;
}

void budget_earn(struct budget *budget, uint64_t now_ns)
{
	double most = budget_most_ns(budget);
	double passed;

	/* a caller's clock may have been read before the last one's */
	if (now_ns <= budget->earned_ns)
		return;
	if (budget->earned_ns != 0) {
		passed = (double)(now_ns - budget->earned_ns);
		budget->credit_ns +=
			budget_repay(budget, budget->share * passed);
		budget_add_long(budget, budget->share * BUDGET_LONG * passed);
		budget_add_replay(budget,
				  budget->share * BUDGET_REPLAY * passed);
	}
	budget->earned_ns = now_ns;
	if (budget->credit_ns > most)
		budget->credit_ns = most;
}

uint64_t budget_take_long(struct budget *budget, uint64_t ns)
{
	if ((double)ns > budget->long_ns)
		ns = (uint64_t)budget->long_ns;
	budget->long_ns -= (double)ns;
	return ns;
}

void budget_return_long(struct budget *budget, uint64_t ns)
{
	budget_add_long(budget, (double)ns);
}

void budget_spend_replay(struct budget *budget, uint64_t held_ns,
			 uint64_t cpu_ns)
{
	double computed = (double)cpu_ns * budget->competition;

	budget->lost_replay_ns += computed;
	budget_add_replay(budget, -computed - (double)held_ns * budget->loss);
}

bool budget_has_plenty(const struct budget *budget)
{
	return budget->share <= 0 ||
	       budget->credit_ns > budget_most_ns(budget) / 2;
}

bool budget_lends(const struct budget *budget)
{
	return budget->share <= 0 ||
	       budget->credit_ns > -budget_most_ns(budget);
}

/* How much must be earned for the credit to grow by so much. */
static double budget_to_earn(const struct budget *budget, double ns)
{
	double most = budget->debt_ns / BUDGET_REPAY;
	double earned = ns / (1 - BUDGET_REPAY);

	return earned < most ? earned : ns + budget->debt_ns;
}

uint64_t budget_next_ns(const struct budget *budget)
{
	if (budget_affords(budget))
		return 0;
	return budget->earned_ns +
	       (uint64_t)(budget_to_earn(budget, -budget->credit_ns) /
			  budget->share) +
	       1;
}

static void budget_spend(struct budget *budget, double ns, double debt_s)
{
	double least = -budget->share * debt_s * (double)CLOCK_NS_PER_S;

	budget->lost_ns += ns;
	/* a deeper debt stays as deep */
	if (budget->credit_ns < least)
		return;
	budget->credit_ns -= ns;
	if (budget->credit_ns < least)
		budget->credit_ns = least;
}

void budget_spend_held(struct budget *budget, uint64_t ns)
{
	budget_spend(budget, (double)ns * budget->loss, BUDGET_DEBT_S);
}

void budget_spend_stop(struct budget *budget)
{
	budget->lost_stop_ns += BUDGET_STOP_NS * budget->loss;
	budget_spend(budget, BUDGET_STOP_NS * budget->loss, BUDGET_DEBT_S);
}

/*
 * The stopped thread waits for the tracer, and another one may for the processor
 * that the tracer has.
 */
static double budget_handling_loss(const struct budget *budget)
{
	return budget->loss > budget->competition ? budget->loss
						  : budget->competition;
}

void budget_spend_handling(struct budget *budget, uint64_t ns)
{
	double lost = (double)ns * budget_handling_loss(budget);

	budget->lost_stop_ns += lost;
	budget_spend(budget, lost, BUDGET_DEBT_S);
}

double budget_stop_cost(const struct budget *budget)
{
	return BUDGET_STOP_NS * budget->loss +
	       BUDGET_STOP_CPU_NS * budget_handling_loss(budget);
}

static void budget_owe(struct budget *budget, double ns)
{
	double most = budget->share * BUDGET_OWED_S * BUDGET_REPAY *
		      (double)CLOCK_NS_PER_S;

	budget->debt_ns += ns;
	if (budget->debt_ns > most)
		budget->debt_ns = most;
}

static void budget_spend_computed(struct budget *budget, double ns)
{
	double before = budget->credit_ns;

	budget->lost_cpu_ns += ns;
	if (!budget_is_small(budget)) {
		budget_spend(budget, ns, BUDGET_CPU_DEBT_S);
		return;
	}
	budget_spend(budget, ns, BUDGET_CPU_DEBT_SMALL_S);
	budget_owe(budget, ns - (before - budget->credit_ns));
}

void budget_spend_cpu(struct budget *budget, uint64_t ns)
{
	budget_spend_computed(budget, (double)ns * budget->competition);
}

/* It takes the processor from the program, whoever else has one. */
void budget_spend_interrupts(struct budget *budget, uint64_t ns)
{
	budget_spend_computed(budget, (double)ns);
}

/* Sums that forget what is older than about a second. */
static void budget_add(double *sum, double keep, double more)
{
	*sum = *sum * keep + (more > 0 ? more : 0);
}

/* Add the window to the sums. False: it says nothing of what was held. */
static bool budget_add_window(struct budget *budget,
			      const struct budget_window *window)
{
	double wall = (double)window->wall_ns;
	double keep = 1 - wall / (double)CLOCK_NS_PER_S;
	double held = (double)window->held_ns;
	double part = 0;

	if (keep < 0)
		keep = 0;
	budget_add(&budget->wall_ns, keep, wall);
	budget_add(&budget->cpu_ns, keep, (double)window->cpu_ns);
	/* what was not measured is taken to be like what was */
	if (window->measured_ns > 0)
		part = held / (double)window->measured_ns;
	else if (held > 0)
		return false;
	budget_add(&budget->held_ns, keep, held);
	budget_add(&budget->held_cpu_ns, keep,
		   part * (double)window->measured_cpu_ns);
	budget_add(&budget->held_calls, keep,
		   part * (double)window->measured_calls);
	budget_add(&budget->free_ns, keep, wall - held);
	budget_add(&budget->free_cpu_ns, keep,
		   (double)window->cpu_ns -
			   part * (double)window->measured_cpu_ns);
	budget_add(&budget->free_calls, keep,
		   (double)window->calls -
			   part * (double)window->measured_calls);
	return true;
}

/* In processors; of a program that uses less than one, in its share. */
static double budget_lost_cpu(const struct budget *budget)
{
	double used = budget->free_cpu_ns / budget->free_ns;
	double lost = used - budget->held_cpu_ns / budget->held_ns;

	return used < 1 ? lost / used : lost;
}

/* By its calls, as a share of what it makes of them; 0 where too few tell. */
static double budget_lost_calls(const struct budget *budget)
{
	double expected =
		budget->free_calls / budget->free_ns * budget->held_ns;

	if (expected < BUDGET_CALLS_MIN)
		return 0;
	return 1 - budget->held_calls / expected;
}

void budget_learn_loss(struct budget *budget,
		       const struct budget_window *window)
{
	double lost, calls;

	if (!budget_add_window(budget, window))
		return;
	budget->loss = 1;
	if (budget->held_ns < BUDGET_HELD_MIN_NS ||
	    budget->free_ns < BUDGET_FREE_MIN_NS || budget->free_cpu_ns <= 0)
		return;
	lost = budget_lost_cpu(budget);
	calls = budget_lost_calls(budget);
	if (lost < calls)
		lost = calls;
	if (lost < BUDGET_LOSS_MIN)
		lost = BUDGET_LOSS_MIN;
	if (lost < budget->loss)
		budget->loss = lost;
}

double budget_use(const struct budget *budget)
{
	double use = 1;

	if (budget->wall_ns >= BUDGET_FREE_MIN_NS)
		use = budget->cpu_ns / budget->wall_ns;
	return use < 1 ? use : 1;
}

void budget_learn_competition(struct budget *budget, double processors,
			      double busy, double own, double lost)
{
	double ran = 1 - (lost < BUDGET_STOOD_MAX ? lost : BUDGET_STOOD_MAX);
	double competition = own + busy / ran - (processors - 1);

	if (competition < 0)
		competition = 0;
	budget->competition = competition < 1 ? competition : 1;
}
