/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A box is published before it is filled; readers look at it much later. Correct:
 * afterwards, with release and acquire.
 */
#include "hunted.h"

struct box {
	long a, b;
};

struct box *published;

static void *publisher(void *arg)
{
	struct box *box = calloc(1, sizeof(*box));

	ONLY_RACY(__atomic_store_n(&published, box, __ATOMIC_RELEASE));
	box->a = 1; /* RACE a */
	box->b = 2; /* RACE a */
	ONLY_TWIN(__atomic_store_n(&published, box, __ATOMIC_RELEASE));
	return arg;
}

static void *reader(void *arg)
{
	struct box *box;

	do
		pause_ms(10);
	while (!(box = __atomic_load_n(&published, __ATOMIC_ACQUIRE)));
	printf("%ld\n", box->a); /* RACE a */
	printf("%ld\n", box->b); /* RACE a */
	return arg;
}

int main(void)
{
	both(publisher, reader);
	free(published);
	return 0;
}
