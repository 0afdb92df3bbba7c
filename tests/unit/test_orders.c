/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Both orders of a race, in the virtual processor: what they lead to, and that
 * the program does not notice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "replay-pair.h"

#include <dirent.h>
#include <malloc.h>

enum { PAGE = 4096 };

/* What the two threads share: a page of its own, of the program and of ours. */
static struct {
	uint32_t counter, flag, out, bits;
	uint32_t *pointer;
	char text[200], copy[200];
} data __attribute__((aligned(PAGE)));

/* The other threads' words of the other page that is written. */
static struct {
	void *next;
	uint8_t rest[PAGE - sizeof(void *)];
} far_away[4] __attribute__((aligned(PAGE)));

PAIR_REGION(region_counter, "mov (%rdi), %eax\n"
			    "inc %eax\n"
			    "mov %eax, (%rdi)\n"
			    "ret");
PAIR_REGION(region_one_add, "incl (%rdi)\n"
			    "ret");
PAIR_REGION(region_publish, "movl $7, 8(%rdi)\n"
			    "movl $1, 4(%rdi)\n"
			    "ret");
PAIR_REGION(region_consume, "cmpl $1, 4(%rdi)\n"
			    "jne 1f\n"
			    "movl $9, (%rdi)\n"
			    "1: ret");
PAIR_REGION(region_low_bit, "orl $1, 12(%rdi)\n"
			    "ret");
PAIR_REGION(region_high_bit, "orl $0x80000000, 12(%rdi)\n"
			     "ret");
PAIR_REGION(region_clear, "movq $0, 16(%rdi)\n"
			  "ret");
PAIR_REGION(region_follow, "mov 16(%rdi), %rax\n"
			   "movl $3, (%rax)\n"
			   "ret");
/* 9 is written to the stack: what is below rsp is dead afterwards */
PAIR_REGION(region_use_stack, "mov 4(%rdi), %eax\n"
			      "push %rax\n"
			      "mov %eax, -64(%rsp)\n"
			      "mov %eax, -6000(%rsp)\n"
			      "pop %rax\n"
			      "ret");
PAIR_REGION(region_set_flag, "movl $5, 4(%rdi)\n"
			     "ret");
PAIR_REGION(region_call, "call called_region\n"
			 "ret");
PAIR_REGION(region_get_pid, "mov $39, %eax\n"
			    "syscall\n"
			    "movl $1, (%rdi)\n"
			    "ret");
/* a page that no register leads to: by a pointer in the memory of another */
PAIR_REGION(region_chase, "mov (%rdi), %rax\n"
			  "incl 8(%rax)\n"
			  "mov (%rax), %rax\n"
			  "mov (%rax), %rax\n"
			  "incl 8(%rax)\n"
			  "ret");

void called_region(void *arg);
void called_region(void *arg)
{
	(void)arg;
	/* of libc, by the vectors of this machine, and by lazy binding */
	strcpy(data.copy, data.text);
	data.out = (uint32_t)strlen(data.copy) +
		   (uint32_t)(strchr(data.copy, 'z') - data.copy);
}

static void assert_complete(const struct pair *pair)
{
	assert_string_equal(replay_stop_name(pair->ab.stop.kind), "returned");
	assert_string_equal(replay_stop_name(pair->ba.stop.kind), "returned");
	assert_true(pair->ab.complete);
	assert_true(pair->ba.complete);
}

static void an_order_that_matters_is_seen(void **state)
{
	struct pair *pair = *state;
	const struct liveout *liveout;

	pair_start(pair, region_publish, &data, region_consume, &data);
	pair_both(pair);
	assert_complete(pair);
	assert_int_equal(pair_word(pair, &pair->ab, &data.counter), 9);
	assert_int_equal(pair_word(pair, &pair->ba, &data.counter), 0);
	assert_int_equal(pair_word(pair, &pair->ba, &data.out), 7);
	assert_int_equal(pair->differing.count, 1);
	liveout = vec_at(&pair->differing, 0);
	assert_int_equal(liveout->address, (uintptr_t)&data.counter);
	assert_int_equal(liveout->size, 1);
	pair_stop(pair);
}

static void disjoint_bits_are_no_difference(void **state)
{
	struct pair *pair = *state;

	pair_start(pair, region_low_bit, &data, region_high_bit, &data);
	pair_both(pair);
	assert_complete(pair);
	assert_int_equal(pair_word(pair, &pair->ab, &data.bits), 0x80000001);
	assert_int_equal(pair_word(pair, &pair->ba, &data.bits), 0x80000001);
	assert_int_equal(pair->differing.count, 0);
	pair_stop(pair);
}

static void an_update_is_lost_between_load_and_store(void **state)
{
	static const struct replay_step inside[] = {
		{ 0, REPLAY_ACCESS },
		{ 1, REPLAY_REST },
		{ 0, REPLAY_REST },
	};
	struct pair *pair = *state;

	pair_start(pair, region_counter, &data, region_counter, &data);
	pair_both(pair);
	assert_complete(pair);
	/* whole, the regions commute */
	assert_int_equal(pair->differing.count, 0);
	assert_int_equal(pair_word(pair, &pair->ab, &data.counter), 2);
	assert_ok(orders_run(pair->processor, inside, 3, &pair->ba));
	assert_true(pair->ba.complete);
	assert_int_equal(pair_word(pair, &pair->ba, &data.counter), 1);
	assert_ok(liveout_compare(pair->processor, &pair->ab, &pair->ba,
				  &pair->differing));
	assert_int_equal(pair->differing.count, 1);
	/* the loaded value is in the context of the thread that was held */
	assert_int_equal(pair->ba.contexts[0].regs.gpr[X86_RAX], 1);
	pair_stop(pair);
}

static void a_fault_is_in_one_order_only(void **state)
{
	struct pair *pair = *state;

	data.pointer = &data.bits;
	pair_start(pair, region_clear, &data, region_follow, &data);
	data.pointer = NULL;
	pair_both(pair);
	assert_false(pair->ab.complete);
	assert_int_equal(pair->ab.stop.kind, REPLAY_SIGNAL);
	assert_int_equal(pair->ab.stop.signal, SIGSEGV);
	assert_true(pair->ab.stop.has_address);
	assert_int_equal(pair->ab.stop.address, 0);
	assert_int_equal(pair->ab.stopped, 1);
	assert_int_equal(pair->ab.contexts[1].regs.gpr[X86_RAX], 0);
	assert_true(pair->ba.complete);
	assert_int_equal(pair_word(pair, &pair->ba, &data.bits), 3);
	pair_stop(pair);
}

static void dead_stack_is_no_difference(void **state)
{
	struct pair *pair = *state;

	pair_start(pair, region_set_flag, &data, region_use_stack, &data);
	pair_both(pair);
	assert_complete(pair);
	assert_int_equal(pair->differing.count, 0);
	/* registers are the caller's to compare */
	assert_int_equal(pair->ab.contexts[1].regs.gpr[X86_RAX], 5);
	assert_int_equal(pair->ba.contexts[1].regs.gpr[X86_RAX], 0);
	pair_stop(pair);
}

static void string_functions_run_natively(void **state)
{
	struct pair *pair = *state;

	memset(data.text, 'x', 150);
	data.text[120] = 'z';
	pair_start(pair, region_call, &data, region_low_bit, &data);
	memset(data.text, 0, sizeof(data.text));
	pair_both(pair);
	assert_complete(pair);
	assert_int_equal(pair_word(pair, &pair->ab, &data.out), 150 + 120);
	assert_int_equal(pair_word(pair, &pair->ba, &data.out), 150 + 120);
	assert_int_equal(pair->differing.count, 0);
	pair_stop(pair);
}

static void a_system_call_ends_it(void **state)
{
	struct pair *pair = *state;

	pair_start(pair, region_get_pid, &data, region_low_bit, &data);
	pair_both(pair);
	assert_true(pair->ab.complete);
	assert_int_equal(pair->ab.ends[0].kind, REPLAY_SYSTEM_CALL);
	assert_int_equal(pair->ab.ends[0].number, SYS_getpid);
	assert_int_equal(pair->ab.ends[0].rip, pair->ab.contexts[0].regs.rip);
	assert_int_equal(pair->ab.ends[1].kind, REPLAY_RETURNED);
	/* it did not go on behind it, and the other one was run */
	assert_int_equal(pair_word(pair, &pair->ab, &data.counter), 0);
	assert_int_equal(pair_word(pair, &pair->ab, &data.bits), 1);
	/* not executed: there is no process id in rax */
	assert_true((int64_t)pair->ab.contexts[0].regs.gpr[X86_RAX] < 0);
	/* the other's region came before */
	assert_int_equal(pair_word(pair, &pair->ba, &data.bits), 1);
	pair_stop(pair);
}

static void pages_that_were_missed_are_learned_at_once(void **state)
{
	struct pair *pair = *state;
	struct replay_instance instance;

	for (int i = 0; i < 3; i++)
		far_away[i].next = &far_away[i + 1];
	pair_start(pair, region_chase, &far_away[0], region_low_bit, &data);
	instance = pair_instance(pair);
	pair_capture(pair, &instance);
	for (int i = 0; i < 2; i++) {
		assert_ok(orders_run(pair->processor, orders_ab,
				     ORDERS_WHOLE_STEPS, &pair->ab));
		assert_int_equal(pair->ab.stop.kind, REPLAY_LEARNING);
		assert_false(pair->ab.complete);
		assert_int_equal(pair->ab.stop.address,
				 (uintptr_t)&far_away[1] + 8);
	}
	assert_int_equal(pair->hints.count, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pair->hints.pages[i],
				 (uintptr_t)&far_away[i + 1]);
	pair_capture(pair, &instance);
	assert_ok(orders_run(pair->processor, orders_ab, ORDERS_WHOLE_STEPS,
			     &pair->ab));
	assert_true(pair->ab.complete);
	assert_int_equal(pair->hints.count, 3);
	assert_int_equal(pair_word(pair, &pair->ab, &far_away[3].rest[0]), 1);
	pair_stop(pair);
}

static void read_file(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	file = fopen(path, "r");
	assert_non_null(file);
	text[fread(text, 1, size - 1, file)] = 0;
	fclose(file);
}

static long minor_faults(pid_t pid)
{
	char text[1024];
	long faults = -1;

	read_file(pid, "stat", text, sizeof(text));
	/* the name, which is in parentheses, may have blanks */
	assert_int_equal(sscanf(strrchr(text, ')') + 1,
				" %*c %*d %*d %*d %*d %*d %*u %ld", &faults),
			 1);
	return faults;
}

static long resident_kilobytes(pid_t pid)
{
	static const char label[] = "RssAnon:";
	char text[4096];
	const char *found;

	read_file(pid, "status", text, sizeof(text));
	found = strstr(text, label);
	assert_non_null(found);
	return strtol(found + strlen(label), NULL, 10);
}

static int entries_of(pid_t pid, const char *name)
{
	char path[64];
	DIR *folder;
	int count = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	folder = opendir(path);
	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static int lines_of_maps(pid_t pid)
{
	char text[65536];
	int count = 0;

	read_file(pid, "maps", text, sizeof(text));
	for (const char *c = text; *c; c++)
		count += *c == '\n';
	return count;
}

enum { INSTANCES = 1500 };

static void many_instances_leave_nothing_behind(void **state)
{
	struct pair *pair = *state;
	pid_t scratch = scratch_pid(processor_scratch(pair->processor, 0));
	long resident = 0;
	int files = 0, maps = 0;
	size_t heap = 0;

	pair_start(pair, region_publish, &data, region_consume, &data);
	for (int i = 0; i < INSTANCES; i++) {
		pair_both(pair);
		assert_complete(pair);
		assert_int_equal(pair->differing.count, 1);
		if (i != 10)
			continue;
		files = entries_of(getpid(), "fd");
		maps = lines_of_maps(scratch);
		resident = resident_kilobytes(scratch);
		heap = mallinfo2().uordblks;
	}
	assert_int_equal(scratch_pid(processor_scratch(pair->processor, 0)),
			 scratch);
	assert_int_equal(entries_of(getpid(), "fd"), files);
	assert_int_equal(lines_of_maps(scratch), maps);
	assert_int_equal(entries_of(scratch, "task"), 3);
	/* page tables come and go: some pages more or less */
	assert_true(resident_kilobytes(scratch) <= resident + 256);
	assert_true(mallinfo2().uordblks <= heap + 65536);
	pair_stop(pair);
}

static void the_program_does_not_notice(void **state)
{
	struct pair *pair = *state;
	uint8_t before[sizeof(data)], after[sizeof(data)];
	long faults;
	size_t size;

	pair_start(pair, region_publish, &data, region_consume, &data);
	pair_both(pair);
	faults = minor_faults(pair->pid);
	assert_true(faults > 0);
	assert_ok(memory_read(&pair->memory, (uintptr_t)&data, before,
			      sizeof(before), &size));
	for (int i = 0; i < 100; i++)
		pair_both(pair);
	assert_int_equal(minor_faults(pair->pid), faults);
	assert_int_equal(entries_of(pair->pid, "task"), 2 + REPLAY_THREADS);
	assert_ok(memory_read(&pair->memory, (uintptr_t)&data, after,
			      sizeof(after), &size));
	assert_memory_equal(before, after, sizeof(before));
	pair_finish(pair);
}

/* Atomic instructions are not split: the update is not lost. */
static void an_instruction_is_whole(void **state)
{
	static const struct replay_step steps[] = {
		{ 0, REPLAY_ACCESS },
		{ 1, REPLAY_ACCESS },
		{ 0, REPLAY_REST },
		{ 1, REPLAY_REST },
	};
	struct pair *pair = *state;

	pair_start(pair, region_one_add, &data, region_one_add, &data);
	pair_run(pair, steps, 4, &pair->ab);
	assert_true(pair->ab.complete);
	assert_int_equal(pair_word(pair, &pair->ab, &data.counter), 2);
	pair_stop(pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(an_order_that_matters_is_seen),
		PAIR_TEST(disjoint_bits_are_no_difference),
		PAIR_TEST(an_update_is_lost_between_load_and_store),
		PAIR_TEST(a_fault_is_in_one_order_only),
		PAIR_TEST(dead_stack_is_no_difference),
		PAIR_TEST(string_functions_run_natively),
		PAIR_TEST(a_system_call_ends_it),
		PAIR_TEST(pages_that_were_missed_are_learned_at_once),
		PAIR_TEST(many_instances_leave_nothing_behind),
		PAIR_TEST(the_program_does_not_notice),
		PAIR_TEST(an_instruction_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
