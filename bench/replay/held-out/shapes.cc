/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * C++: objects with virtual functions and with what they remember of themselves.
 */
#include "figure7.h"
#include <array>
#include <utility>

enum { SHAPES = 1 << 17, ASKED = 16 };

struct Strategy {
	virtual unsigned long cost(unsigned long n) const = 0;

      protected:
	~Strategy() = default;
};

struct Doubled final : Strategy {
	unsigned long cost(unsigned long n) const override
	{
		return n + n;
	}
};

struct Shifted final : Strategy {
	unsigned long cost(unsigned long n) const override
	{
		return n << 1;
	}
};

struct Shape {
	unsigned side = 3;
	unsigned area = 0;
	bool known = false;
};

static Doubled doubled;
static Shifted shifted;
static const Strategy *strategy = &doubled;
static Shape shapes[SHAPES];
static std::pair<unsigned long, unsigned long> box;
static std::array<char, 16> name;
static unsigned long next_id;
static unsigned scale = 1;
static unsigned long asked;

/* Two objects that answer the same. */
NOINLINE static void strategy_swap(unsigned long i)
{
	if (i & 1)
		strategy = &doubled; // RACE: strategy
	else
		strategy = &shifted; // RACE: strategy
}

NOINLINE static unsigned long strategy_cost(unsigned long n)
{
	return strategy->cost(n); // RACE: strategy
}

/* The area of a square that never changes; the mark is set last. */
NOINLINE static unsigned area_of(unsigned long i)
{
	Shape *shape = &shapes[i];

	if (!shape->known) { // RACE: area
		shape->area = shape->side * shape->side; // RACE: area
		OPAQUE();
		shape->known = true; // RACE: area
	}
	OPAQUE();
	return shape->area; // RACE: area
}

/* Of one box the left, of another the right. */
NOINLINE static void box_move(unsigned long to)
{
	box.first = to; // RACE: box
	OPAQUE();
	box.second = to + 10; // RACE: box
}

NOINLINE static unsigned long box_width()
{
	unsigned long left = box.first; // RACE: box

	OPAQUE();
	return box.second - left; // RACE: box
}

/* Characters of two names. */
NOINLINE static void name_set(char letter)
{
	for (char &place : name) {
		place = letter; // RACE: name
		OPAQUE();
	}
}

NOINLINE static unsigned name_is_mixed()
{
	char letter = name[0]; // RACE: name
	unsigned mixed = 0;

	for (char place : name) // RACE: name
		mixed += place != letter;
	return mixed;
}

/* Two shapes with one number. */
NOINLINE static unsigned long id_next()
{
	return next_id++; // RACE: id
}

/* A setting; the picture is drawn in the old scale or in the new one. */
NOINLINE static void scale_set(unsigned value)
{
	scale = value; // RACE: scale
}

NOINLINE static unsigned long scale_draw(unsigned long n)
{
	return n * scale; // RACE: scale
}

static unsigned long next_shape()
{
	return __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED) / ASKED % SHAPES;
}

static void mover(unsigned long i)
{
	strategy_swap(i);
	use(area_of(next_shape()));
	box_move(i);
	name_set('a' + static_cast<char>(i % 20));
	use(id_next());
	scale_set(1 + i % 3);
}

static void drawer(unsigned long i)
{
	use(strategy_cost(i));
	use(area_of(next_shape()));
	use(box_width());
	use(name_is_mixed());
	use(id_next());
	use(scale_draw(i));
}

int main(int argc, char **argv)
{
	struct role roles[] = { { mover, 30 }, { drawer, 40 }, { nullptr, 0 } };

	return roles_run(argc, argv, "shapes", roles);
}
