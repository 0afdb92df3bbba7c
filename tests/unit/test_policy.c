/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machine's configuration, from texts as the kernel writes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/policy.h"

#define ROOT "23 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"

static const char *hidepid(const char *mounts)
{
	static char value[32];

	policy_parse_hidepid(mounts, value, sizeof(value));
	return value;
}

static void hidepid_is_that_of_the_proc_on_top(void **state)
{
	(void)state;
	assert_string_equal(hidepid(""), "0");
	assert_string_equal(hidepid(ROOT "24 23 0:5 / /proc rw - proc proc rw"),
			    "0");
	assert_string_equal(
		hidepid("24 23 0:5 / /proc rw - proc proc rw,hidepid=2\n" ROOT),
		"2");
	assert_string_equal(hidepid("24 23 0:5 / /proc rw - proc proc "
				    "rw,gid=4,hidepid=invisible,subset=pid\n"),
			    "invisible");
	assert_string_equal(
		hidepid("24 23 0:5 / /proc rw - proc proc rw,hidepid=off\n"),
		"0");
	/* mounted over, and somewhere else, and another kind */
	assert_string_equal(
		hidepid("24 23 0:5 / /proc rw - proc proc rw,hidepid=2\n"
			"25 24 0:6 / /proc rw - proc proc rw\n"),
		"0");
	assert_string_equal(
		hidepid("24 23 0:5 / /jail/proc rw - proc proc hidepid=2\n"),
		"0");
	assert_string_equal(
		hidepid("24 23 0:5 / /proc rw - tmpfs proc rw,hidepid=2\n"),
		"0");
}

static const char *parameter(const char *line)
{
	static char value[16];

	policy_parameter(line, "proc_mem.force_override", value, sizeof(value));
	return value;
}

static void the_last_parameter_on_the_command_line_counts(void **state)
{
	(void)state;
	assert_string_equal(parameter(""), "");
	assert_string_equal(parameter("quiet root=/dev/sda1"), "");
	assert_string_equal(parameter("quiet proc_mem.force_override=never\n"),
			    "never");
	assert_string_equal(parameter("proc_mem.force_override=never "
				      "proc_mem.force_override=ptrace ro"),
			    "ptrace");
	assert_string_equal(parameter("xproc_mem.force_override=never"), "");
	assert_string_equal(parameter("proc_mem.force_override2=never"), "");
}

static void a_number_is_read_or_missing(void **state)
{
	char path[] = "/tmp/racewatch-policy.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(policy_number(path, -7), -7);
	assert_int_equal(write(fd, "-1\n", 3), 3);
	assert_int_equal(policy_number(path, -7), -1);
	close(fd);
	unlink(path);
	assert_int_equal(policy_number(path, -7), -7);
}

static void this_machine_has_a_version(void **state)
{
	int major, minor;

	(void)state;
	policy_linux(&major, &minor);
	assert_true(major >= 4 && minor >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hidepid_is_that_of_the_proc_on_top),
		cmocka_unit_test(the_last_parameter_on_the_command_line_counts),
		cmocka_unit_test(a_number_is_read_or_missing),
		cmocka_unit_test(this_machine_has_a_version),
	};

	return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
