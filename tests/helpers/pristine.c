/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pristine PID: whether a process is as if it had never been watched. Its
 * text equals the files it was mapped from, byte for byte; nobody traces it;
 * no thread is stopped; every thread's debug registers are clear. Anything
 * found is told on stderr, with exit status 1.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;

static bool status_line(int pid, int tid, const char *key, char value[64])
{
	char path[64], line[256];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file)) {
		size_t length = strlen(key);

		if (strncmp(line, key, length))
			continue;
		found = sscanf(line + length, " %63[^\n]", value) == 1;
	}
	fclose(file);
	return found;
}

static void check_status(int pid, int tid)
{
	char value[64];

	if (!status_line(pid, tid, "State:", value))
		return; /* gone */
	if (value[0] == 't' || value[0] == 'T') {
		fprintf(stderr, "pristine: thread %d is %s\n", tid, value);
		failures++;
	}
	if (status_line(pid, tid, "TracerPid:", value) && strcmp(value, "0")) {
		fprintf(stderr, "pristine: thread %d is traced by %s\n", tid,
			value);
		failures++;
	}
}

static void check_debug_registers(int pid, int tid)
{
	char state[64];
	int status;
	long dr7;

	/* a thread that has exited before the others cannot be traced */
	if (status_line(pid, tid, "State:", state) && state[0] == 'Z')
		return;
	if (ptrace(PTRACE_SEIZE, tid, 0, 0)) {
		if (errno != ESRCH) {
			fprintf(stderr, "pristine: seize %d: %s\n", tid,
				strerror(errno));
			failures++;
		}
		return;
	}
	ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
		return;
	errno = 0;
	dr7 = ptrace(PTRACE_PEEKUSER, tid, offsetof(struct user, u_debugreg[7]),
		     0);
	/* bits 0-7 enable the four watchpoints */
	if (errno || (dr7 & 0xff)) {
		fprintf(stderr, "pristine: thread %d has DR7 %#lx\n", tid,
			(unsigned long)dr7);
		failures++;
	}
	ptrace(PTRACE_DETACH, tid, 0,
	       status >> 16 ? 0 : (long)WSTOPSIG(status));
}

static void check_bytes(int memory, int file, const char *path, uint64_t start,
			uint64_t end, uint64_t offset)
{
	static uint8_t live[65536], saved[65536];

	while (start < end) {
		size_t n = end - start < sizeof(live) ? (size_t)(end - start)
						      : sizeof(live);
		ssize_t got = pread(memory, live, n, (off_t)start);
		ssize_t had = pread(file, saved, n, (off_t)offset);
		ssize_t both = got < had ? got : had;

		if (both <= 0)
			return; /* the last page is longer than the file */
		for (ssize_t i = 0; i < both; i++) {
			if (live[i] == saved[i])
				continue;
			fprintf(stderr,
				"pristine: %s+%#" PRIx64 " is %02x, not %02x\n",
				path, offset + (uint64_t)i, live[i], saved[i]);
			failures++;
		}
		start += (uint64_t)both;
		offset += (uint64_t)both;
	}
}

/* A thread that has not ended; the first one may have. */
static int live_thread(int pid)
{
	const struct dirent *entry;
	char path[64], state[64];
	int found = pid;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		int tid = atoi(entry->d_name);

		if (tid > 0 && status_line(pid, tid, "State:", state) &&
		    state[0] != 'Z' && state[0] != 'X') {
			found = tid;
			break;
		}
	}
	if (tasks)
		closedir(tasks);
	return found;
}

static void check_text(int pid)
{
	int tid = live_thread(pid);
	char path[64], line[4352], flags[8], name[4096];
	uint64_t start, end, offset;
	int memory, file;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/mem", tid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	maps = fopen(path, "re");
	if (memory < 0 || !maps) {
		perror("pristine: /proc");
		exit(2);
	}
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64
			   " %*s %*s %4095[^\n]",
			   &start, &end, flags, &offset, name) != 5 ||
		    flags[2] != 'x' || name[0] != '/')
			continue;
		/* the very file: its path may lead to another, or nowhere */
		snprintf(path, sizeof(path),
			 "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, tid, start,
			 end);
		file = open(path, O_RDONLY | O_CLOEXEC);
		if (file < 0)
			file = open(name, O_RDONLY | O_CLOEXEC);
		if (file < 0)
			continue; /* deleted meanwhile */
		check_bytes(memory, file, name, start, end, offset);
		close(file);
	}
	fclose(maps);
	close(memory);
}

static void each_thread(int pid, bool registers)
{
	char path[64];
	const struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks) {
		fprintf(stderr, "pristine: %d: %s\n", pid, strerror(errno));
		exit(2);
	}
	while ((entry = readdir(tasks))) {
		int tid = atoi(entry->d_name);

		if (tid <= 0)
			continue;
		if (registers)
			check_debug_registers(pid, tid);
		else
			check_status(pid, tid);
	}
	closedir(tasks);
}

int main(int argc, char **argv)
{
	int pid = argc == 2 ? atoi(argv[1]) : 0;

	if (pid <= 0) {
		fputs("usage: pristine PID\n", stderr);
		return 2;
	}
	each_thread(pid, false);
	if (failures)
		return 1; /* it could not be seized */
	check_text(pid);
	each_thread(pid, true);
	return failures > 0;
}
