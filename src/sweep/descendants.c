/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Descendants; see descendants.h. Only children are signalled, never their
 * children: a child keeps its id until we reap it, so that we signal no other
 * process with that id; its own children become ours when it ends.
 */
#include "sweep/descendants.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "sys/procfs.h"

static const uint64_t PATIENCE_NS = 5 * CLOCK_NS_PER_S;
static const uint64_t TURN_NS = 10 * CLOCK_NS_PER_MS;

struct relative {
	pid_t pid, parent, session;
	char name[17];
	bool ours, ended;
};

/* /proc/PID/stat: "pid (name) state ppid pgrp session ...", proc(5). */
static bool read_relative(pid_t pid, struct relative *ret)
{
	char text[512], state;
	int parent, group, session;
	const char *open, *close;
	struct error *err = procfs_text(pid, "stat", text, sizeof(text));

	if (err) {
		error_free(err);
		return false;
	}
	open = strchr(text, '(');
	close = strrchr(text, ')');
	if (!open || !close || close < open ||
	    sscanf(close + 1, " %c %d %d %d", &state, &parent, &group,
		   &session) != 4)
		return false;
	*ret = (struct relative){ .pid = pid,
				  .parent = parent,
				  .session = session,
				  .ended = state == 'Z' || state == 'X' };
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(close - open - 1),
		 open + 1);
	return true;
}

static void read_all(struct vec *list)
{
	cleanup_closedir DIR *dir = opendir("/proc");
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct relative relative;

		if (isdigit((unsigned char)entry->d_name[0]) &&
		    read_relative((pid_t)strtol(entry->d_name, NULL, 10),
				  &relative) &&
		    !vec_push(list, &relative))
			return;
	}
}

static bool descends(const struct vec *list, const struct relative *relative)
{
	if (relative->parent == getpid())
		return true;
	for (size_t i = 0; i < list->count; i++) {
		const struct relative *other = vec_at(list, i);

		if (other->pid == relative->parent)
			return other->ours;
	}
	return false;
}

/* Until nobody is added: parents may have higher numbers. */
static void mark_ours(struct vec *list)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < list->count; i++) {
			struct relative *relative = vec_at(list, i);

			if (!relative->ours && descends(list, relative))
				relative->ours = more = true;
		}
	}
}

static bool has_child(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 ||
	       errno != ECHILD;
}

struct descendants descendants_look(void)
{
	struct descendants found = { .count = 0 };
	struct vec list = VEC_INIT(struct relative);
	pid_t session = getsid(0);

	/* a subreaper without children has no other descendants */
	if (!has_child())
		return found;
	read_all(&list);
	mark_ours(&list);
	for (size_t i = 0; i < list.count; i++) {
		const struct relative *relative = vec_at(&list, i);
		size_t used = strlen(found.names);

		if (!relative->ours || relative->ended)
			continue;
		found.count++;
		found.away += relative->session != session;
		snprintf(found.names + used, sizeof(found.names) - used, "%s%s",
			 used ? " " : "", relative->name);
	}
	vec_deinit(&list);
	return found;
}

void descendants_reap(pid_t except)
{
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		/* look first, so that one can be left to its owner */
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
		    info.si_pid == 0 || info.si_pid == except)
			return;
		waitpid(info.si_pid, NULL, 0);
	}
}

static bool is_stranger(const struct vec *strangers, pid_t pid)
{
	for (size_t i = 0; strangers && i < strangers->count; i++) {
		if (*(const pid_t *)vec_at(strangers, i) == pid)
			return true;
	}
	return false;
}

struct error *descendants_children(struct vec *ret)
{
	struct vec list = VEC_INIT(struct relative);
	bool good = true;

	if (!has_child())
		return NULL;
	read_all(&list);
	for (size_t i = 0; good && i < list.count; i++) {
		const struct relative *relative = vec_at(&list, i);

		if (relative->parent == getpid() && !relative->ended)
			good = vec_push(ret, &relative->pid);
	}
	vec_deinit(&list);
	return good ? NULL : error_nomem;
}

/* Signal ours, unless the number is 0; returns how many there are. */
static size_t signal_children(int number, const struct vec *strangers)
{
	struct vec children = VEC_INIT(pid_t);
	size_t ours = 0;

	error_free(descendants_children(&children));
	for (size_t i = 0; i < children.count; i++) {
		pid_t pid = *(pid_t *)vec_at(&children, i);

		if (is_stranger(strangers, pid))
			continue;
		ours++;
		kill(pid, number);
		/* one that is stopped acts on it when it goes on */
		if (number != 0)
			kill(pid, SIGCONT);
	}
	vec_deinit(&children);
	return ours;
}

static bool is_childless(const struct vec *strangers)
{
	descendants_reap(0);
	if (!has_child())
		return true;
	return strangers && strangers->count > 0 &&
	       signal_children(0, strangers) == 0;
}

static bool wait_childless(uint64_t until_ns, const struct vec *strangers)
{
	const struct timespec turn = { .tv_nsec = (long)TURN_NS };

	while (!is_childless(strangers)) {
		if (clock_now_ns() >= until_ns)
			return false;
		nanosleep(&turn, NULL);
	}
	return true;
}

void descendants_end(uint64_t grace_ns, const struct vec *strangers)
{
	uint64_t give_up = clock_now_ns() + grace_ns + PATIENCE_NS;

	if (is_childless(strangers))
		return;
	signal_children(SIGTERM, strangers);
	if (wait_childless(clock_now_ns() + grace_ns, strangers))
		return;
	while (clock_now_ns() < give_up) {
		signal_children(SIGKILL, strangers);
		if (wait_childless(clock_now_ns() + 5 * TURN_NS, strangers))
			return;
	}
}
