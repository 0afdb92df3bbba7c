/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A setting is read at the start, and changed 20 ms later. Correct: an atomic
 * variable, released and acquired.
 */
#include "hunted.h"

struct settings {
	int level, limit;
};

static struct settings first = { 1, 10 }, second = { 2, 20 };
struct settings *current = &first;

static void *worker(void *arg)
{
	struct settings *mine;

	ONLY_RACY(mine = current); /* RACE a */
	ONLY_TWIN(mine = __atomic_load_n(&current, __ATOMIC_ACQUIRE));
	printf("%d\n", mine->level);
	return arg;
}

static void *changer(void *arg)
{
	pause_ms(20);
	ONLY_RACY(current = &second); /* RACE a */
	ONLY_TWIN(__atomic_store_n(&current, &second, __ATOMIC_RELEASE));
	return arg;
}

int main(void)
{
	both(worker, changer);
	return 0;
}
