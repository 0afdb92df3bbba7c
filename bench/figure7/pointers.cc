/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * C++: a std::shared_ptr that is copied while it is replaced, and a pointer
 * that counts by itself and not atomically. Memory comes from an arena and is
 * long not used again, and dead counts are let die again.
 */
#include "figure7.h"
#include <memory>
#include <signal.h>
#include <ucontext.h>

enum { BLOCKS = 1 << 18 };

/* What a destroyed count calls. */
extern "C" void __cxa_pure_virtual(void)
{
}

/* Or what it has instead of a destructor: it is as if that had returned. */
static void on_fault(int, siginfo_t *, void *context)
{
	greg_t *registers =
		static_cast<ucontext_t *>(context)->uc_mcontext.gregs;

	if (registers[REG_RIP] != 0)
		_exit(1);
	registers[REG_RIP] = *reinterpret_cast<greg_t *>(registers[REG_RSP]);
	registers[REG_RSP] += 8;
}

static unsigned char arena[BLOCKS][64] __attribute__((aligned(16)));
static unsigned long arena_next;

template <class T> struct Arena {
	using value_type = T;

	Arena() = default;
	template <class U> Arena(const Arena<U> &)
	{
	}
	T *allocate(size_t)
	{
		unsigned long i =
			__atomic_fetch_add(&arena_next, 1, __ATOMIC_RELAXED);

		static_assert(sizeof(T) <= sizeof(arena[0]), "small");
		return reinterpret_cast<T *>(arena[i % BLOCKS]);
	}
	void deallocate(T *, size_t)
	{
	}
};
template <class T, class U> bool operator==(const Arena<T> &, const Arena<U> &)
{
	return true;
}

struct Settings {
	unsigned long serial;
};

static std::shared_ptr<Settings> settings =
	std::allocate_shared<Settings>(Arena<Settings>(), Settings{ 0 });

NOINLINE static void settings_replace(unsigned long serial)
{
	auto fresh = std::allocate_shared<Settings>(
		Arena<Settings>(), Settings{ serial }); /* RACE: settings */

	settings = fresh; /* RACE: settings */
}

NOINLINE static unsigned long settings_serial()
{
	std::shared_ptr<Settings> mine = settings; /* RACE: settings */

	return mine->serial; /* RACE: settings */
}

class Node
{
      public:
	NOINLINE void ref()
	{
		refs_++; /* RACE: node_refs */
	}
	NOINLINE void unref()
	{
		refs_--; /* RACE: node_refs */
		if (refs_ == 0) /* RACE: node_refs */
			use(1);
	}

      private:
	int refs_ = 1;
};

static Node node;

static void writer(unsigned long i)
{
	settings_replace(i);
	node.ref();
	node.unref();
}

static void reader(unsigned long i)
{
	use(settings_serial() + i);
	node.ref();
	node.unref();
}

int main(int argc, char **argv)
{
	struct role roles[] = { { writer, 40 }, { reader, 30 }, { NULL, 0 } };
	struct sigaction action = {};

	action.sa_sigaction = on_fault;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGSEGV, &action, NULL);
	return roles_run(argc, argv, "pointers", roles);
}
