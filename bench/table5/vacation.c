/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reservations of rooms, flights and cars, as in STAMP: a manager makes tasks,
 * clients reserve in tables what a task asks for, and a clerk adds up what each
 * customer pays. The tables, and the queues of tasks and reservations, are accessed
 * in transactions of libitm, objects outside of them by who has them. Without
 * -fgnu-tm the exit status is 77.
 *
 * Races: a client dates a reservation that the clerk may have already, and counts
 * what could not be reserved by a plain sum.
 */
#include "table5.h"

enum { KINDS = 3, OFFERS = 8, CUSTOMERS = 8, TASKS = 120, CLIENTS = 2 };

struct task {
	unsigned int customer, kind, offer;
};

struct reservation {
	unsigned int customer, price, date;
	struct task *task;
};

struct offer {
	unsigned int left, price;
};

struct passage {
	void *items[QUEUE];
	unsigned int in, out;
};

static struct offer offers[KINDS][OFFERS];
static struct passage asked, sold;
static struct task no_task; /* what comes after the last one */
static struct reservation no_reservation;
static unsigned int bills[CUSTOMERS];
unsigned int refusals;

#ifdef TRANSACTIONS
#define TRANSACTION __transaction_atomic
#else
#define TRANSACTION
#endif

NOINLINE static bool passage_try_put(struct passage *passage, void *item)
{
	bool done = false;

	TRANSACTION
	{
		if (passage->in - passage->out < QUEUE) {
			passage->items[passage->in++ % QUEUE] = item;
			done = true;
		}
	}
	return done;
}

NOINLINE static void *passage_try_take(struct passage *passage)
{
	void *item = NULL;

	TRANSACTION
	{
		if (passage->in != passage->out)
			item = passage->items[passage->out++ % QUEUE];
	}
	return item;
}

static void passage_put(struct passage *passage, void *item)
{
	while (!passage_try_put(passage, item))
		sched_yield();
}

static void *passage_take(struct passage *passage)
{
	void *item;

	while (!(item = passage_try_take(passage)))
		sched_yield();
	return item;
}

NOINLINE static void task_fill(struct task *task, unsigned int *state)
{
	task->customer = number_next(state) % CUSTOMERS;
	task->kind = number_next(state) % KINDS;
	task->offer = number_next(state) % OFFERS;
}

NOINLINE static unsigned int task_customer(const struct task *task)
{
	return task->customer;
}

NOINLINE static struct offer *task_offer(const struct task *task)
{
	return &offers[task->kind][task->offer];
}

/* Its price; 0: there is none left. */
NOINLINE static unsigned int offer_reserve(struct offer *offer)
{
	unsigned int price = 0;

	TRANSACTION
	{
		if (offer->left) {
			offer->left--;
			price = offer->price++;
		}
	}
	return price;
}

NOINLINE static void reservation_fill(struct reservation *reservation,
				      struct task *task, unsigned int price)
{
	reservation->task = task;
	reservation->customer = task_customer(task);
	reservation->price = price;
}

NOINLINE static void reservation_date(struct reservation *reservation,
				      unsigned int date)
{
	reservation->date = date;
}

NOINLINE static void reservation_bill(const struct reservation *reservation)
{
	target_check(reservation->customer == task_customer(reservation->task),
		     "a customer");
	bills[reservation->customer] += reservation->price;
}

NOINLINE static unsigned int reservation_dated(const struct reservation *of)
{
	return of->date;
}

NOINLINE static void refusal_count(void)
{
	refusals++;
}

static void *manager(void *unused)
{
	unsigned int state = 3;

	for (int i = 0; i < TASKS; i++) {
		struct task *task = memory_new(sizeof(*task));

		task_fill(task, &state);
		passage_put(&asked, task);
	}
	for (int i = 0; i < CLIENTS; i++)
		passage_put(&asked, &no_task);
	return unused;
}

static void *client(void *unused)
{
	struct task *task;
	unsigned int date = 0;

	while ((task = passage_take(&asked)) != &no_task) {
		unsigned int price = offer_reserve(task_offer(task));

		if (price) {
			struct reservation *reservation =
				memory_new(sizeof(*reservation));

			reservation_fill(reservation, task, price);
			passage_put(&sold, reservation);
			reservation_date(reservation, ++date);
		} else {
			refusal_count();
		}
	}
	passage_put(&sold, &no_reservation);
	return unused;
}

static void *clerk(void *unused)
{
	unsigned int last = 0;

	for (int ends = 0; ends < CLIENTS;) {
		struct reservation *reservation = passage_take(&sold);

		if (reservation == &no_reservation) {
			ends++;
		} else {
			reservation_bill(reservation);
			last += reservation_dated(reservation);
		}
	}
	target_work(last, 1);
	return unused;
}

int main(void)
{
	pthread_t threads[CLIENTS + 2];
	unsigned int sum = 0;

#ifndef TRANSACTIONS
	return 77;
#endif
	for (int i = 0; i < KINDS * OFFERS; i++)
		offers[i / OFFERS][i % OFFERS] = (struct offer){ 3, 10 };
	threads[0] = target_thread(clerk, NULL);
	threads[1] = target_thread(manager, NULL);
	for (int i = 0; i < CLIENTS; i++)
		threads[i + 2] = target_thread(client, NULL);
	for (int i = 0; i < CLIENTS + 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < CUSTOMERS; i++)
		sum += bills[i];
	/* all that was there is sold, at 10, 11 and 12 */
	target_check(sum >= 33 * KINDS * OFFERS * 3 / 4, "sales");
	return target_done("vacation");
}
