/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pristine [OPTION...] PID: whether a process is as if it had never been
 * watched. The text of every executable mapping equals the file it was mapped
 * from, byte for byte; nobody traces it; no thread is stopped; every thread's
 * debug registers are clear; no SIGTRAP is pending. Anything found is told on
 * stderr, with exit status 1. On standard output: how many pages of text have
 * become private copies, which restoring bytes cannot undo.
 *
 *	--save FILE     before watching: write down the signal masks and
 *	                dispositions, check nothing
 *	--compare FILE  after it: they are as they were written down
 *	--no-registers  do not look at debug registers: this takes a ptrace
 *	                stop of each thread, which a program may feel
 *
 * Watchpoints made by perf_event_open cannot be seen from here.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRAP_BIT ((uint64_t)1 << (SIGTRAP - 1))

static int failures;

struct mapping {
	uint64_t start, end, offset;
	unsigned long inode;
	char flags[8], name[4096];
};

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

static bool status_bits(int pid, int tid, const char *key, uint64_t *ret)
{
	char value[64];

	if (!status_line(pid, tid, key, value))
		return false;
	*ret = strtoull(value, NULL, 16);
	return true;
}

static void pause_ms(long ms)
{
	struct timespec time = { 0, ms * 1000000 };

	nanosleep(&time, NULL);
}

/* A program with traps of its own has one pending for a moment. */
static void check_pending(int pid, int tid, const char *key)
{
	uint64_t pending;

	for (int tries = 0; tries < 100; tries++) {
		if (!status_bits(pid, tid, key, &pending) ||
		    !(pending & TRAP_BIT))
			return;
		pause_ms(20);
	}
	fprintf(stderr, "pristine: thread %d has SIGTRAP pending (%s)\n", tid,
		key);
	failures++;
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
	check_pending(pid, tid, "SigPnd:");
	check_pending(pid, tid, "ShdPnd:");
}

static void check_registers_stopped(int tid)
{
	static const int numbers[] = { 0, 1, 2, 3, 7 };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		long value;

		errno = 0;
		value = ptrace(PTRACE_PEEKUSER, tid,
			       offsetof(struct user, u_debugreg) +
				       8 * (size_t)numbers[i],
			       0);
		if (errno == ESRCH)
			return; /* killed meanwhile */
		/* bit 10 of DR7 is always one in the register itself */
		if (!errno && !(numbers[i] == 7 ? value & ~0x400L : value))
			continue;
		fprintf(stderr, "pristine: thread %d has DR%d %#lx\n", tid,
			numbers[i], (unsigned long)value);
		failures++;
	}
}

static void check_registers(int tid)
{
	int status;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0)) {
		/* EPERM: a thread that is ending */
		if (errno != ESRCH && errno != EPERM) {
			fprintf(stderr, "pristine: seize %d: %s\n", tid,
				strerror(errno));
			failures++;
		}
		return;
	}
	ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
		return;
	check_registers_stopped(tid);
	ptrace(PTRACE_DETACH, tid, 0,
	       status >> 16 ? 0 : (long)WSTOPSIG(status));
}

static bool next_mapping(FILE *maps, struct mapping *ret)
{
	char line[4352];

	while (fgets(line, sizeof(line), maps)) {
		ret->name[0] = 0;
		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64
			   " %*s %lu %4095[^\n]",
			   &ret->start, &ret->end, ret->flags, &ret->offset,
			   &ret->inode, ret->name) >= 5)
			return true;
	}
	return false;
}

/* A thread that lives: a leader that has ended shows no memory any more. */
static int living_thread(int pid)
{
	char path[64], state[64];
	const struct dirent *entry;
	int living = pid;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		int tid = atoi(entry->d_name);

		if (tid <= 0 || !status_line(pid, tid, "State:", state) ||
		    state[0] == 'Z' || state[0] == 'X')
			continue;
		living = tid;
		break;
	}
	if (tasks)
		closedir(tasks);
	return living;
}

static FILE *open_maps(int pid)
{
	char path[64];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	if (!maps) {
		fprintf(stderr, "pristine: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	return maps;
}

/* Whether WANTED is still mapped: a program may unmap while we look. */
static bool still_mapped(int pid, const struct mapping *wanted)
{
	struct mapping one;
	FILE *maps = open_maps(pid);
	bool found = false;

	while (!found && next_mapping(maps, &one))
		found = one.start == wanted->start && one.end == wanted->end &&
			one.inode == wanted->inode &&
			one.offset == wanted->offset && one.flags[2] == 'x';
	fclose(maps);
	return found;
}

/*
 * The file of a mapping, deleted, replaced or in another mount namespace as
 * it may be. Without the privilege for map_files, by its name as the process
 * sees it, if that is still the same file.
 */
static int open_mapped(int pid, const struct mapping *one)
{
	char path[4200];
	struct stat stat;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		 pid, one->start, one->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%s", pid, one->name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &stat) || stat.st_ino != one->inode)) {
		close(fd);
		errno = ESTALE;
		return -1;
	}
	return fd;
}

/* How many bytes differ; those are told when LOUD. */
static int compare_bytes(int memory, int file, const struct mapping *one,
			 bool loud)
{
	static uint8_t live[65536], saved[65536];
	uint64_t at = one->start, offset = one->offset;
	int different = 0;

	while (at < one->end) {
		size_t n = one->end - at < sizeof(live)
				   ? (size_t)(one->end - at)
				   : sizeof(live);
		ssize_t got = pread(memory, live, n, (off_t)at);
		ssize_t had = pread(file, saved, n, (off_t)offset);
		ssize_t both = got < had ? got : had;

		if (both <= 0)
			break; /* the last page is longer than the file */
		for (ssize_t i = 0; i < both; i++) {
			if (live[i] == saved[i])
				continue;
			different++;
			if (loud)
				fprintf(stderr,
					"pristine: %s+%#" PRIx64
					" is %02x, not %02x\n",
					one->name, offset + (uint64_t)i,
					live[i], saved[i]);
		}
		at += (uint64_t)both;
		offset += (uint64_t)both;
	}
	return different;
}

static void check_mapping(int pid, int memory, const struct mapping *one)
{
	/* what is mapped and unmapped all the time may need a second look */
	for (int last = 0; last < 2; last++) {
		int file = open_mapped(pid, one), different = 0;

		if (file >= 0) {
			different =
				compare_bytes(memory, file, one,
					      last && still_mapped(pid, one));
			close(file);
			if (!different)
				return;
		} else if (last && still_mapped(pid, one)) {
			fprintf(stderr, "pristine: %s: %s\n", one->name,
				strerror(errno));
			failures++;
			return;
		}
		if (!still_mapped(pid, one))
			return;
		failures += last;
	}
}

static void check_text(int pid)
{
	char path[64];
	struct mapping one;
	int memory;
	FILE *maps = open_maps(pid);

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	if (memory < 0) {
		perror("pristine: /proc/PID/mem");
		exit(2);
	}
	while (next_mapping(maps, &one))
		if (one.flags[2] == 'x' && one.inode)
			check_mapping(pid, memory, &one);
	fclose(maps);
	close(memory);
}

/* Pages of text that are the process's own: they were written to once. */
static long private_text_pages(int pid)
{
	char path[64], line[4352], flags[8];
	unsigned long inode;
	bool text = false;
	long total = 0, kib;
	FILE *smaps;

	snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
	smaps = fopen(path, "re");
	while (smaps && fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%*x-%*x %7s %*x %*s %lu", flags, &inode) == 2)
			text = flags[2] == 'x' && inode;
		else if (text && sscanf(line, "Private_Dirty: %ld", &kib) == 1)
			total += kib;
	}
	if (smaps)
		fclose(smaps);
	return total * 1024 / sysconf(_SC_PAGESIZE);
}

static void each_thread(int pid, void (*each)(int pid, int tid, FILE *to),
			FILE *to)
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

		if (tid > 0)
			each(pid, tid, to);
	}
	closedir(tasks);
}

static void each_status(int pid, int tid, FILE *unused)
{
	(void)unused;
	check_status(pid, tid);
}

static void each_registers(int pid, int tid, FILE *unused)
{
	(void)pid;
	(void)unused;
	check_registers(tid);
}

/* A line of the saved state: "KEY TID BITS". */
static void each_save(int pid, int tid, FILE *to)
{
	static const char *const keys[] = { "SigBlk:", "SigIgn:", "SigCgt:" };
	uint64_t bits;

	for (int i = 0; i < (tid == pid ? 3 : 1); i++)
		if (status_bits(pid, tid, keys[i], &bits))
			fprintf(to, "%s %d %" PRIx64 "\n", keys[i], tid, bits);
}

static void save(int pid, const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file) {
		fprintf(stderr, "pristine: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	each_thread(pid, each_save, file);
	if (fclose(file)) {
		fprintf(stderr, "pristine: %s: %s\n", path, strerror(errno));
		exit(2);
	}
}

/*
 * Masks and dispositions change for a moment in a thread that starts another
 * or runs a command, so what differs is looked at again for two seconds.
 * Threads that have gone are no longer anyone's concern.
 */
static void check_saved(int pid, const char *path)
{
	char key[16];
	int tid;
	uint64_t bits, now = 0;
	FILE *file = fopen(path, "re");

	if (!file) {
		fprintf(stderr, "pristine: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	while (fscanf(file, "%15s %d %" SCNx64, key, &tid, &bits) == 3) {
		bool same = false;

		for (int tries = 0; tries < 100 && !same; tries++) {
			if (tries)
				pause_ms(20);
			same = !status_bits(pid, tid, key, &now) || now == bits;
		}
		if (same)
			continue;
		fprintf(stderr,
			"pristine: thread %d has %s %" PRIx64 ", not %" PRIx64
			"\n",
			tid, key, now, bits);
		failures++;
	}
	fclose(file);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "save", required_argument, NULL, 's' },
		{ "compare", required_argument, NULL, 'c' },
		{ "no-registers", no_argument, NULL, 'n' },
		{ NULL, 0, NULL, 0 },
	};
	const char *compare_with = NULL, *save_to = NULL;
	bool registers = true, usage = false;
	int option, pid;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		if (option == 's')
			save_to = optarg;
		else if (option == 'c')
			compare_with = optarg;
		else if (option == 'n')
			registers = false;
		else
			usage = true;
	pid = argc - optind == 1 ? atoi(argv[optind]) : 0;
	if (usage || pid <= 0) {
		fputs("usage: pristine [--no-registers] "
		      "[--save FILE|--compare FILE] PID\n",
		      stderr);
		return 2;
	}
	if (save_to) {
		save(pid, save_to);
		return 0;
	}
	each_thread(pid, each_status, NULL);
	if (failures)
		return 1; /* it could not be seized */
	if (compare_with)
		check_saved(pid, compare_with);
	check_text(living_thread(pid));
	if (registers)
		each_thread(pid, each_registers, NULL);
	printf("pristine: %ld pages of text are private copies\n",
	       private_text_pages(living_thread(pid)));
	return failures > 0;
}
