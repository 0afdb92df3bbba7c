/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * C++: std::thread, and what workers share: work that is left, where to look for it
 * first, and what they are told to do.
 */
#include "figure7.h"
#include <mutex>
#include <thread>
#include <vector>

enum { QUEUES = 8, TASKS = 32 };

struct Options {
	unsigned steps : 4, mode : 4, color : 8;
};

static unsigned long remaining = 1000;
static unsigned long finished;
static unsigned long top;
static unsigned victim;
static const unsigned queues[QUEUES] = { 0, 0, 0, 9, 0, 0, 0, 0 };
static unsigned long tasks[TASKS];
static Options options = { 2, 5, 1 };
static std::mutex wake_lock;
static bool asleep;
static unsigned long woken;
static unsigned long heartbeat;

/* The last one to finish tells the others, and there may be none. */
NOINLINE static void remaining_less()
{
	remaining--; // RACE: remaining
	OPAQUE();
	if (remaining == 0) // RACE: remaining
		__atomic_fetch_add(&finished, 1, __ATOMIC_RELAXED);
}

NOINLINE static void remaining_more()
{
	remaining++; // RACE: remaining
}

/* Two workers have the same task. */
NOINLINE static unsigned long task_steal()
{
	unsigned long at = top; // RACE: steal

	tasks[at % TASKS]++; // RACE: steal
	OPAQUE();
	top = at + 1; // RACE: steal
	return at;
}

/* Where to look first: there is work in one queue, which is found from anywhere. */
NOINLINE static unsigned victim_find()
{
	unsigned at = victim % QUEUES; // RACE: victim

	while (queues[at] == 0)
		at = (at + 1) % QUEUES;
	return at;
}

NOINLINE static void victim_note(unsigned at)
{
	victim = at; // RACE: victim
}

/* Bit-fields of one word, each with an owner: the whole word is written. */
NOINLINE static void options_recolor(unsigned color)
{
	options.color = color & 0xff; // RACE: options
}

NOINLINE static void options_step(unsigned steps)
{
	options.steps = steps & 0xf; // RACE: options
}

/* Asked without the lock, and again with it. */
NOINLINE static void wake_if_asleep()
{
	if (!asleep) // RACE: wake
		return;
	std::lock_guard<std::mutex> guard(wake_lock);
	if (asleep) { // RACE: wake
		asleep = false; // RACE: wake
		woken++;
	}
}

NOINLINE static void wake_fall_asleep()
{
	std::lock_guard<std::mutex> guard(wake_lock);

	asleep = true; // RACE: wake
}

/* That it moves is all that is looked at. */
NOINLINE static void heart_beat()
{
	heartbeat = heartbeat + 1; // RACE: heart
}

NOINLINE static unsigned long heart_listen()
{
	return heartbeat; // RACE: heart
}

template <class Turn> static std::thread worker(unsigned pace, Turn turn)
{
	return std::thread([=] {
		unsigned x = 1;

		target_meet();
		for (unsigned long i = 0; target_goes_on(i); i++) {
			turn(i);
			x = target_work(x, pace);
		}
	});
}

int main(int argc, char **argv)
{
	std::vector<std::thread> crew;

	target_init(argc, argv, 2);
	crew.push_back(worker(30, [](unsigned long i) {
		remaining_less();
		use(task_steal());
		use(victim_find());
		options_recolor(static_cast<unsigned>(i));
		wake_if_asleep();
		heart_beat();
	}));
	crew.push_back(worker(40, [](unsigned long i) {
		remaining_more();
		use(task_steal());
		victim_note(static_cast<unsigned>(i));
		options_step(static_cast<unsigned>(i));
		wake_fall_asleep();
		use(heart_listen());
	}));
	for (std::thread &one : crew)
		one.join();
	return target_done("crew");
}
