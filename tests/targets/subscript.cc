/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two threads race on an element of a std::vector, by functions that -O2 inlines: the
 * load has the line of its caller, or one of a header.
 *
 *	subscript
 */
#include <thread>
#include <vector>

class Cells
{
	std::vector<int> data;

      public:
	Cells() : data(10)
	{
	}
	void set(int i, int v)
	{
		data[i] = v; /* set */
	}
	int get(int i)
	{
		return data.at(i); /* get */
	}
};

static Cells cells;
static int seen;

__attribute__((noinline)) static void writer()
{
	cells.set(2, 5); /* writer */
}

__attribute__((noinline)) static void reader()
{
	seen = cells.get(2); /* reader */
}

int main()
{
	std::thread a(writer), b(reader);

	a.join();
	b.join();
	return seen == 9;
}
