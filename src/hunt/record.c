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
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "sampling/rules.h"

#define TOOL_FILE "racewatch-amd64-linux"

enum { MEMORY_DEFAULT_MIB = 128, LOG_MAX = 2000 };

static bool has_tool(const char *folder)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/" TOOL_FILE, folder) <
		       (int)sizeof(path) &&
	       access(path, X_OK) == 0;
}

/*
 * The folder of the tool: of the build tree where racewatch runs from there (or
 * a test of it does), else the installed one. Not valid after the next call.
 */
static const char *tool_folder(void)
{
	static const char inside[] = "/src/recorder/valgrind";
	static char folder[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", folder,
			     sizeof(folder) - sizeof(inside));

	while (n > 0) {
		folder[n] = '\0';
		n = strrchr(folder, '/') ? strrchr(folder, '/') - folder : 0;
		memcpy(folder + n, inside, sizeof(inside));
		if (has_tool(folder))
			return folder;
	}
	return has_tool(RECORDERDIR) ? RECORDERDIR : NULL;
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

/* Texts of our own, and a NULL behind them. */
static bool add_text(struct vec *texts, char *text)
{
	if (text && vec_push(texts, &text))
		return true;
	free(text);
	return false;
}

static bool add_option(struct vec *texts, const char *name, const char *value)
{
	char *text;

	return asprintf(&text, "%s%s", name, value) >= 0 &&
	       add_text(texts, text);
}

static void free_texts(struct vec *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(*(char **)vec_at(texts, i));
	vec_deinit(texts);
}

static bool add_runtimes(struct vec *texts)
{
	enum module_part part;
	const char *pattern;
	bool ok = true;

	for (size_t i = 0; ok && (pattern = rules_runtime(i, &part)); i++)
		ok = add_option(texts,
				part == PART_STRINGS ? "--strings="
						     : "--runtime=",
				pattern);
	return ok;
}

static bool add_log(struct vec *texts, const char *folder)
{
	char *text;

	return asprintf(&text, "--log-file=%s/log.%%p", folder) >= 0 &&
	       add_text(texts, text);
}

static bool add_arguments(struct vec *texts, const char *valgrind,
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
	ok = add_option(texts, valgrind, "") &&
	     add_option(texts, "--tool=racewatch", "") &&
	     add_option(texts, "--fair-sched=yes", "") &&
	     add_option(texts, "--trace-children=yes", "") &&
	     add_option(texts, "--vgdb=no", "") &&
	     add_option(texts, "-q", "") && add_log(texts, folder) &&
	     add_option(texts, "--trace-folder=", folder) &&
	     add_option(texts, "--trace-memory=", memory) &&
	     add_option(texts, "--stacks=", options->stacks ? "yes" : "no") &&
	     add_option(texts,
			"--lossless=", options->lossless ? "yes" : "no") &&
	     add_option(texts, "--whole=", options->whole ? "yes" : "no") &&
	     add_option(texts, "--code=", options->code ? "yes" : "no") &&
	     add_option(texts, "--code-window=", window) &&
	     add_runtimes(texts) && add_option(texts, "--", "");
	for (; ok && *argv; argv++)
		ok = add_option(texts, *argv, "");
	return ok && vec_append(texts);
}

/* Our environment, with those of the recorder's. */
static bool add_environment(struct vec *texts, const char *folder)
{
	bool ok = add_option(texts, "VALGRIND_LIB=", folder) &&
		  add_option(texts, "LD_BIND_NOW=", "1");

	for (char **variable = environ; ok && *variable; variable++) {
		if (strncmp(*variable, "VALGRIND_LIB=", 13) != 0 &&
		    strncmp(*variable, "LD_BIND_NOW=", 12) != 0)
			ok = add_option(texts, *variable, "");
	}
	return ok && vec_append(texts);
}

/* Whether the command's file exists and can be run, as execvp(3) finds it. */
static struct error *check_command(const char *name)
{
	const char *path = getenv("PATH");
	bool found = false;

	if (strchr(name, '/')) {
		if (access(name, X_OK) == 0)
			return NULL;
		return access(name, F_OK) == 0
			       ? error_create(ERROR_CANNOT_RUN, "cannot run %s",
					      name)
			       : error_create(ERROR_NOT_FOUND,
					      "%s was not found", name);
	}
	for (const char *at = path ? path : "/bin:/usr/bin"; *at && !found;) {
		size_t n = strcspn(at, ":");
		char file[PATH_MAX];

		snprintf(file, sizeof(file), "%.*s/%s", (int)n, at, name);
		found = access(file, X_OK) == 0;
		at += n + (at[n] == ':');
	}
	return found ? NULL
		     : error_create(ERROR_NOT_FOUND, "%s was not found", name);
}

static struct error *start(const char *valgrind, struct vec *arguments,
			   struct vec *environment, pid_t *ret)
{
	int code = posix_spawn(ret, valgrind, NULL, NULL, arguments->items,
			       environment->items);

	return code == 0 ? NULL : error_os(code, "start %s", valgrind);
}

struct error *record_await(pid_t pid, const struct record_options *options,
			   struct record_result *result)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	uint64_t begun = clock_now_ns();
	int status, sent = 0;

	for (;;) {
		uint64_t passed = clock_now_ns() - begun, limit;
		pid_t ended = waitpid(pid, &status,
				      options->timeout_ns ? WNOHANG : 0);

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
	result->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
					     : WEXITSTATUS(status);
	return NULL;
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

static struct error *run(const char *valgrind, struct vec *arguments,
			 struct vec *environment, const char *folder,
			 const struct record_options *options,
			 struct record_result *result)
{
	struct error *err;
	pid_t pid;

	err = start(valgrind, arguments, environment, &pid);
	if (!err)
		err = record_await(pid, options, result);
	return err ? err : check_trace(folder, pid);
}

struct error *record_run(char *const *argv, const char *folder,
			 const struct record_options *options,
			 struct record_result *ret)
{
	struct vec arguments = VEC_INIT(char *), environment = VEC_INIT(char *);
	struct record_result result = { 0 };
	const char *valgrind = find_valgrind();
	struct error *err = record_check();

	if (!err)
		err = check_command(argv[0]);
	if (!err &&
	    (!add_arguments(&arguments, valgrind, argv, folder, options) ||
	     !add_environment(&environment, tool_folder())))
		err = error_nomem;
	if (!err)
		err = run(valgrind, &arguments, &environment, folder, options,
			  &result);
	free_texts(&arguments);
	free_texts(&environment);
	if (!err)
		*ret = result;
	return err ? error_wrap(err, "record %s", argv[0]) : NULL;
}
