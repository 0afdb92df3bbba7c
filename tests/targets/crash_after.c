/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two threads race for a pointer, for the time given, and then the program
 * dies, in the way the second argument says:
 *
 *	null      of following that pointer (SIGSEGV at 0x10)
 *	assert    of an assertion about it (SIGABRT)
 *	overflow  of an endless recursion (no stack is left to look at)
 *	child     by null, in a child made by fork(2); the parent lives
 *	reset     by null, after a handler that gives up (SIG_DFL, return)
 *	handled   not at all: the fault is handled and the program ends well
 *	wait      not at all: it waits to be killed
 */
#include "target.h"
#include <assert.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

struct node {
	long key, value, next;
};

static struct node only = { 1, 2, 3 };
static struct node *head;
static sigjmp_buf escape;

NOINLINE static long node_next(const struct node *node)
{
	return node->next;
}

NOINLINE static void head_set(struct node *node)
{
	ENTER();
	head = node;
	LEAVE();
}

NOINLINE static long head_follow(int careful)
{
	struct node *node;

	ENTER();
	node = head;
	LEAVE();
	return careful && !node ? 0 : node_next(node);
}

static void *setter(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		head_set(i % 2 ? &only : NULL);
		target_work((unsigned)i, 50);
	}
	return arg;
}

static void *follower(void *arg)
{
	long sum = 0;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		sum += head_follow(1) + target_work((unsigned)i, 50) % 2;
	target_check(sum != -1, "sum");
	return arg;
}

NOINLINE static int endless(volatile char *above, unsigned long depth)
{
	volatile char bytes[512];

	bytes[0] = *above;
	return depth ? endless(bytes, depth - 1) + bytes[0] : 0;
}

static void give_up(int number)
{
	signal(number, SIG_DFL);
}

static void jump(int number)
{
	siglongjmp(escape, number);
}

static int in_child(void)
{
	int status;

	if (fork() == 0)
		_exit((int)head_follow(0));
	target_check(wait(&status) > 0 && WIFSIGNALED(status), "child");
	return 0;
}

static int die(const char *how)
{
	char first = 0;

	if (strcmp(how, "reset") == 0)
		signal(SIGSEGV, give_up);
	if (strcmp(how, "null") == 0 || strcmp(how, "reset") == 0)
		return (int)head_follow(0);
	if (strcmp(how, "assert") == 0)
		assert(head == &only);
	if (strcmp(how, "overflow") == 0)
		return endless(&first, ~0ul);
	if (strcmp(how, "child") == 0)
		return in_child();
	if (strcmp(how, "handled") == 0) {
		signal(SIGSEGV, jump);
		return sigsetjmp(escape, 1) ? 0 : (int)head_follow(0);
	}
	while (strcmp(how, "wait") == 0)
		pause();
	return 0;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(setter, follower);
	head_set(NULL);
	target_done("crash_after");
	fflush(stdout);
	return die(argc > 2 ? argv[2] : "null");
}
