/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plugin of QEMU's user emulation that records a program for `racewatch
 * hunt'. It is preloaded into QEMU, too, so that QEMU's kill(2) is the one below:
 * with it QEMU ends itself when a signal has ended the program, and tells plugins
 * nothing.
 *
 * Options, each NAME=VALUE: folder, program, argument (of them each
 * one), memory (in MiB), runtime and strings (globs of modules), lossless, whole
 * and stacks (yes or no).
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hunt/trace-format.h"
#include "recorder/emit.h"
#include "recorder/qemu/api.h"
#include "recorder/qemu/syscalls.h"
#include "recorder/qemu/translate.h"
#include "recorder/qemu/vcpu.h"
#include "recorder/salvage.h"

#define EXPORTED __attribute__((visibility("default")))

enum { ARGUMENTS_MAX = 256, MEMORY_MIB = 128, EVENTS_MAX = 1000000 };

/* What QEMU looks for; it declares neither. */
extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
			char **argv);

EXPORTED int qemu_plugin_version = QEMU_API_VERSION;

struct settings {
	struct recorder_options recorder;
	const char *arguments[ARGUMENTS_MAX];
	uint32_t argc;
	uint64_t memory_mib;
	bool lossless, stacks;
};

static bool is_yes(const char *value)
{
	return strcmp(value, "yes") == 0;
}

/* The trace has the first ones. */
static void set_argument(struct settings *settings, const char *value)
{
	if (settings->argc < ARGUMENTS_MAX)
		settings->arguments[settings->argc++] = value;
}

/* False: there is no such option, or no room for it. */
static bool set_option(struct settings *settings, const char *name,
		       const char *value)
{
	struct modules *modules = &vcpus.recorder.modules;

	if (strcmp(name, "folder") == 0)
		settings->recorder.folder = value;
	else if (strcmp(name, "program") == 0)
		settings->recorder.file = value;
	else if (strcmp(name, "argument") == 0)
		set_argument(settings, value);
	else if (strcmp(name, "memory") == 0)
		settings->memory_mib = strtoull(value, NULL, 10);
	else if (strcmp(name, "runtime") == 0)
		return modules_add_rule(modules, value, MODULE_RUNTIME);
	else if (strcmp(name, "strings") == 0)
		return modules_add_rule(modules, value, MODULE_STRINGS);
	else if (strcmp(name, "lossless") == 0)
		settings->lossless = is_yes(value);
	else if (strcmp(name, "whole") == 0)
		settings->recorder.whole = is_yes(value);
	else if (strcmp(name, "stacks") == 0)
		settings->stacks = is_yes(value);
	else
		return false;
	return true;
}

/* The texts are QEMU's, and go with this call: copies stay. */
static bool set_options(struct settings *settings, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		char *name = strdup(argv[i]);
		char *value = name ? strchr(name, '=') : NULL;

		if (value)
			*value++ = '\0';
		if (value && set_option(settings, name, value))
			continue;
		fprintf(stderr, "racewatch: the recorder has no option %s\n",
			argv[i]);
		free(name);
		return false;
	}
	return true;
}

static void before_fork(void)
{
	vcpus_lock();
	vcpus.forks = vcpu_this();
	vcpus_give();
}

static void after_fork(void)
{
	vcpus_unlock();
}

/* The child has one thread, which makes this call; it writes its own trace. */
static void in_child(void)
{
	vcpus_forked();
	vcpus_unlock();
}

/* The signal ends the program, and the emulator. */
static void signal_ends(int signal)
{
	vcpus_lock();
	if (signal == SIGILL && !vcpus.over)
		emit_unable(&vcpus.recorder,
			    "SIGILL: perhaps an instruction that QEMU does not "
			    "run");
	vcpus_unlock();
	syscalls_end(128 + signal);
}

/* QEMU's, which a program's own system call gets to as well. */
EXPORTED int kill(pid_t pid, int signal)
{
	const struct vcpu *vcpu = vcpu_this();

	if (pid == getpid() && vcpu && vcpu->number != SYS_kill)
		signal_ends(signal);
	return (int)syscall(SYS_kill, pid, signal);
}

static void program_ends(qemu_plugin_id_t id, void *data)
{
	(void)id, (void)data;
	syscalls_end(0);
}

static void thread_ends(qemu_plugin_id_t id, unsigned int number)
{
	(void)id;
	vcpu_destroy(number);
}

/* QEMU would write one of its own into the current folder. */
static void limit_cores(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CORE, &limit) != 0)
		return;
	limit.rlim_cur = 0;
	setrlimit(RLIMIT_CORE, &limit);
}

static bool begin(struct settings *settings)
{
	struct recorder_options *options = &settings->recorder;

	if (!options->folder || !options->file) {
		fputs("racewatch: folder or program is missing\n", stderr);
		return false;
	}
	options->memory = settings->memory_mib << 20;
	if (settings->lossless)
		options->promises |= TRACE_LOSSLESS;
	vcpus.stacks = settings->stacks;
	recorder_init(&vcpus.recorder, options);
	if (!recorder_begin(&vcpus.recorder, settings->arguments,
			    settings->argc)) {
		fprintf(stderr, "racewatch: cannot create %s\n",
			vcpus.recorder.writer.path);
		return false;
	}
	salvage_protect(&vcpus.recorder, vcpus_give);
	limit_cores();
	pthread_atfork(before_fork, after_fork, in_child);
	return translate_init();
}

EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const void *info,
				 int argc, char **argv)
{
	struct settings settings = {
		.recorder = { .recorder = TRACE_BY_QEMU,
			      .promises = TRACE_EXACT_LOCKS,
			      .events_max = EVENTS_MAX },
		.memory_mib = MEMORY_MIB,
	};

	(void)info;
	if (!set_options(&settings, argc, argv) || !begin(&settings))
		return -1;
	qemu_plugin_register_vcpu_init_cb(id, syscalls_create);
	qemu_plugin_register_vcpu_exit_cb(id, thread_ends);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate_block);
	qemu_plugin_register_vcpu_syscall_cb(id, syscalls_before);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, syscalls_after);
	qemu_plugin_register_atexit_cb(id, program_ends, NULL);
	return 0;
}
