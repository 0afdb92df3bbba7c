/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a process that has entered the sandbox cannot do any more, what it still
 * can, and that it lives. Each test enters it in a child.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sockios.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "sanitized.h"
#include "sys/sandbox.h"

/* In the child: what is not so ends it, and the number of its line is told. */
#define must(condition)                                                       \
	do {                                                                  \
		if (!(condition)) {                                           \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, \
				#condition, errno);                           \
			_exit(1);                                             \
		}                                                             \
	} while (0)
#define refused(code, call) must((errno = 0, (call) == -1 && errno == (code)))

typedef void sandbox_body(void);

static void in_sandbox(const struct sandbox *sandbox, sandbox_body *body)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		alarm(20);
		must(sandbox_enter(sandbox) == NULL);
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Beyond these, nothing: root has them all. */
static void status_has(uint64_t more)
{
	uint64_t kept = more | UINT64_C(1) << CAP_SYS_PTRACE |
			UINT64_C(1) << CAP_DAC_READ_SEARCH |
			UINT64_C(1) << CAP_SETUID | UINT64_C(1) << CAP_SETGID |
			UINT64_C(1) << 38 | UINT64_C(1) << 40;
	FILE *file = fopen("/proc/self/status", "re");
	int seen = 0;
	char line[256];

	must(file);
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "CapInh:", 7) == 0 ||
		    strncmp(line, "CapAmb:", 7) == 0)
			must(strtoull(line + 7, NULL, 16) == 0);
		else if (strncmp(line, "CapPrm:", 7) == 0 ||
			 strncmp(line, "CapEff:", 7) == 0)
			must((strtoull(line + 7, NULL, 16) & ~kept) == 0);
		else if (strncmp(line, "NoNewPrivs:", 11) == 0)
			must(atoi(line + 11) == 1);
		else if (strncmp(line, "Seccomp:", 8) == 0)
			must(atoi(line + 8) == 2);
		else
			continue;
		seen++;
	}
	must(seen == 6);
	must(prctl(PR_GET_DUMPABLE) == 0);
}

static void body_status(void)
{
	status_has(0);
}

static void body_status_of_writer(void)
{
	status_has(UINT64_C(1) << CAP_DAC_OVERRIDE);
}

static void privileges_are_given_up(void **state)
{
	(void)state;
	in_sandbox(&(struct sandbox){ .writes = false }, body_status);
	in_sandbox(&(struct sandbox){ .writes = true }, body_status_of_writer);
}

static void body_never(void)
{
	char *const argv[] = { (char *)"/bin/true", NULL };

	refused(EPERM, execv(argv[0], argv));
	refused(EPERM, syscall(SYS_unshare, CLONE_NEWUSER));
	refused(EPERM, syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
	refused(ENOSYS, syscall(SYS_clone3, NULL, 0));
	refused(EPERM, syscall(SYS_bpf, 0, NULL, 0));
	refused(EPERM, syscall(SYS_io_uring_setup, 1, NULL));
	refused(EPERM, syscall(SYS_keyctl, 0, 0));
	refused(EPERM, syscall(SYS_mount, "", "/", "", 0, NULL));
	refused(EPERM, syscall(SYS_setuid, getuid()));
	refused(EPERM,
		syscall(SYS_process_vm_writev, getpid(), NULL, 0, NULL, 0, 0));
	refused(EPERM, syscall(SYS_pidfd_getfd, -1, 0, 0));
	refused(EPERM, syscall(SYS_prlimit64, getppid(), 0, NULL, NULL));
	refused(EPERM, ioctl(-1, TIOCSTI, NULL));
	refused(EPERM, ioctl(-1, FIOSETOWN, NULL));
	refused(EPERM, fcntl(-1, F_SETOWN, getppid()));
	refused(EPERM, fcntl(-1, F_SETSIG, SIGKILL));
	refused(EPERM, syscall(SYS_shmget, 0, 4096, 0));
	refused(ENOSYS, syscall(SYS_getpid | 0x40000000));
}

static void what_is_never_needed_is_refused(void **state)
{
	(void)state;
	in_sandbox(&(struct sandbox){ .writes = true, .connects = true },
		   body_never);
}

static pid_t asleep;

static void body_traces(void)
{
	if (!SANITIZED) {
		refused(EPERM, ptrace(PTRACE_SEIZE, asleep, 0, 0));
		refused(EPERM, ptrace(PTRACE_ATTACH, asleep, 0, 0));
	}
	refused(EPERM, kill(asleep, SIGTERM));
	refused(EPERM, kill(0, SIGTERM));
	refused(EPERM, kill(-1, 0));
	refused(EPERM, syscall(SYS_tkill, asleep, SIGTERM));
	refused(EPERM, syscall(SYS_tgkill, asleep, asleep, SIGTERM));
	must(kill(getpid(), 0) == 0);
	must(raise(0) == 0);
}

static void body_signals(void)
{
	must(kill(asleep, 0) == 0);
	refused(EPERM, kill(getppid(), 0));
}

static void others_are_out_of_reach(void **state)
{
	(void)state;
	asleep = fork();
	if (asleep == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	in_sandbox(&(struct sandbox){ .writes = true }, body_traces);
	in_sandbox(&(struct sandbox){ .pids = { asleep } }, body_signals);
	in_sandbox(&(struct sandbox){ .pids = { 0, asleep } }, body_signals);
	kill(asleep, SIGKILL);
	waitpid(asleep, NULL, 0);
}

static char file[] = "/tmp/test_sandbox.XXXXXX";
static int file_fd;

static void body_reads(void)
{
	char other[sizeof(file) + 1];
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	snprintf(other, sizeof(other), "%s2", file);
	must(fd >= 0);
	refused(EROFS, open(file, O_WRONLY));
	refused(EROFS, open(file, O_RDWR));
	refused(EROFS, open(file, O_RDONLY | O_TRUNC));
	refused(EROFS, open(other, O_RDONLY | O_CREAT, 0600));
	refused(EROFS, open("/tmp", O_TMPFILE | O_RDWR, 0600));
	refused(EROFS, syscall(SYS_open, file, O_RDWR));
	refused(EROFS, syscall(SYS_creat, other, 0600));
	refused(ENOSYS, syscall(SYS_openat2, AT_FDCWD, file, NULL, 0));
	refused(EROFS, unlink(file));
	refused(EROFS, rename(file, other));
	refused(EROFS, link(file, other));
	refused(EROFS, symlink(file, other));
	refused(EROFS, mkdir(other, 0700));
	refused(EROFS, truncate(file, 0));
	refused(EROFS, chmod(file, 0777));
	/* what was open before is written to */
	must(write(file_fd, "x", 1) == 1);
	refused(EROFS, fchmod(fd, 04755));
	refused(EROFS, fchmod(file_fd, 0600));
	refused(ENOSYS, syscall(452, AT_FDCWD, file, 04755, 0));
	refused(EROFS,
		syscall(SYS_mq_open, "queue", O_CREAT | O_RDWR, 0600, NULL));
	refused(EPERM, syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
	refused(EPERM, ioctl(-1, FIONREAD, NULL));
	refused(EBADF, ioctl(-1, TIOCGWINSZ, NULL));
	refused(EBADF, ioctl(-1, UFFDIO_API, NULL));
}

static void body_writes(void)
{
	int fd = open(file, O_WRONLY | O_TRUNC | O_CLOEXEC);

	must(fd >= 0 && write(fd, "x", 1) == 1);
}

static void files_are_written_where_that_is_asked_for(void **state)
{
	(void)state;
	file_fd = mkstemp(file);
	assert_true(file_fd >= 0);
	in_sandbox(&(struct sandbox){ .writes = false }, body_reads);
	in_sandbox(&(struct sandbox){ .writes = true }, body_writes);
	close(file_fd);
	unlink(file);
}

static void body_alone(void)
{
	int ends[2];

	refused(EPERM, socket(AF_UNIX, SOCK_STREAM, 0));
	refused(EPERM, socket(AF_INET, SOCK_STREAM, 0));
	refused(EPERM, socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends));
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	refused(EPERM, connect(ends[0], NULL, 0));
	refused(EPERM, bind(ends[0], NULL, 0));
	must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
}

static void body_connects(void)
{
	must(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
	must(kill(asleep, 0) == 0 || errno == ESRCH);
}

static void sockets_are_made_where_that_is_asked_for(void **state)
{
	(void)state;
	in_sandbox(&(struct sandbox){ .writes = true }, body_alone);
	in_sandbox(&(struct sandbox){ .connects = true }, body_connects);
}

/* What the front end does all the time. */
static void body_usual(void)
{
	struct rlimit limit;
	int status = 0;
	char again[32];
	pid_t pid;

	must(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	must(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	errno = 0;
	must(nice(1) != -1 || errno == 0);
	must(open("/proc/self/maps", O_RDONLY | O_CLOEXEC) >= 0);
	snprintf(again, sizeof(again), "/proc/self/fd/%d",
		 open("/", O_PATH | O_CLOEXEC));
	must(open(again, O_RDONLY | O_CLOEXEC) >= 0);
	pid = fork();
	must(pid >= 0);
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		__asm__ volatile("int3");
		_exit(3);
	}
	must(waitpid(pid, &status, 0) == pid);
	must(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	must(ptrace(PTRACE_CONT, pid, 0, 0) == 0);
	must(waitpid(pid, &status, 0) == pid);
	must(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

static void what_is_needed_goes_on(void **state)
{
	(void)state;
	in_sandbox(&(struct sandbox){ .writes = false }, body_usual);
}

static void body_again(void)
{
	const struct sandbox sandbox = { .writes = false };

	must(sandbox_enter(&sandbox) == NULL);
	refused(EROFS, open("/dev/null", O_WRONLY));
}

static void it_can_be_entered_again(void **state)
{
	(void)state;
	in_sandbox(&(struct sandbox){ .writes = true }, body_again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(privileges_are_given_up),
		cmocka_unit_test(what_is_never_needed_is_refused),
		cmocka_unit_test(others_are_out_of_reach),
		cmocka_unit_test(files_are_written_where_that_is_asked_for),
		cmocka_unit_test(sockets_are_made_where_that_is_asked_for),
		cmocka_unit_test(what_is_needed_goes_on),
		cmocka_unit_test(it_can_be_entered_again),
	};

	return cmocka_run_group_tests_name("sandbox", tests, NULL, NULL);
}
