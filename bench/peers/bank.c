/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Accounts with a lock each, and transfers that take both, in order. A
 * few times in a run all are summed up. What is forgotten: the locks in the sum.
 */
#include "peers.h"

enum { ACCOUNTS = 64 };

struct account {
	pthread_mutex_t lock;
	long balance;
};

struct account accounts[ACCOUNTS];

NOINLINE static void account_add(struct account *account, long amount)
{
	account->balance += amount; /* RACE: balance */
}

static void transfer(unsigned from, unsigned to, long amount)
{
	unsigned low = from < to ? from : to;
	unsigned high = from < to ? to : from;

	pthread_mutex_lock(&accounts[low].lock);
	pthread_mutex_lock(&accounts[high].lock);
	account_add(&accounts[from], -amount);
	account_add(&accounts[to], amount);
	pthread_mutex_unlock(&accounts[high].lock);
	pthread_mutex_unlock(&accounts[low].lock);
}

NOINLINE static long accounts_sum(void)
{
	long sum = 0;

	for (unsigned i = 0; i < ACCOUNTS; i++) {
		WITH_LOCK(&accounts[i].lock);
		sum += accounts[i].balance; /* RACE: balance */
		WITHOUT_LOCK(&accounts[i].lock);
	}
	return sum;
}

static void round_of(const struct worker *worker, unsigned long i)
{
	unsigned x = target_work((unsigned)i * 2 + worker->number + 1, 150);
	unsigned from = x % ACCOUNTS;

	transfer(from, (from + 1 + x / ACCOUNTS % (ACCOUNTS - 1)) % ACCOUNTS,
		 (long)(x % 100));
	if (worker->number == 0 && is_seldom(i))
		use((unsigned long)accounts_sum());
}

int main(int argc, char **argv)
{
	for (unsigned i = 0; i < ACCOUNTS; i++) {
		pthread_mutex_init(&accounts[i].lock, NULL);
		accounts[i].balance = 1000;
	}
	return workers_run(argc, argv, "bank", round_of, round_of);
}
