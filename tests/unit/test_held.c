/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/tracee/held.c: the locks of this thread, and the heap block of the raced bytes,
 * as if it stood where the test says.
 */
#include "tracee/held.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "sys/mapping.h"
#include "tracee/addrspace.h"
#include "tracee/process.h"
#include "tracee/thread.h"

enum { PAGE = 4096, STACK = 256 };

static const uint64_t ms = CLOCK_NS_PER_MS;

/* Memory far from all that the test itself uses. */
struct world {
	struct program_text text;
	struct addrspace space;
	struct process process;
	struct thread thread;
	struct held held;
	uint64_t stack[STACK]; /* what is copied of it; its pointer is below */
	uint8_t machine[WIRE_WINDOW];
	struct wire_side side;
	uint8_t *pages; /* PAGES of them */
};

enum { PAGES = 16 };

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	world->text.code = (struct vec)VEC_INIT(struct mapping);
	world->space.text = &world->text;
	memory_init(&world->space.memory, getpid());
	world->process.pid = getpid();
	world->process.space = &world->space;
	world->thread.process = &world->process;
	world->thread.tid = gettid();
	world->pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(world->pages, MAP_FAILED);
	world->side.stack_address = (uintptr_t)world->stack;
	world->side.stack_size = sizeof(world->stack);
	world->side.regs.gpr[X86_RSP] = (uintptr_t)world->stack;
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	memory_deinit(&world->space.memory);
	vec_deinit(&world->text.code);
	held_deinit(&world->held);
	munmap(world->pages, PAGES * PAGE);
	free(world);
	return 0;
}

/* A mutex in the pages that this thread holds. */
static pthread_mutex_t *lock_at(struct world *world, size_t offset)
{
	pthread_mutex_t *mutex = (void *)(world->pages + offset);

	pthread_mutex_init(mutex, NULL);
	pthread_mutex_lock(mutex);
	return mutex;
}

static void look(struct world *world, uint64_t address)
{
	world->side.locks = (struct wire_locks){ .looked = false };
	held_look(&world->held, &world->thread, address, &world->side,
		  (const uint8_t *)world->stack, world->machine);
	assert_true(world->side.locks.looked);
}

static void assert_finds(struct world *world, const void *lock)
{
	look(world, 0);
	assert_int_equal(world->side.locks.count, 1);
	assert_int_equal(world->side.locks.locks[0].address, (uintptr_t)lock);
}

static void assert_finds_none(struct world *world)
{
	look(world, 0);
	assert_int_equal(world->side.locks.count, 0);
}

static void a_lock_that_a_register_leads_to_is_found(void **state)
{
	struct world *world = *state;
	pthread_mutex_t *mutex = lock_at(world, 3 * PAGE + 96);
	uint64_t *rdi = &world->side.regs.gpr[X86_RDI];

	assert_finds_none(world);
	*rdi = (uintptr_t)mutex;
	assert_finds(world, mutex);
	assert_int_equal(world->side.locks.locks[0].kind, WIRE_LOCK_MUTEX);
	*rdi = (uintptr_t)mutex - 64; /* to its object */
	assert_finds(world, mutex);
	*rdi = (uintptr_t)mutex - 2048; /* the same page, another object */
	assert_finds_none(world);
	*rdi = (uintptr_t)mutex;
	pthread_mutex_unlock(mutex);
	assert_finds_none(world);
}

static void a_lock_on_two_pages_is_found(void **state)
{
	struct world *world = *state;
	size_t ends[] = { 8, 16, 32 };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		pthread_mutex_t *mutex = lock_at(world, 5 * PAGE - ends[i]);

		world->side.regs.gpr[X86_RBX] = (uintptr_t)mutex;
		assert_finds(world, mutex);
		pthread_mutex_unlock(mutex);
		assert_finds_none(world);
	}
}

static void a_pointer_on_the_stack_leads_to_a_lock(void **state)
{
	struct world *world = *state;
	pthread_mutex_t *mutex = lock_at(world, 7 * PAGE);

	world->stack[200] = (uintptr_t)mutex;
	assert_finds(world, mutex);
	/* below its pointer there is nothing of it */
	world->side.regs.gpr[X86_RSP] = (uintptr_t)&world->stack[201];
	assert_finds_none(world);
	pthread_mutex_unlock(mutex);
}

static void a_lock_on_the_stack_is_found(void **state)
{
	struct world *world = *state;
	pthread_mutex_t *mutex = (void *)&world->stack[20];

	pthread_mutex_init(mutex, NULL);
	assert_finds_none(world);
	pthread_mutex_lock(mutex);
	assert_finds(world, mutex);
	world->side.regs.gpr[X86_RSP] = (uintptr_t)&world->stack[30];
	assert_finds_none(world);
	pthread_mutex_unlock(mutex);
}

static void locks_beside_the_raced_bytes_are_found_once(void **state)
{
	struct world *world = *state;
	pthread_mutex_t *first = lock_at(world, 2 * PAGE);
	pthread_mutex_t *second = lock_at(world, 2 * PAGE + 40);
	pthread_rwlock_t *rwlock = (void *)(world->pages + 2 * PAGE + 200);

	pthread_rwlock_init(rwlock, NULL);
	pthread_rwlock_wrlock(rwlock);
	world->side.regs.gpr[X86_RAX] = (uintptr_t)second;
	look(world, (uintptr_t)second + 48);
	assert_int_equal(world->side.locks.count, 3);
	assert_int_equal(world->side.locks.locks[0].address, (uintptr_t)first);
	assert_int_equal(world->side.locks.locks[1].address, (uintptr_t)second);
	assert_int_equal(world->side.locks.locks[2].address, (uintptr_t)rwlock);
	assert_int_equal(world->side.locks.locks[2].kind, WIRE_LOCK_RWLOCK);
	pthread_rwlock_unlock(rwlock);
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
}

static void a_pointer_beside_the_raced_bytes_leads_to_a_lock(void **state)
{
	struct world *world = *state;
	pthread_mutex_t *mutex = lock_at(world, 9 * PAGE);
	uintptr_t word = (uintptr_t)mutex;

	memcpy(world->machine + 16, &word, sizeof(word));
	assert_finds_none(world);
	world->side.machine.window_count = 1;
	world->side.machine.windows[0].size = sizeof(world->machine);
	assert_finds(world, mutex);
	pthread_mutex_unlock(mutex);
}

/* An instruction of seven bytes that names an address: op, with %rdi. */
static void put_insn(uint8_t *at, uint8_t op, const void *named)
{
	int32_t displacement = (int32_t)((const uint8_t *)named - (at + 7));

	at[0] = 0x48;
	at[1] = op;
	at[2] = 0x3d;
	memcpy(at + 3, &displacement, sizeof(displacement));
}

static void code_around_the_access_names_a_lock(void **state)
{
	struct world *world = *state;
	pthread_mutex_t *mutex = lock_at(world, 11 * PAGE);
	uint8_t *code = world->pages + PAGE, *slot = world->pages + 13 * PAGE;
	uintptr_t word = (uintptr_t)mutex;

	world->side.regs.rip = (uintptr_t)code + 300;
	put_insn(code + 100, 0x8d, mutex);
	assert_finds(world, mutex);
	/* a pointer that it loads */
	memset(code, 0, PAGE);
	memcpy(slot, &word, sizeof(word));
	put_insn(code + 400, 0x8b, slot);
	assert_finds(world, mutex);
	/* an instruction too far behind it */
	memset(code, 0, PAGE);
	put_insn(code + 300 + 256, 0x8d, mutex);
	assert_finds_none(world);
	pthread_mutex_unlock(mutex);
}

static void code_that_is_returned_to_names_a_lock(void **state)
{
	struct world *world = *state;
	pthread_mutex_t *mutex = lock_at(world, 11 * PAGE);
	uint8_t *code = world->pages + PAGE;
	struct mapping mapping = { .start = (uintptr_t)code,
				   .end = (uintptr_t)code + PAGE };

	put_insn(code + 100, 0x8d, mutex);
	world->stack[17] = (uintptr_t)code + 300;
	assert_finds_none(world);
	assert_true(vec_push(&world->text.code, &mapping));
	assert_finds(world, mutex);
	pthread_mutex_unlock(mutex);
}

static void words_that_are_no_locks_are_none(void **state)
{
	struct world *world = *state;
	pthread_mutex_t *mutex = lock_at(world, 3 * PAGE + 2048);
	int *words = (int *)(world->pages + 2 * PAGE);

	for (int i = 0; i < 2 * PAGE / 4; i++) {
		if (i < (PAGE + 2048) / 4 || i >= (PAGE + 2048 + 40) / 4)
			words[i] = gettid();
	}
	world->side.regs.gpr[X86_RDI] = (uintptr_t)mutex;
	world->side.regs.gpr[X86_RSI] = (uintptr_t)words;
	assert_finds(world, mutex);
	pthread_mutex_unlock(mutex);
}

static void a_table_of_the_number_is_too_long(void **state)
{
	struct world *world = *state;

	for (size_t i = 0; i < 5 * PAGE / sizeof(int); i++)
		((int *)(void *)world->pages)[i] = gettid();
	for (uint64_t i = 0; i < 5; i++)
		world->stack[i] = (uintptr_t)world->pages + i * PAGE;
	world->side.locks = (struct wire_locks){ .looked = false };
	held_look(&world->held, &world->thread, 0, &world->side,
		  (const uint8_t *)world->stack, world->machine);
	assert_false(world->side.locks.looked);
	assert_int_equal(world->side.locks.count, 0);
}

static void memory_that_is_not_there_is_left_so(void **state)
{
	struct world *world = *state;
	int fd = memfd_create("hole", MFD_CLOEXEC);
	struct stat status;
	char *hole;

	assert_int_equal(ftruncate(fd, PAGES * PAGE), 0);
	hole = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    0);
	assert_ptr_not_equal(hole, MAP_FAILED);
	for (int i = 0; i < PAGES; i++)
		world->stack[i] = (uintptr_t)hole + (uint64_t)i * PAGE;
	world->side.regs.gpr[X86_RDI] = (uintptr_t)hole;
	assert_finds_none(world);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_blocks, 0);
	munmap(hole, PAGES * PAGE);
	close(fd);
}

static void nor_is_private_memory_made(void **state)
{
	struct world *world = *state;
	unsigned char present[PAGES];
	char *hole = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(hole, MAP_FAILED);
	for (int i = 0; i < PAGES; i++)
		world->stack[i] = (uintptr_t)hole + (uint64_t)i * PAGE;
	world->side.regs.gpr[X86_RDI] = (uintptr_t)hole;
	assert_finds_none(world);
	assert_int_equal(mincore(hole, PAGES * PAGE, present), 0);
	for (int i = 0; i < PAGES; i++)
		assert_int_equal(present[i] & 1, 0);
	munmap(hole, PAGES * PAGE);
}

/* The header of a chunk, in the pages. */
static uint64_t *chunk_at(struct world *world, size_t offset, uint64_t head)
{
	uint64_t *header = (void *)(world->pages + offset);

	header[1] = head;
	return header;
}

static void assert_chunk(struct world *world, const uint64_t *raced,
			 const uint64_t *chunk)
{
	const struct wire_chunks *chunks = &world->side.chunks;

	look(world, (uintptr_t)raced);
	assert_int_equal(chunks->count, chunk ? 1 : 0);
	if (!chunk)
		return;
	assert_int_equal(chunks->chunks[0].address, (uintptr_t)chunk);
	assert_int_equal(chunks->chunks[0].head, chunk[1]);
}

static void the_header_before_the_raced_bytes_is_told(void **state)
{
	struct world *world = *state;
	uint64_t *chunk = chunk_at(world, 3 * PAGE - 64, 96 | 1);
	uint64_t *next = chunk_at(world, 3 * PAGE + 32, 48 | 1);

	assert_chunk(world, chunk + 2, chunk);
	assert_int_equal(world->side.chunks.chunks[0].next, next[1]);
	assert_chunk(world, next, chunk);
	assert_chunk(world, chunk, NULL);
	/* the one behind is freed, or of no such size */
	next[1] = 48;
	assert_chunk(world, chunk + 2, NULL);
	next[0] = 96;
	assert_chunk(world, chunk + 2, chunk);
	next[1] = 40 | 1;
	assert_chunk(world, chunk + 2, NULL);
	next[1] = 48 | 1;
	chunk[1] = 16 | 1;
	assert_chunk(world, chunk + 2, NULL);
	chunk[1] = 88 | 1;
	assert_chunk(world, chunk + 2, NULL);
}

static void a_pointer_leads_to_a_header_far_before(void **state)
{
	struct world *world = *state;
	uint64_t *chunk = chunk_at(world, 2 * PAGE, (8 * PAGE) | 1);
	uint64_t *raced = (void *)(world->pages + 8 * PAGE);

	chunk_at(world, 10 * PAGE, 4096 | 1);
	assert_chunk(world, raced, NULL);
	world->stack[7] = (uintptr_t)(chunk + 2);
	assert_chunk(world, raced, chunk);
	world->stack[9] = world->stack[7];
	assert_chunk(world, raced, chunk);
	/* mapped alone: nothing is behind it */
	chunk[1] = (8 * PAGE) | 2;
	assert_chunk(world, raced, chunk);
	assert_int_equal(world->side.chunks.chunks[0].next, 0);
	chunk[0] = 16;
	assert_chunk(world, raced, NULL);
	chunk[0] = 0;
	chunk[1] = (6 * PAGE) | 2;
	assert_chunk(world, raced, NULL);
}

static void no_address_is_none(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < 16; i++)
		world->side.regs.gpr[i] = UINT64_MAX - (uint64_t)i * 3;
	world->side.regs.gpr[X86_RCX] = 0x7ffffffff000;
	world->side.regs.gpr[X86_RDX] = 1;
	world->side.stack_size = 0;
	assert_finds_none(world);
}

static void more_locks_than_there_is_room_for_are_left_out(void **state)
{
	struct world *world = *state;
	pthread_mutex_t *mutexes[WIRE_LOCKS_MAX + 4];

	for (size_t i = 0; i < WIRE_LOCKS_MAX + 4; i++)
		mutexes[i] = lock_at(world, PAGE + i * 40);
	world->side.regs.gpr[X86_RSI] = (uintptr_t)mutexes[0];
	look(world, 0);
	assert_int_equal(world->side.locks.count, WIRE_LOCKS_MAX);
	for (size_t i = 0; i < WIRE_LOCKS_MAX + 4; i++)
		pthread_mutex_unlock(mutexes[i]);
}

static void the_same_conflict_is_looked_at_a_few_times(void **state)
{
	struct held *held = &((struct world *)*state)->held;
	uint64_t now = 5000 * ms;

	for (int i = 0; i < 3; i++)
		assert_true(
			held_may_look(held, 0x1234567890, now += 1000 * ms));
	assert_false(held_may_look(held, 0x1234567890, now += 1000 * ms));
	assert_true(held_may_look(held, 0x1234567890 + (4 << 8), now));
	/* another takes its place */
	assert_true(
		held_may_look(held, 0x1234567890 + (UINT64_C(1) << 40), now));
	assert_true(held_may_look(held, 0x1234567890, now));
}

static void many_conflicts_are_not_all_looked_at(void **state)
{
	struct held *held = &((struct world *)*state)->held;
	uint64_t now = 5000 * ms;
	int looks = 0;

	for (uint64_t key = 1; key <= 1000; key++)
		looks += held_may_look(held, key << 32, now);
	assert_int_equal(looks, 32);
	for (uint64_t key = 2001; key <= 3000; key++)
		looks += held_may_look(held, key << 32, now += ms);
	assert_in_range(looks, 32 + 50, 32 + 51);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_lock_that_a_register_leads_to_is_found),
		TEST(a_lock_on_two_pages_is_found),
		TEST(a_pointer_on_the_stack_leads_to_a_lock),
		TEST(a_lock_on_the_stack_is_found),
		TEST(locks_beside_the_raced_bytes_are_found_once),
		TEST(a_pointer_beside_the_raced_bytes_leads_to_a_lock),
		TEST(code_around_the_access_names_a_lock),
		TEST(code_that_is_returned_to_names_a_lock),
		TEST(words_that_are_no_locks_are_none),
		TEST(a_table_of_the_number_is_too_long),
		TEST(memory_that_is_not_there_is_left_so),
		TEST(nor_is_private_memory_made),
		TEST(the_header_before_the_raced_bytes_is_told),
		TEST(a_pointer_leads_to_a_header_far_before),
		TEST(no_address_is_none),
		TEST(more_locks_than_there_is_room_for_are_left_out),
		TEST(the_same_conflict_is_looked_at_a_few_times),
		TEST(many_conflicts_are_not_all_looked_at),
	};

	return cmocka_run_group_tests_name("held", tests, NULL, NULL);
}
