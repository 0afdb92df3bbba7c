/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * C++: containers without the lock that they need. What could end the program
 * at once is avoided: room is reserved, texts are short, and the map's nodes
 * are never unmapped.
 */
#include "figure7.h"
#include <map>
#include <string>
#include <vector>

static std::vector<unsigned long> events;
static std::map<unsigned, unsigned long> sessions;
static std::string status = "idle";

NOINLINE static void event_add(unsigned long event)
{
	if (events.size() >= 1000) /* RACE: events */
		events.clear(); /* RACE: events */
	events.push_back(event); /* RACE: events */
}

NOINLINE static unsigned long event_last()
{
	return events.empty() ? 0 : events.back(); /* RACE: events */
}

NOINLINE static void session_add(unsigned id)
{
	sessions[id] = id; /* RACE: sessions */
}

NOINLINE static void session_remove(unsigned id)
{
	sessions.erase(id); /* RACE: sessions */
}

NOINLINE static unsigned long session_find(unsigned id)
{
	auto found = sessions.find(id); /* RACE: sessions */

	/* RACE: sessions */
	return found == sessions.end() ? 0 : found->second; /* RACE: sessions */
}

NOINLINE static void status_set(bool busy)
{
	status = busy ? "busy" : "sleeping"; /* RACE: status */
	OPAQUE(); /* no tail call, which would take it off the stack */
}

NOINLINE static unsigned long status_length()
{
	std::string copy = status; /* RACE: status */

	return copy.size();
}

static void writer(unsigned long i)
{
	event_add(i);
	if (i & 1)
		session_add((unsigned)i * 7 % 32);
	else
		session_remove((unsigned)i * 5 % 32);
	status_set(i & 1);
}

static void reader(unsigned long i)
{
	use(event_last());
	use(session_find((unsigned)i % 32));
	use(status_length());
}

int main(int argc, char **argv)
{
	struct role roles[] = { { writer, 40 }, { reader, 30 }, { NULL, 0 } };

	events.reserve(1024);
	return roles_run(argc, argv, "containers", roles);
}
