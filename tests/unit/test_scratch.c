/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scratch process: it has the pages that it was given, stops where one is
 * missing, executes no system call, and leaves nothing behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tracee.h"

#include <dirent.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "replay/context.h"
#include "replay/scratch.h"
#include "sys/mapping.h"
#include "sys/memory.h"

enum { PAGE = 4096 };

static const uint64_t TEXT = 0x7f0012345000, DATA = 0x20000;
static const unsigned int text_access = MAPPING_READ | MAPPING_EXECUTE;
static const unsigned int data_access = MAPPING_READ | MAPPING_WRITE;

static int setup(void **state)
{
	assert_ok(scratch_create(SCRATCH_BY_FAULTFD, (struct scratch **)state));
	return 0;
}

static int setup_mapped(void **state)
{
	assert_ok(
		scratch_create(SCRATCH_BY_MAPPINGS, (struct scratch **)state));
	return 0;
}

static int teardown(void **state)
{
	scratch_destroy(*state);
	return 0;
}

static void install(struct scratch *scratch, uint64_t page, const char *bytes,
		    size_t size, unsigned int access)
{
	uint8_t whole[PAGE] = { 0 };

	memcpy(whole, bytes, size);
	assert_ok(scratch_install(scratch, page, whole, access));
}

static void install_text(struct scratch *scratch, const char *bytes,
			 size_t size)
{
	bool changed;

	install(scratch, TEXT, bytes, size, text_access);
	assert_ok(scratch_permit(scratch, TEXT, TEXT + PAGE, &changed));
}

#define INSTALL_TEXT(scratch, bytes) \
	install_text(scratch, bytes, sizeof(bytes) - 1)

static struct scratch_stop run_from(struct scratch *scratch, uint64_t rip,
				    bool step)
{
	struct x86_registers regs = { .rip = rip, .rflags = 0x202 };
	struct scratch_stop stop = { 0 };
	uint64_t until = 0;

	regs.gpr[X86_RDI] = DATA;
	regs.gpr[X86_RAX] = 1;
	assert_ok(trace_set_registers(scratch_pid(scratch), &regs));
	assert_ok(scratch_cpu(scratch, &until));
	assert_ok(scratch_run(scratch, step, until + 50 * CLOCK_NS_PER_MS,
			      &stop));
	return stop;
}

static uint32_t word_at(struct scratch *scratch, uint64_t address)
{
	uint32_t word = 0;
	size_t size = 0;

	assert_ok(memory_read(scratch_memory(scratch), address, &word,
			      sizeof(word), &size));
	assert_int_equal(size, sizeof(word));
	return word;
}

static void it_runs_what_it_was_given(void **state)
{
	struct scratch *scratch = *state;
	struct scratch_stop stop;

	/* movl $7, (%rdi); int3 */
	INSTALL_TEXT(scratch, "\xc7\x07\x07\x00\x00\x00\xcc");
	install(scratch, DATA, "", 0, data_access);
	stop = run_from(scratch, TEXT, false);
	assert_int_equal(stop.kind, SCRATCH_BREAKPOINT);
	assert_int_equal(word_at(scratch, DATA), 7);
	stop = run_from(scratch, TEXT, true);
	assert_int_equal(stop.kind, SCRATCH_STEPPED);
}

static void assert_fault(struct scratch_stop stop, uint64_t address)
{
	assert_int_equal(stop.kind, SCRATCH_FAULT);
	assert_int_equal(stop.address, address);
}

static void a_missing_page_is_a_stop(void **state)
{
	struct scratch *scratch = *state;

	assert_fault(run_from(scratch, TEXT, false), TEXT);
	INSTALL_TEXT(scratch, "\xc7\x07\x07\x00\x00\x00\xcc");
	assert_true(scratch_is_installed(scratch, TEXT));
	assert_false(scratch_is_installed(scratch, DATA));
	assert_fault(run_from(scratch, TEXT, false), DATA);
	/* read-only: the same */
	install(scratch, DATA, "", 0, MAPPING_READ);
	assert_fault(run_from(scratch, TEXT, false), DATA);
	assert_int_equal(word_at(scratch, DATA), 0);
}

static void data_is_not_executed(void **state)
{
	struct scratch *scratch = *state;
	bool changed;

	INSTALL_TEXT(scratch, "\xff\xe7"); /* jmp *%rdi */
	install(scratch, DATA, "\xcc", 1, data_access);
	assert_fault(run_from(scratch, TEXT, false), DATA);
	/* where text was, and something else is now */
	assert_ok(scratch_permit(scratch, DATA + PAGE, DATA + 3 * PAGE,
				 &changed));
	install(scratch, DATA + 2 * PAGE, "\xcc", 1, data_access);
	assert_fault(run_from(scratch, DATA + 2 * PAGE, false),
		     DATA + 2 * PAGE);
}

static void text_can_be_changed(void **state)
{
	struct scratch *scratch = *state;

	INSTALL_TEXT(scratch, "\xc7\x07\x07\x00\x00\x00\xcc");
	install(scratch, DATA, "", 0, data_access);
	assert_ok(scratch_poke(scratch, TEXT, "\xcc", 1));
	assert_int_equal(run_from(scratch, TEXT, false).kind,
			 SCRATCH_BREAKPOINT);
	assert_int_equal(word_at(scratch, DATA), 0);
	/* and is protected as before: movl $1, -1(%rip) */
	assert_ok(scratch_poke(scratch, TEXT,
			       "\xc7\x05\xff\xff\xff\xff\x01\x00\x00\x00", 10));
	assert_fault(run_from(scratch, TEXT, false), TEXT + 9);
}

static void a_reset_drops_the_pages(void **state)
{
	struct scratch *scratch = *state;

	for (int i = 0; i < 3; i++) {
		INSTALL_TEXT(scratch, "\xc7\x07\x07\x00\x00\x00\xcc");
		install(scratch, DATA, "", 0, data_access);
		assert_int_equal(run_from(scratch, TEXT, false).kind,
				 SCRATCH_BREAKPOINT);
		assert_ok(scratch_reset(scratch));
		assert_false(scratch_is_installed(scratch, DATA));
		assert_fault(run_from(scratch, TEXT, false), TEXT);
	}
}

static void no_system_call_is_executed(void **state)
{
	struct scratch *scratch = *state;
	struct x86_registers regs;
	struct scratch_stop stop;

	/* mov $231, %eax (exit_group); syscall; int3 */
	INSTALL_TEXT(scratch, "\xb8\xe7\x00\x00\x00\x0f\x05\xcc");
	for (int i = 0; i < 3; i++) {
		stop = run_from(scratch, TEXT, false);
		assert_int_equal(stop.kind, SCRATCH_CALL);
		assert_int_equal(stop.number, SYS_exit_group);
	}
	/* it can go on behind it, and our own calls work from there */
	install(scratch, DATA, "", 0, data_access);
	assert_ok(scratch_run(scratch, false, UINT64_MAX, &stop));
	assert_int_equal(stop.kind, SCRATCH_BREAKPOINT);
	assert_ok(trace_registers(scratch_pid(scratch), &regs));
	assert_int_equal(regs.rip, TEXT + 8);
}

static void cpu_time_is_limited(void **state)
{
	struct scratch *scratch = *state;
	uint64_t before = 0, after = 0;

	INSTALL_TEXT(scratch, "\xeb\xfe"); /* jmp to itself */
	assert_ok(scratch_cpu(scratch, &before));
	assert_int_equal(run_from(scratch, TEXT, false).kind, SCRATCH_SPENT);
	assert_ok(scratch_cpu(scratch, &after));
	assert_true(after - before >= 50 * CLOCK_NS_PER_MS);
	/* all repetitions of an instruction count */
	assert_int_equal(run_from(scratch, TEXT, true).kind, SCRATCH_STEPPED);
}

static void signals_that_are_sent_are_for_nobody(void **state)
{
	struct scratch *scratch = *state;

	INSTALL_TEXT(scratch, "\x0f\x0b"); /* ud2 */
	for (int i = 0; i < 5; i++) {
		struct scratch_stop stop;

		kill(scratch_pid(scratch), i % 2 ? SIGTERM : SIGSEGV);
		stop = run_from(scratch, TEXT, false);
		assert_int_equal(stop.kind, SCRATCH_SIGNAL);
		assert_int_equal(stop.signal, SIGILL);
	}
}

static void its_death_is_an_error(void **state)
{
	struct scratch *scratch = *state;
	struct scratch_stop stop;

	INSTALL_TEXT(scratch, "\xcc");
	kill(scratch_pid(scratch), SIGKILL);
	assert_ptr_equal(scratch_run(scratch, false, UINT64_MAX, &stop),
			 error_gone);
}

static void only_user_space_has_room(void **state)
{
	(void)state;
	assert_true(scratch_has_room(TEXT));
	assert_true(scratch_has_room(0x400000));
	assert_false(scratch_has_room(0));
	assert_false(scratch_has_room(0xf000));
	assert_false(scratch_has_room(0x7ffffffff000));
	assert_false(scratch_has_room(0xffffffffff600000));
}

static int open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static void nothing_is_left_of_it(void **state)
{
	int files = open_files();

	(void)state;
	for (int i = 0; i < 20; i++) {
		struct scratch *scratch = NULL;

		assert_ok(scratch_create(i % 2 ? SCRATCH_BY_FAULTFD
					       : SCRATCH_BY_MAPPINGS,
					 &scratch));
		scratch_destroy(scratch);
	}
	assert_int_equal(open_files(), files);
	assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* userfaultfd(2) fails with EPERM in this process. */
static void refuse_faultfd(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]),
				      filter };

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program),
			 0);
}

static void body_without_faultfd(void *arg)
{
	struct scratch *scratch = NULL;
	const char *why = NULL;
	struct error *err;

	(void)arg;
	refuse_faultfd();
	err = scratch_create(SCRATCH_BY_FAULTFD, &scratch);
	if (err)
		_exit(1);
	if (scratch_way(scratch, &why) != SCRATCH_BY_MAPPINGS || !why ||
	    !strstr(why, "userfaultfd: Operation not permitted"))
		_exit(2);
	scratch_destroy(scratch);
}

static void without_userfaultfd_it_maps_and_says_why(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	pid = tracee_fork(body_without_faultfd, NULL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define SCRATCH_TEST(test)                                            \
	cmocka_unit_test_setup_teardown(test, setup, teardown),       \
	{                                                             \
#test " (mapped)", test, setup_mapped, teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(it_runs_what_it_was_given),
		SCRATCH_TEST(a_missing_page_is_a_stop),
		SCRATCH_TEST(data_is_not_executed),
		SCRATCH_TEST(text_can_be_changed),
		SCRATCH_TEST(a_reset_drops_the_pages),
		SCRATCH_TEST(no_system_call_is_executed),
		SCRATCH_TEST(cpu_time_is_limited),
		SCRATCH_TEST(signals_that_are_sent_are_for_nobody),
		SCRATCH_TEST(its_death_is_an_error),
		cmocka_unit_test(only_user_space_has_room),
		cmocka_unit_test(nothing_is_left_of_it),
		cmocka_unit_test(without_userfaultfd_it_maps_and_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
