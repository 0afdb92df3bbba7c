/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * take-registers COUNT COMMAND...: run the command with COUNT debug registers in
 * use, in the command's process and in all its children. Perf events on this process
 * use them, and children inherit the events. SIGUSR1 closes the events. If another
 * program uses the registers for a moment, this one waits. The exit status is the
 * command's.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

enum { GAP_US = 1000, MOST = 4, WORD = 8 };

static uint64_t nowhere[MOST * WORD];
static int events[MOST];

static int take(int i)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uint64_t)(uintptr_t)&nowhere[i * WORD],
		.bp_len = HW_BREAKPOINT_LEN_8,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	long fd;

	do {
		fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			     PERF_FLAG_FD_CLOEXEC);
	} while (fd < 0 && errno == ENOSPC && usleep(GAP_US) == 0);
	return (int)fd;
}

static void give_back(int count)
{
	for (int i = 0; i < count; i++) {
		if (events[i] >= 0)
			close(events[i]);
		events[i] = -1;
	}
}

/* The registers are given back when SIGUSR1 comes, in the end at the latest. */
static int wait_for(pid_t pid, const sigset_t *signals, int count)
{
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (sigwaitinfo(signals, NULL) == SIGUSR1)
			give_back(count);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[1]) : 0;
	sigset_t signals, before;
	pid_t pid;

	if (count < 1 || count > MOST) {
		fprintf(stderr, "usage: take-registers 1-4 COMMAND...\n");
		return 125;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &before);
	for (int i = 0; i < count; i++) {
		events[i] = take(i);
		if (events[i] < 0) {
			perror("take-registers");
			return 125;
		}
	}
	pid = fork();
	if (pid < 0) {
		perror("take-registers");
		return 125;
	}
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(argv[2], &argv[2]);
		perror(argv[2]);
		_exit(127);
	}
	return wait_for(pid, &signals, count);
}
