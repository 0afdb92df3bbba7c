/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * As provoked.c, in C++:
 *
 *	          first() goes first            second() goes first
 * vector    exit 0                        exit 5: front() of an empty vector
 * virtual   exit 0                        exit 6: the class has changed
 */
#include <vector>

#include "target.h"

namespace
{

bool once;
int status;

struct shape {
	virtual ~shape() = default;
	virtual int corners() const
	{
		return 4;
	}
};

struct point : shape {
	int corners() const override
	{
		return 0;
	}
};

std::vector<int> *volatile items = new std::vector<int>{ 1, 2 };
std::vector<int> *const none = new std::vector<int>;
shape square;
point dot;
shape *volatile drawn = &square;

NOINLINE void vector_first()
{
	items = once ? none : items;
}

NOINLINE void vector_second()
{
	std::vector<int> *found = items;

	if (found->size() < 2)
		return;
	found = items;
	if (found->empty())
		status = 5;
}

NOINLINE void virtual_first()
{
	drawn = once ? static_cast<shape *>(&dot) : &square;
}

NOINLINE void virtual_second()
{
	shape *found = drawn;

	if (found->corners() != 4)
		return;
	found = drawn;
	if (found->corners() != 4)
		status = 6;
}

void (*const functions[][2])() = {
	{ vector_first, vector_second },
	{ virtual_first, virtual_second },
};
const char *const names[] = { "vector", "virtual" };

void *run(void *side)
{
	auto *function = static_cast<void (*const *)()>(side);
	unsigned long i = 0;

	target_meet();
	do
		(*function)();
	while (!once && target_goes_on(++i));
	return nullptr;
}

} // namespace

int main(int argc, char **argv)
{
	unsigned kind = 0;

	target_check(argc > 1, "no kind");
	while (strcmp(names[kind], argv[1]) != 0)
		target_check(++kind < 2, "unknown kind");
	once = argc == 2;
	target_init(argc - 1, argv + 1, 2);
	pthread_t other = target_thread(
		run, const_cast<void (**)()>(&functions[kind][0]));
	run(const_cast<void (**)()>(&functions[kind][1]));
	pthread_join(other, nullptr);
	target_done("provoked_cpp");
	return status;
}
