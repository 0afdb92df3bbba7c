/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The virtual processor: what is captured, and what it takes from the program
 * later.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "replay-pair.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

enum { PAGE = 4096 };

static struct {
	uint32_t word;
	uint32_t *pointer;
} data __attribute__((aligned(PAGE)));

static const uint32_t constants[2 * PAGE / 4]
	__attribute__((aligned(PAGE))) = { [PAGE / 4] = 77 };

PAIR_REGION(region_add, "incl (%rdi)\n"
			"ret");
PAIR_REGION(region_follow, "mov 8(%rdi), %rax\n"
			   "mov (%rax), %eax\n"
			   "mov %eax, (%rdi)\n"
			   "ret");

PAIR_REGION(region_jump, "mov 8(%rdi), %rax\n"
			 "call *%rax\n"
			 "ret");

static const struct replay_step first[] = { { 0, REPLAY_REST } };

/* The first thread reads what data.pointer leads to. */
static void follow(struct pair *pair, const void *pointer)
{
	data.pointer = (uint32_t *)(uintptr_t)pointer;
	pair_start(pair, region_follow, &data, region_add, &data);
	data.pointer = NULL;
}

static void it_is_the_state_of_the_capture(void **state)
{
	struct pair *pair = *state;
	struct replay_instance instance;
	uint32_t later = 1000;

	pair_start(pair, region_add, &data, region_add, &data);
	instance = pair_instance(pair);
	pair_capture(pair, &instance);
	/* the program goes on, and others write */
	assert_ok(memory_write_text(&pair->memory, pair->pid, (uintptr_t)&data,
				    &later, sizeof(later)));
	for (int i = 0; i < 3; i++) {
		assert_ok(orders_run(pair->processor, orders_ab,
				     ORDERS_WHOLE_STEPS, &pair->ab));
		assert_int_equal(pair_word(pair, &pair->ab, &data.word), 2);
	}
	/* the next instance is of its own time */
	pair_capture(pair, &instance);
	assert_ok(orders_run(pair->processor, orders_ab, ORDERS_WHOLE_STEPS,
			     &pair->ab));
	assert_int_equal(pair_word(pair, &pair->ab, &data.word), 1002);
	pair_stop(pair);
}

static void pages_that_nobody_writes_are_read_late(void **state)
{
	struct pair *pair = *state;
	uint64_t page = (uintptr_t)&constants[PAGE / 4];

	follow(pair, &constants[PAGE / 4]);
	pair_run(pair, first, 1, &pair->ab);
	assert_true(pair->ab.complete);
	assert_int_equal(pair_word(pair, &pair->ab, &data.word), 77);
	assert_int_equal(pair->hints.count, 0);
	assert_non_null(
		pagecache_find(processor_pages(pair->processor, 0), page));
	pair_stop(pair);
}

static void shared_memory_is_read_and_not_written(void **state)
{
	struct pair *pair = *state;
	uint32_t *shared = tracee_share(PAGE);

	*shared = 41;
	pair_start(pair, region_add, shared, region_add, &data);
	pair_both(pair);
	assert_true(pair->ab.complete);
	assert_int_equal(pair_word(pair, &pair->ab, shared), 42);
	assert_int_equal(*shared, 41);
	pair_stop(pair);
	munmap(shared, PAGE);
}

static void memory_without_access_faults(void **state)
{
	struct pair *pair = *state;
	uint32_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* it has contents, which the tracer can read */
	*page = 5;
	mprotect(page, PAGE, PROT_NONE);
	follow(pair, page);
	pair_run(pair, first, 1, &pair->ab);
	assert_int_equal(pair->ab.stop.kind, REPLAY_SIGNAL);
	assert_int_equal(pair->ab.stop.signal, SIGSEGV);
	assert_int_equal(pair->ab.stop.address, (uintptr_t)page);
	assert_false(pair->ab.stop.executes);
	pair_stop(pair);
	munmap(page, PAGE);
}

/* Data that is there, and where nothing is. */
static void a_jump_to_what_is_no_code_faults_and_is_named(void **state)
{
	struct pair *pair = *state;
	void *const targets[] = { &data.word, NULL };

	for (int i = 0; i < 2; i++) {
		data.pointer = targets[i];
		pair_start(pair, region_jump, &data, region_add, &data);
		data.pointer = NULL;
		pair_run(pair, first, 1, &pair->ab);
		assert_int_equal(pair->ab.stop.kind, REPLAY_SIGNAL);
		assert_int_equal(pair->ab.stop.signal, SIGSEGV);
		assert_int_equal(pair->ab.stop.address, (uintptr_t)targets[i]);
		assert_true(pair->ab.stop.executes);
		pair_stop(pair);
	}
}

static void what_cannot_be_read_is_named(void **state)
{
	struct pair *pair = *state;
	char path[] = "/tmp/replay-XXXXXX";
	int fd = mkstemp(path);
	/* behind the end of its file */
	uint32_t *page = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);

	unlink(path);
	close(fd);
	follow(pair, page + PAGE / 4);
	pair_run(pair, first, 1, &pair->ab);
	assert_int_equal(pair->ab.stop.kind, REPLAY_UNFETCHABLE);
	assert_true(pair->ab.stop.has_address);
	assert_int_equal(pair->ab.stop.address, (uintptr_t)(page + PAGE / 4));
	pair_stop(pair);
	munmap(page, 2 * PAGE);
}

static void stops_before(struct pair *pair, const void *page, const char *name)
{
	follow(pair, page);
	pair_run(pair, first, 1, &pair->ab);
	assert_false(pair->ab.complete);
	assert_string_equal(replay_stop_name(pair->ab.stop.kind), name);
	assert_int_equal(pair->ab.stop.address, (uintptr_t)page);
	pair_stop(pair);
}

static void secret_memory_is_named(void **state)
{
	int fd = (int)syscall(SYS_memfd_secret, 0);
	uint32_t *page;

	if (fd < 0)
		skip(); /* secretmem.enable=0, or Linux before 5.14 */
	assert_int_equal(ftruncate(fd, PAGE), 0);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	*page = 5;
	close(fd);
	stops_before(*state, page, "memfd-secret");
	munmap(page, PAGE);
}

/* Registered by the process whose memory it is: fork(2) does not hand that down. */
static void serve_and_follow(void *arg)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { (uintptr_t)data.pointer, PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int faults =
		(int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (faults >= 0 && ioctl(faults, UFFDIO_API, &api) == 0)
		ioctl(faults, UFFDIO_REGISTER, &range);
	region_follow(arg);
}

static void memory_that_the_program_serves_is_named(void **state)
{
	struct pair *pair = *state;
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int allowed =
		(int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (allowed < 0)
		skip();
	close(allowed);
	data.pointer = page;
	pair_start(pair, serve_and_follow, &data, region_add, &data);
	pair_run(pair, first, 1, &pair->ab);
	assert_false(pair->ab.complete);
	assert_string_equal(replay_stop_name(pair->ab.stop.kind),
			    "userfaultfd");
	assert_int_equal(pair->ab.stop.address, (uintptr_t)page);
	pair_stop(pair);
	data.pointer = NULL;
	munmap(page, PAGE);
}

/* Where a clock's time is read without a system call. */
static void the_data_of_the_vdso_is_named(void **state)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start = 0;
	char line[256];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (strstr(line, "[vvar]"))
			start = strtoul(line, NULL, 16);
	}
	fclose(maps);
	assert_int_not_equal(start, 0);
	stops_before(*state, (void *)start, "vvar");
}

static void a_missed_page_is_in_the_next_capture(void **state)
{
	struct pair *pair = *state;
	uint32_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*page = 31;
	follow(pair, page);
	pair_run(pair, first, 1, &pair->ab);
	assert_true(pair->ab.complete);
	assert_int_equal(pair->hints.count, 1);
	assert_int_equal(pair->hints.pages[0], (uintptr_t)page);
	assert_int_equal(pair_word(pair, &pair->ab, &data.word), 31);
	pair_stop(pair);
	munmap(page, PAGE);
}

/* Far from where anything is mapped, and from the shadow of a sanitizer. */
static const void *const nowhere = (const void *)0x300000000000;

/*
 * A page that is not there now may have been unmapped since. A schedule that has
 * missed it does not tell the next one of the same instance anything.
 */
static void what_is_not_there_faults_only_if_it_was_asked_for(void **state)
{
	struct pair *pair = *state;
	struct replay_instance instance;

	follow(pair, nowhere);
	pair->ends_at_missed = true;
	instance = pair_instance(pair);
	pair_capture(pair, &instance);
	for (int i = 0; i < 2; i++) {
		assert_ok(orders_run(pair->processor, first, 1, &pair->ab));
		assert_int_equal(pair->ab.stop.kind, REPLAY_UNCAPTURED);
	}
	assert_true(replay_hints_have(&pair->hints, (uintptr_t)nowhere));
	pair_capture(pair, &instance);
	assert_ok(orders_run(pair->processor, first, 1, &pair->ab));
	assert_int_equal(pair->ab.stop.kind, REPLAY_SIGNAL);
	assert_int_equal(pair->ab.stop.signal, SIGSEGV);
	assert_int_equal(pair->ab.stop.address, (uintptr_t)nowhere);
	pair_stop(pair);
}

static void the_capture_says_what_was_not_there(void **state)
{
	struct pair *pair = *state;

	pair_start(pair, region_add, &data, region_add, &data);
	replay_hints_add(&pair->hints, (uintptr_t)nowhere);
	assert_ok(pair_take(pair));
	for (size_t i = 0; i < pair->capture->count; i++)
		assert_int_not_equal(pair->capture->addresses[i],
				     (uintptr_t)nowhere);
	assert_int_equal(pair->capture->absent[pair->capture->absent_count - 1],
			 (uintptr_t)nowhere);
	pair_stop(pair);
}

static void a_killed_scratch_process_is_replaced(void **state)
{
	struct pair *pair = *state;
	struct replay_instance instance;
	struct error *err;

	pair_start(pair, region_add, &data, region_add, &data);
	instance = pair_instance(pair);
	pair_run(pair, first, 1, &pair->ab);
	kill(scratch_pid(processor_scratch(pair->processor, 0)), SIGKILL);
	err = orders_run(pair->processor, first, 1, &pair->ab);
	assert_non_null(err);
	assert_ptr_not_equal(err, error_gone);
	error_free(err);
	assert_null(processor_scratch(pair->processor, 0));
	/* what was captured is lost with it */
	err = orders_run(pair->processor, first, 1, &pair->ab);
	assert_non_null(err);
	error_free(err);
	pair_capture(pair, &instance);
	assert_ok(orders_run(pair->processor, first, 1, &pair->ab));
	assert_true(pair->ab.complete);
	pair_stop(pair);
}

static void of_a_dead_program_nothing_is_captured(void **state)
{
	struct pair *pair = *state;

	pair_start(pair, region_add, &data, region_add, &data);
	assert_ok(pair_take(pair));
	kill(pair->pid, SIGKILL);
	tracee_wait((pid_t)pair->shared->tids[1]);
	assert_ptr_equal(pair_take(pair), error_gone);
	waitpid(pair->pid, NULL, __WALL);
	memory_deinit(&pair->memory);
	mappings_deinit(&pair->mappings);
	munmap(pair->shared, sizeof(*pair->shared));
}

/* The threads have gone on: only the capture has what they were. */
static void it_needs_no_threads_once_it_is_captured(void **state)
{
	struct pair *pair = *state;
	struct replay_instance instance;

	data.word = 0;
	pair_start(pair, region_add, &data, region_add, &data);
	instance = pair_instance(pair);
	assert_ok(pair_take(pair));
	pair_go_on(pair);
	assert_ok(processor_load(pair->processor, pair->capture, &instance));
	assert_ok(orders_run(pair->processor, orders_ab, ORDERS_WHOLE_STEPS,
			     &pair->ab));
	assert_true(pair->ab.complete);
	assert_int_equal(pair_word(pair, &pair->ab, &data.word), 2);
	pair_end(pair);
}

static void a_stack_that_cannot_be_read_is_refused(void **state)
{
	struct pair *pair = *state;
	struct replay_instance instance;
	struct error *err;

	pair_start(pair, region_add, &data, region_add, &data);
	instance = pair_instance(pair);
	instance.threads[1].return_slot = 0x18;
	assert_ok(pair_take(pair));
	err = processor_load(pair->processor, pair->capture, &instance);
	assert_non_null(err);
	assert_non_null(strstr(error_message(err), "stack"));
	error_free(err);
	pair_stop(pair);
}

/* Its frame is larger than what is likely: the next capture has the page. */
static void a_return_address_that_was_not_captured_is_learned(void **state)
{
	struct pair *pair = *state;
	struct replay_instance instance;
	uint64_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	page[1] = (uintptr_t)region_add;
	pair_start(pair, region_add, &data, region_add, &data);
	instance = pair_instance(pair);
	instance.threads[1].return_slot = (uintptr_t)&page[1];
	pair_capture(pair, &instance);
	assert_ok(orders_run(pair->processor, first, 1, &pair->ab));
	assert_int_equal(pair->ab.stop.kind, REPLAY_LEARNING);
	assert_int_equal(pair->hints.count, 1);
	pair_capture(pair, &instance);
	assert_ok(orders_run(pair->processor, first, 1, &pair->ab));
	assert_true(pair->ab.complete);
	pair_stop(pair);
	munmap(page, PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(it_is_the_state_of_the_capture),
		PAIR_TEST(pages_that_nobody_writes_are_read_late),
		PAIR_TEST(shared_memory_is_read_and_not_written),
		PAIR_TEST(memory_without_access_faults),
		PAIR_TEST(a_jump_to_what_is_no_code_faults_and_is_named),
		PAIR_TEST(what_cannot_be_read_is_named),
		PAIR_TEST(secret_memory_is_named),
		PAIR_TEST(memory_that_the_program_serves_is_named),
		PAIR_TEST(the_data_of_the_vdso_is_named),
		PAIR_TEST(a_missed_page_is_in_the_next_capture),
		PAIR_TEST(what_is_not_there_faults_only_if_it_was_asked_for),
		PAIR_TEST(the_capture_says_what_was_not_there),
		PAIR_TEST(a_killed_scratch_process_is_replaced),
		PAIR_TEST(of_a_dead_program_nothing_is_captured),
		PAIR_TEST(it_needs_no_threads_once_it_is_captured),
		PAIR_TEST(a_stack_that_cannot_be_read_is_refused),
		PAIR_TEST(a_return_address_that_was_not_captured_is_learned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
