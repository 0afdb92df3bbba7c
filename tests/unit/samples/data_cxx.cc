/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * C++ variables, to be named by their addresses. Never run.
 */
#include <atomic>
#include <string>
#include <vector>

namespace outer
{
namespace inner
{
int nested;
}
struct Base {
	long base_field;
};
struct Empty {
};
class Derived : public Base, private Empty
{
      public:
	static long total;
	static inline int modern = 3;
	short own[4];
};
long Derived::total;
Derived object;
} // namespace outer

namespace
{
int hidden;
}

template <typename T> struct Pool {
	static long used;
};
template <typename T> long Pool<T>::used;

std::atomic<int> atomic_int;
struct Holder {
	int plain;
	std::atomic<long> ticks;
} holder;
std::vector<int> numbers;
std::string text;

std::string &guarded()
{
	static std::string value("guarded");

	return value;
}

int main()
{
	Pool<int>::used = hidden++;
	return int(guarded().size() + outer::Derived::modern++);
}
