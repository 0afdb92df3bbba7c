/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The whole tracer process with a scripted front end: a program is started,
 * sites are sent, a conflict comes back with the registers and stacks it should
 * have; and the front end's end, in order or not, harms nobody.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tracee.h"

#include "frontend.h"
#include "tracee/selftest.h"

static void check_stalled(const struct frontend *frontend)
{
	const struct wire_side *side = &frontend->conflict.sides[0];
	int i = side->tid == arena->tids[0] ? 0 : 1;

	assert_true(side->present);
	assert_true(side->before);
	assert_int_equal(side->tid, arena->tids[i]);
	assert_int_equal(side->pid, frontend->start.pid);
	assert_int_equal(side->regs.rip,
			 i == 0 ? arena->write_site : arena->read_site);
	assert_int_equal(side->site % 2, i == 0);
	assert_int_equal(side->access.size, 8);
	assert_int_equal(side->access.kind,
			 i == 0 ? ACCESS_WRITE : ACCESS_READ);
	assert_int_equal(side->access.address, side->regs.gpr[X86_RDI]);
}

/* The stacks lead back into the text of the program. */
static void check_stacks(const struct frontend *frontend)
{
	for (int i = 0; i < 2; i++) {
		const struct wire_side *side = &frontend->conflict.sides[i];
		const uint64_t from = arena->write_site - (1 << 20);

		if (!side->present)
			continue;
		assert_in_range(frontend->returns[i], from, from + (2 << 20));
		assert_int_not_equal(frontend->returns[i], 0);
	}
}

static void backend_finds_the_race(const char *backend, bool other_known)
{
	struct frontend *frontend = frontend_start("/proc/self/exe", backend);
	const struct wire_side *other = &frontend->conflict.sides[1];

	if (frontend->failed) {
		struct error *err = error_create(ERROR_OTHER, "%s",
						 frontend->failure.message);

		frontend_end(frontend);
		tracee_skip(err);
	}
	assert_true(frontend->started);
	assert_string_equal(frontend->start.backend, backend);
	frontend_send_sites(frontend);
	frontend_until(frontend, frontend->conflict_count > 0 &&
					 (!other_known || other->present));
	assert_true(frontend->conflict_count > 0);
	check_stalled(frontend);
	if (other_known) {
		assert_true(other->present);
		assert_true(other->tid == arena->tids[0] ||
			    other->tid == arena->tids[1]);
		assert_int_not_equal(other->tid,
				     frontend->conflict.sides[0].tid);
	}
	check_stacks(frontend);
	finish(frontend);
}

static void perf_finds_the_race(void **state)
{
	(void)state;
	backend_finds_the_race("perf", true);
}

static void ptrace_finds_the_race(void **state)
{
	(void)state;
	backend_finds_the_race("ptrace", true);
}

static void perf_cpu_finds_the_race(void **state)
{
	(void)state;
	backend_finds_the_race("perf-cpu", true);
}

static void value_finds_the_race(void **state)
{
	(void)state;
	backend_finds_the_race("value", false);
}

static void a_command_that_is_not_there_is_named(void **state)
{
	struct frontend *frontend = frontend_start("/nonexistent", "value");

	(void)state;
	assert_true(frontend->failed);
	assert_int_equal(frontend->failure.kind, ERROR_NOT_FOUND);
	assert_non_null(strstr(frontend->failure.message, "/nonexistent"));
	frontend_end(frontend);
	frontend = frontend_start("/dev/null", "value");
	assert_true(frontend->failed);
	assert_int_equal(frontend->failure.kind, ERROR_CANNOT_RUN);
	frontend_end(frontend);
}

static void an_unknown_backend_is_an_error(void **state)
{
	struct frontend *frontend = frontend_start("/proc/self/exe", "magic");

	(void)state;
	assert_true(frontend->failed);
	assert_int_equal(frontend->failure.kind, ERROR_USAGE);
	frontend_end(frontend);
}

static void the_program_ends_by_itself(void **state)
{
	struct frontend *frontend = frontend_start("/proc/self/exe", "value");

	(void)state;
	frontend_send_sites(frontend);
	frontend_until(frontend, frontend->sample_count > 0);
	tracee_tell(&arena->over, 1);
	frontend_until(frontend, frontend->exited);
	assert_int_equal(WEXITSTATUS(frontend->exit.status), STATUS);
	frontend_end(frontend);
}

static void a_signal_is_passed_to_the_program(void **state)
{
	struct wire_signal message = { .signal = SIGTERM };
	struct frontend *frontend = frontend_start("/proc/self/exe", "value");

	(void)state;
	frontend_send_sites(frontend);
	channel_send(&frontend->channel, WIRE_SIGNAL, &message,
		     sizeof(message));
	frontend_until(frontend, frontend->exited);
	assert_true(WIFSIGNALED(frontend->exit.status));
	assert_int_equal(WTERMSIG(frontend->exit.status), SIGTERM);
	frontend_end(frontend);
}

static void pausing_body(void *arg)
{
	tracee_tell(arg, 1);
	for (;;)
		pause();
}

/* A process that has ended and was waited for: nobody has its id. */
static pid_t ended_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

static void one_of_several_that_has_ended_is_left_out(void **state)
{
	uint32_t *ready = tracee_share(sizeof(*ready));
	int pids[] = { ended_process(), tracee_fork(pausing_body, ready),
		       ended_process() };
	struct frontend *frontend;
	char number[16];

	(void)state;
	tracee_await(ready, 1);
	frontend = frontend_attach(pids, 3);
	assert_true(frontend->started);
	assert_int_equal(frontend->start.pid, pids[1]);
	snprintf(number, sizeof(number), " %d ", pids[2]);
	assert_non_null(strstr(frontend->note, number));
	channel_send(&frontend->channel, WIRE_STOP, NULL, 0);
	frontend_until(frontend, frontend->detached);
	assert_true(frontend->detached);
	frontend_end(frontend);
	tracee_kill(pids[1]);
	munmap(ready, sizeof(*ready));
}

static void where_all_have_ended_it_fails(void **state)
{
	int pids[] = { ended_process(), ended_process() };
	struct frontend *frontend = frontend_attach(pids, 2);

	(void)state;
	assert_false(frontend->started);
	assert_true(frontend->failed);
	assert_int_equal(frontend->failure.kind, ERROR_GONE);
	frontend_end(frontend);
}

/* In the middle of stalls, with breakpoints armed, the channel closes. */
static void the_front_end_dies(const char *backend)
{
	struct frontend *frontend = frontend_start("/proc/self/exe", backend);
	pid_t tracer = frontend->tracer.pid;
	int status;

	if (frontend->failed) {
		struct error *err = error_create(ERROR_OTHER, "%s",
						 frontend->failure.message);

		frontend_end(frontend);
		tracee_skip(err);
	}
	frontend_send_sites(frontend);
	frontend_until(frontend, frontend->sample_count > 3);
	channel_deinit(&frontend->channel);
	assert_int_equal(waitpid(tracer, &status, 0), tracer);
	assert_true(WIFEXITED(status));
	tracee_tell(&arena->over, 1);
	tracee_await(&arena->ended, 1);
	assert_true(arena->pristine);
	munmap(arena, sizeof(*arena));
	close(memory_fd);
	free(frontend);
}

static void the_front_end_dies_and_the_program_runs_on(void **state)
{
	(void)state;
	the_front_end_dies("value");
	the_front_end_dies("ptrace");
	the_front_end_dies("perf");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perf_finds_the_race),
		cmocka_unit_test(ptrace_finds_the_race),
		cmocka_unit_test(perf_cpu_finds_the_race),
		cmocka_unit_test(value_finds_the_race),
		cmocka_unit_test(a_command_that_is_not_there_is_named),
		cmocka_unit_test(one_of_several_that_has_ended_is_left_out),
		cmocka_unit_test(where_all_have_ended_it_fails),
		cmocka_unit_test(an_unknown_backend_is_an_error),
		cmocka_unit_test(the_program_ends_by_itself),
		cmocka_unit_test(a_signal_is_passed_to_the_program),
		cmocka_unit_test(the_front_end_dies_and_the_program_runs_on),
	};

	if (argc > 3 && strcmp(argv[1], "--child") == 0)
		return child_main(atoi(argv[2]), atoi(argv[3]));
	tracee_lock_registers();
	return cmocka_run_group_tests_name("tracer", tests, NULL, NULL);
}
