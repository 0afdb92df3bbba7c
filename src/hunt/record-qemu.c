/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * QEMU gets the plugin twice: as such, and in LD_PRELOAD (src/recorder/qemu/
 * plugin.c says why), which the program does not see. -cpu max: the libraries then
 * choose the functions that they choose on this machine, but for AVX-512.
 * LD_BIND_NOW as in record.c.
 */
#include "hunt/record-qemu.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "hunt/record.h"
#include "hunt/starting.h"
#include "hunt/traces.h"
#include "sampling/rules.h"

#define PLUGIN_FILE "racewatch-qemu.so"

enum { MEMORY_DEFAULT_MIB = 128 };

static const char *plugin_folder(void)
{
	return starting_folder("/src/recorder/qemu", QEMUPLUGINDIR,
			       PLUGIN_FILE);
}

static const char *find_qemu(void)
{
	static const char *const paths[] = { "/usr/bin/qemu-x86_64",
					     "/usr/local/bin/qemu-x86_64" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (access(paths[i], X_OK) == 0)
			return paths[i];
	}
	return NULL;
}

struct error *record_qemu_check(void)
{
	if (!find_qemu())
		return error_create(ERROR_UNSUPPORTED,
				    "qemu-x86_64 is not installed (Debian "
				    "package: qemu-user)");
	if (!plugin_folder())
		return error_create(ERROR_UNSUPPORTED,
				    "the recorder is not there: " PLUGIN_FILE
				    " is neither built nor installed");
	return NULL;
}

void record_qemu_version(char *ret, size_t size)
{
	const char *qemu = find_qemu();
	char command[PATH_MAX], line[128] = "", version[32] = "?";
	FILE *pipe = NULL;

	if (qemu) {
		snprintf(command, sizeof(command), "%s --version 2>/dev/null",
			 qemu);
		pipe = popen(command, "re");
	}
	if (pipe && fgets(line, sizeof(line), pipe))
		sscanf(line, "qemu-x86_64 version %31s", version);
	if (pipe)
		pclose(pipe);
	snprintf(ret, size, "%s", version);
}

/* Whether the file is a program of this machine. */
static struct error *check_program(const char *path, const char *command)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr header = { 0 };
	bool ok = fd >= 0 &&
		  read(fd, &header, sizeof(header)) == (ssize_t)sizeof(header);

	if (fd >= 0)
		close(fd);
	if (ok && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
	    header.e_ident[EI_CLASS] == ELFCLASS64 &&
	    header.e_machine == EM_X86_64)
		return NULL;
	return error_create(ERROR_UNSUPPORTED,
			    "%s is no x86-64 program, and QEMU runs no scripts",
			    command);
}

struct error *record_qemu_check_command(const char *command)
{
	char found[PATH_MAX];
	struct error *err = starting_find(command, found);

	return err ? err : check_program(found, command);
}

/* QEMU wants each comma of a value twice. */
static void add_value(struct strbuf *text, const char *value)
{
	for (; *value; value++) {
		strbuf_add_bytes(text, value, 1);
		if (*value == ',')
			strbuf_add(text, ",");
	}
}

static void add_option(struct strbuf *text, const char *name, const char *value)
{
	strbuf_addf(text, ",%s=", name);
	add_value(text, value);
}

static void add_choice(struct strbuf *text, const char *name, bool chosen)
{
	add_option(text, name, chosen ? "yes" : "no");
}

static void add_runtimes(struct strbuf *text)
{
	enum module_part part;
	const char *pattern;

	for (size_t i = 0; (pattern = rules_runtime(i, &part)); i++)
		add_option(text, part == PART_STRINGS ? "strings" : "runtime",
			   pattern);
}

/* The plugin and its options. */
static void add_plugin(struct strbuf *text, char *const *argv,
		       const char *program, const char *folder,
		       const struct record_options *options)
{
	uint64_t mib = options->memory >> 20;
	char memory[24];

	snprintf(memory, sizeof(memory), "%llu",
		 (unsigned long long)(mib > 0 ? mib : MEMORY_DEFAULT_MIB));
	strbuf_add(text, "file=");
	add_value(text, plugin_folder());
	strbuf_add(text, "/" PLUGIN_FILE);
	add_option(text, "folder", folder);
	add_option(text, "program", program);
	add_option(text, "memory", memory);
	add_choice(text, "stacks", options->stacks);
	add_choice(text, "lossless", options->lossless);
	add_choice(text, "whole", options->whole);
	add_runtimes(text);
	for (; *argv; argv++)
		add_option(text, "argument", *argv);
}

/* What the program's own LD_PRELOAD is goes on to it, and to it alone. */
static bool add_preload(struct starting *starting)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload ? starting_add(starting, "-E", "") &&
				 starting_add(starting, "LD_PRELOAD=", preload)
		       : starting_add(starting, "-U", "") &&
				 starting_add(starting, "LD_PRELOAD", "");
}

/*
 * QEMU takes options from variables of that name too, which would change what it
 * does; so they go to the program alone. It can be given no value with a comma.
 */
static bool add_variables(struct starting *starting)
{
	bool ok = true;

	for (char **variable = environ; ok && *variable; variable++) {
		if (strncmp(*variable, "QEMU_", 5) == 0 &&
		    !strchr(*variable, ','))
			ok = starting_add(starting, "-E", "") &&
			     starting_add(starting, *variable, "");
	}
	return ok;
}

static bool add_arguments(struct starting *starting, char *const *argv,
			  const char *program, const char *plugin)
{
	bool ok = starting_add(starting, find_qemu(), "") &&
		  starting_add(starting, "-cpu", "") &&
		  starting_add(starting, "max", "") && add_preload(starting) &&
		  add_variables(starting) && starting_add(starting, "-0", "") &&
		  starting_add(starting, argv[0], "") &&
		  starting_add(starting, "-plugin", "") &&
		  starting_add(starting, plugin, "") &&
		  starting_add(starting, program, "");

	for (argv++; ok && *argv; argv++)
		ok = starting_add(starting, *argv, "");
	return ok;
}

static bool add_environment(struct starting *starting)
{
	char preload[PATH_MAX + 32];
	const char *const own[] = { preload, "LD_BIND_NOW=1", "QEMU_*", NULL };

	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s/" PLUGIN_FILE,
		 plugin_folder());
	return starting_set(starting, own);
}

static struct error *prepare(struct starting *starting, char *const *argv,
			     const char *folder,
			     const struct record_options *options)
{
	struct strbuf plugin = { 0 };
	char found[PATH_MAX], program[PATH_MAX];
	struct error *err = starting_find(argv[0], found);

	if (!err)
		err = check_program(found, argv[0]);
	if (err)
		return err;
	/* the trace has it as it is given here */
	if (!realpath(found, program))
		return error_os(errno, "%s", found);
	add_plugin(&plugin, argv, program, folder, options);
	if (plugin.failed ||
	    !add_arguments(starting, argv, program, strbuf_text(&plugin)) ||
	    !add_environment(starting))
		err = error_nomem;
	strbuf_deinit(&plugin);
	return err;
}

static struct error *check_trace(const char *folder, pid_t pid, int status)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/trace.%d", folder, (int)pid);
	return access(path, R_OK) == 0
		       ? NULL
		       : error_create(ERROR_OTHER,
				      "nothing was recorded; qemu-x86_64 ended "
				      "with status %d",
				      status);
}

static struct error *run(struct starting *starting, const char *folder,
			 const struct record_options *options,
			 struct record_result *result)
{
	pid_t pid;
	struct error *err = starting_spawn(starting, find_qemu(), &pid);

	if (!err)
		err = record_await(pid, options, result);
	if (!err)
		traces_await(folder);
	return err ? err : check_trace(folder, pid, result->status);
}

struct error *record_qemu_run(char *const *argv, const char *folder,
			      const struct record_options *options,
			      struct record_result *ret)
{
	struct record_result result = { 0 };
	struct error *err = record_qemu_check();
	struct starting starting;

	starting_init(&starting);
	if (!err)
		err = prepare(&starting, argv, folder, options);
	if (!err)
		err = run(&starting, folder, options, &result);
	starting_deinit(&starting);
	if (!err)
		*ret = result;
	return err ? error_wrap(err, "record %s", argv[0]) : NULL;
}
