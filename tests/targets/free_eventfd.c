/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: one plain table, used in turn by two threads that hand it to
 * each other through a pair of eventfds; the kernel is the synchronization.
 */
#include "target.h"
#include <sys/eventfd.h>

static int bells[2];
struct {
	long turns, cells[8];
	int over;
} table;

NOINLINE static int table_use(long cell)
{
	table.turns++;
	table.cells[cell % 8] = table.turns;
	return table.cells[(cell + 1) % 8] <= table.turns;
}

static void hand_over(int bell)
{
	target_check(!eventfd_write(bell, 1), "eventfd_write");
}

static void wait_for(int bell)
{
	eventfd_t value;
	int failed;

	do
		failed = eventfd_read(bell, &value);
	while (failed && errno == EINTR);
	target_check(!failed, "eventfd_read");
}

static void *turn_loop(void *arg)
{
	int *mine = arg, me = (int)(mine - bells);

	target_meet();
	for (unsigned long i = 0;; i++) {
		wait_for(bells[me]);
		for (long cell = 0; cell < 50; cell++)
			target_check(table_use(cell), "table");
		if (table.over)
			break;
		table.over = !target_goes_on(i);
		hand_over(bells[!me]);
	}
	hand_over(bells[!me]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	target_init(argc, argv, 2);
	for (int i = 0; i < 2; i++)
		bells[i] = eventfd(i == 0, EFD_CLOEXEC);
	for (int i = 0; i < 2; i++)
		threads[i] = target_thread(turn_loop, &bells[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return target_done("free_eventfd");
}
