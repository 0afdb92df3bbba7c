/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Readers follow a pointer without a lock; the writer replaces what it points to,
 * and overwrites the old one after a time in which readers have always been done.
 * Correct: when no reader is inside.
 */
#include "hunted.h"

struct version {
	int number;
};

static struct version versions[2] = { { 1 }, { 2 } };
static struct version *current = &versions[0];
static int readers;

static void *reader(void *arg)
{
	const struct version *version;

	__atomic_add_fetch(&readers, 1, __ATOMIC_SEQ_CST);
	version = __atomic_load_n(&current, __ATOMIC_SEQ_CST);
	printf("%d\n", version->number); /* RACE a */
	__atomic_sub_fetch(&readers, 1, __ATOMIC_SEQ_CST);
	return arg;
}

static void *writer(void *arg)
{
	struct version *old = __atomic_load_n(&current, __ATOMIC_SEQ_CST);

	pause_ms(10);
	__atomic_store_n(&current, &versions[1], __ATOMIC_SEQ_CST);
	ONLY_RACY(pause_ms(10));
	ONLY_TWIN(while (__atomic_load_n(&readers, __ATOMIC_SEQ_CST))
			  pause_ms(1));
	old->number = -1; /* RACE a */
	return arg;
}

int main(void)
{
	both(reader, writer);
	return 0;
}
