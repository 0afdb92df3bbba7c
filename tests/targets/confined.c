/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that bear no interference, with a counter that both threads add to
 * without a lock.
 *
 *	confined SECONDS KIND
 *
 * seccomp    a system call that the program itself does not make kills it
 * nproc      no process and no thread can be created (RLIMIT_NPROC)
 * shared     the counter is in shared memory
 * wipe       a child process would have zeros for it (MADV_WIPEONFORK)
 * dontfork   a child process would not have it at all (MADV_DONTFORK)
 */
#include "target.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { ROOM = 4096 };

static const char *kind;
static volatile unsigned long *number;

static int is(const char *name)
{
	return strcmp(kind, name) == 0;
}

NOINLINE static void add(void)
{
	*number = *number + 1;
	OPAQUE();
}

#define ALLOW(call)                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* What the threads, their ends and the last line need. */
static void confine(void)
{
	static struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		ALLOW(clock_gettime),
		ALLOW(futex),
		ALLOW(madvise),
		ALLOW(rt_sigprocmask),
		ALLOW(munmap),
		ALLOW(write),
		ALLOW(exit),
		ALLOW(exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]),
					    filter };

	target_check(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
			     !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				      SECCOMP_FILTER_FLAG_TSYNC, &program),
		     "seccomp");
}

static void limit(void)
{
	const struct rlimit one = { 1, 1 };

	target_check(!setrlimit(RLIMIT_NPROC, &one), "setrlimit");
}

static void *loop(void *arg)
{
	static __thread unsigned long i;
	unsigned x = 1;

	target_meet();
	if (arg && is("seccomp"))
		confine();
	if (arg && is("nproc"))
		limit();
	target_meet();
	for (i++; target_goes_on(i); i++) {
		add();
		x = target_work(x, 50);
	}
	return arg;
}

static void *other_loop(void *arg)
{
	(void)arg;
	loop(&kind);
	return NULL;
}

static void advise(int advice)
{
	target_check(!madvise((void *)number, ROOM, advice), "madvise");
}

int main(int argc, char **argv)
{
	static char line[128];

	target_init(argc, argv, 2);
	kind = argc > 2 ? argv[2] : "shared";
	/* before the filter: stdio asks what its file is */
	setvbuf(stdout, line, _IOLBF, sizeof(line));
	number = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
		      MAP_ANONYMOUS | (is("shared") ? MAP_SHARED : MAP_PRIVATE),
		      -1, 0);
	target_check(number != MAP_FAILED, "mmap");
	if (is("wipe"))
		advise(MADV_WIPEONFORK);
	if (is("dontfork"))
		advise(MADV_DONTFORK);
	target_race(loop, other_loop);
	return target_done("confined");
}
