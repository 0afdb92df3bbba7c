/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals as a stream; see signalpipe.h. A handler writes each to a pipe. For
 * SIGINT and SIGTERM it sets a timer as well, which is stopped when the pipe is
 * read; the timer's signal ends the process.
 */
#include "base/signalpipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

/*
 * SIGALRM interrupts libdw. Others may send this one too: the timer's are told
 * by what they carry.
 */
enum { TIMER_SIGNAL = SIGVTALRM, SIGNALS = _NSIG };

/* All that a handler reads is written before the handler is there. */
static struct {
	pid_t owner; /* a child of ours has the handlers too */
	int write_fd;
	timer_t timer;
	struct sigaction before[SIGNALS];
	sigset_t signals, mask_before;
	volatile sig_atomic_t unread; /* SIGINT and SIGTERM in the pipe */
	volatile sig_atomic_t number; /* the last of them */
	volatile uint64_t first_ns; /* when the first came; 0: none yet */
} stream;

void signalpipe_end(int number)
{
	sigset_t signals;

	signal(number, SIG_DFL);
	sigemptyset(&signals);
	sigaddset(&signals, number);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
	raise(number); /* exit-allowed: the tracer restores when we are gone */
}

static void set_timer(uint64_t ms)
{
	struct itimerspec time = {
		.it_value = {
			.tv_sec = (time_t)(ms / 1000),
			.tv_nsec = (long)(ms % 1000) * 1000000,
		},
	};

	timer_settime(stream.timer, 0, &time, NULL);
}

static bool is_timer(int number, const siginfo_t *info)
{
	return number == TIMER_SIGNAL && info->si_code == SI_TIMER &&
	       info->si_value.sival_ptr == &stream;
}

static void time_is_over(void)
{
	if (stream.unread > 0 && getpid() == stream.owner)
		signalpipe_end(stream.number);
}

/* It was asked to end. */
static void hurry(int number)
{
	uint64_t now = clock_now_ns();
	bool first = stream.first_ns == 0;

	if (first)
		stream.first_ns = now;
	else if (now - stream.first_ns < SIGNALPIPE_SAME_MS * CLOCK_NS_PER_MS)
		return;
	stream.unread = stream.unread + 1;
	stream.number = number;
	set_timer(first ? SIGNALPIPE_FIRST_MS : SIGNALPIPE_NEXT_MS);
}

static void came(int number, siginfo_t *info, void *context)
{
	struct signal_news news = { number, info->si_code };
	int code = errno;

	(void)context;
	if (is_timer(number, info)) {
		time_is_over();
	} else if (sigismember(&stream.signals, number) != 1) {
		/* the timer's signal, which was ignored before */
	} else if (getpid() != stream.owner) {
		if (number != SIGCHLD)
			signalpipe_end(number);
	} else {
		if (number == SIGINT || number == SIGTERM)
			hurry(number);
		/* one that does not fit is one of thousands */
		(void)!write(stream.write_fd, &news, sizeof(news));
	}
	errno = code;
}

/* One handler at a time: none of them interrupts another. */
static void install(const sigset_t *signals)
{
	struct sigaction action = {
		.sa_sigaction = came,
		.sa_mask = *signals,
		.sa_flags = SA_SIGINFO | SA_RESTART | SA_NOCLDSTOP,
	};

	stream.signals = *signals;
	sigaddset(&action.sa_mask, TIMER_SIGNAL);
	for (int i = 1; i < SIGNALS; i++) {
		if ((i != TIMER_SIGNAL && sigismember(signals, i) != 1) ||
		    sigaction(i, &action, &stream.before[i]) != 0)
			stream.before[i].sa_flags = -1; /* not ours */
	}
	sigprocmask(SIG_UNBLOCK, &action.sa_mask, &stream.mask_before);
}

struct error *signalpipe_open(const sigset_t *signals, int *ret_fd)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = TIMER_SIGNAL,
				  .sigev_value.sival_ptr = &stream };
	int fds[2];

	memset(&stream, 0, sizeof(stream));
	if (timer_create(CLOCK_MONOTONIC, &event, &stream.timer) < 0)
		return error_os(errno, "timer_create");
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0) {
		timer_delete(stream.timer);
		return error_os(errno, "pipe");
	}
	stream.owner = getpid();
	stream.write_fd = fds[1];
	install(signals);
	*ret_fd = fds[0];
	return NULL;
}

bool signalpipe_read(int fd, struct signal_news *ret)
{
	if (read(fd, ret, sizeof(*ret)) != sizeof(*ret))
		return false;
	if (ret->number == SIGINT || ret->number == SIGTERM) {
		/* all of them will be read now */
		stream.unread = 0;
		set_timer(0);
	}
	return true;
}

void signalpipe_close(int fd, sigset_t *ret_mask)
{
	timer_delete(stream.timer);
	for (int i = 1; i < SIGNALS; i++) {
		if (stream.before[i].sa_flags != -1)
			sigaction(i, &stream.before[i], NULL);
	}
	*ret_mask = stream.mask_before;
	close(fd);
	close(stream.write_fd);
}
