/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What keeps a process from being watched; see checks.h. Whether it may be
 * traced at all is in checks-access.c.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "doctor/checks-list.h"
#include "image/image.h"
#include "sys/identity.h"
#include "sys/policy.h"
#include "sys/procfs.h"

/* Nothing can be known of it but that it is not there, or not shown. */
static void look_absent(struct check_context *context, struct check *ret)
{
	char hidden[32];

	context->over = context->identity == NULL;
	if (!context->over) {
		check_find(ret, CHECK_OK, "process %d (%s)",
			   (int)context->identity->process,
			   context->identity->name);
		return;
	}
	if (kill(context->asked, 0) < 0 && errno == ESRCH) {
		check_find(ret, CHECK_FAILED, "there is none, or it has ended");
		return;
	}
	policy_hidepid(hidden, sizeof(hidden));
	check_find(ret, CHECK_FAILED,
		   "it exists, but /proc does not show it (hidepid=%s)",
		   hidden);
	check_advise_capability(ret, "", CHECK_PTRACE,
				", or as a member of the group that /proc is "
				"mounted with (gid=)");
}

static void look_thread(struct check_context *context, struct check *ret)
{
	if (context->asked != context->identity->process)
		check_find(ret, CHECK_NOTE,
			   "%d is a thread of it; the whole process is "
			   "watched",
			   (int)context->asked);
}

static void look_kind(struct check_context *context, struct check *ret)
{
	const struct identity *identity = context->identity;

	context->over = identity->kernel || context->live == 0;
	if (identity->kernel) {
		check_find(ret, CHECK_FAILED,
			   "%s is a kernel thread: it has no program to watch",
			   identity->name);
	} else if (context->live == 0) {
		check_find(ret, CHECK_FAILED,
			   "%s is a zombie: it has ended, and its parent has "
			   "not waited for it",
			   identity->name);
	} else if (context->live != identity->process) {
		check_find(ret, CHECK_NOTE,
			   "its first thread has exited; the others are "
			   "watched");
	}
}

static void look_tracer(struct check_context *context, struct check *ret)
{
	struct identity thread, tracer;
	struct error *err = identity_read(context->live, &thread);

	if (err || thread.tracer == 0) {
		error_free(err);
		check_find(ret, CHECK_OK, "nobody traces it");
		return;
	}
	err = identity_read(thread.tracer, &tracer);
	check_find(ret, CHECK_FAILED,
		   "process %d (%s) traces it already, and ptrace(2) allows "
		   "one tracer",
		   (int)thread.tracer, err ? "?" : tracer.name);
	error_free(err);
	check_advise(ret, "end or detach that one first");
}

static void look_word(struct check_context *context, struct check *ret)
{
	cleanup_close int fd = -1;
	Elf64_Ehdr header;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)context->live);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, &header, sizeof(header)) != sizeof(header))
		return;
	if (header.e_ident[EI_CLASS] == ELFCLASS64 &&
	    header.e_machine == EM_X86_64) {
		check_find(ret, CHECK_OK, "x86-64");
		return;
	}
	check_find(ret, CHECK_FAILED,
		   header.e_ident[EI_CLASS] == ELFCLASS64
			   ? "a program for another machine (emulated?)"
			   : "a 32-bit program; 32-bit programs are not "
			     "supported");
	check_advise(ret, "build it for x86-64");
}

static void look_filter(struct check_context *context, struct check *ret)
{
	if (context->identity->seccomp > 0)
		check_find(ret, CHECK_OK,
			   "its system calls are filtered: racewatch makes it "
			   "call sigaction(2) only, where it handles or "
			   "ignores SIGTRAP");
}

static bool same_root(const struct check_context *context)
{
	struct stat ours, its;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root/", (int)context->live);
	return stat("/", &ours) < 0 || stat(path, &its) < 0 ||
	       (ours.st_ino == its.st_ino && ours.st_dev == its.st_dev);
}

static void look_place(struct check_context *context, struct check *ret)
{
	bool pid = check_same_namespace(context, "pid");
	bool mount = check_same_namespace(context, "mnt");
	bool root = same_root(context);

	if (pid && mount && root)
		return;
	check_find(ret, CHECK_OK, "in another %s%s%s%s%s",
		   pid ? "" : "pid namespace", pid || mount ? "" : ", ",
		   mount ? "" : "mount namespace",
		   root || (pid && mount) ? "" : ", ",
		   root ? "" : "root directory");
}

static const struct module *main_module(const struct image *image)
{
	const struct vec *modules = image_modules(image);

	for (size_t i = 0; i < modules->count; i++) {
		const struct module *module =
			*(struct module **)vec_at(modules, i);

		if (module->main)
			return module;
	}
	return NULL;
}

static void look_program(struct check_context *context, struct check *ret)
{
	const struct module *module =
		context->image ? main_module(context->image) : NULL;
	const struct map_entry *entry;

	if (!module)
		return;
	entry = maps_find(image_maps(context->image), module->start);
	if (!module->text) {
		check_find(ret, CHECK_WARNING, "%s: nothing in it is sampled",
			   module->problem);
		check_advise_capability(ret, "", CHECK_RESTORE, "");
	} else {
		check_find(ret, CHECK_OK, "%s%s", module->path,
			   entry && entry->deleted
				   ? ", deleted or replaced since; the old "
				     "file is read"
				   : "");
	}
}

static void look_libraries(struct check_context *context, struct check *ret)
{
	const struct module *worst = NULL;
	bool dynamic = false;
	size_t unread = 0;

	if (!context->image)
		return;
	for (size_t i = 0; i < image_modules(context->image)->count; i++) {
		const struct module *module = *(struct module **)vec_at(
			image_modules(context->image), i);

		dynamic |= module->loader;
		if (module->text || module->main)
			continue;
		worst = module;
		unread++;
	}
	if (unread > 0) {
		check_find(ret, CHECK_WARNING,
			   "%zu cannot be read, and nothing in them is "
			   "sampled: %s",
			   unread, worst->problem);
		check_advise_capability(ret, "", CHECK_RESTORE, "");
	} else if (!dynamic) {
		check_find(ret, CHECK_NOTE,
			   "statically linked: the C library's inside is left "
			   "out by the names of its functions, if it has "
			   "symbols");
	} else {
		check_find(ret, CHECK_OK, "all can be read");
	}
}

static void look_threads(struct check_context *context, struct check *ret)
{
	unsigned int threads = context->identity->threads;
	struct rlimit limit = { .rlim_max = RLIM_INFINITY };

	getrlimit(RLIMIT_NOFILE, &limit);
	if (threads < 2) {
		check_find(ret, CHECK_WARNING,
			   "one: races are found once it has more");
	} else if (threads > limit.rlim_max / 4) {
		check_find(ret, CHECK_WARNING,
			   "%u, more than the %ju files allowed suffice for",
			   threads, (uintmax_t)limit.rlim_max);
		check_advise(ret, "raise the hard limit: ulimit -Hn %u",
			     8 * threads);
	} else {
		check_find(ret, CHECK_OK, "%u", threads);
	}
}

static void look_sigtrap(struct check_context *context, struct check *ret)
{
	const uint64_t bit = UINT64_C(1) << (SIGTRAP - 1);
	struct thread_status status;
	struct error *err = procfs_status(context->live, &status);

	if (err) {
		error_free(err);
		return;
	}
	if (status.ignored & bit)
		check_find(ret, CHECK_NOTE,
			   "ignored: put back when the breakpoints are out");
	else if (status.caught & bit)
		check_find(ret, CHECK_NOTE,
			   "handled: the handler is put back after each "
			   "breakpoint");
	else if (status.blocked & bit)
		check_find(ret, CHECK_NOTE,
			   "blocked: such threads are watched by ptrace(2)");
	else
		check_find(ret, CHECK_OK, "default");
}

static const struct check_entry process_table[] = {
	{ "process", look_absent, true, false },
	{ "thread-id", look_thread, false, false },
	{ "kind", look_kind, true, false },
	{ "tracer", look_tracer, true, false },
	{ "access", check_look_access, true, false },
	{ "word-size", look_word, true, false },
	{ "process-seccomp", look_filter, false, false },
	{ "place", look_place, false, false },
	{ "program", look_program, false, false },
	{ "libraries", look_libraries, false, false },
	{ "threads", look_threads, false, false },
	{ "sigtrap", look_sigtrap, false, false },
	{ "text", check_look_text, false, false },
};

enum { PROCESS_CHECKS = sizeof(process_table) / sizeof(process_table[0]) };

/* Who it is; context->identity stays NULL when that is not to be known. */
static void process_identify(pid_t pid, struct identity *identity,
			     struct check_context *context)
{
	struct error *err = identity_read(pid, identity);

	/* a thread's process is told by the thread */
	if (!err && identity->process != pid)
		err = identity_read(identity->process, identity);
	if (!err) {
		context->identity = identity;
		context->live = identity_live_thread(identity->process);
	}
	error_free(err);
}

struct error *checks_process(pid_t pid, struct checks *checks)
{
	struct check_context context = { .asked = pid };
	struct identity identity;
	struct error *err = NULL;
	bool changed;

	process_identify(pid, &identity, &context);
	if (context.live > 0 && !identity.kernel) {
		err = image_create(identity.process, &context.image);
		if (err)
			return err;
		err = image_refresh(context.image, &changed);
	}
	/* that it cannot be read, the checks tell */
	if (err) {
		image_destroy(context.image);
		context.image = NULL;
		error_free(err);
	}
	err = checks_run(process_table, PROCESS_CHECKS, &context, checks);
	image_destroy(context.image);
	return err;
}

struct error *checks_refuse_process(pid_t pid)
{
	struct check_context context = { .asked = pid };
	struct identity identity;
	char who[32];

	process_identify(pid, &identity, &context);
	snprintf(who, sizeof(who), "process %d: ",
		 context.identity ? (int)identity.process : (int)pid);
	return checks_refuse(process_table, PROCESS_CHECKS, &context, who);
}
