/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Valgrind looks for its tools in the folder that VALGRIND_LIB names: ours has
 * our tool and links to what else it needs. The launcher itself is started, not
 * Debian's script around it, which changes LD_LIBRARY_PATH. --fair-sched=yes:
 * otherwise a thread that waits for another one's stores spins for long.
 * LD_BIND_NOW: the loader's writes to the global offset table are no accesses
 * of the program.
 */
#include "hunt/record.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/exitstatus.h"
#include "base/log.h"
#include "hunt/starting.h"
#include "hunt/traces.h"
#include "sampling/rules.h"
#include "session/companion.h"

#define TOOL_FILE "racewatch-amd64-linux"

enum { MEMORY_DEFAULT_MIB = 128, LOG_MAX = 2000 };

static const char *tool_folder(void)
{
	return starting_folder("/src/recorder/valgrind", RECORDERDIR,
			       TOOL_FILE);
}

/* The launcher: the program behind Debian's script, or what there is. */
static const char *find_valgrind(void)
{
	static const char *const paths[] = { "/usr/bin/valgrind.bin",
					     "/usr/bin/valgrind",
					     "/usr/local/bin/valgrind" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (access(paths[i], X_OK) == 0)
			return paths[i];
	}
	return NULL;
}

struct error *record_check(void)
{
	if (!tool_folder())
		return error_create(ERROR_UNSUPPORTED,
				    "the recorder is not there: racewatch was "
				    "built without valgrind (Debian package: "
				    "valgrind)");
	if (!find_valgrind())
		return error_create(ERROR_UNSUPPORTED,
				    "valgrind is not installed (Debian "
				    "package: valgrind)");
	return NULL;
}

void record_valgrind_version(char *ret, size_t size)
{
	const char *valgrind = find_valgrind();
	char command[PATH_MAX];
	FILE *pipe = NULL;

	snprintf(ret, size, "?");
	if (valgrind) {
		/* the launcher asks its default tool, which is the system's */
		snprintf(command, sizeof(command), "%s --version 2>/dev/null",
			 valgrind);
		pipe = popen(command, "re");
	}
	if (!pipe)
		return;
	if (!fgets(ret, (int)size, pipe))
		snprintf(ret, size, "?");
	pclose(pipe);
	ret[strcspn(ret, "\n")] = '\0';
}

static bool add_runtimes(struct starting *starting)
{
	enum module_part part;
	const char *pattern;
	bool ok = true;

	for (size_t i = 0; ok && (pattern = rules_runtime(i, &part)); i++)
		ok = starting_add(starting,
				  part == PART_STRINGS ? "--strings="
						       : "--runtime=",
				  pattern);
	return ok;
}

static bool add_log(struct starting *starting, const char *folder)
{
	char text[PATH_MAX];

	snprintf(text, sizeof(text), "%s/log.%%p", folder);
	return starting_add(starting, "--log-file=", text);
}

static bool add_choice(struct starting *starting, const char *name, bool chosen)
{
	return starting_add(starting, name, chosen ? "yes" : "no");
}

static bool add_arguments(struct starting *starting, const char *valgrind,
			  char *const *argv, const char *folder,
			  const struct record_options *options)
{
	uint64_t mib = options->memory >> 20;
	char memory[24], window[24];
	bool ok;

	snprintf(memory, sizeof(memory), "%llu",
		 (unsigned long long)(mib > 0 ? mib : MEMORY_DEFAULT_MIB));
	snprintf(window, sizeof(window), "%llu",
		 (unsigned long long)(options->window >> 10));
	ok = starting_add(starting, valgrind, "") &&
	     starting_add(starting, "--tool=racewatch", "") &&
	     starting_add(starting, "--fair-sched=yes", "") &&
	     starting_add(starting, "--trace-children=yes", "") &&
	     starting_add(starting, "--vgdb=no", "") &&
	     starting_add(starting, "-q", "") && add_log(starting, folder) &&
	     starting_add(starting, "--trace-folder=", folder) &&
	     starting_add(starting, "--trace-memory=", memory) &&
	     add_choice(starting, "--stacks=", options->stacks) &&
	     add_choice(starting, "--lossless=", options->lossless) &&
	     add_choice(starting, "--whole=", options->whole) &&
	     add_choice(starting, "--code=", options->code) &&
	     starting_add(starting, "--code-window=", window) &&
	     add_runtimes(starting) && starting_add(starting, "--", "");
	for (; ok && *argv; argv++)
		ok = starting_add(starting, *argv, "");
	return ok;
}

static bool add_environment(struct starting *starting, const char *folder)
{
	char library[PATH_MAX + 16];
	const char *const own[] = { library, "LD_BIND_NOW=1", NULL };

	snprintf(library, sizeof(library), "VALGRIND_LIB=%s", folder);
	return starting_set(starting, own);
}

static uint64_t cpu_ns(const struct rusage *usage)
{
	return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) *
		       CLOCK_NS_PER_S +
	       (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) *
		       CLOCK_NS_PER_US;
}

static struct error *await_child(pid_t pid,
				 const struct record_options *options,
				 struct record_result *result)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	uint64_t begun = clock_now_ns();
	struct rusage usage;
	int status, sent = 0;

	for (;;) {
		uint64_t passed = clock_now_ns() - begun, limit;
		pid_t ended = wait4(pid, &status,
				    options->timeout_ns ? WNOHANG : 0, &usage);

		if (ended == pid)
			break;
		if (ended < 0 && errno != EINTR)
			return error_os(errno, "wait for process %d", (int)pid);
		limit = options->timeout_ns + (uint64_t)sent * 1000000000u;
		if (options->timeout_ns && passed > limit && sent < 2) {
			kill(pid, sent++ == 0 ? SIGTERM : SIGKILL);
			result->timed_out = true;
		}
		nanosleep(&pause, NULL);
	}
	result->status = exit_status_of(status);
	result->cpu_ns = cpu_ns(&usage);
	return NULL;
}

static void warn(void *context, const char *text)
{
	(void)context;
	log_warn("%s", text);
}

struct error *record_await(pid_t pid, const struct record_options *options,
			   struct record_result *result)
{
	const struct companion_config config = {
		.command = options->until_exit_of,
		.silent = options->silent,
	};
	struct companion companion = { 0 };
	struct error *err = NULL, *awaited;

	/* it is ours, so that it is there until it is waited for */
	if (config.command)
		err = companion_start(&config, pid, &companion);
	/* it has just begun, and may ignore SIGTERM */
	if (err)
		kill(pid, SIGKILL);
	awaited = await_child(pid, options, result);
	result->status = companion_end(&companion, result->status,
				       result->timed_out ? NULL : warn, NULL);
	if (!err)
		return awaited;
	error_free(awaited);
	return err;
}

/* No trace: what Valgrind said. */
static struct error *explain(const char *folder, pid_t pid)
{
	char path[PATH_MAX], text[LOG_MAX] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/log.%d", folder, (int)pid);
	file = fopen(path, "re");
	if (file) {
		text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
		fclose(file);
	}
	return error_create(ERROR_OTHER,
			    "nothing was recorded; valgrind said: %s",
			    text[0] ? text : "nothing");
}

static struct error *check_trace(const char *folder, pid_t pid)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/trace.%d", folder, (int)pid);
	return access(path, R_OK) == 0 ? NULL : explain(folder, pid);
}

/* What the recorded processes counted together (recorder/channels.h). */
static void remove_channels(const char *folder)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/channels", folder);
	unlink(path);
}

static struct error *run(struct starting *starting, const char *folder,
			 const struct record_options *options,
			 struct record_result *result)
{
	pid_t pid;
	struct error *err = starting_spawn(starting, find_valgrind(), &pid);

	if (!err)
		err = record_await(pid, options, result);
	if (!err)
		traces_await(folder);
	remove_channels(folder);
	return err ? err : check_trace(folder, pid);
}

struct error *record_run(char *const *argv, const char *folder,
			 const struct record_options *options,
			 struct record_result *ret)
{
	struct record_result result = { 0 };
	struct error *err = record_check();
	struct starting starting;
	char path[PATH_MAX];

	starting_init(&starting);
	if (!err)
		err = starting_find(argv[0], path);
	if (!err && (!add_arguments(&starting, find_valgrind(), argv, folder,
				    options) ||
		     !add_environment(&starting, tool_folder())))
		err = error_nomem;
	if (!err)
		err = run(&starting, folder, options, &result);
	starting_deinit(&starting);
	if (!err)
		*ret = result;
	return err ? error_wrap(err, "record %s", argv[0]) : NULL;
}
