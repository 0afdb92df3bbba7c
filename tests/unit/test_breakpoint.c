/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Breakpoints in the text of a real, stopped process, byte by byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tracee.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/vec.h"
#include "sites.h"
#include "sys/backing.h"
#include "tracee/breakpoint.h"

enum { INT3 = 0xcc, PAGE = 4096, TEXT = 2 * PAGE, AGE_PAGES = 100 };

/* Stands for the text of a large program, all of it sampled in the past. */
/* AGE_PAGES of code that is never executed */
extern const uint8_t age_text[];
__asm__(".text\n"
	".p2align 12\n"
	"age_text: .fill 100 * 4096, 1, 0x90\n");

static unsigned int read_count, write_count;

/* In the place of the C library's: each look into another process. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *local,
			 unsigned long local_count, const struct iovec *remote,
			 unsigned long remote_count, unsigned long flags)
{
	read_count++;
	return syscall(SYS_process_vm_readv, pid, local, local_count, remote,
		       remote_count, flags);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
	read_count++;
	return syscall(SYS_pread64, fd, bytes, size, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	write_count++;
	return syscall(SYS_pwrite64, fd, bytes, size, offset);
}

struct fixture {
	uint32_t *ready;
	pid_t pid;
	struct addrspace *space;
	uint64_t text; /* of the sites: two pages */
};

static void body(void *arg)
{
	uint32_t *ready = arg;

	tracee_tell(ready, 1);
	tracee_await(ready, 2);
	if (fork() == 0)
		_exit(0);
	for (;;)
		pause();
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->ready = tracee_share(sizeof(*fixture->ready));
	fixture->pid = tracee_fork(body, fixture->ready);
	tracee_await(fixture->ready, 1);
	tracee_seize(fixture->pid);
	assert_ok(addrspace_create(fixture->pid, &fixture->space));
	fixture->text = (uintptr_t)site_write & ~(uint64_t)(PAGE - 1);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	addrspace_release(fixture->space);
	tracee_kill(fixture->pid);
	munmap(fixture->ready, sizeof(*fixture->ready));
	free(fixture);
	return 0;
}

static uint8_t byte_at(const struct memory *memory, uint64_t address)
{
	uint8_t byte;
	size_t size;

	assert_ok(memory_read(memory, address, &byte, 1, &size));
	return byte;
}

static void set_byte(const struct fixture *fixture, uint64_t address,
		     uint8_t byte)
{
	assert_ok(memory_write_text(&fixture->space->memory, 0, address, &byte,
				    1));
}

/* The text of the process is that of the test, but for int3 at these. */
static void assert_text(const struct fixture *fixture,
			const struct memory *memory, int count,
			const struct wire_site *const *armed)
{
	uint8_t expected[TEXT], bytes[TEXT];
	size_t size;

	memcpy(expected, (const void *)(uintptr_t)fixture->text, TEXT);
	for (int i = 0; i < count; i++)
		expected[armed[i]->address - fixture->text] = INT3;
	assert_ok(memory_read(memory, fixture->text, bytes, TEXT, &size));
	assert_int_equal(size, TEXT);
	assert_memory_equal(bytes, expected, TEXT);
}

static bool arm(const struct fixture *fixture, const struct wire_site *site)
{
	bool armed;

	assert_ok(breakpoint_arm(fixture->space, site, &armed));
	return armed;
}

static void a_breakpoint_is_one_byte_and_leaves_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct wire_site site = site_at(site_write, 7);
	const struct wire_site *armed[] = { &site };
	struct addrspace *space = fixture->space;
	struct breakpoint *breakpoint;

	assert_null(breakpoint_find(space, site.address));
	assert_true(arm(fixture, &site));
	assert_text(fixture, &space->memory, 1, armed);
	breakpoint = breakpoint_find(space, site.address);
	assert_non_null(breakpoint);
	assert_true(breakpoint->armed);
	assert_int_equal(breakpoint->site.id, 7);
	assert_int_equal(space->text->armed, 1);
	/* twice is once */
	assert_false(arm(fixture, &site));
	assert_int_equal(space->text->armed, 1);
	for (int i = 0; i < 2; i++) {
		assert_ok(breakpoint_lift(space, fixture->pid, breakpoint));
		assert_text(fixture, &space->memory, 0, NULL);
		assert_int_equal(space->text->armed, 0);
		assert_false(breakpoint->armed);
	}
	assert_ok(breakpoint_rearm(space, breakpoint));
	assert_text(fixture, &space->memory, 1, armed);
	assert_int_equal(space->text->armed, 1);
}

static void text_that_differs_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct wire_site site = site_at(site_write, 1);

	/* the last byte of the instruction is another */
	site.bytes[site.insn.length - 1] ^= 1;
	assert_false(arm(fixture, &site));
	assert_text(fixture, &fixture->space->memory, 0, NULL);
	site = site_at(site_write, 1);
	site.address = 4096;
	assert_false(arm(fixture, &site));
	assert_int_equal(fixture->space->text->armed, 0);
	/* nor at the program's own int3 */
	site = site_at(site_write, 1);
	set_byte(fixture, site.address, INT3);
	assert_false(arm(fixture, &site));
}

static void a_byte_that_is_no_longer_ours_is_not_written(void **state)
{
	struct fixture *fixture = *state;
	struct addrspace *space = fixture->space;
	struct wire_site site = site_at(site_write, 1);
	struct wire_site other = site_at(site_read, 2);

	/* the first byte, or another of the instruction, has changed */
	assert_true(arm(fixture, &site));
	assert_true(arm(fixture, &other));
	set_byte(fixture, site.address, 0x90);
	set_byte(fixture, other.address + 1, 0x90);
	assert_ok(breakpoint_lift(space, 0,
				  breakpoint_find(space, site.address)));
	assert_ok(breakpoint_lift(space, 0,
				  breakpoint_find(space, other.address)));
	assert_int_equal(byte_at(&space->memory, site.address), 0x90);
	assert_int_equal(byte_at(&space->memory, other.address), INT3);
	assert_int_equal(space->text->armed, 0);
}

static void without_the_file_a_stopped_thread_helps_to_lift(void **state)
{
	struct fixture *fixture = *state;
	struct wire_site site = site_at(site_write, 1);
	struct breakpoint *breakpoint;
	struct error *err;

	assert_true(arm(fixture, &site));
	breakpoint = breakpoint_find(fixture->space, site.address);
	memory_close_file(&fixture->space->memory);
	err = breakpoint_lift(fixture->space, 0, breakpoint);
	assert_non_null(err);
	error_free(err);
	assert_true(breakpoint->armed);
	assert_ok(breakpoint_lift(fixture->space, fixture->pid, breakpoint));
	assert_false(breakpoint->armed);
	assert_text(fixture, &fixture->space->memory, 0, NULL);
}

static void overlapping_instructions_are_not_armed_together(void **state)
{
	struct fixture *fixture = *state;
	struct wire_site whole = site_at(site_add, 1);
	struct wire_site late = site_at(site_add_late, 2);
	const struct wire_site *armed[] = { &late };

	assert_int_equal(whole.address + whole.insn.length,
			 late.address + late.insn.length);
	assert_true(arm(fixture, &whole));
	assert_false(arm(fixture, &late));
	assert_ok(breakpoint_lift(fixture->space, 0,
				  breakpoint_find(fixture->space,
						  whole.address)));
	assert_true(arm(fixture, &late));
	assert_false(arm(fixture, &whole));
	assert_text(fixture, &fixture->space->memory, 1, armed);
}

static void a_range_is_lifted_page_by_page(void **state)
{
	struct fixture *fixture = *state;
	struct addrspace *space = fixture->space;
	struct wire_site sites[] = { site_at(site_write, 1),
				     site_at(site_read, 2),
				     site_at(site_add, 3),
				     site_at(site_far, 4) };
	const struct wire_site *last[] = { &sites[3] };
	struct vec ids = VEC_INIT(uint64_t);
	uint64_t sum = 0;

	for (int i = 0; i < 4; i++)
		assert_true(arm(fixture, &sites[i]));
	/* the end is not included, nor what is beyond it */
	assert_ok(breakpoint_lift_range(space, 0, fixture->text,
					sites[3].address, SIZE_MAX, &ids));
	assert_int_equal(space->text->armed, 1);
	assert_text(fixture, &space->memory, 1, last);
	assert_int_equal(ids.count, 3);
	for (size_t i = 0; i < ids.count; i++)
		sum += *(uint64_t *)vec_at(&ids, i);
	assert_int_equal(sum, 1 + 2 + 3);
	vec_clear(&ids);
	for (int i = 0; i < 3; i++)
		assert_true(arm(fixture, &sites[i]));
	/* some of them, then the rest */
	assert_ok(breakpoint_lift_range(space, 0, 0, UINT64_MAX, 3, &ids));
	assert_int_equal(ids.count, 3);
	assert_int_equal(space->text->armed, 1);
	assert_ok(breakpoint_lift_range(space, 0, 0, UINT64_MAX, 3, &ids));
	assert_int_equal(ids.count, 4);
	assert_int_equal(space->text->armed, 0);
	assert_text(fixture, &space->memory, 0, NULL);
	vec_deinit(&ids);
}

/* The sum of sites that are in turn left armed by partial lifts. */
static void partial_lifts_take_turns(void **state)
{
	struct fixture *fixture = *state;
	struct addrspace *space = fixture->space;
	struct wire_site sites[] = { site_at(site_write, 0),
				     site_at(site_read, 1),
				     site_at(site_add, 2) };
	int lifted[3] = { 0 };

	for (int turn = 0; turn < 30; turn++) {
		struct vec ids = VEC_INIT(uint64_t);

		for (int i = 0; i < 3; i++)
			arm(fixture, &sites[i]);
		assert_ok(breakpoint_lift_range(space, 0, 0, UINT64_MAX, 1,
						&ids));
		assert_int_equal(ids.count, 1);
		lifted[*(uint64_t *)vec_at(&ids, 0)]++;
		vec_deinit(&ids);
	}
	for (int i = 0; i < 3; i++)
		assert_true(lifted[i] >= 5);
}

static void what_cannot_be_lifted_does_not_keep_the_rest(void **state)
{
	struct fixture *fixture = *state;
	struct addrspace *space = fixture->space;
	struct wire_site site = site_at(site_far, 4);
	struct wire_site unmapped = site_at(site_write, 1);
	struct breakpoint *breakpoint;
	struct error *err;

	assert_true(arm(fixture, &unmapped));
	assert_true(arm(fixture, &site));
	/* as if the page with the first had been unmapped */
	breakpoint = breakpoint_find(space, unmapped.address);
	set_byte(fixture, unmapped.address, unmapped.bytes[0]);
	breakpoint->site.address = 4096;
	err = breakpoint_lift_range(space, 0, 0, UINT64_MAX, SIZE_MAX, NULL);
	/* text that has gone is no text to restore */
	assert_null(err);
	assert_int_equal(space->text->armed, 0);
	assert_text(fixture, &space->memory, 0, NULL);
	breakpoint->site.address = unmapped.address;
}

/* Armed now, or armed once and lifted after the copy was made. */
static void a_copy_of_the_memory_is_cleaned(void **state)
{
	struct fixture *fixture = *state;
	struct addrspace *space = fixture->space;
	struct wire_site sites[] = { site_at(site_write, 1),
				     site_at(site_read, 2),
				     site_at(site_far, 4) };
	const struct wire_site *all[] = { &sites[0], &sites[1], &sites[2] };
	struct memory copy;
	unsigned long child;

	for (int i = 0; i < 3; i++)
		assert_true(arm(fixture, &sites[i]));
	tracee_tell(fixture->ready, 2);
	assert_ok(trace_continue(fixture->pid, 0));
	assert_int_equal(tracee_wait(fixture->pid).kind, STOP_FORK);
	assert_ok(trace_event_message(fixture->pid, &child));
	assert_int_equal(tracee_wait((pid_t)child).kind, STOP_INTERRUPTED);
	memory_init(&copy, (pid_t)child);
	assert_text(fixture, &copy, 3, all);
	assert_ok(breakpoint_lift(space, 0,
				  breakpoint_find(space, sites[1].address)));
	assert_ok(breakpoint_clean_copy(space, &copy, (pid_t)child, 0));
	assert_text(fixture, &copy, 0, NULL);
	/* the original keeps its own */
	assert_int_equal(byte_at(&space->memory, sites[0].address), INT3);
	assert_int_equal(byte_at(&space->memory, sites[2].address), INT3);
	assert_int_equal(space->text->armed, 2);
	memory_deinit(&copy);
	tracee_kill((pid_t)child);
}

/* No file of its process can be opened: what it holds is not known. */
static void a_copy_that_cannot_be_read_is_not_clean(void **state)
{
	struct fixture *fixture = *state;
	struct wire_site site = site_at(site_write, 1);
	struct rlimit before, none;
	struct memory copy;
	struct error *err;

	assert_true(arm(fixture, &site));
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	memory_init(&copy, fixture->pid);
	err = breakpoint_clean_copy(fixture->space, &copy, fixture->pid, 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_non_null(err);
	error_free(err);
	assert_int_equal(byte_at(&fixture->space->memory, site.address), INT3);
	memory_reopen(&copy, fixture->pid);
	assert_ok(
		breakpoint_clean_copy(fixture->space, &copy, fixture->pid, 0));
	assert_text(fixture, &copy, 0, NULL);
	memory_deinit(&copy);
}

/* Ten thousand breakpoints, armed and lifted in the past. */
static void grow_old(const struct fixture *fixture)
{
	struct addrspace *space = fixture->space;

	for (size_t i = 0; i < 100 * AGE_PAGES; i++) {
		const struct wire_site site = {
			.address = (uintptr_t)age_text + i * (PAGE / 100),
			.insn.length = 1,
			.bytes = { 0x90 },
		};

		assert_true(arm(fixture, &site));
		assert_ok(breakpoint_lift(
			space, 0, breakpoint_find(space, site.address)));
	}
}

static unsigned long fork_child(const struct fixture *fixture)
{
	unsigned long child;

	tracee_tell(fixture->ready, 2);
	assert_ok(trace_continue(fixture->pid, 0));
	assert_int_equal(tracee_wait(fixture->pid).kind, STOP_FORK);
	assert_ok(trace_event_message(fixture->pid, &child));
	assert_int_equal(tracee_wait((pid_t)child).kind, STOP_INTERRUPTED);
	return child;
}

/*
 * What a fork costs does not grow with the age of an attachment: only what is
 * armed, or was lifted since the copy may have been made, is looked for.
 */
static void the_past_costs_a_fork_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct addrspace *space = fixture->space, *child_space;
	struct wire_site sites[] = { site_at(site_write, 1),
				     site_at(site_far, 2),
				     site_at(site_read, 3) };
	const struct wire_site *armed[] = { &sites[0] };
	unsigned long child;
	uint64_t since_ns;

	grow_old(fixture);
	since_ns = clock_now_ns();
	for (int i = 0; i < 2; i++)
		assert_true(arm(fixture, &sites[i]));
	child = fork_child(fixture);
	assert_ok(breakpoint_lift(space, 0,
				  breakpoint_find(space, sites[1].address)));
	read_count = write_count = 0;
	assert_ok(addrspace_fork(space, (pid_t)child, since_ns, &child_space));
	/*
	 * two pages to be cleaned, one to be set, with a look at what is in
	 * memory before each; one look at the file
	 */
	assert_in_range(read_count, 1, 8);
	assert_in_range(write_count, 1, 3);
	assert_text(fixture, &child_space->memory, 1, armed);
	/* not known when the copy was made, all are looked for */
	read_count = 0;
	assert_ok(breakpoint_clean_copy(space, &child_space->memory,
					(pid_t)child, 0));
	/* with a look at what is in memory before each */
	assert_in_range(read_count, AGE_PAGES, 2 * (AGE_PAGES + 3));
	assert_text(fixture, &child_space->memory, 0, NULL);
	addrspace_release(child_space);
	tracee_kill((pid_t)child);
}

/*
 * The child's copy of the text is of another moment than what is armed when it
 * is seen first.
 */
static void a_followed_child_is_brought_into_line(void **state)
{
	struct fixture *fixture = *state;
	struct addrspace *space = fixture->space, *child_space;
	struct wire_site sites[] = { site_at(site_write, 1),
				     site_at(site_read, 2),
				     site_at(site_far, 4),
				     site_at(site_add, 3) };
	const struct wire_site *then[] = { &sites[0], &sites[1] };
	const struct wire_site *now[] = { &sites[1], &sites[2] };
	struct breakpoint *gone;
	unsigned long child;

	assert_true(arm(fixture, &sites[0]));
	assert_true(arm(fixture, &sites[1]));
	tracee_tell(fixture->ready, 2);
	assert_ok(trace_continue(fixture->pid, 0));
	assert_int_equal(tracee_wait(fixture->pid).kind, STOP_FORK);
	assert_ok(trace_event_message(fixture->pid, &child));
	assert_int_equal(tracee_wait((pid_t)child).kind, STOP_INTERRUPTED);
	assert_text(fixture, &space->memory, 2, then);
	assert_ok(breakpoint_lift(space, 0,
				  breakpoint_find(space, sites[0].address)));
	assert_true(arm(fixture, &sites[2]));
	/* of text that is not there any more, which nobody has told us */
	assert_true(arm(fixture, &sites[3]));
	gone = breakpoint_find(space, sites[3].address);
	gone->site.address = PAGE;

	assert_ok(addrspace_fork(space, (pid_t)child, 0, &child_space));
	gone->site.address = sites[3].address;
	assert_ok(breakpoint_lift(space, 0, gone));
	assert_ptr_equal(child_space->text, space->text);
	assert_text(fixture, &child_space->memory, 2, now);
	/* from now on in both at once */
	assert_ok(breakpoint_lift(child_space, 0,
				  breakpoint_find(space, sites[1].address)));
	assert_text(fixture, &space->memory, 1, now + 1);
	assert_text(fixture, &child_space->memory, 1, now + 1);
	assert_true(arm(fixture, &sites[0]));
	assert_int_equal(byte_at(&child_space->memory, sites[0].address), INT3);
	/* one that has ended does not keep the other */
	tracee_kill((pid_t)child);
	assert_ok(
		breakpoint_lift_range(space, 0, 0, UINT64_MAX, SIZE_MAX, NULL));
	assert_text(fixture, &space->memory, 0, NULL);
	addrspace_release(child_space);
	assert_int_equal(space->text->spaces.count, 1);
}

enum { MANY = BREAKPOINT_SPACES + 4 };

/* In how many of the spaces is the site's int3? */
static size_t spaces_with(struct addrspace *const *spaces,
			  const struct wire_site *site)
{
	size_t count = 0;

	for (size_t i = 0; i < MANY; i++)
		count += byte_at(&spaces[i]->memory, site->address) == INT3;
	return count;
}

/* With a look at what is in memory before each, where the kernel is older. */
static unsigned int reads_of(const struct addrspace *space)
{
	return backing_is_quick(space->memory.backing) ? 1 : 2;
}

/*
 * Of many processes some have each breakpoint, so that it costs no more than in
 * a few; what was asked for is in all.
 */
static void of_many_spaces_some_have_a_drawn_breakpoint(void **state)
{
	struct fixture *fixture = *state;
	struct addrspace *space = fixture->space, *spaces[MANY] = { space };
	struct wire_site drawn = site_at(site_write, 1),
			 other = site_at(site_read, 2),
			 aimed = site_at(site_write, 3 | WIRE_AIMED);
	struct breakpoint *breakpoint;
	pid_t pids[MANY];
	size_t met = 0;

	for (size_t i = 1; i < MANY; i++) {
		pids[i] = tracee_fork(body, fixture->ready);
		assert_ok(addrspace_join(space, pids[i], &spaces[i]));
	}
	assert_true(arm(fixture, &drawn));
	assert_true(arm(fixture, &other));
	assert_int_equal(spaces_with(spaces, &drawn), BREAKPOINT_SPACES);
	assert_int_equal(spaces_with(spaces, &other), BREAKPOINT_SPACES);
	for (size_t i = 0; i < MANY; i++)
		met += byte_at(&spaces[i]->memory, drawn.address) == INT3 ||
		       byte_at(&spaces[i]->memory, other.address) == INT3;
	assert_int_equal(met, 2 * BREAKPOINT_SPACES);
	read_count = write_count = 0;
	breakpoint = breakpoint_find(space, other.address);
	assert_ok(breakpoint_lift(space, 0, breakpoint));
	assert_int_equal(write_count, BREAKPOINT_SPACES);
	assert_int_equal(read_count, BREAKPOINT_SPACES * reads_of(space));
	assert_int_equal(spaces_with(spaces, &other), 0);
	/* the user asks for it: it is spread */
	breakpoint = breakpoint_find(space, drawn.address);
	breakpoint_replace(space, breakpoint, &aimed);
	assert_int_equal(spaces_with(spaces, &aimed), MANY);
	assert_ok(breakpoint_lift(space, 0, breakpoint));
	assert_int_equal(spaces_with(spaces, &aimed), 0);
	/* spaces come and go while it is set */
	assert_true(arm(fixture, &other));
	addrspace_release(spaces[1]);
	assert_ok(addrspace_join(space, pids[1], &spaces[1]));
	assert_ok(
		breakpoint_lift_range(space, 0, 0, UINT64_MAX, SIZE_MAX, NULL));
	assert_int_equal(spaces_with(spaces, &other), 0);
	for (size_t i = 1; i < MANY; i++) {
		addrspace_release(spaces[i]);
		tracee_kill(pids[i]);
	}
}

/* Other text at the site. */
static void spoil(const struct addrspace *space, const struct wire_site *site)
{
	static const uint8_t nop = 0x90;

	assert_ok(memory_write_text(&space->memory, 0, site->address, &nop, 1));
}

/* Processes that hardly run get one drawn breakpoint in BREAKPOINT_QUIET. */
static void processes_at_work_have_most_breakpoints(void **state)
{
	struct fixture *fixture = *state;
	struct addrspace *spaces[MANY] = { fixture->space };
	struct wire_site drawn = site_at(site_write, 1);
	struct breakpoint *breakpoint;
	size_t met[MANY] = { 0 };
	pid_t pids[MANY];

	for (size_t i = 1; i < MANY; i++) {
		pids[i] = tracee_fork(body, fixture->ready);
		assert_ok(addrspace_join(spaces[0], pids[i], &spaces[i]));
	}
	for (size_t i = 0; i < MANY; i++)
		spaces[i]->quiet = i != 1 && i != MANY - 1;
	for (size_t n = 0; n < MANY * BREAKPOINT_QUIET; n++) {
		assert_true(arm(fixture, &drawn));
		assert_int_equal(spaces_with(spaces, &drawn), 2);
		for (size_t i = 0; i < MANY; i++)
			met[i] += byte_at(&spaces[i]->memory, drawn.address) ==
				  INT3;
		/* it is looked for where it may be, and nowhere else */
		write_count = read_count = 0;
		breakpoint = breakpoint_find(spaces[0], drawn.address);
		assert_ok(breakpoint_lift(spaces[0], 0, breakpoint));
		assert_int_equal(write_count, 2);
		assert_int_equal(read_count, 2 * reads_of(spaces[0]));
		assert_int_equal(spaces_with(spaces, &drawn), 0);
	}
	for (size_t i = 0; i < MANY; i++) {
		if (spaces[i]->quiet)
			assert_in_range(met[i], 1, 4);
		else
			assert_in_range(met[i], MANY * (BREAKPOINT_QUIET - 1),
					SIZE_MAX);
	}
	/* where nobody is at work, all are alike */
	for (size_t i = 0; i < MANY; i++)
		spaces[i]->quiet = true;
	assert_true(arm(fixture, &drawn));
	assert_int_equal(spaces_with(spaces, &drawn), 2);
	assert_ok(breakpoint_lift(spaces[0], 0,
				  breakpoint_find(spaces[0], drawn.address)));
	/* and where the others have other text there, it is set in those */
	spaces[1]->quiet = spaces[MANY - 1]->quiet = false;
	spoil(spaces[1], &drawn);
	spoil(spaces[MANY - 1], &drawn);
	for (size_t n = 0; n < BREAKPOINT_QUIET; n++) {
		assert_true(arm(fixture, &drawn));
		assert_int_equal(spaces_with(spaces, &drawn), 2);
		breakpoint = breakpoint_find(spaces[0], drawn.address);
		assert_ok(breakpoint_lift(spaces[0], 0, breakpoint));
	}
	for (size_t i = 1; i < MANY; i++) {
		addrspace_release(spaces[i]);
		tracee_kill(pids[i]);
	}
}

/* A fork child of any of them would have both, one in the other. */
static void nor_in_different_spaces(void **state)
{
	struct fixture *fixture = *state;
	struct addrspace *space = fixture->space, *spaces[MANY] = { space };
	struct wire_site whole = site_at(site_add, 1);
	struct wire_site late = site_at(site_add_late, 2);
	pid_t pids[MANY];

	for (size_t i = 1; i < MANY; i++) {
		pids[i] = tracee_fork(body, fixture->ready);
		assert_ok(addrspace_join(space, pids[i], &spaces[i]));
	}
	assert_true(arm(fixture, &late));
	assert_int_equal(spaces_with(spaces, &late), BREAKPOINT_SPACES);
	assert_false(arm(fixture, &whole));
	assert_int_equal(spaces_with(spaces, &whole), 0);
	for (size_t i = 1; i < MANY; i++) {
		addrspace_release(spaces[i]);
		tracee_kill(pids[i]);
	}
}

static void a_forgotten_range_is_unknown_and_not_written(void **state)
{
	struct fixture *fixture = *state;
	struct addrspace *space = fixture->space;
	struct wire_site sites[] = { site_at(site_write, 1),
				     site_at(site_read, 2),
				     site_at(site_add, 3),
				     site_at(site_far, 4) };
	const struct wire_site *all[] = { &sites[0], &sites[1], &sites[2],
					  &sites[3] };

	for (int i = 0; i < 4; i++)
		assert_true(arm(fixture, &sites[i]));
	/* it was not lifted: it is not forgotten */
	breakpoint_forget_range(space, 0, UINT64_MAX);
	assert_int_equal(space->text->armed, 4);
	assert_int_equal(breakpoint_count_left(space), 4);
	assert_text(fixture, &space->memory, 4, all);
	/* as if something else were mapped there now */
	spoil(space, &sites[0]);
	spoil(space, &sites[1]);
	breakpoint_forget_range(space, sites[0].address, sites[2].address);
	assert_int_equal(space->text->armed, 2);
	assert_int_equal(breakpoint_count_left(space), 2);
	assert_null(breakpoint_find(space, sites[0].address));
	assert_null(breakpoint_find(space, sites[1].address));
	for (int i = 2; i < 4; i++)
		assert_int_equal(
			breakpoint_find(space, sites[i].address)->site.id,
			sites[i].id);
	spoil(space, &sites[2]);
	spoil(space, &sites[3]);
	breakpoint_forget_range(space, 0, UINT64_MAX);
	assert_int_equal(space->text->armed, 0);
	assert_int_equal(breakpoint_count_left(space), 0);
	assert_int_equal(space->text->breakpoints.count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_breakpoint_is_one_byte_and_leaves_nothing),
		TEST(text_that_differs_is_refused),
		TEST(a_byte_that_is_no_longer_ours_is_not_written),
		TEST(without_the_file_a_stopped_thread_helps_to_lift),
		TEST(overlapping_instructions_are_not_armed_together),
		TEST(a_range_is_lifted_page_by_page),
		TEST(partial_lifts_take_turns),
		TEST(what_cannot_be_lifted_does_not_keep_the_rest),
		TEST(a_copy_of_the_memory_is_cleaned),
		TEST(a_copy_that_cannot_be_read_is_not_clean),
		TEST(the_past_costs_a_fork_nothing),
		TEST(a_followed_child_is_brought_into_line),
		TEST(of_many_spaces_some_have_a_drawn_breakpoint),
		TEST(processes_at_work_have_most_breakpoints),
		TEST(nor_in_different_spaces),
		TEST(a_forgotten_range_is_unknown_and_not_written),
	};

	return cmocka_run_group_tests_name("breakpoint", tests, NULL, NULL);
}
