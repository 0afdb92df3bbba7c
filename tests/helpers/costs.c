/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * costs FILE COMMAND [ARGUMENT...]: runs the command, ends with its status as a shell
 * has it, and adds a line to FILE: its CPU time (user and system) in seconds, to the
 * microsecond, and the most memory, in KiB, that it or a child of its had. time(1)
 * cuts both times off at hundredths of a second.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static int run(char **argv)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(errno == ENOENT ? 127 : 126);
	}
	if (pid < 0) {
		perror("fork");
		return 125;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	struct rusage usage;
	FILE *file;
	int status;

	if (argc < 3) {
		fputs("usage: costs FILE COMMAND [ARGUMENT...]\n", stderr);
		return 2;
	}
	status = run(argv + 2);
	file = fopen(argv[1], "a");
	if (!file || getrusage(RUSAGE_CHILDREN, &usage) < 0 ||
	    fprintf(file, "%.6f %ld\n",
		    seconds(&usage.ru_utime) + seconds(&usage.ru_stime),
		    usage.ru_maxrss) < 0 ||
	    fclose(file) != 0) {
		perror(argv[1]);
		return 125;
	}
	return status;
}
