/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls that can be made to fail in the tracer process: the N-th of a kind,
 * or all from the N-th on. Include once, after tracee.h, in a program linked
 * with --wrap for all of them (tests/fault/module.am).
 */
#ifndef TESTS_FAULT_FAULTY_H
#define TESTS_FAULT_FAULTY_H

#include <poll.h>
#include <stdarg.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

enum call {
	CALL_NONE,
	CALL_PTRACE, /* detail: the request */
	CALL_OPEN, /* path: the end of its name */
	CALL_OPENDIR,
	CALL_READ,
	CALL_WRITE,
	CALL_PREAD,
	CALL_PWRITE,
	CALL_READV, /* process_vm_readv(2) */
	CALL_SYSCALL, /* detail: its number */
	CALL_IOCTL,
	CALL_MMAP,
	CALL_PPOLL,
	CALL_PIPE,
	CALL_FORK,
	CALL_SOCKETPAIR,
	CALL_SIGNALFD,
};

/* Two requests that are one for ptrace(2): debug registers, and others. */
enum { FAULT_POKE_DEBUG = 0x10000, FAULT_PEEK_DEBUG };

struct fault {
	enum call call;
	long detail;
	const char *path;
	int code; /* errno */
	/* refused from the start on, so that another way is taken */
	enum call refused;
	bool front; /* made by the process that starts the tracer */
};

/* In memory that the test and the tracer share. */
struct fault_state {
	struct fault fault;
	uint32_t at; /* 0: nothing fails */
	bool forever; /* and all that follow */
	uint32_t calls;
};

static struct fault_state *fault_state;
static pid_t fault_test_pid;

static bool fault_here(void)
{
	const struct fault_state *state = fault_state;

	if (!state || state->at == 0 || tracee_is_child)
		return false;
	/* its children have nothing to do with the target */
	return state->fault.front ? getpid() == fault_test_pid
				  : getppid() == fault_test_pid;
}

static bool fault_strikes(enum call call, long detail, const char *path)
{
	const struct fault *fault;
	uint32_t number;
	size_t length;

	if (!fault_here())
		return false;
	fault = &fault_state->fault;
	if (call == fault->refused) {
		errno = EPERM;
		return true;
	}
	if (call != fault->call || detail != fault->detail)
		return false;
	if (fault->path) {
		length = strlen(path);
		if (length < strlen(fault->path) ||
		    strcmp(path + length - strlen(fault->path), fault->path))
			return false;
	}
	number = ++fault_state->calls;
	errno = fault->code;
	return fault_state->forever ? number >= fault_state->at
				    : number == fault_state->at;
}

static long fault_detail(enum __ptrace_request request, uintptr_t address)
{
	bool debug = address >= offsetof(struct user, u_debugreg);

	if (request == PTRACE_POKEUSER && debug)
		return FAULT_POKE_DEBUG;
	if (request == PTRACE_PEEKUSER && debug)
		return FAULT_PEEK_DEBUG;
	return request;
}

/* A call that fails with -1 and errno; its parameters, their names. */
#define FAULT_WRAP(type, name, call, detail, path, failed, parameters, names) \
	type __real_##name parameters;                                        \
	type __wrap_##name parameters;                                        \
	type __wrap_##name parameters                                         \
	{                                                                     \
		if (fault_strikes(call, detail, path))                        \
			return failed;                                        \
		return __real_##name names;                                   \
	}

FAULT_WRAP(long, ptrace, CALL_PTRACE, fault_detail(request, address), "", -1,
	   (enum __ptrace_request request, pid_t pid, uintptr_t address,
	    uintptr_t data),
	   (request, pid, address, data))
FAULT_WRAP(ssize_t, process_vm_readv, CALL_READV, 0, "", -1,
	   (pid_t pid, const struct iovec *local, unsigned long local_count,
	    const struct iovec *remote, unsigned long remote_count,
	    unsigned long flags),
	   (pid, local, local_count, remote, remote_count, flags))
FAULT_WRAP(ssize_t, read, CALL_READ, 0, "", -1,
	   (int fd, void *bytes, size_t size), (fd, bytes, size))
FAULT_WRAP(ssize_t, write, CALL_WRITE, 0, "", -1,
	   (int fd, const void *bytes, size_t size), (fd, bytes, size))
FAULT_WRAP(ssize_t, pread, CALL_PREAD, 0, "", -1,
	   (int fd, void *bytes, size_t size, off_t at), (fd, bytes, size, at))
FAULT_WRAP(ssize_t, pwrite, CALL_PWRITE, 0, "", -1,
	   (int fd, const void *bytes, size_t size, off_t at),
	   (fd, bytes, size, at))
FAULT_WRAP(int, open, CALL_OPEN, 0, path, -1,
	   (const char *path, int flags, mode_t mode), (path, flags, mode))
FAULT_WRAP(void *, opendir, CALL_OPENDIR, 0, path, NULL, (const char *path),
	   (path))
FAULT_WRAP(long, syscall, CALL_SYSCALL, number, "", -1,
	   (long number, long a, long b, long c, long d, long e, long f),
	   (number, a, b, c, d, e, f))
FAULT_WRAP(int, ioctl, CALL_IOCTL, 0, "", -1,
	   (int fd, unsigned long request, uintptr_t argument),
	   (fd, request, argument))
FAULT_WRAP(void *, mmap, CALL_MMAP, 0, "", MAP_FAILED,
	   (void *at, size_t size, int protection, int flags, int fd,
	    off_t offset),
	   (at, size, protection, flags, fd, offset))
FAULT_WRAP(int, ppoll, CALL_PPOLL, 0, "", -1,
	   (struct pollfd * fds, nfds_t count, const struct timespec *timeout,
	    const sigset_t *mask),
	   (fds, count, timeout, mask))
FAULT_WRAP(int, pipe2, CALL_PIPE, 0, "", -1, (int fds[2], int flags),
	   (fds, flags))
FAULT_WRAP(pid_t, fork, CALL_FORK, 0, "", -1, (void), ())
FAULT_WRAP(int, socketpair, CALL_SOCKETPAIR, 0, "", -1,
	   (int domain, int type, int protocol, int fds[2]),
	   (domain, type, protocol, fds))
FAULT_WRAP(int, signalfd, CALL_SIGNALFD, 0, "", -1,
	   (int fd, const sigset_t *mask, int flags), (fd, mask, flags))

/*
 * The tracer leaves by _exit(2), which looks for no leaks: here it does, where
 * LeakSanitizer is linked (sanitizer/lsan_interface.h).
 */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

enum { FAULT_LEAKED = 23 };

void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status)
{
	if (fault_here() && __lsan_do_recoverable_leak_check &&
	    __lsan_do_recoverable_leak_check())
		status = FAULT_LEAKED;
	__real__exit(status);
}

#endif
