/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two threads write to an element of a container of the C++ library.
 *
 *	containers SECONDS KIND
 */
#include "target.h"
#include <cstring>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

struct item {
	long first;
	long used;
};

/* A set's element may be written where that does not change its order. */
struct member {
	long name;
	mutable long used;
	bool operator<(const member &other) const
	{
		return name < other.name;
	}
};

struct alignas(32) wide {
	long first;
	long used;
};

struct registry {
	std::map<int, wide> wides;
	std::unordered_map<int, long double> numbers;
	std::list<wide> widest;
	long id;
	std::string name;
	std::optional<item> maybe;
	std::map<std::string, item> items;
	std::map<int, long> counts;
	std::map<std::string, std::map<short, item>> nested;
	std::set<member> members;
	std::unordered_map<unsigned, item> table;
	std::unordered_map<std::string, item> names;
	std::deque<item> queue;
	std::list<item> chain;
	std::forward_list<item> stack;
	std::vector<item> row;
};

static registry reg;
static registry *other;
static char *copy; /* of a node, which is in no container */

static void fill(registry &to)
{
	to.maybe = item{};
	for (int i = 0; i < 100; i++) {
		std::string name = "k" + std::to_string(i);

		to.items[name];
		to.wides[i];
		to.numbers[i];
		to.widest.push_back({});
		to.counts[i - 50] = i;
		to.nested[name][short(i)];
		to.members.insert({ i, 0 });
		to.table[unsigned(i) * 7];
		to.names[name];
		to.names["a.b"];
		to.queue.push_back({});
		to.chain.push_back({});
		to.stack.push_front({});
		to.row.push_back({});
	}
	for (int i = 0; i < 30; i++)
		to.queue.pop_front();
}

/* std::map<int, long>: a node's element is behind four words. */
static void make_copy()
{
	char *node = reinterpret_cast<char *>(&*reg.counts.find(7)) - 32;

	copy = static_cast<char *>(malloc(48));
	memcpy(copy, node, 48);
}

/* A word of the container itself. */
template <typename T> static long *word(T &container, int i)
{
	return reinterpret_cast<long *>(&container) + i;
}

static long *own_place(const char *kind)
{
	if (!strcmp(kind, "map-size"))
		return word(reg.items, 5);
	if (!strcmp(kind, "unordered-size"))
		return word(reg.table, 3);
	if (!strcmp(kind, "list-size"))
		return word(reg.chain, 2);
	if (!strcmp(kind, "string-size"))
		return word(reg.name, 1);
	if (!strcmp(kind, "vector-end"))
		return word(reg.row, 1);
	if (!strcmp(kind, "optional"))
		return &reg.maybe->used;
	if (!strcmp(kind, "aligned"))
		return &reg.wides.at(7).used;
	if (!strcmp(kind, "aligned-list"))
		return &reg.widest.back().used;
	if (!strcmp(kind, "long-double"))
		return reinterpret_cast<long *>(&reg.numbers.at(7));
	return nullptr;
}

static long *place(const char *kind)
{
	if (!strcmp(kind, "map"))
		return &reg.items.at("k7").used;
	if (!strcmp(kind, "number"))
		return &reg.counts.at(-7);
	if (!strcmp(kind, "pointer"))
		return &other->counts.at(7);
	if (!strcmp(kind, "nested"))
		return &reg.nested.at("k33").at(33).used;
	if (!strcmp(kind, "set"))
		return &reg.members.find(member{ 5, 0 })->used;
	if (!strcmp(kind, "unordered"))
		return &reg.table.at(77).used;
	if (!strcmp(kind, "string"))
		return &reg.names.at("k50").used;
	if (!strcmp(kind, "dotted"))
		return &reg.names.at("a.b").used;
	if (!strcmp(kind, "deque"))
		return &reg.queue[40].used;
	if (!strcmp(kind, "last"))
		return &reg.queue.back().first;
	if (!strcmp(kind, "list"))
		return &std::next(reg.chain.begin(), 50)->used;
	if (!strcmp(kind, "forward-list"))
		return &std::next(reg.stack.begin(), 20)->used;
	if (!strcmp(kind, "vector"))
		return &reg.row[9].used;
	if (!strcmp(kind, "copied"))
		return reinterpret_cast<long *>(copy + 40);
	return own_place(kind);
}

/* (what has no type has no name) */
NOINLINE static void put(registry *, registry &, uintptr_t at, long value)
{
	*reinterpret_cast<long *>(at) = value; /* RACE: put */
}

static void loop(const char *kind)
{
	uintptr_t at = reinterpret_cast<uintptr_t>(place(kind));

	target_check(at != 0, "no such kind");
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		put(other, reg, at, long(i));
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_check(argc > 2, "usage");
	fill(reg);
	other = new registry;
	fill(*other);
	make_copy();
	std::thread a(loop, argv[2]), b(loop, argv[2]);
	a.join();
	b.join();
	delete other;
	free(copy);
	return target_done("containers");
}
