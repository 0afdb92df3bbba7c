/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races whose two orders end differently: side first() makes one access, side
 * second() the other, once each, in two threads.
 *
 *	provoked KIND           once
 *	provoked KIND SECONDS   again and again, without harm: to be reported
 *
 *	          first() goes first            second() goes first
 * null      SIGSEGV                       exit 0
 * free      exit 0                        SIGABRT: what it uses was cleared
 * lost      exit 3: one update is lost    exit 0
 * ready     exit 4: used before it is set exit 0
 * twice     SIGSEGV: tested, then cleared exit 0
 * vforked   as null; before, a child that vfork(2) has made calls first() and
 *           second() in the same memory, and has to live
 */
#include "target.h"

#include <sys/wait.h>

static unsigned long cell = 7, *spare; /* NULL where it happens once */
static unsigned long *volatile pointer = &cell;
static volatile unsigned long count, ready, value, sum;
static int once, status;

NOINLINE static void null_first(void)
{
	pointer = spare;
}

NOINLINE static void null_second(void)
{
	sum = *pointer;
}

NOINLINE static void free_first(void)
{
	pointer = spare;
	if (once)
		memset(&cell, 0, sizeof(cell));
}

NOINLINE static void free_second(void)
{
	unsigned long *found = pointer;

	OPAQUE();
	if (found && *found != 7)
		abort();
}

NOINLINE static void lost_first(void)
{
	unsigned long found = count;

	OPAQUE();
	count = found + 1;
}

NOINLINE static void lost_second(void)
{
	count = 1;
}

NOINLINE static void ready_first(void)
{
	ready = 1;
	OPAQUE();
	value = 7;
}

NOINLINE static void ready_second(void)
{
	if (ready && value != 7 && once)
		status = 4;
}

NOINLINE static void twice_first(void)
{
	if (pointer)
		sum = *pointer;
}

NOINLINE static void twice_second(void)
{
	pointer = spare;
}

NOINLINE static void vforked_first(void)
{
	pointer = spare;
}

NOINLINE static void vforked_second(void)
{
	sum = *pointer;
}

/* While nobody races yet: the pointer stays what it is. */
static void vfork_child(void)
{
	pid_t child;
	int ended = -1;

	spare = &cell;
	child = vfork();
	if (child == 0) {
		vforked_first();
		vforked_second();
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	target_check(waitpid(child, &ended, 0) == child && ended == 0,
		     "the child of vfork has not ended as it should");
}

static const struct kind {
	const char *name;
	void (*first)(void), (*second)(void);
} kinds[] = {
	{ "null", null_first, null_second },
	{ "free", free_first, free_second },
	{ "lost", lost_first, lost_second },
	{ "ready", ready_first, ready_second },
	{ "twice", twice_first, twice_second },
	{ "vforked", vforked_first, vforked_second },
};

static void *run(void *side)
{
	unsigned long i = 0;

	target_meet();
	do
		((void (*)(void))(uintptr_t)side)();
	while (!once && target_goes_on(++i));
	return NULL;
}

int main(int argc, char **argv)
{
	const struct kind *kind = kinds;
	pthread_t other;

	target_check(argc > 1, "no kind");
	while (strcmp(kind->name, argv[1]) != 0)
		target_check(++kind < kinds + sizeof(kinds) / sizeof(kinds[0]),
			     "unknown kind");
	once = argc == 2;
	if (kind->first == vforked_first)
		vfork_child();
	spare = once ? NULL : &cell;
	target_init(argc - 1, argv + 1, 2);
	other = target_thread(run, (void *)(uintptr_t)kind->first);
	run((void *)(uintptr_t)kind->second);
	pthread_join(other, NULL);
	/* second() sets it to 1, and first() adds 1 to what it has found */
	if (once && kind->first == lost_first)
		status = count == 1 ? 3 : 0;
	target_done("provoked");
	return status;
}
