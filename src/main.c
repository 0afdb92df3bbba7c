/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * racewatch: runs the subcommand, prints its error, exits with its status.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/truncated.h"
#include "cmd/cmd.h"

static int status_of(const struct error *err)
{
	switch (err->kind) {
	case ERROR_USAGE:
		return EXIT_USAGE;
	case ERROR_CANNOT_RUN:
		return EXIT_CANNOT_RUN;
	case ERROR_NOT_FOUND:
		return EXIT_NOT_FOUND;
	case ERROR_OTHER:
	case ERROR_NOMEM:
	case ERROR_GONE:
	case ERROR_FORMAT:
	case ERROR_REFUSED:
	case ERROR_UNSUPPORTED:
		break;
	}
	return EXIT_FAILED;
}

/*
 * libdw and libiberty end the process when memory runs out, with a message and
 * a status of their own: for a reader of the status, racewatch has failed.
 */
static void ended_by_library(int status, void *ended)
{
	if (!*(const bool *)ended && status != EXIT_FAILED)
		_exit(EXIT_FAILED);
}

/*
 * A failed assertion of a library, or a bug of ours: to those who read the
 * exit status racewatch has failed, not the program. Other processes made from
 * this one die as they would, by going on.
 */
static pid_t front_end;

static void crash_say(const char *text)
{
	ssize_t ignored = write(STDERR_FILENO, text, strlen(text));

	(void)ignored;
}

/* The file that has the instruction, without folders; NULL: unknown. */
static const char *crash_place(const ucontext_t *context)
{
	uintptr_t rip = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
	const char *slash;
	Dl_info info;

	/* a lock that it takes may be taken again by the only thread there is */
	if (dladdr((void *)rip, &info) == 0 || !info.dli_fname)
		return NULL;
	slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

static void crashed(int number, siginfo_t *info, void *context)
{
	const char *place;

	(void)number;
	(void)info;
	if (getpid() != front_end)
		return;
	place = crash_place(context);
	crash_say("racewatch: error: racewatch has crashed");
	if (place) {
		crash_say(" in ");
		crash_say(place);
	}
	crash_say("; a program that was attached to goes on\n");
	_exit(EXIT_FAILED);
}

/* A sanitizer's handlers stay. */
static void catch_crashes(void)
{
	static const int signals[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL,
				       SIGSEGV };
	const struct sigaction ours = {
		.sa_sigaction = crashed,
		.sa_flags = (int)(SA_RESETHAND | SA_NODEFER | SA_SIGINFO)
	};
	struct sigaction old;

	front_end = getpid();
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (sigaction(signals[i], NULL, &old) == 0 &&
		    old.sa_handler == SIG_DFL)
			sigaction(signals[i], &ours, NULL);
	}
}

static struct sigaction bus_before;

/* Of a file that was truncated while it is read, the rest is zeros. */
static void bus_error(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (truncated_fill(info))
		return;
	/* on return the access is repeated, but what was sent is not */
	sigaction(number, &bus_before, NULL);
	if (info->si_code <= 0)
		raise(number);
}

static void catch_truncations(void)
{
	const struct sigaction ours = { .sa_sigaction = bus_error,
					.sa_flags = SA_NODEFER | SA_SIGINFO };

	sigaction(SIGBUS, &ours, &bus_before);
}

int main(int argc, char **argv)
{
	static bool ended;
	const struct command *command = NULL;
	int status = EXIT_FAILED;
	struct error *err;

	on_exit(ended_by_library, &ended);
	catch_crashes();
	catch_truncations();
	err = commands_main(argc, argv, &command, &status);
	if (err) {
		status = status_of(err);
		log_error("%s", error_message(err));
		if (err->kind == ERROR_USAGE)
			fprintf(stderr, "Try 'racewatch%s%s --help'.\n",
				command ? " " : "",
				command ? command->name : "");
		error_free(err);
	}
	/* what was printed must have arrived: --dump-options > /dev/full */
	if (fflush(stdout) != 0 && status == 0 && errno != EPIPE) {
		log_error("write to standard output failed");
		status = EXIT_FAILED;
	}
	ended = true;
	return status;
}
