/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pagers; see pager.h.
 */
#include "output/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* exit-allowed: what sh(1) exits with if it cannot run a command */
enum { PAGER_CANNOT_RUN = 126, PAGER_NOT_FOUND = 127 };

/* Of the keyboard, and of a pager that was left. */
static const int pager_signals[] = { SIGINT, SIGQUIT, SIGPIPE };
enum { PAGER_SIGNALS = sizeof(pager_signals) / sizeof(pager_signals[0]) };

/* For systems without less. */
static const char default_command[] =
	"command -v less >/dev/null && exec less; exec cat";

static const char *pager_command(void)
{
	const char *command = getenv("PAGER");

	if (!isatty(STDOUT_FILENO))
		return NULL;
	if (!command)
		return default_command;
	return command[0] && strcmp(command, "cat") != 0 ? command : NULL;
}

/* Others may show the sequences as text. */
static bool takes_color(const char *command)
{
	const char *options = getenv("LESS");

	if (command == default_command)
		return options && strpbrk(options, "Rr");
	return strncmp(command, "less", strlen("less")) == 0 &&
	       (strstr(command, " -R") || (options && strpbrk(options, "Rr")));
}

/* With the dispositions that the user's shell would give it. */
static int spawn(const char *command, int input, pid_t *ret)
{
	char shell[] = "/bin/sh", option[] = "-c";
	char *const argv[] = { shell, option, (char *)(uintptr_t)command,
			       NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t all;
	int code;

	sigfillset(&all);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigdefault(&attributes, &all);
	code = posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
	if (code == 0)
		code = posix_spawn(ret, shell, &files, &attributes, argv,
				   environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return code;
}

bool pager_start(struct pager *pager)
{
	const char *command = pager_command();
	int ends[2];

	if (!command || setenv("LESS", "FRX", 0) < 0 ||
	    pipe2(ends, O_CLOEXEC) < 0)
		return false;
	pager->to = fdopen(ends[1], "w");
	pager->color = takes_color(command);
	if (!pager->to)
		close(ends[1]);
	if (pager->to && spawn(command, ends[0], &pager->pid) != 0) {
		fclose(pager->to);
		pager->to = NULL;
	}
	close(ends[0]);
	if (!pager->to)
		return false;
	for (size_t i = 0; i < PAGER_SIGNALS; i++)
		pager->before[i] = signal(pager_signals[i], SIG_IGN);
	return true;
}

bool pager_end(struct pager *pager)
{
	int status = 0;

	/* what is left to write may be for nobody */
	fclose(pager->to);
	pager->to = NULL;
	while (waitpid(pager->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	for (size_t i = 0; i < PAGER_SIGNALS; i++)
		signal(pager_signals[i], pager->before[i]);
	return !WIFEXITED(status) || (WEXITSTATUS(status) != PAGER_CANNOT_RUN &&
				      WEXITSTATUS(status) != PAGER_NOT_FOUND);
}
