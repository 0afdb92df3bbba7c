/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs and processes as they come and go, and what processes share.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "image/image.h"
#include "sampling/rules.h"
#include "sampling/sampleset-parts.h"
#include "session/watched.h"
#include "sys/procfs.h"

static struct rules rules;

static struct watched_program *began(struct watched *watched, int pid,
				     uint32_t number, bool expect_new)
{
	struct wire_process message = { .pid = pid, .program = number };
	struct watched_program *program = NULL;
	bool added = !expect_new;

	assert_null(watched_began(watched, &message, &program, &added));
	assert_non_null(program);
	assert_int_equal(program->id, number);
	assert_int_equal(added, expect_new);
	return program;
}

static void ended(struct watched *watched, int pid)
{
	struct wire_process message = { .pid = pid };

	watched_ended(watched, &message);
}

static void another_process_stands_for_one_that_ended(void **state)
{
	struct watched watched;
	struct watched_program *program;

	(void)state;
	watched_init(&watched, &rules, 1);
	began(&watched, 10, 0, true);
	program = began(&watched, 11, 1, true);
	assert_ptr_equal(began(&watched, 12, 1, false), program);
	assert_int_equal(program->pid, 11);
	ended(&watched, 11);
	assert_int_equal(program->pid, 12);
	assert_int_equal(image_pid(program->image), 12);
	assert_int_equal(program->set.pid, 12);
	ended(&watched, 12);
	assert_null(watched_program(&watched, 1));
	/* never heard of */
	ended(&watched, 99);
	/* the first stays: reports and counts refer to it */
	ended(&watched, 10);
	assert_non_null(watched_program(&watched, 0));
	assert_int_equal(watched_program(&watched, 0)->pid, 0);
	assert_int_equal(watched.processes.count, 0);
	watched_deinit(&watched);
}

static void exec_leaves_one_program_for_another(void **state)
{
	struct watched watched;

	(void)state;
	watched_init(&watched, &rules, 1);
	began(&watched, 10, 0, true);
	began(&watched, 11, 1, true);
	began(&watched, 11, 2, true);
	assert_null(watched_program(&watched, 1));
	assert_int_equal(watched.processes.count, 2);
	watched_deinit(&watched);
}

/* A process of sleep(1), or of a copy of it, which has all its libraries. */
static pid_t execute(const char *path)
{
	struct thread_status status = { .state = 'R' };
	char byte;
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		execl(path, path, "60", NULL);
		_exit(1);
	}
	close(fds[1]);
	/* closed by the execution */
	assert_int_equal(read(fds[0], &byte, 1), 0);
	close(fds[0]);
	while (status.state != 'S') {
		sched_yield();
		assert_null(procfs_status(pid, &status));
	}
	return pid;
}

static void end_process(struct watched *watched, pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	ended(watched, pid);
}

static void read_modules(struct watched_program *program)
{
	struct vec gone = VEC_INIT(struct wire_range);
	bool changed;

	assert_null(image_refresh(program->image, &changed));
	assert_null(sampleset_sync(&program->set, UINT64_MAX, &gone));
	assert_int_equal(gone.count, 0);
	vec_deinit(&gone);
}

static void another_execution_knows_what_the_first_one_did(void **state)
{
	struct watched watched;
	struct watched_program *program;
	struct wire_site site, again;
	pid_t pid = execute("/bin/sleep");
	size_t parts;

	(void)state;
	watched_init(&watched, &rules, 1);
	began(&watched, 10, 0, true);
	program = began(&watched, pid, 1, true);
	watched_wake(&watched, program);
	read_modules(program);
	assert_null(sampleset_draw(&program->set, &site));
	assert_int_not_equal(site.id, 0);
	assert_true(sampler_mark(&program->set.sampler, site.id));
	parts = program->set.parts.count;
	end_process(&watched, pid);
	assert_ptr_equal(watched_program(&watched, 1), program);
	assert_int_equal(program->pid, 0);
	/* of another file */
	assert_ptr_not_equal(began(&watched, getpid(), 2, true), program);
	ended(&watched, getpid());
	assert_null(watched_program(&watched, 2));
	pid = execute("/bin/sleep");
	assert_ptr_equal(began(&watched, pid, 3, true), program);
	assert_int_equal(program->key, 1);
	assert_int_equal(program->pid, pid);
	assert_int_equal(program->set.pid, pid);
	assert_false(program->awake);
	assert_null(watched_program(&watched, 1));
	read_modules(program);
	assert_int_equal(program->set.parts.count, parts);
	assert_false(sampler_mark(&program->set.sampler, site.id));
	assert_true(sampleset_describe(&program->set, site.id, &again));
	assert_int_equal(again.address % 4096, site.address % 4096);
	assert_ptr_equal(image_module_at(program->image, again.address),
			 sampleset_part(&program->set,
					(size_t)(site.id >> 32) - 1)
				 ->module);
	end_process(&watched, pid);
	watched_deinit(&watched);
}

static void the_oldest_of_many_programs_is_forgotten(void **state)
{
	struct watched watched;
	char path[64], command[128];
	uint32_t number = 1;

	(void)state;
	watched_init(&watched, &rules, 1);
	began(&watched, 10, 0, true);
	for (; number <= WATCHED_RESTING + 1; number++) {
		pid_t pid;

		snprintf(path, sizeof(path), "/tmp/racewatch-%d-%u",
			 (int)getpid(), (unsigned int)number);
		snprintf(command, sizeof(command), "cp /bin/sleep %s", path);
		assert_int_equal(system(command), 0);
		pid = execute(path);
		unlink(path);
		read_modules(began(&watched, pid, number, true));
		end_process(&watched, pid);
	}
	assert_null(watched_program(&watched, 1));
	assert_non_null(watched_program(&watched, 2));
	assert_non_null(watched_program(&watched, WATCHED_RESTING + 1));
	watched_deinit(&watched);
}

/* What is said of our own memory: the count of ranges, and the one at `at`. */
static struct wire_shared shared_range(struct watched *watched,
				       struct watched_process *process,
				       const void *at)
{
	struct vec bytes = VEC_INIT(uint8_t);
	const struct wire_shared_head *head;
	const struct wire_shared *ranges;
	struct wire_shared found = { .inode = 0 };

	watched_timer_hurry(&process->shared, false);
	assert_null(watched_shared(watched, process, &bytes));
	head = bytes.items;
	assert_true(bytes.count >= sizeof(*head));
	assert_int_equal(head->pid, process->pid);
	assert_int_equal(bytes.count,
			 sizeof(*head) + head->count * sizeof(*ranges));
	ranges = (const struct wire_shared *)(head + 1);
	for (uint32_t i = 0; i < head->count; i++) {
		if (ranges[i].start == (uintptr_t)at)
			found = ranges[i];
	}
	vec_deinit(&bytes);
	return found;
}

static void shared_memory_is_told_once(void **state)
{
	struct watched_process process = { .pid = getpid() };
	struct vec bytes = VEC_INIT(uint8_t);
	struct wire_shared range;
	struct watched watched;
	uint8_t *shared, *private;

	(void)state;
	watched_init(&watched, &rules, 1);
	shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	private = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range = shared_range(&watched, &process, shared);
	assert_int_not_equal(range.inode, 0);
	assert_int_equal(range.end - range.start, 8192);
	assert_null(watched_shared(&watched, &process, &bytes));
	assert_int_equal(bytes.count, 0);
	process.told = 0;
	assert_int_equal(shared_range(&watched, &process, private).inode, 0);
	assert_true(watched_same_memory(getpid(), (uintptr_t)shared, getpid(),
					(uintptr_t)shared));
	assert_false(watched_same_memory(getpid(), (uintptr_t)shared, getpid(),
					 (uintptr_t)shared + 4096));
	assert_false(watched_same_memory(getpid(), (uintptr_t) private,
					 getpid(), (uintptr_t) private));
	vec_deinit(&bytes);
	munmap(shared, 8192);
	munmap(private, 8192);
	watched_deinit(&watched);
}

/* As of locale files, which all programs map and nobody writes. */
static void what_nobody_may_write_is_not_shared(void **state)
{
	struct watched_process process = { .pid = getpid() };
	struct watched watched;
	char name[] = "/tmp/racewatch-shared-XXXXXX";
	int fd = mkstemp(name);
	void *reader, *writer;

	(void)state;
	assert_true(fd >= 0);
	unlink(name);
	assert_int_equal(ftruncate(fd, 4096), 0);
	watched_init(&watched, &rules, 1);
	reader = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	assert_int_equal(shared_range(&watched, &process, reader).inode, 0);
	assert_false(process.shares);
	writer = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	process.told = 0;
	assert_int_not_equal(shared_range(&watched, &process, writer).inode, 0);
	assert_true(process.shares);
	/* from now on the reader's place is too */
	process.told = 0;
	assert_int_not_equal(shared_range(&watched, &process, reader).inode, 0);
	munmap(reader, 4096);
	munmap(writer, 4096);
	close(fd);
	watched_deinit(&watched);
}

/* Those who only read it were told nothing of it before. */
static void a_new_writer_has_the_others_read_again(void **state)
{
	struct watched_process process = { .pid = getpid() };
	struct vec bytes = VEC_INIT(uint8_t);
	struct watched watched;
	void *writer;

	(void)state;
	watched_init(&watched, &rules, 1);
	assert_true(vec_push(&watched.processes, &process));
	assert_null(watched_shared(&watched, vec_at(&watched.processes, 0),
				   &bytes));
	writer = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	process.shared.read_ns = 0;
	assert_null(watched_shared(&watched, &process, &bytes));
	assert_int_equal(
		((struct watched_process *)vec_at(&watched.processes, 0))
			->shared.read_ns,
		0);
	vec_deinit(&bytes);
	munmap(writer, 4096);
	watched_deinit(&watched);
}

static void maps_are_read_when_something_is_mapped(void **state)
{
	struct watched_timer timer = { .due_ns = 0 };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory;

	(void)state;
	assert_true(watched_timer_reads(&timer, getpid()));
	assert_false(watched_timer_reads(&timer, getpid()));
	memory = mmap(NULL, page, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(watched_timer_reads(&timer, getpid()));
	assert_false(watched_timer_reads(&timer, getpid()));
	munmap(memory, page);
	assert_true(watched_timer_reads(&timer, getpid()));
	assert_false(watched_timer_reads(&timer, getpid()));
	/* as much may have taken the place of something else */
	timer.read_ns -= 11 * CLOCK_NS_PER_S;
	assert_true(watched_timer_reads(&timer, getpid()));
	assert_false(watched_timer_reads(&timer, getpid()));
	watched_timer_hurry(&timer, false);
	assert_true(watched_timer_reads(&timer, getpid()));
	/* what has ended is read, which says so */
	assert_true(watched_timer_reads(&timer, INT32_MAX));
}

/* Where nothing changes, and at most half a second from one to the next. */
static void processes_are_looked_at_at_the_same_time(void **state)
{
	struct watched_timer timer = { .due_ns = 0 };

	(void)state;
	watched_timer_set(&timer, false);
	assert_int_equal(timer.due_ns, timer.last_ns + 10 * CLOCK_NS_PER_MS);
	for (int i = 0; i < 20; i++)
		watched_timer_set(&timer, false);
	assert_int_equal(timer.due_ns % (5 * (uint64_t)CLOCK_BEAT_NS), 0);
	assert_true(timer.due_ns > timer.last_ns);
	assert_true(timer.due_ns <=
		    timer.last_ns + 5 * (uint64_t)CLOCK_BEAT_NS);
	watched_timer_set(&timer, true);
	assert_int_equal(timer.due_ns, timer.last_ns + 10 * CLOCK_NS_PER_MS);
}

static void a_program_is_woken_once(void **state)
{
	struct watched watched;
	struct watched_program *program;

	(void)state;
	watched_init(&watched, &rules, 1);
	program = began(&watched, 10, 0, true);
	assert_false(program->awake);
	program->maps.due_ns = 7;
	watched_wake(&watched, program);
	assert_true(program->awake);
	assert_true(watched.woken);
	assert_int_equal(program->maps.due_ns, 0);
	program->maps.due_ns = 7;
	watched_wake(&watched, program);
	assert_int_equal(program->maps.due_ns, 7);
	watched_deinit(&watched);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_process_stands_for_one_that_ended),
		cmocka_unit_test(exec_leaves_one_program_for_another),
		cmocka_unit_test(
			another_execution_knows_what_the_first_one_did),
		cmocka_unit_test(the_oldest_of_many_programs_is_forgotten),
		cmocka_unit_test(shared_memory_is_told_once),
		cmocka_unit_test(what_nobody_may_write_is_not_shared),
		cmocka_unit_test(a_new_writer_has_the_others_read_again),
		cmocka_unit_test(maps_are_read_when_something_is_mapped),
		cmocka_unit_test(processes_are_looked_at_at_the_same_time),
		cmocka_unit_test(a_program_is_woken_once),
	};

	globs_init(&rules.globs);
	return cmocka_run_group_tests_name("watched", tests, NULL, NULL);
}
