/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machine's configuration; see policy.h.
 */
#include "sys/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { POLICY_TEXT = 65536 };

/* The text of a file, to be freed; NULL when it cannot be read. */
static char *policy_text(const char *path)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text;
	size_t have = 0;
	ssize_t n;

	if (fd < 0)
		return NULL;
	text = malloc(POLICY_TEXT);
	while (text && have < POLICY_TEXT - 1 &&
	       (n = read(fd, text + have, POLICY_TEXT - 1 - have)) > 0)
		have += (size_t)n;
	if (text)
		text[have] = '\0';
	return text;
}

long policy_number(const char *path, long missing)
{
	cleanup_free char *text = policy_text(path);
	char *end;
	long value;

	if (!text)
		return missing;
	value = strtol(text, &end, 10);
	return end == text ? missing : value;
}

bool policy_deny_ptrace(void)
{
	/* "current pending" */
	return policy_number("/sys/fs/selinux/booleans/deny_ptrace", 0) == 1 &&
	       policy_number("/sys/fs/selinux/enforce", 0) == 1;
}

void policy_modules(char *names, size_t size)
{
	cleanup_free char *text = policy_text("/sys/kernel/security/lsm");

	snprintf(names, size, "%.*s", text ? (int)strcspn(text, "\n") : 0,
		 text ? text : "");
}

/* Is this line of mountinfo one of a proc file system mounted on /proc? */
static bool mount_is_proc(const char *line, size_t length)
{
	cleanup_free char *copy = strndup(line, length);
	const char *type = copy ? strstr(copy, " - ") : NULL;
	char point[16] = "";

	/* "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [FIELDS] - TYPE ..." */
	return type && strncmp(type, " - proc ", 8) == 0 &&
	       sscanf(copy, "%*s %*s %*s %*s %15s", point) == 1 &&
	       strcmp(point, "/proc") == 0;
}

void policy_parse_hidepid(const char *mounts, char *value, size_t size)
{
	static const char option[] = "hidepid=";

	snprintf(value, size, "0");
	/* the last mount on a place is the one that is seen */
	for (const char *line = mounts; *line;) {
		size_t length = strcspn(line, "\n");

		if (mount_is_proc(line, length)) {
			const char *at =
				memmem(line, length, option, strlen(option));

			snprintf(value, size, "%.*s",
				 at ? (int)strcspn(at + strlen(option), ", \n")
				    : 1,
				 at ? at + strlen(option) : "0");
		}
		line += length + (line[length] == '\n');
	}
	if (strcmp(value, "off") == 0)
		snprintf(value, size, "0");
}

void policy_hidepid(char *value, size_t size)
{
	cleanup_free char *text = policy_text("/proc/self/mountinfo");

	policy_parse_hidepid(text ? text : "", value, size);
}

void policy_parameter(const char *command_line, const char *name, char *value,
		      size_t size)
{
	size_t length = strlen(name);

	snprintf(value, size, "%s", "");
	for (const char *at = command_line; *at;) {
		size_t word = strcspn(at, " \t\n");

		if (word > length && strncmp(at, name, length) == 0 &&
		    at[length] == '=')
			snprintf(value, size, "%.*s", (int)(word - length - 1),
				 at + length + 1);
		at += word;
		at += strspn(at, " \t\n");
	}
}

void policy_force_override(char *value, size_t size)
{
	cleanup_free char *text = policy_text("/proc/cmdline");

	policy_parameter(text ? text : "", "proc_mem.force_override", value,
			 size);
}

bool policy_initial_users(void)
{
	cleanup_free char *text = policy_text("/proc/self/uid_map");
	unsigned long long inside, outside, count;

	/* without user namespaces there is no such file */
	if (!text)
		return true;
	return sscanf(text, "%llu %llu %llu", &inside, &outside, &count) == 3 &&
	       inside == 0 && outside == 0 && count == UINT32_MAX;
}

void policy_linux(int *ret_major, int *ret_minor)
{
	struct utsname name;

	if (uname(&name) < 0 ||
	    sscanf(name.release, "%d.%d", ret_major, ret_minor) != 2) {
		*ret_major = 0;
		*ret_minor = 0;
	}
}
