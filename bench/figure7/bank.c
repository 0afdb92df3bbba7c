/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A bank with a teller and a cashier who share accounts, receipt numbers and
 * a count of transactions, and no lock.
 */
#include "figure7.h"

struct account {
	long balance;
	long number;
};

struct account accounts[2] = { { 1000000, 1 }, { 1000000, 2 } };
unsigned long next_receipt = 1;
unsigned long transactions;

NOINLINE static void account_deposit(struct account *account, long sum)
{
	account->balance += sum; /* RACE: balance */
}

NOINLINE static int account_withdraw(struct account *account, long sum)
{
	if (account->balance < sum) /* RACE: balance */
		return 0;
	account->balance -= sum; /* RACE: balance */
	return 1;
}

NOINLINE static unsigned long receipt_next(void)
{
	return next_receipt++; /* RACE: receipt */
}

NOINLINE static void transaction_count(void)
{
	transactions++; /* RACE: transactions */
}

static void teller(unsigned long i)
{
	account_deposit(&accounts[0], (long)(i % 7));
	use(receipt_next());
	transaction_count();
}

static void cashier(unsigned long i)
{
	if (account_withdraw(&accounts[0], (long)(i % 5)))
		use(receipt_next());
	transaction_count();
}

int main(int argc, char **argv)
{
	struct role roles[] = { { teller, 40 }, { cashier, 30 }, { NULL, 0 } };

	return roles_run(argc, argv, "bank", roles);
}
