/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: atomic operations on ordinary variables behind the macros of
 * a header. Neither the line of an access nor a type names an operation.
 */
#include "macros.h"
#include "target.h"

DEFINE_PEEK(peek_long, long)

struct box {
	long sent, seen, noted;
	int stop;
};

static struct box box;

NOINLINE static void box_send(struct box *to, long value)
{
	STORE_THEN(&to->sent, value);
	PUBLISH(to, noted, value);
	PUBLISH(to, stop, (int)value);
}

NOINLINE static long box_look(struct box *from)
{
	long value = LOAD(&from->sent);

	if (HURRY(LOAD(&from->stop) < 0))
		value++;
	value += LOAD_THEN(&from->noted);
	return value + peek_long(&from->sent);
}

static void *send_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		box_send(&box, (long)i);
		x = target_work(x, 10);
	}
	return arg;
}

static void *look_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		target_check(box_look(&box) >= 0, "value");
		x = target_work(x, 10);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(send_loop, look_loop);
	return target_done("free_macro");
}
