/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Comes to a stop where an object is known through pointers of many kinds; the
 * argument says which function is to stop. The objects are at fixed addresses,
 * so that the test can ask for them.
 */
#include <cstdint>
#include <cstring>
#include <memory>
#include <sys/mman.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif
#define STOP(x) __asm__ volatile("int3" : : "r"(x) : "memory")

struct Inner {
	int first, second;
};

struct Node {
	Node *next;
	long key;
	Inner inner;
	union {
		uint64_t word;
		struct {
			uint32_t low, high;
		};
	};
	unsigned busy : 1, level : 7;
	int row[2][3];
	Node *children[4];
};

class Base
{
      public:
	long base_count;
};

class Account : public Base
{
      public:
	NOINLINE void deposit(long amount);
	long balance_, limit_;
	static Account *last;
};

template <typename T> struct Pool {
	T *items;
	T spare;
	NOINLINE void put(const T &item);
};

struct World {
	Node nodes[4]; /* at 0 */
	Account account; /* at 384 */
	int numbers[16]; /* at 408 */
	Pool<long> pool; /* at 472 */
	long pool_items[4]; /* at 488 */
};

static_assert(sizeof(World) == 520, "the test knows these offsets");

/* What the compiler knows nothing of. */
template <typename T> static inline T *opaque(T *pointer)
{
	__asm__("" : "+r"(pointer));
	return pointer;
}

#define WORLD (opaque(reinterpret_cast<World *>(0x10000000)))

Account *Account::last;
Node *head;
Node *table[8];
volatile long sink;

NOINLINE static void by_parameter(Node *node)
{
	STOP(node);
	node->key++;
	sink += node->inner.second;
}

NOINLINE static void by_reference(Node &item)
{
	STOP(&item);
	item.key++;
}

NOINLINE static void by_chain(Node *first)
{
	STOP(first->next);
	first->next->key++;
}

NOINLINE static void by_global()
{
	STOP(head->next);
	head->next->key++;
}

NOINLINE static void by_table(unsigned i)
{
	STOP(table[i]);
	table[i]->key++;
}

NOINLINE void Account::deposit(long amount)
{
	STOP(this);
	balance_ += amount;
}

NOINLINE static void by_static()
{
	STOP(Account::last);
	Account::last->balance_++;
}

template <typename T> NOINLINE void Pool<T>::put(const T &item)
{
	STOP(this);
	items[2] = item;
}

NOINLINE static void by_scalar(int *number)
{
	STOP(number);
	++*number;
}

NOINLINE static void by_caller(Node *owner)
{
	by_scalar(&owner->inner.second);
	owner->key++;
}

NOINLINE static void touch(long *done)
{
	STOP(done);
	++*done;
}

NOINLINE static void by_local()
{
	struct {
		long total, done;
	} progress = { 1, 2 };

	touch(&progress.done);
	sink += progress.done;
}

NOINLINE static void by_unique(const std::unique_ptr<Node> &owned)
{
	STOP(&owned);
	owned->key++;
}

static void stop_in(const char *where)
{
	if (!strcmp(where, "parameter"))
		by_parameter(&WORLD->nodes[1]);
	else if (!strcmp(where, "reference"))
		by_reference(WORLD->nodes[1]);
	else if (!strcmp(where, "chain"))
		by_chain(&WORLD->nodes[0]);
	else if (!strcmp(where, "global"))
		by_global();
	else if (!strcmp(where, "table"))
		by_table(5);
	else if (!strcmp(where, "this"))
		WORLD->account.deposit(1);
	else if (!strcmp(where, "static"))
		by_static();
	else if (!strcmp(where, "template"))
		WORLD->pool.put(3);
	else if (!strcmp(where, "scalar"))
		by_scalar(&WORLD->numbers[3]);
	else if (!strcmp(where, "caller"))
		by_caller(&WORLD->nodes[1]);
	else if (!strcmp(where, "local"))
		by_local();
	else if (!strcmp(where, "unique")) {
		std::unique_ptr<Node> owned(&WORLD->nodes[1]);

		by_unique(owned);
		owned.release();
	}
}

int main(int argc, char **argv)
{
	mmap(WORLD, 4096, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	head = &WORLD->nodes[0];
	WORLD->nodes[0].next = &WORLD->nodes[1];
	table[5] = &WORLD->nodes[1];
	Account::last = &WORLD->account;
	WORLD->pool.items = WORLD->pool_items;
	stop_in(argc > 1 ? argv[1] : "parameter");
	return 0;
}
