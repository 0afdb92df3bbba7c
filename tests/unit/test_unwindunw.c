/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/image/unwindunw.c against unwinddwfl.c: the stacks of all targets' threads
 * at their system calls, and at some of the instructions after these, by both
 * libraries. The targets are those that every build has, so static and stripped
 * programs, with signal handlers and threads born by clone3(2); of each source one
 * variant, of which a third takes its turn, or all with RACEWATCH_TEST_LONG=1. With
 * programs as arguments it is these: tests/run/free.sh has more of C++, Rust and Go.
 * Where a thread is when it is looked at differs from run to run; that the libraries
 * agree does not.
 */
#include "image/unwindunw.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <cmocka.h>

#include "../helpers/turn.h"
#include "sample.h"
#include "stopped.h"

#include "both-stacks.h"

/*
 * How many of one target's stacks are compared, while it has one thread and in
 * all; after how many system calls, and signals, a thread is stepped, and how
 * often.
 */
enum {
	ALONE_MAX = 20,
	STACKS_MAX = 120,
	CALLS_BETWEEN = 4,
	SIGNALS_MAX = 20,
	STEPS = 6,
};

/* A target that sleeps is left after that time, if a stack has been compared. */
static const struct itimerval patience = { { 0, 100000 }, { 0, 250000 } };

struct tally {
	size_t targets, stacks, frames;
	size_t unw_longer, dwfl_longer; /* stacks */
	size_t threads, signals; /* stacks of other threads, through handlers */
};

struct tracing {
	const char *name;
	pid_t pid;
	struct stopped
		stopped; /* the thread that is looked at, and the image */
	size_t stacks, calls, signals;
	bool has_threads;
	struct tally *tally;
};

static volatile sig_atomic_t tired;

static void on_alarm(int signal)
{
	(void)signal;
	tired = 1;
}

static void tally_stack(struct tracing *tracing, const struct both_stacks *both)
{
	struct tally *tally = tracing->tally;

	tally->stacks++;
	tally->frames += both->taken_count;
	tally->unw_longer += both->unw_count > both->dwfl_count;
	tally->dwfl_longer += both->unw_count < both->dwfl_count;
	tally->threads += tracing->stopped.pid != tracing->pid;
	for (size_t i = 1; i < both->taken_count; i++) {
		if (!both->taken[i].is_return) {
			tally->signals++;
			break;
		}
	}
}

/* False when the thread is gone. */
static bool compare_thread(struct tracing *tracing, pid_t tid)
{
	struct stopped *stopped = &tracing->stopped;
	struct user_regs_struct registers;
	struct both_stacks both;
	struct error *err;
	bool changed;

	if (!tracing->has_threads && tracing->stacks >= ALONE_MAX)
		return true;
	if (ptrace(PTRACE_GETREGS, tid, NULL, &registers) != 0)
		return false;
	err = image_refresh(stopped->image, &changed);
	error_free(err);
	if (err)
		return false;
	/* a stopped thread may be killed at any moment, by an exit of another */
	stopped->pid = tid;
	stopped_set_registers(stopped, &registers);
	stopped_read_stack(stopped);
	both_compare(stopped, tracing->name, &both);
	tally_stack(tracing, &both);
	tracing->stacks++;
	return true;
}

/* The signal that the thread is to get when it goes on. */
static int signal_of(struct tracing *tracing, int status)
{
	int signal = WSTOPSIG(status);

	if (status >> 16 == PTRACE_EVENT_CLONE)
		tracing->has_threads = true;
	if (status >> 16 == PTRACE_EVENT_EXEC) {
		image_destroy(tracing->stopped.image);
		assert_null(
			image_create(tracing->pid, &tracing->stopped.image));
	}
	/* of an event, of a system call, of a new thread */
	if (status >> 16 != 0 || signal == (SIGTRAP | 0x80) ||
	    signal == SIGSTOP)
		return 0;
	return signal;
}

/*
 * Some instructions one by one, the first of a handler if there is a signal; what
 * stops the thread else ends that.
 */
static int step_thread(struct tracing *tracing, pid_t tid, long signal)
{
	for (int i = 0; i < STEPS; i++) {
		int status;

		if (ptrace(PTRACE_SINGLESTEP, tid, NULL, signal) != 0 ||
		    waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
			return 0;
		if (status >> 16 != 0 || WSTOPSIG(status) != SIGTRAP)
			return signal_of(tracing, status);
		signal = 0;
		if (!compare_thread(tracing, tid))
			return 0;
	}
	return 0;
}

/* One stop of any thread; false when there are no more. */
static bool handle_stop(struct tracing *tracing)
{
	int status, signal = 0;
	pid_t tid = waitpid(-1, &status, __WALL);

	if (tid < 0)
		return errno == EINTR;
	if (!WIFSTOPPED(status))
		return true;
	signal = signal_of(tracing, status);
	if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
		compare_thread(tracing, tid);
		if (++tracing->calls % CALLS_BETWEEN == 0)
			signal = step_thread(tracing, tid, 0);
	} else if (signal != 0 && ++tracing->signals < SIGNALS_MAX) {
		signal = step_thread(tracing, tid, signal);
	}
	ptrace(PTRACE_SYSCALL, tid, NULL, (long)signal);
	return true;
}

static void start_target(const char *path)
{
	int null = open("/dev/null", O_RDWR);

	for (int i = 0; i < 3; i++)
		dup2(null, i);
	setpgid(0, 0);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	execl(path, path, (char *)NULL);
	_exit(127);
}

static bool prepare_target(struct tracing *tracing)
{
	static const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD |
				    PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE |
				    PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
	int status;

	while (waitpid(tracing->pid, &status, 0) != tracing->pid)
		assert_int_equal(errno, EINTR);
	if (!WIFSTOPPED(status))
		return false;
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, tracing->pid, NULL, options),
			 0);
	assert_null(image_create(tracing->pid, &tracing->stopped.image));
	ptrace(PTRACE_SYSCALL, tracing->pid, NULL, NULL);
	return true;
}

/* Everything that the target has started ends with it. */
static void end_target(struct tracing *tracing)
{
	int status;
	pid_t tid;

	kill(-tracing->pid, SIGKILL);
	kill(tracing->pid, SIGKILL);
	while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (tid > 0 && WIFSTOPPED(status))
			kill(tid, SIGKILL);
	}
	image_destroy(tracing->stopped.image);
}

static void compare_target(const char *path, const char *name,
			   struct tally *tally)
{
	static const struct itimerval none;
	struct tracing tracing = { .name = name, .tally = tally };

	tracing.pid = fork();
	if (tracing.pid == 0)
		start_target(path);
	tired = 0;
	setitimer(ITIMER_REAL, &patience, NULL);
	if (prepare_target(&tracing)) {
		while ((!tired || tracing.stacks == 0) &&
		       tracing.stacks < STACKS_MAX && handle_stop(&tracing))
			;
	}
	setitimer(ITIMER_REAL, &none, NULL);
	end_target(&tracing);
	if (tracing.stacks == 0)
		fail_msg("%s: no stack was compared", name);
	tally->targets++;
}

static bool is_program(const char *path)
{
	Elf64_Ehdr header;
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is;

	if (fd < 0)
		return false;
	is = fstat(fd, &status) == 0 && (status.st_mode & S_IXUSR) &&
	     read(fd, &header, sizeof(header)) == sizeof(header) &&
	     memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
	     header.e_ident[EI_CLASS] == ELFCLASS64;
	close(fd);
	return is;
}

static bool is_chosen(const char *name)
{
	const char *variant = strrchr(name, '.');

	if (!variant || strcmp(variant, ".so") == 0)
		return false;
	/* they provide their own pages and files: to read these of a stopped
	 * one would wait for ever */
	if (strncmp(name, "serves_", 7) == 0)
		return false;
	/* another test builds these, and may be at it */
	if (strncmp(name, "free_", 5) == 0)
		return false;
	return getenv("RACEWATCH_TEST_LONG") || strcmp(variant, ".O2") == 0 ||
	       strcmp(variant, ".static") == 0 ||
	       strcmp(variant, ".musl") == 0 ||
	       strcmp(variant, ".clang") == 0 ||
	       strcmp(name, "read_write.stripped") == 0 ||
	       strcmp(name, "read_write.nopie") == 0;
}

/* Those that are often in a signal's handler do not take turns. */
static bool has_turn(const char *name, size_t index)
{
	return strncmp(name, "signals.", 8) == 0 || strstr(name, "handled.") ||
	       turn_has(index, 3);
}

static void tell(const struct tally *tally)
{
	print_message("# %zu targets, %zu stacks, %zu frames; of threads: %zu, "
		      "of handlers: %zu; libunwind had more of %zu, libdwfl "
		      "of %zu\n",
		      tally->targets, tally->stacks, tally->frames,
		      tally->threads, tally->signals, tally->unw_longer,
		      tally->dwfl_longer);
}

static void every_target(void **state)
{
	const char *folder = getenv("TARGETS_DIR");
	struct tally tally = { 0 };
	struct dirent **entries;
	size_t chosen = 0, left_out = 0;
	int count = scandir(folder ? folder : "tests/targets", &entries, NULL,
			    alphasort);

	(void)state;
	assert_true(count > 0);
	for (int i = 0; i < count; i++) {
		char *path;

		assert_true(asprintf(&path, "%s/%s",
				     folder ? folder : "tests/targets",
				     entries[i]->d_name) > 0);
		if (is_chosen(entries[i]->d_name) && is_program(path)) {
			if (has_turn(entries[i]->d_name, chosen++))
				compare_target(path, entries[i]->d_name,
					       &tally);
			else
				left_out++;
		}
		free(path);
		free(entries[i]);
	}
	free(entries);
	turn_tell(left_out, chosen);
	tell(&tally);
	assert_true(tally.targets > 0 && tally.threads > 0 &&
		    tally.signals > 0);
}

/* The state: a list of paths, ended by NULL. */
static void given_targets(void **state)
{
	struct tally tally = { 0 };

	for (char **path = *state; *path; path++)
		compare_target(*path, basename(*path), &tally);
	tell(&tally);
	assert_true(tally.threads > 0);
}

int main(int argc, char **argv)
{
	/* without SA_RESTART: it interrupts waitpid(2) */
	const struct sigaction action = { .sa_handler = on_alarm };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_target),
	};
	const struct CMUnitTest given[] = {
		cmocka_unit_test_prestate(given_targets, argv + 1),
	};

	if (sigaction(SIGALRM, &action, NULL) != 0)
		return 1;
	if (argc > 1)
		return cmocka_run_group_tests(given, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
